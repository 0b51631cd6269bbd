//! The archive that `setup-envtest sideload` reads (ET-53): regular files, for it skips links.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

const BLOCK: usize = 512;
const DIRECTORY: &str = "controller-tools/envtest";

/// Writes an archive with files of these names, which all have the same content. It is compressed once:
/// compressed parts that follow each other are one whole.
pub(super) fn write(mut out: impl Write, names: &[&str], content: &[u8]) -> io::Result<()> {
    let rest = content.len().next_multiple_of(BLOCK) - content.len();
    let file = compressed(&[content, &vec![0; rest]])?;
    for name in names {
        out.write_all(&compressed(&[&header(name, content.len())?])?)?;
        out.write_all(&file)?;
    }
    out.write_all(&compressed(&[&[0; 2 * BLOCK]])?)?;
    out.flush()
}

fn compressed(parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.finish()
}

/// The header of a file that everyone may read and run, in the format `ustar`.
fn header(name: &str, size: usize) -> io::Result<Vec<u8>> {
    let mut header = Vec::with_capacity(BLOCK);
    field(&mut header, &format!("{DIRECTORY}/{name}"), 100);
    for (text, width) in [("0000555", 8), ("0000000", 8), ("0000000", 8)] {
        field(&mut header, text, width);
    }
    field(&mut header, &format!("{size:011o}"), 12);
    field(&mut header, "00000000000", 12);
    let sum = header.len();
    // The sum is taken with spaces in its own place.
    field(&mut header, "        ", 8);
    field(&mut header, "0", 1);
    field(&mut header, "", 100);
    field(&mut header, "ustar", 6);
    field(&mut header, "00", 2);
    header.resize(BLOCK, 0);
    let total: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    let place = header.get_mut(sum..sum + 8);
    let place = place.ok_or_else(|| io::Error::other("the header is too short"))?;
    place.copy_from_slice(format!("{total:06o}\0 ").as_bytes());
    Ok(header)
}

/// Adds a text, and zeros up to a width.
fn field(header: &mut Vec<u8>, text: &str, width: usize) {
    header.extend(text.bytes().chain(std::iter::repeat(0)).take(width));
}
