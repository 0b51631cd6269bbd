//! Asking an authorizer (CE-10): `authorizer.group('apps').resource('deployments').check('get')`.

use std::sync::Arc;

use billhook_apimachinery::{UserInfo, names};

use super::cost;
use super::declare::{Call, Cost, Overload, Result, opaque, text, wrap};
use crate::authorization::{
    AuthorizationDecision, AuthorizationRequest, AuthorizationTarget, Authorizer, BoundAuthorizer,
    ResourceTarget, ServiceAccount,
};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, LibraryValue, Value};

const AUTHORIZER: &str = "kubernetes.authorization.Authorizer";
const PATH_CHECK: &str = "kubernetes.authorization.PathCheck";
const GROUP_CHECK: &str = "kubernetes.authorization.GroupCheck";
const RESOURCE_CHECK: &str = "kubernetes.authorization.ResourceCheck";
const DECISION: &str = "kubernetes.authorization.Decision";

/// The cost of asking: no expression can ask more than twice.
const CHECK_COST: u64 = 350_000;

/// A question that is not asked yet.
#[derive(Clone, Debug, PartialEq)]
struct Question {
    /// Which type it has in expressions.
    kind: &'static str,
    authorizer: BoundAuthorizer,
    service_account: Option<ServiceAccount>,
    target: AuthorizationTarget,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
struct Decision(AuthorizationDecision);

impl LibraryValue for Question {
    fn type_name(&self) -> &'static str {
        self.kind
    }
}

impl LibraryValue for Decision {
    fn type_name(&self) -> &'static str {
        DECISION
    }
}

impl Type {
    /// Returns the type of the variable `authorizer`.
    pub fn authorizer() -> Type {
        Type::Opaque(AUTHORIZER)
    }

    /// Returns the type of the variable `authorizer.requestResource`.
    pub fn resource_check() -> Type {
        Type::Opaque(RESOURCE_CHECK)
    }
}

impl Value<'_> {
    /// Returns the variable `authorizer`: asks what a user may do.
    pub fn authorizer(authorizer: Arc<dyn Authorizer>, user: Arc<UserInfo>) -> Self {
        let authorizer = BoundAuthorizer { authorizer, user };
        question(AUTHORIZER, authorizer, AuthorizationTarget::default())
    }

    /// Returns the variable `authorizer.requestResource`: asks what a user may do with a resource.
    pub fn resource_check(
        authorizer: Arc<dyn Authorizer>,
        user: Arc<UserInfo>,
        resource: ResourceTarget,
    ) -> Self {
        question(RESOURCE_CHECK, BoundAuthorizer { authorizer, user }, resource.into())
    }
}

fn question<'a>(
    kind: &'static str,
    authorizer: BoundAuthorizer,
    target: AuthorizationTarget,
) -> Value<'a> {
    wrap(Question { kind, authorizer, service_account: None, target })
}

pub(super) fn library() -> Vec<Overload> {
    use Type::{Bool, String};
    let [authorizer, path, group, resource, decision] =
        [AUTHORIZER, PATH_CHECK, GROUP_CHECK, RESOURCE_CHECK, DECISION].map(Type::Opaque);
    let step = |name: &'static str, from: &Type, to: &Type, call: Call| {
        Overload::method(name, vec![from.clone(), String], to.clone(), call)
    };
    let answer = |name: &'static str, result: Type, call: Call| {
        Overload::method(name, vec![decision.clone()], result, call)
    };
    let narrow = |name, call| step(name, &resource, &resource, call);
    let selector = Cost::Of(cost::second);
    vec![
        Overload::method(
            "serviceAccount",
            vec![authorizer.clone(), String, String],
            authorizer.clone(),
            service_account,
        ),
        step("path", &authorizer, &path, |arguments| {
            let path = non_blank(arguments, "path must not be empty")?;
            next(arguments, PATH_CHECK, AuthorizationTarget::Path(path.to_owned()))
        }),
        step("group", &authorizer, &group, |arguments| {
            let target = ResourceTarget::new(text(arguments, 1)?, "");
            next(arguments, GROUP_CHECK, target.into())
        }),
        step("resource", &group, &resource, |arguments| {
            non_blank(arguments, "resource must not be empty")?;
            narrowed(arguments, |target| &mut target.resource)
        }),
        narrow("subresource", |arguments| narrowed(arguments, |target| &mut target.subresource)),
        narrow("namespace", |arguments| narrowed(arguments, |target| &mut target.namespace)),
        narrow("name", |arguments| narrowed(arguments, |target| &mut target.name)),
        narrow("fieldSelector", |arguments| {
            narrowed(arguments, |target| &mut target.field_selector)
        })
        .costs(selector),
        narrow("labelSelector", |arguments| {
            narrowed(arguments, |target| &mut target.label_selector)
        })
        .costs(selector),
        step("check", &path, &decision, check).costs(Cost::Fixed(CHECK_COST)),
        step("check", &resource, &decision, check).costs(Cost::Fixed(CHECK_COST)),
        answer("allowed", Bool, |arguments| Ok(Value::Bool(answered(arguments)?.allowed))),
        answer("reason", String, |arguments| Ok(Value::text(answered(arguments)?.reason.as_str()))),
        answer("errored", Bool, |arguments| Ok(Value::Bool(answered(arguments)?.error.is_some()))),
        answer("error", String, |arguments| {
            Ok(Value::text(answered(arguments)?.error.as_deref().unwrap_or_default()))
        }),
    ]
}

fn asked<'v>(arguments: &'v [Value<'_>]) -> Result<&'v Question> {
    opaque(arguments, 0)
}

fn answered<'v>(arguments: &'v [Value<'_>]) -> Result<&'v AuthorizationDecision> {
    opaque::<Decision>(arguments, 0).map(|decision| &decision.0)
}

fn non_blank<'v>(arguments: &'v [Value<'_>], otherwise: &str) -> Result<&'v str> {
    let text = text(arguments, 1)?;
    if text.trim().is_empty() { Err(EvaluationError::new(otherwise)) } else { Ok(text) }
}

/// The question of the receiver, about something else.
fn next<'a>(
    arguments: &[Value<'a>],
    kind: &'static str,
    target: AuthorizationTarget,
) -> Result<Value<'a>> {
    Ok(wrap(Question { kind, target, ..asked(arguments)?.clone() }))
}

/// The question of the receiver about a resource, with one more detail.
fn narrowed<'a>(
    arguments: &[Value<'a>],
    part: fn(&mut ResourceTarget) -> &mut String,
) -> Result<Value<'a>> {
    let AuthorizationTarget::Resource(mut target) = asked(arguments)?.target.clone() else {
        return Err(EvaluationError::NoSuchOverload);
    };
    text(arguments, 1)?.clone_into(part(&mut target));
    next(arguments, RESOURCE_CHECK, target.into())
}

fn service_account<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let (namespace, name) = (text(arguments, 1)?, text(arguments, 2)?);
    if !names::dns1123_subdomain(name).is_empty() {
        return Err(EvaluationError::new("Invalid service account name"));
    }
    if !names::dns1123_label(namespace).is_empty() {
        return Err(EvaluationError::new("Invalid service account namespace"));
    }
    let account = ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() };
    Ok(wrap(Question { service_account: Some(account), ..asked(arguments)?.clone() }))
}

fn check<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let Question { authorizer, service_account, target, .. } = asked(arguments)?.clone();
    let verb = text(arguments, 1)?.to_owned();
    let request = AuthorizationRequest { service_account, verb, target };
    Ok(wrap(Decision(authorizer.authorizer.authorize(&authorizer.user, &request))))
}
