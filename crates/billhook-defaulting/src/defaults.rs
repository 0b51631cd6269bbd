//! Applying defaults (DF-20 to DF-28).

use std::convert::Infallible;
use std::sync::Arc;

use billhook_apimachinery::value::deep_clone;
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Reason, Segments};
use billhook_schema::walk::{At, Cause, Places, Report, Rules, walk};
use billhook_schema::{Edge, Effects, NodeRef, SchemaPaths};
use serde_json::Value;

/// The most memory, in bytes, that the defaults of one object may take, by an estimate. A few
/// defaults for list elements can describe more data than any machine holds (DF-29).
pub const MAX_DEFAULTED_BYTES: usize = 256 << 20;

/// The bytes that are counted for the name of a member, and for its place in an object.
const MEMBER: usize = 128;

/// The defaults would take more than [`MAX_DEFAULTED_BYTES`] in an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the defaults of the object take more than {MAX_DEFAULTED_BYTES} bytes of memory")]
#[non_exhaustive]
pub struct LimitError {}

/// The rest of [`MAX_DEFAULTED_BYTES`] for an object.
#[derive(Clone, Debug)]
pub struct DefaultBudget {
    left: Option<usize>,
}

impl Default for DefaultBudget {
    fn default() -> Self {
        DefaultBudget::of(MAX_DEFAULTED_BYTES)
    }
}

impl DefaultBudget {
    /// Returns a budget of a number of bytes.
    pub fn of(bytes: usize) -> Self {
        DefaultBudget { left: Some(bytes) }
    }

    /// Returns the bytes that are left.
    pub fn left(&self) -> usize {
        self.left.unwrap_or_default()
    }

    /// Takes what the default of an edge needs, without the defaults that complete it.
    ///
    /// # Errors
    ///
    /// If it does not suffice, now or earlier.
    pub fn spend_on(&mut self, edge: Edge<'_>) -> Result<(), LimitError> {
        self.spend(edge.default_size().saturating_add(MEMBER))
    }

    /// Takes bytes from the budget, before they are used. Once it does not suffice, nothing is left.
    ///
    /// # Errors
    ///
    /// If it does not suffice, now or earlier.
    pub fn spend(&mut self, bytes: usize) -> Result<(), LimitError> {
        self.left = self.left.and_then(|left| left.checked_sub(bytes));
        self.left.map(drop).ok_or(LimitError {})
    }
}

/// Sets defaults where fields are missing, and in place of nulls that are not allowed, in a value
/// that belongs to `node`. Each is reported before those that complete it.
///
/// # Errors
///
/// If the defaults exceed [`MAX_DEFAULTED_BYTES`]; the value then has some of its defaults.
pub fn apply_defaults<R: Report>(
    node: NodeRef<'_>,
    value: &mut Value,
    report: &mut R,
) -> Result<(), LimitError> {
    apply_defaults_within(&mut DefaultBudget::default(), node, value, report)
}

/// [`apply_defaults`] for one of several parts of an object, which share a budget.
///
/// # Errors
///
/// If the defaults exceed the budget; the value then has some of its defaults.
pub fn apply_defaults_within<R: Report>(
    budget: &mut DefaultBudget,
    node: NodeRef<'_>,
    value: &mut Value,
    report: &mut R,
) -> Result<(), LimitError> {
    let mut rules = Defaulting { budget: budget.clone(), ..Defaulting::of(node.dialect()) };
    let from = report.changes().len();
    let Ok(()) = walk(&mut rules, node, value, R::Places::top(node), report);
    sort_default_changes(report.changes().get_mut(from..).unwrap_or_default());
    *budget = rules.budget;
    budget.spend(0)
}

/// The rules of defaulting for one object.
#[derive(Debug)]
pub struct Defaulting {
    replaces_null: bool,
    budget: DefaultBudget,
    paths: SchemaPaths,
}

impl Defaulting {
    /// Returns the rules of a dialect.
    pub fn of(dialect: Dialect) -> Self {
        Defaulting {
            // KEP-575 leaves every null to validation (KD-20, KD-21).
            replaces_null: dialect != Dialect::Kep,
            budget: DefaultBudget::default(),
            paths: SchemaPaths::default(),
        }
    }

    /// Ends the defaulting of the object.
    ///
    /// # Errors
    ///
    /// If the defaults exceed [`MAX_DEFAULTED_BYTES`].
    pub fn finish(mut self) -> Result<(), LimitError> {
        self.budget.spend(0)
    }
}

impl<'s> Rules<'s> for Defaulting {
    type Refusal = Infallible;
    const INSERTS: bool = true;

    #[inline]
    fn effects(&self) -> Effects {
        Effects::DEFAULT
    }

    fn default_value<R: Report>(
        &mut self,
        edge: Edge<'s>,
        cause: Cause,
        at: At<'_, 's, R>,
        report: &mut R,
    ) -> Option<Value> {
        if cause != Cause::Missing && (edge.is_nullable() || !self.replaces_null) {
            return None;
        }
        let default = edge.default()?;
        // Beyond the limit none is added, and the walk goes on to what other rules refuse before.
        self.budget.spend_on(edge).ok()?;
        report.change(at, |place| {
            default_change(place.path(), edge, cause, self.paths.of(edge.node()))
        });
        let mut value = deep_clone(default);
        let Ok(()) = walk(self, edge.node(), &mut value, at, report);
        Some(value)
    }
}

fn reason(cause: Cause) -> Reason {
    match cause {
        Cause::Missing => Reason::new("DF-20", "missing, so the default is set"),
        Cause::NullField => {
            Reason::new("DF-20", "null, but the field is not nullable, so the default is set")
        }
        Cause::NullMember => {
            Reason::new("DF-25", "null, but members are not nullable, so their default is set")
        }
        Cause::NullElement => {
            Reason::new("DF-25", "null, but elements are not nullable, so their default is set")
        }
    }
}

/// Returns the change that setting a default is; the node of `edge` is
/// written at `schema_path`.
pub fn default_change(
    path: FieldPath,
    edge: Edge<'_>,
    cause: Cause,
    schema_path: Arc<FieldPath>,
) -> Change {
    let before = (cause != Cause::Missing).then_some(Value::Null);
    let values = (before, edge.default().map(deep_clone));
    Change::new(ChangeKind::Defaulted, path, values, reason(cause), schema_path)
}

/// Sorts the defaults that were set in one object into their order: the fields that were set in an
/// object come before what was set in its members.
pub fn sort_default_changes(changes: &mut [Change]) {
    let is_own = |change: &Change| {
        [Cause::Missing, Cause::NullField].iter().any(|cause| *change.reason() == reason(*cause))
    };
    changes.sort_by(|one, other| {
        let (mut ours, mut theirs) = (one.path().segments(), other.path().segments());
        let (our, their) = loop {
            match (ours.next(), theirs.next()) {
                (Some(our), Some(their)) if our == their => {}
                (Some(our), Some(their)) => break (our, their),
                (our, their) => return our.cmp(&their),
            }
        };
        let is_below =
            |change: &Change, mut rest: Segments<'_>| rest.next().is_some() || !is_own(change);
        is_below(one, ours).cmp(&is_below(other, theirs)).then_with(|| our.cmp(&their))
    });
}
