//! The work on each object: it finds its definition and version and goes through the library.

use billhook::{
    CrdVersion, CustomResourceDefinition, DecodeError, DecodeErrorKind, DecodeOptions,
    FieldValidation, Status,
};
use billhook_admission::deprecation_warning;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::split_api_version;
use serde_json::Value;

use super::outcome::{Done, Outcome, UsedVersions};
use crate::args::{Command, From};
use crate::crds::{Crd, Crds, version_named};
use crate::identity::{Identity, type_meta};
use crate::input::Document;
use crate::options::{Report, field_validation};
use crate::problem::{Place, Problem};
use crate::work::Work;

/// The state that the objects of a run share.
#[derive(Clone, Copy)]
pub(crate) struct Run<'r> {
    pub(crate) command: &'r Command,
    pub(crate) crds: &'r Crds,
}

impl<'r> Work for Run<'r> {
    type Outcome = Outcome<'r>;

    fn takes(&self, value: &Value) -> bool {
        !CustomResourceDefinition::is_definition(value)
    }

    fn outcome(&self, document: Document) -> Outcome<'r> {
        let place = document.place.clone();
        let identity = Identity::of(&document.value);
        let duplicates = document.duplicates.clone();
        let mut used = None;
        let result = self.object(document, &identity, &mut used);
        Outcome { place, identity, duplicates, used, result }
    }
}

impl<'r> Run<'r> {
    fn object(
        &self,
        document: Document,
        identity: &Identity,
        used: &mut Option<UsedVersions<'r>>,
    ) -> Result<Done, Box<Problem>> {
        let place = &document.place;
        let (api_version, kind) = type_meta(&document.value, identity, place)?;
        let (group, own) = split_api_version(api_version);
        let crd = self.crds.find(group, own, kind, place)?;
        let version = self.version(&crd, own, place)?;
        *used = Some(UsedVersions::new(crd, own, version.clone(), &document.value));
        match self.command {
            Command::Decode(decode) if decode.from == From::Storage => {
                from_storage(&version, document)
            }
            Command::Decode(decode) => {
                // Nobody sees the changes of a quiet run.
                let common = self.command.common();
                let report = !common.quiet || common.check || common.report == Report::Json;
                let validation = field_validation(decode.field_validation);
                let mut done = from_request(&version, document, validation, report)?;
                done.warnings.splice(0..0, deprecation_warning(&version));
                Ok(done)
            }
            Command::Prune(_) => {
                let mut object = document.value;
                let mut changes = Vec::new();
                version.prune(&mut object, &mut changes);
                Ok(Done { object, changes, warnings: Vec::new() })
            }
            Command::Default(default) => {
                let mut object = document.value;
                let mut changes = Vec::new();
                if default.remove_nulls {
                    version.remove_nulls(&mut object, &mut changes);
                }
                version
                    .apply_defaults(&mut object, &mut changes)
                    .map_err(|error| Problem::refused(document.place, error.to_string()))?;
                Ok(Done { object, changes, warnings: Vec::new() })
            }
        }
    }

    /// The version to use for an object that says it has the version `own`.
    pub(crate) fn version(
        &self,
        crd: &Crd<'_>,
        own: &str,
        place: &Place,
    ) -> Result<CrdVersion, Box<Problem>> {
        let definition = crd.definition;
        let from_storage =
            matches!(self.command, Command::Decode(decode) if decode.from == From::Storage);
        let wanted = self.command.common().version.as_deref();
        let stored = if from_storage { definition.storage().ok() } else { None };
        if wanted.is_none()
            && let Some(stored) = stored
        {
            return Ok(stored);
        }
        version_named(crd, wanted.unwrap_or(own), place)
    }

    /// Whether the objects are those of requests.
    pub(crate) fn is_request(&self) -> bool {
        matches!(self.command, Command::Decode(_))
    }
}

fn from_storage(version: &CrdVersion, document: Document) -> Result<Done, Box<Problem>> {
    let options = DecodeOptions::default().report(true);
    let mut object = document.value;
    match version.decode_storage_value(&mut object, &options) {
        Ok(changes) => Ok(Done { object, changes, warnings: Vec::new() }),
        Err(error) => {
            let answer = Status::internal_error(error.status_message());
            Err(Problem::answered(document.place, answer))
        }
    }
}

pub(crate) fn from_request(
    version: &CrdVersion,
    document: Document,
    validation: FieldValidation,
    report: bool,
) -> Result<Done, Box<Problem>> {
    let options = DecodeOptions::default().report(report).field_validation(validation);
    // All but the lines of repeated keys is known from reading.
    let Some(body) = document.body.as_deref().filter(|_| !document.duplicates.is_empty()) else {
        return value_from_request(version, document, (&options, validation));
    };
    match version.decode(body.bytes(), &options) {
        Ok(decoded) => {
            let warnings = decoded.warnings().into_iter().map(str::to_owned).collect();
            let (object, _, changes) = decoded.into_parts();
            Ok(Done { object, changes, warnings })
        }
        // A body with empty documents around the object.
        Err(error) if error.place().is_some() => {
            value_from_request(version, document, (&options, validation))
        }
        Err(error) => Err(refused(&document, &error)),
    }
}

/// The same for a document whose own text is not at hand; its duplicates are known from reading.
fn value_from_request(
    version: &CrdVersion,
    mut document: Document,
    (options, validation): (&DecodeOptions, FieldValidation),
) -> Result<Done, Box<Problem>> {
    let duplicate = |path: &String| format!("duplicate field {}", quote(path));
    let mut warnings: Vec<String> = document.duplicates.iter().map(duplicate).collect();
    let is_strict = validation == FieldValidation::Strict;
    if warnings.is_empty() || validation == FieldValidation::Ignore {
        return match version.decode_value(&mut document.value, options) {
            Ok((warnings, changes)) => Ok(Done { object: document.value, changes, warnings }),
            Err(error) => Err(refused(&document, &error)),
        };
    }
    let lenient = options.clone().field_validation(FieldValidation::Warn);
    let (unknown, changes) = version
        .decode_value(&mut document.value, &lenient)
        .map_err(|error| refused(&document, &error))?;
    warnings.extend(unknown);
    if is_strict {
        let kind = version.definition().kind();
        let message = format!(
            "{kind} in version \"{}\" cannot be handled as a {kind}: strict decoding error: {}",
            version.name(),
            warnings.join(", ")
        );
        let problem = Problem::answered(document.place, Status::bad_request(message));
        return Err(problem.fields(&warnings));
    }
    Ok(Done { object: document.value, changes, warnings })
}

fn refused(document: &Document, error: &DecodeError) -> Box<Problem> {
    let problem = Problem::answered(document.place.clone(), error.status());
    match error.kind() {
        DecodeErrorKind::Strict => return problem.fields(error.field_findings()),
        DecodeErrorKind::WrongVersion => {}
        _ => return problem,
    }
    problem.help(
        "a request must have the version of its endpoint; `--from storage` shows how an object \
         that is stored in another version reads",
    )
}
