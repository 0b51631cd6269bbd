//! Decoding in one pass over the text of a body, and the reasons for which a body is left to the
//! path over a tree, which decodes everything and words all other refusals.

use billhook_apimachinery::Change;
use billhook_decode::{Decoder, Reported, Stop};
use billhook_schema::walk::Findings;

use crate::coerce_object::unknown_field;
use crate::crd::CrdVersion;
use crate::decode_options::{BodyFormat, DecodeOptions, FieldValidation};
use crate::error::DecodeError;

/// The reason for which a body is left to the path over a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NeedsTree {
    /// The body is said to be YAML.
    Yaml,
    /// The objects are of a fixed type.
    FixedType,
    /// The pass stopped.
    Stopped(Stop),
}

impl From<Stop> for NeedsTree {
    fn from(stop: Stop) -> Self {
        NeedsTree::Stopped(stop)
    }
}

/// The decoded body, the findings of field validation (RP-20) and the changes; or the refusal of
/// strict field validation.
pub(crate) type Passed<T> = Result<(T, Vec<String>, Vec<Change>), DecodeError>;

/// Decodes a body in one pass.
pub(crate) fn one_pass<'t, T>(
    version: &CrdVersion,
    body: &'t [u8],
    options: &DecodeOptions,
    silently: impl FnOnce(&Decoder, &'t [u8]) -> Result<T, Stop>,
    reporting: impl FnOnce(&Decoder, &'t [u8], Reported) -> Result<(T, Findings), Stop>,
) -> Result<Passed<T>, NeedsTree> {
    if options.format == BodyFormat::Yaml {
        return Err(NeedsTree::Yaml);
    }
    if version.definition().object_type().is_some() {
        return Err(NeedsTree::FixedType);
    }
    let decoder = version.decoder();
    let validates = options.field_validation != FieldValidation::Ignore;
    if !options.report && !validates {
        return Ok(Ok((silently(decoder, body)?, Vec::new(), Vec::new())));
    }
    let reported = if options.report { Reported::Changes } else { Reported::UnknownFields };
    let (decoded, Findings { unknown, changes, .. }) = reporting(decoder, body, reported)?;
    let unknown = unknown.iter().filter(|_| validates).map(|path| unknown_field(path));
    let unknown: Vec<_> = unknown.collect();
    if options.field_validation == FieldValidation::Strict && !unknown.is_empty() {
        let kind = version.definition().kind();
        return Ok(Err(DecodeError::strict((kind, version.name()), kind, &unknown)));
    }
    Ok(Ok((decoded, unknown, if options.report { changes } else { Vec::new() })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CustomResourceDefinition;

    /// The reason for which a body with an unknown field is left to the path over a tree.
    fn reason(body: &str, options: &DecodeOptions) -> Option<NeedsTree> {
        let crd = CustomResourceDefinition::from_value(&serde_json::json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                    {"openAPIV3Schema": {"type": "object"}}}]},
        }));
        crd.ok()?.version("v1")?.clean_text(body.as_bytes(), options).err()
    }

    #[test]
    fn reasons() {
        let unknown = r#"{"apiVersion": "example.com/v1", "kind": "Foo", "x": 1}"#;
        let repeated = r#"{"apiVersion": "example.com/v1", "kind": "Foo", "x": 1, "x": 1}"#;
        let types = r#"{"apiVersion": "example.com/v1", "kind": "Foo", "kind": "Foo"}"#;
        let other = r#"{"apiVersion": "example.com/v2", "kind": "Foo"}"#;
        let options = DecodeOptions::default();
        let with = |validation| options.clone().field_validation(validation);
        let (ignore, strict) = (with(FieldValidation::Ignore), with(FieldValidation::Strict));
        let yaml = options.clone().format(BodyFormat::Yaml);
        for (body, options, expected) in [
            (unknown, &ignore, None),
            (unknown, &options, None),
            (unknown, &strict, None),
            (unknown, &yaml, Some(NeedsTree::Yaml)),
            (repeated, &ignore, None),
            (repeated, &options, Some(NeedsTree::Stopped(Stop::Duplicate))),
            (types, &ignore, Some(NeedsTree::Stopped(Stop::OtherKind))),
            (other, &ignore, Some(NeedsTree::Stopped(Stop::OtherKind))),
            ("kind: Foo", &ignore, Some(NeedsTree::Stopped(Stop::NotAnObject))),
            ("{", &ignore, Some(NeedsTree::Stopped(Stop::Invalid))),
        ] {
            assert_eq!(reason(body, options), expected, "{body}");
        }
    }
}
