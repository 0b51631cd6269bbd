//! The permissions of users: the decision about each request, and the answers to those who ask
//! (BK-650, BK-651).

mod recorder;
mod request;
mod roles;

use std::fmt;
use std::sync::Arc;

use billhook::webhook::{AuthorizationDecision, AuthorizationRequest, Authorizer};
use billhook_apimachinery::UserInfo;

pub(crate) use self::recorder::Recorder;
pub use self::recorder::UsedPermissions;
pub(crate) use self::request::question_of;
pub(crate) use self::roles::{KindOfRoles, RBAC_GROUP, Roles};
use crate::users::AUTHENTICATED;

/// The group whose users may do everything.
const MASTERS: &str = "system:masters";

/// How a server decides whether a user may make a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorizationMode {
    /// Every user may do everything.
    #[default]
    AlwaysAllow,
    /// No user may do anything, but those of the group `system:masters`.
    AlwaysDeny,
    /// Users may do what roles that are bound to them allow: `Role`, `ClusterRole`, `RoleBinding` and
    /// `ClusterRoleBinding` (BK-650). Who writes these may grant no more than they have (BK-652).
    Rbac,
}

/// A user who may do everything.
pub(crate) fn master() -> UserInfo {
    UserInfo::named("system:admin").group(MASTERS).group(AUTHENTICATED)
}

/// Whether a user is one of those who may do everything.
pub(crate) fn is_master(user: &UserInfo) -> bool {
    user.groups.iter().any(|group| group == MASTERS)
}

/// Decides what users may do.
#[derive(Debug)]
pub(crate) struct Permissions {
    pub(crate) mode: AuthorizationMode,
    /// Answers questions in place of the mode, if there is one.
    answers: Option<Answers>,
    /// Whether the answers decide on requests, too.
    answers_decide: bool,
    pub(crate) roles: Roles,
    /// Remembers what is used, if it is asked to.
    pub(crate) recorder: Option<Recorder>,
}

#[derive(Clone)]
struct Answers(Arc<Decide>);

/// Decides whether a user may do something.
pub(crate) type Decide =
    dyn Fn(&UserInfo, &AuthorizationRequest) -> AuthorizationDecision + Send + Sync;

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answers")
    }
}

impl Permissions {
    pub(crate) fn new(
        mode: AuthorizationMode,
        answers: Option<Arc<Decide>>,
        answers_decide: bool,
        recorder: Option<Recorder>,
    ) -> Self {
        let (answers, roles) = (answers.map(Answers), Roles::default());
        Permissions { mode, answers, answers_decide, roles, recorder }
    }

    /// The permissions of another server with the same roles.
    pub(crate) fn fork(&self) -> Self {
        let answers = self.answers.clone();
        let recorder = self.recorder.as_ref().map(|_| Recorder::default());
        let (mode, answers_decide) = (self.mode, self.answers_decide);
        Permissions { mode, answers, answers_decide, roles: self.roles.fork(), recorder }
    }

    /// Whether requests are looked at: they may be refused, or are remembered.
    pub(crate) fn look_at_requests(&self) -> bool {
        self.may_refuse() || self.recorder.is_some()
    }

    /// Whether there may be requests that are refused.
    pub(crate) fn may_refuse(&self) -> bool {
        self.answers_decide || self.mode != AuthorizationMode::AlwaysAllow
    }

    /// Whether everything is allowed, and nothing else is answered.
    pub(crate) fn allows_everything(&self) -> bool {
        self.answers.is_none() && self.mode == AuthorizationMode::AlwaysAllow
    }

    /// Whether rules of roles decide and answer.
    pub(crate) fn is_by_roles(&self) -> bool {
        self.answers.is_none() && self.mode == AuthorizationMode::Rbac
    }

    /// Decides whether a user may make a request.
    pub(crate) fn decide(
        &self,
        user: &UserInfo,
        request: &AuthorizationRequest,
    ) -> AuthorizationDecision {
        if is_master(user) {
            return AuthorizationDecision::new(true);
        }
        if let Some(answers) = self.answers.as_ref().filter(|_| self.answers_decide) {
            return (answers.0)(user, request);
        }
        match self.mode {
            AuthorizationMode::AlwaysAllow => AuthorizationDecision::new(true),
            AuthorizationMode::AlwaysDeny => {
                let mut decision = AuthorizationDecision::new(false);
                "Everything is forbidden.".clone_into(&mut decision.reason);
                decision
            }
            AuthorizationMode::Rbac => self.roles.decide(user, request),
        }
    }
}

/// Answers questions: of access reviews, expressions, and those who write policies.
impl Authorizer for Permissions {
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision {
        let decide = |user: &UserInfo| match &self.answers {
            Some(answers) => (answers.0)(user, request),
            None => self.decide(user, request),
        };
        match &request.service_account {
            Some(account) => decide(&UserInfo::service_account(&account.namespace, &account.name)),
            None => decide(user),
        }
    }
}
