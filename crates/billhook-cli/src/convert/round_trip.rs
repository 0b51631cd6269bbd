//! `billhook convert --round-trip`: objects go from each version to every other one and back.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use billhook::{CrdVersion, CustomResourceDefinition, Scope};
use billhook_admission::{Admission, FieldDifference, StoredObject, differences};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_generation::{Oracle, set_metadata};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::problem::Status;
use crate::report::{ERROR, HEADER, WARNING, visible, write};
use crate::summary::count;
use crate::validate::report::VALID;

/// A definition whose objects are converted, and the way to its webhook.
pub(super) struct RoundTrip<'r> {
    pub(super) definition: &'r CustomResourceDefinition,
    pub(super) admission: Admission,
    pub(super) runtime: &'r Runtime,
}

/// The way of the objects of one version through another one.
#[derive(Default)]
struct Way {
    /// How many objects went it.
    objects: usize,
    /// The fields in which the objects differ when they are back; each path once.
    lost: Vec<FieldDifference>,
    /// Why objects cannot be converted.
    failures: BTreeSet<String>,
}

/// The versions that objects may be read or stored in.
pub(super) fn versions(definition: &CustomResourceDefinition) -> impl Iterator<Item = CrdVersion> {
    definition.versions().filter(|version| version.is_served() || version.is_storage())
}

impl RoundTrip<'_> {
    /// Sends objects of all versions around, the given ones or those made of the schemas, and prints
    /// what is lost.
    pub(super) fn run(&self, given: &[&Value]) -> std::io::Result<Status> {
        let versions: Vec<CrdVersion> = versions(self.definition).collect();
        let mut status = Status::Fine;
        for version in &versions {
            let api_version = version.api_version();
            let of = |object: &&&Value| {
                let own = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
                split_api_version(own) == split_api_version(&api_version)
            };
            let objects = match given {
                [] => self.made(version)?,
                given => given.iter().filter(of).map(|object| deep_clone(object)).collect(),
            };
            for other in versions.iter().filter(|other| other.name() != version.name()) {
                if objects.is_empty() {
                    continue;
                }
                let way = self.way(&objects, version.name(), other.name());
                if !way.lost.is_empty() || !way.failures.is_empty() {
                    status = Status::Refused;
                }
                write(&self.text(&way, version.name(), other.name()))?;
            }
        }
        Ok(status)
    }

    /// Objects of a version that have all its fields, where such objects are found.
    fn made(&self, version: &CrdVersion) -> std::io::Result<Vec<Value>> {
        let Some(schema) = version.open_api_v3_schema() else { return Ok(Vec::new()) };
        let mut covering = Oracle::new(version.clone(), &schema).covering();
        if self.definition.scope() == Scope::Namespaced {
            for object in &mut covering.objects {
                set_metadata(object, "namespace", Some("default"));
            }
        }
        for path in &covering.missing {
            let field = if path.is_empty() { String::new() } else { format!(" with `{path}`") };
            let text = format!("no object{field} was found that the version accepts");
            write(&format!("{}\n", self.title(version.name(), WARNING, &text)))?;
        }
        Ok(covering.objects)
    }

    fn way(&self, objects: &[Value], from: &str, through: &str) -> Way {
        let mut way = Way::default();
        let mut paths = BTreeSet::new();
        for object in objects {
            way.objects += 1;
            match self.there_and_back(object, from, through) {
                Ok((before, after)) => {
                    let found = differences(&before, &after).into_iter();
                    way.lost.extend(found.filter(|it| paths.insert(it.path.to_string())));
                }
                Err(text) => drop(way.failures.insert(text)),
            }
        }
        way
    }

    /// The object as a server reads it, and as it is when it comes back.
    fn there_and_back(
        &self,
        object: &Value,
        from: &str,
        through: &str,
    ) -> Result<(DeepValue, DeepValue), String> {
        let read = |version: &str, object: &Value| {
            let stored = StoredObject::new(billhook::to_json(object));
            let read = self.runtime.block_on(self.admission.read(version, &stored));
            read.map_err(|status| status.message)
        };
        let before = read(from, object)?;
        let there = read(through, &before)?;
        let after = read(from, &there)?;
        Ok((before, after))
    }

    fn text(&self, way: &Way, from: &str, through: &str) -> String {
        let objects = count(way.objects, "object");
        let (style, outcome) = match (way.failures.is_empty(), way.lost.is_empty()) {
            (true, true) => (VALID, format!("{objects}, nothing is lost")),
            (true, false) => (ERROR, format!("{objects}, {}", count(way.lost.len(), "difference"))),
            (false, _) => (ERROR, format!("{objects}, not all can be converted")),
        };
        let mut text = self.title(&format!("{from} -> {through} -> {from}"), style, &outcome);
        text.push('\n');
        for line in way.lost.iter().map(ToString::to_string).chain(way.failures.iter().cloned()) {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "  {}", visible(&line));
        }
        text
    }

    fn title(&self, version: &str, style: anstyle::Style, outcome: &str) -> String {
        let title = format!("{} {version}", self.definition.name());
        format!("{HEADER}{}:{HEADER:#} {style}{}{style:#}", visible(&title), visible(outcome))
    }
}
