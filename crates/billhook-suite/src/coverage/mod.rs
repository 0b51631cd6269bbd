//! How much of definitions and policies the cases of suites exercise.

mod policy;
mod print;
mod walk;

use std::collections::BTreeMap;
use std::ops::Range;

use billhook::{ChangeKind, DecodeOptions, DeepValue, FieldPath, ValidateOptions};
use billhook_apimachinery::value::deep_clone;
use billhook_cel::Branch;
use billhook_findings::Place;
use billhook_generation::set_metadata;
use billhook_policy::{PolicyDocument, PolicyKind};
use serde_json::Value;

use crate::exercise::Exercise;
use crate::files::FoundDefinition;
use crate::install::body;
use crate::plan::Run;
use walk::{Hits, Items};

/// How much of definitions and policies has been exercised.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By the file, the number of the document, and its place there.
    documents: BTreeMap<Key, DocumentCoverage>,
}

type Key = (String, Option<usize>, String);

/// How much of a definition or a policy has been exercised.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DocumentCoverage {
    /// The kind of policy; none of a definition.
    pub policy: Option<PolicyKind>,
    /// The name of the document.
    pub name: String,
    /// Where it is written.
    pub place: Place,
    /// Its parts, in the order of the text.
    pub items: Vec<CoverageItem>,
}

/// A part of a definition or a policy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CoverageItem {
    /// The kind of the part.
    pub kind: CoverageKind,
    /// The version of the definition; empty for parts of policies.
    pub version: String,
    /// The part, in the document.
    pub path: FieldPath,
    /// The field of objects that it is about; empty for parts of policies.
    pub field: String,
    /// The text of an expression of a policy, a message expression or a branch; empty for all else.
    pub text: String,
    /// Where a branch is in its expression, in bytes.
    pub span: Option<Range<usize>>,
    /// The line in the file, from 1.
    pub line: usize,
    /// How often it was there, or the rule was kept, or the branch was true.
    pub hits: u64,
    /// How often the rule was violated, or the branch was false.
    pub violations: u64,
}

/// The kind of a part of a definition or a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CoverageKind {
    /// A schema: a value was there.
    Field,
    /// A rule, a match condition or a validation of a policy: it was kept at least once and violated
    /// at least once.
    Rule,
    /// A default: it was set.
    Default,
    /// A value of an enum: it was there.
    EnumValue,
    /// The message expression of a rule, or another expression of a policy: it was evaluated.
    Expression,
    /// A condition of `? :` or an operand of `&&` or `||` in a rule or an expression of a policy: it
    /// was true at least once and false at least once.
    Branch,
}

impl CoverageKind {
    /// All kinds.
    pub const ALL: [CoverageKind; 6] = [
        CoverageKind::Field,
        CoverageKind::Rule,
        CoverageKind::Default,
        CoverageKind::EnumValue,
        CoverageKind::Expression,
        CoverageKind::Branch,
    ];

    /// Returns whether a part of the kind can turn out in two ways, both of which have to be seen.
    fn has_two_outcomes(self) -> bool {
        matches!(self, CoverageKind::Rule | CoverageKind::Branch)
    }
}

impl CoverageItem {
    fn new(kind: CoverageKind, place: &Place, path: &FieldPath) -> Self {
        let span = place.find(path).map(|found| found.span);
        let start = span.map_or(0, |span| span.key.unwrap_or(span.value).start);
        CoverageItem {
            kind,
            version: String::new(),
            path: path.clone(),
            field: String::new(),
            text: String::new(),
            span: None,
            line: place.source.position(start).line,
            hits: 0,
            violations: 0,
        }
    }

    /// The branches of an expression, which is at a path.
    fn branches(
        place: &Place,
        path: &FieldPath,
        expression: &str,
    ) -> impl Iterator<Item = CoverageItem> {
        let branches = billhook_cel::branches(expression).unwrap_or_default().into_iter();
        branches.map(move |Branch { span, .. }| {
            let item = CoverageItem::new(CoverageKind::Branch, place, path);
            let found = place.find_part(path, expression, span.clone());
            CoverageItem {
                line: found.map_or(item.line, |span| place.source.position(span.start).line),
                text: expression.get(span.clone()).unwrap_or_default().to_owned(),
                span: Some(span),
                ..item
            }
        })
    }

    /// Returns whether the part is exercised: a rule must have been kept and violated, a branch true
    /// and false.
    pub fn is_covered(&self) -> bool {
        self.hits > 0 && (!self.kind.has_two_outcomes() || self.violations > 0)
    }
}

impl Coverage {
    /// Adds a definition, so that it counts even if nothing of it is exercised.
    pub fn add_definition(&mut self, definition: &FoundDefinition) {
        self.add_document(definition, None);
    }

    /// Adds a definition, or a policy of a kind.
    fn add_document(&mut self, document: &FoundDefinition, policy: Option<PolicyKind>) {
        self.documents.entry(key(document)).or_insert_with(|| DocumentCoverage {
            policy,
            name: document.name().unwrap_or_default().to_owned(),
            place: document.place.clone(),
            items: policy.map_or_else(|| Items::of(document), |_| policy::items(document)),
        });
    }

    /// Adds all that a run exercises.
    pub fn add(&mut self, run: &Run) {
        for exercise in run.exercises() {
            self.add_definition(exercise.definition);
            let mut hits = Hits::default();
            exercise.count(&mut hits);
            if let Some(definition) = self.documents.get_mut(&key(exercise.definition)) {
                hits.add_to(&mut definition.items, exercise.version.name());
            }
        }
        self.add_expressions(run);
    }

    /// Adds the expressions of policies that a run evaluates.
    fn add_expressions(&mut self, run: &Run) {
        let mut policies = BTreeMap::new();
        for document in run.policies() {
            if let Some(kind @ (PolicyKind::Validating | PolicyKind::Mutating)) =
                PolicyDocument::kind_of(&document.value)
            {
                self.add_document(document, Some(kind));
                policies.insert((kind, document.name().unwrap_or_default()), key(document));
            }
        }
        if policies.is_empty() {
            return;
        }
        for expression in run.expressions() {
            let key = policies.get(&(expression.kind, &*expression.policy));
            if let Some(policy) = key.and_then(|key| self.documents.get_mut(key)) {
                policy::count(&mut policy.items, &expression);
            }
        }
    }

    /// Returns the definitions and policies, sorted by file.
    pub fn documents(&self) -> impl Iterator<Item = &DocumentCoverage> {
        self.documents.values()
    }
}

fn key(document: &FoundDefinition) -> Key {
    let place = &document.place;
    (document.file().to_owned(), place.document, place.base.to_string())
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
            hits.rule(verdict);
        }
        if let Some(schema) = self.definition.schema(self.version.name()) {
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
