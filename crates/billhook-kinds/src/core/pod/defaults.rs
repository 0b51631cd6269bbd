//! Defaults of pods and of templates of pods.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::value::at_mut;
use serde_json::{Map, Value, json};

use super::edition::EDITIONS;
use super::gates::{drop_of_container, drop_of_spec};
use super::image::pull_policy;
use crate::core::volume_claim;
use crate::rules::round_amounts;
use crate::values::{integer, items_mut, object_mut, section, set_missing, text};

/// The lists of containers of a pod.
pub(crate) const CONTAINERS: [&str; 3] = ["/containers", "/initContainers", "/ephemeralContainers"];

/// Annotations of long ago, which servers remove.
const OLD_ANNOTATIONS: [&str; 4] = [
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
];

/// Sets the defaults that pods and templates have in common.
pub(crate) fn of_spec(spec: &mut Value, kubernetes: KubernetesVersion) {
    drop_of_spec(spec, kubernetes);
    set_missing(spec, "restartPolicy", "Always");
    set_missing(spec, "terminationGracePeriodSeconds", 30);
    set_missing(spec, "dnsPolicy", "ClusterFirst");
    set_missing(spec, "securityContext", json!({}));
    set_missing(spec, "schedulerName", "default-scheduler");
    convert(spec);
    for place in CONTAINERS {
        for container in items_mut(spec, place) {
            drop_of_container(container, kubernetes);
            of_container(container);
        }
    }
    for volume in items_mut(spec, "/volumes") {
        of_volume(volume, kubernetes);
    }
    for amounts in ["/resources/limits", "/resources/requests", "/overhead"] {
        round_amounts(spec, amounts);
    }
}

/// Sets the defaults that only pods have, and not templates.
pub(crate) fn of_pod(pod: &mut Value, kubernetes: KubernetesVersion) {
    remove_old_annotations(pod);
    round_status(pod);
    let Some(spec) = object_mut(pod, "/spec") else { return };
    set_missing(spec, "enableServiceLinks", true);
    if integer(spec, "/terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0)
        && let Value::Object(members) = spec
    {
        members.insert("terminationGracePeriodSeconds".to_owned(), 1.into());
    }
    let is_on_host_network = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for place in ["/containers", "/initContainers"] {
        for container in items_mut(spec, place) {
            request_limits(container);
            if is_on_host_network {
                take_host_ports(container);
            }
        }
    }
    if EDITIONS.of(kubernetes).has_pod_resources {
        super::resources::set_pod_defaults(spec);
    }
}

/// Removes annotations of long ago.
pub(crate) fn remove_old_annotations(object: &mut Value) {
    let Some(Value::Object(annotations)) = at_mut(object, "/metadata/annotations") else {
        return;
    };
    annotations.retain(|name, _| !OLD_ANNOTATIONS.contains(&name.as_str()));
    if annotations.is_empty()
        && let Some(metadata) = section(object, "metadata")
    {
        metadata.remove("annotations");
    }
}

/// Servers work with a form of a spec in which some members are one.
fn convert(spec: &mut Value) {
    let account = match text(spec, "/serviceAccountName") {
        "" => text(spec, "/serviceAccount").to_owned(),
        name => name.to_owned(),
    };
    let Value::Object(spec) = spec else { return };
    if !account.is_empty() {
        spec.insert("serviceAccountName".to_owned(), account.clone().into());
        spec.insert("serviceAccount".to_owned(), account.into());
    }
}

fn of_container(container: &mut Value) {
    let policy = pull_policy(text(container, "/image"));
    set_missing(container, "imagePullPolicy", policy);
    set_missing(container, "terminationMessagePath", "/dev/termination-log");
    set_missing(container, "terminationMessagePolicy", "File");
    for port in items_mut(container, "/ports") {
        set_missing(port, "protocol", "TCP");
    }
    for variable in items_mut(container, "/env") {
        of_field_reference(variable, "/valueFrom/fieldRef");
        if let Some(key) = object_mut(variable, "/valueFrom/fileKeyRef") {
            set_missing(key, "optional", false);
        }
    }
    for name in ["/livenessProbe", "/readinessProbe", "/startupProbe"] {
        if let Some(probe) = object_mut(container, name) {
            of_probe(probe);
        }
    }
    for handler in ["/lifecycle/postStart", "/lifecycle/preStop"] {
        if let Some(handler) = object_mut(container, handler) {
            of_http_request(handler);
        }
    }
    for amounts in ["/resources/limits", "/resources/requests"] {
        round_amounts(container, amounts);
    }
}

fn of_probe(probe: &mut Value) {
    for (name, default) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        set_missing(probe, name, default);
    }
    of_http_request(probe);
    if let Some(call) = object_mut(probe, "/grpc") {
        set_missing(call, "service", "");
    }
}

fn of_http_request(handler: &mut Value) {
    if let Some(request) = object_mut(handler, "/httpGet") {
        set_missing(request, "path", "/");
        set_missing(request, "scheme", "HTTP");
    }
}

fn of_field_reference(object: &mut Value, place: &str) {
    if let Some(reference) = object_mut(object, place) {
        set_missing(reference, "apiVersion", "v1");
    }
}

fn of_volume(volume: &mut Value, kubernetes: KubernetesVersion) {
    let has_source = |volume: &Map<String, Value>| volume.keys().any(|name| name != "name");
    if volume.as_object().is_some_and(|volume| !has_source(volume)) {
        set_missing(volume, "emptyDir", json!({}));
    }
    for name in ["/secret", "/configMap", "/downwardAPI", "/projected"] {
        if let Some(source) = object_mut(volume, name) {
            set_missing(source, "defaultMode", 420);
        }
    }
    for item in items_mut(volume, "/downwardAPI/items") {
        of_field_reference(item, "/fieldRef");
    }
    for source in items_mut(volume, "/projected/sources") {
        of_projection(source);
    }
    of_volume_source(volume, kubernetes);
}

fn of_projection(source: &mut Value) {
    for item in items_mut(source, "/downwardAPI/items") {
        of_field_reference(item, "/fieldRef");
    }
    if let Some(token) = object_mut(source, "/serviceAccountToken") {
        set_missing(token, "expirationSeconds", 3600);
    }
}

fn of_volume_source(volume: &mut Value, kubernetes: KubernetesVersion) {
    let image = text(volume, "/image/reference").to_owned();
    for (place, name, default) in [
        ("/hostPath", "type", Value::from("")),
        ("/iscsi", "iscsiInterface", "default".into()),
        ("/rbd", "pool", "rbd".into()),
        ("/rbd", "user", "admin".into()),
        ("/rbd", "keyring", "/etc/ceph/keyring".into()),
        ("/azureDisk", "cachingMode", "ReadWrite".into()),
        ("/azureDisk", "fsType", "ext4".into()),
        ("/azureDisk", "readOnly", false.into()),
        ("/azureDisk", "kind", "Shared".into()),
        ("/scaleIO", "storageMode", "ThinProvisioned".into()),
        ("/scaleIO", "fsType", "xfs".into()),
        ("/image", "pullPolicy", pull_policy(&image).into()),
    ] {
        if let Some(source) = object_mut(volume, place) {
            set_missing(source, name, default);
        }
    }
    if let Some(spec) = object_mut(volume, "/ephemeral/volumeClaimTemplate/spec") {
        volume_claim::set_defaults(spec, kubernetes);
    }
}

/// Rounds the amounts that nodes report.
fn round_status(pod: &mut Value) {
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        for container in items_mut(pod, &format!("/status/{list}")) {
            for amounts in ["/allocatedResources", "/resources/limits", "/resources/requests"] {
                round_amounts(container, amounts);
            }
        }
    }
}

/// A container requests what it is limited to, unless it says otherwise.
fn request_limits(container: &mut Value) {
    let Some(Value::Object(resources)) = container.get_mut("resources") else { return };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let requests = resources.entry("requests").or_insert_with(|| json!({}));
    for (name, limit) in limits {
        set_missing(requests, &name, limit);
    }
}

fn take_host_ports(container: &mut Value) {
    for port in items_mut(container, "/ports") {
        if let Some(number) = port.get("containerPort").cloned() {
            set_missing(port, "hostPort", number);
        }
    }
}
