//! Pattern text to syntax tree, with Go's errors. The parser keeps its own stack of finished parts
//! and open operators and never recurses; groups, repetitions and literals are below, the rest in
//! the files of this folder.

mod class;
mod escape;
mod group;
mod repeat;
mod stack;

use std::ops::Range;
use std::sync::Arc;

use regex_syntax::hir::Look;

use crate::ast::{Flags, Item, Node, NodeKind};
use crate::charset::CharSet;
use crate::classes::ClassCache;
use crate::limits::{Account, ENGINE_CLASS_RANGES, ENGINE_INSTRUCTIONS};
use crate::{Error, ErrorKind};

/// Checks the syntax and Go's limits.
pub(crate) fn check(pattern: &str) -> Result<(), Error> {
    Parser::new(pattern, 0).parse().map(drop)
}

/// The syntax tree.
pub(crate) fn parse(pattern: &str) -> Result<Node, Error> {
    Parser::new(pattern, ENGINE_CLASS_RANGES).parse()
}

/// Checks the syntax and all limits.
pub(crate) fn check_to_match(pattern: &str) -> Result<(), Error> {
    let mut parser = Parser::new(pattern, 0);
    let tree = parser.parse()?;
    // Only now, so that an error of Go's further on comes first.
    if parser.class_ranges > ENGINE_CLASS_RANGES || tree.size() > ENGINE_INSTRUCTIONS as u64 {
        return Err(Error::new(ErrorKind::TooLargeToMatch, pattern));
    }
    Ok(())
}

struct Parser<'p> {
    pattern: &'p str,
    pos: usize,
    flags: Flags,
    stack: Vec<Item>,
    account: Account,
    classes: ClassCache,
    /// The number of ranges in all classes together, named ones once, and the number worth keeping.
    class_ranges: usize,
    class_ranges_kept: usize,
    /// Stands in for the sets that are not kept.
    no_set: Arc<CharSet>,
    /// Set once a search for `:]` ran into the end of the pattern.
    no_posix_end: bool,
}

impl<'p> Parser<'p> {
    fn new(pattern: &'p str, class_ranges_kept: usize) -> Self {
        Self {
            pattern,
            pos: 0,
            flags: Flags::default(),
            stack: Vec::new(),
            account: Account::default(),
            classes: ClassCache::default(),
            class_ranges: 0,
            class_ranges_kept,
            no_set: Arc::default(),
            no_posix_end: false,
        }
    }

    fn parse(&mut self) -> Result<Node, Error> {
        // The position of the last repetition operator: two must not meet.
        let mut last_repeat = None;
        while let Some(c) = self.peek() {
            let start = self.pos;
            let mut repeat = None;
            match c {
                '(' if self.peek_byte(1) == Some(b'?') => self.parse_group_start()?,
                '(' => {
                    self.pos += 1;
                    self.open_group(true, self.flags)?;
                }
                '|' => {
                    self.pos += 1;
                    self.parse_bar()?;
                }
                ')' => {
                    self.parse_right_paren()?;
                    self.pos += 1;
                }
                '^' if self.flags.multi_line => self.look(1, Look::StartLF)?,
                '^' => self.look(1, Look::Start)?,
                '$' if self.flags.multi_line => self.look(1, Look::EndLF)?,
                '$' => self.look(1, Look::End)?,
                '.' => {
                    self.pos += 1;
                    self.push_leaf(if self.flags.dot_newline {
                        NodeKind::AnyChar
                    } else {
                        NodeKind::AnyCharNotNewline
                    })?;
                }
                '[' => self.parse_class()?,
                '*' | '+' | '?' | '{' => {
                    if self.parse_repeat(c, last_repeat)? {
                        repeat = Some(start);
                    } else {
                        self.literal_char(c)?;
                    }
                }
                '\\' => self.parse_backslash()?,
                _ => self.literal_char(c)?,
            }
            last_repeat = repeat;
        }
        self.close_alternation()?;
        match self.stack.pop() {
            Some(Item::Node(tree)) if self.stack.is_empty() => Ok(tree),
            _ => Err(self.error_at_all(ErrorKind::MissingParen)),
        }
    }

    /// A backslash outside of brackets.
    fn parse_backslash(&mut self) -> Result<(), Error> {
        match self.peek_byte(1) {
            Some(b'A') => return self.look(2, Look::Start),
            Some(b'z') => return self.look(2, Look::End),
            Some(b'b') => return self.look(2, Look::WordAscii),
            Some(b'B') => return self.look(2, Look::WordAsciiNegate),
            Some(b'Q') => return self.parse_quoted(),
            _ => {}
        }
        if let Some(named) = self.parse_named_escape()? {
            let set = self.named_set(&named)?;
            self.account.allocate();
            return self.push_class(set);
        }
        let rune = self.parse_escape()?;
        self.literal(rune)
    }

    /// `\Q…\E`, or up to the end of the pattern.
    fn parse_quoted(&mut self) -> Result<(), Error> {
        self.pos += 2;
        let rest = self.rest();
        let (quoted, skip) = match rest.split_once(r"\E") {
            Some((quoted, _)) => (quoted, 2),
            None => (rest, 0),
        };
        for c in quoted.chars() {
            self.literal(u32::from(c))?;
        }
        self.pos += quoted.len() + skip;
        Ok(())
    }

    fn literal_char(&mut self, c: char) -> Result<(), Error> {
        self.pos += c.len_utf8();
        self.literal(u32::from(c))
    }

    fn look(&mut self, len: usize, look: Look) -> Result<(), Error> {
        self.pos += len;
        self.push_leaf(NodeKind::Look(look))
    }

    fn rest(&self) -> &'p str {
        self.pattern.get(self.pos..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn peek_byte(&self, ahead: usize) -> Option<u8> {
        self.pattern.as_bytes().get(self.pos + ahead).copied()
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    fn error(&self, kind: ErrorKind, text: Range<usize>) -> Error {
        Error::new(kind, self.pattern.get(text).unwrap_or_default())
    }

    fn error_at_all(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.pattern)
    }
}
