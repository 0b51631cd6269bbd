//! Character classes: brackets, and the named classes in and out of them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::Parser;
use crate::charset::{CharSet, CharSetBuilder};
use crate::classes::NamedClass;
use crate::fold::folded;
use crate::{Error, ErrorKind};

/// A named class and where it stands.
pub(super) struct Named {
    class: NamedClass,
    text: Range<usize>,
}

impl Parser<'_> {
    /// `[…]`.
    pub(super) fn parse_class(&mut self) -> Result<(), Error> {
        let start = self.pos;
        self.account.allocate();
        self.pos += 1;
        let negated = self.peek_byte(0) == Some(b'^');
        if negated {
            self.pos += 1;
        }
        let mut set = CharSetBuilder::default();
        let mut seen = BTreeSet::new();
        // A `]` that comes first is a member.
        let mut first = true;
        while first || self.peek_byte(0) != Some(b']') {
            first = false;
            if let Some(named) = self.parse_named_class()? {
                let members = self.named_set(&named)?;
                if seen.insert(named.class) {
                    set.add_set(&members);
                }
                continue;
            }
            let (lo, hi) = self.parse_range(start)?;
            set.add(lo, hi);
        }
        self.pos += 1;
        let mut set = set.build();
        if self.flags.fold {
            set = folded(&set);
        }
        if negated {
            set = set.negated();
        }
        self.push_class(Arc::new(set))
    }

    /// A character or a range of them, in a class that begins at `class`.
    fn parse_range(&mut self, class: usize) -> Result<(u32, u32), Error> {
        let start = self.pos;
        let lo = self.parse_member(class)?;
        // A hyphen before the closing bracket is a member.
        if self.peek_byte(0) != Some(b'-') || matches!(self.peek_byte(1), None | Some(b']')) {
            return Ok((lo, lo));
        }
        self.pos += 1;
        let hi = self.parse_member(class)?;
        if hi < lo {
            return Err(self.error(ErrorKind::InvalidCharRange, start..self.pos));
        }
        Ok((lo, hi))
    }

    fn parse_member(&mut self, class: usize) -> Result<u32, Error> {
        match self.peek() {
            Some('\\') => self.parse_escape(),
            Some(c) => {
                self.pos += c.len_utf8();
                Ok(u32::from(c))
            }
            None => Err(self.error(ErrorKind::MissingBracket, class..self.pattern.len())),
        }
    }

    /// A named class inside of brackets.
    fn parse_named_class(&mut self) -> Result<Option<Named>, Error> {
        match self.peek_byte(0) {
            Some(b'[') => self.parse_posix_class(),
            Some(b'\\') => self.parse_named_escape(),
            _ => Ok(None),
        }
    }

    /// `[:name:]`. Without an end this is an ordinary bracket; with one, anything
    /// up to there is taken for the name.
    fn parse_posix_class(&mut self) -> Result<Option<Named>, Error> {
        let start = self.pos;
        let Some(rest) = self.rest().strip_prefix("[:").filter(|_| !self.no_posix_end) else {
            return Ok(None);
        };
        let Some((name, _)) = rest.split_once(":]") else {
            // Not asked again, or many `[:` would each search the whole rest.
            self.no_posix_end = true;
            return Ok(None);
        };
        self.pos += name.len() + 4;
        let text = start..self.pos;
        match NamedClass::posix(name) {
            Some(class) => Ok(Some(Named { class, text })),
            None => Err(self.error(ErrorKind::InvalidCharRange, text)),
        }
    }

    /// `\d \s \w`, `\pN` and `\p{Name}`, and their negations.
    pub(super) fn parse_named_escape(&mut self) -> Result<Option<Named>, Error> {
        let start = self.pos;
        let Some(letter) = self.peek_byte(1) else { return Ok(None) };
        let class = match letter {
            b'p' | b'P' => {
                self.pos += 2;
                let name = self.parse_unicode_name(start)?;
                NamedClass::unicode(name, letter == b'P')
            }
            _ => {
                let Some(class) = NamedClass::perl(letter) else { return Ok(None) };
                self.pos += 2;
                class
            }
        };
        Ok(Some(Named { class, text: start..self.pos }))
    }

    pub(super) fn named_set(&mut self, named: &Named) -> Result<Arc<CharSet>, Error> {
        self.classes
            .get(&named.class, self.flags.fold)
            .ok_or_else(|| self.error(ErrorKind::InvalidCharRange, named.text.clone()))
    }
}

impl<'p> Parser<'p> {
    /// One letter, or a name in braces, of an escape that begins at `start`.
    fn parse_unicode_name(&mut self, start: usize) -> Result<&'p str, Error> {
        let rest = self.rest();
        if let Some(braced) = rest.strip_prefix('{') {
            let Some((name, _)) = braced.split_once('}') else {
                return Err(self.error(ErrorKind::InvalidCharRange, start..self.pattern.len()));
            };
            self.pos += name.len() + 2;
            return Ok(name);
        }
        let len = rest.chars().next().map_or(0, char::len_utf8);
        self.pos += len;
        Ok(rest.get(..len).unwrap_or_default())
    }
}
