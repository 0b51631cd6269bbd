//! The API version and kind of an object.

use serde_json::Value;

use crate::GroupVersionKind;
use crate::message_error;
use crate::value::json_type;

/// `apiVersion` and `kind` of an object, with the parts of the former.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeMeta {
    /// The kind.
    pub kind: String,
    /// Group and version, as written.
    pub api_version: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
}

/// An `apiVersion` with more than one slash; prints the server's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected GroupVersion string: {0}")]
pub struct GroupVersionError(String);

message_error! {
    /// An object whose API version and kind cannot be read; prints the server's text.
    pub struct TypeMetaError;
}

impl TypeMeta {
    /// Reads the API version and the kind of an object, which are empty if they are missing. Null
    /// counts as an empty object (RP-18).
    ///
    /// # Errors
    ///
    /// When it is not an object, or `apiVersion` or `kind` is not what it should be.
    pub fn of_object(object: &Value) -> Result<Self, TypeMetaError> {
        let cannot_unmarshal = |value: &Value, target: &str| {
            TypeMetaError::from(format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go \
                 {target}",
                json_type(value)
            ))
        };
        if !object.is_object() && !object.is_null() {
            let target = r#"value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
            return Err(cannot_unmarshal(object, target));
        }
        let text = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(text.as_str()),
            Some(other) => {
                Err(cannot_unmarshal(other, &format!("struct field .{name} of type string")))
            }
        };
        let found = TypeMeta::new(text("apiVersion")?, text("kind")?);
        found.map_err(|error| error.to_string().into())
    }

    /// Splits `apiVersion` into group and version.
    ///
    /// # Errors
    ///
    /// When `api_version` has more than one slash.
    pub fn new(api_version: &str, kind: &str) -> Result<Self, GroupVersionError> {
        let (group, version) = match api_version.split_once('/') {
            None => ("", api_version),
            Some((_, version)) if version.contains('/') => {
                return Err(GroupVersionError(api_version.to_owned()));
            }
            Some(parts) => parts,
        };
        let (group, version) = (group.to_owned(), version.to_owned());
        let (kind, api_version) = (kind.to_owned(), api_version.to_owned());
        Ok(TypeMeta { kind, api_version, group, version })
    }
}

impl From<TypeMeta> for GroupVersionKind {
    fn from(types: TypeMeta) -> Self {
        GroupVersionKind::new(types.group, types.version, types.kind)
    }
}
