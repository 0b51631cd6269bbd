//! The groups and versions that are served.

use std::collections::{BTreeMap, BTreeSet};

use billhook_apiserver::ServerBuilder;
use billhook_kinds::Kind;

use super::has_fairness;
use crate::stand_in::flags::{Flags, parse_bool};

const FLAG: &str = "runtime-config";

/// Returns the versions that are switched off: by themselves, or as stable ones, or as all (ET-61).
pub(super) fn disabled(
    flags: &Flags,
    errors: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let config = flags.all(FLAG);
    check(config, has_fairness(flags), errors);
    let mut given = BTreeMap::new();
    for item in config {
        let (key, value) = item.split_once('=').unwrap_or((item, "true"));
        let key = if key == "api/v1" { "v1" } else { key };
        given.insert(key, parse_bool(value).unwrap_or(true));
    }
    let kinds = Kind::all().iter().filter(|kind| kind.is_stored());
    let served: BTreeSet<String> = kinds.map(Kind::api_version).collect();
    let is_general = |key: &str| ["api/all", "api/beta", "api/alpha"].contains(&key);
    let without_effect = given.iter().filter(|(key, on)| {
        **on && (is_general(key) || !(served.contains(**key) || **key == "api/ga"))
    });
    warnings.extend(without_effect.map(|(key, _)| {
        let what = "versions that are off by default are not there";
        format!("--{FLAG}={key}=true is accepted and has no effect: {what}")
    }));
    let is_off = |version: &&String| {
        let keys = [version.as_str(), "api/ga", "api/all"];
        keys.iter().find_map(|key| given.get(key)) == Some(&false)
    };
    let (off, needed): (Vec<&String>, Vec<&String>) =
        served.iter().filter(is_off).partition(|version| ServerBuilder::can_do_without(version));
    warnings.extend(needed.iter().map(|version| {
        format!("--{FLAG} cannot switch off {version}, which the server itself needs")
    }));
    off.into_iter().cloned().collect()
}

/// Checks what is asked for.
fn check(config: &[String], has_fairness: bool, errors: &mut Vec<String>) {
    if let [only] = config
        && only.strip_prefix("api/all=").and_then(parse_bool) == Some(false)
    {
        if has_fairness {
            let conflict = "conflicts with --enable-priority-and-fairness=true";
            errors.push(format!("--{FLAG}={only} {conflict}"));
        }
        errors.push(format!("invalid {FLAG} with only api/all=false"));
    }
    let is_known = |group: &str| Kind::all().iter().any(|kind| kind.group == group);
    let unknown = config.iter().filter_map(|item| {
        let (key, value) = item.split_once('=').unwrap_or((item, "true"));
        if parse_bool(value).is_none() {
            errors.push(format!("invalid value {item}"));
        }
        let group = key.split_once('/').map_or(key, |(group, _)| group);
        (group != "api" && key != "v1" && !is_known(group)).then(|| key.to_owned())
    });
    let unknown: Vec<String> = unknown.collect();
    if !unknown.is_empty() {
        errors.push(format!("unknown api groups {}", unknown.join(",")));
    }
}
