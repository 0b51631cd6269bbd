//! The values that an expression is evaluated with, from files.

use std::path::{Path, PathBuf};

use billhook::webhook::AdmissionAttributes;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_cel::schema::SchemaType;
use serde_json::Value;

use super::args::ExplainExpression;
use crate::crds::Crds;
use crate::identity::Identity;
use crate::input::{Document, readable_documents};
use crate::policy::Config;
use crate::problem::{Place, Problem};

/// The values that are given.
pub(super) struct Values {
    pub(super) object: Option<DeepValue>,
    pub(super) old_object: Option<DeepValue>,
    pub(super) params: Option<DeepValue>,
    pub(super) namespace_object: Option<DeepValue>,
    pub(super) request: Option<AdmissionAttributes>,
    /// `self` and `oldSelf`.
    pub(super) of_rule: [Option<DeepValue>; 2],
    /// Their type.
    pub(super) rule_type: SchemaType,
}

impl Values {
    pub(super) fn read(command: &ExplainExpression, config: &Config) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut read = |path: &Option<PathBuf>| one(path.as_deref()?, &mut problems);
        let [object, old_object] = [read(&command.object), read(&command.old_object)];
        let [params, namespace] = [read(&command.params), read(&command.namespace_object)];
        let [new, old] = [read(&command.of_rule), read(&command.old_of_rule)];
        let review = read(&command.request);
        let request = review.map(|review| {
            let read = AdmissionAttributes::from_review(&review.value);
            read.map_err(|error| Problem::unusable(review.place, error.to_string()))
        });
        let request = request.transpose().map_err(|error| problems.push(*error)).ok().flatten();
        let path = command.path.as_deref().unwrap_or_default();
        let rule_type = match &new {
            Some(document) if !command.crd.is_empty() => {
                let options = command.server.crd_options(config);
                let (crds, found) = Crds::read(&command.crd, config, &[], options);
                problems.extend(found);
                rule_type(document, path, &crds)
            }
            _ => Ok(SchemaType::ANY),
        };
        let rule_type = rule_type.map_err(|error| problems.push(*error));
        let mut part = |document: Option<Document>, is_needed: bool| {
            let Document { place, value, .. } = document?;
            let found = self::part(&value, path)
                .map(|part| part.map(|part| DeepValue::from(deep_clone(part))));
            let missing = || Problem::unusable(place.clone(), format!("there is no `{path}`"));
            match found {
                Ok(None) if is_needed => problems.push(*missing()),
                Ok(found) => return found,
                Err(text) => problems.push(*Problem::unusable(Place::file("--path"), text)),
            }
            None
        };
        let of_rule = [part(new, true), part(old, false)];
        match rule_type {
            Ok(rule_type) if problems.is_empty() => Ok(Values {
                object: object.map(|it| it.value),
                old_object: old_object.map(|it| it.value),
                params: params.map(|it| it.value),
                namespace_object: namespace.map(|it| it.value),
                request,
                of_rule,
                rule_type,
            }),
            _ => Err(problems),
        }
    }
}

/// The only document of a file.
fn one(path: &Path, problems: &mut Vec<Problem>) -> Option<Document> {
    let before = problems.len();
    let mut documents = readable_documents(&[path.to_owned()], problems);
    if problems.len() > before {
        return None;
    }
    if documents.len() != 1 {
        let message = format!("expected one document, found {}", documents.len());
        let place = Place::path(path);
        problems.push(*Problem::unusable(place, message));
    }
    documents.pop()
}

/// The type of the part of an object that a rule is for.
fn rule_type(document: &Document, path: &str, crds: &Crds) -> Result<SchemaType, Box<Problem>> {
    let place = &document.place;
    let identity = Identity::of(&document.value);
    let (_, version) = crds.version_of(&document.value, &identity, place)?;
    let unusable = |text: String| Problem::unusable(Place::file("--path"), text);
    let mut found = version.expression_type().unwrap_or(SchemaType::ANY);
    for step in steps(path).map_err(unusable)? {
        let next = match &step {
            Step::Member(name) => found.property(name).or_else(|| found.elements()),
            Step::Item(_) => found.elements(),
        };
        let next = next.map(|next| SchemaType::clone(next));
        found = next.ok_or_else(|| unusable(format!("the schema has no type for `{path}`")))?;
    }
    Ok(found)
}

/// A step to a part of an object.
enum Step<'p> {
    Member(&'p str),
    Item(usize),
}

/// Reads a path such as `spec.ports[0].name`.
fn steps(path: &str) -> Result<Vec<Step<'_>>, String> {
    let malformed = || format!("`{path}` is not a path such as `spec.ports[0]`");
    let mut steps = Vec::new();
    for part in path.split('.').filter(|_| !path.is_empty()) {
        let (name, items) = part.split_once('[').unwrap_or((part, ""));
        if !name.is_empty() {
            steps.push(Step::Member(name));
        }
        for item in items.split('[').filter(|_| !items.is_empty()) {
            let index = item.strip_suffix(']').and_then(|item| item.parse().ok());
            steps.push(Step::Item(index.ok_or_else(malformed)?));
        }
        if name.is_empty() && items.is_empty() {
            return Err(malformed());
        }
    }
    Ok(steps)
}

/// The part of an object at a path, if it is there.
fn part<'v>(value: &'v Value, path: &str) -> Result<Option<&'v Value>, String> {
    let step = |found: Option<&'v Value>, step: Step<'_>| match step {
        Step::Member(name) => found?.get(name),
        Step::Item(index) => found?.get(index),
    };
    Ok(steps(path)?.into_iter().fold(Some(value), step))
}
