//! Parts of pods in the form that servers work with, as their errors show them (BK-791).

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::{Record, Type, TypedRecord as _, declared_json};
use serde_json::Value;

use crate::generated::core_v1::{POD_SECURITY_CONTEXT, POD_SPEC};
use crate::workloads::part;

/// Names that are not those of the API with a capital letter.
const NAMES: [(&str, &str); 34] = [
    ("apiVersion", "APIVersion"),
    ("awsElasticBlockStore", "AWSElasticBlockStore"),
    ("cephfs", "CephFS"),
    ("chapAuthDiscovery", "DiscoveryCHAPAuth"),
    ("chapAuthSession", "SessionCHAPAuth"),
    ("csi", "CSI"),
    ("datasetUUID", "DatasetUUID"),
    ("diskURI", "DataDiskURI"),
    ("dnsConfig", "DNSConfig"),
    ("dnsPolicy", "DNSPolicy"),
    ("fc", "FC"),
    ("fsGroup", "FSGroup"),
    ("fsGroupChangePolicy", "FSGroupChangePolicy"),
    ("fsType", "FSType"),
    ("gcePersistentDisk", "GCEPersistentDisk"),
    ("gmsaCredentialSpec", "GMSACredentialSpec"),
    ("gmsaCredentialSpecName", "GMSACredentialSpecName"),
    ("grpc", "GRPC"),
    ("httpGet", "HTTPGet"),
    ("httpHeaders", "HTTPHeaders"),
    ("ip", "IP"),
    ("iqn", "IQN"),
    ("iscsi", "ISCSI"),
    ("nfs", "NFS"),
    ("os", "OS"),
    ("pdID", "PdID"),
    ("pdName", "PDName"),
    ("rbd", "RBD"),
    ("seLinuxChangePolicy", "SELinuxChangePolicy"),
    ("seLinuxOptions", "SELinuxOptions"),
    ("storageos", "StorageOS"),
    ("tcpSocket", "TCPSocket"),
    ("tty", "TTY"),
    ("wwids", "WWIDs"),
];

/// The fields of a pod in their order.
const POD: [&str; 36] = [
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

/// Fields of a pod that its security context has.
const SECURITY: [(&str, &str); 5] = [
    ("hostNetwork", "HostNetwork"),
    ("hostPID", "HostPID"),
    ("hostIPC", "HostIPC"),
    ("shareProcessNamespace", "ShareProcessNamespace"),
    ("hostUsers", "HostUsers"),
];

/// The fields of a security context in their order.
const CONTEXT: [&str; 13] = [
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

/// Returns a value as errors show it.
pub(crate) fn show(value: Option<&Value>, type_: Type) -> String {
    let mut out = String::new();
    write(value.filter(|value| !value.is_null()), type_, &mut out);
    out
}

/// Returns the spec of a pod as errors show it.
pub(crate) fn show_spec(spec: &Value) -> String {
    show(Some(spec), Type::Record(|| &POD_SPEC))
}

/// Returns a template of pods as errors show it.
pub(crate) fn show_template(template: &Value) -> String {
    let metadata = declared_json(part(template, "/metadata"), ObjectMeta::record());
    let members = metadata.strip_prefix('{').and_then(|members| members.strip_suffix('}'));
    let metadata = match members.unwrap_or_default() {
        "" => String::new(),
        members => format!("{members},"),
    };
    format!("{{{metadata}\"Spec\":{}}}", show_spec(part(template, "/spec")))
}

fn write(value: Option<&Value>, type_: Type, out: &mut String) {
    match (type_.unnamed(), value) {
        (Type::Optional(type_), Some(_)) => write(value, *type_, out),
        (Type::Record(table), value) if is_of_api(table()) => {
            let print = |value: &Value| declared_json(value, table());
            out.push_str(&value.map_or_else(|| "{}".to_owned(), print));
        }
        (Type::Record(table), value) => write_record(value, table(), out),
        (Type::List(type_), Some(Value::Array(items))) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(Some(item), *type_, out);
            }
            out.push(']');
        }
        (Type::Text, None) => out.push_str("\"\""),
        (Type::Flag, None) => out.push_str("false"),
        (Type::Int32 | Type::Int64 | Type::Float, None) => out.push('0'),
        (Type::Quantity, None) => out.push_str("\"0\""),
        (_, Some(value)) => out.push_str(&compact_json(value)),
        (_, None) => out.push_str("null"),
    }
}

/// Whether servers work with a type in the form that it has in the API.
fn is_of_api(record: &'static Record) -> bool {
    std::ptr::eq(record, LabelSelector::record())
}

fn write_record(value: Option<&Value>, record: &'static Record, out: &mut String) {
    let order: Vec<&str> = if std::ptr::eq(record, &raw const POD_SPEC) {
        POD.into()
    } else if std::ptr::eq(record, &raw const POD_SECURITY_CONTEXT) {
        CONTEXT.into()
    } else {
        record.fields.iter().map(|field| field.name).collect()
    };
    out.push('{');
    for name in order {
        let Some(field) = record.field(name) else { continue };
        let member = value.and_then(|value| value.get(name)).filter(|member| !member.is_null());
        if std::ptr::eq(record, &raw const POD_SPEC) && name == "securityContext" {
            begin(name, out);
            write_context(value, member, out);
        } else {
            begin(name, out);
            write(member, field.type_, out);
        }
    }
    out.push('}');
}

fn begin(name: &str, out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
    let known = NAMES.iter().find(|(known, _)| *known == name);
    let mut letters = name.chars();
    let first = letters.next().unwrap_or_default().to_ascii_uppercase();
    let capital = || std::iter::once(first).chain(letters).collect();
    let name = known.map_or_else(capital, |(_, name)| (*name).to_owned());
    out.push_str(&format!("\"{name}\":"));
}

/// The security context of a pod, with the fields that the API has in the pod.
fn write_context(spec: Option<&Value>, context: Option<&Value>, out: &mut String) {
    let Some(context) = context else {
        out.push_str("null");
        return;
    };
    out.push('{');
    for (name, shown) in SECURITY {
        let value = spec.and_then(|spec| spec.get(name)).filter(|value| !value.is_null());
        let absent =
            if matches!(name, "hostUsers" | "shareProcessNamespace") { "null" } else { "false" };
        let value = value.map_or_else(|| absent.to_owned(), compact_json);
        out.push_str(&format!("\"{shown}\":{value},"));
    }
    let mut own = String::new();
    write_record(Some(context), &POD_SECURITY_CONTEXT, &mut own);
    out.push_str(own.strip_prefix('{').unwrap_or_default());
}
