//! The texts and the actions of a template.

use serde_json::Value;

/// How many characters of an action an error shows.
const MAX_SHOWN: usize = 100;

/// A part of a template.
pub(super) enum Piece {
    Text(String),
    /// An action, and its line.
    Action(Vec<Token>, usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Open,
    Close,
    Bar,
    Comma,
    /// `:=`
    Set,
    Literal(Value),
    Word(String),
    /// Members of the current value, of the object (`$`), or of a variable.
    Field(Root, Vec<String>),
}

/// The value that a field is a member of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Current,
    Object,
    Variable(String),
}

/// Splits a template.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some((before, after)) = rest.split_once("{{") {
        line += before.matches('\n').count();
        let error = |why: &str| format!("line {line}: {why}");
        let (action, after) = after.split_once("}}").ok_or_else(|| error("}} is missing"))?;
        let trims_before =
            action.strip_prefix('-').filter(|it| it.starts_with(char::is_whitespace));
        let action = trims_before.unwrap_or(action);
        let trims_after = action.strip_suffix('-').filter(|it| it.ends_with(char::is_whitespace));
        let before = if trims_before.is_some() { before.trim_end() } else { before };
        pieces.push(Piece::Text(before.to_owned()));
        let action = trims_after.unwrap_or(action).trim();
        let is_comment = action.starts_with("/*") && action.ends_with("*/");
        if !is_comment {
            let tokens = tokens(action).map_err(|why| error(&why))?;
            pieces.push(Piece::Action(tokens, line));
        }
        line += action.matches('\n').count();
        rest = after;
        if trims_after.is_some() {
            rest = after.trim_start();
            let trimmed = after.len() - rest.len();
            line += after.get(..trimmed).unwrap_or_default().matches('\n').count();
        }
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

fn tokens(action: &str) -> Result<Vec<Token>, String> {
    let (mut tokens, mut rest) = (Vec::new(), action.trim_start());
    while let Some(first) = rest.chars().next() {
        let (token, after) = next(first, rest)?;
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

/// Reads the first token of a text, and returns the rest.
fn next(first: char, text: &str) -> Result<(Token, &str), String> {
    let single = match first {
        '(' => Some(Token::Open),
        ')' => Some(Token::Close),
        '|' => Some(Token::Bar),
        ',' => Some(Token::Comma),
        _ => None,
    };
    let mut after_first = text.chars();
    after_first.next();
    if let Some(token) = single {
        return Ok((token, after_first.as_str()));
    }
    match first {
        ':' if text.starts_with(":=") => Ok((Token::Set, text.get(2..).unwrap_or_default())),
        '"' => quoted(text),
        '`' => match after_first.as_str().split_once('`') {
            Some((raw, after)) => Ok((Token::Literal(raw.into()), after)),
            None => Err("` is missing".to_owned()),
        },
        '.' => {
            let (names, after) = fields(text);
            Ok((Token::Field(Root::Current, names), after))
        }
        '$' => {
            let (name, after) = word(after_first.as_str());
            let root = match name {
                "" => Root::Object,
                name => Root::Variable(name.to_owned()),
            };
            let (names, after) = fields(after);
            Ok((Token::Field(root, names), after))
        }
        '-' | '0'..='9' => {
            let is_end = |c: char| !(c.is_ascii_digit() || c == '-');
            let (number, after) = text.split_at(text.find(is_end).unwrap_or(text.len()));
            let number: i64 = number.parse().map_err(|_| format!("{number} is not a number"))?;
            Ok((Token::Literal(number.into()), after))
        }
        _ => match word(text) {
            ("", _) => Err(format!("{:?} is not understood", beginning(text))),
            (word, after) => Ok((Token::Word(word.to_owned()), after)),
        },
    }
}

/// Reads a text in quotes.
fn quoted(text: &str) -> Result<(Token, &str), String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => {
            let after = text.get(values.byte_offset()..).unwrap_or_default();
            Ok((Token::Literal(value), after))
        }
        _ => Err(format!("{} is not a text in quotes", beginning(text))),
    }
}

/// Returns as much of a text as an error shows.
fn beginning(text: &str) -> &str {
    text.char_indices().nth(MAX_SHOWN).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Reads the names after dots.
fn fields(text: &str) -> (Vec<String>, &str) {
    let (mut names, mut rest) = (Vec::new(), text);
    while let Some(after) = rest.strip_prefix('.') {
        let (name, after) = word(after);
        rest = after;
        if name.is_empty() {
            break;
        }
        names.push(name.to_owned());
    }
    (names, rest)
}

fn word(text: &str) -> (&str, &str) {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}
