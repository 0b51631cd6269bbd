//! Applying defaults (DF-20 to DF-28).

use std::sync::Arc;

use billhook_apimachinery::value::{deep_clone, grow};
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Location, Reason, Segments};
use billhook_schema::{CompiledSchema, Edge, NodeRef, SchemaPaths, Unlisted};
use serde_json::{Map, Value};

/// The maximum number of JSON values that the defaults of one object may add. A few short defaults
/// for list elements can describe more data than any machine holds.
pub const MAX_DEFAULTED_VALUES: usize = 10_000_000;

/// The defaults would add more than [`MAX_DEFAULTED_VALUES`] values to an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the defaults add more than {MAX_DEFAULTED_VALUES} values to the object")]
#[non_exhaustive]
pub struct LimitError {}

impl LimitError {
    /// For other walks that apply defaults.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "an error has no default")]
    pub fn new() -> Self {
        LimitError {}
    }
}

/// Sets defaults where fields are missing, and in place of nulls that are not allowed.
///
/// # Errors
///
/// If the defaults exceed [`MAX_DEFAULTED_VALUES`]; the object then has some of its defaults.
pub fn apply_defaults(schema: &CompiledSchema, value: &mut Value) -> Result<(), LimitError> {
    apply_defaults_node(schema.root(), value)
}

/// [`apply_defaults`] for a value that belongs to some node of a schema.
///
/// # Errors
///
/// As for [`apply_defaults`].
pub fn apply_defaults_node(node: NodeRef<'_>, value: &mut Value) -> Result<(), LimitError> {
    Walk::new(node.dialect(), |_, _, _| {}).node(node, value, &Location::TOP)
}

/// Like [`apply_defaults`], with the applied defaults listed: each before those that complete it.
///
/// # Errors
///
/// As for [`apply_defaults`].
pub fn apply_defaults_reporting(
    schema: &CompiledSchema,
    value: &mut Value,
) -> Result<Vec<Change>, LimitError> {
    apply_defaults_node_reporting(schema.root(), value)
}

/// [`apply_defaults_reporting`] for a value that belongs to some node of a schema.
///
/// # Errors
///
/// As for [`apply_defaults`].
pub fn apply_defaults_node_reporting(
    node: NodeRef<'_>,
    value: &mut Value,
) -> Result<Vec<Change>, LimitError> {
    let mut changes = Vec::new();
    let mut paths = SchemaPaths::default();
    let note = |at: Location<'_>, edge: Edge<'_>, cause: Cause| {
        let schema_path = paths.of(edge.node());
        changes.push(default_change(at.to_path(), edge, cause, schema_path));
    };
    Walk::new(node.dialect(), note).node(node, value, &Location::TOP)?;
    Ok(changes)
}

/// The reason for setting a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A listed field was missing (DF-20).
    Missing,
    /// A listed field was null (DF-20).
    NullField,
    /// A member that the schema doesn't list was null (DF-25).
    NullMember,
    /// An element was null (DF-25).
    NullElement,
}

impl Cause {
    fn reason(self) -> Reason {
        match self {
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
}

/// Returns the change that setting a default is, for other walks that default; the node of `edge`
/// is written at `schema_path`.
pub fn default_change(
    path: FieldPath,
    edge: Edge<'_>,
    cause: Cause,
    schema_path: Arc<FieldPath>,
) -> Change {
    let before = (cause != Cause::Missing).then_some(Value::Null);
    let values = (before, edge.default().map(deep_clone));
    Change::new(ChangeKind::Defaulted, path, values, cause.reason(), schema_path)
}

/// Sorts the changes of one object into the order in which [`apply_defaults_reporting`] lists them:
/// the fields that were set in an object come before those that were set in its members.
pub fn sort_default_changes(changes: &mut [Change]) {
    let is_own = |change: &Change| {
        let reason = change.reason();
        *reason == Cause::Missing.reason() || *reason == Cause::NullField.reason()
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

struct Walk<F> {
    replaces_null: bool,
    left: usize,
    note: F,
}

impl<F: FnMut(Location<'_>, Edge<'_>, Cause)> Walk<F> {
    fn new(dialect: Dialect, note: F) -> Self {
        // KEP-575 leaves every null to validation (KD-20, KD-21).
        let replaces_null = dialect != Dialect::Kep;
        Walk { replaces_null, left: MAX_DEFAULTED_VALUES, note }
    }

    fn node(
        &mut self,
        node: NodeRef<'_>,
        value: &mut Value,
        at: &Location<'_>,
    ) -> Result<(), LimitError> {
        if !node.can_default() {
            return Ok(());
        }
        match value {
            Value::Object(members) => grow(|| {
                self.insert(node, members, at)?;
                members.iter_mut().try_for_each(|(key, member)| {
                    let at = at.name(key);
                    let edge = match node.property(key) {
                        Some(property) => {
                            if !property.is_listed() {
                                self.replace_null(property.edge(), member, at, Cause::NullMember)?;
                            }
                            property.edge()
                        }
                        None => match node.unlisted() {
                            Unlisted::Descend(edge) => {
                                self.replace_null(edge, member, at, Cause::NullMember)?;
                                edge
                            }
                            _ => return Ok(()),
                        },
                    };
                    self.node(edge.node(), member, &at)
                })
            }),
            Value::Array(items) => grow(|| {
                let edge = node.items();
                items.iter_mut().enumerate().try_for_each(|(index, item)| {
                    let at = at.index(index);
                    self.replace_null(edge, item, at, Cause::NullElement)?;
                    self.node(edge.node(), item, &at)
                })
            }),
            _ => Ok(()),
        }
    }

    /// Sets the defaults of the listed members of one object; the levels below follow when the
    /// members are walked.
    fn insert(
        &mut self,
        node: NodeRef<'_>,
        members: &mut Map<String, Value>,
        at: &Location<'_>,
    ) -> Result<(), LimitError> {
        for property in node.defaulted_properties() {
            let edge = property.edge();
            match (members.get_mut(property.name()), edge.default()) {
                (None, Some(default)) => {
                    self.spend(edge)?;
                    (self.note)(at.name(property.name()), edge, Cause::Missing);
                    members.insert(property.name().to_owned(), deep_clone(default));
                }
                (Some(member), Some(_)) => {
                    self.replace_null(edge, member, at.name(property.name()), Cause::NullField)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn replace_null(
        &mut self,
        edge: Edge<'_>,
        value: &mut Value,
        at: Location<'_>,
        cause: Cause,
    ) -> Result<(), LimitError> {
        if value.is_null()
            && self.replaces_null
            && !edge.is_nullable()
            && let Some(default) = edge.default()
        {
            self.spend(edge)?;
            (self.note)(at, edge, cause);
            *value = deep_clone(default);
        }
        Ok(())
    }

    fn spend(&mut self, edge: Edge<'_>) -> Result<(), LimitError> {
        self.left = self.left.checked_sub(edge.default_size()).ok_or(LimitError {})?;
        Ok(())
    }
}
