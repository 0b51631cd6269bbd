//! The levels of security that pods of a namespace must have (BK-567).

mod baseline;
mod defaults;
mod pod;
mod restricted;

use billhook_apimachinery::FieldError;
use billhook_apimachinery::print::quote;
use serde_json::Value;

pub use self::defaults::{SecurityDefaults, SecurityDefaultsError};
use self::pod::{Finding, Pod};
use crate::values::{members, path, text, value_at};

/// The minor version that stands for the newest rules.
const LATEST: u32 = u32::MAX;

/// A level of security that a namespace asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityLevel {
    is_restricted: bool,
    minor: u32,
    shown: String,
}

impl SecurityLevel {
    /// The beginning of the names of all labels by which namespaces ask for levels.
    pub const LABEL_PREFIX: &str = "pod-security.kubernetes.io/";

    /// Returns the level that the labels of a namespace ask for in a mode, or else a level and a version.
    fn of(namespace: &Value, mode: &str, (or_level, or_version): (&str, &str)) -> Option<Self> {
        let label = |name: &str| {
            let labels = value_at(namespace, "/metadata/labels");
            let label = labels?.get(format!("{}{name}", Self::LABEL_PREFIX));
            label.and_then(Value::as_str)
        };
        let level =
            label(mode).unwrap_or(if or_level.is_empty() { "privileged" } else { or_level });
        let version = label(&format!("{mode}-version"));
        let version = version.unwrap_or(if or_version.is_empty() { "latest" } else { or_version });
        let is_restricted = match level {
            "baseline" => false,
            // An unknown one is the strictest.
            "privileged" => return None,
            _ => true,
        };
        let level = if is_restricted { "restricted" } else { "baseline" };
        let minor = minor_version(version).unwrap_or(LATEST);
        Some(SecurityLevel { is_restricted, minor, shown: format!("{level}:{version}") })
    }

    /// Returns what is wrong with the spec of a pod, as servers say it; none if it has the level.
    pub fn violation(&self, metadata: &Value, spec: &Value) -> Option<String> {
        let found = self.findings(metadata, spec);
        let shown = found.map(|(reason, detail)| format!("{reason} ({detail})"));
        joined(shown).map(|found| format!("violate PodSecurity {}: {found}", self.quoted()))
    }

    /// Returns what is wrong with the spec of a pod without the details; none if it has the level.
    pub fn reasons(&self, metadata: &Value, spec: &Value) -> Option<String> {
        joined(self.findings(metadata, spec).map(|(reason, _)| reason))
    }

    /// Returns true if pods that had another level of the same mode may not have this one.
    pub fn may_refuse_pods_of(&self, other: Option<&Self>) -> bool {
        let is_as_strict = |other: &Self| other.is_restricted || !self.is_restricted;
        other.is_none_or(|other| other.minor != self.minor || !is_as_strict(other))
    }

    /// Returns the level and its version in quotes, as servers show them.
    pub fn quoted(&self) -> String {
        quote(&self.shown)
    }

    fn findings(&self, metadata: &Value, spec: &Value) -> impl Iterator<Item = Finding> {
        let applied = CHECKS.iter().filter(|check| check.is_of(self));
        applied.filter_map(move |check| (check.find)(&Pod { metadata, spec, minor: self.minor }))
    }
}

/// All that is found, with commas; none if that is nothing.
fn joined(found: impl Iterator<Item = String>) -> Option<String> {
    let found: Vec<String> = found.collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// The minor version that `v1.x` names.
fn minor_version(version: &str) -> Option<u32> {
    let minor = version.strip_prefix("v1.")?;
    let is_number = minor.bytes().all(|byte| byte.is_ascii_digit());
    let is_canonical = minor == "0" || !minor.starts_with('0');
    minor.parse().ok().filter(|_| is_number && is_canonical)
}

const LEVELS: &str = "must be one of privileged, baseline, restricted";
const VERSIONS: &str = "must be \"latest\" or \"v1.x\"";

fn is_level(level: &str) -> bool {
    ["privileged", "baseline", "restricted"].contains(&level)
}

fn is_version(version: &str) -> bool {
    version == "latest" || minor_version(version).is_some()
}

/// Returns the errors of a namespace's labels about levels of security.
pub fn security_label_errors(namespace: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (name, value) in members(namespace, "/metadata/labels") {
        let Some(mode) = name.strip_prefix(SecurityLevel::LABEL_PREFIX) else { continue };
        let value = text(value, "");
        let detail = match mode {
            "enforce" | "audit" | "warn" => (!is_level(value)).then_some(LEVELS),
            "enforce-version" | "audit-version" | "warn-version" => {
                (!is_version(value)).then_some(VERSIONS)
            }
            _ => None,
        };
        let path = path(&["metadata", "labels"]).key(name);
        errors.extend(detail.map(|detail| FieldError::invalid(path, value, detail)));
    }
    errors
}

/// The levels that have a check.
enum Level {
    Both,
    /// Replaced by a stricter one in the restricted level, from a minor version on.
    BaselineUntil(u32),
    Restricted,
}

struct Check {
    level: Level,
    /// The first minor version that has it.
    since: u32,
    find: fn(&Pod<'_>) -> Option<Finding>,
}

impl Check {
    fn is_of(&self, level: &SecurityLevel) -> bool {
        let is_of_level = match self.level {
            Level::Both => true,
            Level::BaselineUntil(minor) => !level.is_restricted || level.minor < minor,
            Level::Restricted => level.is_restricted,
        };
        is_of_level && self.since <= level.minor
    }
}

const fn check(level: Level, since: u32, find: fn(&Pod<'_>) -> Option<Finding>) -> Check {
    Check { level, since, find }
}

/// All checks in the order in which servers report them.
static CHECKS: [Check; 18] = [
    check(Level::Restricted, 8, restricted::privilege_escalation),
    check(Level::Both, 0, baseline::app_armor),
    check(Level::BaselineUntil(22), 0, baseline::added_capabilities),
    check(Level::Restricted, 22, restricted::capabilities),
    check(Level::Both, 0, baseline::host_namespaces),
    check(Level::BaselineUntil(0), 0, baseline::host_paths),
    check(Level::Both, 0, baseline::host_ports),
    check(Level::Both, 34, baseline::hosts_of_probes),
    check(Level::Both, 0, baseline::privileged),
    check(Level::Both, 0, baseline::proc_mount),
    check(Level::Restricted, 0, restricted::volumes),
    check(Level::Restricted, 0, restricted::non_root),
    check(Level::Restricted, 23, restricted::root_user),
    check(Level::Both, 0, baseline::se_linux),
    check(Level::BaselineUntil(19), 19, baseline::unconfined),
    check(Level::Restricted, 19, restricted::seccomp),
    check(Level::Both, 0, baseline::sysctls),
    check(Level::Both, 0, baseline::host_process),
];
