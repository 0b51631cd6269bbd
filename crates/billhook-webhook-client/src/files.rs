//! Reading the files that a configuration names.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// The most bytes of a file; kubeconfigs, keys and tokens are far shorter.
const MAX_FILE: usize = 16 << 20;

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_FILE as u64 + 1).read_to_end(&mut text)?;
    if text.len() > MAX_FILE {
        let message = format!("the file is larger than {MAX_FILE} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}
