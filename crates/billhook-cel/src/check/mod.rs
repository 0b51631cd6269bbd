//! Type checking (CE-04, CE-10).

mod checker;

mod literals;
mod solver;
mod template;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ast::Expr;
use crate::functions::Functions;
use crate::program::CompileError;
use crate::source::{Issues, Source};
use crate::types::Type;

use self::checker::Checker;

/// A checked expression. Calls of functions in a namespace (`math.greatest(…)`, `optional.of(…)`)
/// have no target any more but the full name.
pub(crate) struct Checked {
    pub(crate) expr: Expr,
    /// The type of each node by its number.
    pub(crate) types: Vec<Type>,
    /// What each node refers to, by its number.
    pub(crate) references: Vec<Reference>,
}

impl Checked {
    /// The type of the result.
    pub(crate) fn result_type(&self) -> &Type {
        self.types.get(self.expr.id).unwrap_or(&Type::Dyn)
    }

    /// Whether anything refers to a variable of this name, be it one of a macro.
    pub(crate) fn mentions(&self, variable: &str) -> bool {
        let is = |reference: &Reference| matches!(reference, Reference::Variable(name) if **name == *variable);
        self.references.iter().any(is)
    }
}

/// What a node refers to.
#[derive(Clone, Debug, Default)]
pub(crate) enum Reference {
    /// Nothing, or a field or element of its operand.
    #[default]
    None,
    /// A variable; also a chain of selections that is the name of one.
    Variable(Arc<str>),
    /// A type by its name.
    Type(Arc<str>),
    /// Overloads by their positions in the table of all functions: those that are left after what
    /// is known of the arguments; with `dyn` arguments several.
    Overloads(Vec<usize>),
}

/// Checks an expression of which the nodes are numbered.
pub(crate) fn check(
    source: &Source,
    mut expr: Expr,
    variables: &BTreeMap<Arc<str>, Type>,
    functions: &Functions,
) -> Result<Checked, CompileError> {
    let mut checker = Checker::new(variables, functions);
    checker.check(&mut expr);
    let (types, references) = checker.finish(source)?;
    let checked = Checked { expr, types, references };
    let mut issues = Issues::default();
    literals::validate(&checked, functions, &mut issues);
    issues.into_result(source)?;
    Ok(checked)
}
