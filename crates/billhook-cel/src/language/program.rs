//! Compiling and evaluating.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use billhook_apimachinery::KubernetesVersion;
use billhook_regex::Patterns;
use billhook_schema::props::ValidationRule;

use crate::language::availability::{Language, Libraries};
use crate::language::branches::{self, Branch};
use crate::language::check::{Checked, check};
use crate::language::cost::{self, Forecast};
use crate::language::evaluate::{self, Evaluation, Plan, Recorder, Watches};
use crate::language::meter::Meter;
use crate::language::parse::parse;
use crate::language::schema::SchemaType;
use crate::language::source::{CompileError, Source};
use crate::language::trace::ExpressionTrace;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Value};

/// The declarations that expressions may refer to: the variables with their types, and the
/// functions of a server (CE-10).
///
/// ```
/// use billhook_apimachinery::KubernetesVersion;
/// use billhook_cel::Environment;
/// let environment = Environment::default();
/// assert!(environment.compile("[3, 1, 2].sort() == [1, 2, 3]").is_ok());
/// let environment = environment.kubernetes(KubernetesVersion::V1_33);
/// assert!(environment.compile("[3, 1, 2].sort() == [1, 2, 3]").is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<Arc<str>, Type>,
    language: Language,
    patterns: Patterns,
}

impl Environment {
    /// Adds a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, of: Type) -> Self {
        self.variables.insert(name.into(), of);
        self
    }

    /// Sets the version of the server, which decides the functions and some of their results
    /// (KV-30 to KV-50); by default the newest.
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.language.kubernetes = kubernetes;
        self
    }

    /// Sets the libraries that expressions may use; by default all of them.
    #[must_use]
    pub fn libraries(mut self, libraries: Libraries) -> Self {
        self.language.libraries = libraries;
        self
    }

    /// Adds what only expressions of mutations have: the types `Object`, `Object.<path>` and
    /// `JSONPatch`, and the function `jsonpatch.escapeKey` (PO-45).
    #[must_use]
    pub fn mutations(mut self) -> Self {
        self.language.mutates = true;
        self
    }

    /// Sets the patterns with which those of the expressions share memory.
    pub(crate) fn patterns(mut self, patterns: &Patterns) -> Self {
        self.patterns = patterns.clone();
        self
    }

    /// Declares the variables of a rule at a node with values of a type (CE-02).
    pub fn of_rule(rule: &ValidationRule, self_type: Type) -> Self {
        let old_type = match rule.optional_old_self {
            Some(true) => self_type.clone().optional(),
            _ => self_type.clone(),
        };
        Environment::default().variable("self", self_type).variable("oldSelf", old_type)
    }

    /// Parses and checks an expression (CE-10, CE-20).
    ///
    /// # Errors
    ///
    /// If the text is not an expression of the language, or refers to a name that does not exist or
    /// has another type.
    pub fn compile(&self, text: &str) -> Result<Program, CompileError> {
        self.plan(self.check(text)?)
    }

    /// The second half of compiling.
    pub(crate) fn plan(&self, checked: Checked) -> Result<Program, CompileError> {
        let plan = evaluate::plan(&checked, &self.patterns)
            .map_err(|error| CompileError::instantiation(error.to_string()))?;
        let (checked, plan) = (Arc::new(checked), Arc::new(plan));
        Ok(Program { checked, plan, watched: Arc::default() })
    }

    /// The first half of compiling, after which types are known.
    pub(crate) fn check(&self, text: &str) -> Result<Checked, CompileError> {
        let source = Source::new(text);
        let expr = parse(&source, self.language)?;
        check(&source, expr, &self.variables, self.language)
    }
}

/// An expression that is ready to be evaluated, any number of times and from any thread.
#[derive(Clone)]
pub struct Program {
    pub(crate) checked: Arc<Checked>,
    plan: Arc<Plan>,
    /// The plan with watches, which is made when it is first asked for.
    watched: Arc<OnceLock<Result<Watched, EvaluationError>>>,
}

/// A plan that records what happens to its parts.
struct Watched {
    plan: Plan,
    watches: Watches,
    /// The branches, none of which has been evaluated, and which of them each watch is about.
    branches: Vec<Branch>,
    branch_of: Vec<Option<usize>>,
}

impl Watched {
    fn new(checked: &Checked) -> Result<Self, EvaluationError> {
        let (plan, watches) = evaluate::watched_plan(checked, &Patterns::default())?;
        let branches = branches::of(&checked.expr, &checked.text);
        let recorder = Recorder::new(&watches, &checked.text);
        let branch_of = |watch: usize| {
            let span = recorder.span(watch)?;
            branches.iter().position(|branch| branch.span == span)
        };
        let branch_of = (0..watches.watch_count()).map(branch_of).collect();
        Ok(Watched { plan, watches, branches, branch_of })
    }

    fn run<'a>(
        &'a self,
        variables: &[(&str, Value<'a>)],
        resolve: &dyn Fn(&str, &mut Meter) -> Result<Value<'a>, EvaluationError>,
        limit: u64,
        recorder: &mut Recorder<'_>,
    ) -> Result<Value<'a>, EvaluationError> {
        let mut meter = Meter::default();
        let resolve = |name: &str, meter: &mut Meter| resolve(name, meter);
        let recorder = Some(recorder);
        evaluate::run(&self.plan, variables, Some(&resolve), limit, &mut meter, recorder).result
    }
}

impl Program {
    /// Returns the type of the result.
    pub fn result_type(&self) -> &Type {
        self.checked.result_type()
    }

    /// Returns whether the expression refers to a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.checked.mentions(variable)
    }

    /// Returns what is known of the expression before it is evaluated, if variables have values of
    /// these schemas.
    ///
    /// ```
    /// use billhook_apimachinery::KubernetesVersion;
    /// use billhook_cel::schema::SchemaType;
    /// use billhook_cel::Environment;
    /// use billhook_schema::JsonSchemaProps;
    ///
    /// let names = serde_json::json!({"type": "array", "minItems": 1, "maxItems": 100,
    ///     "items": {"type": "string", "maxLength": 63}});
    /// let names = JsonSchemaProps::from_value(&names)?;
    /// let names = SchemaType::of(&names, false, KubernetesVersion::default()).unwrap();
    /// let environment = Environment::default().variable("names", names.to_type());
    /// let program = environment.compile("names.size() > 0 && names.all(n, n.size() < 64)")?;
    /// let forecast = program.forecast(&[("names", &names)]);
    /// assert_eq!((forecast.cost, forecast.result), (605, Some(true)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forecast(&self, schemas: &[(&str, &SchemaType)]) -> Forecast {
        cost::forecast(&self.checked, schemas)
    }

    /// Evaluates the expression with variables by their names, until it has cost more than a limit
    /// (CE-35).
    pub fn evaluate<'a>(&'a self, variables: &[(&str, Value<'a>)], limit: u64) -> Evaluation<'a> {
        self.evaluate_sharing(variables, limit, &mut Meter::default())
    }

    /// Evaluates the expression like [`Program::evaluate`]; where it selects a field of a
    /// [`Value::deferred`], the value comes from `resolve`, which is called with the name of the
    /// field each time. Both stay within what others that share the bounds have left (CE-36).
    pub fn evaluate_lazily<'a>(
        &'a self,
        variables: &[(&str, Value<'a>)],
        resolve: &dyn Fn(&str, &mut Meter) -> Result<Value<'a>, EvaluationError>,
        limit: u64,
        meter: &mut Meter,
    ) -> Evaluation<'a> {
        evaluate::run(&self.plan, variables, Some(resolve), limit, meter, None)
    }

    /// Evaluates the expression like [`Program::evaluate`] and tells the value of each part of it.
    ///
    /// ```
    /// use billhook_cel::{Environment, Type, Value};
    /// let environment = Environment::default().variable("size", Type::Int);
    /// let program = environment.compile("size < 3 || size > 5 && size % 2 == 1")?;
    /// assert_eq!(
    ///     program.trace(&[("size", Value::Int(4))], 1_000_000).to_string(),
    ///     "\
    /// size < 3 || size > 5 && size % 2 == 1  false          bool  cost 4
    /// ├─ size < 3                            false          bool  cost 2
    /// │  └─ size                             4              int   cost 1
    /// └─ size > 5 && size % 2 == 1           false          bool  cost 2
    ///    ├─ size > 5                         false          bool  cost 2
    ///    │  └─ size                          4              int   cost 1
    ///    └─ size % 2 == 1                    not evaluated",
    /// );
    /// # Ok::<(), billhook_cel::CompileError>(())
    /// ```
    pub fn trace<'a>(&'a self, variables: &[(&str, Value<'a>)], limit: u64) -> ExpressionTrace {
        self.trace_lazily(variables, &missing, limit)
    }

    /// Evaluates the expression like [`Program::evaluate_lazily`] and tells the value of each part
    /// of it.
    pub fn trace_lazily<'a>(
        &'a self,
        variables: &[(&str, Value<'a>)],
        resolve: &dyn Fn(&str, &mut Meter) -> Result<Value<'a>, EvaluationError>,
        limit: u64,
    ) -> ExpressionTrace {
        let text = &self.checked.text;
        match self.watched() {
            Ok(watched) => {
                let mut recorder = Recorder::new(&watched.watches, text);
                let result = watched.run(variables, resolve, limit, &mut recorder);
                recorder.finish(result.as_ref())
            }
            Err(error) => Recorder::new(&Watches::default(), text).finish(Err(error)),
        }
    }

    /// Evaluates the expression like [`Program::evaluate`] and tells how often its branches were true
    /// and false.
    pub fn branches<'a>(&'a self, variables: &[(&str, Value<'a>)], limit: u64) -> Vec<Branch> {
        self.branches_lazily(variables, &missing, limit)
    }

    /// Evaluates the expression like [`Program::evaluate_lazily`] and tells how often its branches
    /// were true and false.
    pub fn branches_lazily<'a>(
        &'a self,
        variables: &[(&str, Value<'a>)],
        resolve: &dyn Fn(&str, &mut Meter) -> Result<Value<'a>, EvaluationError>,
        limit: u64,
    ) -> Vec<Branch> {
        let Ok(watched) = self.watched() else {
            return branches::of(&self.checked.expr, &self.checked.text);
        };
        let mut found = watched.branches.clone();
        if !found.is_empty() {
            let mut recorder = Recorder::counting(&watched.watches);
            let _ = watched.run(variables, resolve, limit, &mut recorder);
            for (branch, [falsehoods, truths]) in watched.branch_of.iter().zip(recorder.truths()) {
                if let Some(branch) = branch.and_then(|branch| found.get_mut(branch)) {
                    branch.truths += truths;
                    branch.falsehoods += falsehoods;
                }
            }
        }
        found
    }

    fn watched(&self) -> Result<&Watched, &EvaluationError> {
        self.watched.get_or_init(|| Watched::new(&self.checked)).as_ref()
    }

    /// Evaluates the expression like [`Program::evaluate`], within what others that share the
    /// bounds have left (CE-36).
    pub fn evaluate_sharing<'a>(
        &'a self,
        variables: &[(&str, Value<'a>)],
        limit: u64,
        meter: &mut Meter,
    ) -> Evaluation<'a> {
        evaluate::run(&self.plan, variables, None, limit, meter.next(), None)
    }
}

/// Resolves nothing.
fn missing<'a>(name: &str, _: &mut Meter) -> Result<Value<'a>, EvaluationError> {
    Err(EvaluationError::new(format!("no such key: {name}")))
}
