//! The names and literals in an expression.

use std::collections::BTreeSet;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::ast::{Expr, Kind, Literal};
use super::availability::Language;
use super::parse::parse;
use super::source::{CompileError, Source};

/// The names and literals in an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mentions {
    /// The names of variables and selected fields.
    pub names: BTreeSet<Arc<str>>,
    /// The strings.
    pub texts: BTreeSet<Arc<str>>,
    /// The integers, signed or not.
    pub integers: BTreeSet<i64>,
}

/// Returns the names and literals in an expression. Names and types are not checked.
///
/// ```
/// let mentions = billhook_cel::mentions("self.mode in ['a', 'b'] || size(self.items) < 3")?;
/// assert!(mentions.names.contains("items") && mentions.texts.contains("a"));
/// assert_eq!(mentions.integers, [3].into());
/// # Ok::<(), billhook_cel::CompileError>(())
/// ```
///
/// # Errors
///
/// If the text is not an expression of the language.
pub fn mentions(text: &str) -> Result<Mentions, CompileError> {
    let expr = parse(&Source::new(text), Language { mutates: true, ..Language::default() })?;
    let mut mentions = Mentions::default();
    collect(&expr, &mut mentions);
    Ok(mentions)
}

fn collect(expr: &Expr, found: &mut Mentions) {
    match &expr.kind {
        Kind::Ident(name) | Kind::Select { field: name, .. } => {
            found.names.insert(Arc::clone(name));
        }
        Kind::Literal(Literal::String(text)) => {
            found.texts.insert(Arc::clone(text));
        }
        Kind::Literal(Literal::Int(integer)) => {
            found.integers.insert(*integer);
        }
        Kind::Literal(Literal::Uint(integer)) => found.integers.extend(i64::try_from(*integer)),
        _ => {}
    }
    expr.each_child(&mut |child| grow(|| collect(child, found)));
}
