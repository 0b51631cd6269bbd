//! Evaluation. A checked expression is planned once: names are resolved, literals and conversions
//! of literals become constants, selections become chains. The plan is then run any number of
//! times, counting what it costs (CE-35).

mod entries;
mod machine;
mod plan;
mod select;

use std::sync::Arc;

use crate::equality::Members;
use crate::functions::Overload;
use crate::value::Value;

pub(crate) use machine::run;
pub(crate) use plan::plan;

/// A planned expression.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Node,
    /// The names of the variables, by number.
    pub(crate) variables: Vec<Arc<str>>,
    /// How many variables of comprehensions there are.
    pub(crate) slots: usize,
}

/// What is evaluated to a value.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Value<'static>),
    Chain(Chain),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// `@not_strictly_false`: errors are true.
    NotStrictlyFalse(Box<Node>),
    Call(Call),
    /// `value in [constants]`
    OneOf {
        value: Box<Node>,
        constants: Members<'static>,
    },
    /// A method of an optional that is only given a default: `or`, and `orValue`, which unwraps.
    Otherwise {
        optional: Box<Node>,
        default: Box<Node>,
        unwraps: bool,
    },
    /// The elements and whether each is optional.
    List(Vec<(Node, bool)>),
    Map(Vec<MapEntry>),
    Fold(Box<Fold>),
    /// An accumulated list and what is put behind it, in the last place where it is read.
    Append {
        slot: usize,
        elements: Box<Node>,
    },
    /// An accumulated map and what is put into it, in the last place where it is read: a map, or
    /// a key and a value.
    Insert {
        slot: usize,
        entries: Vec<Node>,
    },
    /// The step of a fold that goes on with one of two nodes.
    Choose(Box<(Node, Node, Chain)>),
}

#[derive(Debug)]
pub(crate) struct MapEntry {
    pub(crate) key: Node,
    pub(crate) value: Node,
    pub(crate) optional: bool,
}

/// A variable or value and what is selected from it.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) base: Base,
    pub(crate) steps: Vec<Step>,
    /// Whether the last step is only tested.
    pub(crate) is_test: bool,
}

#[derive(Debug)]
pub(crate) enum Base {
    /// A variable of a comprehension.
    Local(usize),
    /// A variable of the environment.
    Variable(usize),
    /// `condition ? chain : chain`
    Choice(Box<Node>, Box<Chain>, Box<Chain>),
    /// What anything else gives.
    Computed(Box<Node>),
}

/// What a selection selects.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) key: Key,
    /// Whether what is missing is none instead of an error.
    pub(crate) optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Key {
    Constant(Value<'static>),
    Chain(Arc<Chain>),
    Computed(Arc<Node>),
}

pub(crate) struct Call {
    /// Those that the checker left.
    pub(crate) overloads: Vec<&'static Overload>,
    pub(crate) arguments: Vec<Node>,
    /// Whether the first argument that is an error ends it, before the others are looked at and
    /// without cost.
    pub(crate) stops_early: bool,
    /// The compiled second argument of `matches`.
    pub(crate) pattern: Option<billhook_regex::Pattern>,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.overloads.first().map_or("?", |overload| overload.function);
        f.debug_tuple("Call").field(&name).field(&self.arguments).finish()
    }
}

/// A comprehension; its variables are numbered slots.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) range: Node,
    pub(crate) start: Node,
    pub(crate) condition: Node,
    pub(crate) step: Node,
    pub(crate) result: Node,
    pub(crate) accumulator: usize,
    pub(crate) variable: usize,
    pub(crate) second: Option<usize>,
}
