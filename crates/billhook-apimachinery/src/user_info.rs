//! Who makes a request.

use std::collections::BTreeMap;

use crate::record;

record! {
    /// Who makes a request.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct UserInfo = "UserInfo" {
        /// The name.
        pub username: String = "username",
        /// The identifier that tells apart users of the same name at different times.
        pub uid: String = "uid" as "UID",
        /// The groups that the user is in.
        pub groups: Vec<String> = "groups",
        /// Other findings of authentication.
        pub extra: BTreeMap<String, Vec<String>> = "extra" of "map[string]v1.ExtraValue",
    }
}

impl UserInfo {
    /// Creates a user with a name only.
    pub fn named(username: impl Into<String>) -> Self {
        UserInfo { username: username.into(), ..UserInfo::default() }
    }

    /// Creates the user that a service account is, in the groups of all service accounts, of those of its
    /// namespace, and of all users who have said who they are.
    ///
    /// ```
    /// use billhook_apimachinery::UserInfo;
    ///
    /// let user = UserInfo::service_account("shop", "controller");
    /// assert_eq!(user.username, "system:serviceaccount:shop:controller");
    /// assert_eq!(user.groups[1], "system:serviceaccounts:shop");
    /// ```
    pub fn service_account(namespace: &str, name: &str) -> Self {
        UserInfo::named(format!("system:serviceaccount:{namespace}:{name}"))
            .group("system:serviceaccounts")
            .group(format!("system:serviceaccounts:{namespace}"))
            .group("system:authenticated")
    }

    /// Adds the user to a group.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }
}
