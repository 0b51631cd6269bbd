//! Scalars: plain, quoted and block.

use std::borrow::Cow;

use crate::cursor::{is_blank, is_break, is_space};
use crate::error::YamlError;
use crate::place::Mark;
use crate::scanner::Scanner;
use crate::token::{Token, What};

/// The content of a scalar: a part of the text as long as it can be.
struct Content<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    owned: Option<String>,
}

impl<'t> Content<'t> {
    fn new(text: &'t str, start: usize) -> Self {
        Content { text, start, end: start, owned: None }
    }

    /// Adds what is in the text up to a place, from the end of what was added last.
    fn extend(&mut self, end: usize) {
        if let Some(owned) = &mut self.owned {
            owned.push_str(self.text.get(self.end..end).unwrap_or_default());
        }
        self.end = end;
    }

    /// Adds other text in place of that up to a place.
    fn replace(&mut self, end: usize, other: &str) {
        let before = self.text.get(self.start..self.end).unwrap_or_default();
        self.owned.get_or_insert_with(|| before.to_owned()).push_str(other);
        self.end = end;
    }

    fn finish(self) -> Cow<'t, str> {
        match self.owned {
            Some(owned) => Cow::Owned(owned),
            None => Cow::Borrowed(self.text.get(self.start..self.end).unwrap_or_default()),
        }
    }
}

/// White space in a scalar.
enum Gap {
    Blanks,
    /// At least one line break: what there is in place of them.
    Breaks(Cow<'static, str>),
}

impl<'t> Scanner<'t> {
    /// Passes blanks and line breaks. Tabs before the column `least` are refused.
    fn gap(&mut self, least: usize) -> Result<Gap, YamlError> {
        self.cursor.step_while(is_blank);
        if !self.cursor.is_at_break() {
            return Ok(Gap::Blanks);
        }
        let first = self.cursor.line_break();
        let mut rest = String::new();
        loop {
            self.cursor.step_while(|c| c == ' ');
            match self.cursor.peek() {
                Some('\t') if self.cursor.mark.column < least => {
                    let problem = "found a tab character that violates indentation";
                    return Err(self.error(problem));
                }
                Some('\t') => self.cursor.step(),
                Some(c) if is_break(c) => rest.push_str(self.cursor.line_break()),
                _ => break,
            }
        }
        Ok(Gap::Breaks(folded(first, rest)))
    }

    pub(crate) fn plain_scalar(&mut self) -> Result<(), YamlError> {
        let start = self.cursor.mark;
        let least = usize::try_from(self.indent + 1).unwrap_or_default();
        let mut content = Content::new(self.cursor.text, start.offset);
        let mut end = start;
        let mut gap = Gap::Blanks;
        while !self.cursor.is_at_document_indicator() && !self.cursor.is_at('#') {
            let word = self.cursor.mark;
            self.plain_word();
            if self.cursor.mark.offset > word.offset {
                if let Gap::Breaks(breaks) = &gap {
                    content.replace(word.offset, breaks);
                }
                content.extend(self.cursor.mark.offset);
                end = self.cursor.mark;
                gap = Gap::Blanks;
            }
            if !self.cursor.is_at_space() || self.cursor.peek().is_none() {
                break;
            }
            gap = self.gap(least)?;
            if self.flow == 0 && self.cursor.mark.column < least {
                break;
            }
        }
        if matches!(gap, Gap::Breaks(_)) {
            self.may_be_key = true;
        }
        let what = What::Scalar { text: content.finish(), plain: true };
        self.push_token(Token { what, start, end });
        Ok(())
    }

    /// Passes what belongs to a plain scalar up to the next white space.
    fn plain_word(&mut self) {
        // A text has no control characters but white space.
        let is_inside =
            |c| !matches!(c, '\0'..=' ' | ':' | ',' | '?' | '[' | ']' | '{' | '}') && !is_break(c);
        loop {
            self.cursor.step_while(is_inside);
            if self.cursor.is_at_space() || self.ends_plain() {
                return;
            }
            self.cursor.step();
        }
    }

    /// Whether an indicator that ends a plain scalar is here.
    fn ends_plain(&self) -> bool {
        match self.cursor.peek() {
            Some(':') => is_space(self.cursor.peek_second()),
            Some(c) => self.flow > 0 && ",?[]{}".contains(c),
            None => true,
        }
    }

    pub(crate) fn quoted_scalar(&mut self) -> Result<(), YamlError> {
        let start = self.cursor.mark;
        let quote = self.cursor.peek().unwrap_or('"');
        self.cursor.step();
        let mut content = Content::new(self.cursor.text, self.cursor.mark.offset);
        loop {
            if self.cursor.is_at_document_indicator() {
                return Err(self.error("found unexpected document indicator"));
            }
            let Some(c) = self.cursor.peek() else {
                return Err(self.error("found unexpected end of stream"));
            };
            match c {
                '\'' if c == quote && self.cursor.peek_second() == Some('\'') => {
                    self.cursor.step();
                    content.extend(self.cursor.mark.offset);
                    self.cursor.step();
                    content.replace(self.cursor.mark.offset, "");
                }
                c if c == quote => break,
                '\\' if quote == '"' => self.escape(&mut content)?,
                c if is_blank(c) || is_break(c) => {
                    let gap = self.gap(0)?;
                    match gap {
                        Gap::Blanks => content.extend(self.cursor.mark.offset),
                        Gap::Breaks(breaks) => content.replace(self.cursor.mark.offset, &breaks),
                    }
                }
                _ => {
                    self.cursor.step();
                    self.cursor.step_while(|c| c > ' ' && c != quote && c != '\\' && !is_break(c));
                    content.extend(self.cursor.mark.offset);
                }
            }
        }
        self.cursor.step();
        self.push(What::Scalar { text: content.finish(), plain: false }, start);
        Ok(())
    }

    fn escape(&mut self, content: &mut Content<'t>) -> Result<(), YamlError> {
        let next = self.cursor.peek_second();
        if next.is_some_and(is_break) {
            self.cursor.step();
            self.cursor.line_break();
            // White space goes on as after any line break, of which nothing is left.
            let mut rest = String::new();
            while let Some(c) = self.cursor.peek().filter(|c| is_blank(*c) || is_break(*c)) {
                if is_blank(c) {
                    self.cursor.step();
                } else {
                    rest.push_str(self.cursor.line_break());
                }
            }
            content.replace(self.cursor.mark.offset, &rest);
            return Ok(());
        }
        let digits = match next {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let simple = match next {
            Some('0') => '\0',
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('t' | '\t') => '\t',
            Some('n') => '\n',
            Some('v') => '\x0b',
            Some('f') => '\x0c',
            Some('r') => '\r',
            Some('e') => '\x1b',
            Some(c @ (' ' | '"' | '\'' | '\\')) => c,
            Some('N') => '\u{85}',
            Some('_') => '\u{a0}',
            Some('L') => '\u{2028}',
            Some('P') => '\u{2029}',
            _ if digits > 0 => '\0',
            _ => return Err(self.error("found unknown escape character")),
        };
        let c = if digits == 0 { simple } else { self.code(digits)? };
        (0..2 + digits).for_each(|_| self.cursor.step());
        content.replace(self.cursor.mark.offset, c.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    /// Returns the character of the code after a backslash and a letter.
    fn code(&self, digits: usize) -> Result<char, YamlError> {
        let text = self.cursor.rest().get(2..2 + digits).unwrap_or_default();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.error("did not find expected hexdecimal number"));
        }
        let code = u32::from_str_radix(text, 16).unwrap_or(u32::MAX);
        let Some(c) = char::from_u32(code) else {
            return Err(self.error("found invalid Unicode character escape code"));
        };
        Ok(c)
    }

    pub(crate) fn block_scalar(&mut self) -> Result<(), YamlError> {
        let start = self.cursor.mark;
        let is_literal = self.cursor.is_at('|');
        self.cursor.step();
        let Header { chomping, increment } = self.header()?;
        let indent = usize::try_from(self.indent).ok();
        let mut indent = increment.map(|increment| indent.unwrap_or_default() + increment);
        let mut end = self.cursor.mark;
        let mut trailing = self.block_breaks(&mut indent, &mut end)?;
        let mut content = String::new();
        let mut line_break = "";
        let mut was_blank = false;
        while Some(self.cursor.mark.column) == indent && self.cursor.peek().is_some() {
            let is_indented = self.cursor.peek().is_some_and(is_blank);
            if !is_literal && line_break == "\n" && !was_blank && !is_indented {
                content.push_str(if trailing.is_empty() { " " } else { "" });
            } else {
                content.push_str(line_break);
            }
            content.push_str(&trailing);
            was_blank = is_indented;
            content.push_str(self.cursor.step_while(|c| !is_break(c)));
            end = self.cursor.mark;
            line_break = self.cursor.line_break();
            if !line_break.is_empty() {
                end = self.cursor.mark;
            }
            trailing = self.block_breaks(&mut indent, &mut end)?;
        }
        if chomping != Some('-') {
            content.push_str(line_break);
        }
        if chomping == Some('+') {
            content.push_str(&trailing);
        }
        let what = What::Scalar { text: Cow::Owned(content), plain: false };
        self.push_token(Token { what, start, end });
        Ok(())
    }

    fn header(&mut self) -> Result<Header, YamlError> {
        let mut header = Header { chomping: None, increment: None };
        while let Some(c) = self.cursor.peek() {
            match c {
                '+' | '-' if header.chomping.is_none() => header.chomping = Some(c),
                '0' if header.increment.is_none() => {
                    return Err(self.error("found an indentation indicator equal to 0"));
                }
                '1'..='9' if header.increment.is_none() => {
                    header.increment = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                }
                _ => break,
            }
            self.cursor.step();
        }
        self.cursor.step_while(is_blank);
        if self.cursor.is_at('#') {
            self.cursor.step_while(|c| !is_break(c));
        }
        if self.cursor.peek().is_some_and(|c| !is_break(c)) {
            return Err(self.error("did not find expected comment or line break"));
        }
        self.cursor.line_break();
        Ok(header)
    }

    /// Passes the indentation of lines, and empty lines, which it returns. The indentation of the
    /// first line decides if none is given.
    fn block_breaks(
        &mut self,
        indent: &mut Option<usize>,
        end: &mut Mark,
    ) -> Result<String, YamlError> {
        let mut breaks = String::new();
        let mut longest = 0;
        loop {
            let is_inside = |column: usize| indent.is_none_or(|indent| column < indent);
            while is_inside(self.cursor.mark.column) && self.cursor.is_at(' ') {
                self.cursor.step();
            }
            longest = longest.max(self.cursor.mark.column);
            if is_inside(self.cursor.mark.column) && self.cursor.is_at('\t') {
                let problem = "found a tab character where an indentation space is expected";
                return Err(self.error(problem));
            }
            if !self.cursor.is_at_break() {
                break;
            }
            breaks.push_str(self.cursor.line_break());
            *end = self.cursor.mark;
        }
        if indent.is_none() {
            let least = usize::try_from(self.indent + 1).unwrap_or_default();
            *indent = Some(longest.max(least).max(1));
        }
        Ok(breaks)
    }
}

/// The indicators of a block scalar.
struct Header {
    chomping: Option<char>,
    increment: Option<usize>,
}

/// Returns the text that the line breaks between two lines of a scalar stand for.
fn folded(first: &str, rest: String) -> Cow<'static, str> {
    match first {
        "\n" if rest.is_empty() => " ".into(),
        "\n" => rest.into(),
        first => (first.to_owned() + &rest).into(),
    }
}
