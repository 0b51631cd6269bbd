//! Templates of pods in the server's internal form, as errors show them (BK-791).

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::record::{Record, TypedRecord as _, declared_json};
use serde_json::Value;

use crate::generated::core_v1::{POD_SECURITY_CONTEXT, POD_SPEC};
use crate::workloads::part;

/// The fields of the spec of pods, in the order of the internal form.
const SPEC: [&str; 36] = [
    "volumes",
    "initContainers",
    "containers",
    "ephemeralContainers",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "dnsPolicy",
    "nodeSelector",
    "serviceAccountName",
    "automountServiceAccountToken",
    "nodeName",
    "securityContext",
    "imagePullSecrets",
    "hostname",
    "subdomain",
    "setHostnameAsFQDN",
    "affinity",
    "schedulerName",
    "tolerations",
    "hostAliases",
    "priorityClassName",
    "priority",
    "preemptionPolicy",
    "dnsConfig",
    "readinessGates",
    "runtimeClassName",
    "overhead",
    "enableServiceLinks",
    "topologySpreadConstraints",
    "os",
    "schedulingGates",
    "resourceClaims",
    "resources",
    "hostnameOverride",
    "schedulingGroup",
];

/// The fields that the internal form has in the security context of pods, first those that the spec
/// has in documents.
const SECURITY: [&str; 18] = [
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "hostUsers",
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "seccompProfile",
    "appArmorProfile",
    "seLinuxChangePolicy",
];

/// Names that begin with an abbreviation, as the tables of fields and as the internal form have
/// them.
const ABBREVIATIONS: [(&str, &str); 23] = [
    ("AwsElasticBlockStore", "AWSElasticBlockStore"),
    ("Cephfs", "CephFS"),
    ("Csi", "CSI"),
    ("DnsConfig", "DNSConfig"),
    ("DnsPolicy", "DNSPolicy"),
    ("Fc", "FC"),
    ("FsGroup", "FSGroup"),
    ("FsGroupChangePolicy", "FSGroupChangePolicy"),
    ("FsType", "FSType"),
    ("GcePersistentDisk", "GCEPersistentDisk"),
    ("Grpc", "GRPC"),
    ("HttpGet", "HTTPGet"),
    ("HttpHeaders", "HTTPHeaders"),
    ("Ip", "IP"),
    ("Iscsi", "ISCSI"),
    ("Nfs", "NFS"),
    ("Os", "OS"),
    ("Rbd", "RBD"),
    ("SeLinuxChangePolicy", "SELinuxChangePolicy"),
    ("SeLinuxOptions", "SELinuxOptions"),
    ("Storageos", "StorageOS"),
    ("TcpSocket", "TCPSocket"),
    ("Tty", "TTY"),
];

/// A template.
pub(super) fn shown(template: &Value) -> String {
    let metadata = declared_json(part(template, "/metadata"), ObjectMeta::record());
    let members = metadata.strip_prefix('{').and_then(|members| members.strip_suffix('}'));
    let metadata = match members.unwrap_or_default() {
        "" => String::new(),
        members => format!("{members},"),
    };
    format!("{{{metadata}\"Spec\":{}}}", shown_spec(part(template, "/spec")))
}

/// The spec of pods.
pub(super) fn shown_spec(spec: &Value) -> String {
    let members = SPEC.into_iter().filter_map(|name| {
        let field = POD_SPEC.field(name)?;
        let value = spec.get(name);
        let shown = match name {
            "securityContext" => shown_security(spec),
            _ => show(value, field.type_),
        };
        Some(format!("\"{}\":{shown}", field.go_name()))
    });
    let shown = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    // A quote inside of a text is escaped, so that these are names of members.
    ABBREVIATIONS.into_iter().fold(shown, |shown, (name, internal)| {
        shown.replace(&format!("\"{name}\":"), &format!("\"{internal}\":"))
    })
}

fn shown_security(spec: &Value) -> String {
    let context = part(spec, "/securityContext");
    if context.is_null() {
        return "null".to_owned();
    }
    let of = |record: &'static Record, object: &Value, name| {
        let field = record.field(name)?;
        let value = object.get(name);
        Some(format!("\"{}\":{}", field.go_name(), show(value, field.type_)))
    };
    let members = SECURITY.into_iter().filter_map(|name| {
        of(&POD_SPEC, spec, name).or_else(|| of(&POD_SECURITY_CONTEXT, context, name))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
