//! From text to steps.

use serde_json::Value;

use super::{Filter, Operand, Operator, Slice, Step};

/// How deep paths stand inside paths at most.
const MAX_DEPTH: usize = 16;

/// Parses the steps of a path.
pub(super) fn steps(text: &str) -> Option<Vec<Step>> {
    parse(text, 0)
}

fn parse(text: &str, depth: usize) -> Option<Vec<Step>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut parser = Parser { rest: text, steps: Vec::new(), depth };
    while !parser.rest.is_empty() {
        parser.step()?;
    }
    Some(parser.steps)
}

struct Parser<'t> {
    rest: &'t str,
    steps: Vec<Step>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn step(&mut self) -> Option<()> {
        if let Some(rest) = self.rest.strip_prefix("[?(") {
            return self.filter(rest);
        }
        if let Some(rest) = self.rest.strip_prefix("..") {
            if self.steps.last() == Some(&Step::Descend) {
                return None;
            }
            self.steps.push(Step::Descend);
            self.rest = rest;
            if self.rest.starts_with(|first: char| first.is_alphanumeric() || first == '_') {
                self.field();
            }
            return Some(());
        }
        let mut characters = self.rest.chars();
        let first = characters.next()?;
        let rest = characters.as_str();
        match first {
            ' ' | '@' | '$' => self.rest = rest,
            '[' => return self.items(rest),
            '.' => {
                self.rest = rest;
                self.field();
            }
            _ => return None,
        }
        Some(())
    }

    /// A name, up to the next step.
    fn field(&mut self) {
        let (mut name, mut end) = (String::new(), self.rest.len());
        let mut characters = self.rest.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
                '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}' => {
                    end = at;
                    break;
                }
                c if c.is_whitespace() => {
                    end = at;
                    break;
                }
                c => name.push(c),
            }
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        self.steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name) });
    }

    /// Parses what stands in brackets: a number, a slice, a quoted name, or several of them.
    fn items(&mut self, text: &'t str) -> Option<()> {
        let (inside, rest) = text.split_once(']')?;
        self.rest = rest;
        if inside.contains(',') {
            let parts = inside.split(',');
            let paths = parts.map(|part| parse(&format!("[{}]", part.trim()), self.depth + 1));
            self.steps.push(Step::Union(paths.collect::<Option<_>>()?));
            return Some(());
        }
        let quoted = inside.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if let Some(name) = quoted.filter(|name| !name.contains('\'')) {
            self.steps.extend(parse(&format!(".{name}"), self.depth + 1)?);
            return Some(());
        }
        let inside = if inside == "*" { ":" } else { inside };
        self.steps.push(Step::Items(slice(inside)?));
        Some(())
    }

    /// A condition, up to its closing bracket.
    fn filter(&mut self, text: &'t str) -> Option<()> {
        let (inside, rest) = text.split_at(condition_end(text)?);
        self.rest = rest.strip_prefix(")]")?;
        let is_sign = |c: char| matches!(c, '!' | '<' | '>' | '=');
        let signs = inside.find(is_sign).filter(|at| *at > 0);
        let filter = match signs {
            None => Filter::Exists(operand(inside, self.depth + 1)?),
            Some(at) => {
                let (left, rest) = inside.split_at(at);
                let right = rest.trim_start_matches(is_sign);
                let sign = rest.get(..rest.len() - right.len())?;
                Filter::Comparison(
                    operand(left, self.depth + 1)?,
                    operator(sign)?,
                    operand(right, self.depth + 1)?,
                )
            }
        };
        self.steps.push(Step::Filter(Box::new(filter)));
        Some(())
    }
}

/// Where a condition ends: at the first parenthesis outside quotes.
fn condition_end(text: &str) -> Option<usize> {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' | '\'' if quote.is_none() => quote = Some(c),
            c if Some(c) == quote && !is_escaped => quote = None,
            ')' if quote.is_none() => return Some(at),
            _ => {}
        }
        is_escaped = c == '\\';
    }
    None
}

fn operator(sign: &str) -> Option<Operator> {
    Some(match sign {
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        _ => return None,
    })
}

fn operand(text: &str, depth: usize) -> Option<Operand> {
    let text = text.trim_matches(' ');
    let literal = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => Value::from(unquoted(text, quote)?),
        Some('+' | '-' | '0'..='9') => number(text)?,
        _ if matches!(text, "true" | "false") => Value::from(text == "true"),
        _ => return parse(text, depth).map(Operand::Path),
    };
    Some(Operand::Literal(literal))
}

fn number(text: &str) -> Option<Value> {
    match text.parse::<i64>() {
        Ok(int) => Some(int.into()),
        Err(_) => text.parse::<f64>().ok().filter(|float| float.is_finite()).map(Value::from),
    }
}

fn unquoted(text: &str, quote: char) -> Option<String> {
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let (mut out, mut characters) = (String::new(), inside.chars());
    while let Some(c) = characters.next() {
        out.push(match c {
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other @ ('\\' | '"' | '\'') => other,
                _ => return None,
            },
            c if c == quote => return None,
            c => c,
        });
    }
    Some(out)
}

fn slice(text: &str) -> Option<Slice> {
    let mut parts = text.split(':');
    let number = |part: &str| -> Option<Option<i64>> {
        match part {
            "" => Some(None),
            part if part.starts_with('+') => None,
            part => part.parse().ok().map(Some),
        }
    };
    let from = number(parts.next()?)?;
    let (to, step) = (parts.next(), parts.next());
    if parts.next().is_some() {
        return None;
    }
    let Some(to) = to else {
        let to = from.unwrap_or_default().checked_add(1)?;
        return Some(Slice { from, to: Some(to), step: None, is_single: true });
    };
    let step = number(step.unwrap_or_default())?;
    Some(Slice { from, to: number(to)?, step, is_single: false })
}
