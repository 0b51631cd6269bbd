//! The API version and kind of an object.

use serde_json::Value;

use crate::GroupVersionKind;
use crate::message_error;
use crate::print::quote;
use crate::value::{json_type, sorted};

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

/// The place in the server's code that knows the types of built-in kinds, as some errors name it.
pub const BUILT_IN_SCHEME: &str = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30";

/// Returns the server's error for an object of a type that a scheme does not know (BK-22).
///
/// ```
/// use billhook_apimachinery::not_registered_error;
///
/// let error = not_registered_error("Foo", "v1", "pkg/scheme.go:1");
/// assert_eq!(error, r#"no kind "Foo" is registered for version "v1" in scheme "pkg/scheme.go:1""#);
/// ```
pub fn not_registered_error(kind: &str, api_version: &str, scheme: &str) -> String {
    let (kind, api_version) = (quote(kind), quote(api_version));
    format!("no kind {kind} is registered for version {api_version} in scheme \"{scheme}\"")
}

message_error! {
    /// An object whose API version and kind cannot be read; prints the server's text.
    pub struct TypeMetaError;
}

fn cannot_unmarshal(value: &Value, target: &str) -> TypeMetaError {
    TypeMetaError::from(format!(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go {target}",
        json_type(value)
    ))
}

/// `apiVersion` or `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeField {
    /// `apiVersion`.
    ApiVersion,
    /// `kind`.
    Kind,
}

impl TypeField {
    /// Returns the field that a key names where the case of letters does not count. Two letters
    /// beyond ASCII count as well, those whose other case is `s` or `k`.
    pub fn of(key: &str) -> Option<Self> {
        // Most keys have another length than either name in any spelling.
        let field = match key.len() {
            4 | 6 => TypeField::Kind,
            10 | 11 => TypeField::ApiVersion,
            _ => return None,
        };
        let folded = key.chars().map(|c| match c {
            '\u{17f}' => 's',
            '\u{212a}' => 'k',
            c => c.to_ascii_lowercase(),
        });
        folded.eq(field.name().chars().map(|c| c.to_ascii_lowercase())).then_some(field)
    }

    /// The name of the field.
    pub fn name(self) -> &'static str {
        match self {
            TypeField::ApiVersion => "apiVersion",
            TypeField::Kind => "kind",
        }
    }
}

/// The members that name the type of an object as a server reads them before all others: in either
/// case, and each time that they are written (RP-12).
///
/// ```
/// # use billhook_apimachinery::WrittenTypes;
/// let mut written = WrittenTypes::default();
/// written.member("Kind", &5.into());
/// written.member("kind", &"Foo".into());
/// assert!(written.check().unwrap_err().to_string().ends_with("field .kind of type string"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenTypes {
    api_version: String,
    /// The first error.
    wrong: Option<TypeMetaError>,
}

impl WrittenTypes {
    /// Takes the next member of the object, with any key.
    pub fn member(&mut self, key: &str, value: &Value) {
        let Some(field) = TypeField::of(key) else { return };
        match (value, field) {
            (Value::Null, _) | (Value::String(_), TypeField::Kind) => {}
            (Value::String(text), TypeField::ApiVersion) => text.clone_into(&mut self.api_version),
            (other, field) => {
                let target = format!("struct field .{} of type string", field.name());
                self.wrong.get_or_insert_with(|| cannot_unmarshal(other, &target));
            }
        }
    }

    /// Returns whether the type can be read.
    ///
    /// # Errors
    ///
    /// When one of the members is not a string, or the last `apiVersion` has more than one slash.
    pub fn check(&self) -> Result<(), TypeMetaError> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        match TypeMeta::new(&self.api_version, "") {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string().into()),
        }
    }
}

impl TypeMeta {
    /// Reads the API version and the kind of an object, which are empty if they are missing. Null
    /// counts as an empty object (RP-18).
    ///
    /// # Errors
    ///
    /// When it is not an object, or `apiVersion` or `kind` is not what it should be.
    pub fn of_object(object: &Value) -> Result<Self, TypeMetaError> {
        let members = match object {
            Value::Object(members) => members,
            Value::Null => return Ok(TypeMeta::default()),
            other => {
                let target = r#"value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
                return Err(cannot_unmarshal(other, target));
            }
        };
        let mut written = WrittenTypes::default();
        if members.keys().any(|key| TypeField::of(key).is_some_and(|field| field.name() != key)) {
            // The object is written in the order of its keys before it is read.
            sorted(members).into_iter().for_each(|(key, value)| written.member(key, value));
        } else {
            let fields = ["apiVersion", "kind"].into_iter();
            fields
                .filter_map(|name| Some((name, members.get(name)?)))
                .for_each(|(name, value)| written.member(name, value));
        }
        written.check()?;
        let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        let found = TypeMeta::new(text("apiVersion"), text("kind"));
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
