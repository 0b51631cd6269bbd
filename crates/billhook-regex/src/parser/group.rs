//! Groups that start with `(?`: named groups, and groups and settings with flags.

use super::Parser;
use crate::{Error, ErrorKind};

impl Parser<'_> {
    /// Reads from `(?` up to the `>`, `:` or `)` that ends the start of a group.
    pub(super) fn parse_group_start(&mut self) -> Result<(), Error> {
        let rest = self.rest();
        // Go asks for one more byte than the two prefixes have.
        for prefix in ["(?P<", "(?<"] {
            if rest.starts_with(prefix) && rest.len() > prefix.len() {
                return self.parse_named_group(prefix.len());
            }
        }
        self.parse_flags()
    }

    fn parse_named_group(&mut self, prefix: usize) -> Result<(), Error> {
        let start = self.pos;
        let Some(name) = self.rest().split_once('>').and_then(|(head, _)| head.get(prefix..))
        else {
            return Err(self.error(ErrorKind::InvalidNamedCapture, start..self.pattern.len()));
        };
        self.pos += prefix + name.len() + 1;
        if name.is_empty() || !name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric()) {
            return Err(self.error(ErrorKind::InvalidNamedCapture, start..self.pos));
        }
        self.open_group(true, self.flags)
    }

    fn parse_flags(&mut self) -> Result<(), Error> {
        let start = self.pos;
        self.pos += 2;
        let mut flags = self.flags;
        let mut on = true;
        let mut missing_flag = false;
        while let Some(c) = self.next_char() {
            match c {
                'i' => flags.fold = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_newline = on,
                'U' => flags.lazy = on,
                '-' if on => {
                    on = false;
                    missing_flag = true;
                    continue;
                }
                ':' | ')' if !missing_flag => {
                    if c == ':' {
                        self.open_group(false, self.flags)?;
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            missing_flag = false;
        }
        Err(self.error(ErrorKind::InvalidPerlOp, start..self.pos))
    }
}
