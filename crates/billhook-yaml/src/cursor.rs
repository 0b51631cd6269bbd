//! The characters of YAML 1.1, one after the other.

use crate::place::Mark;

/// A text that is read character by character.
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) mark: Mark,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Cursor { text, mark: Mark::default() }
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.mark.offset..).unwrap_or_default()
    }

    /// Returns the text from a place to here.
    pub(crate) fn since(&self, start: Mark) -> &'t str {
        self.text.get(start.offset..self.mark.offset).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        match self.text.as_bytes().get(self.mark.offset) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.rest().chars().next(),
        }
    }

    /// Returns the character after the next one, which is ASCII.
    pub(crate) fn peek_second(&self) -> Option<char> {
        self.text.get(self.mark.offset + 1..)?.chars().next()
    }

    pub(crate) fn is_at(&self, c: char) -> bool {
        self.peek() == Some(c)
    }

    /// Whether a blank, a line break or the end of the text is here.
    pub(crate) fn is_at_space(&self) -> bool {
        is_space(self.peek())
    }

    /// Whether a line break is here.
    pub(crate) fn is_at_break(&self) -> bool {
        self.peek().is_some_and(is_break)
    }

    /// Whether `---` or `...` stands alone here, at the start of a line.
    pub(crate) fn is_at_document_indicator(&self) -> bool {
        self.mark.column == 0
            && (self.rest().starts_with("---") || self.rest().starts_with("..."))
            && is_space(self.text.get(self.mark.offset + 3..).and_then(|rest| rest.chars().next()))
    }

    /// Passes a character that is not a line break.
    pub(crate) fn step(&mut self) {
        if let Some(c) = self.peek() {
            self.mark.offset += c.len_utf8();
            self.mark.column += 1;
        }
    }

    #[inline(always)]
    pub(crate) fn step_while(&mut self, is_wanted: impl Fn(char) -> bool) -> &'t str {
        let start = self.mark;
        loop {
            let rest = self.text.as_bytes().get(self.mark.offset..).unwrap_or_default();
            let is_passed = |byte: &&u8| byte.is_ascii() && is_wanted(char::from(**byte));
            let length = rest.iter().take_while(is_passed).count();
            self.mark.offset += length;
            self.mark.column += length;
            match self.peek() {
                Some(c) if !c.is_ascii() && is_wanted(c) => self.step(),
                _ => return self.since(start),
            }
        }
    }

    /// Passes a line break, if there is one; returns what it is in a scalar.
    pub(crate) fn line_break(&mut self) -> &'t str {
        let (length, text) = match self.peek() {
            Some('\r') if self.peek_second() == Some('\n') => (2, "\n"),
            Some('\r' | '\n') => (1, "\n"),
            Some('\u{85}') => (2, "\n"),
            Some('\u{2028}') => (3, "\u{2028}"),
            Some('\u{2029}') => (3, "\u{2029}"),
            _ => return "",
        };
        self.mark.offset += length;
        self.mark.line += 1;
        self.mark.column = 0;
        text
    }
}

pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Whether a character, or the end of the text, separates tokens.
pub(crate) fn is_space(c: Option<char>) -> bool {
    c.is_none_or(|c| is_blank(c) || is_break(c))
}

/// Whether a character may be in the name of an anchor, a tag handle or a directive.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}
