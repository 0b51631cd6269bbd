//! Laws of applies and updates by several managers.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::{TypedRecord as _, declared_json};
use billhook_apimachinery::value::DeepValue;
use billhook_apply::{
    Duplicates, FieldSet, ManagedFields, ManagedFieldsOperation, ManagerEntry, MergeError,
    MergeSchema,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{live, object, schema, set};
use crate::world::{V1, V2, World, typed};

#[derive(Clone, Debug)]
enum Step {
    Apply { manager: &'static str, config: Value, force: bool },
    Update { manager: &'static str, object: Value },
}

fn step() -> impl Strategy<Value = Step> {
    let manager = || proptest::sample::select(&["a", "b", "c"][..]);
    prop_oneof![
        3 => (manager(), object(), any::<bool>())
            .prop_map(|(manager, config, force)| Step::Apply { manager, config, force }),
        1 => (manager(), object()).prop_map(|(manager, object)| Step::Update { manager, object }),
    ]
}

fn world(steps: &[Step]) -> World {
    let mut world = World::new();
    for step in steps {
        take(&mut world, step);
    }
    world
}

/// Returns whether the step succeeds.
fn take(world: &mut World, step: &Step) -> bool {
    match step {
        Step::Apply { manager, config, force } => world.apply(manager, config, *force).is_ok(),
        Step::Update { manager, object } => {
            world.update(manager, object);
            true
        }
    }
}

fn fields_of(
    managed: &ManagedFields,
    manager: &str,
    operation: ManagedFieldsOperation,
) -> FieldSet {
    let is_own = |entry: &&ManagerEntry| entry.manager == manager && entry.operation == operation;
    managed.entries().find(is_own).map(ManagerEntry::fields).unwrap_or_default()
}

fn owned(managed: &ManagedFields) -> FieldSet {
    managed.entries().fold(FieldSet::default(), |all, entry| all.union(&entry.fields()))
}

/// The fields of the objects here that cannot be owned (SA-35).
fn never_owned() -> FieldSet {
    set(&json!({"f:apiVersion": {}, "f:kind": {}, "f:metadata": {".": {}, "f:name": {}}}))
}

/// An object with a key in each set of its managed fields that is ignored (SA-24).
fn with_other_keys(object: &Value) -> Value {
    let mut object = object.clone();
    let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten() {
        entry["fieldsV1"]["x:"] = json!({});
    }
    object
}

/// An object with a field of another version that is owned, unless nothing is owned.
fn with_other_version(object: &Value) -> Value {
    let mut object = object.clone();
    let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
    entries.into_iter().for_each(|entries| {
        entries.push(json!({"manager": "other", "operation": "Apply", "apiVersion": V2,
            "fieldsType": "FieldsV1", "fieldsV1": {"f:absent": {}}}));
    });
    object
}

fn without_other_version(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata")
        && let Some(Value::Array(entries)) = metadata.get_mut("managedFields")
    {
        entries.retain(|entry| entry["apiVersion"] == V1);
        if entries.is_empty() {
            metadata.remove("managedFields");
        }
    }
    object
}

/// All paths of an object, those of its containers included.
fn all_paths(schema: &MergeSchema, object: &Value) -> FieldSet {
    let (value, nothing) = (live(schema, object), json!({}));
    live(schema, &nothing).compare(value).added.union(&value.field_set())
}

/// A value without nulls and without containers that hold nothing.
fn content(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(members) => {
            let kept =
                members.iter().filter_map(|(name, value)| Some((name.clone(), content(value)?)));
            let kept: serde_json::Map<_, _> = kept.collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let mut kept: Vec<Value> = items.iter().filter_map(content).collect();
            // An apply may reorder lists (SA-71).
            kept.sort_by_key(ToString::to_string);
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        scalar => Some(scalar.clone()),
    }
}

/// Removes the empty lists of a value.
fn remove_empty_lists(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_empty_lists),
        Value::Object(members) => {
            members.values_mut().for_each(remove_empty_lists);
            members.retain(|_, member| *member != json!([]));
        }
        _ => {}
    }
}

/// The object of an apply, word for word as SA-73 says: all that the manager owned is taken out,
/// what any manager owns comes back, and what is missing then was the manager's alone. None if an
/// object on the way is not of the schema.
fn pruned(
    schema: &MergeSchema,
    merged: &Value,
    last: &FieldSet,
    owned: &FieldSet,
) -> Option<Value> {
    let all = |object: &Value| {
        let typed = schema.check(object, Duplicates::Allowed).ok()?;
        Some(schema.closure(&typed.field_set()))
    };
    let (last, present) = (schema.closure(last), all(merged)?);
    let typed = live(schema, merged);
    let pruned = typed.remove(&last);
    let gone = present.difference(&all(&pruned)?.union(&schema.closure(owned)));
    let pruned = typed.remove(&gone);
    let gone = present.difference(&all(&pruned)?).intersection(&last);
    Some(typed.remove(&gone).into_inner())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Who applies nothing but empty lists owns nothing (SA-26), and without owners the second
    /// apply finds an object from before the first one.
    #[test]
    fn the_same_apply_again_changes_nothing(steps in vec(step(), 0..5), config in object()) {
        let mut owned = config.clone();
        // Nobody owns a name (SA-35).
        owned["metadata"].as_object_mut().map(|metadata| metadata.remove("name"));
        prop_assume!(content(&owned).is_some());
        let mut world = world(&steps);
        world.apply("m", &config, true).unwrap();
        let before = (world.live.clone(), world.entries());
        world.apply("m", &config, false).unwrap();
        prop_assert_eq!((world.live.clone(), world.entries()), before);
    }

    /// Entries that are written in another way are read; where they are not, the outcome is the
    /// same, also if it is an error. So it is if a field of another version is owned, which
    /// goes through all versions, except for what holds empty lists only: they are no fields (SA-26),
    /// so the other version does not see that it is still there (SA-73).
    #[test]
    fn all_ways_of_an_apply_lead_to_the_same(
        steps in vec(step(), 1..6),
        config in object(),
        manager in proptest::sample::select(&["a", "b", "c"][..]),
        force in any::<bool>(),
    ) {
        let world = world(&steps);
        let configs = steps.iter().map(|step| match step {
            Step::Apply { config, .. } => config,
            Step::Update { object, .. } => object,
        });
        for config in configs.chain([&config]) {
            let (stored, config) = (world.stored(), typed(config, V1));
            let manager = world.manager(manager, "2026-01-01T01:00:00Z");
            let mut applied = stored.clone();
            let outcome = manager.apply(&mut applied, &config, force);
            let has_empty_lists = [&config, &*stored].into_iter().any(|object| {
                let mut without = object.clone();
                remove_empty_lists(&mut without);
                without != *object
            });
            let other_version = (!has_empty_lists).then(|| with_other_version(&stored));
            let others = [with_other_keys(&stored)].into_iter().chain(other_version);
            for before in others.map(DeepValue::from) {
                let mut after = before.clone();
                let again = manager.apply(&mut after, &config, force);
                // What an apply leaves may not be valid in the other version.
                if matches!(again, Err(MergeError::Conversion { .. })) {
                    continue;
                }
                prop_assert_eq!(&again, &outcome);
                match &outcome {
                    Ok(_) => prop_assert_eq!(&without_other_version(&after), &*applied),
                    Err(_) => prop_assert_eq!((&after, &applied), (&before, &stored)),
                }
            }
        }
    }

    /// An update makes the same of entries that are left as they are written as of those that are read.
    #[test]
    fn updates_need_not_read_the_entries(steps in vec(step(), 1..6), object in object()) {
        let world = world(&steps);
        let (stored, new) = (world.stored(), typed(&object, V1));
        let mut old = stored.clone();
        ManagedFields::default().write_to(&mut old);
        let manager = world.manager("a", "2026-02-01T00:00:00Z");
        for before in [stored.clone(), with_other_keys(&stored).into()] {
            let read = ManagedFields::of(&before).unwrap();
            let entries = before.pointer("/metadata/managedFields").cloned().unwrap_or_default().into();
            let [left, read] = [manager.entries(entries).unwrap(), read].map(|entries| {
                let mut written = new.clone();
                manager.update(entries, &old, &new).unwrap().write_to(&mut written);
                written
            });
            prop_assert_eq!(left, read);
        }
    }

    /// A creation makes the entries that an update of the empty object makes.
    #[test]
    fn creations_are_updates_of_nothing(
        empty in prop_oneof![Just(json!({})), object()],
        new in object(),
        subresource in proptest::sample::select(&["", "status"][..]),
    ) {
        let world = World::new();
        let (empty, new) = (typed(&empty, V1), typed(&new, V1));
        let manager = world.manager("a", "2026-02-01T00:00:00Z").subresource(subresource);
        let created = manager.creation(&new, Some(&empty));
        let updated = manager.update(ManagedFields::default(), &empty, &new);
        prop_assert_eq!(&created, &updated);
        let json = |managed: Result<ManagedFields, _>| managed.map(|managed| managed.to_json());
        prop_assert_eq!(json(created), json(updated));
    }

    /// Entries are printed as the value that is made of them is.
    #[test]
    fn entries_have_one_text(steps in vec(step(), 1..7)) {
        let world = world(&steps);
        let stored = world.stored();
        let [metadata, entries] = ["/metadata", "/metadata/managedFields"].map(|place| stored.pointer(place));
        let is_current = world.manager("a", "2026-02-01T00:00:00Z");
        for managed in [
            world.managed.clone(),
            is_current.entries(entries.cloned().unwrap_or_default().into()).unwrap(),
        ] {
            let json = entries.map_or("[]".to_owned(), compact_json);
            prop_assert_eq!(managed.to_json(), json);
            let only = json!({"managedFields": metadata.and_then(|it| it.get("managedFields"))});
            let declared = match entries {
                Some(_) => declared_json(&only, ObjectMeta::record()),
                None => r#"{"managedFields":[]}"#.to_owned(),
            };
            let text = managed.to_declared_json();
            prop_assert_eq!(format!(r#"{{"managedFields":{text}}}"#), declared);
        }
    }

    /// But for a map that its owner empties: it goes if nothing else than empty lists is left in it,
    /// which count as nothing (SA-26, SA-73).
    #[test]
    fn nobody_owns_what_is_absent(mut steps in vec(step(), 1..7)) {
        for step in &mut steps {
            let (Step::Apply { config: object, .. } | Step::Update { object, .. }) = step;
            remove_empty_lists(object);
        }
        let world = world(&steps);
        let Some(object) = &world.live else { return Ok(()) };
        let paths = all_paths(&world.definition.0[V1], object);
        for entry in world.managed.entries() {
            prop_assert_eq!(entry.fields().difference(&paths), FieldSet::default());
        }
    }

    /// Who applies owns just what the configuration has (SA-72); who updates owns what changes
    /// (SA-54). All other fields of the object that any manager owned keep an owner, unless the one who
    /// applies gives them up.
    #[test]
    fn the_sets_of_all_managers_cover_what_managers_own(steps in vec(step(), 1..7)) {
        let (schema, mut world) = (schema(), World::new());
        for step in &steps {
            let (entries, before) = (world.managed.clone(), world.live.clone());
            if !take(&mut world, step) {
                continue;
            }
            let after = world.live.clone().unwrap();
            let after = live(&schema, &after);
            let given_up = match step {
                Step::Apply { manager, config, .. } => {
                    let config = typed(config, V1);
                    let applied = live(&schema, &config).field_set().difference(&never_owned());
                    let last = fields_of(&entries, manager, ManagedFieldsOperation::Apply);
                    prop_assert_eq!(fields_of(&world.managed, manager, ManagedFieldsOperation::Apply), applied.clone());
                    last.difference(&applied)
                }
                Step::Update { manager, .. } => {
                    let before = before.unwrap_or_else(|| typed(&json!({}), V1));
                    let changes = live(&schema, &before).compare(after);
                    let changed = changes.modified.union(&changes.added).difference(&never_owned());
                    let own = fields_of(&world.managed, manager, ManagedFieldsOperation::Update);
                    prop_assert!(changed.is_subset(&own));
                    FieldSet::default()
                }
            };
            let kept = owned(&entries).intersection(&after.field_set()).difference(&given_up);
            prop_assert!(kept.is_subset(&owned(&world.managed)));
        }
    }

    #[test]
    fn an_apply_and_its_removal_leave_what_was_there(before in object(), config in object()) {
        let mut world = World::new();
        world.update("u", &before);
        if world.apply("m", &config, false).is_err() {
            return Ok(());
        }
        world.apply("m", &json!({}), false).unwrap();
        let after = world.live.as_ref().and_then(content);
        prop_assert_eq!(after.unwrap()["spec"].clone(), content(&before).unwrap_or_default()["spec"].clone());
        prop_assert!(world.managed.entries().all(|entry| entry.manager == "u"));
    }

    #[test]
    fn what_nobody_applies_any_more_is_removed_as_the_rule_says(
        steps in vec(step(), 1..7),
        config in object(),
        manager in proptest::sample::select(&["a", "b", "c"][..]),
    ) {
        let mut world = world(&steps);
        let last = fields_of(&world.managed, manager, ManagedFieldsOperation::Apply);
        let Some(before) = world.live.clone().filter(|_| !last.is_empty()) else { return Ok(()) };
        let is_own = |entry: &&ManagerEntry| {
            entry.manager == manager && entry.operation == ManagedFieldsOperation::Apply
        };
        let others = world.managed.entries().filter(|entry| !is_own(entry));
        let others = others.fold(FieldSet::default(), |all, entry| all.union(&entry.fields()));

        let schema = schema();
        let applied = typed(&config, V1);
        let owned = others.union(&live(&schema, &applied).field_set());
        let merged = live(&schema, &before).merge(live(&schema, &applied));
        let Some(expected) = pruned(&schema, &merged, &last, &owned) else { return Ok(()) };
        world.apply(manager, &config, true).unwrap();
        prop_assert_eq!(world.live, Some(expected));
    }

    #[test]
    fn conflicts_after_force_are_about_what_the_forcer_owns(own in object(), other in object()) {
        let mut world = World::new();
        world.apply("a", &own, false).unwrap();
        world.apply("b", &other, true).unwrap();
        let fields_of = |name| fields_of(&world.managed, name, ManagedFieldsOperation::Apply);
        let (last, others) = (fields_of("a"), fields_of("b"));
        let (schema, before, applied) = (schema(), world.live.clone().unwrap(), typed(&own, V1));
        let (object, config) = (live(&schema, &before), live(&schema, &applied));
        let merged = object.merge(config);
        let result = match last.is_empty() {
            true => Some(merged.into_inner()),
            false => pruned(&schema, &merged, &last, &others.union(&config.field_set())),
        };
        let Some(result) = result else { return Ok(()) };
        let Ok(result) = schema.check(&result, Duplicates::Allowed) else { return Ok(()) };
        let changes = object.compare(result);
        let expected = others.intersection(&changes.modified.union(&changes.added));
        match world.apply("a", &own, false) {
            Ok(()) => prop_assert!(expected.is_empty()),
            Err(MergeError::Conflicts(conflicts)) => {
                let [conflict] = conflicts.conflicts() else { panic!("one manager") };
                prop_assert_eq!(&*conflict.owner.manager, "b");
                prop_assert_eq!(&conflict.fields, &expected);
            }
            Err(other) => panic!("{other}"),
        }
        // With force there is nothing left to conflict about.
        world.apply("a", &own, true).unwrap();
        world.apply("a", &own, false).unwrap();
    }
}
