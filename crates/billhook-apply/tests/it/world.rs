//! One object, and managers that write it.

use std::collections::BTreeMap;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::DeepValue;
use billhook_apply::{
    ConversionError, FieldManager, FieldSet, ManagedFields, MergeError, MergeSchema, PathElement,
    Versions,
};
use serde_json::{Value, json};

use crate::support::schema;

pub(crate) const V1: &str = "example.com/v1";
pub(crate) const V2: &str = "example.com/v2";

/// Versions that differ in `apiVersion` only; `v1` has the status subresource.
pub(crate) struct Definition(pub(crate) BTreeMap<&'static str, MergeSchema>);

impl Versions for Definition {
    fn merge_schema(&self, api_version: &str) -> Option<&MergeSchema> {
        self.0.get(api_version)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<DeepValue, ConversionError> {
        let mut converted = object.clone();
        converted["apiVersion"] = json!(api_version);
        Ok(converted.into())
    }

    fn reset_fields(&self, api_version: &str, subresource: &str) -> FieldSet {
        let names: &[&str] = match subresource {
            "" if api_version == V1 => &["status"],
            "status" if api_version == V1 => &["metadata", "spec"],
            _ => &[],
        };
        let mut reset = FieldSet::default();
        names.iter().for_each(|name| reset.insert(&[PathElement::field(*name)]));
        reset
    }
}

/// The stored object without managed fields, the managed fields, and a clock.
pub(crate) struct World {
    pub(crate) definition: Definition,
    pub(crate) live: Option<Value>,
    pub(crate) managed: ManagedFields,
    pub(crate) seconds: u32,
}

impl World {
    pub(crate) fn new() -> Self {
        let definition = Definition(BTreeMap::from([(V1, schema()), (V2, schema())]));
        let (live, managed) = Default::default();
        World { definition, live, managed, seconds: 0 }
    }

    fn now(&mut self) -> Time {
        self.seconds += 1;
        let (minutes, seconds) = (self.seconds / 60, self.seconds % 60);
        Time::parse(&format!("2026-01-01T00:{minutes:02}:{seconds:02}Z")).unwrap()
    }

    fn start() -> Value {
        json!({"apiVersion": V1, "kind": "Foo"})
    }

    pub(crate) fn apply(
        &mut self,
        manager: &str,
        config: &Value,
        force: bool,
    ) -> Result<(), MergeError> {
        let config = typed(config, V1);
        let now = self.now();
        let manager = FieldManager::new(&self.definition, (V1, "Foo"), manager, now);
        let object = match &self.live {
            Some(_) => {
                let mut object = self.stored();
                manager.apply(&mut object, &config, force)?;
                object
            }
            None => manager.create(&config)?,
        };
        self.store(object);
        Ok(())
    }

    /// The field management of a manager at a time.
    pub(crate) fn manager<'a>(&'a self, name: &'a str, now: &str) -> FieldManager<'a> {
        FieldManager::new(&self.definition, (V1, "Foo"), name, Time::parse(now).unwrap())
    }

    fn store(&mut self, mut object: DeepValue) {
        self.managed = ManagedFields::of(&object).unwrap();
        ManagedFields::default().write_to(&mut object);
        let members = object.as_object_mut().unwrap();
        if members.get("metadata").is_some_and(|metadata| *metadata == json!({})) {
            members.remove("metadata");
        }
        self.live = Some(object.into_inner());
    }

    /// The stored object with its managed fields.
    pub(crate) fn stored(&self) -> DeepValue {
        let mut object = DeepValue::from(self.live.clone().unwrap_or_else(Self::start));
        self.managed.clone().write_to(&mut object);
        object
    }

    pub(crate) fn update(&mut self, manager: &str, object: &Value) {
        let object = typed(object, V1);
        let now = self.now();
        let old = self.live.clone().unwrap_or_else(Self::start);
        let manager = FieldManager::new(&self.definition, (V1, "Foo"), manager, now);
        self.managed = manager.update(self.managed.clone(), &old, &object).unwrap();
        self.live = Some(object);
    }

    /// The entries as they are written, without what is the same in all of them.
    pub(crate) fn entries(&self) -> Vec<String> {
        let mut object = json!({});
        self.managed.clone().write_to(&mut object);
        let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array).cloned();
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or("-").to_owned();
        let entries = entries.unwrap_or_default().into_iter().map(|entry| {
            let seconds = text(&entry, "time");
            let seconds = seconds.get(14..19).unwrap_or("-");
            let (manager, operation) = (text(&entry, "manager"), text(&entry, "operation"));
            format!("{manager} {operation} {seconds} {}", entry["fieldsV1"])
        });
        entries.collect()
    }
}

pub(crate) fn typed(object: &Value, api_version: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!("Foo");
    object
}
