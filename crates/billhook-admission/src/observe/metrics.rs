//! The server's metrics of admission, for `prometheus-client` (OB-01 to OB-19, PO-95, PO-96, CX-50).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use billhook::webhook::{ConditionResult, Operation};
use billhook_policy::{PolicyCheck, PolicyConditions, PolicyEffect};
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;

use super::observer::{
    CallEnd, CallOutcome, CallStart, ConditionsEnd, ConversionEnd, ConversionOutcome, Observer,
    StepEnd,
};
use crate::stage::Stage;

/// Codes above this one are counted as this one (OB-19).
const MAX_CODE: i32 = 600;

const CALL_BUCKETS: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];
const CONDITION_BUCKETS: [f64; 7] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const STEP_BUCKETS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5];
const POLICY_BUCKETS: [f64; 5] = [5e-7, 0.001, 0.01, 0.1, 1.0];
const CONVERSION_BUCKETS: [f64; 15] =
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0];

/// The metrics of admission, with the names, labels and buckets of the server. It is an observer
/// of chains.
///
/// ```
/// use std::sync::Arc;
/// use billhook_admission::metrics::AdmissionMetrics;
/// use billhook_admission::{Chain, Unreachable};
/// use prometheus_client::registry::Registry;
///
/// let mut registry = Registry::default();
/// let metrics = Arc::new(AdmissionMetrics::new(&mut registry));
/// let chain = Chain::new(Unreachable).observer(metrics);
/// ```
///
/// Counters are written under their plain names, as the server writes them, which is the Prometheus
/// text format but not strict OpenMetrics.
#[derive(Debug)]
pub struct AdmissionMetrics {
    call_seconds: Histograms<CallLabels>,
    rejections: Family<RejectionLabels, Count>,
    failed_open: Family<FailOpenLabels, Count>,
    calls: Family<RequestLabels, Count>,
    condition_errors: Family<ConditionLabels, Count>,
    exclusions: Family<ConditionLabels, Count>,
    condition_seconds: Histograms<ConditionLabels>,
    step_seconds: Histograms<StepLabels>,
    plugin_seconds: Histograms<CallLabels>,
    validations: Family<ValidationLabels, Count>,
    validation_seconds: Histograms<ValidationLabels>,
    mutations: Family<MutationLabels, Count>,
    mutation_seconds: Histograms<MutationLabels>,
    conversion_seconds: Histograms<ConversionLabels>,
    conversions: Family<ConversionResultLabels, Count>,
    conversion_call_seconds: Histograms<ConversionResultLabels>,
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// A counter whose name is written as it is.
#[derive(Clone, Debug, Default)]
struct Count(Arc<AtomicU64>);

impl Count {
    fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl TypedMetric for Count {
    const TYPE: MetricType = MetricType::Counter;
}

impl EncodeMetric for Count {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_gauge(&self.0.load(Ordering::Relaxed))
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    name: String,
    r#type: &'static str,
    operation: &'static str,
    rejected: Truth,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RejectionLabels {
    name: String,
    r#type: &'static str,
    operation: &'static str,
    error_type: &'static str,
    rejection_code: i32,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct FailOpenLabels {
    name: String,
    r#type: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    name: String,
    r#type: &'static str,
    operation: &'static str,
    code: i32,
    rejected: Truth,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ConditionLabels {
    name: String,
    kind: &'static str,
    r#type: &'static str,
    operation: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StepLabels {
    r#type: &'static str,
    operation: &'static str,
    rejected: Truth,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ValidationLabels {
    policy: String,
    policy_binding: String,
    error_type: &'static str,
    enforcement_action: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct MutationLabels {
    policy: String,
    policy_binding: String,
    error_type: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ConversionLabels {
    crd_name: String,
    from_version: String,
    to_version: String,
    succeeded: Truth,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ConversionResultLabels {
    result: &'static str,
    failure_type: &'static str,
}

/// The `error_type` of a message (PO-95).
fn error_type(message: Option<&str>) -> &'static str {
    match message {
        None => "no_error",
        Some(text) if text.starts_with("compilation") => "compile_error",
        Some(text) if text.starts_with(OUT_OF_BUDGET) => "out_of_budget",
        Some(_) => "invalid_error",
    }
}

impl ConditionLabels {
    fn new(call: &CallStart<'_>, r#type: &'static str) -> Self {
        let (name, operation) = (call.hook.to_owned(), operation(call.operation));
        ConditionLabels { name, kind: "webhook", r#type, operation }
    }
}

/// The beginning of the message when a budget is used up (WM-82).
const OUT_OF_BUDGET: &str = "validation failed due to running out of cost budget";

/// `true` or `false`.
type Truth = &'static str;

fn truth(value: bool) -> Truth {
    if value { "true" } else { "false" }
}

/// The `type` of webhooks (OB-16).
fn webhook_type(stage: Stage) -> &'static str {
    match stage {
        Stage::Mutating => "admit",
        Stage::Validating => "validating",
    }
}

/// The `type` of everything else (OB-16).
fn step_type(stage: Stage) -> &'static str {
    match stage {
        Stage::Mutating => "admit",
        Stage::Validating => "validate",
    }
}

fn operation(operation: Operation) -> &'static str {
    operation.name()
}

impl AdmissionMetrics {
    /// Creates the metrics and registers them. The names are complete: the registry should have no
    /// prefix.
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = AdmissionMetrics {
            call_seconds: Family::new_with_constructor(|| Histogram::new(CALL_BUCKETS)),
            rejections: Family::default(),
            failed_open: Family::default(),
            calls: Family::default(),
            condition_errors: Family::default(),
            exclusions: Family::default(),
            condition_seconds: Family::new_with_constructor(|| Histogram::new(CONDITION_BUCKETS)),
            step_seconds: Family::new_with_constructor(|| Histogram::new(STEP_BUCKETS)),
            plugin_seconds: Family::new_with_constructor(|| Histogram::new(STEP_BUCKETS)),
            validations: Family::default(),
            validation_seconds: Family::new_with_constructor(|| Histogram::new(POLICY_BUCKETS)),
            mutations: Family::default(),
            mutation_seconds: Family::new_with_constructor(|| Histogram::new(POLICY_BUCKETS)),
            conversion_seconds: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(0.001, 2.0, 15))
            }),
            conversions: Family::default(),
            conversion_call_seconds: Family::new_with_constructor(|| {
                Histogram::new(CONVERSION_BUCKETS)
            }),
        };
        metrics.register_webhooks(registry);
        metrics.register_steps(registry);
        metrics.register_policies(registry);
        metrics.register_conversions(registry);
        metrics
    }

    fn register_webhooks(&self, registry: &mut Registry) {
        registry.register(
            "apiserver_admission_webhook_admission_duration_seconds",
            "[STABLE] Time that calls of webhooks took, by webhook and outcome",
            self.call_seconds.clone(),
        );
        registry.register(
            "apiserver_admission_webhook_rejection_count",
            "[ALPHA] Requests that webhooks refused, or that failed for them",
            self.rejections.clone(),
        );
        registry.register(
            "apiserver_admission_webhook_fail_open_count",
            "[ALPHA] Calls of webhooks whose failure was ignored",
            self.failed_open.clone(),
        );
        registry.register(
            "apiserver_admission_webhook_request_total",
            "[ALPHA] Calls of webhooks, by code and outcome",
            self.calls.clone(),
        );
        registry.register(
            "apiserver_admission_match_condition_evaluation_errors_total",
            "[ALPHA] Match conditions of webhooks that could not be evaluated",
            self.condition_errors.clone(),
        );
        registry.register(
            "apiserver_admission_match_condition_evaluation_seconds",
            "[ALPHA] Time that the match conditions of webhooks took which were not all true",
            self.condition_seconds.clone(),
        );
        registry.register(
            "apiserver_admission_match_condition_exclusions_total",
            "[ALPHA] Webhooks that were left out because of their match conditions",
            self.exclusions.clone(),
        );
    }

    fn register_steps(&self, registry: &mut Registry) {
        registry.register(
            "apiserver_admission_step_admission_duration_seconds",
            "[STABLE] Time that the stages of admission took",
            self.step_seconds.clone(),
        );
        registry.register(
            "apiserver_admission_controller_admission_duration_seconds",
            "[STABLE] Time that plugins took, by plugin",
            self.plugin_seconds.clone(),
        );
    }

    fn register_policies(&self, registry: &mut Registry) {
        registry.register(
            "apiserver_validating_admission_policy_check_total",
            "[BETA] Validations of policies that denied a request or failed, by action",
            self.validations.clone(),
        );
        registry.register(
            "apiserver_validating_admission_policy_check_duration_seconds",
            "[BETA] Time that these validations took",
            self.validation_seconds.clone(),
        );
        registry.register(
            "apiserver_mutating_admission_policy_check_total",
            "[ALPHA] Mutations of policies that were evaluated",
            self.mutations.clone(),
        );
        registry.register(
            "apiserver_mutating_admission_policy_check_duration_seconds",
            "[ALPHA] Time that mutations of policies took",
            self.mutation_seconds.clone(),
        );
    }

    fn register_conversions(&self, registry: &mut Registry) {
        registry.register(
            "apiserver_crd_conversion_webhook_duration_seconds",
            "[ALPHA] Time that conversions to other versions took, by definition",
            self.conversion_seconds.clone(),
        );
        registry.register(
            "apiserver_conversion_webhook_request_total",
            "[ALPHA] Conversions by webhooks, by result",
            self.conversions.clone(),
        );
        registry.register(
            "apiserver_conversion_webhook_duration_seconds",
            "[ALPHA] Time that conversions by webhooks took, by result",
            self.conversion_call_seconds.clone(),
        );
    }

    /// Counts the match conditions of a webhook or a policy (OB-22).
    fn count_conditions(
        &self,
        labels: &ConditionLabels,
        results: Result<&[ConditionResult], &str>,
        took: Duration,
    ) {
        if let Ok(results) = results {
            if results.iter().all(|result| *result == ConditionResult::True) {
                return;
            }
            let counted = results.iter().take_while(|result| **result != ConditionResult::False);
            for _ in counted.filter(|result| **result != ConditionResult::True) {
                self.condition_errors.get_or_create(labels).increment();
            }
        }
        self.condition_seconds.get_or_create(labels).observe(took.as_secs_f64());
    }
}

impl Observer for AdmissionMetrics {
    fn call_finished(&self, end: &CallEnd<'_>) {
        let name = || end.call.hook.to_owned();
        let (r#type, operation) = (webhook_type(end.call.stage), operation(end.call.operation));
        let rejected = truth(end.outcome.is_rejected());
        let code = end.code.min(MAX_CODE);
        let labels = CallLabels { name: name(), r#type, operation, rejected };
        self.call_seconds.get_or_create(&labels).observe(end.took.as_secs_f64());
        let labels = RequestLabels { name: name(), r#type, operation, code, rejected };
        self.calls.get_or_create(&labels).increment();
        // It is not the webhook that failed (OB-20).
        if end.is_cancelled {
            return;
        }
        let error_type = match end.outcome {
            CallOutcome::Allowed => return,
            CallOutcome::FailedOpen => {
                let labels = FailOpenLabels { name: name(), r#type };
                self.failed_open.get_or_create(&labels).increment();
                return;
            }
            CallOutcome::Rejected => "no_error",
            CallOutcome::FailedClosed => "calling_webhook_error",
            CallOutcome::EngineError => "apiserver_internal_error",
        };
        let labels =
            RejectionLabels { name: name(), r#type, operation, error_type, rejection_code: code };
        self.rejections.get_or_create(&labels).increment();
    }

    fn excluded_by_conditions(&self, call: &CallStart<'_>) {
        let labels = ConditionLabels::new(call, step_type(call.stage));
        self.exclusions.get_or_create(&labels).increment();
    }

    fn conditions_evaluated(&self, end: &ConditionsEnd<'_>) {
        let labels = ConditionLabels::new(&end.call, webhook_type(end.call.stage));
        self.count_conditions(&labels, end.results, end.took);
    }

    fn policy_conditions_evaluated(&self, asked: Operation, end: &PolicyConditions<'_>) {
        let (name, operation) = (end.policy.to_owned(), operation(asked));
        // Mutating policies have this type, too.
        let labels = ConditionLabels { name, kind: "policy", r#type: "validate", operation };
        self.count_conditions(&labels, end.results, end.took);
    }

    fn policy_checked(&self, _: Stage, check: &PolicyCheck<'_>) {
        let (policy, policy_binding) = (check.policy.to_owned(), check.binding.to_owned());
        let error_type = error_type(check.message);
        let took = check.took.as_secs_f64();
        let enforcement_action = match check.effect {
            PolicyEffect::Allow => "allow",
            PolicyEffect::Deny => "deny",
            PolicyEffect::Warn => "warn",
            PolicyEffect::Audit => "audit",
            _ => {
                let labels = MutationLabels { policy, policy_binding, error_type };
                self.mutations.get_or_create(&labels).increment();
                return self.mutation_seconds.get_or_create(&labels).observe(took);
            }
        };
        let labels = ValidationLabels { policy, policy_binding, error_type, enforcement_action };
        self.validations.get_or_create(&labels).increment();
        self.validation_seconds.get_or_create(&labels).observe(took);
    }

    fn plugin_finished(&self, plugin: &str, end: &StepEnd) {
        let labels = CallLabels {
            name: plugin.to_owned(),
            r#type: step_type(end.stage),
            operation: operation(end.operation),
            rejected: truth(end.rejected),
        };
        self.plugin_seconds.get_or_create(&labels).observe(end.took.as_secs_f64());
    }

    /// CX-51.
    fn conversion_finished(&self, end: &ConversionEnd<'_>) {
        use ConversionOutcome as Outcome;
        let (result, failure_type) = match end.outcome {
            Outcome::OnlyType | Outcome::Converted => ("success", ""),
            Outcome::NoReviewVersion => ("failure", ""),
            Outcome::CallFailed => ("failure", "conversion_webhook_call_failure"),
            Outcome::MalformedResponse => {
                ("failure", "conversion_webhook_malformed_response_failure")
            }
            Outcome::PartialResponse => ("failure", "conversion_webhook_partial_response_failure"),
            Outcome::InvalidObject => {
                ("failure", "conversion_webhook_invalid_converted_object_failure")
            }
        };
        let took = end.took.as_secs_f64();
        if end.from != end.to {
            let crd_name = end.definition.to_owned();
            let (from_version, to_version) = (end.from.to_owned(), end.to.to_owned());
            let succeeded = truth(result == "success");
            let labels = ConversionLabels { crd_name, from_version, to_version, succeeded };
            self.conversion_seconds.get_or_create(&labels).observe(took);
        }
        if !matches!(end.outcome, Outcome::OnlyType | Outcome::NoReviewVersion) {
            let labels = ConversionResultLabels { result, failure_type };
            self.conversions.get_or_create(&labels).increment();
            self.conversion_call_seconds.get_or_create(&labels).observe(took);
        }
    }

    fn stage_finished(&self, end: &StepEnd) {
        let labels = StepLabels {
            r#type: step_type(end.stage),
            operation: operation(end.operation),
            rejected: truth(end.rejected),
        };
        self.step_seconds.get_or_create(&labels).observe(end.took.as_secs_f64());
    }
}
