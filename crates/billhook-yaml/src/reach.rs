//! How far the text belongs to the nodes that were read. The grammar says where tokens are; values
//! that are not written, and sequences at the column of their key, begin where an indicator is.

use billhook_apimachinery::Span;

/// The offset after the last node or indicator of a text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reach(usize);

impl Reach {
    pub(crate) fn offset(self) -> usize {
        self.0
    }

    /// Goes on to an offset.
    pub(crate) fn extend(&mut self, offset: usize) {
        self.0 = self.0.max(offset);
    }

    /// Takes a value that is not written: it is after the dash of an item, or after the colon of a
    /// member if there is one.
    pub(crate) fn take_absent(&mut self, text: &str, is_item: bool) -> Span {
        let indicator = if is_item { b'-' } else { b':' };
        let rest = text.get(self.0..).unwrap_or_default();
        let gap = gap(rest, &[]);
        if rest.as_bytes().get(gap) == Some(&indicator) {
            self.0 += gap + 1;
        }
        Span::new(self.0, self.0)
    }

    /// Goes on to the first dash of a sequence in a mapping.
    pub(crate) fn take_dash(&mut self, text: &str) {
        self.0 += gap(text.get(self.0..).unwrap_or_default(), b":?");
    }
}

/// Returns the length of the white space, comments and `indicators` at the start of a text.
fn gap(text: &str, indicators: &[u8]) -> usize {
    let mut comment = false;
    let is_gap = |byte: &u8| {
        let is_break = matches!(byte, b'\n' | b'\r');
        comment = !is_break && (comment || *byte == b'#');
        comment || is_break || matches!(byte, b' ' | b'\t') || indicators.contains(byte)
    };
    text.bytes().take_while(is_gap).count()
}
