//! How much memory the tree of a text may take. Short texts make large trees: `[{"a":1},…` takes
//! hundred times its length.

/// The memory that the tree of any text may take, in bytes: enough for every body that a server
/// reads.
const ALWAYS: usize = 512 << 20;

/// The memory that the tree of a longer text may take, as a multiple of its length.
const PER_BYTE: usize = 12;

/// The bytes that the parts of a tree take, with those that are kept free for more.
const ITEM: usize = 64;
const MEMBER: usize = 112;
const OBJECT: usize = 640;

/// The rest of the memory that the tree of a text may take: 512 MiB, or twelve times the length
/// of the text if that is more.
#[derive(Clone, Debug)]
pub struct TreeBudget {
    left: usize,
}

/// The tree of a text takes too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the document takes more memory than 512 MiB and {PER_BYTE} times its length")]
#[non_exhaustive]
pub struct TreeTooLargeError;

impl TreeBudget {
    /// Returns the budget of a text of so many bytes.
    pub fn for_text(bytes: usize) -> Self {
        TreeBudget { left: bytes.saturating_mul(PER_BYTE).max(ALWAYS) }
    }

    /// Takes an item of a list.
    ///
    /// # Errors
    ///
    /// If not enough is left.
    pub fn item(&mut self) -> Result<(), TreeTooLargeError> {
        self.take(ITEM)
    }

    /// Takes an object that is not empty.
    ///
    /// # Errors
    ///
    /// If not enough is left.
    pub fn object(&mut self) -> Result<(), TreeTooLargeError> {
        self.take(OBJECT)
    }

    /// Takes a member of an object, with a name of so many bytes.
    ///
    /// # Errors
    ///
    /// If not enough is left.
    pub fn member(&mut self, name: usize) -> Result<(), TreeTooLargeError> {
        self.take(MEMBER.saturating_add(name))
    }

    fn take(&mut self, bytes: usize) -> Result<(), TreeTooLargeError> {
        self.left = self.left.checked_sub(bytes).ok_or(TreeTooLargeError)?;
        Ok(())
    }
}
