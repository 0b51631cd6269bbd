//! The parts of a value that a rule reads.

use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::ast::{Comprehension, Expr, Kind, Literal};
use super::availability::Language;
use super::parse::parse;
use super::source::{CompileError, Source};

/// The parts of `self` and `oldSelf` that a rule reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reads {
    /// The parts that it reads.
    pub parts: Vec<ReadPart>,
    /// Whether it reads `oldSelf`.
    pub uses_old: bool,
    /// Whether it is true whenever `self` equals `oldSelf`, because it asks for nothing else.
    pub asks_for_equality: bool,
    /// Whether it has a result for every value of its type: it selects nothing that may be absent,
    /// and calls nothing that may fail.
    pub is_total: bool,
}

/// A part of a value that a rule reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadPart {
    /// The way to it.
    pub path: Vec<ReadStep>,
    /// Whether all of it is read; otherwise only whether it is there, or how large it is.
    pub whole: bool,
}

/// A step on the way to a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// A field, by its name in expressions.
    Field(Arc<str>),
    /// Any element of a list, or any member of a map.
    Any,
}

/// Calls that have a result for all arguments of their types.
const TOTAL: [&str; 23] = [
    "@not_strictly_false",
    "_&&_",
    "_||_",
    "!_",
    "_==_",
    "_!=_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "_?_:_",
    "@in",
    "size",
    "startsWith",
    "endsWith",
    "contains",
    "_in_",
    "isIP",
    "isCIDR",
    "isURL",
    "isQuantity",
    "lowerAscii",
    "upperAscii",
];

/// Returns what a rule reads. Names and types are not checked.
///
/// ```
/// use billhook_cel::{ReadStep, reads};
/// let reads = reads("has(self.a) || self.items.all(i, i.port > 0)")?;
/// let paths: Vec<_> = reads.parts.iter().map(|part| (part.path.len(), part.whole)).collect();
/// assert_eq!(paths, [(1, false), (1, false), (3, true)]);
/// assert_eq!(reads.parts[2].path[2], ReadStep::Field("port".into()));
/// # Ok::<(), billhook_cel::CompileError>(())
/// ```
///
/// # Errors
///
/// If the text is not an expression of the language.
pub fn reads(text: &str) -> Result<Reads, CompileError> {
    let expr = parse(&Source::new(text), Language::default())?;
    let reads = Reads { is_total: true, asks_for_equality: is_equality(&expr), ..Reads::default() };
    let mut reader = Reader { reads, scope: Vec::new(), accumulators: Vec::new() };
    reader.whole(&expr);
    Ok(reader.reads)
}

/// Whether an expression is `self == oldSelf`.
fn is_equality(expr: &Expr) -> bool {
    let is =
        |expr: &Expr, wanted: &str| matches!(&expr.kind, Kind::Ident(name) if **name == *wanted);
    match &expr.kind {
        Kind::Call { function, target: None, arguments } if **function == *"_==_" => {
            match arguments.as_slice() {
                [one, other] => {
                    is(one, "self") && is(other, "oldSelf")
                        || is(one, "oldSelf") && is(other, "self")
                }
                _ => false,
            }
        }
        _ => false,
    }
}

type Path = Vec<ReadStep>;

struct Reader {
    reads: Reads,
    /// The variables, and what they stand for if that is a part of the value.
    scope: Vec<(Arc<str>, Option<Path>)>,
    /// The places of accumulators among the variables.
    accumulators: Vec<usize>,
}

impl Reader {
    fn read(&mut self, path: Path, whole: bool) {
        let part = ReadPart { path, whole };
        if !self.reads.parts.contains(&part) {
            self.reads.parts.push(part);
        }
    }

    /// Reads all of what an expression stands for.
    fn whole(&mut self, expr: &Expr) {
        if let Some(path) = grow(|| self.part(expr)) {
            self.read(path, true);
        }
    }

    /// The part of the value that an expression stands for; what else it reads is noted.
    fn part(&mut self, expr: &Expr) -> Option<Path> {
        match &expr.kind {
            Kind::Literal(_) => None,
            Kind::Ident(name) => self.variable(name),
            Kind::Select { operand, field, test } => {
                let mut path = grow(|| self.part(operand));
                path.as_mut()?.push(ReadStep::Field(Arc::clone(field)));
                if *test {
                    self.read(path?, false);
                    return None;
                }
                self.reads.is_total = false;
                path
            }
            Kind::Call { function, target, arguments } => {
                self.call(function, target.as_deref(), arguments)
            }
            Kind::Comprehension(folded) => {
                self.comprehension(folded);
                None
            }
            Kind::List(_) => {
                expr.each_child(&mut |child| self.whole(child));
                None
            }
            _ => {
                self.reads.is_total = false;
                expr.each_child(&mut |child| self.whole(child));
                None
            }
        }
    }

    fn variable(&mut self, name: &Arc<str>) -> Option<Path> {
        if let Some((_, path)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return path.clone();
        }
        self.reads.uses_old |= **name == *"oldSelf";
        matches!(&**name, "self" | "oldSelf").then(Vec::new)
    }

    fn call(&mut self, function: &str, target: Option<&Expr>, arguments: &[Expr]) -> Option<Path> {
        let has_literal_pattern = function == "matches"
            && arguments
                .last()
                .is_some_and(|last| matches!(last.kind, Kind::Literal(Literal::String(_))));
        self.reads.is_total &=
            TOTAL.contains(&function) || has_literal_pattern || self.is_count(function, arguments);
        match (function, target, arguments) {
            ("_[_]", None, [operand, index]) => {
                self.whole(index);
                let mut path = self.part(operand)?;
                path.push(ReadStep::Any);
                Some(path)
            }
            ("size", Some(operand), []) | ("size", None, [operand]) => {
                if let Kind::Comprehension(folded) = &operand.kind
                    && let Some(test) = filter(folded)
                {
                    self.folded(folded, &[test]);
                    return None;
                }
                let path = self.part(operand)?;
                self.read(path, false);
                None
            }
            _ => {
                target.into_iter().chain(arguments).for_each(|part| self.whole(part));
                None
            }
        }
    }

    /// Whether a call counts an element, which never is too much.
    fn is_count(&self, function: &str, arguments: &[Expr]) -> bool {
        let [Expr { kind: Kind::Ident(name), .. }, one] = arguments else { return false };
        let place = self.scope.iter().rposition(|(known, _)| known == name);
        function == "_+_"
            && matches!(one.kind, Kind::Literal(Literal::Int(1)))
            && place.is_some_and(|place| self.accumulators.contains(&place))
    }

    fn comprehension(&mut self, folded: &Comprehension) {
        self.whole(&folded.start);
        self.folded(folded, &[&folded.condition, &folded.step]);
        // It sees no element.
        self.scope.push((Arc::clone(&folded.accumulator), None));
        self.whole(&folded.result);
        self.scope.pop();
    }

    /// Reads what expressions ask of each element.
    fn folded(&mut self, folded: &Comprehension, asked: &[&Expr]) {
        let element = self.part(&folded.range).map(|mut path| {
            self.read(path.clone(), false);
            path.push(ReadStep::Any);
            path
        });
        let outside = self.scope.len();
        self.accumulators.push(outside);
        self.scope.push((Arc::clone(&folded.accumulator), None));
        let variables = [Some(&folded.variable), folded.second.as_ref()];
        self.scope.extend(
            variables.into_iter().flatten().map(|name| (Arc::clone(name), element.clone())),
        );
        asked.iter().for_each(|expr| self.whole(expr));
        self.scope.truncate(outside);
        self.accumulators.pop();
    }
}

/// The test of `range.filter(x, test)`.
fn filter(folded: &Comprehension) -> Option<&Expr> {
    let is = |expr: &Expr, name: &Arc<str>| matches!(&expr.kind, Kind::Ident(it) if it == name);
    let Kind::Call { function, target: None, arguments } = &folded.step.kind else { return None };
    let [test, kept, dropped] = arguments.as_slice() else { return None };
    let Kind::Call { function: append, arguments, .. } = &kept.kind else { return None };
    let [before, Expr { kind: Kind::List(added), .. }] = arguments.as_slice() else { return None };
    let is_filter = **function == *"_?_:_"
        && **append == *"_+_"
        && is(before, &folded.accumulator)
        && is(dropped, &folded.accumulator)
        && is(&folded.result, &folded.accumulator)
        && matches!(added.as_slice(), [(element, false)] if is(element, &folded.variable));
    is_filter.then_some(test)
}
