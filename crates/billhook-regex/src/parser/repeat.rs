//! Repetitions: `* + ?` and `{n,m}`, each with an optional `?` after it.

use super::Parser;
use crate::ast::{Item, Node};
use crate::limits::MAX_REPEAT;
use crate::{Error, ErrorKind};

/// A count as it was written.
#[derive(Clone, Copy)]
enum Count {
    Number(u32),
    TooBig,
}

impl Parser<'_> {
    /// Reads a repetition operator and applies it to the item before it. Returns `false`, with
    /// nothing read, at a `{` that does not start a count and is just a character.
    pub(super) fn parse_repeat(
        &mut self,
        operator: char,
        last_repeat: Option<usize>,
    ) -> Result<bool, Error> {
        let start = self.pos;
        let (min, max, counted) = match operator {
            '*' => (0, None, false),
            '+' => (1, None, false),
            '?' => (0, Some(1), false),
            _ => {
                let Some((min, max)) = self.parse_counts() else {
                    self.pos = start;
                    return Ok(false);
                };
                let (Count::Number(min), Some(max)) = (min, number(max)) else {
                    return Err(self.error(ErrorKind::InvalidRepeatSize, start..self.pos));
                };
                if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || max < min) {
                    return Err(self.error(ErrorKind::InvalidRepeatSize, start..self.pos));
                }
                (min, max, true)
            }
        };
        if !counted {
            self.pos += 1;
        }
        let is_marked = self.peek_byte(0) == Some(b'?');
        if is_marked {
            self.pos += 1;
        }
        let greedy = is_marked == self.flags.lazy;
        if let Some(last) = last_repeat {
            return Err(self.error(ErrorKind::InvalidRepeatOp, last..self.pos));
        }
        let Some(sub) = self.stack.pop_if(|item| matches!(item, Item::Node(_))) else {
            return Err(self.error(ErrorKind::MissingRepeatArgument, start..self.pos));
        };
        if let Item::Node(sub) = sub {
            self.account.allocate();
            self.stack.push(Item::Node(Node::repeat(sub, min, max, counted, greedy)));
        }
        self.check_limits()?;
        // A count of 0 or 1 multiplies nothing, and Go does not look then.
        if counted && (min > 1 || max.is_some_and(|max| max > 1)) && self.repeats_too_often() {
            return Err(self.error(ErrorKind::InvalidRepeatSize, start..self.pos));
        }
        Ok(true)
    }

    fn repeats_too_often(&self) -> bool {
        matches!(self.stack.last(), Some(Item::Node(node)) if node.repeats() > MAX_REPEAT)
    }

    /// `{n}`, `{n,}` or `{n,m}`; anything else is not a repetition.
    fn parse_counts(&mut self) -> Option<(Count, Option<Count>)> {
        self.pos += 1;
        let min = self.parse_count()?;
        let mut max = Some(min);
        if self.peek_byte(0)? == b',' {
            self.pos += 1;
            max = if self.peek_byte(0)? == b'}' { None } else { Some(self.parse_count()?) };
        }
        if self.peek_byte(0)? != b'}' {
            return None;
        }
        self.pos += 1;
        Some((min, max))
    }

    fn parse_count(&mut self) -> Option<Count> {
        let mut count = Count::Number(digit(self.peek_byte(0)?)?);
        // A leading zero makes this not a count.
        if matches!(count, Count::Number(0)) && self.peek_byte(1).and_then(digit).is_some() {
            return None;
        }
        self.pos += 1;
        while let Some(digit) = self.peek_byte(0).and_then(digit) {
            count = match count {
                Count::Number(n) if n <= MAX_REPEAT => Count::Number(n * 10 + digit),
                _ => Count::TooBig,
            };
            self.pos += 1;
        }
        Some(count)
    }
}

/// The upper count: no count is fine, one that is too big is not.
fn number(count: Option<Count>) -> Option<Option<u32>> {
    match count {
        None => Some(None),
        Some(Count::Number(n)) => Some(Some(n)),
        Some(Count::TooBig) => None,
    }
}

fn digit(byte: u8) -> Option<u32> {
    byte.is_ascii_digit().then(|| u32::from(byte - b'0'))
}
