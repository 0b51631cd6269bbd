#![doc = include_str!("../README.md")]
//!
//! Works in place, follows the shape of the value and never fails (PR-01, PR-15). What is kept is
//! decided when the schema is compiled; the walk here only follows it.
//!
//! Not here: unknown fields inside `metadata`, which are the business of metadata coercion
//! (PR-02), and any look at types or value validations.

mod coerce;
mod types;

use std::sync::Arc;

use billhook_apimachinery::value::{dismantle, grow};
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Location, Reason, Segment};
use billhook_schema::{CompiledSchema, NodeRef, RESOURCE_FIELDS, SchemaPaths, Unlisted};
use serde_json::Value;

pub use coerce::{Coerced, coerce, coerce_node, coerce_reporting};
pub use types::check_types;

/// Removes all fields that the schema does not specify.
pub fn prune(schema: &CompiledSchema, value: &mut Value) {
    prune_node(schema.root(), value);
}

/// [`prune`] with the removed fields listed, in the order of the walk.
pub fn prune_reporting(schema: &CompiledSchema, value: &mut Value) -> Vec<Change> {
    let mut report = Changes { paths: SchemaPaths::default(), list: Vec::new() };
    walk(schema.root(), schema.root(), value, &Location::TOP, &mut report);
    report.list
}

/// [`prune`] for a value that belongs to some node of a schema, such as a default.
pub fn prune_node(node: NodeRef<'_>, value: &mut Value) {
    walk(node, node, value, &Location::TOP, &mut Silent);
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

trait Report {
    fn removed(&mut self, place: Removed<'_>, value: Value);
}

/// A field that is being removed.
struct Removed<'a> {
    at: Location<'a>,
    /// The node that removes it.
    node: NodeRef<'a>,
    /// The last node on the way that is a part of the schema.
    written: NodeRef<'a>,
}

struct Silent;

impl Report for Silent {
    #[inline]
    fn removed(&mut self, _: Removed<'_>, value: Value) {
        dismantle(value);
    }
}

struct Changes {
    paths: SchemaPaths,
    list: Vec<Change>,
}

impl Report for Changes {
    fn removed(&mut self, place: Removed<'_>, value: Value) {
        let Removed { at, node, written } = place;
        let schema_path = self.paths.of(written);
        self.list.push(pruned_change(at.to_path(), value, (node, written), schema_path));
    }
}

/// Returns the change for pruning a field, for other walks that prune: `node` removed it, `written`
/// is the last node on the way to it that is a part of the schema, at `schema_path`.
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

fn walk<'a, R: Report>(
    node: NodeRef<'a>,
    written: NodeRef<'a>,
    value: &mut Value,
    at: &Location<'_>,
    report: &mut R,
) {
    if !node.can_prune() {
        return;
    }
    let next = |node: NodeRef<'a>| if node.specifies_nothing() { written } else { node };
    match value {
        Value::Object(members) => grow(|| {
            members.retain(|key, member| {
                let edge = match node.property(key) {
                    Some(property) => property.edge(),
                    None => match node.unlisted() {
                        Unlisted::Descend(edge) => edge,
                        Unlisted::Keep => return true,
                        Unlisted::Remove => {
                            let place = Removed { at: at.name(key), node, written };
                            report.removed(place, member.take());
                            return false;
                        }
                    },
                };
                walk(edge.node(), next(edge.node()), member, &at.name(key), report);
                true
            });
        }),
        Value::Array(items) => {
            let node = node.items().node();
            if node.can_prune() {
                grow(|| {
                    for (index, item) in items.iter_mut().enumerate() {
                        walk(node, next(node), item, &at.index(index), report);
                    }
                });
            }
        }
        _ => {}
    }
}
