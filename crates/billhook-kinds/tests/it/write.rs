//! Writes of objects, as a server makes them: read, prepared, validated.

use billhook_apimachinery::record::complete;
use billhook_apimachinery::{KubernetesVersion, UserInfo};
use billhook_kinds::{Findings, Kind, WriteContext};
use serde_json::Value;

/// The time of all writes.
const NOW: &str = "2026-01-02T03:04:05Z";

/// A write of an object.
#[derive(Default)]
pub(crate) struct Write<'w> {
    pub(crate) kubernetes: KubernetesVersion,
    pub(crate) subresource: &'w str,
    pub(crate) old: Option<&'w Value>,
}

impl Write<'_> {
    /// Returns the object as it would be stored, and what is found in it.
    pub(crate) fn of(&self, object: &Value) -> (Value, Findings) {
        let kind = kind_of(object);
        let (behavior, record) = (kind.behavior(), kind.record().unwrap());
        let user = UserInfo::default();
        let context = WriteContext::new(self.kubernetes, &user, NOW).subresource(self.subresource);
        let mut object = object.clone();
        behavior.read(&mut object, record, self.kubernetes).unwrap();
        behavior.prepare(&mut object, self.old, &context);
        complete(&mut object, record, self.kubernetes);
        let mut found = Findings::default();
        behavior.validate(&object, self.old, &context, &mut found);
        (object, found)
    }

    /// Returns the errors in an object.
    pub(crate) fn errors(&self, object: &Value) -> Vec<String> {
        let (_, found) = self.of(object);
        found.errors.iter().map(ToString::to_string).collect()
    }
}

fn kind_of(object: &Value) -> &'static Kind {
    let text = |name: &str| object[name].as_str().unwrap();
    Kind::named(text("apiVersion"), text("kind")).unwrap()
}

/// Returns the object that is stored after its creation.
pub(crate) fn created(object: &Value) -> Value {
    let (object, found) = Write::default().of(object);
    assert_eq!(found.errors, []);
    object
}

/// Asserts the errors in an object that is created.
#[track_caller]
pub(crate) fn check(object: &Value, errors: &[&str]) {
    assert_eq!(Write::default().errors(object), errors, "{object}");
}

/// Asserts the errors in an object that replaces another one.
#[track_caller]
pub(crate) fn check_update(old: &Value, object: &Value, errors: &[&str]) {
    let write = Write { old: Some(old), ..Write::default() };
    assert_eq!(write.errors(object), errors, "{object}");
}

/// Returns the object with a member changed.
pub(crate) fn with(object: &Value, place: &str, value: impl Into<Value>) -> Value {
    let mut object = object.clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[name] = value.into();
    object
}

/// Returns the cells of an object in tables.
pub(crate) fn cells(object: &Value) -> Vec<Value> {
    kind_of(object).behavior().cells(object, Default::default())
}
