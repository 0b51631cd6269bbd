//! Quoted scalars in block collections whose further lines are indented no further than the
//! collection. The server reads them; the grammar of YAML 1.2 wants the lines indented. Blanks at
//! the start of such a line do not belong to the scalar, so the grammar gets the text with more of
//! them.

/// A text with further indentation.
pub(crate) struct Indented {
    pub(crate) text: String,
    pub(crate) added: Added,
}

/// The spaces that were added to a text.
#[derive(Default)]
pub(crate) struct Added {
    /// The lines with added spaces, from 1, and how many there are.
    pub(crate) lines: Vec<(usize, usize)>,
    /// The offsets after added spaces, and how many were added up to there.
    sums: Vec<(usize, usize)>,
}

impl Added {
    /// Returns the offset that an offset had before, which must not be inside added spaces.
    pub(crate) fn without(&self, offset: usize) -> usize {
        let before = self.sums.partition_point(|(end, _)| *end <= offset);
        let sum = before.checked_sub(1).and_then(|last| self.sums.get(last));
        offset.saturating_sub(sum.map_or(0, |(_, sum)| *sum))
    }
}

/// The maximum number of bytes added to a text, as a multiple of its length.
const MAX_GROWTH: usize = 4;

/// Indents the continuation lines of quoted scalars in block collections. `None` if there are none
/// to indent, or if that would take too much memory.
///
/// Only finds where quoted scalars begin and end; does not check the text. The lines are to be
/// compared with the tokens that the grammar finds.
pub(crate) fn indent_quoted(text: &str) -> Option<Indented> {
    let mut search = Search { bytes: text.as_bytes(), at: 0, line: 1, start: 0, depth: 0 };
    let mut found = Vec::new();
    search.run(&mut found);
    let mut indented = String::with_capacity(text.len());
    let mut added = Added::default();
    let (mut done, mut sum) = (0, 0);
    let mut left = text.len().saturating_mul(MAX_GROWTH);
    for Continuation { line, offset, spaces } in found {
        left = left.checked_sub(spaces)?;
        indented.push_str(text.get(done..offset)?);
        indented.extend(std::iter::repeat_n(' ', spaces));
        sum += spaces;
        added.lines.push((line, spaces));
        added.sums.push((indented.len(), sum));
        done = offset;
    }
    indented.push_str(text.get(done..)?);
    (!added.lines.is_empty()).then_some(Indented { text: indented, added })
}

/// A further line of a quoted scalar: its number, its offset, and the spaces that it lacks.
struct Continuation {
    line: usize,
    offset: usize,
    spaces: usize,
}

struct Search<'t> {
    bytes: &'t [u8],
    at: usize,
    line: usize,
    /// The offset of the line.
    start: usize,
    /// The number of open flow collections.
    depth: usize,
}

impl Search<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Whether a character of structure stands alone.
    fn is_alone(&self) -> bool {
        matches!(self.peek(1), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
    }

    /// Passes a character.
    fn step(&mut self) {
        let is_break = match self.peek(0) {
            Some(b'\r') => self.peek(1) != Some(b'\n'),
            other => other == Some(b'\n'),
        };
        self.at += 1;
        if is_break {
            self.line += 1;
            self.start = self.at;
        }
    }

    fn run(&mut self, found: &mut Vec<Continuation>) {
        // Whether a token may start here, and the column of the first one that is a node.
        let (mut may_start, mut spaced) = (true, true);
        let mut first = None;
        while let Some(byte) = self.peek(0) {
            let is_fresh = std::mem::take(&mut may_start);
            let was_spaced = std::mem::take(&mut spaced);
            match byte {
                b'\r' | b'\n' => (may_start, spaced, first) = (true, true, None),
                b' ' | b'\t' => (may_start, spaced) = (is_fresh, true),
                b'#' if was_spaced => {
                    self.rest_of_line();
                    may_start = is_fresh;
                    continue;
                }
                b'-' | b'?' if is_fresh && self.is_alone() => (may_start, spaced) = (true, true),
                b':' if self.is_alone() || self.depth > 0 => (may_start, spaced) = (true, true),
                b',' if self.depth > 0 => may_start = true,
                b'[' | b'{' if is_fresh => {
                    self.depth += 1;
                    may_start = true;
                }
                b']' | b'}' if self.depth > 0 => self.depth -= 1,
                b'&' | b'!' if is_fresh => {
                    self.rest_of_word();
                    may_start = true;
                    continue;
                }
                b'|' | b'>' if is_fresh && self.depth == 0 => {
                    self.block_scalar(first);
                    (may_start, spaced, first) = (true, true, None);
                    continue;
                }
                b'\'' | b'"' if is_fresh => {
                    let column = *first.get_or_insert(self.at - self.start);
                    self.quoted(byte, column, found);
                    continue;
                }
                _ if is_fresh => {
                    first.get_or_insert(self.at - self.start);
                }
                _ => {}
            }
            self.step();
        }
    }

    fn rest_of_line(&mut self) {
        while self.peek(0).is_some_and(|byte| !matches!(byte, b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn rest_of_word(&mut self) {
        while self.peek(0).is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Passes a quoted scalar. `column` is that of the collection it is in.
    fn quoted(&mut self, quote: u8, column: usize, found: &mut Vec<Continuation>) {
        self.step();
        let mut line = self.line;
        while let Some(byte) = self.peek(0) {
            if self.line != line && !matches!(byte, b' ' | b'\t') {
                line = self.line;
                let indentation = self.at - self.start;
                let is_blank = matches!(byte, b'\r' | b'\n');
                if self.depth == 0 && !is_blank && indentation <= column {
                    let spaces = column + 1 - indentation;
                    found.push(Continuation { line, offset: self.start, spaces });
                }
            }
            let is_escape = match quote {
                b'"' => byte == b'\\',
                _ => byte == quote && self.peek(1) == Some(quote),
            };
            self.step();
            if is_escape {
                self.step();
            } else if byte == quote {
                return;
            }
        }
    }

    /// Passes a block scalar. `column` is that of the collection it is in, if that is on the same
    /// line.
    fn block_scalar(&mut self, column: Option<usize>) {
        let header = self.at;
        self.rest_of_line();
        let header = self.bytes.get(header..self.at).unwrap_or_default();
        let digit = header.iter().skip(1).take(2).find(|byte| byte.is_ascii_digit());
        let given = digit.map(|digit| column.map_or(0, |at| at) + usize::from(digit - b'0'));
        let mut indent = given;
        while self.peek(0).is_some() {
            self.end_line();
            let indentation = self.indentation();
            let is_blank = matches!(self.peek(indentation), None | Some(b'\r' | b'\n'));
            let least = indent.unwrap_or_else(|| column.map_or(1, |at| at + 1));
            if !is_blank {
                if indentation < least {
                    return;
                }
                indent = indent.or(Some(indentation));
            }
            self.rest_of_line();
        }
    }

    fn end_line(&mut self) {
        if self.peek(0) == Some(b'\r') && self.peek(1) == Some(b'\n') {
            self.step();
        }
        self.step();
    }

    fn indentation(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        rest.iter().take_while(|byte| **byte == b' ').count()
    }
}
