//! Who makes the requests of a controller (CP-01).

use billhook_apimachinery::UserInfo;

/// The user who makes requests, and the user agent, whose first part is the manager of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    user: UserInfo,
    user_agent: String,
}

/// The version in user agents.
const VERSION: &str = "v1.36.0 (linux/amd64) kubernetes/billhook";

impl Account {
    /// Creates an account of a user, whose fields have a manager.
    pub fn new(user: UserInfo, manager: &str) -> Self {
        Account { user, user_agent: format!("{manager}/{VERSION}") }
    }

    /// Returns the account of a controller of kube-controller-manager: a service account of the
    /// namespace `kube-system`.
    pub fn of_controller(name: &str) -> Self {
        let user = UserInfo::service_account("kube-system", name);
        let user_agent = format!("kube-controller-manager/{VERSION}/{}", user.username);
        Account { user, user_agent }
    }

    /// Returns the user.
    pub fn user(&self) -> &UserInfo {
        &self.user
    }

    /// Returns the user agent.
    pub fn user_agent(&self) -> &str {
        &self.user_agent
    }
}
