//! The API version and kind of an object.

use crate::GroupVersionKind;

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

impl TypeMeta {
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
