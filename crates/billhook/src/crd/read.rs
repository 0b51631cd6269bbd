//! Reading the parts of a CustomResourceDefinition that decoding needs.

use std::sync::{Arc, OnceLock};

use billhook_apimachinery::value::{Num, grow, json_type};
use billhook_apimachinery::{Dialect, FieldPath};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use serde_json::Value;

use super::scale_paths::ScalePaths;
use super::{CompiledDefinition, CrdError, CrdOptions, Names, Scope, VersionData};

pub(super) fn definition(
    value: &Value,
    options: &CrdOptions,
) -> Result<CompiledDefinition, CrdError> {
    let root = Reader { value, path: FieldPath::default() };
    let (api_version, kind) = (root.text("apiVersion")?, root.text("kind")?);
    if kind != "CustomResourceDefinition" || api_version != "apiextensions.k8s.io/v1" {
        return Err(CrdError::Kind(format!("apiVersion `{api_version}`, kind `{kind}`")));
    }
    let spec = root.required("spec")?;
    let names = spec.required("names")?;
    let names = Names {
        plural: names.required_text("plural")?,
        singular: names.text("singular")?,
        kind: names.required_text("kind")?,
        list_kind: names.text("listKind")?,
        short_names: names.texts("shortNames")?,
        categories: names.texts("categories")?,
    };
    let preserve_unknown_fields = spec.flag("preserveUnknownFields")?;
    let strategy = match spec.optional("conversion") {
        Some(conversion) => conversion.text("strategy")?,
        None => String::new(),
    };
    let scope = match spec.text("scope")?.as_str() {
        "Namespaced" => Scope::Namespaced,
        "Cluster" => Scope::Cluster,
        other => {
            let message = format!("expected `Namespaced` or `Cluster`, found `{other}`");
            return Err(spec.field_error("scope", message));
        }
    };
    let compile = Compile { dialect: options.dialect, prune: !preserve_unknown_fields };
    let mut versions = Vec::new();
    for version in spec.list("versions")? {
        versions.push(Arc::new(read_version(&version, &compile)?));
    }
    if versions.is_empty() {
        return Err(spec.field_error("versions", "there is no version".to_owned()));
    }
    Ok(CompiledDefinition {
        name: root.optional("metadata").map_or(Ok(String::new()), |meta| meta.text("name"))?,
        group: spec.required_text("group")?,
        names,
        scope,
        preserve_unknown_fields,
        is_converted_by_webhook: strategy == "Webhook",
        is_established: conditions(value).next().is_none()
            || is_true(value, "Established")
            || is_true(value, "NamesAccepted"),
        is_terminating: is_true(value, "Terminating"),
        dialect: options.dialect,
        versions,
        empty: compile.schema(None, FieldPath::default()),
    })
}

/// Type and status of the conditions in the status, which no manifest needs to have.
fn conditions(definition: &Value) -> impl Iterator<Item = (&str, &str)> {
    let found = definition.pointer("/status/conditions").and_then(Value::as_array);
    found.into_iter().flatten().filter_map(|condition| {
        let text = |name| condition.get(name).and_then(Value::as_str);
        Some((text("type")?, text("status")?))
    })
}

fn is_true(definition: &Value, condition: &str) -> bool {
    conditions(definition).any(|found| found == (condition, "True"))
}

fn read_version(version: &Reader<'_>, compile: &Compile) -> Result<VersionData, CrdError> {
    let schema = version.optional("schema").and_then(|schema| schema.optional("openAPIV3Schema"));
    let path = match &schema {
        Some(schema) => schema.path.clone(),
        None => version.path.clone().name("schema").name("openAPIV3Schema"),
    };
    let mut written = Arc::new(JsonSchemaProps::default());
    let structural = match schema {
        None => None,
        Some(schema) => {
            written = Arc::new(JsonSchemaProps::from_value_at(schema.value, &path)?);
            match StructuralSchema::new(Arc::clone(&written)) {
                Ok(structural) => Some(structural),
                // Old definitions that preserve unknown fields need no structural schema.
                Err(_) if !compile.prune => None,
                Err(error) => return Err(CrdError::Conversion { path: path.to_string(), error }),
            }
        }
    };
    let compiled = compile.schema(structural.as_ref(), path.clone());
    let compiled = if compile.prune {
        billhook_default_validation::prune_defaults(&compiled)
            .map_err(|error| CrdError::Defaults { path: path.to_string(), error })?
    } else {
        compiled
    };
    let compiled = with_stored_defaults(&compiled);
    let subresources = version.optional("subresources");
    let subresource = |name| subresources.as_ref().and_then(|all| all.optional(name));
    let has_status = subresource("status").is_some();
    let scale = subresource("scale").map(|scale| read_scale(&scale)).transpose()?;
    let name = version.required_text("name")?;
    let warning = version.text("deprecationWarning")?;
    let deprecated = version.flag("deprecated")?;
    Ok(VersionData {
        served: version.flag("served")?,
        storage: version.flag("storage")?,
        deprecation_warning: deprecated.then_some(warning),
        has_status_subresource: has_status,
        scale,
        written,
        structural,
        compiled,
        decoder: OnceLock::new(),
        validator: OnceLock::new(),
        rules: OnceLock::new(),
        name,
    })
}

fn read_scale(scale: &Reader<'_>) -> Result<ScalePaths, CrdError> {
    Ok(ScalePaths {
        spec_replicas: scale.text("specReplicasPath")?,
        status_replicas: scale.text("statusReplicasPath")?,
        label_selector: scale.text("labelSelectorPath")?,
    })
}

struct Compile {
    dialect: Dialect,
    prune: bool,
}

impl Compile {
    fn schema(&self, schema: Option<&StructuralSchema>, base: FieldPath) -> CompiledSchema {
        let mut options = CompileOptions::default();
        options.dialect = self.dialect;
        options.prune = self.prune;
        options.base = base;
        CompiledSchema::new(schema, options)
    }
}

/// The schema with its defaults as they come back from storage, where the definition itself has
/// been: whole floats are integers (RP-52).
fn with_stored_defaults(schema: &CompiledSchema) -> CompiledSchema {
    let stored = schema.map_defaults(|_, mut default| {
        whole_floats_to_integers(&mut default);
        Ok::<_, std::convert::Infallible>(Some(default))
    });
    stored.unwrap_or_else(|_| schema.clone())
}

fn whole_floats_to_integers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(int) = Num::of(number).to_i64() {
                *value = Value::from(int);
            }
        }
        Value::Array(items) => grow(|| items.iter_mut().for_each(whole_floats_to_integers)),
        Value::Object(members) => {
            grow(|| members.values_mut().for_each(whole_floats_to_integers));
        }
        _ => {}
    }
}

/// A part of the definition and where it is.
struct Reader<'v> {
    value: &'v Value,
    path: FieldPath,
}

impl<'v> Reader<'v> {
    fn optional(&self, name: &str) -> Option<Reader<'v>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Reader { value, path: self.path.clone().name(name) })
    }

    fn required(&self, name: &str) -> Result<Reader<'v>, CrdError> {
        self.optional(name).ok_or_else(|| self.field_error(name, "required value".to_owned()))
    }

    fn text(&self, name: &str) -> Result<String, CrdError> {
        match self.optional(name) {
            None => Ok(String::new()),
            Some(field) => field.as_text(),
        }
    }

    fn required_text(&self, name: &str) -> Result<String, CrdError> {
        self.required(name)?.as_text()
    }

    fn as_text(&self) -> Result<String, CrdError> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            other => Err(self.type_error("a string", other)),
        }
    }

    fn flag(&self, name: &str) -> Result<bool, CrdError> {
        match self.optional(name) {
            None => Ok(false),
            Some(field) => {
                field.value.as_bool().ok_or_else(|| field.type_error("a boolean", field.value))
            }
        }
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, CrdError> {
        self.list(name)?.iter().map(Reader::as_text).collect()
    }

    fn list(&self, name: &str) -> Result<Vec<Reader<'v>>, CrdError> {
        let Some(field) = self.optional(name) else { return Ok(Vec::new()) };
        let Value::Array(items) = field.value else {
            return Err(field.type_error("a list", field.value));
        };
        let item = |(index, value)| Reader { value, path: field.path.clone().index(index) };
        Ok(items.iter().enumerate().map(item).collect())
    }

    fn type_error(&self, expected: &str, found: &Value) -> CrdError {
        CrdError::Field {
            path: self.path.to_string(),
            message: format!("expected {expected}, found {}", json_type(found)),
        }
    }

    fn field_error(&self, name: &str, message: String) -> CrdError {
        CrdError::Field { path: self.path.clone().name(name).to_string(), message }
    }
}
