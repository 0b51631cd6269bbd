//! Match conditions in CEL (WM-70 to WM-94).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use billhook_apimachinery::KubernetesVersion;
use billhook_cel::limits::Meter;
use billhook_cel::{Authorizer, Branch, ExpressionTrace, Libraries, Program, Value};

use super::condition_program::compile;
use super::conditions::{ConditionInput, ConditionResult, ConditionsError, MatchConditions};
use super::configuration::MatchCondition;
use super::request_variables::{RequestVariables, authorizer_variables};
use super::validation::{ExpressionChecker, ExpressionError};

/// The cost limit of one evaluation (WM-84).
const CALL_LIMIT: u64 = 1_000_000;

/// The cost limit of all conditions of a webhook (WM-84).
const BUDGET: u64 = 2_500_000;

/// How many compiled expressions are kept.
const KEPT: usize = 1_000;

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
#[derive(Clone, Default)]
pub struct CelConditions {
    authorizer: Option<Arc<dyn Authorizer>>,
    leaves_open: bool,
    kubernetes: KubernetesVersion,
    programs: Arc<Mutex<HashMap<Dialect, Programs>>>,
    /// The bounds that all evaluations for a request share.
    shared: Option<Arc<Mutex<Meter>>>,
}

/// The libraries that an expression may use, and whether it has parameters.
type Dialect = (Libraries, bool);

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
    pub fn authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
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
        self.programs = Arc::default();
        self
    }

    /// An evaluator like this one for all expressions about one request, which share the bound
    /// on work that costs do not bound (CE-36).
    #[must_use]
    pub fn of_request(&self) -> Self {
        CelConditions { shared: Some(Arc::default()), ..self.clone() }
    }

    fn is_open(&self, program: &Program) -> bool {
        self.leaves_open && self.authorizer.is_none() && RequestVariables::ask_authorizer(program)
    }

    /// Evaluates conditions like [`MatchConditions::evaluate`] and tells the value of each part of
    /// them; none for a condition that does not compile.
    ///
    /// # Errors
    ///
    /// If a variable does not have its type (WM-82).
    pub fn trace(
        &self,
        conditions: &[MatchCondition],
        input: &ConditionInput<'_>,
    ) -> Result<Vec<Option<ExpressionTrace>>, ConditionsError> {
        self.inspect(conditions, input, |program, variables| program.trace(variables, CALL_LIMIT))
    }

    /// Evaluates conditions like [`MatchConditions::evaluate`] and tells how often their branches
    /// were true and false; none for a condition that does not compile.
    ///
    /// # Errors
    ///
    /// If a variable does not have its type (WM-82).
    pub fn branches(
        &self,
        conditions: &[MatchCondition],
        input: &ConditionInput<'_>,
    ) -> Result<Vec<Option<Vec<Branch>>>, ConditionsError> {
        self.inspect(conditions, input, |program, variables| {
            program.branches(variables, CALL_LIMIT)
        })
    }

    /// Looks at each condition that compiles, with the values of its variables.
    fn inspect<R>(
        &self,
        conditions: &[MatchCondition],
        input: &ConditionInput<'_>,
        look: impl Fn(&Program, &[(&'static str, Value<'_>)]) -> R,
    ) -> Result<Vec<Option<R>>, ConditionsError> {
        let known = RequestVariables::of_conditions(input);
        let variables = self.activation(&known, input)?;
        let dialect = (Libraries::Full, input.params.is_some());
        let looked_at = |condition: &MatchCondition| {
            let program = self.program(&condition.expression, dialect);
            program.as_ref().as_ref().ok().map(|program| look(program, &variables))
        };
        Ok(conditions.iter().map(looked_at).collect())
    }

    /// The variables of conditions (WM-73).
    fn activation<'a>(
        &self,
        known: &'a RequestVariables<'_>,
        input: &ConditionInput<'_>,
    ) -> Result<Vec<(&'static str, Value<'a>)>, ConditionsError> {
        let mut variables = known.values()?;
        variables.push(("namespaceObject", Value::Null));
        if let Some(authorizer) = &self.authorizer {
            variables.extend(authorizer_variables(authorizer, input.attributes));
        }
        Ok(variables)
    }

    fn program(&self, expression: &str, (libraries, has_params): Dialect) -> Compiled {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = programs.entry((libraries, has_params)).or_default();
        if let Some(program) = programs.get(expression) {
            return Arc::clone(program);
        }
        if programs.len() >= KEPT {
            programs.clear();
        }
        let program = Arc::new(compile(expression, self.kubernetes, libraries, has_params));
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
        match &*self.program(expression, (libraries, false)) {
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
        let known = RequestVariables::of_conditions(input);
        let variables = self.activation(&known, input)?;
        let has_params = input.params.is_some();
        let shared = self.shared.as_deref();
        let mut shared = shared.map(|meter| meter.lock().unwrap_or_else(PoisonError::into_inner));
        let mut left = BUDGET;
        let mut results = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let program = self.program(&condition.expression, (Libraries::Full, has_params));
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
            let meter = &mut Meter::default();
            let meter = shared.as_deref_mut().unwrap_or(meter);
            let evaluation = program.evaluate_sharing(&variables, CALL_LIMIT, meter);
            left = left.checked_sub(evaluation.cost).ok_or_else(out_of_budget)?;
            results.push(match evaluation.result {
                Ok(Value::Bool(true)) => ConditionResult::True,
                Ok(_) => ConditionResult::False,
                Err(error) => ConditionResult::Error(error.to_string()),
            });
        }
        Ok(results)
    }

    fn for_request(&self) -> Option<Box<dyn MatchConditions + Send + Sync + '_>> {
        Some(Box::new(self.of_request()))
    }
}

fn out_of_budget() -> String {
    "validation failed due to running out of cost budget, no further validation rules will be run"
        .to_owned()
}
