//! Ownership of fields in requests: tracking of writes, and server-side apply (SA-50 to SA-64).

use std::fmt;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq};
use billhook_apply::{
    ConversionError, Duplicates, FieldManager, FieldSet, ManagedFields, ManagedFieldsError,
    MergeSchema, PathElement, TypeErrors, UpdateError, Versions,
};
use billhook_defaulting::LimitError;
use serde_json::{Map, Value, json};

use crate::crd::CrdVersion;
use crate::edition::StatusResets;

/// The conversion of objects to another version of their definition, given as `group/version`.
pub type ConvertFn<'a> = dyn Fn(&Value, &str) -> Result<DeepValue, ConversionError> + 'a;

/// The field management of one write: who makes it, to what, and when.
///
/// ```
/// use billhook::{CustomResourceDefinition, FieldManagement, Time};
/// use serde_json::json;
///
/// # let crd = CustomResourceDefinition::from_value(&json!({
/// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
/// #   "spec": {"group": "example.com", "scope": "Namespaced",
/// #     "names": {"plural": "foos", "kind": "Foo"},
/// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
/// #       {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
/// #         "properties": {"size": {"type": "integer"}}}}}}}]}}))?;
/// let v1 = crd.version("v1").unwrap();
/// let configuration = |size| json!({"apiVersion": "example.com/v1", "kind": "Foo",
///     "metadata": {"name": "x"}, "spec": {"size": size}});
/// let now = Time::parse("2026-01-01T00:00:00Z")?;
///
/// let live = FieldManagement::new(&v1, "a", now).apply(&configuration(1), None, false)?;
/// assert_eq!(live["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:spec": {"f:size": {}}}));
///
/// let other = FieldManagement::new(&v1, "b", now);
/// let refused = other.apply(&configuration(2), Some(&live), false).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     r#"Apply failed with 1 conflict: conflict with "a": .spec.size"#,
/// );
/// let forced = other.apply(&configuration(2), Some(&live), true)?;
/// assert_eq!(forced["spec"], json!({"size": 2}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FieldManagement<'a> {
    version: &'a CrdVersion,
    /// All versions of the definition.
    versions: Vec<CrdVersion>,
    manager: &'a str,
    subresource: &'a str,
    now: Time,
    convert: Option<&'a ConvertFn<'a>>,
    /// The fields that a write to the status leaves to their owners.
    status_resets: StatusResets,
    /// The fields that this write does not own, if they are others than those of custom resources.
    resets: Option<&'static [&'static str]>,
}

impl fmt::Debug for FieldManagement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldManagement")
            .field("version", &self.version.api_version())
            .field("manager", &self.manager)
            .field("subresource", &self.subresource)
            .finish_non_exhaustive()
    }
}

/// An apply that a server refuses; prints the message of the status.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The merge is refused, for instance because of conflicts.
    #[error(transparent)]
    Merge(#[from] billhook_apply::MergeError),
    /// The defaults of the result are too large.
    #[error(transparent)]
    Defaults(#[from] LimitError),
}

impl From<ManagedFieldsError> for ApplyError {
    fn from(error: ManagedFieldsError) -> Self {
        billhook_apply::MergeError::from(error).into()
    }
}

impl<'a> FieldManagement<'a> {
    /// Returns the field management of a manager that writes objects in a version.
    pub fn new(version: &'a CrdVersion, manager: &'a str, now: Time) -> Self {
        let versions = version.definition().versions().collect();
        let status_resets = version.status_resets();
        let (subresource, convert, resets) = ("", None, None);
        FieldManagement {
            version,
            versions,
            manager,
            subresource,
            now,
            convert,
            status_resets,
            resets,
        }
    }

    /// Returns the same for a write to a subresource.
    #[must_use]
    pub fn subresource(mut self, subresource: &'a str) -> Self {
        self.subresource = subresource;
        self
    }

    /// Returns the same for a write that does not own these fields, where they are others than those
    /// of custom resources (KV-83).
    #[must_use]
    pub fn resets(mut self, fields: &'static [&'static str]) -> Self {
        self.resets = Some(fields);
        self
    }

    /// Returns the same with a conversion other than that of the strategy None.
    #[must_use]
    pub fn convert(mut self, convert: &'a ConvertFn<'a>) -> Self {
        self.convert = Some(convert);
        self
    }

    /// Tracks a write other than an apply: sets the managed fields of a decoded object. `live` is
    /// the stored object as a read returns it, which it is again in the end; none for a creation.
    ///
    /// A write that cannot be tracked leaves no managed fields (SA-52).
    pub fn track(&self, object: &mut Value, live: Option<&mut DeepValue>) {
        let entries = self.entries_before(object, live.as_deref().map(|live| &**live));
        match live {
            Some(_) if entries.is_empty() => {}
            Some(live) => {
                ManagedFields::set_aside(live, |live| self.update(object, entries, live));
            }
            None => self.track_creation(object, entries, None),
        }
    }

    /// Returns the managed fields of a new object, which has none; none if it cannot be tracked (SA-52).
    /// The fields of `empty` have no owner, if it is given.
    pub fn creation(&self, object: &Value, empty: Option<&Value>) -> Option<ManagedFields> {
        let api_version = self.version.api_version();
        self.manager(&api_version).creation(object, empty).ok()
    }

    /// Tracks a creation that does not begin with nothing: the fields of `empty` have no owner.
    pub fn track_from(&self, object: &mut Value, empty: &Value) {
        let entries = self.entries_before(object, None);
        self.track_creation(object, entries, Some(empty));
    }

    /// Tracks a creation that begins with entries, and with nothing or an empty object.
    fn track_creation(&self, object: &mut Value, entries: ManagedFields, empty: Option<&Value>) {
        if entries.is_empty() {
            if let Some(managed) = self.creation(object, empty) {
                managed.write_to(object);
            }
            return;
        }
        let kind = self.version.definition().kind();
        let nothing = json!({"apiVersion": self.version.api_version(), "kind": kind});
        self.update(object, entries, empty.unwrap_or(&nothing));
    }

    /// Tracks the update of an old object; neither has managed fields.
    fn update(&self, object: &mut Value, entries: ManagedFields, old: &Value) {
        let api_version = self.version.api_version();
        write_tracked(self.manager(&api_version).update(entries, old, object), object);
    }

    /// Takes the managed fields out of an object, and returns the entries that tracking starts from
    /// (SA-51).
    fn entries_before(&self, object: &mut Value, live: Option<&Value>) -> ManagedFields {
        let api_version = self.version.api_version();
        let manager = self.manager(&api_version);
        let submitted = ManagedFields::take_out(object).unwrap_or_default();
        let of_live = live.and_then(|live| live.get("metadata")?.get("managedFields"));
        let read = |entries: DeepValue| manager.entries(entries).unwrap_or_default();
        let read_live =
            || of_live.map(|entries| read(deep_clone(entries).into())).unwrap_or_default();
        if of_live.is_some_and(|of_live| deep_eq(of_live, &submitted)) {
            return read(submitted);
        }
        if !self.subresource.is_empty() {
            return read_live();
        }
        if let Some([only]) = submitted.as_array().map(Vec::as_slice)
            && only.as_object().is_some_and(Map::is_empty)
        {
            return ManagedFields::default();
        }
        Some(read(submitted)).filter(|entries| !entries.is_empty()).unwrap_or_else(read_live)
    }

    /// Applies a configuration, which is decoded but neither pruned nor defaulted. `live` is the
    /// stored object as a read returns it; none for an object that does not exist yet. Returns the
    /// resulting object, with its managed fields, before admission and validation. That of a built-in
    /// kind does not have the defaults of the kind yet: `ObjectRequest::apply` of billhook-admission
    /// is the whole of an apply.
    ///
    /// # Errors
    ///
    /// If a server refuses the configuration, for instance because of conflicts.
    pub fn apply(
        &self,
        configuration: &Value,
        live: Option<&DeepValue>,
        force: bool,
    ) -> Result<DeepValue, ApplyError> {
        if let Some(live) = live {
            let mut object = live.clone();
            self.apply_to(&mut object, configuration, force)?;
            return Ok(object);
        }
        let mut object = self.manager(&self.version.api_version()).create(configuration)?;
        self.finish_apply(&mut object, configuration, true)?;
        Ok(object)
    }

    /// The same as [`apply`](Self::apply) for an object that exists, which becomes the resulting
    /// one. Returns whether anything changed except its managed fields and the annotation of kubectl
    /// (SA-76, SA-86).
    ///
    /// # Errors
    ///
    /// If a server refuses the configuration, for instance because of conflicts; the object stays as
    /// it is then, unless its defaults are too large.
    pub fn apply_to(
        &self,
        live: &mut DeepValue,
        configuration: &Value,
        force: bool,
    ) -> Result<bool, ApplyError> {
        let api_version = self.version.api_version();
        let is_changed = self.manager(&api_version).apply(live, configuration, force)?;
        self.finish_apply(live, configuration, is_changed)?;
        Ok(is_changed)
    }

    /// SA-61, steps 9 and 10.
    fn finish_apply(
        &self,
        object: &mut DeepValue,
        configuration: &Value,
        is_changed: bool,
    ) -> Result<(), LimitError> {
        let api_version = self.version.api_version();
        self.manager(&api_version).update_last_applied(object, configuration);
        match is_changed {
            true => self.version.apply_defaults(object, &mut ()),
            false => Ok(()),
        }
    }

    fn manager<'m>(&'m self, api_version: &'m str) -> FieldManager<'m> {
        let types = (api_version, self.version.definition().kind());
        FieldManager::new(self, types, self.manager, self.now).subresource(self.subresource)
    }

    fn version_of(&self, api_version: &str) -> Option<&CrdVersion> {
        let (group, name) = split_api_version(api_version);
        let is_of_group = group == self.version.definition().group();
        self.versions.iter().find(|version| is_of_group && version.name() == name)
    }
}

impl CrdVersion {
    /// Returns the fields that a manager owns who applies an object of this version (SA-26).
    ///
    /// # Errors
    ///
    /// If the object does not fit the merge types of the schema.
    pub fn field_set(&self, object: &Value) -> Result<FieldSet, TypeErrors> {
        let typed = self.merge_schema().check(object, Duplicates::Refused)?;
        Ok(typed.field_set())
    }
}

impl Versions for FieldManagement<'_> {
    fn merge_schema(&self, api_version: &str) -> Option<&MergeSchema> {
        self.version_of(api_version).map(CrdVersion::merge_schema)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<DeepValue, ConversionError> {
        let definition = self.version.definition();
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        if group != definition.group() {
            let (own, kind) = (self.version.api_version(), definition.kind());
            return Err(ConversionError::new(format!(
                "{own}, Kind={kind} is unstructured and is not suitable for converting to \
                 \"{api_version}\""
            )));
        }
        if self.version_of(api_version).is_none() {
            return Err(ConversionError::new(format!(
                "request to convert CR to an invalid group/version: {api_version}"
            )));
        }
        if let Some(convert) = self.convert {
            return convert(object, api_version);
        }
        let mut converted = DeepValue::from(deep_clone(object));
        if let Value::Object(members) = &mut *converted {
            members.insert("apiVersion".to_owned(), Value::from(api_version));
        }
        Ok(converted)
    }

    fn reset_fields(&self, api_version: &str, subresource: &str) -> FieldSet {
        let mut reset = FieldSet::default();
        let Some(version) = self.version_of(api_version) else { return reset };
        let is_own = version.name() == self.version.name();
        let of_status = self.status_resets;
        let names: &[&str] = match subresource {
            _ if !version.has_status_subresource() => &[],
            "" if is_own => self.resets.unwrap_or(&["status"]),
            "status" if is_own || !of_status.in_own_version => {
                self.resets.unwrap_or(of_status.fields)
            }
            _ if is_own => self.resets.unwrap_or_default(),
            _ => &[],
        };
        for name in names {
            reset.insert(&name.split('.').map(PathElement::field).collect::<Vec<_>>());
        }
        reset
    }
}

/// Writes the entries of a write to its object, which has none; they stay away if it cannot be tracked.
pub(crate) fn write_tracked(tracked: Result<ManagedFields, UpdateError>, object: &mut Value) {
    if let Ok(managed) = tracked {
        managed.write_to(object);
    }
}

/// Sets the times of managed fields back if nothing else changes in an object (SA-56). `live` is
/// the stored object as a read returns it.
pub fn keep_times_of_unchanged(object: &mut Value, live: &Value) {
    if !equals_except_managed_fields(object, live) {
        return;
    }
    let entries = |object: &Value| ManagedFields::of(object).unwrap_or_default();
    let (new, old) = (entries(object), entries(live));
    if !new.is_empty() && new.equals_except_times(&old) {
        old.write_to(object);
    }
}

fn equals_except_managed_fields(left: &Value, right: &Value) -> bool {
    equals_except(left, right, "metadata")
        && match (left.get("metadata"), right.get("metadata")) {
            (Some(left), Some(right)) => equals_except(left, right, "managedFields"),
            (left, right) => left == right,
        }
}

/// Whether two objects are equal except for one member.
fn equals_except(left: &Value, right: &Value, except: &str) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else { return false };
    let count =
        |members: &Map<String, Value>| members.len() - usize::from(members.contains_key(except));
    let same = |(name, left): (&String, &Value)| {
        name == except || right.get(name).is_some_and(|right| deep_eq(left, right))
    };
    count(left) == count(right) && left.iter().all(same)
}
