//! The part of a definition that causes a finding.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use billhook::{DeepValue, ErrorType, FieldError, FieldPath, Segment};
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_schema::{SchemaView, WrittenVersion};
use serde_json::Value;

use crate::built_in::parent;
use crate::finding::{Finding, Label};
use crate::source::{Place, last_name};
use crate::suggest;

/// A version of a definition and where it is written.
#[derive(Clone, Debug)]
pub struct SchemaSource {
    place: Place,
    definition: DeepValue,
    /// The path of the schema in the definition.
    base: FieldPath,
    /// How many names may still be looked at in search of what was meant.
    names: Arc<AtomicUsize>,
}

/// How many names are looked at in search of what was meant by the unknown fields of an object:
/// each may be meant for each known one.
const MAX_NAMES: usize = 100_000;

/// How many steps lead to a version of a definition: `spec.versions[0]`.
const VERSION_DEPTH: usize = 3;

/// The parts of a schema on the way to a field.
#[derive(Default)]
struct Way<'s> {
    /// The path of the last part in the definition.
    path: FieldPath,
    parts: Vec<Part<'s>>,
    /// Whether the way ends at the field.
    is_whole: bool,
}

/// A part of a schema.
struct Part<'s> {
    schema: SchemaView<'s>,
    /// How many steps of the way's path lead to it: a path for each would take the square of the
    /// depth.
    depth: usize,
}

/// A keyword that causes an error.
struct Cause {
    path: FieldPath,
    label: String,
}

impl SchemaSource {
    /// Creates a source of a version; `None` if the definition does not have it.
    pub fn new(place: Place, definition: DeepValue, version: &str) -> Option<Self> {
        let base = WrittenVersion::named(&definition, version)?.path;
        let names = Arc::new(AtomicUsize::new(MAX_NAMES));
        Some(SchemaSource { place, definition, base, names })
    }

    /// Adds to a finding about an error the keyword that causes it, and what may have been meant.
    #[must_use]
    pub fn explain(&self, mut finding: Finding, error: &FieldError) -> Finding {
        finding = finding.suggest(error);
        let field = if finding.path.is_empty() { error.field() } else { &finding.path };
        let way = self.way(self.base.clone(), field);
        let Some(cause) = way.cause(error) else { return finding };
        finding.schema = self.label(cause);
        if error.error_type() == ErrorType::TypeInvalid
            && let Some(part) = way.parts.last().filter(|_| way.is_whole)
            && names_type(error, "type", part.schema)
        {
            suggest::other_type(&mut finding, part.schema.text("type"));
        }
        finding
    }

    /// Adds to a finding about an unknown field the field that may have been meant. Of the
    /// findings that this source and its clones explain, those after a hundred thousand names that
    /// could be meant get no such advice.
    #[must_use]
    pub fn explain_unknown(&self, mut finding: Finding) -> Finding {
        let mut segments = finding.path.segments();
        if segments.next() == Some(Segment::Name("metadata")) {
            if let Some(parent) = parent(ObjectMeta::record(), &segments.collect()) {
                suggest::field_of(&mut finding, parent);
            }
            return finding;
        }
        let way = self.way(self.base.clone(), &finding.path);
        let depth = finding.path.segments().count();
        let Some(parent) = way.parts.last().filter(|_| way.parts.len() == depth) else {
            return finding;
        };
        let specified = |_: &Value| "these fields are specified".to_owned();
        if let Some(cause) = way.keyword(parent, "properties", specified) {
            finding.schema = self.label(cause);
        }
        if !self.may_search(parent) {
            return finding;
        }
        let schemas: Vec<_> = way.parts.iter().map(|part| part.schema).collect();
        let version = self.other_version(&finding.path);
        suggest::field(&mut finding, &schemas, version);
        finding
    }

    /// Adds to a finding about a deprecated field the description that says so.
    #[must_use]
    pub fn explain_deprecated(&self, finding: Finding) -> Finding {
        let way = self.way(self.base.clone(), &finding.path);
        let part = way.parts.last().filter(|_| way.is_whole);
        let says = |_: &Value| "the description says so".to_owned();
        let cause = part.and_then(|part| way.keyword(part, "description", says));
        finding.because(cause.and_then(|cause| self.label(cause)))
    }

    /// Adds to a finding about an object of a deprecated version the part that deprecates it.
    #[must_use]
    pub fn explain_version(&self, finding: Finding) -> Finding {
        let version = self.base.segments().take(VERSION_DEPTH).collect::<FieldPath>();
        let label = "the version is deprecated here";
        finding.because(Label::new(&self.place, version.name("deprecated"), label))
    }

    /// Whether so many names may still be looked at as there are for an unknown field.
    fn may_search(&self, parent: &Part<'_>) -> bool {
        let versions = WrittenVersion::all(&self.definition);
        let count = parent.schema.properties().count() + versions.count();
        let spend = |left: usize| left.checked_sub(count);
        self.names.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }

    /// The name of another served version that specifies a field.
    fn other_version(&self, path: &FieldPath) -> Option<&str> {
        let versions = WrittenVersion::all(&self.definition);
        let mut served = versions.filter(|it| it.is_served && it.path != self.base);
        Some(served.find(|it| self.way(it.path.clone(), path).is_whole)?.name)
    }

    fn label(&self, Cause { path, label }: Cause) -> Option<Label> {
        Label::new(&self.place, path, label)
    }

    /// The parts of a schema, which is at a path of the definition, on the way to a field.
    fn way(&self, schema: FieldPath, field: &FieldPath) -> Way<'_> {
        let Some(value) = self.definition.pointer(&schema.to_json_pointer()) else {
            return Way::default();
        };
        let depth = schema.segments().count();
        let top = Part { schema: SchemaView::new(value), depth };
        let mut way = Way { path: schema, parts: vec![top], is_whole: false };
        way.is_whole = field.segments().all(|segment| way.step(segment));
        way
    }
}

impl<'s> Way<'s> {
    /// Adds the part for the next step to the field, if there is one.
    fn step(&mut self, segment: Segment<'_>) -> bool {
        let Some(last) = self.parts.last() else { return false };
        let Some((step, schema)) = last.schema.below(segment) else { return false };
        let steps = step.add_to(FieldPath::default());
        let part = Part { schema, depth: last.depth + steps.segments().count() };
        self.path.extend(steps.segments());
        self.parts.push(part);
        true
    }

    /// The path of a part in the definition.
    fn path_of(&self, part: &Part<'_>) -> FieldPath {
        self.path.segments().take(part.depth).collect()
    }

    fn keyword(
        &self,
        part: &Part<'_>,
        name: &str,
        label: impl FnOnce(&Value) -> String,
    ) -> Option<Cause> {
        let label = label(part.schema.keyword(name)?);
        Some(Cause { path: self.path_of(part).name(name), label })
    }

    /// Finds the keyword that causes an error.
    fn cause(&self, error: &FieldError) -> Option<Cause> {
        let part = self.parts.last()?;
        if error.error_type() == ErrorType::Required {
            // The rules of a schema may say so of a field that is there.
            let parent = match self.is_whole {
                true => self.parts.get(self.parts.len().checked_sub(2)?)?,
                false => part,
            };
            return self.required(error.field(), parent).or_else(|| self.rule(error));
        }
        if !self.is_whole {
            return None;
        }
        let limit = |value: &Value, of: &str| match value.as_u64() {
            Some(1) => format!("at most 1 {} is allowed", of.trim_end_matches('s')),
            _ => format!("at most {value} {of} are allowed"),
        };
        let said = |keyword: &str, text: &str| self.keyword(part, keyword, |_| text.to_owned());
        match error.error_type() {
            ErrorType::NotSupported => said("enum", "only these are allowed"),
            ErrorType::TooLong => self.keyword(part, "maxLength", |max| limit(max, "characters")),
            ErrorType::TooMany => self
                .keyword(part, "maxItems", |max| limit(max, "items"))
                .or_else(|| self.keyword(part, "maxProperties", |max| limit(max, "members"))),
            ErrorType::TypeInvalid if names_type(error, "format", part.schema) => {
                said("format", "the format is set here")
            }
            ErrorType::TypeInvalid => said("type", "the type is set here"),
            ErrorType::Duplicate => self.duplicate(),
            _ => self.rule(error).or_else(|| self.bound(error, part)),
        }
    }

    /// The keyword by which items must differ: of the list, not of its items.
    fn duplicate(&self) -> Option<Cause> {
        self.parts.iter().rev().take(2).find_map(|part| {
            let keys = |_: &Value| "items must differ in these fields".to_owned();
            let kind = |_: &Value| "items must differ".to_owned();
            self.keyword(part, "x-kubernetes-list-map-keys", keys)
                .or_else(|| self.keyword(part, "x-kubernetes-list-type", kind))
        })
    }

    fn required(&self, field: &FieldPath, parent: &Part<'_>) -> Option<Cause> {
        let name = last_name(field)?;
        let mut list = parent.schema.list("required");
        let index = list.position(|known| known.as_str() == Some(name))?;
        let path = self.path_of(parent).name("required").index(index);
        Some(Cause { path, label: format!("`{name}` is required here") })
    }

    /// The rule in CEL that an error comes from.
    fn rule(&self, error: &FieldError) -> Option<Cause> {
        let names = |text: &str| error.detail().ends_with(&format!("rule: {}", text.trim()));
        let is_its = |rule: &Value| {
            let text = |name: &str| rule.get(name).and_then(Value::as_str);
            text("message")
                .is_some_and(|message| message.trim() == error.detail() || names(message))
                || text("rule").is_some_and(names)
        };
        self.parts.iter().rev().find_map(|part| {
            let index = part.schema.list("x-kubernetes-validations").position(is_its)?;
            let path = self.path_of(part).name("x-kubernetes-validations");
            let label = "this rule is not met".to_owned();
            Some(Cause { path: path.index(index).name("rule"), label })
        })
    }

    fn bound(&self, error: &FieldError, part: &Part<'_>) -> Option<Cause> {
        let fits = BOUNDS.iter().filter(|(text, _)| error.detail().contains(text));
        let mut causes = fits.filter_map(|(_, keyword)| {
            self.keyword(part, keyword, |_| format!("the {} is set here", words(keyword)))
        });
        causes.next()
    }
}

/// Parts of the texts of value validation and the keywords that they come from.
const BOUNDS: [(&str, &str); 11] = [
    ("should be less than", "maximum"),
    ("should be greater than", "minimum"),
    ("should be a multiple of", "multipleOf"),
    ("should match", "pattern"),
    ("should be at least", "minLength"),
    ("should be at most", "maxLength"),
    ("should have at least", "minItems"),
    ("should have at least", "minProperties"),
    ("should have at most", "maxItems"),
    ("must be of type", "format"),
    ("must be of type", "type"),
];

/// A keyword in words: `minLength` is a minimum length.
fn words(keyword: &str) -> &str {
    match keyword {
        "multipleOf" => "divisor",
        "minLength" | "minItems" | "minProperties" => "minimum",
        "maxLength" | "maxItems" => "maximum",
        other => other,
    }
}

/// Whether an error of a type is about a keyword's value: a type, or a format.
fn names_type(error: &FieldError, keyword: &str, schema: SchemaView<'_>) -> bool {
    let name = schema.text(keyword);
    !name.is_empty() && error.detail().contains(&format!("must be of type {name}:"))
}
