//! Texts with blocks in PEM, as servers read certificates and keys.

use crate::base64;

/// A well-formed block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PemBlock<'t> {
    /// The label, such as `CERTIFICATE`.
    pub label: &'t [u8],
    /// Whether there are headers before the bytes.
    pub has_headers: bool,
    /// The bytes, which are in Base64 in the text.
    pub bytes: Vec<u8>,
}

/// The well-formed blocks of a text, one after the other; text between them is skipped.
///
/// ```
/// use billhook_apimachinery::pem::PemBlocks;
///
/// let text = b"# the key\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
/// let mut blocks = PemBlocks::new(text);
/// let key = blocks.next().ok_or("no block")?;
/// assert_eq!((key.label, key.bytes), (&b"PRIVATE KEY"[..], vec![0, 0, 0]));
/// assert!(blocks.next().is_none() && blocks.rest().is_empty());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct PemBlocks<'t> {
    rest: &'t [u8],
}

impl<'t> PemBlocks<'t> {
    /// Reads a text from its beginning.
    pub fn new(text: &'t [u8]) -> Self {
        PemBlocks { rest: text }
    }

    /// Returns the text after the last block that was returned.
    pub fn rest(&self) -> &'t [u8] {
        self.rest
    }
}

impl<'t> Iterator for PemBlocks<'t> {
    type Item = PemBlock<'t>;

    fn next(&mut self) -> Option<PemBlock<'t>> {
        let mut after = self.rest;
        while !after.is_empty() {
            let (line, next) = split_line(after);
            after = next;
            let label = line.strip_prefix(b"-----BEGIN ").and_then(|l| l.strip_suffix(b"-----"));
            let Some(label) = label else { continue };
            if let Some((block, rest)) = PemBlock::read(label, &mut after) {
                self.rest = rest;
                return Some(block);
            }
        }
        None
    }
}

impl<'t> PemBlock<'t> {
    /// Reads a block from the line after its first one; returns the rest of the text too. If the
    /// block is malformed, `text` continues at the line that shows that.
    fn read(label: &'t [u8], text: &mut &'t [u8]) -> Option<(Self, &'t [u8])> {
        let mut has_headers = false;
        let mut body = Vec::new();
        loop {
            let (line, next) = split_line(text);
            if text.is_empty() {
                return None;
            }
            if line.starts_with(b"-----") {
                let end = line.strip_prefix(b"-----END ")?.strip_suffix(b"-----")?;
                let body = std::str::from_utf8(&body).ok()?;
                let bytes = base64::decode(body).ok().filter(|_| end == label)?;
                return Some((PemBlock { label, has_headers, bytes }, next));
            }
            if body.is_empty() && line.contains(&b':') {
                has_headers = true;
            } else {
                body.extend(line.iter().filter(|byte| !matches!(byte, b' ' | b'\t')));
            }
            *text = next;
        }
    }
}

/// Returns the first line without white space at its end, and the lines after it.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| end + 1);
    let (line, rest) = text.split_at_checked(end).unwrap_or((text, b""));
    (line.trim_ascii_end(), rest)
}
