//! What a server finds wrong with a CustomResourceDefinition on create and on update (CV rules).

mod approval;
mod container;
mod conversion;
mod field_path;
mod lists;
mod model;
mod node;
mod options;
mod record;
mod rules;
mod selectable;
mod spec;
mod types;
mod warnings;

use billhook_decode::MAX_DEPTH;
use billhook_objectmeta::{
    Invalid, decode_metadata, subdomain_name, validate_create_with, validate_update,
};
use billhook_schema::value::{DeepValue, deep_clone, depth};
use billhook_schema::{FieldError, FieldPath};
use serde_json::Value;

use crate::CustomResourceDefinition;
use model::{Model, version_path};
use options::Options;

/// How much of a list is repeated in errors that all show it; the server has no limit.
const MAX_REPEATED: usize = 16 * 1024;

/// In how many errors a list of some length is shown.
fn repeats(length: usize) -> usize {
    (MAX_REPEATED / length.max(1)).max(1)
}

/// A CustomResourceDefinition as it is written, of the right types but otherwise unchecked: what a
/// server has before it validates a request.
///
/// ```
/// use billhook::CrdManifest;
/// let written = serde_json::json!({
///     "apiVersion": "apiextensions.k8s.io/v1",
///     "kind": "CustomResourceDefinition",
///     "metadata": {"name": "backups.example.com"},
///     "spec": {
///         "group": "example.com",
///         "scope": "Namespaced",
///         "names": {"plural": "backups", "kind": "Backup"},
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
///             "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "array"}}},
///         }}],
///     },
/// });
/// let verdict = CrdManifest::from_value(&written)?.create();
/// assert_eq!(
///     verdict.errors()[0].to_string(),
///     "spec.validation.openAPIV3Schema.properties[spec].items: Required value: must be specified",
/// );
/// # Ok::<(), billhook::CrdManifestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CrdManifest {
    value: DeepValue,
    unknown_fields: Vec<String>,
}

/// A document that is no CustomResourceDefinition, or has a field of the wrong type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CrdManifestError {
    /// The document is something else.
    #[error("not a CustomResourceDefinition of apiextensions.k8s.io/v1")]
    Kind,
    /// A value has the wrong type; the server's text.
    #[error("{0}")]
    Decode(String),
}

/// What a server says about a definition that is created or updated.
#[derive(Clone, Debug, Default)]
pub struct CrdVerdict {
    errors: Vec<FieldError>,
    warnings: Vec<String>,
    not_evaluated: Vec<FieldPath>,
}

impl CrdVerdict {
    /// Whether it is accepted, as far as it was evaluated.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// What is wrong, in the server's order; members of maps in the order of their keys.
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// The texts that the server adds to its answer (CV-90).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The CEL rules that a server would compile and weigh, and that nothing was found out about
    /// (CV-75).
    pub fn not_evaluated(&self) -> &[FieldPath] {
        &self.not_evaluated
    }
}

impl CrdManifest {
    /// Takes a document if all its fields have the right types.
    pub fn from_value(value: &Value) -> Result<Self, CrdManifestError> {
        let is_current =
            value.get("apiVersion").and_then(Value::as_str) == Some("apiextensions.k8s.io/v1");
        if !is_current || !CustomResourceDefinition::is_definition(value) {
            return Err(CrdManifestError::Kind);
        }
        if depth(value) > MAX_DEPTH {
            return Err(CrdManifestError::Decode("exceeded max depth".to_owned()));
        }
        let unknown_fields =
            record::read(value, &types::DEFINITION).map_err(CrdManifestError::Decode)?;
        // Only the times in it are left to check.
        if let Some(metadata) = value.get("metadata") {
            decode_metadata(metadata, Invalid::Refuse)
                .map_err(|error| CrdManifestError::Decode(error.to_string()))?;
        }
        Ok(CrdManifest { value: deep_clone(value).into(), unknown_fields })
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        let name = self.value.pointer("/metadata/name");
        name.and_then(Value::as_str).unwrap_or_default()
    }

    /// The fields that are not known, as field validation reports them: `unknown field "spec.x"`
    /// (RP-24, SS-12).
    pub fn unknown_fields(&self) -> &[String] {
        &self.unknown_fields
    }

    fn model(&self) -> Model<'_> {
        Model::new(&self.value)
    }

    /// What a server says when the definition is created (CV-10). Its status is ignored (CV-02).
    pub fn create(&self) -> CrdVerdict {
        let model = self.model();
        let required = format!("{}.{}", model.names.plural, model.group);
        // CV-11.
        let errors = validate_create_with(&model.metadata, false, |name, is_prefix| {
            let mut messages = subdomain_name(name, is_prefix);
            if name != required {
                messages.push("must be spec.names.plural+\".\"+spec.group".to_owned());
            }
            messages
        });
        let mut verdict = CrdVerdict { errors, ..CrdVerdict::default() };
        let options = Options::create();
        check_spec(&model, &options, &mut verdict);
        let stored: Vec<&str> = model.storage_version().into_iter().collect();
        spec::stored_versions(&stored, &model, &mut verdict.errors);
        approval::check(&model, None, &mut verdict.errors);
        check_preserve(&model, &mut verdict.errors);
        verdict.warnings = warnings::warnings(&warnings::unknown_formats(&model), &[]);
        verdict
    }

    /// What a server says when the definition takes the place of another one (CV-80). What only
    /// servers write, status included, is the old definition's (CV-02).
    pub fn update(&self, old: &CrdManifest) -> CrdVerdict {
        let (model, old) = (self.model(), old.model());
        let mut verdict =
            CrdVerdict { errors: metadata_update(&model, &old), ..CrdVerdict::default() };
        let options = Options::update(&old);
        check_spec(&model, &options, &mut verdict);
        let errors = &mut verdict.errors;
        immutable(&model, &old, errors);
        accepted_names(&old, errors);
        let mut stored = old.stored_versions_or_first();
        stored.extend(model.storage_version().filter(|name| !stored.contains(name)));
        spec::stored_versions(&stored, &model, errors);
        approval::check(&model, Some(&old), errors);
        if !old.preserve_unknown_fields {
            check_preserve(&model, errors);
        }
        let (found, known) = (warnings::unknown_formats(&model), warnings::unknown_formats(&old));
        verdict.warnings = warnings::warnings(&found, &known);
        verdict
    }

    /// What a server says when only the status of a definition is updated (CV-95).
    pub fn update_status(&self, old: &CrdManifest) -> CrdVerdict {
        let (model, old) = (self.model(), old.model());
        let mut verdict =
            CrdVerdict { errors: metadata_update(&model, &old), ..CrdVerdict::default() };
        accepted_names(&model, &mut verdict.errors);
        verdict
    }
}

/// OM-41. A patch, which is how manifests are applied, keeps what only servers write.
fn metadata_update(model: &Model<'_>, old: &Model<'_>) -> Vec<FieldError> {
    let (mut metadata, mut stored) = (model.metadata.clone(), old.metadata.clone());
    let fallback = Value::from("1");
    for name in [
        "resourceVersion",
        "generation",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let kept = old.metadata.get(name);
        let kept = kept.or((name == "resourceVersion").then_some(&fallback));
        for members in [&mut metadata, &mut stored] {
            if let (Some(kept), Value::Object(members)) = (kept, &mut **members)
                && !members.contains_key(name)
            {
                members.insert(name.to_owned(), kept.clone());
            }
        }
    }
    validate_update(&metadata, &stored)
}

/// Sections 3 to 7.
fn check_spec(model: &Model<'_>, options: &Options<'_>, verdict: &mut CrdVerdict) {
    let errors = &mut verdict.errors;
    spec::group(model.group, errors);
    spec::one_of(spec::spec("scope"), model.scope, &["Cluster", "Namespaced"], errors);
    schema_presence(model, options, errors);
    let schemas = || model.versions.iter().filter_map(|version| version.schema);
    let has = |test: fn(&Value) -> bool| schemas().flat_map(node::nodes).any(test);
    let has_default = has(|schema| record::member(schema, "default").is_some());
    // CV-26.
    if has_default && model.preserve_unknown_fields {
        let detail = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(spec::spec("preserveUnknownFields"), true, detail));
    }
    // CV-22.
    let is_structural =
        options.structural || !model.preserve_unknown_fields || has_default || has(uses_extensions);
    let mut containers = model.containers().into_iter();
    let mut rewritten = Vec::new();
    let mut check_schema = |verdict: &mut CrdVerdict| {
        if let Some(container) = containers.next() {
            let mut found = container::check(&container, is_structural, options);
            rewritten.append(&mut found.rewritten);
            verdict.errors.append(&mut found.errors);
            verdict.not_evaluated.append(&mut found.rules);
        }
    };
    for (index, version) in model.versions.iter().enumerate() {
        spec::version_name(index, version, &mut verdict.errors);
        if !model.hoisted.schema && version.schema.is_some() {
            check_schema(verdict);
        }
        let path = |name: &str| version_path(index).name(name);
        let errors = &mut verdict.errors;
        if !model.hoisted.subresources {
            spec::subresources(version.subresources, &path("subresources"), errors);
        }
        if !model.hoisted.columns {
            spec::columns(version.columns, &path("additionalPrinterColumns"), errors);
        }
        if !model.hoisted.selectable_fields {
            selectable_fields(model, options, Some(index), &path("selectableFields"), errors);
        }
    }
    if model.hoisted.schema {
        // What is moved to the top comes behind the names.
        versions_and_names(model, &[], &mut verdict.errors);
        check_schema(verdict);
    } else {
        versions_and_names(model, &rewritten, &mut verdict.errors);
    }
    let errors = &mut verdict.errors;
    let first = model.versions.first();
    if model.hoisted.subresources {
        let subresources = first.and_then(|version| version.subresources);
        spec::subresources(subresources, &spec::spec("subresources"), errors);
    }
    if model.hoisted.columns {
        let columns = first.map_or(&[][..], |version| version.columns);
        spec::columns(columns, &spec::spec("additionalPrinterColumns"), errors);
    }
    if model.hoisted.selectable_fields {
        selectable_fields(model, options, None, &spec::spec("selectableFields"), errors);
    }
    conversion::check(model, options, errors);
}

fn versions_and_names(
    model: &Model<'_>,
    rewritten: &[(FieldPath, DeepValue)],
    errors: &mut Vec<FieldError>,
) {
    spec::all_versions(model, rewritten, errors);
    spec::required_names(&model.names, errors);
    spec::names(&model.names, &spec::spec("names"), errors);
}

/// CV-23, CV-24.
fn schema_presence(model: &Model<'_>, options: &Options<'_>, errors: &mut Vec<FieldError>) {
    if !options.schemas && model.preserve_unknown_fields {
        return;
    }
    for (index, version) in model.versions.iter().enumerate() {
        if version.schema.is_none() && (options.schemas || version.served) {
            let detail =
                if options.schemas { "" } else { "because otherwise all fields are pruned" };
            let path = version_path(index).name("schema").name("openAPIV3Schema");
            errors.push(FieldError::required(path, detail));
        }
    }
}

/// Whether a node has an extension that needs structural schemas (CV-22).
fn uses_extensions(schema: &Value) -> bool {
    let is_set = |name: &str| record::member(schema, name).is_some();
    is_set("x-kubernetes-preserve-unknown-fields")
        || record::flag(schema, "x-kubernetes-embedded-resource")
        || record::flag(schema, "x-kubernetes-int-or-string")
        || !record::list(schema, "x-kubernetes-list-map-keys").is_empty()
        || is_set("x-kubernetes-list-type")
        || !record::list(schema, "x-kubernetes-validations").is_empty()
}

/// CV-104, for one version or what all have in common.
fn selectable_fields(
    model: &Model<'_>,
    options: &Options<'_>,
    index: Option<usize>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let Some(version) = model.versions.get(index.unwrap_or(0)) else { return };
    let fields = version.selectable_fields;
    if fields.is_empty() {
        return;
    }
    // A schema that has been moved to the top is not the version's any more, and the other way
    // round.
    let is_near = model.hoisted.schema == index.is_none();
    match version.schema.filter(|_| is_near) {
        None => {
            let detail = match index {
                Some(_) => "may only be set when `version.schema.openAPIV3Schema` is not included",
                None => "may only be set when validations.schema is included",
            };
            errors.push(FieldError::invalid(path.clone(), "", detail));
        }
        Some(schema) => {
            let name = index.map(|_| version.name);
            let is_limited = options.limits_selectable_fields(fields, name);
            selectable::check(fields, schema, path, is_limited, errors);
        }
    }
}

/// CV-81.
fn immutable(model: &Model<'_>, old: &Model<'_>, errors: &mut Vec<FieldError>) {
    let mut check = |path: FieldPath, value: &str, before: &str| {
        if value != before {
            errors.push(FieldError::invalid(path, value, "field is immutable"));
        }
    };
    if old.is_established {
        check(spec::spec("scope"), model.scope, old.scope);
        check(spec::spec("names").name("kind"), model.names.kind, old.names.kind);
    }
    check(spec::spec("group"), model.group, old.group);
    check(spec::spec("names").name("plural"), model.names.plural, old.names.plural);
}

fn accepted_names(model: &Model<'_>, errors: &mut Vec<FieldError>) {
    let path = FieldPath::default().name("status").name("acceptedNames");
    spec::names(&model.accepted_names, &path, errors);
}

/// CV-14.
fn check_preserve(model: &Model<'_>, errors: &mut Vec<FieldError>) {
    if model.preserve_unknown_fields {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.push(FieldError::invalid(spec::spec("preserveUnknownFields"), true, detail));
    }
}
