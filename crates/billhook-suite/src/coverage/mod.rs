//! How much of definitions the cases of suites exercise.

mod print;
mod walk;

use std::collections::BTreeMap;

use billhook::{ChangeKind, DecodeOptions, DeepValue, FieldPath, ValidateOptions};
use billhook_apimachinery::value::deep_clone;
use billhook_findings::Place;
use serde_json::Value;

use crate::exercise::Exercise;
use crate::files::FoundDefinition;
use crate::install::{body, set_metadata};
use crate::plan::Run;
use walk::{Hits, Items};

/// How much of definitions has been exercised.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By the file and the number of the document.
    definitions: BTreeMap<(String, Option<usize>), DefinitionCoverage>,
}

/// How much of a definition has been exercised.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DefinitionCoverage {
    /// The name of the definition.
    pub name: String,
    /// Where it is written.
    pub place: Place,
    /// Its parts, in the order of the text.
    pub items: Vec<CoverageItem>,
}

/// A part of a definition.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CoverageItem {
    /// The kind of the part.
    pub kind: CoverageKind,
    /// The version of the definition.
    pub version: String,
    /// The part, in the document.
    pub path: FieldPath,
    /// The field of objects that it is about.
    pub field: String,
    /// The line in the file, from 1.
    pub line: usize,
    /// How often it was there, or the rule was kept.
    pub hits: u64,
    /// How often the rule was violated.
    pub violations: u64,
}

/// The kind of a part of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CoverageKind {
    /// A schema: a value was there.
    Field,
    /// A rule: it was kept at least once and violated at least once.
    Rule,
    /// A default: it was set.
    Default,
    /// A value of an enum: it was there.
    EnumValue,
}

impl CoverageKind {
    /// All kinds.
    pub const ALL: [CoverageKind; 4] =
        [CoverageKind::Field, CoverageKind::Rule, CoverageKind::Default, CoverageKind::EnumValue];
}

impl CoverageItem {
    /// Returns whether the part is exercised: a rule must have been kept and violated.
    pub fn is_covered(&self) -> bool {
        self.hits > 0 && (self.kind != CoverageKind::Rule || self.violations > 0)
    }
}

impl Coverage {
    /// Adds a definition, so that it counts even if nothing of it is exercised.
    pub fn add_definition(&mut self, definition: &FoundDefinition) {
        let key = key(definition);
        self.definitions.entry(key).or_insert_with(|| DefinitionCoverage {
            name: definition.name().unwrap_or_default().to_owned(),
            place: definition.place.clone(),
            items: Items::of(definition),
        });
    }

    /// Adds all that a run exercises.
    pub fn add(&mut self, run: &Run) {
        for exercise in run.exercises() {
            self.add_definition(exercise.definition);
            let mut hits = Hits::default();
            exercise.count(&mut hits);
            if let Some(definition) = self.definitions.get_mut(&key(exercise.definition)) {
                hits.add_to(&mut definition.items, exercise.version.name());
            }
        }
    }

    /// Returns the definitions, sorted by file.
    pub fn definitions(&self) -> impl Iterator<Item = &DefinitionCoverage> {
        self.definitions.values()
    }
}

fn key(definition: &FoundDefinition) -> (String, Option<usize>) {
    (definition.file().to_owned(), definition.place.document)
}

impl Exercise<'_> {
    fn count(&self, hits: &mut Hits) {
        let Some((mut object, defaults)) = self.decoded(&self.sent.object) else { return };
        defaults.iter().for_each(|path| hits.set_default(path));
        let options = ValidateOptions::default().rule_verdicts(true);
        let validation = match self.sent.old.as_ref().map(|old| self.decoded(old)) {
            None => {
                self.version.prepare_create(&mut object, "default");
                self.version.validate_create(&object, &options)
            }
            Some(None) => return,
            Some(Some((old, _))) if self.sent.is_status => {
                self.version.prepare_status_update(&mut object, &old);
                self.version.validate_status_update(&object, &old, &options)
            }
            Some(Some((old, _))) => {
                self.version.prepare_update(&mut object, &old);
                self.version.validate_update(&object, &old, &options)
            }
        };
        for verdict in validation.rule_verdicts() {
            hits.rule(&verdict.schema_path, verdict.rule, verdict.is_kept);
        }
        if let Some(schema) = walk::schema(&self.definition.value, self.version.name()) {
            hits.values(schema, &object);
        }
    }

    /// An object as a server decodes it, and the schemas of the defaults that were set.
    fn decoded(&self, object: &Value) -> Option<(DeepValue, Vec<FieldPath>)> {
        let mut object = DeepValue::from(deep_clone(object));
        for (field, default) in [("name", "test"), ("namespace", "default")] {
            if object.pointer(&format!("/metadata/{field}")).is_none() {
                set_metadata(&mut object, field, Some(default));
            }
        }
        let options = DecodeOptions::default().report(true);
        let decoded = self.version.decode(&body(&object), &options).ok()?;
        let (object, _, changes) = decoded.into_parts();
        let set = changes.iter().filter(|change| change.kind() == ChangeKind::Defaulted);
        Some((object, set.map(|change| change.schema_path().clone()).collect()))
    }
}
