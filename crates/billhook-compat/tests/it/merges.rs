//! Proofs about server-side apply are attacked: managers apply configurations under both definitions.

use billhook::{CrdVersion, DeepValue, FieldValidation};
use billhook_generation::{Hints, Oracle, changes, sample_object};
use serde_json::Value;

use crate::operators::Random;
use crate::requests::{apply, read, written};

/// How many configurations are kept to be applied after others.
const KEPT: usize = 8;

/// Looks for configurations that the two definitions merge otherwise.
pub(crate) fn attack_merges(before: &CrdVersion, after: &CrdVersion, objects: usize, label: &str) {
    if objects == 0 || defaults(before) != defaults(after) {
        return;
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for version in [before, after] {
        let schema = version.open_api_v3_schema().unwrap();
        let oracle = Oracle::new(before.clone(), &schema);
        let sample = sample_object(version, &schema);
        let Some(mut object) = oracle.valid_near(&sample, &|_| true) else { continue };
        let first = Config::new(before, after, object.clone());
        let (mut kept, mut tried): (Vec<Config>, usize) = (vec![first], 0);
        while tried < objects {
            let near = changes(&schema, &object, &Hints::default());
            if near.is_empty() {
                break;
            }
            let begin = random.below(near.len());
            for changed in near.iter().cycle().skip(begin).take(near.len().min(objects - tried)) {
                tried += 1;
                if !is_written_alike(before, after, changed) {
                    continue;
                }
                let other = &kept[random.below(kept.len())];
                let changed = Config::new(before, after, changed.clone());
                for (first, second) in [(&changed, other), (other, &changed)] {
                    merges_alike(before, after, (first, &second.object), label);
                }
                if kept.len() == KEPT {
                    kept.remove(random.below(KEPT));
                }
                kept.push(changed);
            }
            object = kept[random.below(kept.len())].object.clone();
        }
    }
}

/// The defaults of a schema, in order; others change merged objects, whatever their owners.
fn defaults(version: &CrdVersion) -> Vec<Value> {
    fn collect(schema: &Value, found: &mut Vec<Value>) {
        found.extend(schema.get("default").filter(|_| schema.get("type").is_some()).cloned());
        let parts: Vec<&Value> = match schema {
            Value::Object(members) => members.values().collect(),
            Value::Array(items) => items.iter().collect(),
            _ => Vec::new(),
        };
        parts.into_iter().for_each(|part| collect(part, found));
    }
    let mut found = Vec::new();
    collect(&version.open_api_v3_schema().unwrap(), &mut found);
    found
}

fn is_written_alike(before: &CrdVersion, after: &CrdVersion, object: &Value) -> bool {
    let stored = written(before, object, FieldValidation::Strict);
    stored.is_some() && stored == written(after, object, FieldValidation::Ignore)
}

/// A configuration, and what it makes where nothing is: of the whole object, and of its status if that
/// is apart, under each of the definitions.
struct Config {
    object: Value,
    made: Vec<(&'static str, Option<(DeepValue, DeepValue)>)>,
}

impl Config {
    fn new(before: &CrdVersion, after: &CrdVersion, object: Value) -> Self {
        let has_status = before.has_status_subresource() && after.has_status_subresource();
        let begin = |version: &CrdVersion, part: &str| {
            let created = apply(version, ("one", ""), &object, None, true)?;
            let applied = match part {
                "" => created,
                part => apply(version, ("one", part), &object, Some(&created), true)?,
            };
            read(version, &applied)
        };
        let parts = ["", "status"].into_iter().take(1 + usize::from(has_status));
        let made = parts.map(|part| (part, begin(before, part).zip(begin(after, part)))).collect();
        Config { object, made }
    }
}

/// The configuration of a second manager, and then that of the first one in place of its own, have
/// the same result, with the same owners; also if the first configuration was applied before the
/// definition changed.
fn merges_alike(
    before: &CrdVersion,
    after: &CrdVersion,
    (first, second): (&Config, &Value),
    label: &str,
) {
    for (part, made) in &first.made {
        let Some((old, new)) = made else { continue };
        let go_on = |version: &CrdVersion, live: &DeepValue| {
            let free = apply(version, ("two", part), second, Some(live), false);
            let is_free = free.is_some();
            // Without a conflict, force changes nothing.
            let both = free.or_else(|| apply(version, ("two", part), second, Some(live), true));
            let last = both
                .as_ref()
                .and_then(|both| apply(version, ("one", part), second, Some(both), true));
            (is_free, both, last)
        };
        let is_usual = |it: &Option<DeepValue>| {
            it.as_ref().is_none_or(|it| is_written_alike(before, after, it))
        };
        let expected = go_on(before, old);
        if !is_usual(&expected.1) || !is_usual(&expected.2) {
            continue;
        }
        let context = || format!("{label}: not merged alike: {} and {second} {part}", first.object);
        assert_eq!(old, new, "{}", context());
        assert_eq!(expected, go_on(after, new), "{}", context());
        let handed_over = read(after, old).unwrap();
        if handed_over != *new {
            assert_eq!(expected, go_on(after, &handed_over), "handed over, {}", context());
        }
    }
}
