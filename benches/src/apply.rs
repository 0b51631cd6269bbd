//! The input of the benchmarks of server-side apply.

use billhook::{DeepValue, FieldManagement, Time};
use serde_json::Value;

use crate::input::Document;

const MANAGERS: [&str; 5] = ["m0", "m1", "m2", "m3", "m4"];

/// An object that five managers apply, of which the first owns everything.
#[derive(Debug)]
pub struct ManagedObject {
    /// The time of the requests.
    pub now: Time,
    /// The configuration of the first manager.
    pub configuration: Value,
    /// The same with every tenth string of the specification changed.
    pub changed: Value,
    /// The same with another label.
    pub with_more: Value,
    /// The same without a member of the specification.
    pub with_less: Value,
    /// The object as it is stored.
    pub live: DeepValue,
}

impl ManagedObject {
    /// Makes the object of a document.
    pub fn of(document: &Document) -> Self {
        let now = Time::parse("2026-01-01T00:00:00Z").unwrap();
        let configuration = configuration(&document.decoded());
        let mut live = None;
        for (index, manager) in MANAGERS.iter().enumerate() {
            let part =
                if index == 0 { configuration.clone() } else { share(&configuration, index) };
            let fields = FieldManagement::new(&document.kind.version, manager, now);
            live = Some(fields.apply(&part, live.as_ref(), true).unwrap());
        }
        let mut changed = configuration.clone();
        change(&mut changed["spec"], &mut 0);
        let (mut with_more, mut with_less) = (configuration.clone(), configuration.clone());
        with_more["metadata"]["labels"]["example.com/another"] = "x".into();
        let spec = with_less["spec"].as_object_mut().unwrap();
        let first = spec.keys().next().unwrap().clone();
        spec.remove(&first);
        ManagedObject { now, configuration, changed, with_more, with_less, live: live.unwrap() }
    }

    /// The name of the first manager.
    pub fn manager(&self) -> &'static str {
        MANAGERS[0]
    }
}

/// A configuration as clients write it, without what only servers write.
pub fn configuration(object: &Value) -> Value {
    let mut config = object.clone();
    if let Some(members) = config.as_object_mut() {
        members.remove("status");
    }
    if let Some(metadata) = config["metadata"].as_object_mut() {
        metadata
            .retain(|name, _| ["name", "namespace", "labels", "annotations"].contains(&&**name));
    }
    config
}

/// The members of `spec` that a manager besides the first applies: every fourth.
fn share(object: &Value, manager: usize) -> Value {
    let mut config = object.clone();
    if let Some(spec) = config["spec"].as_object_mut() {
        let mut position = 0;
        spec.retain(|_, _| {
            position += 1;
            position % 4 == manager % 4
        });
    }
    config
}

/// Changes every tenth string below a value.
fn change(value: &mut Value, count: &mut usize) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| change(item, count)),
        Value::Object(members) => {
            members
                .iter_mut()
                .filter(|(name, _)| *name != "name")
                .for_each(|(_, member)| change(member, count));
        }
        Value::String(text) => {
            *count += 1;
            if count.is_multiple_of(10) {
                text.push('x');
            }
        }
        _ => {}
    }
}
