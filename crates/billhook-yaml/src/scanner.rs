//! From characters to tokens, as YAML 1.1 has them: collections begin where indentation grows, and
//! whether a scalar is a key is known only when its colon is read.

use std::collections::VecDeque;

use crate::MAX_DEPTH;
use crate::cursor::{Cursor, is_break, is_space};
use crate::error::{YamlError, depth_problem};
use crate::place::Mark;
use crate::token::{Token, What};

/// The most characters of a key without `?`, with its colon.
const MAX_SIMPLE_KEY: usize = 1024;

/// The start of what may turn out to be a key.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    is_possible: bool,
    /// Whether nothing else may stand here.
    is_required: bool,
    /// The number of the token, from the start of the stream.
    number: usize,
    mark: Mark,
}

/// Reads tokens from the text.
pub(crate) struct Scanner<'t> {
    pub(crate) cursor: Cursor<'t>,
    tokens: VecDeque<Token<'t>>,
    /// The number of tokens that were taken.
    taken: usize,
    /// The column of the innermost block collection; -1 if absent.
    pub(crate) indent: isize,
    indents: Vec<isize>,
    /// The number of open flow collections.
    pub(crate) flow: usize,
    /// Whether a key without `?` may start here.
    pub(crate) may_be_key: bool,
    /// The possible keys, one for every open flow collection and one outside of them.
    keys: Vec<SimpleKey>,
    /// The levels of those that still may be keys; the first one begins at the first token.
    possible: VecDeque<usize>,
    is_done: bool,
}

type Scanned<T = ()> = Result<T, YamlError>;

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Scanner {
            cursor: Cursor::new(text),
            tokens: VecDeque::new(),
            taken: 0,
            indent: -1,
            indents: Vec::new(),
            flow: 0,
            may_be_key: true,
            keys: vec![SimpleKey::default()],
            possible: VecDeque::new(),
            is_done: false,
        }
    }

    /// Returns the next token; after the last one, the end of the stream again.
    #[inline]
    pub(crate) fn peek(&mut self) -> Scanned<&Token<'t>> {
        if self.needs_more()? {
            self.fetch_first()?;
        }
        self.tokens.front().ok_or_else(|| self.error("did not find expected token"))
    }

    /// Takes the next token; the end of the stream stays.
    pub(crate) fn take(&mut self) -> Scanned<Token<'t>> {
        if let Token { what: What::StreamEnd, start, end } = *self.peek()? {
            return Ok(Token { what: What::StreamEnd, start, end });
        }
        self.taken += 1;
        self.tokens.pop_front().ok_or_else(|| self.error("did not find expected token"))
    }

    /// Reads on until the first token is known.
    #[inline(never)]
    fn fetch_first(&mut self) -> Scanned {
        loop {
            self.fetch()?;
            if !self.needs_more()? {
                return Ok(());
            }
        }
    }

    /// Whether the first token is not known yet: a key may have to go before it.
    #[inline]
    fn needs_more(&mut self) -> Scanned<bool> {
        if self.tokens.is_empty() {
            return Ok(!self.is_done);
        }
        let Some(level) = self.possible.front().copied() else { return Ok(false) };
        let is_first = self.keys.get(level).is_some_and(|key| key.number == self.taken);
        if is_first && !self.is_done { self.is_still_possible(level) } else { Ok(false) }
    }

    pub(crate) fn error(&self, problem: impl std::fmt::Display) -> YamlError {
        YamlError::of_scanner(self.cursor.mark, self.cursor.rest().is_empty(), problem)
    }

    /// Adds a token that ends here.
    pub(crate) fn push(&mut self, what: What<'t>, start: Mark) {
        self.push_token(Token { what, start, end: self.cursor.mark });
    }

    pub(crate) fn push_token(&mut self, token: Token<'t>) {
        self.tokens.push_back(token);
    }

    /// Passes white space, comments and line breaks.
    fn skip_space(&mut self) {
        loop {
            let tabs = self.flow > 0 || !self.may_be_key;
            self.cursor.step_while(|c| c == ' ' || tabs && c == '\t');
            if self.cursor.is_at('#') {
                self.cursor.step_while(|c| !is_break(c));
            }
            if !self.cursor.is_at_break() {
                return;
            }
            self.cursor.line_break();
            if self.flow == 0 {
                self.may_be_key = true;
            }
        }
    }

    fn fetch(&mut self) -> Scanned {
        self.skip_space();
        self.unroll_indent(self.column());
        let Some(c) = self.cursor.peek() else { return self.stream_end() };
        if self.cursor.mark.column == 0 && c == '%' {
            self.leave_blocks()?;
            return self.directive();
        }
        if self.cursor.is_at_document_indicator() {
            let what = if c == '-' { What::DocumentStart } else { What::DocumentEnd };
            self.leave_blocks()?;
            return self.indicator(3, what);
        }
        let next = self.cursor.peek_second();
        let in_flow = self.flow > 0;
        match c {
            '[' => self.open(What::FlowSequence),
            '{' => self.open(What::FlowMapping),
            ']' => self.close(What::FlowSequenceEnd),
            '}' => self.close(What::FlowMappingEnd),
            ',' => {
                self.remove_key(true)?;
                self.indicator(1, What::FlowEntry)
            }
            '-' if is_space(next) => self.block_entry(),
            '?' if in_flow || is_space(next) => self.key(),
            ':' if in_flow || is_space(next) => self.value(),
            '|' | '>' if !in_flow => {
                self.remove_key(true)?;
                self.block_scalar()
            }
            '|' | '>' | '%' | '@' | '`' | '\t' => {
                Err(self.error("found character that cannot start any token"))
            }
            _ => {
                self.save_key(false)?;
                match c {
                    '*' | '&' => self.anchor(),
                    '!' => self.tag(),
                    '\'' | '"' => self.quoted_scalar(),
                    _ => self.plain_scalar(),
                }
            }
        }
    }

    fn column(&self) -> isize {
        isize::try_from(self.cursor.mark.column).unwrap_or(isize::MAX)
    }

    /// Takes an indicator of so many characters.
    fn indicator(&mut self, length: usize, what: What<'t>) -> Scanned {
        let start = self.cursor.mark;
        (0..length).for_each(|_| self.cursor.step());
        self.push(what, start);
        Ok(())
    }

    fn stream_end(&mut self) -> Scanned {
        if self.cursor.mark.column > 0 {
            self.cursor.mark.column = 0;
            self.cursor.mark.line += 1;
        }
        self.leave_blocks()?;
        self.is_done = true;
        self.push(What::StreamEnd, self.cursor.mark);
        Ok(())
    }

    fn leave_blocks(&mut self) -> Scanned {
        self.unroll_indent(-1);
        self.remove_key(false)
    }

    fn open(&mut self, what: What<'t>) -> Scanned {
        self.save_key(true)?;
        self.keys.push(SimpleKey::default());
        self.flow += 1;
        if self.flow > MAX_DEPTH {
            return Err(self.error(depth_problem()));
        }
        self.indicator(1, what)
    }

    fn close(&mut self, what: What<'t>) -> Scanned {
        self.remove_key(false)?;
        if self.flow > 0 {
            self.flow -= 1;
            self.keys.pop();
        }
        self.indicator(1, what)
    }

    /// Begins a block collection before one of its indicators, unless it is there already.
    fn begin_block(&mut self, what: What<'t>, indicators: &str) -> Scanned {
        if self.flow > 0 {
            return Ok(());
        }
        if !self.may_be_key {
            let problem = format_args!("{indicators} are not allowed in this context");
            return Err(self.error(problem));
        }
        self.roll_indent(self.cursor.mark, None, what)
    }

    fn block_entry(&mut self) -> Scanned {
        self.begin_block(What::BlockSequence, "block sequence entries")?;
        self.remove_key(true)?;
        self.indicator(1, What::BlockEntry)
    }

    fn key(&mut self) -> Scanned {
        self.begin_block(What::BlockMapping, "mapping keys")?;
        self.remove_key(self.flow == 0)?;
        self.indicator(1, What::Key)
    }

    fn value(&mut self) -> Scanned {
        let level = self.keys.len().saturating_sub(1);
        if self.is_still_possible(level)?
            && let Some(key) = self.keys.last_mut()
        {
            key.is_possible = false;
            let SimpleKey { number, mark, .. } = *key;
            self.possible.pop_back();
            let token = Token { what: What::Key, start: mark, end: mark };
            self.tokens.insert(number.saturating_sub(self.taken), token);
            self.roll_indent(mark, Some(number), What::BlockMapping)?;
            self.may_be_key = false;
        } else {
            self.begin_block(What::BlockMapping, "mapping values")?;
            self.may_be_key = self.flow == 0;
        }
        self.indicator(1, What::Value)
    }

    /// Whether what may be a key still may: it must end on its line and soon.
    fn is_still_possible(&mut self, level: usize) -> Scanned<bool> {
        let here = self.cursor.mark;
        let Some(key) = self.keys.get(level).filter(|key| key.is_possible) else {
            return Ok(false);
        };
        if key.mark.line == here.line && here.column <= key.mark.column + MAX_SIMPLE_KEY {
            return Ok(true);
        }
        self.refuse_key(level).map(|()| false)
    }

    /// Notes that what begins here may be a key, and whether what follows may be one.
    fn save_key(&mut self, may_next: bool) -> Scanned {
        let is_required = self.flow == 0 && self.indent == self.column();
        if !self.may_be_key {
            self.may_be_key = may_next;
            return Ok(());
        }
        self.remove_key(may_next)?;
        let number = self.taken + self.tokens.len();
        let level = self.keys.len().saturating_sub(1);
        if let Some(key) = self.keys.last_mut() {
            *key = SimpleKey { is_possible: true, is_required, number, mark: self.cursor.mark };
            self.possible.push_back(level);
        }
        Ok(())
    }

    /// Notes that what may have been a key is none, and whether what follows may be one.
    fn remove_key(&mut self, may_next: bool) -> Scanned {
        self.may_be_key = may_next;
        self.refuse_key(self.keys.len().saturating_sub(1))
    }

    fn refuse_key(&mut self, level: usize) -> Scanned {
        let Some(key) = self.keys.get_mut(level).filter(|key| key.is_possible) else {
            return Ok(());
        };
        let is_required = key.is_required;
        key.is_possible = false;
        // Keys begin one after the other, and are refused from either end.
        match self.possible.front() {
            Some(first) if *first == level => self.possible.pop_front(),
            _ => self.possible.pop_back(),
        };
        if is_required { Err(self.error("could not find expected ':'")) } else { Ok(()) }
    }

    /// Opens a block collection if the column of its first token is further in. The token goes
    /// before that with the given number.
    fn roll_indent(&mut self, mark: Mark, number: Option<usize>, what: What<'t>) -> Scanned {
        let column = isize::try_from(mark.column).unwrap_or(isize::MAX);
        if self.flow > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_DEPTH {
            return Err(self.error(depth_problem()));
        }
        let token = Token { what, start: mark, end: mark };
        match number {
            Some(number) => self.tokens.insert(number.saturating_sub(self.taken), token),
            None => self.tokens.push_back(token),
        }
        Ok(())
    }

    /// Closes the block collections that are further in than a column.
    fn unroll_indent(&mut self, column: isize) {
        while self.flow == 0 && self.indent > column {
            self.push(What::BlockEnd, self.cursor.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
}
