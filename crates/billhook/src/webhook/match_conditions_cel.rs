//! Match conditions in CEL (WM-70 to WM-94).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_cel::schema::SchemaType;
use billhook_cel::{
    AuthorizationDecision, AuthorizationRequest, Authorizer, Libraries, Program, ResourceTarget,
    Value,
};
use serde_json::{Map, Value as Json, json};

use super::attributes::AdmissionAttributes;
use super::condition_program::{ANY, AUTHORIZER, REQUEST, REQUEST_RESOURCE, compile};
use super::conditions::{
    ConditionInput, ConditionResult, ConditionsError, MatchConditions, renamed,
};
use super::configuration::MatchCondition;
use super::validation::{ExpressionChecker, ExpressionError};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, KubernetesVersion, UserInfo};

/// The cost limit of one evaluation (WM-84).
const CALL_LIMIT: u64 = 1_000_000;

/// The cost limit of all conditions of a webhook (WM-84).
const BUDGET: u64 = 2_500_000;

/// How many compiled expressions are kept.
const KEPT: usize = 1_000;

/// Decides what users may do, for `authorizer.….check(…)` in conditions (WM-90).
pub trait UserAuthorizer: fmt::Debug + Send + Sync {
    /// Whether a user may do something; the user who makes the request, unless the question names
    /// a service account.
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision;
}

/// An authorizer for one user.
#[derive(Debug)]
struct Bound {
    authorizer: Arc<dyn UserAuthorizer>,
    user: UserInfo,
}

impl Authorizer for Bound {
    fn authorize(&self, request: &AuthorizationRequest) -> AuthorizationDecision {
        self.authorizer.authorize(&self.user, request)
    }
}

/// WM-90, WM-92.
fn authorizer_variables(
    authorizer: &Arc<dyn UserAuthorizer>,
    attributes: &AdmissionAttributes,
) -> [(&'static str, Value<'static>); 2] {
    let (authorizer, user) = (Arc::clone(authorizer), attributes.user.clone());
    let authorizer: Arc<dyn Authorizer> = Arc::new(Bound { authorizer, user });
    let GroupVersionResource { group, resource, .. } = &attributes.resource;
    let mut target = ResourceTarget::new(group, resource);
    target.subresource.clone_from(&attributes.subresource);
    target.namespace.clone_from(&attributes.namespace);
    target.name.clone_from(&attributes.name);
    let resource = Value::resource_check(Arc::clone(&authorizer), target);
    [(AUTHORIZER, Value::authorizer(authorizer)), (REQUEST_RESOURCE, resource)]
}

/// Evaluates match conditions as a server does, and checks them when a configuration is written
/// (WCF-74). Expressions are compiled once.
///
/// ```
/// use billhook::webhook::{CelConditions, ExpressionChecker, Libraries};
/// let conditions = CelConditions::new();
/// let libraries = Libraries::Full;
/// assert!(conditions.check("request.operation == 'CREATE'", libraries).is_ok());
/// assert_eq!(conditions.check("1", libraries), Err("must evaluate to bool but got int".into()));
/// ```
#[derive(Default)]
pub struct CelConditions {
    authorizer: Option<Arc<dyn UserAuthorizer>>,
    leaves_open: bool,
    kubernetes: KubernetesVersion,
    programs: Mutex<HashMap<Libraries, Programs>>,
}

/// Programs by their expressions.
type Programs = HashMap<Box<str>, Compiled>;

/// A program, or the text of the compiler.
type Compiled = Arc<Result<Program, String>>;

impl CelConditions {
    /// An evaluator without an authorizer: a condition that asks it is an error (WM-90).
    pub fn new() -> Self {
        CelConditions::default()
    }

    /// An evaluator with an authorizer for `authorizer.….check(…)`.
    #[must_use]
    pub fn authorizer(mut self, authorizer: Arc<dyn UserAuthorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// An evaluator that leaves open what conditions that ask an authorizer come to, unless there
    /// is one: for predictions without a cluster.
    #[must_use]
    pub fn leave_authorization_open(mut self) -> Self {
        self.leaves_open = true;
        self
    }

    /// An evaluator that compiles expressions as a server of another version does (KV-30).
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self.programs = Mutex::default();
        self
    }

    fn is_open(&self, program: &Program) -> bool {
        let asks = || [AUTHORIZER, REQUEST_RESOURCE].iter().any(|name| program.uses(name));
        self.leaves_open && self.authorizer.is_none() && asks()
    }

    fn program(&self, expression: &str, libraries: Libraries) -> Compiled {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = programs.entry(libraries).or_default();
        if let Some(program) = programs.get(expression) {
            return Arc::clone(program);
        }
        if programs.len() >= KEPT {
            programs.clear();
        }
        let program = Arc::new(compile(expression, self.kubernetes, libraries));
        programs.insert(expression.into(), Arc::clone(&program));
        program
    }
}

impl fmt::Debug for CelConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CelConditions").finish_non_exhaustive()
    }
}

impl ExpressionChecker for CelConditions {
    fn check(&self, expression: &str, libraries: Libraries) -> Result<(), ExpressionError> {
        match &*self.program(expression, libraries) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.as_str().into()),
        }
    }
}

impl MatchConditions for CelConditions {
    fn evaluate(
        &self,
        conditions: &[MatchCondition],
        input: &ConditionInput<'_>,
    ) -> Result<Vec<ConditionResult>, ConditionsError> {
        let request = request(input);
        let renamed = |object: Option<&Json>| renamed(object?, &input.matched.kind);
        let (new, old) = (renamed(input.object), renamed(input.old_object));
        let object = variable("object", new.as_deref().or(input.object), &ANY)?;
        let old_object = variable("oldObject", old.as_deref().or(input.old_object), &ANY)?;
        let request = variable("request", Some(&request), &REQUEST)?;
        let mut variables = vec![object, old_object, request, ("namespaceObject", Value::Null)];
        if let Some(authorizer) = &self.authorizer {
            variables.extend(authorizer_variables(authorizer, input.attributes));
        }
        let mut left = BUDGET;
        let mut results = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let program = self.program(&condition.expression, Libraries::Full);
            let program = match &*program {
                Ok(program) => program,
                Err(error) => {
                    results.push(ConditionResult::CompilationError(error.clone()));
                    continue;
                }
            };
            if self.is_open(program) {
                results.push(ConditionResult::Undecided);
                continue;
            }
            let evaluation = program.evaluate(&variables, CALL_LIMIT);
            left = left.checked_sub(evaluation.cost).ok_or_else(out_of_budget)?;
            results.push(match evaluation.result {
                Ok(Value::Bool(true)) => ConditionResult::True,
                Ok(_) => ConditionResult::False,
                Err(error) => ConditionResult::Error(error.to_string()),
            });
        }
        Ok(results)
    }
}

/// WM-73, WM-82.
fn variable<'v>(
    name: &'static str,
    value: Option<&'v Json>,
    schema: &'v SchemaType,
) -> Result<(&'static str, Value<'v>), String> {
    let value = value.map_or(Ok(Value::Null), |value| Value::of(value, schema));
    let problem = |error| format!("failed to prepare {name} variable for evaluation: {error}");
    value.map(|value| (name, value)).map_err(problem)
}

fn out_of_budget() -> String {
    "validation failed due to running out of cost budget, no further validation rules will be run"
        .to_owned()
}

/// The variable `request`; what is empty is left out (WM-75).
fn request(input: &ConditionInput<'_>) -> DeepValue {
    let attributes = input.attributes;
    let kind = |GroupVersionKind { group, version, kind }: &GroupVersionKind| json!({"group": group, "version": version, "kind": kind});
    let resource = |GroupVersionResource { group, version, resource }: &GroupVersionResource| json!({"group": group, "version": version, "resource": resource});
    let mut members = Map::new();
    let mut set = |name: &str, value: Json| members.insert(name.to_owned(), value);
    // The kind is the one that matched, the resource the one that was asked for (WM-76).
    set("kind", kind(&input.matched.kind));
    set("resource", resource(&attributes.resource));
    set("requestKind", kind(&attributes.kind));
    set("requestResource", resource(&attributes.resource));
    for (name, text) in [
        ("subResource", &attributes.subresource),
        ("requestSubResource", &attributes.subresource),
        ("name", &attributes.name),
        ("namespace", &attributes.namespace),
    ] {
        if !text.is_empty() {
            set(name, Json::from(text.as_str()));
        }
    }
    set("operation", Json::from(attributes.operation.name()));
    set("userInfo", serde_json::to_value(&attributes.user).unwrap_or_default());
    set("dryRun", Json::from(attributes.dry_run));
    let options = attributes.options.as_deref().map(deep_clone);
    let options = options.or_else(|| attributes.operation.empty_options().map(Json::Object));
    set("options", options.unwrap_or_default());
    DeepValue::from(Json::Object(members))
}
