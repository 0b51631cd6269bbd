//! Expressions as they are parsed, with macros expanded.

use std::sync::Arc;

use billhook_apimachinery::value::grow;

/// A node of an expression.
#[derive(Debug)]
pub(crate) struct Expr {
    /// Its number in the expression, from zero and without gaps, greater than those of its parts:
    /// types and references are kept in tables by it.
    pub(crate) id: usize,
    /// The start in the source, or the position of its operator: in code points from zero.
    pub(crate) at: usize,
    /// The text in the source, in code points from zero; none for what a macro adds.
    pub(crate) span: Option<Span>,
    pub(crate) kind: Kind,
}

/// Start and end.
pub(crate) type Span = (usize, usize);

/// Calls a function with each direct part of a borrowed or a mutably borrowed kind.
macro_rules! each_child {
    ($kind:expr, $each:expr, $unboxed:ident) => {{
        let each = $each;
        match $kind {
            Kind::Literal(_) | Kind::Ident(_) => {}
            Kind::Select { operand, .. } => each(operand),
            Kind::Call { target, arguments, .. } => {
                target.into_iter().for_each(|target| each(target));
                arguments.into_iter().for_each(each);
            }
            Kind::List(elements) => elements.into_iter().for_each(|(element, _)| each(element)),
            Kind::Map(entries) => entries.into_iter().for_each(|Entry { key, value, .. }| {
                each(key);
                each(value);
            }),
            Kind::Struct { fields, .. } => {
                fields.into_iter().for_each(|Field { value, .. }| each(value));
            }
            Kind::Comprehension(folded) => {
                let Comprehension { range, start, condition, step, result, .. } = folded.$unboxed();
                [range, start, condition, step, result].into_iter().for_each(each);
            }
        }
    }};
}

impl Expr {
    /// Calls a function with each direct part.
    pub(crate) fn each_child<'e>(&'e self, each: &mut dyn FnMut(&'e Expr)) {
        each_child!(&self.kind, each, as_ref);
    }

    /// Calls a function with each direct part, to change it.
    pub(crate) fn each_child_mut(&mut self, each: &mut dyn FnMut(&mut Expr)) {
        each_child!(&mut self.kind, each, as_mut);
    }
}

/// On a stack that is large enough for it.
impl Clone for Expr {
    fn clone(&self) -> Self {
        Expr { kind: grow(|| self.kind.clone()), ..*self }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Literal(Literal),
    /// A name, perhaps with a leading dot.
    Ident(Arc<str>),
    /// `operand.field`; `test` if it is the argument of `has`.
    Select {
        operand: Box<Expr>,
        field: Arc<str>,
        test: bool,
    },
    /// A function, an operator by its name (`_+_`, `_?_:_`, `_[_]`, `_?._`, `_[?_]`, `@in`, `!_`,
    /// `-_`, `_&&_` …) or a method, which has a target.
    Call {
        function: Arc<str>,
        target: Option<Box<Expr>>,
        arguments: Vec<Expr>,
    },
    /// `[a, ?b]`: the elements, each with whether it is optional.
    List(Vec<(Expr, bool)>),
    /// `{a: b, ?c: d}`
    Map(Vec<Entry>),
    /// `Name{field: value}`
    Struct {
        name: Arc<str>,
        fields: Vec<Field>,
    },
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

/// A field of a struct, and where its colon is.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Arc<str>,
    pub(crate) at: usize,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

/// The expansion of `all`, `exists`, `map` … and `cel.bind`: folds a range.
#[derive(Clone, Debug)]
pub(crate) struct Comprehension {
    pub(crate) range: Expr,
    /// The element of a list or the key of a map; with a second variable the index or the key.
    pub(crate) variable: Arc<str>,
    /// The element or the value.
    pub(crate) second: Option<Arc<str>>,
    pub(crate) accumulator: Arc<str>,
    pub(crate) start: Expr,
    /// Continues while it is true.
    pub(crate) condition: Expr,
    pub(crate) step: Expr,
    pub(crate) result: Expr,
}

/// Names that are kept for other languages.
pub(crate) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];
