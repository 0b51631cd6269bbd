//! Decoding of the body of a request, or of what a patch makes of the stored object (RP-10, RP-24).

use billhook::scale;
use billhook::{
    BodyFormat, DecodeError, DecodeErrorKind, DecodeOptions, Decoded, FieldValidation,
    first_wrong_type, read_body,
};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::{RecordError, text};
use billhook_apimachinery::value::{DeepValue, has_floats};
use billhook_apimachinery::{not_registered_error, strict_decoding_error};
use serde_json::Value;

use super::body::IncomingRequest;
use super::client_patch::Patched;
use super::request::Subresource;
use super::strategy::Strategy;
use crate::trace::FieldDifference;

impl IncomingRequest<'_> {
    /// Decodes what a patch makes of the stored object. It may be of any version until it is
    /// validated, and its numbers are those of the patch: 1.0 is another one than 1 (RE-131).
    pub(super) fn decode_patched(
        &self,
        patched: &Patched<'_>,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<(DeepValue, Vec<String>), Undecodable> {
        let validation = match self.request.field_validation {
            // What is wrong with a patched object is reported together with what is wrong with the
            // patch.
            FieldValidation::Strict => FieldValidation::Warn,
            other => other,
        };
        if self.strategy.is_some() || self.request.is_for(Subresource::Scale) {
            return self.decode(patched.body().as_bytes(), validation, changes);
        }
        let options = DecodeOptions::default()
            .field_validation(validation)
            .report(self.request.options.trace)
            .any_version(true);
        let mut object = patched.object.clone();
        let (found, reported) = self.version.decode_value(&mut object, &options)?;
        changes.extend(reported.iter().map(FieldDifference::from));
        Ok((object, found))
    }

    /// Whether what a patch makes of an object can be decoded without a copy, which only texts of errors
    /// show. Of a type of its own it is read from its text in one way only if it has no floats.
    pub(super) fn is_plain(&self, patched: &Patched<'_>) -> bool {
        !self.request.is_for(Subresource::Scale)
            && !self.request.options.trace
            && patched.entries.is_empty()
            && (self.strategy.is_none() || !has_floats(&patched.object))
    }

    /// Decodes such an object; none if there is anything to say about it.
    pub(super) fn decode_in_place(&self, mut object: DeepValue) -> Option<DeepValue> {
        let options = DecodeOptions::default()
            .field_validation(FieldValidation::Warn)
            .any_version(self.strategy.is_none());
        let (mut found, _) = self.version.decode_value(&mut object, &options).ok()?;
        if let Some(strategy) = self.strategy {
            found.extend(strategy.read(&mut object).ok()?);
            self.says_its_type(&object).then_some(())?;
        }
        found.is_empty().then_some(object)
    }

    /// The object in a body, and what field validation found.
    pub(super) fn decode(
        &self,
        body: &[u8],
        field_validation: FieldValidation,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<(DeepValue, Vec<String>), Undecodable> {
        let format =
            if self.request.is_patch() { BodyFormat::Json } else { self.request.body_format };
        if let Some(paths) = self.scale() {
            let kubernetes = self.version.definition().kubernetes();
            return Ok(scale::decode(paths, (body, format), field_validation, kubernetes)?);
        }
        let mut options = DecodeOptions::default()
            .format(format)
            .field_validation(field_validation)
            .report(self.request.options.trace);
        if self.strategy.is_some() && field_validation == FieldValidation::Strict {
            options = options.field_validation(FieldValidation::Warn);
        }
        let decoded = self.version.decode(body, &options);
        let decoded = match self.strategy {
            None => decoded?,
            Some(_) if decoded.as_ref().is_ok_and(|it| self.says_its_type(it.object())) => decoded?,
            Some(strategy) => self.decode_incomplete(strategy, body, &options, decoded)?,
        };
        let (mut object, mut found, reported) = decoded.into_parts();
        changes.extend(reported.iter().map(FieldDifference::from));
        if let Some(strategy) = self.strategy {
            let unknown = strategy
                .read(&mut object)
                .map_err(|error| self.refused(self.in_text(strategy, error, body)))?;
            self.add_unknown(unknown, field_validation, &mut found)?;
        }
        Ok((object, found))
    }

    fn says_its_type(&self, object: &Value) -> bool {
        text(object, "kind") == self.version.definition().kind()
            && text(object, "apiVersion") == self.version.api_version()
    }

    /// Decodes a body of a resource that has types of its own, where that failed, or the body does not
    /// say that it is of the right one: it may leave out which it is.
    fn decode_incomplete(
        &self,
        strategy: &dyn Strategy,
        body: &[u8],
        options: &DecodeOptions,
        decoded: Result<Decoded, DecodeError>,
    ) -> Result<Decoded, Undecodable> {
        let completed = self.complete_type(body)?;
        let decoded = match &completed {
            Some(completed) => self.version.decode(completed, options),
            None => decoded,
        };
        decoded.map_err(|error| {
            let mut refused = Undecodable::from(error);
            // A type of its own has no fields in other versions.
            refused.warnings.clear();
            self.wrong_type(strategy, body).unwrap_or(refused)
        })
    }

    /// The error about a value in a body that is not of the type of its field, metadata included.
    fn wrong_type(&self, strategy: &dyn Strategy, body: &[u8]) -> Option<Undecodable> {
        let kind = self.version.definition().kind();
        let mut object = read_body(body, self.request.body_format, kind).ok()?;
        let error = strategy.read(&mut object).err()?;
        Some(self.refused(self.in_text(strategy, error, body)))
    }

    /// The error that comes first in the text of a body, for one that was found in its object.
    fn in_text(&self, strategy: &dyn Strategy, error: RecordError, body: &[u8]) -> String {
        let kubernetes = self.version.definition().kubernetes();
        let format = self.request.body_format;
        let first = first_wrong_type(body, format, strategy.record(), kubernetes);
        first.unwrap_or(error).to_string()
    }

    /// The failure of a body of a resource that has types of its own.
    fn refused(&self, error: String) -> Undecodable {
        let (kind, version) = (self.version.definition().kind(), self.version.name());
        let message =
            format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {error}");
        Undecodable { error, message, warnings: Vec::new() }
    }

    /// A body of a resource that has types of its own may leave out which it is. Returns it with
    /// its type, if that is missing (LC-02).
    fn complete_type(&self, body: &[u8]) -> Result<Option<Vec<u8>>, Undecodable> {
        let kind = self.version.definition().kind();
        let api_version = self.version.api_version();
        let Ok(mut object) = read_body(body, self.request.body_format, kind) else {
            return Ok(None);
        };
        let Value::Object(members) = &mut *object else { return Ok(None) };
        let said = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_complete = !said("kind").is_empty() && !said("apiVersion").is_empty();
        let or = |said: &str, own: &str| if said.is_empty() { own } else { said }.to_owned();
        let found = or(said("kind"), kind);
        let found_version = or(said("apiVersion"), &api_version);
        let is_other_version =
            found_version != api_version && self.strategy.is_some_and(Strategy::is_typed);
        if found != kind || is_other_version {
            let version = found_version.rsplit('/').next().unwrap_or_default();
            let scheme = self.strategy.map_or("", Strategy::scheme);
            let error = not_registered_error(&found, &found_version, scheme);
            let message = format!(
                "{found} in version {} cannot be handled as a {kind}: {error}",
                quote(version)
            );
            return Err(Undecodable { error, message, warnings: Vec::new() });
        }
        if is_complete {
            return Ok(None);
        }
        members.insert("kind".to_owned(), found.into());
        members.insert("apiVersion".to_owned(), found_version.into());
        Ok(Some(billhook::to_json(&object).into_bytes()))
    }

    /// Reports the fields that a type does not have, as field validation says (RP-24).
    fn add_unknown(
        &self,
        unknown: Vec<String>,
        field_validation: FieldValidation,
        found: &mut Vec<String>,
    ) -> Result<(), Undecodable> {
        match field_validation {
            FieldValidation::Ignore => Ok(()),
            FieldValidation::Warn => {
                found.extend(unknown);
                Ok(())
            }
            FieldValidation::Strict => {
                found.extend(unknown);
                if found.is_empty() {
                    return Ok(());
                }
                Err(self.refused(strict_decoding_error(found.iter().map(String::as_str))))
            }
        }
    }
}

/// Why a body cannot be decoded.
pub(super) struct Undecodable {
    pub(super) error: String,
    /// The message for the client.
    pub(super) message: String,
    /// The findings of field validation before that.
    pub(super) warnings: Vec<String>,
}

impl From<DecodeError> for Undecodable {
    fn from(error: DecodeError) -> Self {
        let message = error.status_message().to_owned();
        let warnings = match error.kind() {
            // They are the error.
            DecodeErrorKind::Strict => Vec::new(),
            _ => error.field_findings().to_vec(),
        };
        Undecodable { error: error.to_string(), message, warnings }
    }
}
