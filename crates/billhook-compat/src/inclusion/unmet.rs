//! The keywords of a schema that do not follow from what is known of a value.

use billhook_apimachinery::value::deep_clone;
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::SchemaOrBool;
use serde_json::{Value, json};

use super::attempt::Unmet;
use super::entries::Entries;
use super::known::Known;
use super::{Kinds, Prover, numbers};

impl<'s> Prover<'s> {
    /// The keywords of a schema itself, without the schemas in it, that are not known to be kept by
    /// a value that is not null.
    pub(super) fn unmet(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> Vec<Unmet> {
        let mut found = Vec::new();
        let wrong = known.kinds.without(self.kinds_of(target));
        if !wrong.is_empty() {
            let mut values = wrong.values();
            let object = json!({"key0": 1});
            if wrong.include(Kinds::ARRAY) {
                values.push(json!([object]));
            }
            if wrong.include(Kinds::OBJECT) {
                values.push(object);
            }
            if wrong.include(Kinds::FRACTION) {
                let bounds = known.holds.iter();
                let bounds = bounds.flat_map(|held| [held.minimum, held.maximum]).flatten();
                values.extend(bounds.flat_map(|bound| [bound + 0.5, bound - 0.5]).map(Value::from));
            }
            found.push(Unmet::new("type", values));
        }
        unmet_enum(known, target, &mut found);
        numbers::unmet(known, target, &mut found);
        self.unmet_texts(known, target, &mut found);
        unmet_lists(known, target, &mut found);
        unmet_members(known, target, &mut found);
        found
    }
}

fn unmet_enum(known: &Known<'_>, target: &JsonSchemaProps, found: &mut Vec<Unmet>) {
    if target.enum_.is_empty() {
        return;
    }
    let admitted = Entries::new(target.enum_.iter().map(|entry| &**entry));
    let is_admitted = |entry: &Value| admitted.contain(entry);
    let Some(entries) = known.enumeration() else {
        let mut values = known.kinds.values();
        values.extend([json!("other"), json!(-1), json!(12_345), json!(false)]);
        let samples = known.holds.iter().filter(|held| !held.pattern.is_empty());
        let samples =
            samples.filter_map(|held| billhook_generation::text_of_pattern(&held.pattern, 0, 0));
        values.extend(samples.map(Value::from));
        return found.push(Unmet::new("enum", values));
    };
    // What is admitted by any of the enums together would be enough.
    let wrong: Vec<Value> = entries.filter(|it| !is_admitted(it)).map(deep_clone).collect();
    let is_held = known
        .holds
        .iter()
        .any(|held| !held.enum_.is_empty() && held.enum_.iter().all(|entry| is_admitted(entry)));
    if !is_held {
        found.push(Unmet::new("enum", wrong));
    }
}

fn unmet_lists(known: &Known<'_>, target: &JsonSchemaProps, found: &mut Vec<Unmet>) {
    if !known.kinds.include(Kinds::ARRAY) {
        return;
    }
    let most = known.at_most(|it| it.max_items);
    if target.min_items.is_some_and(|wanted| known.at_least(|it| it.min_items) < wanted) {
        found.push(Unmet::new("minItems", Vec::new()));
    }
    if target.max_items.is_some_and(|wanted| most.is_none_or(|held| held > wanted)) {
        found.push(Unmet::new("maxItems", Vec::new()));
    }
    let is_single = most.is_some_and(|most| most <= 1);
    if target.unique_items && !is_single && !known.holds.iter().any(|held| held.unique_items) {
        found.push(Unmet::new("uniqueItems", Vec::new()));
    }
}

fn unmet_members(known: &Known<'_>, target: &JsonSchemaProps, found: &mut Vec<Unmet>) {
    if !known.kinds.include(Kinds::OBJECT) {
        return;
    }
    let least = known.at_least(|it| it.min_properties).max(known.required_count() as i64);
    if target.min_properties.is_some_and(|wanted| least < wanted) {
        found.push(Unmet::new("minProperties", Vec::new()));
    }
    let listed = known.names().map(|names| names.len() as i64);
    let most = known.at_most(|it| it.max_properties).into_iter().chain(listed).min();
    if target.max_properties.is_some_and(|wanted| most.is_none_or(|held| held > wanted)) {
        found.push(Unmet::new("maxProperties", Vec::new()));
    }
    for name in target.required.iter().flatten() {
        if !known.requires(name) {
            found.push(Unmet::new("required", vec![name.as_str().into()]));
        }
    }
    if let Some(SchemaOrBool::Bool(false)) = target.additional_properties {
        let is_listed = |name: &&str| target.property(name).is_some();
        if !known.names().is_some_and(|names| names.iter().all(is_listed)) {
            found.push(Unmet::new("additionalProperties", Vec::new()));
        }
    }
}

/// Whether one schema distinguishes all elements that the list type of another one, the first, distinguishes
/// (VV-40 to VV-44).
pub(super) fn has_unique_keys(from: &JsonSchemaProps, to: &JsonSchemaProps) -> bool {
    match (from.list_type.as_deref(), to.list_type.as_deref()) {
        (_, None | Some("atomic")) | (Some("set"), Some("set")) => true,
        (Some("map"), Some("map")) => {
            let keys = |schema: &JsonSchemaProps| schema.list_map_keys.clone().unwrap_or_default();
            let (held, wanted) = (keys(from), keys(to));
            // As one of several keys, `1.0` is the same as `1`.
            let is_text = |key: &String| {
                let part = from.items_schema().and_then(|items| items.property(key));
                part.is_some_and(|part| matches!(&*part.type_, "string" | "boolean"))
            };
            held.iter().all(|key| wanted.contains(key))
                && (held.len() > 1 || wanted.len() == 1 || held.iter().all(is_text))
        }
        _ => false,
    }
}

/// Whether elements have scalars as the keys by which a schema correlates them (VV-81); a format admits
/// lists (VV-12).
pub(super) fn has_scalar_keys(from: &JsonSchemaProps, to: &JsonSchemaProps) -> bool {
    to.list_map_keys.iter().flatten().all(|key| {
        let part = from.items_schema().and_then(|items| items.property(key));
        part.is_some_and(|part| match &*part.type_ {
            "string" => part.format.is_empty() && !part.nullable,
            type_ => ["integer", "number", "boolean"].contains(&type_) && !part.nullable,
        })
    })
}
