//! The differences between a manifest and the live object, each with its cause.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq};
use billhook_apimachinery::{Change, ChangeKind, FieldPath};
use billhook_apply::{
    Duplicates, FieldSet, ManagedFields, ManagedFieldsError, MergeSchema, OwnedPath, PathElement,
    PathElementKind, TypeErrors, TypedValue,
};
use serde_json::Value;

use crate::crd::{CrdVersion, Scope};
use crate::decode_options::{DecodeOptions, FieldValidation};
use crate::error::DecodeError;
use crate::neat::{BOOKKEEPING, take_annotation};

/// A field in which a manifest and the live object differ.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The field, with elements of lists by their keys.
    pub path: OwnedPath,
    /// The value in the manifest.
    pub desired: Option<DeepValue>,
    /// The value in the live object.
    pub live: Option<DeepValue>,
    /// The cause.
    pub cause: Cause,
}

/// The cause of a [`Difference`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The live object is not as the manifest wants it.
    Real,
    /// A server makes this change of the manifest or, on a read, of the live object.
    Server {
        /// The kind of change.
        kind: ChangeKind,
        /// The reason.
        reason: billhook_apimachinery::Reason,
        /// The part of the schema that decides; empty if none does.
        schema_path: FieldPath,
    },
    /// Other managers set the field; the manifest leaves it to them.
    Managers(BTreeSet<String>),
    /// No manager set the field, but a server or its admission, whose changes have no owner (SA-50);
    /// the manifest leaves it to them, and an apply does not remove it.
    Unowned,
    /// Metadata that only servers set, or clients for themselves.
    Metadata,
    /// The status is a subresource: a write of the object does not change it.
    Status,
}

impl Cause {
    /// Returns whether the live object is not as the manifest wants it.
    pub fn is_real(&self) -> bool {
        *self == Cause::Real
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Real => f.write_str("real"),
            Cause::Server { kind: ChangeKind::Defaulted, schema_path, .. }
                if !schema_path.is_empty() =>
            {
                write!(f, "default from the schema at {schema_path}")
            }
            Cause::Server { kind, reason, schema_path } => {
                write!(f, "{}: {}", kind.label(), reason.text())?;
                match schema_path.is_empty() {
                    true => Ok(()),
                    false => write!(f, ", {schema_path}"),
                }
            }
            Cause::Managers(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                write!(f, "set by {}", names.join(", "))
            }
            Cause::Unowned => f.write_str("set by the server or by admission: no manager owns it"),
            Cause::Metadata => f.write_str("server metadata"),
            Cause::Status => f.write_str("status"),
        }
    }
}

/// Two objects that cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DifferenceError {
    /// A server refuses the manifest.
    #[error("the manifest: {0}")]
    Desired(DecodeError),
    /// A server cannot read the live object.
    #[error("the live object: {0}")]
    Live(DecodeError),
    /// The manifest does not fit the schema.
    #[error("the manifest: {0}")]
    DesiredTypes(TypeErrors),
    /// The live object does not fit the schema.
    #[error("the live object: {0}")]
    LiveTypes(TypeErrors),
    /// The managed fields of the live object cannot be read.
    #[error("the live object: {0}")]
    ManagedFields(#[from] ManagedFieldsError),
}

impl CrdVersion {
    /// Compares a manifest of this version with the live object, of any version, and finds the
    /// cause of each difference. `is_own` says of the name of a manager whether it is one that
    /// applies the manifest: what it owns alone in the live object, and the manifest does not have,
    /// is to be removed; what others own is theirs, and what has no owner is the server's. Of a live
    /// object without managed fields, all that the manifest does not have is to be removed.
    ///
    /// The differences come in the order of their paths.
    ///
    /// # Errors
    ///
    /// If a server refuses one of the objects, or one does not fit the schema.
    pub fn differences(
        &self,
        desired: &Value,
        live: &Value,
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Difference>, DifferenceError> {
        let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
        let options = options.report(true);
        let mut decoded = DeepValue::from(deep_clone(desired));
        let (_, mut of_desired) =
            self.decode_value(&mut decoded, &options).map_err(DifferenceError::Desired)?;
        let of_storage =
            self.pass_storage(&mut decoded, &options).map_err(DifferenceError::Desired)?;
        of_desired.extend(of_storage);
        let mut read = DeepValue::from(deep_clone(live));
        let of_live = self.read_stored(&mut read, &options).map_err(DifferenceError::Live)?;
        let kind = Kind {
            schema: self.merge_schema(),
            has_status: self.has_status_subresource(),
            is_namespaced: self.definition().scope() == Scope::Namespaced,
        };
        let mut found =
            kind.differences((&mut decoded, &of_desired), (&mut read, &of_live), is_own)?;
        // Nobody has the schema of a kind that is built in.
        if self.definition().object_type().is_some() {
            for difference in &mut found {
                if let Cause::Server { schema_path, .. } = &mut difference.cause {
                    *schema_path = FieldPath::default();
                }
            }
        }
        Ok(found)
    }

    /// Writes an object to storage and reads it, where it is stored in another version, which has
    /// fields and defaults of its own (CX-10). Returns the changes.
    fn pass_storage(
        &self,
        object: &mut Value,
        options: &DecodeOptions,
    ) -> Result<Vec<Change>, DecodeError> {
        let storage = self.definition().storage().ok();
        let is_another = |storage: &CrdVersion| storage.name() != self.name();
        let Some(storage) = storage.filter(is_another) else { return Ok(Vec::new()) };
        if self.definition().is_converted_by_webhook() {
            return Ok(Vec::new());
        }
        let mut changes = storage.convert_value(object, options)?;
        changes.extend(self.read_stored(object, options)?);
        // The version is that of the request again.
        changes.retain(|change| change.kind() != ChangeKind::TypeRestored);
        Ok(changes)
    }

    /// Decodes a stored object. A read sets the generation where it is missing (RP-51), which is not
    /// a difference.
    fn read_stored(
        &self,
        object: &mut Value,
        options: &DecodeOptions,
    ) -> Result<Vec<Change>, DecodeError> {
        let has_generation = object.pointer("/metadata/generation").is_some();
        if !has_generation {
            set_generation(object, Some(1));
        }
        let changes = self.decode_storage_value(object, options)?;
        if !has_generation {
            set_generation(object, None);
        }
        Ok(changes)
    }
}

/// Compares a manifest with a live object of a kind of which nothing is known, as
/// [`CrdVersion::differences`] does otherwise: nothing is decoded, and lists are compared as wholes.
///
/// # Errors
///
/// If the managed fields of the live object cannot be read.
pub fn differences_without_schema(
    desired: &Value,
    live: &Value,
    is_own: &dyn Fn(&str) -> bool,
) -> Result<Vec<Difference>, DifferenceError> {
    let kind = Kind { schema: &MergeSchema::deduced(), has_status: true, is_namespaced: true };
    let mut desired = DeepValue::from(deep_clone(desired));
    let mut live = DeepValue::from(deep_clone(live));
    kind.differences((&mut desired, &[]), (&mut live, &[]), is_own)
}

/// The things that must be known of a kind to compare its objects.
#[derive(Clone, Copy)]
struct Kind<'k> {
    schema: &'k MergeSchema,
    /// Whether the status is a subresource.
    has_status: bool,
    is_namespaced: bool,
}

impl Kind<'_> {
    /// Compares two decoded objects, given with the changes of decoding.
    fn differences(
        self,
        (desired, of_desired): (&mut Value, &[Change]),
        (live, of_live): (&mut Value, &[Change]),
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Difference>, DifferenceError> {
        let bookkeeping = BOOKKEEPING.iter().filter_map(|name| {
            of_annotation(name, take_annotation(desired, name), take_annotation(live, name))
        });
        let bookkeeping: Vec<Difference> = bookkeeping.collect();
        let managed = ManagedFields::of(live)?;
        let check = |object| self.schema.check(object, Duplicates::Allowed);
        let desired = check(desired).map_err(DifferenceError::DesiredTypes)?;
        let live = check(live).map_err(DifferenceError::LiveTypes)?;
        let changes = Changes::of((desired, of_desired), (live, of_live));
        let (kind, owners) = (self, Owners::of(&managed, is_own));
        let mut found = Finder { kind, desired, live, changes, owners }.find();
        found.extend(bookkeeping);
        found.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(found)
    }
}

/// A change that decoding makes of one of the objects.
#[derive(Clone, Copy)]
struct Sided<'c> {
    change: &'c Change,
    is_of_live: bool,
}

/// The changes that decoding makes of one object only.
struct Changes<'c> {
    by_path: BTreeMap<OwnedPath, Sided<'c>>,
    /// The fields that the manifest has only by default.
    defaults: FieldSet,
}

impl<'c> Changes<'c> {
    fn of(
        (desired, of_desired): (TypedValue<'_>, &'c [Change]),
        (live, of_live): (TypedValue<'_>, &'c [Change]),
    ) -> Self {
        let mut changes: BTreeMap<OwnedPath, Sided<'c>> = BTreeMap::new();
        for change in of_desired {
            let path = desired.owned_path(change.path());
            changes.insert(path, Sided { change, is_of_live: false });
        }
        for change in of_live {
            let path = live.owned_path(change.path());
            let is_of_both = changes.get(&path).is_some_and(|other| is_same(other.change, change));
            match is_of_both {
                true => drop(changes.remove(&path)),
                false => drop(changes.entry(path).or_insert(Sided { change, is_of_live: true })),
            }
        }
        let is_default =
            |sided: &Sided<'_>| !sided.is_of_live && sided.change.kind() == ChangeKind::Defaulted;
        let defaults = changes.iter().filter(|(_, sided)| is_default(sided));
        let defaults = defaults.map(|(path, _)| path.clone()).collect();
        Changes { by_path: changes, defaults }
    }
}

fn is_same(left: &Change, right: &Change) -> bool {
    let same = |left: Option<&Value>, right: Option<&Value>| match (left, right) {
        (Some(left), Some(right)) => deep_eq(left, right),
        (left, right) => left.is_none() && right.is_none(),
    };
    left.kind() == right.kind()
        && same(left.before(), right.before())
        && same(left.after(), right.after())
}

/// Who owns the fields of the live object.
struct Owners<'m> {
    /// Whether it is known who owns which fields.
    is_tracked: bool,
    /// The fields that the managers who apply the manifest own alone.
    own: FieldSet,
    /// The others, in the order of their entries.
    others: Vec<(&'m str, FieldSet)>,
}

impl<'m> Owners<'m> {
    fn of(managed: &'m ManagedFields, is_own: &dyn Fn(&str) -> bool) -> Self {
        let is_tracked = !managed.is_empty();
        let mut owners = Owners { is_tracked, own: FieldSet::default(), others: Vec::new() };
        for entry in managed.entries() {
            match is_own(&entry.manager) {
                true => owners.own = owners.own.union(&entry.fields()),
                false => owners.others.push((&entry.manager, entry.fields())),
            }
        }
        for (_, fields) in &owners.others {
            owners.own = owners.own.difference(fields);
        }
        owners
    }

    /// The cause of a field that the manifest does not have: those who own a part of it or of what is
    /// below it, if no manager that applies the manifest owns a part alone (SA-73).
    fn cause_of(&self, path: &OwnedPath) -> Cause {
        if !self.is_tracked || self.own.touches(path.elements()) {
            return Cause::Real;
        }
        let owning = self.others.iter().filter(|(_, fields)| fields.touches(path.elements()));
        let names: BTreeSet<String> = owning.map(|(name, _)| (*name).to_owned()).collect();
        match names.is_empty() {
            true => Cause::Unowned,
            false => Cause::Managers(names),
        }
    }
}

struct Finder<'f> {
    kind: Kind<'f>,
    desired: TypedValue<'f>,
    live: TypedValue<'f>,
    changes: Changes<'f>,
    owners: Owners<'f>,
}

type Sides<'v> = (Option<&'v Value>, Option<&'v Value>);

impl Finder<'_> {
    fn find(&self) -> Vec<Difference> {
        let mut found = self.between_objects();
        found.extend(self.by_decoding(&found));
        found
    }

    /// The differences between the decoded objects.
    fn between_objects(&self) -> Vec<Difference> {
        let comparison = self.live.compare(self.desired);
        let mut fields: BTreeMap<OwnedPath, Sides<'_>> = BTreeMap::new();
        for set in [&comparison.added, &comparison.modified] {
            for (path, value) in self.desired.values_at(set) {
                fields.entry(path).or_default().0 = Some(value);
            }
        }
        for set in [&comparison.removed, &comparison.modified] {
            for (path, value) in self.live.values_at(set) {
                fields.entry(path).or_default().1 = Some(value);
            }
        }
        let differences = fields.into_iter().map(|(path, (desired, live))| Difference {
            cause: self.cause(&path, desired.is_some()),
            path,
            desired: desired.map(|value| deep_clone(value).into()),
            live: live.map(|value| deep_clone(value).into()),
        });
        differences.collect()
    }

    fn cause(&self, path: &OwnedPath, is_desired: bool) -> Cause {
        let mut names = path.elements().iter().map_while(|element| match element.kind() {
            PathElementKind::Field(name) => Some(name),
            _ => None,
        });
        match (names.next(), names.next(), names.next()) {
            (Some("status"), ..) if self.kind.has_status => Cause::Status,
            (Some("metadata"), Some(name), _) if is_of_server(name) => Cause::Metadata,
            // The namespace is that of the request, if there is one.
            (Some("metadata"), Some("namespace"), None)
                if !is_desired || !self.kind.is_namespaced =>
            {
                Cause::Metadata
            }
            // What the manifest says itself is what is wanted.
            _ if is_desired && !self.changes.defaults.covers(path.elements()) => Cause::Real,
            _ => self.owners.cause_of(path),
        }
    }

    /// The differences that decoding takes away, without those below one another.
    fn by_decoding(&self, found: &[Difference]) -> Vec<Difference> {
        let found: FieldSet = found.iter().map(|difference| difference.path.clone()).collect();
        let changes = self.changes.by_path.iter();
        // An object that is set says nothing beside what differs in it.
        let is_new_object = |change: &Change| {
            change.before().is_none() && change.after().is_some_and(Value::is_object)
        };
        // Annotations that a kind sets by default are taken out before (BK-304).
        let annotations = ["metadata", "annotations"].map(PathElement::field);
        let is_annotation = |path: &[PathElement], change: &Change| {
            path.starts_with(&annotations) && change.kind() == ChangeKind::Defaulted
        };
        let changes = changes.filter(|(path, sided)| {
            let path = path.elements();
            !(found.covers(path)
                || is_new_object(sided.change) && found.touches(path)
                || is_annotation(path, sided.change))
        });
        let mut above: &[PathElement] = &[];
        let topmost = changes.filter(|(path, _)| {
            let is_below = !above.is_empty() && path.elements().starts_with(above);
            above = if is_below { above } else { path.elements() };
            !is_below
        });
        let topmost: Vec<_> = topmost.collect();
        let set: FieldSet = topmost.iter().map(|(path, _)| (*path).clone()).collect();
        let decoded = |object: TypedValue<'_>| -> BTreeMap<OwnedPath, DeepValue> {
            let values = object.values_at(&set).into_iter();
            values.map(|(path, value)| (path, deep_clone(value).into())).collect()
        };
        let (mut desired, mut live) = (decoded(self.desired), decoded(self.live));
        let status = [PathElement::field("status")];
        let differences = topmost.into_iter().map(|(path, Sided { change, is_of_live })| {
            let before = change.before().map(|value| deep_clone(value).into());
            // In lists without keys both objects have what the change made.
            let is_position = |step: &PathElement| matches!(step.kind(), PathElementKind::Index(_));
            let is_listed = path.elements().iter().any(is_position);
            let after = change.after().filter(|_| is_listed);
            let after = || after.map(|value| deep_clone(value).into());
            let (desired, live) = match is_of_live {
                true => (desired.remove(path).or_else(after), before),
                false => (before, live.remove(path).or_else(after)),
            };
            let is_status = self.kind.has_status && path.elements().starts_with(&status);
            let of_server = || Cause::Server {
                kind: change.kind(),
                reason: change.reason().clone(),
                schema_path: change.schema_path().clone(),
            };
            let cause = if is_status { Cause::Status } else { of_server() };
            Difference { path: path.clone(), desired, live, cause }
        });
        differences.collect()
    }
}

/// Whether a field of metadata is set by servers only.
fn is_of_server(name: &str) -> bool {
    const SERVER: [&str; 8] = [
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    SERVER.contains(&name)
}

fn set_generation(object: &mut Value, generation: Option<i64>) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    match generation {
        Some(generation) => metadata.insert("generation".to_owned(), generation.into()),
        None => metadata.remove("generation"),
    };
}

/// The difference that is an annotation of servers and clients themselves, if there is one.
fn of_annotation(name: &str, desired: Option<Value>, live: Option<Value>) -> Option<Difference> {
    let [desired, live] = [desired, live].map(|annotation| annotation.map(DeepValue::from));
    let path = ["metadata", "annotations", name].map(PathElement::field);
    (desired != live).then(|| Difference {
        path: path.to_vec().into(),
        desired,
        live,
        cause: Cause::Metadata,
    })
}
