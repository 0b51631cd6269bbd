//! From the actions of a template to nodes.

use std::iter::Peekable;
use std::vec::IntoIter;

use serde_json::Value;

use super::function::Function;
use super::lexer::{Piece, Root, Token};

/// How deep blocks and brackets may be in each other.
const MAX_DEPTH: usize = 32;

/// A part of a template that prints something.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Text(String),
    Print(Pipeline),
    Set(String, Pipeline),
    If(Choice),
    /// As `If`, with the value as the current one.
    With(Choice),
    Range {
        names: Vec<String>,
        choice: Choice,
    },
}

/// Two texts: one is printed if a value is not empty, and else the other one.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) value: Pipeline,
    pub(super) then: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

/// Commands; the value of each is the last argument of the next one.
pub(super) type Pipeline = Vec<Vec<Term>>;

#[derive(Clone, Debug)]
pub(super) enum Term {
    Literal(Value),
    Field(Root, Vec<String>),
    Call(Function),
    Pipeline(Pipeline),
}

/// The action that ends a block.
enum Stop {
    End,
    Else(Tokens),
    Last,
}

type Tokens = Peekable<IntoIter<Token>>;

struct Parser {
    pieces: IntoIter<Piece>,
    line: usize,
}

/// Parses the pieces of a template.
pub(super) fn parse(pieces: Vec<Piece>) -> Result<Vec<Node>, String> {
    let mut parser = Parser { pieces: pieces.into_iter(), line: 1 };
    let parsed = match parser.block(0) {
        Ok((nodes, Stop::Last)) => Ok(nodes),
        Ok((_, Stop::End)) => Err("end of nothing".to_owned()),
        Ok((_, Stop::Else(_))) => Err("else of nothing".to_owned()),
        Err(why) => Err(why),
    };
    parsed.map_err(|why| format!("line {}: {why}", parser.line))
}

impl Parser {
    fn block(&mut self, depth: usize) -> Result<(Vec<Node>, Stop), String> {
        if depth > MAX_DEPTH {
            return Err("too many blocks in each other".to_owned());
        }
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            let tokens = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text));
                    continue;
                }
                Piece::Action(tokens, line) => {
                    self.line = line;
                    tokens
                }
            };
            let mut tokens = tokens.into_iter().peekable();
            let word = match tokens.peek() {
                Some(Token::Word(word)) => word.clone(),
                _ => String::new(),
            };
            match &*word {
                "if" | "with" | "range" => nodes.push(self.control(&word, tokens, depth)?),
                "end" => return Ok((nodes, Stop::End)),
                "else" => {
                    tokens.next();
                    return Ok((nodes, Stop::Else(tokens)));
                }
                _ => nodes.push(statement(tokens)?),
            }
        }
        Ok((nodes, Stop::Last))
    }

    /// Reads the whole block that `word` begins.
    fn control(&mut self, word: &str, mut tokens: Tokens, depth: usize) -> Result<Node, String> {
        tokens.next();
        let names = if word == "range" { names(&mut tokens) } else { Vec::new() };
        let value = whole_pipeline(tokens)?;
        let (then, stop) = self.block(depth + 1)?;
        let otherwise = match stop {
            Stop::End => Vec::new(),
            Stop::Last => return Err(format!("the end of {word} is missing")),
            Stop::Else(mut rest) => match rest.peek() {
                Some(Token::Word(next)) if next == "if" || next == "with" => {
                    let next = next.clone();
                    if depth > MAX_DEPTH {
                        return Err("too many blocks in each other".to_owned());
                    }
                    vec![self.control(&next, rest, depth + 1)?]
                }
                Some(_) => return Err("else is not understood".to_owned()),
                None => match self.block(depth + 1)? {
                    (nodes, Stop::End) => nodes,
                    _ => return Err(format!("the end of {word} is missing")),
                },
            },
        };
        let choice = Choice { value, then, otherwise };
        Ok(match word {
            "if" => Node::If(choice),
            "with" => Node::With(choice),
            _ => Node::Range { names, choice },
        })
    }
}

/// Reads the variables of a range: `$item :=`, or `$index, $item :=`.
fn names(tokens: &mut Tokens) -> Vec<String> {
    let all: Vec<Token> = tokens.clone().collect();
    let variable = |token: Option<&Token>| match token {
        Some(Token::Field(Root::Variable(name), names)) if names.is_empty() => Some(name.clone()),
        _ => None,
    };
    let Some(first) = variable(all.first()) else { return Vec::new() };
    let (names, count) = match (all.get(1), variable(all.get(2)), all.get(3)) {
        (Some(Token::Set), _, _) => (vec![first], 2),
        (Some(Token::Comma), Some(second), Some(Token::Set)) => (vec![first, second], 4),
        _ => return Vec::new(),
    };
    tokens.by_ref().take(count).for_each(drop);
    names
}

fn statement(mut tokens: Tokens) -> Result<Node, String> {
    match names(&mut tokens).as_slice() {
        [name] => Ok(Node::Set(name.clone(), whole_pipeline(tokens)?)),
        _ => Ok(Node::Print(whole_pipeline(tokens)?)),
    }
}

fn whole_pipeline(mut tokens: Tokens) -> Result<Pipeline, String> {
    let pipeline = pipeline(&mut tokens, 0)?;
    match tokens.next() {
        None => Ok(pipeline),
        Some(_) => Err("a bracket is closed that is not open".to_owned()),
    }
}

/// Reads commands, up to the end or a closing bracket.
fn pipeline(tokens: &mut Tokens, depth: usize) -> Result<Pipeline, String> {
    if depth > MAX_DEPTH {
        return Err("too many brackets in each other".to_owned());
    }
    let (mut commands, mut terms) = (Vec::new(), Vec::new());
    while let Some(token) = tokens.next_if(|token| *token != Token::Close) {
        let term = match token {
            Token::Bar => {
                commands.push(command(std::mem::take(&mut terms))?);
                continue;
            }
            Token::Literal(value) => Term::Literal(value),
            Token::Field(root, names) => Term::Field(root, names),
            Token::Word(word) => match &*word {
                "true" => Term::Literal(true.into()),
                "false" => Term::Literal(false.into()),
                "nil" => Term::Literal(Value::Null),
                name => Term::Call(Function::named(name)?),
            },
            Token::Open => {
                let inner = pipeline(tokens, depth + 1)?;
                if tokens.next() != Some(Token::Close) {
                    return Err("a bracket is not closed".to_owned());
                }
                Term::Pipeline(inner)
            }
            Token::Comma | Token::Set | Token::Close => {
                return Err("an assignment is not understood here".to_owned());
            }
        };
        terms.push(term);
    }
    commands.push(command(terms)?);
    Ok(commands)
}

/// Checks that only a function has arguments.
fn command(terms: Vec<Term>) -> Result<Vec<Term>, String> {
    match terms.as_slice() {
        [] => Err("a value is missing".to_owned()),
        [Term::Call(_), ..] | [_] => Ok(terms),
        _ => Err("arguments of what is not a function".to_owned()),
    }
}
