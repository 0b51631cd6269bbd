//! The part of a definition that causes a finding.

use billhook::{DeepValue, ErrorType, FieldError, FieldPath, Segment};
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
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
}

/// How many steps lead to a version of a definition: `spec.versions[0]`.
const VERSION_DEPTH: usize = 3;

/// A part of a schema.
struct Node<'s> {
    path: FieldPath,
    value: &'s Value,
}

/// A keyword that causes an error.
struct Cause {
    path: FieldPath,
    label: String,
}

impl SchemaSource {
    /// Creates a source of a version; `None` if the definition does not have it.
    pub fn new(place: Place, definition: DeepValue, version: &str) -> Option<Self> {
        let versions = definition.get("spec")?.get("versions")?.as_array()?;
        let is_it = |known: &Value| known.get("name").and_then(Value::as_str) == Some(version);
        let index = versions.iter().position(is_it)?;
        Some(SchemaSource { place, definition, base: schema_of(index) })
    }

    /// Adds to a finding about an error the keyword that causes it, and what may have been meant.
    #[must_use]
    pub fn explain(&self, mut finding: Finding, error: &FieldError) -> Finding {
        finding = finding.suggest(error);
        let field = if finding.path.is_empty() { error.field() } else { &finding.path };
        let (nodes, is_whole) = self.nodes(field);
        let Some(cause) = cause(error, &nodes, is_whole) else { return finding };
        finding.schema = self.label(cause);
        if error.error_type() == ErrorType::TypeInvalid
            && let Some(node) = nodes.last().filter(|_| is_whole)
            && names_type(error, "type", node.value)
        {
            suggest::other_type(&mut finding, node.value);
        }
        finding
    }

    /// Adds to a finding about an unknown field the field that may have been meant.
    #[must_use]
    pub fn explain_unknown(&self, mut finding: Finding) -> Finding {
        let mut segments = finding.path.segments();
        if segments.next() == Some(Segment::Name("metadata")) {
            if let Some(parent) = parent(ObjectMeta::record(), &segments.collect()) {
                suggest::field_of(&mut finding, parent);
            }
            return finding;
        }
        let (nodes, _) = self.nodes(&finding.path);
        let depth = finding.path.segments().count();
        let Some(parent) = nodes.last().filter(|_| nodes.len() == depth) else { return finding };
        if parent.value.get("properties").is_some() {
            let path = parent.path.clone().name("properties");
            let label = "these fields are specified".to_owned();
            finding.schema = self.label(Cause { path, label });
        }
        let schemas: Vec<&Value> = nodes.iter().map(|node| node.value).collect();
        let version = self.other_version(&finding.path);
        suggest::field(&mut finding, &schemas, version);
        finding
    }

    /// Adds to a finding about a deprecated field the description that says so.
    #[must_use]
    pub fn explain_deprecated(&self, finding: Finding) -> Finding {
        let (nodes, is_whole) = self.nodes(&finding.path);
        let node = nodes.last().filter(|_| is_whole);
        let cause = node
            .and_then(|node| node.keyword("description", |_| "the description says so".to_owned()));
        finding.because(cause.and_then(|cause| self.label(cause)))
    }

    /// Adds to a finding about an object of a deprecated version the part that deprecates it.
    #[must_use]
    pub fn explain_version(&self, finding: Finding) -> Finding {
        let version = self.base.segments().take(VERSION_DEPTH).collect::<FieldPath>();
        let label = "the version is deprecated here";
        finding.because(Label::new(&self.place, version.name("deprecated"), label))
    }

    /// The name of another served version that specifies a field.
    fn other_version(&self, path: &FieldPath) -> Option<&str> {
        let versions = self.definition.get("spec")?.get("versions")?.as_array()?;
        let mut served = versions.iter().enumerate().filter(|(index, version)| {
            let is_served = version.get("served").and_then(Value::as_bool) == Some(true);
            is_served && schema_of(*index) != self.base
        });
        let (_, version) = served.find(|(index, _)| self.nodes_from(schema_of(*index), path).1)?;
        version.get("name")?.as_str()
    }

    fn label(&self, Cause { path, label }: Cause) -> Option<Label> {
        Label::new(&self.place, path, label)
    }

    /// The parts of the schema on the way to a field, and whether the way ends there.
    fn nodes(&self, path: &FieldPath) -> (Vec<Node<'_>>, bool) {
        self.nodes_from(self.base.clone(), path)
    }

    fn nodes_from(&self, base: FieldPath, path: &FieldPath) -> (Vec<Node<'_>>, bool) {
        let Some(root) = self.definition.pointer(&base.to_json_pointer()) else {
            return (Vec::new(), false);
        };
        let mut nodes = vec![Node { path: base, value: root }];
        for segment in path.segments() {
            let Some(next) = nodes.last().and_then(|node| node.child(segment)) else {
                return (nodes, false);
            };
            nodes.push(next);
        }
        (nodes, true)
    }
}

/// The path of the schema of a version in the definition.
fn schema_of(index: usize) -> FieldPath {
    let version = FieldPath::default().name("spec").name("versions").index(index);
    version.name("schema").name("openAPIV3Schema")
}

impl<'s> Node<'s> {
    fn child(&self, segment: Segment<'_>) -> Option<Node<'s>> {
        let child = |path: FieldPath, value: Option<&'s Value>| {
            value.filter(|value| value.is_object()).map(|value| Node { path, value })
        };
        match segment {
            Segment::Name(name) | Segment::Key(name) => {
                let properties = self.value.get("properties");
                let path = self.path.clone().name("properties").name(name);
                child(path, properties.and_then(|known| known.get(name))).or_else(|| {
                    let path = self.path.clone().name("additionalProperties");
                    child(path, self.value.get("additionalProperties"))
                })
            }
            _ => child(self.path.clone().name("items"), self.value.get("items")),
        }
    }

    fn keyword(&self, name: &str, label: impl FnOnce(&Value) -> String) -> Option<Cause> {
        let label = label(self.value.get(name)?);
        Some(Cause { path: self.path.clone().name(name), label })
    }
}

/// Finds the keyword that causes an error.
fn cause(error: &FieldError, nodes: &[Node<'_>], is_whole: bool) -> Option<Cause> {
    let node = nodes.last()?;
    if error.error_type() == ErrorType::Required {
        // The rules of a schema may say so of a field that is there.
        let parent = if is_whole { nodes.get(nodes.len().checked_sub(2)?)? } else { node };
        return required(error.field(), parent).or_else(|| rule(error, nodes));
    }
    if !is_whole {
        return None;
    }
    let limit = |value: &Value, of: &str| match value.as_u64() {
        Some(1) => format!("at most 1 {} is allowed", of.trim_end_matches('s')),
        _ => format!("at most {value} {of} are allowed"),
    };
    match error.error_type() {
        ErrorType::NotSupported => node.keyword("enum", |_| "only these are allowed".to_owned()),
        ErrorType::TooLong => node.keyword("maxLength", |max| limit(max, "characters")),
        ErrorType::TooMany => node
            .keyword("maxItems", |max| limit(max, "items"))
            .or_else(|| node.keyword("maxProperties", |max| limit(max, "members"))),
        ErrorType::TypeInvalid if names_type(error, "format", node.value) => {
            node.keyword("format", |_| "the format is set here".to_owned())
        }
        ErrorType::TypeInvalid => node.keyword("type", |_| "the type is set here".to_owned()),
        // The list says so, not its items.
        ErrorType::Duplicate => nodes.iter().rev().take(2).find_map(|node| {
            node.keyword("x-kubernetes-list-map-keys", |_| {
                "items must differ in these fields".to_owned()
            })
            .or_else(|| node.keyword("x-kubernetes-list-type", |_| "items must differ".to_owned()))
        }),
        _ => rule(error, nodes).or_else(|| bound(error, node)),
    }
}

fn required(field: &FieldPath, parent: &Node<'_>) -> Option<Cause> {
    let name = last_name(field)?;
    let list = parent.value.get("required")?.as_array()?;
    let index = list.iter().position(|known| known.as_str() == Some(name))?;
    let path = parent.path.clone().name("required").index(index);
    Some(Cause { path, label: format!("`{name}` is required here") })
}

/// The rule in CEL that an error comes from.
fn rule(error: &FieldError, nodes: &[Node<'_>]) -> Option<Cause> {
    let names = |text: &str| error.detail().ends_with(&format!("rule: {}", text.trim()));
    let is_its = |rule: &Value| {
        let text = |name: &str| rule.get(name).and_then(Value::as_str);
        text("message").is_some_and(|message| message.trim() == error.detail() || names(message))
            || text("rule").is_some_and(names)
    };
    nodes.iter().rev().find_map(|node| {
        let rules = node.value.get("x-kubernetes-validations")?.as_array()?;
        let index = rules.iter().position(is_its)?;
        let path = node.path.clone().name("x-kubernetes-validations").index(index).name("rule");
        Some(Cause { path, label: "this rule is not met".to_owned() })
    })
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

fn bound(error: &FieldError, node: &Node<'_>) -> Option<Cause> {
    let fits = BOUNDS.iter().filter(|(text, _)| error.detail().contains(text));
    let mut causes = fits.filter_map(|(_, keyword)| {
        node.keyword(keyword, |_| format!("the {} is set here", words(keyword)))
    });
    causes.next()
}

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
fn names_type(error: &FieldError, keyword: &str, schema: &Value) -> bool {
    let name = schema.get(keyword).and_then(Value::as_str);
    name.is_some_and(|name| error.detail().contains(&format!("must be of type {name}:")))
}
