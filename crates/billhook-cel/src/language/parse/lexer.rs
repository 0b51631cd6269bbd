//! Tokens.

use crate::language::availability::Language;
use crate::language::source::{Issues, Source};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Ident,
    /// A name in back quotes.
    Quoted,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    True,
    False,
    Null,
    /// An operator or punctuation; `in` is one too.
    Symbol(&'static str),
    End,
}

/// A token and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) at: usize,
    pub(crate) end: usize,
}

/// Returns the operator or punctuation that begins with two characters.
fn symbol(first: char, second: Option<char>) -> Option<&'static str> {
    Some(match (first, second) {
        ('=', Some('=')) => "==",
        ('!', Some('=')) => "!=",
        ('<', Some('=')) => "<=",
        ('>', Some('=')) => ">=",
        ('&', Some('&')) => "&&",
        ('|', Some('|')) => "||",
        ('<', _) => "<",
        ('>', _) => ">",
        ('[', _) => "[",
        (']', _) => "]",
        ('{', _) => "{",
        ('}', _) => "}",
        ('(', _) => "(",
        (')', _) => ")",
        ('.', _) => ".",
        (',', _) => ",",
        ('-', _) => "-",
        ('!', _) => "!",
        ('?', _) => "?",
        (':', _) => ":",
        ('+', _) => "+",
        ('*', _) => "*",
        ('/', _) => "/",
        ('%', _) => "%",
        _ => return None,
    })
}

/// Returns all tokens of an expression, with an end token at the end. Text that is not a token is
/// reported and left out.
pub(crate) fn tokens(source: &Source<'_>, language: Language, issues: &mut Issues) -> Vec<Token> {
    let mut lexer = Lexer { source, language, at: 0 };
    let mut tokens = Vec::with_capacity(source.len() / 2 + 1);
    loop {
        lexer.skip_blanks();
        let at = lexer.at;
        if at >= source.len() {
            tokens.push(Token { kind: TokenKind::End, at, end: at });
            return tokens;
        }
        match lexer.token() {
            Some(kind) => tokens.push(Token { kind, at, end: lexer.at }),
            None => {
                lexer.at = lexer.at.max(at + 1);
                let text = source.text(at, lexer.at);
                issues.report(at, format!("Syntax error: token recognition error at: '{text}'"));
            }
        }
    }
}

struct Lexer<'s> {
    source: &'s Source<'s>,
    language: Language,
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.source.get(self.at + ahead)
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, expected)| self.peek(ahead) == Some(expected))
    }

    /// Skips characters of a kind; returns whether there were any.
    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        let from = self.at;
        while self.peek(0).is_some_and(&wanted) {
            self.at += 1;
        }
        self.at > from
    }

    fn skip_blanks(&mut self) {
        loop {
            self.skip(|character| matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0c'));
            if !self.looking_at("//") {
                return;
            }
            self.skip(|character| character != '\n');
        }
    }

    /// Passes the next token and returns its kind; `None` if there is no token here.
    fn token(&mut self) -> Option<TokenKind> {
        let first = self.peek(0)?;
        if let Some((prefix, raw, kind)) = self.string_prefix() {
            self.at += prefix;
            return self.string(raw).then_some(kind);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Some(self.word());
        }
        if first.is_ascii_digit()
            || first == '.' && self.peek(1).is_some_and(|next| next.is_ascii_digit())
        {
            return Some(self.number());
        }
        if first == '`' && self.language.edition().reads_quoted_names {
            self.at += 1;
            let named = self.skip(|c| c.is_ascii_alphanumeric() || "_.-/ ".contains(c));
            let closed = self.peek(0) == Some('`');
            self.at += usize::from(closed);
            return (named && closed).then_some(TokenKind::Quoted);
        }
        let symbol = symbol(first, self.peek(1))?;
        self.at += symbol.len();
        Some(TokenKind::Symbol(symbol))
    }

    /// Returns the length of the prefix before the quotes, whether the text is raw, and the kind.
    fn string_prefix(&self) -> Option<(usize, bool, TokenKind)> {
        let bytes = matches!(self.peek(0)?, 'b' | 'B');
        let kind = if bytes { TokenKind::Bytes } else { TokenKind::String };
        let raw = matches!(self.peek(usize::from(bytes))?, 'r' | 'R');
        let prefix = usize::from(bytes) + usize::from(raw);
        matches!(self.peek(prefix)?, '"' | '\'').then_some((prefix, raw, kind))
    }

    /// Passes a string from its quotes on; whether it is complete.
    fn string(&mut self, raw: bool) -> bool {
        let quote = if self.peek(0) == Some('"') { "\"" } else { "'" };
        let triple = quote.repeat(3);
        let is_long = self.looking_at(&triple);
        let close = if is_long { &triple } else { quote };
        self.at += close.len();
        loop {
            if self.looking_at(close) {
                self.at += close.len();
                return true;
            }
            match self.peek(0) {
                None => return false,
                Some('\n' | '\r') if !is_long => return false,
                Some('\\') if !raw => match self.escape() {
                    Some(length) => self.at += length,
                    None => return false,
                },
                Some(_) => self.at += 1,
            }
        }
    }

    /// The length of an escape sequence.
    fn escape(&self) -> Option<usize> {
        let digits = |count: usize, radix: u32| {
            (2..2 + count)
                .all(|ahead| self.peek(ahead).is_some_and(|c| c.is_digit(radix)))
                .then_some(2 + count)
        };
        match self.peek(1)? {
            'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`' => Some(2),
            'x' | 'X' => digits(2, 16),
            'u' => digits(4, 16),
            'U' => digits(8, 16),
            '0'..='3' => digits(2, 8),
            _ => None,
        }
    }

    fn word(&mut self) -> TokenKind {
        let from = self.at;
        self.skip(|character| character.is_ascii_alphanumeric() || character == '_');
        match self.source.text(from, self.at) {
            "true" => TokenKind::True,
            "false" => TokenKind::False,
            "null" => TokenKind::Null,
            "in" => TokenKind::Symbol("in"),
            _ => TokenKind::Ident,
        }
    }

    fn number(&mut self) -> TokenKind {
        let is_hex = self.looking_at("0x") && self.peek(2).is_some_and(|c| c.is_ascii_hexdigit());
        let mut kind = TokenKind::Int;
        if is_hex {
            self.at += 2;
            self.skip(|character| character.is_ascii_hexdigit());
        } else {
            self.digits();
            if self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
                kind = TokenKind::Float;
                self.at += 1;
                self.digits();
            }
            if self.exponent() {
                kind = TokenKind::Float;
            }
        }
        if kind == TokenKind::Int && matches!(self.peek(0), Some('u' | 'U')) {
            self.at += 1;
            kind = TokenKind::Uint;
        }
        kind
    }

    fn digits(&mut self) {
        self.skip(|character| character.is_ascii_digit());
    }

    /// Passes an exponent; whether there was one.
    fn exponent(&mut self) -> bool {
        let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
        let is_exponent = matches!(self.peek(0), Some('e' | 'E'))
            && self.peek(1 + sign).is_some_and(|character| character.is_ascii_digit());
        if is_exponent {
            self.at += 1 + sign;
            self.digits();
        }
        is_exponent
    }
}
