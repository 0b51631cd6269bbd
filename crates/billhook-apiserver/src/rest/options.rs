//! The options of writes and deletions, and what may be wrong with them (RE-20, RE-21).

use billhook::{BodyFormat, FieldValidation};
use billhook_admission::ObjectRequest;
use billhook_apimachinery::metadata::validate_manager;
use billhook_apimachinery::record::Record;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath, Location, Status};
use bytes::Bytes;
use serde_json::Value;

use crate::failures::unsupported_body;
use crate::protobuf::{self, PROTOBUF};
use crate::request::{Query, Request};

/// The options of a creation, an update or a patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) field_manager: String,
    pub(crate) field_validation: FieldValidation,
    /// Whether the request names it.
    pub(crate) names_field_validation: bool,
    /// Whether an apply takes the fields of others.
    pub(crate) force: bool,
}

impl WriteOptions {
    /// Reads the options of a request; `kind` is named in errors.
    pub(crate) fn read(request: &Request, kind: &str) -> Result<Self, Status> {
        let mut errors = Vec::new();
        if kind == "PatchOptions" {
            check_force(request, &mut errors);
        }
        let options = Self::common(request, kind, errors)?;
        Ok(WriteOptions { field_manager: request.field_manager(), ..options })
    }

    /// Reads the options of an apply, which must name its manager (SA-60).
    pub(crate) fn read_of_apply(request: &Request) -> Result<Self, Status> {
        let mut errors = Vec::new();
        let manager = request.query.text("fieldManager");
        if manager.is_empty() {
            let path = FieldPath::default().name("fieldManager");
            errors.push(FieldError::required(path, "is required for apply patch"));
        }
        let options = Self::common(request, "PatchOptions", errors)?;
        let force = request.query.flag("force");
        Ok(WriteOptions { field_manager: manager.to_owned(), force, ..options })
    }

    /// Adds the options to a request.
    pub(crate) fn set(&self, request: ObjectRequest) -> ObjectRequest {
        request
            .dry_run(self.dry_run)
            .field_manager(&self.field_manager)
            .field_validation(self.field_validation)
            .names_field_validation(self.names_field_validation)
    }

    fn common(request: &Request, kind: &str, mut errors: Vec<FieldError>) -> Result<Self, Status> {
        let query = &request.query;
        let at = Location::TOP.name("fieldManager");
        validate_manager(query.text("fieldManager"), &at, &mut errors);
        let dry_run = dry_run(query, &mut errors);
        let field_validation = match query.text("fieldValidation") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                let path = FieldPath::default().name("fieldValidation");
                errors.push(FieldError::not_supported(path, other, supported));
                FieldValidation::Warn
            }
        };
        invalid(kind, &errors)?;
        Ok(WriteOptions {
            dry_run,
            field_validation,
            names_field_validation: !query.text("fieldValidation").is_empty(),
            ..WriteOptions::default()
        })
    }
}

/// Fails with the errors of options, if there are any (RE-21).
pub(crate) fn invalid(kind: &str, errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid("meta.k8s.io", kind, "", errors))
}

fn check_force(request: &Request, errors: &mut Vec<FieldError>) {
    if request.query.get("force").is_some() {
        let path = FieldPath::default().name("force");
        errors.push(FieldError::forbidden(path, "may not be specified for non-apply patch"));
    }
}

/// Reads `dryRun`, a list whose only value is `All` (RE-21, RE-23).
pub(crate) fn dry_run(query: &Query, errors: &mut Vec<FieldError>) -> bool {
    let values: Vec<Value> = query.all("dryRun").map(Value::from).collect();
    if values.iter().any(|value| value != "All") {
        let path = FieldPath::default().name("dryRun");
        errors.push(FieldError::not_supported(path, values.clone(), ["All"]));
    }
    !values.is_empty()
}

/// A body, as JSON or YAML.
pub(crate) struct Body {
    pub(crate) text: Bytes,
    pub(crate) format: BodyFormat,
}

impl Body {
    /// Takes the body of a request: JSON or YAML, or protobuf if it is read as a type of the server
    /// (RE-12, BK-20).
    pub(crate) fn of(request: &Request, record: Option<&'static Record>) -> Result<Self, Status> {
        let is = |type_| is_of_type(request, type_);
        let sent = || request.body().cloned();
        let format = BodyFormat::Json;
        match record {
            _ if is("application/json") => Ok(Body { text: sent()?, format }),
            _ if is("application/yaml") => Ok(Body { text: sent()?, format: BodyFormat::Yaml }),
            Some(record) if is(PROTOBUF) => {
                let object = of_protobuf(request.body()?, record)?;
                Ok(Body { text: billhook::to_json(&object).into_bytes().into(), format })
            }
            _ => {
                let types =
                    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
                Err(unsupported_body(types))
            }
        }
    }
}

/// Reads an object of a type of the server.
fn of_protobuf(body: &[u8], record: &'static Record) -> Result<DeepValue, Status> {
    let own = |_: &str, kind: &str| [record.name, ""].contains(&kind).then_some(record);
    protobuf::read(body, own).map_err(|error| {
        let begin = body.get(..MAX_SHOWN);
        let hex: String = begin.unwrap_or(body).iter().map(|byte| format!("{byte:02x}")).collect();
        let rest = if begin.is_some() { " ..." } else { "" };
        let kind = record.name;
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {error} ({hex}{rest})"
        ))
    })
}

/// How many bytes of an unreadable body its failure shows.
const MAX_SHOWN: usize = 30;

fn is_of_type(request: &Request, type_: &str) -> bool {
    request.content_type().trim().eq_ignore_ascii_case(type_)
}
