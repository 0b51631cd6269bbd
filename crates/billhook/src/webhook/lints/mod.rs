//! Advice about configurations that a server accepts, from the specification's list (WCF-L1 to
//! WCF-L11) and from what documentation recommends.

mod single;
mod together;

use std::fmt;

use billhook_apimachinery::FieldPath;
use serde::Serialize;

use super::configuration::ConfigurationKind;

pub use together::lint_together;

/// How much a [`Lint`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum LintSeverity {
    /// Something to keep in mind; it cannot be seen in the configuration whether all is well.
    Note,
    /// Something that is likely to be wrong.
    Warning,
}

/// Advice about a configuration. `Display` prints one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    code: LintCode,
    configuration: String,
    kind: ConfigurationKind,
    field: FieldPath,
    message: String,
}

impl Lint {
    /// Its code.
    pub fn code(&self) -> LintCode {
        self.code
    }

    /// The name of the configuration.
    pub fn configuration(&self) -> &str {
        &self.configuration
    }

    /// The kind of the configuration.
    pub fn kind(&self) -> ConfigurationKind {
        self.kind
    }

    /// Where in the configuration.
    pub fn field(&self) -> &FieldPath {
        &self.field
    }

    /// The finding, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How much it matters.
    pub fn severity(&self) -> LintSeverity {
        self.code.severity()
    }

    /// Why it matters and what to do about it.
    pub fn help(&self) -> &'static str {
        self.code.help()
    }
}

/// `webhooks[0].timeoutSeconds: calls may take 30 seconds [long-timeout, WCF-L4]`.
impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lint { code, field, message, .. } = self;
        write!(f, "{field}: {message} [{code}, {}]", code.rule())
    }
}

macro_rules! lint_codes {
    ($($(#[$doc:meta])* $name:ident: $code:literal, $rule:literal, $severity:ident, $help:literal;)*) => {
        /// The subject of a [`Lint`]. The codes are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum LintCode {
            $($(#[$doc])* $name,)*
        }

        impl LintCode {
            /// All codes, in the order of the rules.
            pub const ALL: &[LintCode] = &[$(LintCode::$name),*];

            /// The code, e.g. `long-timeout`.
            pub fn code(self) -> &'static str {
                match self { $(LintCode::$name => $code,)* }
            }

            /// The number of its rule, e.g. `WCF-L4`.
            pub fn rule(self) -> &'static str {
                match self { $(LintCode::$name => $rule,)* }
            }

            /// How much it matters.
            pub fn severity(self) -> LintSeverity {
                match self { $(LintCode::$name => LintSeverity::$severity,)* }
            }

            /// Why it matters and what to do about it.
            pub fn help(self) -> &'static str {
                match self { $(LintCode::$name => $help,)* }
            }
        }
    };
}

lint_codes! {
    /// An objectSelector on a validating webhook.
    ObjectSelectorOptOut: "object-selector-opt-out", "WCF-L1", Warning,
        "whoever writes an object chooses its labels, and so whether this webhook sees it; select \
         by namespace, or use the objectSelector only for webhooks that users opt in to";
    /// The match policy `Exact` with listed versions.
    ExactMatchPolicy: "exact-match-policy", "WCF-L2", Warning,
        "requests to other versions of the same resources pass unseen, also to versions that an \
         upgrade adds; `matchPolicy: Equivalent` catches them all";
    /// Only versions that are not stable.
    UnstableVersion: "unstable-version", "WCF-L2", Warning,
        "a version that is no longer served is not equivalent to the others, so after an upgrade \
         the webhook may not be called at all; list the stable version";
    /// `failurePolicy: Fail` in the webhook's own namespace.
    OwnNamespace: "own-namespace", "WCF-L3", Warning,
        "when the webhook is down, what it needs to start again is refused; exclude its namespace \
         with a namespaceSelector, e.g. on the label `kubernetes.io/metadata.name`";
    /// `failurePolicy: Fail` in `kube-system`.
    KubeSystem: "kube-system", "WCF-L3", Warning,
        "when the webhook is down, the control plane's own objects are refused; exclude \
         `kube-system` with a namespaceSelector, e.g. on the label `kubernetes.io/metadata.name`";
    /// A timeout above ten seconds.
    LongTimeout: "long-timeout", "WCF-L4", Warning,
        "users wait as long as the webhook does; answers should take milliseconds, and a short \
         timeout keeps a slow webhook from stopping everything";
    /// A mutating webhook without a validating one for the same requests.
    NoValidatingCounterpart: "no-validating-counterpart", "WCF-L5", Note,
        "other mutating webhooks may change the object afterwards; if something must hold in the \
         end, a validating webhook has to check it";
    /// A webhook that may be called again.
    Reinvocation: "reinvocation", "WCF-L6", Note,
        "the webhook must be idempotent: it sees its own changes again; nothing may depend on the \
         time, nothing may be added twice, and its own changes may not make it refuse the object";
    /// A webhook with side effects.
    SideEffects: "side-effects", "WCF-L7", Note,
        "the webhook must look at `dryRun`, and a controller must repair what it did for objects \
         that were never stored";
    /// A URL that is only valid in one place.
    LocalUrl: "local-url", "WCF-L8", Warning,
        "an API server resolves no names of cluster services, and its own host is another one on \
         every control plane node; refer to a service in the cluster with `service`";
    /// The same name in several configurations.
    RepeatedName: "repeated-name", "WCF-L9", Warning,
        "metrics and logs tell webhooks apart by name only";
    /// A condition on the resource with the match policy `Equivalent`.
    ConditionOnResource: "condition-on-resource", "WCF-L10", Warning,
        "with `matchPolicy: Equivalent`, `request.resource` in a condition is the resource that \
         the client addressed, not the one that matched; `request.kind` is the matched kind";
    /// A single version of AdmissionReview.
    SingleReviewVersion: "single-review-version", "WCF-L11", Note,
        "a server uses the first version in the list that it knows; list every version that the \
         webhook understands, so that older and newer servers find one";
    /// `pods/*` matches `pods` too.
    SubresourceWildcard: "subresource-wildcard", "WM-35", Note,
        "documentation speaks of all subresources, but the resource itself matches as well; list \
         the subresources one by one if it should not";
    /// Timeouts of mutating webhooks for the same request add up.
    TimeoutsAddUp: "timeouts-add-up", "DI-54", Warning,
        "mutating webhooks are called one after the other, and a server gives a request 34 seconds \
         in all; if some are slow, the rest is never called and the request fails";
    /// Rules for kinds that no webhook sees.
    ExemptKind: "exempt-kind", "WCF-96", Warning,
        "requests for admission configurations never reach webhooks that are registered through \
         the API";
    /// A webhook without rules.
    NoRules: "no-rules", "WCF-32", Warning,
        "without rules the webhook is never called";
    /// A caBundle that holds no certificate.
    CaBundle: "ca-bundle", "WCF-72", Warning,
        "a server finds out when it calls the webhook, and the call fails; the field holds \
         certificates in PEM, encoded in base64 once";
    /// A name that is reserved for static manifests.
    ReservedName: "reserved-name", "WCF-97", Warning,
        "names that end in `.static.k8s.io` are reserved for configurations in files of the \
         server, and will be refused";
}

impl fmt::Display for LintCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for LintCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
