//! Checked expressions.

use std::sync::Arc;

use crate::language::ast::Expr;
use crate::language::availability::Language;
use crate::language::functions::Overload;
use crate::language::types::Type;

/// A checked expression. Calls of functions in a namespace (`math.greatest(…)`, `optional.of(…)`)
/// have no target any more but the full name.
pub(crate) struct Checked {
    /// The text as it was written.
    pub(crate) text: Box<str>,
    pub(crate) expr: Expr,
    /// The type of each node by its number.
    pub(crate) types: Vec<Type>,
    /// The reference of each node, by its number.
    pub(crate) references: Vec<Reference>,
    pub(crate) language: Language,
}

impl Checked {
    /// The type of the result.
    pub(crate) fn result_type(&self) -> &Type {
        self.types.get(self.expr.id).unwrap_or(&Type::Dyn)
    }

    /// Returns the overloads that a call may mean.
    pub(crate) fn overloads(&self, call: &Expr) -> Arc<[&'static Overload]> {
        match self.references.get(call.id) {
            Some(Reference::Overloads(overloads)) => Arc::clone(overloads),
            _ => Arc::default(),
        }
    }

    /// Returns whether anything refers to a variable of this name, even a variable of a macro.
    pub(crate) fn mentions(&self, variable: &str) -> bool {
        let is = |reference: &Reference| matches!(reference, Reference::Variable(name) if **name == *variable);
        self.references.iter().any(is)
    }
}

/// The target of a node's reference.
#[derive(Clone, Default)]
pub(crate) enum Reference {
    /// Nothing, or a field or element of its operand.
    #[default]
    None,
    /// A variable; also a chain of selections that is the name of one.
    Variable(Arc<str>),
    /// A type by its name.
    Type(Arc<str>),
    /// A number that has a name.
    Constant(i64),
    /// The overloads that match the known types of the arguments; with `dyn` arguments several.
    Overloads(Arc<[&'static Overload]>),
}
