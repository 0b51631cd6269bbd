//! Type checking (CE-04, CE-10).

mod checked;
mod checker;
mod literals;
mod shown;
mod solver;
mod template;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::language::ast::Expr;
use crate::language::availability::Language;
use crate::language::functions::Functions;
use crate::language::source::{CompileError, Issues, Source};
use crate::language::types::Type;

use self::checker::Checker;
use self::shown::Shown;

pub(crate) use checked::{Checked, Reference};

/// Checks an expression whose nodes are numbered.
pub(crate) fn check(
    source: &Source<'_>,
    mut expr: Expr,
    variables: &BTreeMap<Arc<str>, Type>,
    language: Language,
) -> Result<Checked, CompileError> {
    let functions = Functions::of(language);
    let shown = Shown::at(variables.get("self"));
    let mut checker = Checker::new(variables, language, shown, expr.id + 1);
    checker.check(&mut expr);
    let (types, references) = checker.finish(source)?;
    let text = source.text(0, source.len()).into();
    let checked = Checked { text, expr, types, references, language };
    let mut issues = Issues::default();
    literals::validate(&checked, functions, shown, &mut issues);
    issues.into_result(source)?;
    Ok(checked)
}
