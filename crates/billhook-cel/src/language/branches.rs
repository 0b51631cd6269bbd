//! The parts of an expression that decide which others count, and how often each was true and false.

use std::ops::Range;

use billhook_apimachinery::value::grow;

use super::ast::{Expr, Kind, Span};
use super::availability::Language;
use super::parse::parse;
use super::source::{CompileError, Source};

/// The condition of `? :`, or an operand of `&&` or `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Branch {
    /// Where it is in the expression, in bytes.
    pub span: Range<usize>,
    /// How often it was true.
    pub truths: u64,
    /// How often it was false.
    pub falsehoods: u64,
}

impl Branch {
    fn new(span: Range<usize>) -> Self {
        Branch { span, truths: 0, falsehoods: 0 }
    }

    /// Adds what became of the branches of an expression to what became of them before.
    pub(crate) fn add(all: &mut Vec<Branch>, more: Vec<Branch>) {
        if all.is_empty() {
            *all = more;
            return;
        }
        for (branch, more) in all.iter_mut().zip(more) {
            branch.truths += more.truths;
            branch.falsehoods += more.falsehoods;
        }
    }
}

/// Returns the branches of an expression, none of which has been evaluated. Names and types are not
/// checked.
///
/// ```
/// let branches = billhook_cel::branches("a && b ? c : d")?;
/// let spans: Vec<_> = branches.into_iter().map(|branch| branch.span).collect();
/// assert_eq!(spans, [0..1, 0..6, 5..6]);
/// # Ok::<(), billhook_cel::CompileError>(())
/// ```
///
/// # Errors
///
/// If the text is not an expression of the language.
pub fn branches(text: &str) -> Result<Vec<Branch>, CompileError> {
    let source = Source::new(text);
    let expr = parse(&source, Language { mutates: true, ..Language::default() })?;
    Ok(of(&expr, text))
}

/// Returns the branches of an expression with a text, in order.
pub(super) fn of(expr: &Expr, text: &str) -> Vec<Branch> {
    let mut spans = Vec::new();
    collect(expr, None, &mut spans);
    spans.sort_unstable();
    // A macro may repeat its argument.
    spans.dedup();
    let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let at = |position: usize| offsets.get(position).copied().unwrap_or(text.len());
    spans.into_iter().map(|(start, end)| Branch::new(at(start)..at(end))).collect()
}

/// A chain of one operator is a tree of calls, of which only the outermost has a span; those that
/// macros make have none.
fn collect(expr: &Expr, chain: Option<&str>, found: &mut Vec<Span>) {
    let (function, arguments) = match &expr.kind {
        Kind::Call { function, arguments, .. } => (&**function, arguments.as_slice()),
        _ => ("", [].as_slice()),
    };
    let is_written = expr.span.is_some() || chain == Some(function);
    let (operands, inner) = match function {
        "_&&_" | "_||_" if is_written => (arguments, Some(function)),
        "_?_:_" if is_written => (arguments.get(..1).unwrap_or_default(), None),
        _ => ([].as_slice(), None),
    };
    let decides = |operand: &&Expr| !matches!(operand.kind, Kind::Literal(_));
    found.extend(operands.iter().filter(decides).filter_map(|operand| operand.span));
    expr.each_child(&mut |child| grow(|| collect(child, inner, found)));
}
