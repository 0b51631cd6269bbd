//! How much work one patch may cause.

use super::error::PatchError;

/// The bytes that all `copy` operations of one patch may create (DI-30).
const MAX_COPIED: usize = 3 * 1024 * 1024;
/// How many list items all operations of one patch may move to make room or close a gap: the time
/// that takes is otherwise the product of the sizes of patch and list.
const MAX_MOVED: usize = 1 << 28;

/// The limited work that the operations of one patch have done so far.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// The bytes that were copied.
    copied: usize,
    /// The list items that were moved.
    moved: usize,
}

impl Work {
    pub(super) fn copy(&mut self, bytes: usize) -> Result<(), PatchError> {
        self.copied += bytes;
        if self.copied <= MAX_COPIED {
            return Ok(());
        }
        Err(PatchError::new(format!(
            "the copy operations of the patch create {} bytes, more than {MAX_COPIED}",
            self.copied
        )))
    }

    pub(super) fn shift(&mut self, items: usize) -> Result<(), PatchError> {
        self.moved = self.moved.saturating_add(items);
        if self.moved <= MAX_MOVED {
            return Ok(());
        }
        Err(PatchError::new(format!("the patch moves more than {MAX_MOVED} items of lists")))
    }
}
