//! The grammar of expressions (CE-10).

mod lexer;
mod literal;
mod logic;
mod macros;
mod nodes;
mod operators;
mod recovery;

use std::sync::Arc;

use billhook_apimachinery::value::grow;

use crate::language::ast::{Entry, Expr, Field, Kind, Literal, RESERVED};
use crate::language::availability::Language;
use crate::language::source::{CompileError, Issues, Source};

use self::lexer::{Token, TokenKind};
use self::logic::Chain;
use self::macros::Expansion;
use self::nodes::{Nodes, nothing};
use self::operators::{CALCULATIONS, Operator, RELATIONS};

/// The most code points an expression may have.
const LONGEST: usize = 100_000;
/// The maximum number of times that a rule of the grammar may be nested in itself, and that
/// operations with several operands, selections and methods may be nested.
const DEEPEST: usize = 250;

const START: &str = "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, \
                     NUM_UINT, STRING, BYTES, IDENTIFIER";

/// Parses an expression and expands its macros. The nodes are numbered.
pub(crate) fn parse(source: &Source<'_>, language: Language) -> Result<Expr, CompileError> {
    let mut issues = Issues::default();
    if source.len() > LONGEST {
        issues.report_whole(format!(
            "expression code point size exceeds limit: size: {}, limit {LONGEST}",
            source.len()
        ));
        issues.into_result(source)?;
        return Ok(nothing(0));
    }
    let tokens = lexer::tokens(source, language, &mut issues);
    let mut parser = Parser {
        source,
        language,
        tokens,
        next: 0,
        issues,
        nested: [0; 3],
        recoveries: 0,
        recovered_at: None,
        depth: 0,
        nodes: Nodes::default(),
    };
    let mut expr = parser.whole().unwrap_or_else(|Stop| nothing(0));
    parser.issues.into_result(source)?;
    let mut count = 0;
    number(&mut expr, &mut count);
    Ok(expr)
}

/// Numbers the nodes, each after its parts.
fn number(expr: &mut Expr, count: &mut usize) {
    grow(|| expr.each_child_mut(&mut |child| number(child, count)));
    expr.id = *count;
    *count += 1;
}

/// The rules of the grammar that can be nested in themselves.
#[derive(Clone, Copy)]
enum Rule {
    Expr,
    Relation,
    Calc,
}

/// A syntax error was reported; nothing more can be read.
struct Stop;

type Parsed<T = Expr> = Result<T, Stop>;

struct Parser<'s> {
    source: &'s Source<'s>,
    language: Language,
    tokens: Vec<Token>,
    next: usize,
    issues: Issues,
    /// The number of times each [`Rule`] is nested in itself.
    nested: [usize; 3],
    /// The number of syntax errors that the parser recovered from, and the token it last did so at.
    recoveries: usize,
    recovered_at: Option<usize>,
    /// The nesting depth of the operations in the part that was parsed last.
    depth: usize,
    nodes: Nodes,
}

impl<'s> Parser<'s> {
    fn peek(&self) -> Token {
        let end = Token { kind: TokenKind::End, at: self.source.len(), end: self.source.len() };
        self.tokens.get(self.next).copied().unwrap_or(end)
    }

    fn is_ahead(&self, ahead: usize, kind: TokenKind) -> bool {
        self.tokens.get(self.next + ahead).is_some_and(|token| token.kind == kind)
    }

    /// Passes the next token if it is a symbol, whose position is returned.
    fn accept(&mut self, symbol: &'static str) -> Option<usize> {
        let token = self.peek();
        (token.kind == TokenKind::Symbol(symbol)).then(|| {
            self.next += 1;
            token.at
        })
    }

    fn expect(&mut self, symbol: &'static str) -> Parsed<usize> {
        match self.accept(symbol) {
            Some(at) => Ok(at),
            None => Err(self.unexpected(&format!("'{symbol}'"))),
        }
    }

    /// Marks what was just parsed with its text, unless a part of that was all of it.
    fn spanned(&self, start: usize, mut expr: Expr) -> Expr {
        let last = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        expr.span = expr.span.or(last.map(|last| (start, last.end)));
        expr
    }

    fn text(&self, token: Token) -> &'s str {
        self.source.text(token.at, token.end)
    }

    /// Reports that the next token should be another.
    fn unexpected(&mut self, expected: &str) -> Stop {
        let token = self.peek();
        let (problem, found) = match token.kind {
            TokenKind::End => ("mismatched", "<EOF>"),
            // One token too many can be left out, more than one cannot.
            _ if expected == "<EOF>" && self.is_last() => ("extraneous", self.text(token)),
            _ => ("mismatched", self.text(token)),
        };
        self.syntax_error(&format!("{problem} input '{found}' expecting {expected}"));
        Stop
    }

    /// Whether nothing comes after the next token.
    fn is_last(&self) -> bool {
        let after = self.tokens.get(self.next + 1);
        after.is_none_or(|token| matches!(token.kind, TokenKind::End))
    }

    /// Enters a rule one level deeper.
    fn enter(&mut self, rule: Rule) -> Parsed<()> {
        let depth = self.nested.get_mut(rule as usize).ok_or(Stop)?;
        *depth += 1;
        if *depth > DEEPEST {
            self.issues.report_whole(format!("expression recursion limit exceeded: {DEEPEST}"));
            return Err(Stop);
        }
        Ok(())
    }

    fn leave(&mut self, rule: Rule) {
        if let Some(depth) = self.nested.get_mut(rule as usize) {
            *depth = depth.saturating_sub(1);
        }
    }

    /// Ends an operation that has operands of a depth.
    fn deepen(&mut self, operands: usize) -> Parsed<()> {
        self.depth = operands + 1;
        if self.depth > DEEPEST {
            self.issues.report_whole("max recursion depth exceeded");
            return Err(Stop);
        }
        Ok(())
    }

    fn whole(&mut self) -> Parsed {
        let expr = self.expr()?;
        match self.peek().kind {
            TokenKind::End => Ok(expr),
            _ => Err(self.unexpected("<EOF>")),
        }
    }

    fn expr(&mut self) -> Parsed {
        self.expr_or("")
    }

    /// An expression, where something else could stand too: that is for the error text.
    fn expr_or(&mut self, other: &str) -> Parsed {
        self.enter(Rule::Expr)?;
        let expr = grow(|| self.conditional(other));
        self.leave(Rule::Expr);
        expr
    }

    fn conditional(&mut self, other: &str) -> Parsed {
        if !self.starts_operand() {
            let expected = if other.is_empty() {
                format!("{{{START}}}")
            } else {
                format!("{{{}}}", START.replacen("'.'", &format!("{other}, '.'"), 1))
            };
            if !self.skips_to_operand(&expected)? {
                return Ok(nothing(self.peek().at));
            }
        }
        let start = self.peek().at;
        let condition = self.or()?;
        let Some(at) = self.accept("?") else { return Ok(condition) };
        let mut depth = self.depth;
        let yes = self.or()?;
        depth = depth.max(self.depth);
        self.expect(":")?;
        let no = self.expr()?;
        self.deepen(depth.max(self.depth))?;
        let choice = self.nodes.call(at, "_?_:_", vec![condition, yes, no]);
        Ok(self.spanned(start, choice))
    }

    fn or(&mut self) -> Parsed {
        self.chain("||", "_||_", Self::and)
    }

    fn and(&mut self) -> Parsed {
        self.chain("&&", "_&&_", Self::relation)
    }

    fn chain(
        &mut self,
        symbol: &'static str,
        function: &str,
        operand: fn(&mut Self) -> Parsed,
    ) -> Parsed {
        let start = self.peek().at;
        let mut chain = Chain::new(operand(self)?);
        let mut depth = self.depth;
        while let Some(at) = self.accept(symbol) {
            chain.push(at, operand(self)?);
            depth = depth.max(self.depth);
        }
        self.depth = depth;
        let whole = chain.balanced(function, &mut self.nodes);
        Ok(self.spanned(start, whole))
    }

    fn relation(&mut self) -> Parsed {
        self.binary(Rule::Relation, &RELATIONS, 0, Self::calculation)
    }

    fn calculation(&mut self) -> Parsed {
        self.binary(Rule::Calc, &CALCULATIONS, 0, Self::unary)
    }

    /// Parses operators of at least a precedence, which bind to the left. As in the grammar, their
    /// right-hand side is one level deeper.
    fn binary(
        &mut self,
        rule: Rule,
        operators: &'static [Operator],
        least: usize,
        operand: fn(&mut Self) -> Parsed,
    ) -> Parsed {
        self.enter(rule)?;
        let start = self.peek().at;
        let mut left = operand(self)?;
        while let TokenKind::Symbol(symbol) = self.peek().kind
            && let Some(operator) = operators
                .iter()
                .find(|operator| operator.precedence >= least && operator.symbol == symbol)
        {
            let at = self.peek().at;
            self.next += 1;
            let depth = self.depth;
            let right = self.binary(rule, operators, operator.precedence + 1, operand)?;
            self.deepen(depth.max(self.depth))?;
            left = self.nodes.call(at, operator.function, vec![left, right]);
            left = self.spanned(start, left);
        }
        self.leave(rule);
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        if !self.starts_operand() && !self.skips_to_operand(&format!("{{{START}}}"))? {
            return Ok(nothing(self.peek().at));
        }
        for (symbol, function) in [("!", "!_"), ("-", "-_")] {
            let Some(at) = self.peek_symbol(symbol) else { continue };
            if symbol == "-" && self.starts_number(1) {
                break;
            }
            let mut repeated = 0;
            while self.accept(symbol).is_some() {
                repeated += 1;
            }
            let operand = self.member()?;
            return Ok(match repeated % 2 {
                0 => operand,
                _ => {
                    let negated = self.nodes.call(at, function, vec![operand]);
                    self.spanned(at, negated)
                }
            });
        }
        self.member()
    }

    fn peek_symbol(&self, symbol: &'static str) -> Option<usize> {
        let token = self.peek();
        (token.kind == TokenKind::Symbol(symbol)).then_some(token.at)
    }

    fn starts_number(&self, ahead: usize) -> bool {
        self.is_ahead(ahead, TokenKind::Int) || self.is_ahead(ahead, TokenKind::Float)
    }

    /// Whether an operand can begin with the next token.
    fn starts_operand(&self) -> bool {
        self.peek().starts_operand()
    }

    fn member(&mut self) -> Parsed {
        let from = self.peek().at;
        let mut operand = self.primary()?;
        loop {
            operand = self.spanned(from, operand);
            let start = self.peek();
            if self.accept(".").is_none() && self.accept("[").is_none() {
                return Ok(operand);
            }
            let is_optional = self.accept("?").is_some();
            operand = if start.kind == TokenKind::Symbol("[") {
                let depth = self.depth;
                let index = self.expr()?;
                self.expect("]")?;
                self.deepen(depth.max(self.depth))?;
                let function = if is_optional { "_[?_]" } else { "_[_]" };
                self.nodes.call(start.at, function, vec![operand, index])
            } else {
                self.dotted(start.at, operand, is_optional)?
            };
        }
    }

    /// Parses the part after a dot: a field or a method.
    fn dotted(&mut self, dot: usize, operand: Expr, is_optional: bool) -> Parsed {
        let token = self.peek();
        if !matches!(token.kind, TokenKind::Ident | TokenKind::Quoted) {
            self.missing_field(is_optional)?;
            return Ok(nothing(operand.at));
        }
        let name = self.name()?;
        if is_optional {
            self.deepen(self.depth)?;
            let field = self.nodes.node(token.at, Kind::Literal(Literal::String(name)));
            return Ok(self.nodes.call(dot, "_?._", vec![operand, field]));
        }
        let Some(at) = self.accept("(") else {
            self.deepen(self.depth)?;
            return Ok(self
                .nodes
                .node(dot, Kind::Select { operand: operand.into(), field: name, test: false }));
        };
        let depth = self.depth;
        let arguments = self.arguments()?;
        self.deepen(depth.max(self.depth))?;
        Ok(self.call_or_macro(at, name, Some(operand), arguments))
    }

    /// A name of a field or method; may be a reserved word.
    fn name(&mut self) -> Parsed<Arc<str>> {
        let token = self.peek();
        match token.kind {
            TokenKind::Ident => {}
            TokenKind::Quoted => self.issues.report(token.at, "unsupported syntax: '`'"),
            _ => return Err(self.unexpected("IDENTIFIER")),
        }
        self.next += 1;
        Ok(self.text(token).into())
    }

    /// Parses the arguments of a call after its parenthesis.
    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        let mut depth = 0;
        if self.accept(")").is_none() {
            arguments.push(self.expr_or("')'")?);
            depth = self.depth;
            while self.accept(",").is_some() {
                arguments.push(self.expr()?);
                depth = depth.max(self.depth);
            }
            self.expect(")")?;
        }
        self.depth = depth;
        Ok(arguments)
    }

    fn call_or_macro(
        &mut self,
        at: usize,
        function: Arc<str>,
        target: Option<Expr>,
        arguments: Vec<Expr>,
    ) -> Expr {
        match macros::expand(&mut self.nodes, self.language, at, &function, target, arguments) {
            Expansion::None(target, arguments) => {
                let target = target.map(Box::new);
                self.nodes.node(at, Kind::Call { function, target, arguments })
            }
            Expansion::Expr(expr) => expr,
            Expansion::Error(at, text) => {
                self.issues.report(at, text);
                nothing(at)
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        let token = self.peek();
        match token.kind {
            TokenKind::Ident | TokenKind::Symbol(".") => self.named(),
            TokenKind::Symbol("(") => {
                self.next += 1;
                let expr = self.expr()?;
                self.expect(")")?;
                Ok(expr)
            }
            TokenKind::Symbol("[") => {
                self.next += 1;
                let elements = self.listed("]", |parser| {
                    let is_optional = parser.accept("?").is_some();
                    Ok((parser.expr()?, is_optional))
                })?;
                Ok(self.nodes.node(token.at, Kind::List(elements)))
            }
            TokenKind::Symbol("{") => {
                self.next += 1;
                let entries = self.listed("}", |parser| {
                    let optional = parser.accept("?").is_some();
                    let key = parser.expr()?;
                    let depth = parser.depth;
                    parser.expect(":")?;
                    let value = parser.expr()?;
                    parser.depth = depth.max(parser.depth);
                    Ok(Entry { key, value, optional })
                })?;
                Ok(self.nodes.node(token.at, Kind::Map(entries)))
            }
            _ => self.literal(),
        }
    }

    /// Parses the content of brackets: items with commas between, perhaps one after the last.
    fn listed<T>(
        &mut self,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        let mut depth = 0;
        if self.accept(",").is_some() {
            self.expect(close)?;
            self.depth = 0;
            return Ok(items);
        }
        while self.accept(close).is_none() {
            items.push(item(self)?);
            depth = depth.max(self.depth);
            if self.accept(",").is_none() {
                self.expect(close)?;
                break;
            }
        }
        self.depth = depth;
        Ok(items)
    }

    fn literal(&mut self) -> Parsed {
        let first = self.peek();
        let is_negative = self.starts_number(1) && self.accept("-").is_some();
        let token = self.peek();
        let value = match token.kind {
            TokenKind::True => Ok(Literal::Bool(true)),
            TokenKind::False => Ok(Literal::Bool(false)),
            TokenKind::Null => Ok(Literal::Null),
            TokenKind::Int | TokenKind::Uint | TokenKind::Float => {
                let sign = if is_negative { "-" } else { "" };
                literal::number(token.kind, &format!("{sign}{}", self.text(token)))
            }
            TokenKind::String | TokenKind::Bytes => literal::text(token.kind, self.text(token)),
            _ => return Err(self.unexpected(&format!("{{{START}}}"))),
        };
        self.next += 1;
        self.depth = 0;
        Ok(match value {
            Ok(value) => self.nodes.node(first.at, Kind::Literal(value)),
            Err(problem) => {
                self.issues.report(first.at, problem);
                nothing(first.at)
            }
        })
    }

    /// A name, a call of a function or a struct.
    fn named(&mut self) -> Parsed {
        let dot = if self.accept(".").is_some() { "." } else { "" };
        if self.is_struct() {
            return self.structure(dot);
        }
        let token = self.peek();
        if token.kind != TokenKind::Ident {
            return Err(self.unexpected("IDENTIFIER"));
        }
        self.next += 1;
        let name = self.text(token);
        if RESERVED.contains(&name) {
            self.issues.report(token.at, format!("reserved identifier: {name}"));
        }
        let name: Arc<str> = if dot.is_empty() { name.into() } else { [dot, name].concat().into() };
        match self.accept("(") {
            None => {
                self.depth = 0;
                Ok(self.nodes.node(token.at, Kind::Ident(name)))
            }
            Some(at) => {
                let arguments = self.arguments()?;
                Ok(self.call_or_macro(at, name, None, arguments))
            }
        }
    }

    /// Whether names with dots between and then a brace follow.
    fn is_struct(&self) -> bool {
        let mut ahead = 0;
        while self.is_ahead(ahead, TokenKind::Ident) {
            if self.is_ahead(ahead + 1, TokenKind::Symbol("{")) {
                return true;
            }
            if !self.is_ahead(ahead + 1, TokenKind::Symbol(".")) {
                return false;
            }
            ahead += 2;
        }
        false
    }

    fn structure(&mut self, dot: &str) -> Parsed {
        let mut name = dot.to_owned() + &self.name()?;
        while self.accept(".").is_some() {
            name.push('.');
            name.push_str(&self.name()?);
        }
        let at = self.expect("{")?;
        let fields = self.listed("}", |parser| {
            let optional = parser.accept("?").is_some();
            let name = parser.name()?;
            let at = parser.expect(":")?;
            Ok(Field { name, at, value: parser.expr()?, optional })
        })?;
        Ok(self.nodes.node(at, Kind::Struct { name: name.into(), fields }))
    }
}
