//! Escapes of one character, inside and outside of brackets.

use super::Parser;
use crate::charset::MAX_RUNE;
use crate::{Error, ErrorKind};

impl Parser<'_> {
    /// Reads a backslash and the characters that belong to it.
    pub(super) fn parse_escape(&mut self) -> Result<u32, Error> {
        let start = self.pos;
        self.pos += 1;
        let Some(c) = self.next_char() else {
            return Err(Error::new(ErrorKind::TrailingBackslash, ""));
        };
        let rune = match c {
            '0'..='7' => self.parse_octal(c),
            'x' => self.parse_hex(),
            'a' => Some(0x07),
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
            _ => None,
        };
        rune.ok_or_else(|| self.error(ErrorKind::InvalidEscape, start..self.pos))
    }

    /// Up to three digits. A lone digit other than 0 would refer back to a group.
    fn parse_octal(&mut self, first: char) -> Option<u32> {
        let mut rune = first.to_digit(8)?;
        let mut digits = 1;
        while digits < 3 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
            rune = rune * 8 + digit;
            self.pos += 1;
            digits += 1;
        }
        (digits > 1 || first == '0').then_some(rune)
    }

    /// Two hexadecimal digits, or any number of them in braces. On failure the
    /// character that spoilt it has been read, which shows in the error's text.
    fn parse_hex(&mut self) -> Option<u32> {
        let first = self.next_char()?;
        if first != '{' {
            let second = self.next_char()?;
            return Some(first.to_digit(16)? * 16 + second.to_digit(16)?);
        }
        let mut rune = None;
        loop {
            let c = self.next_char()?;
            if c == '}' {
                return rune;
            }
            let value = rune.unwrap_or(0) * 16 + c.to_digit(16)?;
            if value > MAX_RUNE {
                return None;
            }
            rune = Some(value);
        }
    }
}
