//! The scanner: checks JSON text without building anything. Everything that reads text fast stands
//! on it.

use billhook_schema::value::grow;

use crate::error::JsonError;
use crate::read::{MAX_DEPTH, read_json};

/// Why a pass over text ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The text is not JSON, or a number is beyond float64.
    Invalid,
    /// A key is repeated, or may be.
    Duplicate,
    /// Only the slower path over a tree knows what to do, or how to say what is wrong.
    Tree,
}

pub(crate) type Step<T = ()> = Result<T, Stop>;

/// What a check of JSON text found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Whether the text is UTF-8 and no string has a lone surrogate; otherwise the server reads
    /// U+FFFD in their places.
    pub is_unicode: bool,
}

/// Checks that a text is JSON as the server accepts it: the whole grammar, depth, the range of
/// numbers. Builds nothing.
pub fn check_json(text: &[u8]) -> Result<Checked, JsonError> {
    let is_utf8 = std::str::from_utf8(text).is_ok();
    let mut scan = Scan::new(text);
    let mut check = || {
        scan.skip_space();
        scan.skip_value(&mut AnyKeys, MAX_DEPTH)?;
        scan.skip_space();
        if scan.at == text.len() { Ok(scan.lone_surrogate) } else { Err(Stop::Invalid) }
    };
    match check() {
        Ok(lone_surrogate) => Ok(Checked { is_unicode: is_utf8 && !lone_surrogate }),
        // The reader finds the same error and words it.
        Err(_) => read_json(text).map(|_| Checked { is_unicode: false }),
    }
}

/// What is done with the keys of objects that are only passed over.
pub(crate) trait Keys {
    /// State of one object.
    type Frame;
    /// Begins an object.
    fn open(&mut self) -> Self::Frame;
    /// A key, without its quotation marks.
    fn key(&mut self, frame: &mut Self::Frame, key: &[u8], escaped: bool) -> Step;
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
    fn key(&mut self, (): &mut (), _: &[u8], _: bool) -> Step {
        Ok(())
    }

    #[inline]
    fn close(&mut self, (): ()) {}
}

pub(crate) struct Scan<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) at: usize,
    pub(crate) lone_surrogate: bool,
}

/// Levels that are walked between two looks at how much stack is left.
pub(crate) const LEVELS: usize = 32;

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Scan { text, at: 0, lone_surrogate: false }
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Step {
        if self.peek() != Some(byte) {
            return Err(Stop::Invalid);
        }
        self.at += 1;
        Ok(())
    }

    /// Passes what stands between the parts of a list or an object; gives whether another part
    /// follows, or the end, which is passed too.
    #[inline]
    pub(crate) fn more_before(&mut self, end: u8) -> Step<bool> {
        self.skip_space();
        let next = self.peek();
        if next != Some(b',') && next != Some(end) {
            return Err(Stop::Invalid);
        }
        self.at += 1;
        if next == Some(b',') {
            self.skip_space();
        }
        Ok(next == Some(b','))
    }

    /// Passes a string; gives whether it has escapes.
    #[inline]
    pub(crate) fn skip_string(&mut self) -> Step<bool> {
        let mut at = self.at + 1;
        while let Some(chunk) = self.text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            let special = special_bytes(u64::from_le_bytes(*chunk));
            if special == 0 {
                at += 8;
                continue;
            }
            at += special.trailing_zeros() as usize / 8;
            if self.text.get(at) == Some(&b'"') {
                self.at = at + 1;
                return Ok(false);
            }
            break;
        }
        self.skip_string_slowly(at)
    }

    /// The rest of a string, which has escapes or is near the end of the text.
    #[inline(never)]
    fn skip_string_slowly(&mut self, mut at: usize) -> Step<bool> {
        let mut escaped = false;
        loop {
            match self.text.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    at = self.skip_escape(at)?;
                }
                Some(0..=0x1f) | None => return Err(Stop::Invalid),
                Some(_) => at += 1,
            }
            while let Some(chunk) = self.text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
                let special = special_bytes(u64::from_le_bytes(*chunk));
                at += special.trailing_zeros() as usize / 8;
                if special != 0 {
                    break;
                }
            }
        }
    }

    fn skip_escape(&mut self, at: usize) -> Step<usize> {
        match self.text.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => {
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
    pub(crate) fn skip_literal(&mut self, literal: &[u8]) -> Step {
        if self.text.get(self.at..).is_some_and(|rest| rest.starts_with(literal)) {
            self.at += literal.len();
            return Ok(());
        }
        Err(Stop::Invalid)
    }

    #[inline]
    fn skip_digits(&mut self) -> Step {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(Stop::Invalid) } else { Ok(()) }
    }

    pub(crate) fn skip_number(&mut self) -> Step {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.skip_digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        let mut has_exponent = false;
        if let Some(b'e' | b'E') = self.peek() {
            has_exponent = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        // Fewer than 300 digits without exponent are always within float64.
        if has_exponent || self.at - start > 300 {
            let literal = std::str::from_utf8(self.slice(start, self.at)).unwrap_or_default();
            if !literal.parse::<f64>().is_ok_and(f64::is_finite) {
                return Err(Stop::Invalid);
            }
        }
        Ok(())
    }

    /// Passes a scalar; containers are the caller's.
    #[inline]
    pub(crate) fn skip_scalar(&mut self) -> Step {
        match self.peek() {
            Some(b'"') => self.skip_string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            Some(b't') => self.skip_literal(b"true"),
            Some(b'f') => self.skip_literal(b"false"),
            Some(b'n') => self.skip_literal(b"null"),
            _ => Err(Stop::Invalid),
        }
    }

    /// Passes a value of which nothing can change; `left` is how many levels may be opened.
    pub(crate) fn skip_value<K: Keys>(&mut self, keys: &mut K, left: usize) -> Step {
        match self.peek() {
            Some(b'{') => self.skip_container(keys, left, Self::skip_object::<K>),
            Some(b'[') => self.skip_container(keys, left, Self::skip_array::<K>),
            _ => self.skip_scalar(),
        }
    }

    #[inline]
    fn skip_container<K: Keys>(
        &mut self,
        keys: &mut K,
        left: usize,
        skip: fn(&mut Self, &mut K, usize) -> Step,
    ) -> Step {
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        self.at += 1;
        self.skip_space();
        if left % LEVELS == 0 { grow(|| skip(self, keys, left)) } else { skip(self, keys, left) }
    }

    fn skip_object<K: Keys>(&mut self, keys: &mut K, left: usize) -> Step {
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        let mut frame = keys.open();
        loop {
            if self.peek() != Some(b'"') {
                return Err(Stop::Invalid);
            }
            let start = self.at + 1;
            let escaped = self.skip_string()?;
            keys.key(&mut frame, self.slice(start, self.at - 1), escaped)?;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            self.skip_value(keys, left)?;
            if !self.more_before(b'}')? {
                keys.close(frame);
                return Ok(());
            }
        }
    }

    fn skip_array<K: Keys>(&mut self, keys: &mut K, left: usize) -> Step {
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_value(keys, left)?;
            if !self.more_before(b']')? {
                return Ok(());
            }
        }
    }
}

/// Where the first quotation mark, backslash or control character is from `at` on; the end of the
/// text if there is none.
#[inline]
pub(crate) fn end_of_plain(text: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
    at + special.unwrap_or(rest.len())
}

/// The high bit of each byte that is a quotation mark, a backslash or a control character; exact
/// up to the first such byte.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = zero_bytes(word ^ (ONES * b'"' as u64));
    let backslash = zero_bytes(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | backslash | control) & HIGH
}
