//! How the parser goes on after a syntax error, so that others are named as well (CE-20).

use super::lexer::{Token, TokenKind};
use super::{Parsed, Parser, Stop};

/// The parser gives up after so many errors.
const MOST_RECOVERIES: usize = 30;

/// The symbols that may follow an operand.
const FOLLOWING: [&str; 22] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "in", "+", "-", "*", "/", "%", "?", ":", ",",
    ")", "]", "}", ".", "[",
];

impl Token {
    /// Whether an operand can begin with it.
    pub(super) fn starts_operand(self) -> bool {
        match self.kind {
            TokenKind::End => false,
            TokenKind::Symbol(symbol) => matches!(symbol, "[" | "{" | "(" | "." | "-" | "!"),
            _ => true,
        }
    }
}

impl Parser<'_> {
    /// Reports what is wrong with the next token. Nothing is reported of the token at which the
    /// parser recovered, until that is passed.
    pub(super) fn syntax_error(&mut self, problem: &str) {
        if self.recovered_at != Some(self.next) {
            self.issues.report(self.peek().at, format!("Syntax error: {problem}"));
        }
    }

    /// Reports a missing operand. Returns whether there is one after the next token,
    /// which is then left out.
    pub(super) fn skips_to_operand(&mut self, expected: &str) -> Parsed<bool> {
        let is_next = self.tokens.get(self.next + 1).is_some_and(|token| token.starts_operand());
        if !is_next {
            self.unexpected(expected);
            self.recover()?;
            return Ok(false);
        }
        let found = self.text(self.peek());
        self.syntax_error(&format!("extraneous input '{found}' expecting {expected}"));
        self.next += 1;
        Ok(true)
    }

    /// Reports a missing name after a dot.
    pub(super) fn missing_field(&mut self, is_optional: bool) -> Parsed<()> {
        let token = self.peek();
        let found = self.text(token);
        if is_optional {
            self.unexpected("{IDENTIFIER, ESC_IDENTIFIER}");
            self.issues.report(token.at, "unsupported ident kind");
        } else if matches!(token.kind, TokenKind::Symbol(_)) {
            self.syntax_error(&format!("no viable alternative at input '.{found}'"));
        } else {
            self.unexpected("IDENTIFIER");
        }
        self.recover()
    }

    /// Skips to where an operand may have ended.
    fn recover(&mut self) -> Parsed<()> {
        self.recoveries += 1;
        if self.recoveries > MOST_RECOVERIES {
            let text = format!("error recovery attempt limit exceeded: {MOST_RECOVERIES}");
            self.syntax_error(&text);
            return Err(Stop);
        }
        while match self.peek().kind {
            TokenKind::End => false,
            TokenKind::Symbol(symbol) => !FOLLOWING.contains(&symbol),
            _ => true,
        } {
            self.next += 1;
        }
        self.recovered_at = Some(self.next);
        self.depth = 0;
        Ok(())
    }
}
