//! When an answer counts as the recorded one: identifiers, times and addresses are those of the
//! day, and some texts are those of the build.

use std::collections::BTreeSet;

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::{DeepValue, grow};
use billhook_decode::read_json;
use serde_json::{Map, Value};

use super::pointer::text;
use super::verdict::Verdict;
use crate::fuzz::same;

/// The length of the part of a generated name that is random.
const RANDOM: usize = 5;

/// Texts of the recorded server's build, and those of other builds. Its compiler has another
/// reader of JSON (docs/parity.md).
const OF_THE_BUILD: [(&str, &str); 1] =
    [("into Patch.0 of type jsonpatch.Operation", "into Go value of type jsonpatch.Operation")];

/// Compares what was recorded with what happened; what was not recorded does not count.
pub(super) fn verdict(mut expected: DeepValue, mut actual: DeepValue, webhooks: &str) -> Verdict {
    // The name of an object that was refused is that of its status.
    let prefix = text(&expected, "/body/details/name").strip_suffix("RANDOM").map(str::to_owned);
    for side in [&mut expected, &mut actual] {
        let generated = generated(side);
        normalize(side, &|text| {
            let text = text.replace(webhooks, "WEBHOOK");
            let text = match &prefix {
                Some(prefix) => without_random(&text, prefix),
                None => text,
            };
            match &generated {
                Some((name, recorded)) => text.replace(name, recorded),
                None => text,
            }
        });
    }
    if let (Value::Object(expected), Value::Object(actual)) = (&*expected, &mut *actual) {
        actual.retain(|name, _| expected.contains_key(name));
    }
    if same(&expected, &actual) {
        return Verdict::Passed;
    }
    let mut other_build = expected.clone();
    normalize(&mut other_build, &|text| {
        let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
        OF_THE_BUILD.into_iter().fold(text.to_owned(), replace)
    });
    if same(&other_build, &actual) {
        return Verdict::Explained;
    }
    let mut differences = Vec::new();
    compare(&expected, &actual, "", &mut differences);
    Verdict::Failed { differences }
}

/// Lists where two values differ, by JSON pointer.
fn compare(expected: &Value, actual: &Value, at: &str, differences: &mut Vec<String>) {
    let null = Value::Null;
    match (expected, actual) {
        (Value::Object(left), Value::Object(right)) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for name in names {
                let [left, right] = [left, right].map(|side| side.get(name).unwrap_or(&null));
                grow(|| compare(left, right, &format!("{at}/{name}"), differences));
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let [left, right] = [left, right].map(|side| side.get(index).unwrap_or(&null));
                grow(|| compare(left, right, &format!("{at}/{index}"), differences));
            }
        }
        _ if same(expected, actual) => {}
        _ => {
            let (expected, actual) = (plain_json(expected), plain_json(actual));
            differences.push(format!("{at}\n  expected {expected}\n  actual   {actual}"));
        }
    }
}

/// The generated name of the object in an answer.
fn generated(recorded: &Value) -> Option<(String, String)> {
    let prefix = text(recorded, "/body/metadata/generateName");
    let name = text(recorded, "/body/metadata/name");
    let is_generated = !prefix.is_empty()
        && name.strip_prefix(prefix).is_some_and(|suffix| suffix.len() == RANDOM);
    is_generated.then(|| (name.to_owned(), format!("{prefix}RANDOM")))
}

/// Replaces the random part of each generated name in a text.
fn without_random(text: &str, prefix: &str) -> String {
    let is_random = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut parts = text.split(prefix);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(prefix);
        match part.get(..RANDOM).filter(|start| start.chars().all(is_random)) {
            Some(start) => {
                out.push_str(&format!("RANDOM{}", part.strip_prefix(start).unwrap_or("")))
            }
            None => out.push_str(part),
        }
    }
    out
}

/// Sorts a list of type errors, of which a server finds those in a map in random order (SA-14).
fn in_order(text: String) -> String {
    let Some((start, errors)) = text.split_once("errors:\n") else { return text };
    let mut errors: Vec<&str> = errors.split('\n').collect();
    errors.sort_unstable();
    format!("{start}errors:\n{}", errors.join("\n"))
}

/// Replaces what differs from day to day in all texts, and leaves out what is not recorded.
fn normalize(value: &mut Value, rename: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = in_order(sent_object(times(&uids(&rename(text))))),
        Value::Array(items) => {
            grow(|| items.iter_mut().for_each(|item| normalize(item, rename)));
        }
        Value::Object(members) => {
            if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
                normalize_metadata(metadata);
            }
            grow(|| members.values_mut().for_each(|member| normalize(member, rename)));
        }
        _ => {}
    }
}

fn normalize_metadata(metadata: &mut Map<String, Value>) {
    metadata.remove("managedFields");
    metadata.remove("resourceVersion");
    if let Some(token) = metadata.get_mut("continue").filter(|token| **token != "") {
        *token = "CONTINUE".into();
    }
    for name in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(time) = metadata.get_mut(name).filter(|time| time.is_string()) {
            *time = "TIME".into();
        }
    }
}

/// A text about an object that a webhook sent, with the object as all servers print it: the recorded
/// webhook has another printer.
fn sent_object(text: String) -> String {
    let start = "Object 'Kind' is missing in '";
    let sent = text.strip_prefix(start).and_then(|rest| rest.strip_suffix('\''));
    match sent.map(|sent| read_json(sent.as_bytes())) {
        Some(Ok(document)) => format!("{start}{}'", plain_json(document.value())),
        _ => text,
    }
}

fn uids(text: &str) -> String {
    replace_shape(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "UID")
}

/// The times of today: those of other days belong to the scenario.
fn times(text: &str) -> String {
    let now = billhook_admission::now().to_rfc3339();
    let day = now.get(..10).unwrap_or_default();
    replace_shape(text, &format!("{day}Tdd:dd:ddZ"), "TIME")
}

/// Replaces what has a shape, in which `x` stands for a hexadecimal digit and `d` for a decimal one.
fn replace_shape(text: &str, shape: &str, name: &str) -> String {
    let fits = |at: usize| {
        let found = text.get(at..at + shape.len())?;
        let is_like = |(found, shape): (u8, u8)| match shape {
            b'x' => found.is_ascii_hexdigit(),
            b'd' => found.is_ascii_digit(),
            other => found == other,
        };
        found.bytes().zip(shape.bytes()).all(is_like).then_some(())
    };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut at = 0;
    while at + shape.len() <= text.len() {
        if fits(at).is_none() {
            at += 1;
            continue;
        }
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str(name);
        at += shape.len();
        from = at;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
