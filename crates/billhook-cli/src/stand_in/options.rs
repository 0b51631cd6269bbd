//! The settings that flags of kube-apiserver ask for, and the texts about those that are refused
//! (ET-61).

mod audit;
mod gates;
mod plugins;
mod runtime;

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use billhook::KubernetesVersion;
use billhook_apiserver::{AuthorizationMode, SecurityDefaults};
use billhook_control_plane::controllers::Selection;
use billhook_kinds::ServiceRanges;
use billhook_webhook_client::AdmissionConfiguration;

use self::audit::AuditSettings;
use super::flags::{Answer, Flags};
use crate::listening::REQUEST_TIME;

/// How users may be allowed what they ask for.
const MODES: [&str; 6] = ["AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"];
/// The limits of the requests that are answered at the same time.
const IN_FLIGHT: [&str; 2] = ["max-requests-inflight", "max-mutating-requests-inflight"];
const DEFAULT_CERTIFICATES: &str = "/var/run/kubernetes";
/// The variable that switches on parts of a controller manager, as the flag does.
const CONTROLLERS: &str = "BILLHOOK_CONTROLLERS";

/// A certificate of the server for some names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SniPair {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
    pub(super) names: Vec<String>,
}

/// The settings of tokens of service accounts.
#[derive(Debug)]
pub(super) struct TokenOptions {
    pub(super) issuers: Vec<String>,
    pub(super) audiences: Vec<String>,
    pub(super) signing_key: Option<PathBuf>,
    pub(super) verifying_keys: Vec<PathBuf>,
    pub(super) max_expiration: Option<Duration>,
    /// Where the keys are found, if not at the server.
    pub(super) key_set_url: Option<String>,
}

/// The settings of the etcd that objects are kept in, if there is one.
#[derive(Debug)]
pub(super) struct EtcdSettings {
    pub(super) servers: Vec<String>,
    pub(super) prefix: Option<String>,
    pub(super) authority: Option<PathBuf>,
    pub(super) certificate: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) compaction_interval: Option<Duration>,
    pub(super) event_ttl: Option<Duration>,
    /// Whether objects should be encrypted.
    pub(super) encrypts: bool,
}

/// The settings of a server.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) bind: IpAddr,
    /// Where other machines reach the server, if flags say so.
    pub(super) advertised: IpAddr,
    pub(super) port: u16,
    pub(super) certificates: PathBuf,
    /// The files of the certificate and its key.
    pub(super) tls: Option<(PathBuf, PathBuf)>,
    pub(super) sni: Vec<SniPair>,
    pub(super) client_authorities: Option<PathBuf>,
    pub(super) tokens: Option<PathBuf>,
    pub(super) mode: AuthorizationMode,
    pub(super) service_accounts: TokenOptions,
    pub(super) allows_anonymous: bool,
    pub(super) allows_privileged: bool,
    /// How long a request may take.
    pub(super) request_time: Duration,
    /// How long a watch lasts that names no time, if it is not as usual.
    pub(super) watch_time: Option<Duration>,
    pub(super) disabled_plugins: Vec<String>,
    /// The versions of groups that are not served.
    pub(super) disabled_versions: Vec<String>,
    /// Whether watches may ask for the existing objects, if a gate says so.
    pub(super) streams_lists: Option<bool>,
    /// The credentials for webhooks.
    pub(super) admission: AdmissionConfiguration,
    /// The levels of security of namespaces that ask for none.
    pub(super) pod_security: SecurityDefaults,
    pub(super) ranges: ServiceRanges,
    pub(super) kubernetes: KubernetesVersion,
    pub(super) controllers: Selection,
    pub(super) etcd: EtcdSettings,
    /// The audit log, if there is one.
    pub(super) audit: Option<AuditSettings>,
    /// Lines about flags that have no effect.
    pub(super) warnings: Vec<String>,
}

impl Options {
    /// Takes over flags; the version counts unless they name another.
    ///
    /// # Errors
    ///
    /// Returns all texts about what is refused, in the order of the server.
    pub(super) fn new(flags: &Flags, version: KubernetesVersion) -> Result<Self, Vec<String>> {
        let mut errors = Vec::new();
        let mut warnings = Vec::new();
        answers(flags, &mut errors, &mut warnings);
        if flags.all("etcd-servers").is_empty() {
            errors.push("--etcd-servers must be specified".to_owned());
        }
        let ranges = ranges(flags, &mut errors);
        check_limits(flags, &mut errors);
        let port = port(flags, &mut errors);
        let bind = address(flags, "bind-address", Ipv4Addr::UNSPECIFIED.into(), &mut errors);
        let advertised = address(flags, "advertise-address", bind, &mut errors);
        let sni = flags.all("tls-sni-cert-key").iter().filter_map(|text| {
            let pair = sni(text);
            if pair.is_none() {
                errors
                    .push(format!("invalid --tls-sni-cert-key {text}: expected cert,key[:names]"));
            }
            pair
        });
        let sni = sni.collect();
        let tls = tls(flags, &mut errors);
        check_issuer(flags, &mut errors);
        let mode = mode(flags, &mut errors);
        let service_accounts = tokens(flags, &mut errors);
        let mut disabled_plugins = plugins::disabled(flags, &mut errors, &mut warnings);
        let (admission, pod_security) = plugins::configuration(flags, &mut errors, &mut warnings);
        let kubernetes = emulated(flags, version, &mut errors);
        let disabled_versions = runtime::disabled(flags, &mut errors, &mut warnings);
        let gates = gates::switched(flags, kubernetes, &mut errors, &mut warnings);
        disabled_plugins.extend(gates.disabled_plugin.map(str::to_owned));
        if flags.all("service-account-issuer").is_empty()
            || flags.text("service-account-signing-key-file").is_none()
        {
            let both = "--service-account-signing-key-file and --service-account-issuer";
            errors.push(format!("{both} are required flags"));
        }
        let audit = audit::settings(flags, &mut errors, &mut warnings);
        let controllers = controllers(flags, &mut errors);
        if flags.bool("billhook-strict", false) {
            errors.append(&mut warnings);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let path = |name: &str| flags.text(name).map(PathBuf::from);
        Ok(Options {
            bind,
            advertised,
            port,
            certificates: path("cert-dir").unwrap_or_else(|| DEFAULT_CERTIFICATES.into()),
            tls,
            sni,
            client_authorities: path("client-ca-file"),
            tokens: path("token-auth-file"),
            mode,
            service_accounts,
            allows_anonymous: flags.bool("anonymous-auth", true),
            allows_privileged: flags.bool("allow-privileged", false),
            request_time: positive(flags.duration("request-timeout")).unwrap_or(REQUEST_TIME),
            watch_time: positive(flags.seconds("min-request-timeout")),
            disabled_plugins,
            disabled_versions,
            streams_lists: gates.streams_lists,
            admission,
            pod_security,
            ranges,
            kubernetes,
            controllers,
            etcd: etcd(flags),
            audit,
            warnings,
        })
    }
}

/// A time that a flag names, unless that is none.
fn positive(time: Option<Duration>) -> Option<Duration> {
    time.filter(|time| !time.is_zero())
}

fn etcd(flags: &Flags) -> EtcdSettings {
    let path = |name: &str| flags.text(name).map(PathBuf::from);
    EtcdSettings {
        servers: flags.all("etcd-servers").to_vec(),
        prefix: flags.text("etcd-prefix").map(str::to_owned),
        authority: path("etcd-cafile"),
        certificate: path("etcd-certfile"),
        key: path("etcd-keyfile"),
        compaction_interval: flags.duration("etcd-compaction-interval"),
        event_ttl: flags.duration("event-ttl"),
        encrypts: flags.has("encryption-provider-config"),
    }
}

/// Refuses what the table of flags refuses, and warns of what has no effect (ET-60).
fn answers(flags: &Flags, errors: &mut Vec<String>, warnings: &mut Vec<String>) {
    for (name, answer) in flags.answers() {
        match answer {
            Answer::Refused(why) => errors.push(format!("--{name} is not supported: {why}")),
            Answer::Idle(_) if is_unlimited(flags, name) => {}
            Answer::Idle(what) => {
                warnings.push(format!("--{name} is accepted and has no effect: {what}"));
            }
            Answer::Honored | Answer::Accepted => {}
        }
    }
}

fn port(flags: &Flags, errors: &mut Vec<String>) -> u16 {
    let port = flags.number("secure-port", 6443);
    match u16::try_from(port) {
        Ok(port) if port > 0 => port,
        _ => {
            errors.push(format!(
                "--secure-port {port} must be between 1 and 65535, inclusive. It cannot be turned \
                 off with 0"
            ));
            0
        }
    }
}

fn address(flags: &Flags, name: &str, default: IpAddr, errors: &mut Vec<String>) -> IpAddr {
    let Some(text) = flags.text(name) else { return default };
    text.parse().unwrap_or_else(|_| {
        errors.push(format!("--{name} {text} is not an IP address"));
        default
    })
}

fn tls(flags: &Flags, errors: &mut Vec<String>) -> Option<(PathBuf, PathBuf)> {
    match (flags.text("tls-cert-file"), flags.text("tls-private-key-file")) {
        (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
        (None, None) => None,
        _ => {
            errors.push(
                "--tls-cert-file and --tls-private-key-file must be given together".to_owned(),
            );
            None
        }
    }
}

/// Reads `cert,key` or `cert,key:name,name`.
fn sni(text: &str) -> Option<SniPair> {
    let (files, names) = text.split_once(':').unwrap_or((text, ""));
    let (certificate, key) = files.split_once(',').filter(|(_, key)| !key.contains(','))?;
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    (!certificate.is_empty() && !key.is_empty()).then(|| SniPair {
        certificate: certificate.into(),
        key: key.into(),
        names: names.map(str::to_owned).collect(),
    })
}

fn ranges(flags: &Flags, errors: &mut Vec<String>) -> ServiceRanges {
    let default = ServiceRanges::default();
    let text = flags.text("service-cluster-ip-range").unwrap_or_default();
    let ranges: Vec<&str> = text.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    let is_v4 = |range: &&str| !range.contains(':');
    if let [first, second, ..] = ranges.as_slice()
        && is_v4(first) == is_v4(second)
    {
        errors.push(
            "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different \
             IP family"
                .to_owned(),
        );
    }
    if ranges.len() > 2 {
        let message = "--service-cluster-ip-range must not contain more than two entries";
        errors.push(message.to_owned());
    }
    let default_addresses = default.addresses();
    // Addresses of services are of IPv4.
    let addresses = ranges.iter().copied().find(is_v4).unwrap_or(&default_addresses);
    let ports = flags.text("service-node-port-range").map_or(Some(default.ports()), |text| {
        let (first, last) = text.split_once('-')?;
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    let Some(ports) = ports.filter(|ports| !ports.is_empty()) else {
        errors.push("--service-node-port-range is not a range of ports".to_owned());
        return default;
    };
    ServiceRanges::new(addresses, ports).unwrap_or_else(|| {
        errors.push("--service-cluster-ip-range must contain at least one valid cidr".to_owned());
        default
    })
}

/// Whether a flag asks for what is the case without it: that requests are not limited (ET-77).
fn is_unlimited(flags: &Flags, name: &str) -> bool {
    IN_FLIGHT.contains(&name) && flags.has(name) && flags.number(name, 1) == 0
}

/// Both limits together switch off what orders requests (ET-77).
fn check_limits(flags: &Flags, errors: &mut Vec<String>) {
    let [reads, writes] = IN_FLIGHT;
    if IN_FLIGHT.iter().all(|name| is_unlimited(flags, name)) && has_fairness(flags) {
        errors.push(format!(
            "--{reads} and --{writes} are both 0, but --enable-priority-and-fairness is on"
        ));
    }
}

fn has_fairness(flags: &Flags) -> bool {
    flags.bool("enable-priority-and-fairness", true)
}

fn check_issuer(flags: &Flags, errors: &mut Vec<String>) {
    if flags.all("service-account-issuer").is_empty() {
        errors.push("service-account-issuer is a required flag".to_owned());
    }
    if flags.all("service-account-key-file").is_empty() {
        errors.push(
            "either `--service-account-key-file` or `--service-account-signing-endpoint` must be set"
                .to_owned(),
        );
    }
}

/// Returns how it is decided what users may do.
fn mode(flags: &Flags, errors: &mut Vec<String>) -> AuthorizationMode {
    let given = flags.all("authorization-mode");
    for mode in given {
        match mode.as_str() {
            "ABAC" => errors
                .push("authorization-mode ABAC's authorization policy file not passed".to_owned()),
            "Webhook" => errors.push(
                "authorization-mode Webhook's authorization config file not passed".to_owned(),
            ),
            mode if !MODES.contains(&mode) => {
                errors.push(format!("authorization-mode {mode:?} is not a valid mode"));
            }
            _ => {}
        }
    }
    let is_repeated = given
        .iter()
        .enumerate()
        .any(|(index, mode)| given.iter().take(index).any(|earlier| earlier == mode));
    if is_repeated {
        let modes: Vec<String> = given.iter().map(|mode| format!("{mode:?}")).collect();
        let modes = modes.join(" ");
        errors.push(format!("authorization-mode [{modes}] has mode specified more than once"));
    }
    // Who is allowed by one mode is allowed.
    let has = |name: &str| given.iter().any(|mode| mode == name);
    match () {
        () if given.is_empty() || has("AlwaysAllow") => AuthorizationMode::AlwaysAllow,
        () if has("RBAC") || has("Node") => AuthorizationMode::Rbac,
        () => AuthorizationMode::AlwaysDeny,
    }
}

/// How tokens of service accounts are signed and verified (ET-34).
fn tokens(flags: &Flags, errors: &mut Vec<String>) -> TokenOptions {
    let texts = |name: &str| flags.all(name).to_vec();
    let files = |name: &str| flags.all(name).iter().map(PathBuf::from).collect();
    let max_expiration = flags.duration("service-account-max-token-expiration");
    const HOUR: Duration = Duration::from_secs(3600);
    const MOST: Duration = Duration::from_secs(1 << 32);
    if max_expiration.is_some_and(|max| !max.is_zero() && !(HOUR..=MOST).contains(&max)) {
        errors.push(
            "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"
                .to_owned(),
        );
    }
    TokenOptions {
        issuers: texts("service-account-issuer"),
        audiences: texts("api-audiences"),
        signing_key: flags.text("service-account-signing-key-file").map(PathBuf::from),
        verifying_keys: files("service-account-key-file"),
        max_expiration: max_expiration.filter(|max| !max.is_zero()),
        key_set_url: flags.text("service-account-jwks-uri").map(str::to_owned),
    }
}

fn emulated(
    flags: &Flags,
    mut version: KubernetesVersion,
    errors: &mut Vec<String>,
) -> KubernetesVersion {
    for text in flags.all("emulated-version") {
        let text = text.strip_prefix("kube=").unwrap_or(text);
        match text.parse() {
            Ok(found) => version = found,
            Err(error) => errors.push(format!("invalid --emulated-version {text}: {error}")),
        }
    }
    version
}

fn controllers(flags: &Flags, errors: &mut Vec<String>) -> Selection {
    let environment = std::env::var(CONTROLLERS).unwrap_or_default();
    let of_environment = environment.split(',').map(str::trim).filter(|name| !name.is_empty());
    let given = flags.all("billhook-controllers").iter().map(String::as_str);
    let selection = Selection::parse(of_environment.chain(given)).unwrap_or_else(|error| {
        errors.push(error.to_string());
        Selection::default()
    });
    match positive(flags.duration("event-ttl")) {
        Some(time) => selection.event_ttl(time),
        None => selection,
    }
}
