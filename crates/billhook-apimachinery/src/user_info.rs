//! Who makes a request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::serde_null::null_is_default;

/// Who makes a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UserInfo {
    /// The name.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// Distinguishes users of the same name at different times.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The groups that the user is in.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Further attributes found by authentication.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// Creates a user with a name only.
    pub fn named(username: impl Into<String>) -> Self {
        UserInfo { username: username.into(), ..UserInfo::default() }
    }

    /// Adds the user to a group.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }
}
