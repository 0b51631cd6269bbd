//! The scanner: checks JSON text without building anything. Everything that reads text fast stands
//! on it.

use billhook_apimachinery::value::grow;
use billhook_schema::walk::LEVELS;
use billhook_schema::{ExpectedProperty, NodeRef, PropertyRef};

/// The reason why a pass over text ended early: only the path over a tree supports the text, or can
/// word the error. As wide as a position, so that a result with either stays in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(usize)]
pub enum Stop {
    /// The text is not JSON, is too deep, or a number is beyond float64.
    Invalid,
    /// A key is repeated, or may be, or the text is not Unicode: findings are about the text as it
    /// came, but it has to be written anew first.
    Duplicate,
    /// The text is not an object.
    NotAnObject,
    /// The object says that it is of another kind or version, does not say it, or says it more than
    /// once.
    OtherKind,
    /// `apiVersion` or `kind` of an embedded resource is not a string.
    EmbeddedResource,
    /// Metadata is refused, or the schema has more to say about it than a server does.
    Metadata,
    /// The defaults are too large to be prepared, or too many.
    Defaults,
    /// The schema is not that of a resource on a server.
    Schema,
    /// Something changes, and changes are listed in the order of maps that are not sorted
    /// (serde_json's `preserve_order`).
    MapOrder,
    /// The paths of the changes are too long together to be listed.
    LongReport,
}

/// The result of passing a part of the text: the position after it.
pub(crate) type Step<T = usize> = Result<T, Stop>;

/// The handling of the keys of objects that are only passed over.
pub(crate) trait Keys {
    /// State of one object.
    type Frame;
    /// Begins an object.
    fn open(&mut self) -> Self::Frame;
    /// A key, without its quotation marks.
    fn key(&mut self, frame: &Self::Frame, key: &[u8], escaped: bool) -> Step<()>;
    /// Ends an object.
    fn close(&mut self, frame: Self::Frame);
}

/// Any keys will do.
pub(crate) struct AnyKeys;

impl Keys for AnyKeys {
    type Frame = ();

    #[inline]
    fn open(&mut self) {}

    #[inline]
    fn key(&mut self, (): &(), _: &[u8], _: bool) -> Step<()> {
        Ok(())
    }

    #[inline]
    fn close(&mut self, (): ()) {}
}

/// Text with functions that pass its parts. They take a position and return the one after the part,
/// which therefore stays in a register.
pub(crate) struct Scan<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) lone_surrogate: bool,
}

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Scan { text, lone_surrogate: false }
    }

    /// Passes a text that is one value with nothing but space around it.
    pub(crate) fn whole(&mut self, value: impl FnOnce(&mut Self, usize, u8) -> Step) -> Step<()> {
        let (start, byte) = self.token(0);
        let end = value(self, start, byte)?;
        if self.token(end).0 == self.text.len() { Ok(()) } else { Err(Stop::Invalid) }
    }

    /// Returns the byte at a position; after the end of the text zero, which is valid nowhere.
    #[inline(always)]
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the position and first byte of the next token after any space.
    #[inline(always)]
    pub(crate) fn token(&self, at: usize) -> (usize, u8) {
        let byte = self.byte(at);
        if byte > b' ' { (at, byte) } else { self.token_behind_space(at) }
    }

    #[inline(never)]
    fn token_behind_space(&self, mut at: usize) -> (usize, u8) {
        loop {
            match self.byte(at) {
                b' ' | b'\n' | b'\r' | b'\t' => at += 1,
                byte => return (at, byte),
            }
        }
    }

    /// Passes the colon after a key; returns the next token.
    #[inline(always)]
    pub(crate) fn skip_colon(&self, at: usize) -> Step<(usize, u8)> {
        let (at, byte) = self.token(at);
        if byte == b':' { Ok(self.token(at + 1)) } else { Err(Stop::Invalid) }
    }

    /// Whether a comma and, without space, a key come next.
    #[inline(always)]
    pub(crate) fn is_next_key(&self, at: usize) -> bool {
        self.text.get(at..).and_then(<[u8]>::first_chunk) == Some(b",\"")
    }

    /// Returns the position after the comma that comes next, if one does.
    #[inline]
    pub(crate) fn comma_end(&self, at: usize) -> Option<usize> {
        let (at, byte) = self.token(at);
        (byte == b',').then_some(at + 1)
    }

    /// Passes the separator between the parts of a list or an object.
    #[inline(always)]
    pub(crate) fn next_part(&self, at: usize, end: u8) -> Step<Part> {
        let (at, byte) = self.token(at);
        if byte == b',' {
            let (next, byte) = self.token(at + 1);
            return Ok(Part::Next(next, byte));
        }
        if byte == end { Ok(Part::End(at + 1)) } else { Err(Stop::Invalid) }
    }

    /// Passes the string whose quotation mark is at a position.
    #[inline(always)]
    pub(crate) fn skip_string(&mut self, at: usize) -> Step {
        let end = end_of_plain(self.text, at + 1);
        if self.byte(end) == b'"' { Ok(end + 1) } else { self.skip_escaped(end) }
    }

    /// The rest of a string from its first escape on.
    #[inline(never)]
    fn skip_escaped(&mut self, mut at: usize) -> Step {
        loop {
            match self.byte(at) {
                b'"' => return Ok(at + 1),
                b'\\' => at = self.skip_escape(at)?,
                _ => return Err(Stop::Invalid),
            }
            at = end_of_plain(self.text, at);
        }
    }

    /// Passes the key that should begin at a position with `byte`; returns the position after it,
    /// and whether it has escapes.
    #[inline(always)]
    pub(crate) fn skip_key(&mut self, at: usize, byte: u8) -> Step<(usize, bool)> {
        if byte != b'"' {
            return Err(Stop::Invalid);
        }
        let end = end_of_plain(self.text, at + 1);
        if self.byte(end) == b'"' {
            return Ok((end + 1, false));
        }
        self.skip_escaped(end).map(|end| (end, true))
    }

    fn skip_escape(&mut self, at: usize) -> Step {
        match self.byte(at + 1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
            b'u' => {
                let unit = self.code_unit(at)?;
                if !(0xd800..0xe000).contains(&unit) {
                    return Ok(at + 6);
                }
                let follows = self.text.get(at + 6..at + 8) == Some(b"\\u");
                if unit < 0xdc00 && follows && (0xdc00..0xe000).contains(&self.code_unit(at + 6)?) {
                    return Ok(at + 12);
                }
                self.lone_surrogate = true;
                Ok(at + 6)
            }
            _ => Err(Stop::Invalid),
        }
    }

    /// The code unit of the `\u` escape at `at`.
    fn code_unit(&self, at: usize) -> Step<u32> {
        let digits = self.text.get(at + 2..at + 6).ok_or(Stop::Invalid)?;
        digits.iter().try_fold(0, |unit, digit| {
            char::from(*digit).to_digit(16).map(|digit| unit << 4 | digit).ok_or(Stop::Invalid)
        })
    }

    #[inline]
    pub(crate) fn skip_literal(&self, at: usize, literal: &[u8]) -> Step {
        let end = at + literal.len();
        if self.text.get(at..end) == Some(literal) { Ok(end) } else { Err(Stop::Invalid) }
    }

    #[inline(always)]
    fn digits_end(&self, mut at: usize) -> usize {
        while self.byte(at).is_ascii_digit() {
            at += 1;
        }
        at
    }

    #[inline]
    fn skip_digits(&self, at: usize) -> Step {
        let end = self.digits_end(at);
        if end == at { Err(Stop::Invalid) } else { Ok(end) }
    }

    #[inline]
    pub(crate) fn skip_number(&self, at: usize) -> Step {
        let first = self.byte(at);
        let end = self.digits_end(at + 1);
        let is_plain = matches!(first, b'1'..=b'9') || first == b'0' && end == at + 1;
        if is_plain && end - at <= MAX_PLAIN_DIGITS && !matches!(self.byte(end), b'.' | b'e' | b'E')
        {
            return Ok(end);
        }
        self.skip_any_number(at)
    }

    #[inline(never)]
    fn skip_any_number(&self, start: usize) -> Step {
        let mut at = start + usize::from(self.byte(start) == b'-');
        at = if self.byte(at) == b'0' { at + 1 } else { self.skip_digits(at)? };
        if self.byte(at) == b'.' {
            at = self.skip_digits(at + 1)?;
        }
        let has_exponent = matches!(self.byte(at), b'e' | b'E');
        if has_exponent {
            at += 1;
            at = self.skip_digits(at + usize::from(matches!(self.byte(at), b'+' | b'-')))?;
        }
        if has_exponent || at - start > MAX_PLAIN_DIGITS {
            let literal = std::str::from_utf8(self.slice(start, at)).unwrap_or_default();
            if !literal.parse::<f64>().is_ok_and(f64::is_finite) {
                return Err(Stop::Invalid);
            }
        }
        Ok(at)
    }

    /// Returns the member at a position if it is an expected one, with the position and the first
    /// byte of its value.
    #[inline(always)]
    pub(crate) fn expected<'s>(
        &self,
        node: NodeRef<'s>,
        expected: ExpectedProperty,
        at: usize,
    ) -> Option<(PropertyRef<'s>, usize, u8)> {
        let (property, length) = node.expected_at(expected, self.text, at)?;
        let (value, byte) = self.token(at + length);
        Some((property, value, byte))
    }

    /// Passes a scalar that begins with `byte`; containers are the caller's.
    #[inline(always)]
    pub(crate) fn skip_scalar(&mut self, at: usize, byte: u8) -> Step {
        if byte == b'"' {
            return self.skip_string(at);
        }
        if byte.is_ascii_digit() || byte == b'-' {
            return self.skip_number(at);
        }
        self.skip_word(at, byte)
    }

    #[inline(never)]
    fn skip_word(&self, at: usize, byte: u8) -> Step {
        match byte {
            b't' => self.skip_literal(at, b"true"),
            b'f' => self.skip_literal(at, b"false"),
            b'n' => self.skip_literal(at, b"null"),
            _ => Err(Stop::Invalid),
        }
    }

    /// Passes a value in which nothing can change and that begins with `byte`; `left` is the number
    /// of levels that may be opened.
    #[inline(always)]
    pub(crate) fn skip_value<K: Keys>(
        &mut self,
        at: usize,
        byte: u8,
        keys: &mut K,
        left: usize,
    ) -> Step {
        if byte == b'{' {
            return self.skip_object(at, keys, left);
        }
        if byte == b'[' {
            return self.skip_array(at, keys, left);
        }
        self.skip_scalar(at, byte)
    }

    pub(crate) fn skip_object<K: Keys>(&mut self, at: usize, keys: &mut K, left: usize) -> Step {
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        if left % LEVELS == 0 {
            return grow(|| self.skip_members(at + 1, keys, left));
        }
        self.skip_members(at + 1, keys, left)
    }

    #[inline(always)]
    fn skip_members<K: Keys>(&mut self, at: usize, keys: &mut K, left: usize) -> Step {
        let (mut at, mut byte) = self.token(at);
        if byte == b'}' {
            return Ok(at + 1);
        }
        let frame = keys.open();
        loop {
            let (end, escaped) = self.skip_key(at, byte)?;
            keys.key(&frame, self.slice(at + 1, end - 1), escaped)?;
            (at, byte) = self.skip_colon(end)?;
            let end = self.skip_value(at, byte, keys, left)?;
            match self.next_part(end, b'}')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => {
                    keys.close(frame);
                    return Ok(end);
                }
            }
        }
    }

    pub(crate) fn skip_array<K: Keys>(&mut self, at: usize, keys: &mut K, left: usize) -> Step {
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        if left % LEVELS == 0 {
            return grow(|| self.skip_elements(at + 1, keys, left));
        }
        self.skip_elements(at + 1, keys, left)
    }

    #[inline(always)]
    fn skip_elements<K: Keys>(&mut self, at: usize, keys: &mut K, left: usize) -> Step {
        let (mut at, mut byte) = self.token(at);
        if byte == b']' {
            return Ok(at + 1);
        }
        loop {
            let end = self.skip_value(at, byte, keys, left)?;
            match self.next_part(end, b']')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => return Ok(end),
            }
        }
    }
}

/// The token after a part of a list or an object.
pub(crate) enum Part {
    /// Another part: its position and first byte.
    Next(usize, u8),
    /// The end; this is the position after it.
    End(usize),
}

/// Fewer digits than float64 can take, without exponent.
const MAX_PLAIN_DIGITS: usize = 300;

/// Returns the position of the first quotation mark, backslash or control character from `at` on;
/// the end of the text if there is none.
#[inline(always)]
pub(crate) fn end_of_plain(text: &[u8], at: usize) -> usize {
    let mut rest = text.get(at..).unwrap_or_default();
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            return text.len() - rest.len() + special.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    end_of_plain_near_end(text, text.len() - rest.len())
}

#[inline(never)]
fn end_of_plain_near_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
    at + special.unwrap_or(rest.len())
}

/// The high bit of each byte that is a quotation mark, a backslash or a control character; exact
/// up to the first such byte.
#[inline(always)]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // With this bit flipped the quotation mark, 0x22, joins the control characters below 0x20, and
    // no other byte comes below 0x21.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (quote_or_control | backslash) & !word & HIGH
}
