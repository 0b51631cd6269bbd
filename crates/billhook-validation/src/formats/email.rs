//! Mail addresses with or without a display name, as Go reads them (VV-71, RFC 5322).
//!
//! address = addr-spec [comment] / [phrase] "<" addr-spec ">" / phrase ":" one address ";"

use super::encoded_word::is_in_unknown_charset;
use super::net::is_ip;

/// Whether a text is a single address.
pub(super) fn is_address(text: &str) -> bool {
    let mut parser = Parser { rest: text };
    parser.address(true) == Some(1) && parser.skip_comments() && parser.rest.is_empty()
}

#[derive(Clone, Copy)]
struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Reads an address or, where that is allowed, a group; returns the number of addresses.
    fn address(&mut self, group_allowed: bool) -> Option<usize> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        if self.addr_spec().is_some() {
            self.skip_space();
            if self.rest.starts_with('(') {
                self.display_comment()?;
            }
            return Some(1);
        }
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if group_allowed && self.take(':') {
            return self.group();
        }
        if !self.take('<') {
            return None;
        }
        self.addr_spec()?;
        self.take('>').then_some(1)
    }

    /// The addresses of a group, up to its semicolon.
    fn group(&mut self) -> Option<usize> {
        self.skip_space();
        if self.take(';') {
            return self.skip_comments().then_some(0);
        }
        let mut count = 0;
        loop {
            self.skip_space();
            count += self.address(false)?;
            if !self.skip_comments() {
                return None;
            }
            if self.take(';') {
                return self.skip_comments().then_some(count);
            }
            if !self.take(',') {
                return None;
            }
        }
    }

    /// Reads `local@domain`; on failure nothing is read.
    fn addr_spec(&mut self) -> Option<()> {
        let mut parser = *self;
        parser.skip_space();
        match parser.rest.starts_with('"') {
            true if parser.quoted_string()?.is_empty() => return None,
            true => {}
            false => drop(parser.dot_atom()?),
        }
        if !parser.take('@') {
            return None;
        }
        parser.skip_space();
        if parser.rest.starts_with('[') {
            parser.domain_literal()?;
        } else {
            parser.dot_atom()?;
        }
        *self = parser;
        Some(())
    }

    /// An IP address in brackets.
    fn domain_literal(&mut self) -> Option<()> {
        let (address, rest) = self.rest.strip_prefix('[')?.split_once(']')?;
        self.rest = rest;
        is_ip(address).then_some(())
    }

    /// Reads one word or more. After the first, anything that is not a word ends the phrase.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 && !self.skip_comments() {
                return None;
            }
            self.skip_space();
            if self.rest.is_empty() || self.word().is_none() {
                return (words > 0).then_some(());
            }
            words += 1;
        }
    }

    fn word(&mut self) -> Option<()> {
        if self.rest.starts_with('"') {
            return self.quoted_string().map(drop);
        }
        let word = self.atom()?;
        (!is_in_unknown_charset(word)).then_some(())
    }

    /// The text between quotation marks, with its escapes.
    fn quoted_string(&mut self) -> Option<&'t str> {
        let text = self.rest.strip_prefix('"')?;
        let mut is_escaped = false;
        for (at, c) in text.char_indices() {
            let is_text = is_visible(c) || c == ' ' || c == '\t';
            match c {
                _ if is_escaped && is_text => is_escaped = false,
                '"' if !is_escaped => {
                    self.rest = text.get(at + 1..)?;
                    return text.get(..at);
                }
                '\\' if !is_escaped => is_escaped = true,
                _ if is_text && !is_escaped => {}
                _ => return None,
            }
        }
        None
    }

    /// Atoms joined by single dots.
    fn dot_atom(&mut self) -> Option<&'t str> {
        let atom = self.atom()?;
        let is_joined = !atom.starts_with('.') && !atom.ends_with('.') && !atom.contains("..");
        is_joined.then_some(atom)
    }

    /// Reads text that needs no quotation marks, dots included.
    fn atom(&mut self) -> Option<&'t str> {
        let is_special = |c: char| "()<>[]:;@\\,\"".contains(c);
        let end = self.rest.find(|c: char| is_special(c) || !is_visible(c));
        let (atom, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    /// Reads a comment after an address, which names its owner.
    fn display_comment(&mut self) -> Option<()> {
        let comment = self.comment()?;
        let mut words = comment.split([' ', '\t']);
        (!words.any(is_in_unknown_charset)).then_some(())
    }

    /// Reads a comment with those nested in it; returns the text between its parentheses.
    fn comment(&mut self) -> Option<&'t str> {
        let text = self.rest.strip_prefix('(')?;
        let (mut depth, mut is_escaped) = (1, false);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = text.get(at + 1..)?;
                return text.get(..at);
            }
        }
        None
    }

    /// Skips spaces and comments; false if a comment does not end.
    fn skip_comments(&mut self) -> bool {
        self.skip_space();
        while self.rest.starts_with('(') {
            if self.comment().is_none() {
                return false;
            }
            self.skip_space();
        }
        true
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

/// Printable ASCII without the space, and everything beyond ASCII.
fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || !c.is_ascii()
}
