//! The nodes of plans.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::language::functions::Overload;
use crate::language::messages::Message;
use crate::language::value::{EvaluationError, Members, Value};

/// A planned expression.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) root: Node,
    /// The variables of the environment, and their slots.
    pub(super) variables: Vec<(Arc<str>, usize)>,
    /// The number of all variables, each of which has a slot.
    pub(super) slots: usize,
    /// How deep nodes are nested at most.
    pub(super) levels: usize,
    /// Whether an optional costs what its value does.
    pub(super) weighs_optionals: bool,
}

/// A node that evaluates to a value.
#[derive(Debug)]
pub(super) enum Node {
    Constant(Value<'static>),
    Chain(Chain),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    Not(Box<Node>),
    /// `@not_strictly_false`: errors are true.
    NotStrictlyFalse(Box<Node>),
    Call(Call),
    /// `value in [constants]`
    OneOf {
        value: Box<Node>,
        constants: Members<'static>,
    },
    /// A method of an optional that only takes a default: `or`, and `orValue`, which unwraps.
    Otherwise {
        optional: Box<Node>,
        default: Box<Node>,
        unwraps: bool,
    },
    /// The elements and whether each is optional.
    List(Vec<(Node, bool)>),
    Map(Vec<MapEntry>),
    /// The names and values of the fields, and whether each is optional.
    Struct(Made, Vec<(Arc<str>, Node, bool)>),
    Fold(Box<Fold>),
    /// A node with an error of its own in the place of any.
    Failing {
        node: Box<Node>,
        error: EvaluationError,
    },
    /// An accumulated list and the elements appended to it, in the last place where it is read.
    Append {
        slot: usize,
        elements: Box<Node>,
    },
    /// An accumulated map and the entries inserted into it, in the last place where it is read: a
    /// map, or a key and a value.
    Insert {
        slot: usize,
        entries: Vec<Node>,
    },
    /// The step of a fold that continues with one of two nodes.
    Choose(Box<(Node, Node, Chain)>),
    /// A node whose outcome a trace tells, by the number of its watch.
    Watched(usize, Box<Node>),
    /// The step of a fold whose turns a trace tells.
    Turn(Box<Turn>),
}

impl Node {
    /// Returns the slot of a variable from which nothing is selected.
    #[inline]
    pub(super) fn as_slot(&self) -> Option<usize> {
        match self {
            Node::Chain(Chain { base: Base::Slot(slot), steps, .. }) if steps.is_empty() => {
                Some(*slot)
            }
            _ => None,
        }
    }
}

/// The step of a fold, the number of the loop and the slots of its variables.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) number: usize,
    pub(super) variables: Vec<(Arc<str>, usize)>,
    pub(super) step: Node,
}

/// The result of a literal with fields.
#[derive(Debug)]
pub(super) enum Made {
    Message(Message),
    /// An object of a type.
    Object(Arc<str>),
}

#[derive(Debug)]
pub(super) struct MapEntry {
    pub(super) key: Node,
    pub(super) value: Node,
    pub(super) optional: bool,
}

/// A variable or value and the selections from it.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) base: Base,
    pub(super) steps: Vec<Step>,
    /// Whether the last step is only tested.
    pub(super) is_test: bool,
}

#[derive(Debug)]
pub(super) enum Base {
    /// A variable, by its slot.
    Slot(usize),
    /// `condition ? chain : chain`
    Choice(Box<Node>, Box<Chain>, Box<Chain>),
    /// The result of any other node.
    Computed(Box<Node>),
    /// A chain whose outcome a trace tells, where it stands for a value without being read.
    Watched(usize, Box<Chain>),
}

/// One selection.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) key: Key,
    /// Whether a missing part is none instead of an error.
    pub(super) optional: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Key {
    Constant(Value<'static>),
    Chain(Arc<Chain>),
    Computed(Arc<Node>),
}

pub(super) struct Call {
    /// Those that the checker left.
    pub(super) overloads: Arc<[&'static Overload]>,
    pub(super) arguments: Vec<Node>,
    /// Whether the first argument that is an error ends it, before the others are looked at and
    /// without cost.
    pub(super) stops_early: bool,
    /// The second argument of a function that takes a pattern.
    pub(super) pattern: Option<Matching>,
    /// The result for two integers by their order, if that is all it depends on; it costs one.
    pub(super) relation: Option<Relation>,
}

pub(super) type Relation = fn(Ordering) -> bool;

/// A pattern of a function.
pub(super) enum Matching {
    /// A literal.
    Known(billhook_regex::Pattern),
    /// Any other expression.
    Computed,
}

impl Call {
    /// The name of the function.
    pub(super) fn function(&self) -> &'static str {
        self.overloads.first().map_or("?", |overload| overload.function)
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Call").field(&self.function()).field(&self.arguments).finish()
    }
}

/// A comprehension; its variables are numbered slots.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) range: Node,
    pub(super) start: Node,
    pub(super) condition: Node,
    pub(super) step: Node,
    pub(super) result: Node,
    pub(super) accumulator: usize,
    pub(super) variable: usize,
    pub(super) second: Option<usize>,
}
