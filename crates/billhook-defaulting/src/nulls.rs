//! Removal of nulls from fields that are not nullable and have no default (DF-10 to DF-16).

use std::convert::Infallible;

use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Reason};
use billhook_schema::walk::{At, Places, Report, Rules, walk};
use billhook_schema::{Edge, Effects, NodeRef};
use serde_json::Value;

/// Removes the nulls that a server removes before it applies defaults, in a value that belongs to
/// `node`. They are reported in the order of the walk. In the KEP dialect nulls stay (KD-20).
pub fn remove_nulls<R: Report>(node: NodeRef<'_>, value: &mut Value, report: &mut R) {
    let mut rules = NullRemoval::of(node.dialect());
    let Ok(()) = walk(&mut rules, node, value, R::Places::top(node), report);
}

/// The rules of null removal.
#[derive(Clone, Copy, Debug)]
pub struct NullRemoval {
    is_on: bool,
}

impl NullRemoval {
    /// Returns the rules of a dialect.
    pub fn of(dialect: Dialect) -> Self {
        NullRemoval { is_on: dialect != Dialect::Kep }
    }
}

impl<'s> Rules<'s> for NullRemoval {
    type Refusal = Infallible;

    #[inline]
    fn effects(&self) -> Effects {
        if self.is_on { Effects::REMOVE_NULL } else { Effects::NONE }
    }

    #[inline]
    fn removes_null(&self, edge: Edge<'s>) -> bool {
        self.is_on && !edge.is_nullable() && edge.default().is_none()
    }

    fn null_removed<R: Report>(&mut self, edge: Edge<'s>, at: At<'_, 's, R>, report: &mut R) {
        report.change(at, |place| null_change(place.path(), edge.node()));
    }
}

/// Returns the change that the removal of a null is; `node` is that of the field.
pub fn null_change(path: FieldPath, node: NodeRef<'_>) -> Change {
    Change::new(
        ChangeKind::NullRemoved,
        path,
        (Some(Value::Null), None),
        Reason::new("DF-10", "null, but the field is not nullable and has no default"),
        node.kept_schema_path().unwrap_or_else(|| node.schema_path().into()),
    )
}
