//! Anchors, aliases, tags and directives.

use crate::cursor::{is_blank, is_break, is_word};
use crate::error::YamlError;
use crate::place::Mark;
use crate::scanner::Scanner;
use crate::token::What;

/// The most digits of a number in a version.
const MAX_VERSION_DIGITS: usize = 9;

impl<'t> Scanner<'t> {
    pub(crate) fn anchor(&mut self) -> Result<(), YamlError> {
        let start = self.cursor.mark;
        let is_alias = self.cursor.is_at('*');
        self.cursor.step();
        let name = self.cursor.step_while(is_word);
        let ends = |c: char| "?:,]}%@`".contains(c);
        if name.is_empty() || !(self.cursor.is_at_space() || self.cursor.peek().is_some_and(ends)) {
            return Err(self.error("did not find expected alphabetic or numeric character"));
        }
        self.push(if is_alias { What::Alias(name) } else { What::Anchor(name) }, start);
        Ok(())
    }

    pub(crate) fn tag(&mut self) -> Result<(), YamlError> {
        let start = self.cursor.mark;
        let (handle, suffix) = if self.cursor.rest().starts_with("!<") {
            self.cursor.step();
            self.cursor.step();
            let suffix = self.uri(None)?;
            if !self.cursor.is_at('>') {
                return Err(self.error("did not find the expected '>'"));
            }
            self.cursor.step();
            ("", suffix)
        } else {
            let handle = self.tag_handle(false)?;
            if handle.len() > 1 && handle.ends_with('!') {
                (handle, self.uri(None)?)
            } else {
                let suffix = self.uri(handle.strip_prefix('!'))?;
                if suffix.is_empty() { ("", "!".to_owned()) } else { ("!", suffix) }
            }
        };
        if !self.cursor.is_at_space() {
            return Err(self.error("did not find expected whitespace or line break"));
        }
        self.push(What::Tag { handle, suffix }, start);
        Ok(())
    }

    /// Reads `!`, `!name!` or, in tags, `!name`, which is the start of a tag.
    fn tag_handle(&mut self, is_directive: bool) -> Result<&'t str, YamlError> {
        let start = self.cursor.mark;
        if !self.cursor.is_at('!') {
            return Err(self.error("did not find expected '!'"));
        }
        self.cursor.step();
        self.cursor.step_while(is_word);
        if self.cursor.is_at('!') {
            self.cursor.step();
        } else if is_directive && self.cursor.since(start) != "!" {
            return Err(self.error("did not find expected '!'"));
        }
        Ok(self.cursor.since(start))
    }

    /// Reads a URI, or the rest of one; there must be something in it unless it is a rest.
    fn uri(&mut self, start: Option<&str>) -> Result<String, YamlError> {
        let mut uri = start.unwrap_or_default().to_owned();
        let mut is_empty = start.is_none();
        while let Some(c) = self.cursor.peek().filter(|c| is_word(*c) || URI.contains(*c)) {
            if c == '%' {
                uri.push(self.uri_escape()?);
            } else {
                uri.push(c);
                self.cursor.step();
            }
            is_empty = false;
        }
        if is_empty {
            return Err(self.error("did not find expected tag URI"));
        }
        Ok(uri)
    }

    /// Reads the octets of a character.
    fn uri_escape(&mut self) -> Result<char, YamlError> {
        let mut octets = Vec::new();
        let mut length = 1;
        while octets.len() < length {
            let escape = self.cursor.rest().get(..3).and_then(|text| text.strip_prefix('%'));
            let octet = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let Some(octet) = octet else {
                return Err(self.error("did not find URI escaped octet"));
            };
            if octets.is_empty() {
                length = match octet {
                    0..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => return Err(self.error("found an incorrect leading UTF-8 octet")),
                };
            } else if octet & 0xc0 != 0x80 {
                return Err(self.error("found an incorrect trailing UTF-8 octet"));
            }
            octets.push(octet);
            (0..3).for_each(|_| self.cursor.step());
        }
        let text = String::from_utf8_lossy(&octets);
        Ok(text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    pub(crate) fn directive(&mut self) -> Result<(), YamlError> {
        let start = self.cursor.mark;
        self.cursor.step();
        let name = self.cursor.step_while(is_word);
        if name.is_empty() {
            return Err(self.error("could not find expected directive name"));
        }
        if !self.cursor.is_at_space() {
            return Err(self.error("found unexpected non-alphabetical character"));
        }
        let what = match name {
            "YAML" => self.version()?,
            "TAG" => self.tag_directive()?,
            _ => return Err(self.error("found unknown directive name")),
        };
        self.end_directive(what, start)
    }

    fn end_directive(&mut self, what: What<'t>, start: Mark) -> Result<(), YamlError> {
        self.push(what, start);
        self.cursor.step_while(is_blank);
        if self.cursor.is_at('#') {
            self.cursor.step_while(|c| !is_break(c));
        }
        if !self.cursor.is_at_space() {
            return Err(self.error("did not find expected comment or line break"));
        }
        self.cursor.line_break();
        Ok(())
    }

    fn version(&mut self) -> Result<What<'t>, YamlError> {
        self.cursor.step_while(is_blank);
        let major = self.version_number()?;
        if !self.cursor.is_at('.') {
            return Err(self.error("did not find expected digit or '.' character"));
        }
        self.cursor.step();
        let minor = self.version_number()?;
        Ok(What::Version { is_1_1: (major, minor) == (1, 1) })
    }

    fn version_number(&mut self) -> Result<u32, YamlError> {
        let start = self.cursor.mark;
        while self.cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            if self.cursor.since(start).len() == MAX_VERSION_DIGITS {
                return Err(self.error("found extremely long version number"));
            }
            self.cursor.step();
        }
        let number = self.cursor.since(start).parse();
        number.map_err(|_| self.error("did not find expected version number"))
    }

    fn tag_directive(&mut self) -> Result<What<'t>, YamlError> {
        self.cursor.step_while(is_blank);
        let handle = self.tag_handle(true)?;
        if !self.cursor.peek().is_some_and(is_blank) {
            return Err(self.error("did not find expected whitespace"));
        }
        self.cursor.step_while(is_blank);
        let prefix = self.uri(None)?;
        if !self.cursor.is_at_space() {
            return Err(self.error("did not find expected whitespace or line break"));
        }
        Ok(What::TagDirective { handle, prefix })
    }
}

/// The characters of URIs beside those of words.
const URI: &str = ";/?:@&=+$.,!~*'()[]%";
