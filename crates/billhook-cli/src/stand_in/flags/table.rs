//! All flags of kube-apiserver 1.36, and the effect of each here: the one place that says so.

use Answer::{Accepted, Honored, Idle, Refused};
use Kind::{Bool, Count, Duration, List, Number, Pairs, Text};

/// The values that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// `true` if no value is given.
    Bool,
    Number,
    /// A number that may have a fraction.
    Count,
    Duration,
    Text,
    /// All values of all occurrences, which are separated by commas.
    List,
    /// A list of `key=value`.
    Pairs,
}

/// The effect of a flag (ET-60).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Answer {
    /// It does here what it does there.
    Honored,
    /// Nothing that a client sees depends on it.
    Accepted,
    /// It has no effect, which a client may notice, with what is missing.
    Idle(&'static str),
    /// The program does not start, with the reason.
    Refused(&'static str),
}

/// A flag.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Flag {
    pub(super) name: &'static str,
    pub(super) short: Option<char>,
    pub(super) kind: Kind,
    pub(in super::super) answer: Answer,
}

/// Flags about one subject.
pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) flags: &'static [Flag],
}

const fn flag(name: &'static str, kind: Kind, answer: Answer) -> Flag {
    Flag { name, short: None, kind, answer }
}

const NO_ETCD: Answer = Idle("objects are kept in one etcd, or in memory");
const NO_AUDIT: Answer = Idle("events of the audit log are sent nowhere");
const NO_ROTATION: Answer = Idle("the audit log is one file");
const NO_TRACING: Answer = Idle("nothing is traced");
const NO_JWT: Answer = Refused("tokens of other issuers are not checked");
const NO_WEBHOOK: Answer = Refused("no other server is asked who users are, or what they may do");
const NO_PROXY: Answer = Idle("no requests are passed on to other API servers");
const NO_LIMIT: Answer = Idle("requests are not limited in this way");
const NO_RECONCILER: Answer = Idle("the service `kubernetes` has no node port");

/// All flags, by subject.
pub(super) static SECTIONS: &[Section] = &[
    Section {
        name: "Billhook",
        flags: &[
            flag("billhook-controllers", List, Honored),
            flag("billhook-strict", Bool, Honored),
        ],
    },
    Section {
        name: "Generic",
        flags: &[
            flag("advertise-address", Text, Honored),
            flag("cors-allowed-origins", List, Idle("answers have no headers for web pages")),
            flag("debug-socket-path", Text, Accepted),
            flag("emulated-version", List, Honored),
            flag("emulation-forward-compatible", Bool, Accepted),
            flag("enable-priority-and-fairness", Bool, Accepted),
            flag("external-hostname", Text, Accepted),
            flag("feature-gates", Pairs, Honored),
            flag("goaway-chance", Count, Accepted),
            flag("livez-grace-period", Duration, Accepted),
            flag("max-mutating-requests-inflight", Number, NO_LIMIT),
            flag("max-requests-inflight", Number, NO_LIMIT),
            flag("min-compatibility-version", List, Accepted),
            flag("min-request-timeout", Number, Honored),
            flag("request-timeout", Duration, Honored),
            flag("runtime-config", Pairs, Honored),
            flag("runtime-config-emulation-forward-compatible", Bool, Accepted),
            flag("shutdown-delay-duration", Duration, Accepted),
            flag("shutdown-send-retry-after", Bool, Accepted),
            flag("shutdown-watch-termination-grace-period", Duration, Accepted),
            flag("strict-transport-security-directives", List, Accepted),
        ],
    },
    Section {
        name: "Etcd",
        flags: &[
            flag("default-watch-cache-size", Number, Accepted),
            flag("delete-collection-workers", Number, Accepted),
            flag("enable-garbage-collector", Bool, Accepted),
            flag(
                "encryption-provider-config",
                Text,
                Idle("objects that are kept in memory are not written"),
            ),
            flag("encryption-provider-config-automatic-reload", Bool, Accepted),
            flag("etcd-cafile", Text, Honored),
            flag("etcd-certfile", Text, Honored),
            flag("etcd-compaction-interval", Duration, Honored),
            flag("etcd-count-metric-poll-period", Duration, Accepted),
            flag("etcd-db-metric-poll-interval", Duration, Accepted),
            flag("etcd-healthcheck-timeout", Duration, Accepted),
            flag("etcd-keyfile", Text, Honored),
            flag("etcd-prefix", Text, Honored),
            flag("etcd-readycheck-timeout", Duration, Accepted),
            flag("etcd-servers", List, Honored),
            flag("etcd-servers-overrides", List, NO_ETCD),
            flag("lease-reuse-duration-seconds", Number, Accepted),
            flag("storage-backend", Text, Accepted),
            flag("storage-initialization-timeout", Duration, Accepted),
            flag("storage-media-type", Text, Accepted),
            flag("watch-cache", Bool, Accepted),
            flag("watch-cache-sizes", List, Accepted),
        ],
    },
    Section {
        name: "Secure serving",
        flags: &[
            flag("bind-address", Text, Honored),
            flag("cert-dir", Text, Honored),
            flag("disable-http2-serving", Bool, Accepted),
            flag("http2-max-streams-per-connection", Number, Accepted),
            flag("permit-address-sharing", Bool, Accepted),
            flag("permit-port-sharing", Bool, Accepted),
            flag("secure-port", Number, Honored),
            flag("tls-cert-file", Text, Honored),
            flag("tls-cipher-suites", List, Idle("the cipher suites are those of the program")),
            flag("tls-curve-preferences", List, Accepted),
            flag("tls-min-version", Text, Idle("TLS 1.2 and 1.3 are spoken")),
            flag("tls-private-key-file", Text, Honored),
            // Names of one pair are separated by commas, too.
            flag("tls-sni-cert-key", Text, Honored),
        ],
    },
    Section {
        name: "Auditing",
        flags: &[
            flag("audit-log-batch-buffer-size", Number, Accepted),
            flag("audit-log-batch-max-size", Number, Accepted),
            flag("audit-log-batch-max-wait", Duration, Accepted),
            flag("audit-log-batch-throttle-burst", Number, Accepted),
            flag("audit-log-batch-throttle-enable", Bool, Accepted),
            flag("audit-log-batch-throttle-qps", Count, Accepted),
            flag("audit-log-compress", Bool, Accepted),
            flag("audit-log-format", Text, Honored),
            flag("audit-log-maxage", Number, NO_ROTATION),
            flag("audit-log-maxbackup", Number, NO_ROTATION),
            flag("audit-log-maxsize", Number, NO_ROTATION),
            flag("audit-log-mode", Text, Accepted),
            flag("audit-log-path", Text, Honored),
            flag("audit-log-truncate-enabled", Bool, Accepted),
            flag("audit-log-truncate-max-batch-size", Number, Accepted),
            flag("audit-log-truncate-max-event-size", Number, Accepted),
            flag("audit-log-version", Text, Accepted),
            flag("audit-policy-file", Text, Honored),
            flag("audit-webhook-batch-buffer-size", Number, Accepted),
            flag("audit-webhook-batch-max-size", Number, Accepted),
            flag("audit-webhook-batch-max-wait", Duration, Accepted),
            flag("audit-webhook-batch-throttle-burst", Number, Accepted),
            flag("audit-webhook-batch-throttle-enable", Bool, Accepted),
            flag("audit-webhook-batch-throttle-qps", Count, Accepted),
            flag("audit-webhook-config-file", Text, NO_AUDIT),
            flag("audit-webhook-initial-backoff", Duration, Accepted),
            flag("audit-webhook-mode", Text, Accepted),
            flag("audit-webhook-truncate-enabled", Bool, Accepted),
            flag("audit-webhook-truncate-max-batch-size", Number, Accepted),
            flag("audit-webhook-truncate-max-event-size", Number, Accepted),
            flag("audit-webhook-version", Text, Accepted),
        ],
    },
    Section {
        name: "Features",
        flags: &[
            flag("contention-profiling", Bool, Accepted),
            flag("coordinated-leadership-lease-duration", Duration, Accepted),
            flag("coordinated-leadership-renew-deadline", Duration, Accepted),
            flag("coordinated-leadership-retry-period", Duration, Accepted),
            flag("profiling", Bool, Accepted),
        ],
    },
    Section {
        name: "Authentication",
        flags: &[
            flag("anonymous-auth", Bool, Honored),
            flag("api-audiences", List, Honored),
            flag("authentication-config", Text, NO_JWT),
            flag("authentication-token-webhook-cache-ttl", Duration, Accepted),
            flag("authentication-token-webhook-config-file", Text, NO_WEBHOOK),
            flag("authentication-token-webhook-version", Text, Accepted),
            flag("client-ca-file", Text, Honored),
            flag("enable-bootstrap-token-auth", Bool, Idle("bootstrap tokens are not accepted")),
            flag("oidc-ca-file", Text, NO_JWT),
            flag("oidc-client-id", Text, NO_JWT),
            flag("oidc-groups-claim", Text, NO_JWT),
            flag("oidc-groups-prefix", Text, NO_JWT),
            flag("oidc-issuer-url", Text, NO_JWT),
            flag("oidc-required-claim", List, NO_JWT),
            flag("oidc-signing-algs", List, NO_JWT),
            flag("oidc-username-claim", Text, NO_JWT),
            flag("oidc-username-prefix", Text, NO_JWT),
            flag("requestheader-allowed-names", List, Accepted),
            flag("requestheader-client-ca-file", Text, Idle("users are not taken from headers")),
            flag("requestheader-extra-headers-prefix", List, Accepted),
            flag("requestheader-group-headers", List, Accepted),
            flag("requestheader-uid-headers", List, Accepted),
            flag("requestheader-username-headers", List, Accepted),
            flag("service-account-extend-token-expiration", Bool, Accepted),
            flag("service-account-issuer", List, Honored),
            flag("service-account-jwks-uri", Text, Honored),
            flag("service-account-key-file", List, Honored),
            flag("service-account-lookup", Bool, Accepted),
            flag("service-account-max-token-expiration", Duration, Honored),
            flag("token-auth-file", Text, Honored),
        ],
    },
    Section {
        name: "Authorization",
        flags: &[
            flag("authorization-config", Text, NO_WEBHOOK),
            flag("authorization-mode", List, Honored),
            flag("authorization-policy-file", Text, Refused("ABAC is not supported")),
            flag("authorization-webhook-cache-authorized-ttl", Duration, Accepted),
            flag("authorization-webhook-cache-unauthorized-ttl", Duration, Accepted),
            flag("authorization-webhook-config-file", Text, NO_WEBHOOK),
            flag("authorization-webhook-version", Text, Accepted),
        ],
    },
    Section {
        name: "Cloud provider",
        flags: &[flag("cloud-config", Text, Accepted), flag("cloud-provider", Text, Accepted)],
    },
    Section {
        name: "API enablement",
        flags: &[
            flag("admission-control-config-file", Text, Honored),
            flag("disable-admission-plugins", List, Honored),
            flag("enable-admission-plugins", List, Honored),
            flag("admission-control", List, Idle("plugins are as by default")),
        ],
    },
    Section {
        name: "Misc",
        flags: &[
            flag("aggregator-reject-forwarding-redirect", Bool, Accepted),
            flag("allow-metric-labels", Pairs, Accepted),
            flag("allow-metric-labels-manifest", Text, Accepted),
            flag("allow-privileged", Bool, Honored),
            flag("apiserver-count", Number, Accepted),
            flag("disabled-metrics", List, Accepted),
            flag("enable-aggregator-routing", Bool, NO_PROXY),
            flag("enable-logs-handler", Bool, Accepted),
            flag("endpoint-reconciler-type", Text, Accepted),
            flag("event-ttl", Duration, Honored),
            flag("identity-lease-duration-seconds", Number, Accepted),
            flag("identity-lease-renew-interval-seconds", Number, Accepted),
            flag("kubelet-certificate-authority", Text, Accepted),
            flag("kubelet-client-certificate", Text, Accepted),
            flag("kubelet-client-key", Text, Accepted),
            flag("kubelet-preferred-address-types", List, Accepted),
            flag("kubelet-timeout", Duration, Accepted),
            flag("kubernetes-service-node-port", Number, NO_RECONCILER),
            flag("max-connection-bytes-per-sec", Number, Accepted),
            flag("peer-advertise-ip", Text, Accepted),
            flag("peer-advertise-port", Text, Accepted),
            flag("peer-ca-file", Text, Accepted),
            flag("proxy-client-cert-file", Text, NO_PROXY),
            flag("proxy-client-key-file", Text, NO_PROXY),
            flag("service-account-signing-endpoint", Text, NO_WEBHOOK),
            flag("service-account-signing-key-file", Text, Honored),
            flag("service-cluster-ip-range", Text, Honored),
            flag("service-node-port-range", Text, Honored),
            flag("show-hidden-metrics-for-version", Text, Accepted),
            flag("tracing-config-file", Text, NO_TRACING),
            flag("egress-selector-config-file", Text, NO_PROXY),
        ],
    },
    Section {
        name: "Logs",
        flags: &[
            flag("log-flush-frequency", Duration, Accepted),
            flag("log-json-info-buffer-size", Text, Accepted),
            flag("log-json-split-stream", Bool, Accepted),
            flag("log-text-info-buffer-size", Text, Accepted),
            flag("log-text-split-stream", Bool, Accepted),
            flag("logging-format", Text, Accepted),
            Flag { short: Some('v'), ..flag("v", Number, Accepted) },
            flag("vmodule", Text, Accepted),
        ],
    },
    Section {
        name: "Global",
        flags: &[
            Flag { short: Some('h'), ..flag("help", Bool, Honored) },
            flag("version", Text, Honored),
        ],
    },
];

/// Finds a flag by its name.
pub(super) fn find(name: &str) -> Option<&'static Flag> {
    all().find(|flag| flag.name == name)
}

/// Finds a flag by the letter that is short for it.
pub(super) fn find_short(letter: char) -> Option<&'static Flag> {
    all().find(|flag| flag.short == Some(letter))
}

fn all() -> impl Iterator<Item = &'static Flag> {
    SECTIONS.iter().flat_map(|section| section.flags)
}
