//! Applying defaults (DF-20 to DF-28).

use std::convert::Infallible;
use std::sync::Arc;

use billhook_apimachinery::value::deep_clone;
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Reason, Segments};
use billhook_schema::walk::{At, Cause, Places, Report, Rules, walk};
use billhook_schema::{Edge, Effects, NodeRef, SchemaPaths};
use serde_json::Value;

/// The maximum number of JSON values that the defaults of one object may add. A few short defaults
/// for list elements can describe more data than any machine holds.
pub const MAX_DEFAULTED_VALUES: usize = 10_000_000;

/// The defaults would add more than [`MAX_DEFAULTED_VALUES`] values to an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the defaults add more than {MAX_DEFAULTED_VALUES} values to the object")]
#[non_exhaustive]
pub struct LimitError {}

/// Sets defaults where fields are missing, and in place of nulls that are not allowed, in a value
/// that belongs to `node`. Each is reported before those that complete it.
///
/// # Errors
///
/// If the defaults exceed [`MAX_DEFAULTED_VALUES`]; the value then has some of its defaults.
pub fn apply_defaults<R: Report>(
    node: NodeRef<'_>,
    value: &mut Value,
    report: &mut R,
) -> Result<(), LimitError> {
    let mut rules = Defaulting::of(node.dialect());
    let from = report.changes().len();
    let Ok(()) = walk(&mut rules, node, value, R::Places::top(node), report);
    sort_default_changes(report.changes().get_mut(from..).unwrap_or_default());
    rules.finish()
}

/// The rules of defaulting for one object.
#[derive(Debug)]
pub struct Defaulting {
    replaces_null: bool,
    /// How many values may still be added.
    left: usize,
    is_exceeded: bool,
    paths: SchemaPaths,
}

impl Defaulting {
    /// Returns the rules of a dialect.
    pub fn of(dialect: Dialect) -> Self {
        Defaulting {
            // KEP-575 leaves every null to validation (KD-20, KD-21).
            replaces_null: dialect != Dialect::Kep,
            left: MAX_DEFAULTED_VALUES,
            is_exceeded: false,
            paths: SchemaPaths::default(),
        }
    }

    /// Ends the defaulting of the object.
    ///
    /// # Errors
    ///
    /// If the defaults exceed [`MAX_DEFAULTED_VALUES`].
    pub fn finish(self) -> Result<(), LimitError> {
        if self.is_exceeded { Err(LimitError {}) } else { Ok(()) }
    }

    /// Whether the default of an edge can still be added; otherwise none is from now on, so that
    /// the walk can go on to what other rules refuse before.
    fn spend(&mut self, edge: Edge<'_>) -> bool {
        let left = self.left.checked_sub(edge.default_size());
        self.is_exceeded |= left.is_none();
        self.left = left.unwrap_or_default();
        !self.is_exceeded
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
        let default = edge.default().filter(|_| self.spend(edge))?;
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
