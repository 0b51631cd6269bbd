#![doc = include_str!("../README.md")]
//!
//! Works in place, follows the shape of the value and never fails (PR-01, PR-15). What is kept is
//! decided when the schema is compiled; the walk here only follows it.
//!
//! Not here: unknown fields inside `metadata`, which are the business of metadata coercion
//! (PR-02), and any look at types or value validations.

mod coerce;
mod types;

use std::convert::Infallible;
use std::sync::Arc;

use billhook_apimachinery::value::dismantle;
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Reason, Segment};
use billhook_schema::walk::{At, Places, Report, Rules, walk};
use billhook_schema::{Effects, NodeRef, RESOURCE_FIELDS, SchemaPaths, Unlisted};
use serde_json::Value;

pub use coerce::{Coercion, coerce};
pub use types::check_types;

/// Removes all fields that the schema does not specify, in a value that belongs to `node`. They
/// are reported in the order of the walk.
pub fn prune<R: Report>(node: NodeRef<'_>, value: &mut Value, report: &mut R) {
    let Ok(()) = walk(&mut Pruning::default(), node, value, R::Places::top(node), report);
}

/// The rules of pruning.
#[derive(Debug, Default)]
pub struct Pruning {
    paths: SchemaPaths,
}

impl<'s> Rules<'s> for Pruning {
    type Refusal = Infallible;

    #[inline]
    fn effects(&self) -> Effects {
        Effects::PRUNE
    }

    #[inline]
    fn prunes(&self) -> bool {
        true
    }

    fn pruned<R: Report>(
        &mut self,
        node: NodeRef<'s>,
        value: Value,
        at: At<'_, 's, R>,
        report: &mut R,
    ) {
        if !R::IS_ON {
            return dismantle(value);
        }
        report.change(at, |place| {
            let schema_path = self.paths.of(place.written);
            pruned_change(place.path(), value, (node, place.written), schema_path)
        });
    }
}

/// Returns the removed fields as the server lists them: printed paths in byte order (PR-30 to
/// PR-33).
pub fn unknown_fields(changes: &[Change]) -> Vec<String> {
    let mut paths: Vec<String> = changes
        .iter()
        .filter(|change| change.kind() == ChangeKind::Pruned && !is_suppressed(change))
        .map(|change| change.path().to_dotted())
        .collect();
    paths.sort_unstable();
    paths
}

/// Resource fields that were removed at the top are not listed (PR-32).
fn is_suppressed(change: &Change) -> bool {
    let mut segments = change.path().segments();
    match (segments.next(), segments.next()) {
        // Without a schema they are (PR-11).
        (Some(Segment::Name(name)), None) => {
            RESOURCE_FIELDS.contains(&name) && *change.reason() != NOTHING_SPECIFIED
        }
        _ => false,
    }
}

/// Returns the change that pruning a field is: `node` removed it, `written` is the last node on the
/// way to it that is a part of the schema, at `schema_path`.
pub fn pruned_change(
    path: FieldPath,
    value: Value,
    (node, written): (NodeRef<'_>, NodeRef<'_>),
    schema_path: Arc<FieldPath>,
) -> Change {
    let reason = reason(node, written);
    Change::new(ChangeKind::Pruned, path, (Some(value), None), reason, schema_path)
}

const UNSPECIFIED: Reason = Reason::new("PR-12", "not specified in the schema");
const NOTHING_SPECIFIED: Reason =
    Reason::new("PR-11", "the schema specifies nothing at or below this place");
const RESUMED_IN_PROPERTY: Reason = Reason::new(
    "PR-23",
    "listed below x-kubernetes-preserve-unknown-fields, so pruning resumes and this field is not \
     specified",
);
const RESUMED_IN_MEMBER: Reason = Reason::new(
    "PR-20",
    "x-kubernetes-preserve-unknown-fields does not reach into additionalProperties, and this \
     field is not specified",
);
const BELOW_BOOLEAN: Reason =
    Reason::new("PR-16", "below a boolean additionalProperties nothing is specified");

fn reason(node: NodeRef<'_>, written: NodeRef<'_>) -> Reason {
    if node.specifies_nothing() {
        return match written.unlisted() {
            Unlisted::Descend(edge) if edge.node().specifies_nothing() => BELOW_BOOLEAN,
            _ if !written.types().admit(&Value::Array(Vec::new())) => mismatch(written, "a list"),
            _ => NOTHING_SPECIFIED,
        };
    }
    if !written.types().admit(&Value::Object(serde_json::Map::new())) {
        return mismatch(written, "an object");
    }
    let preserved = written.parent().is_some_and(NodeRef::preserves_unknown_fields);
    if !preserved || node.dialect() != Dialect::Kubernetes || written.preserves_unknown_fields() {
        return UNSPECIFIED;
    }
    match written.schema_path().segments().last() {
        Some(Segment::Name("additionalProperties")) => RESUMED_IN_MEMBER,
        _ => RESUMED_IN_PROPERTY,
    }
}

fn mismatch(written: NodeRef<'_>, found: &str) -> Reason {
    let text = format!(
        "the schema says {} but the value is {found}, so nothing in it is specified",
        written.types()
    );
    Reason::with_text("PR-15", text)
}
