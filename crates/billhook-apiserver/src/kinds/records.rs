//! The types of the server's own kinds that no other crate has: what their fields hold, and the order
//! in which servers print them (RE-14).

use std::collections::BTreeMap;

use billhook::Time;
use billhook::definition::DefinitionDocument;
use billhook::webhook::ConfigurationKind;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record;
use billhook_apimachinery::record::{Record, TypedRecord as _};
use billhook_policy::PolicyKind;

/// Returns the type of the objects of a kind.
pub(crate) fn record_of(api_version: &str, kind: &str) -> Option<&'static Record> {
    Some(match (api_version, kind) {
        ("v1", "Namespace") => Namespace::record(),
        ("v1", "ConfigMap") => ConfigMap::record(),
        ("v1", "Secret") => Secret::record(),
        ("v1", "ServiceAccount") => ServiceAccount::record(),
        ("v1", "Event") => CoreEvent::record(),
        ("events.k8s.io/v1", "Event") => Event::record(),
        ("coordination.k8s.io/v1", "Lease") => Lease::record(),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => DefinitionDocument::record(),
        ("admissionregistration.k8s.io/v1", kind) => {
            let webhooks = ConfigurationKind::of(kind).map(ConfigurationKind::record);
            return webhooks.or_else(|| PolicyKind::of(kind).map(PolicyKind::record));
        }
        _ => return None,
    })
}

record! {
    #[derive(Default)]
    struct Namespace = "Namespace" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        spec: NamespaceSpec = "spec",
        status: NamespaceStatus = "status",
    }

    #[derive(Default)]
    struct NamespaceSpec = "NamespaceSpec" {
        finalizers: Vec<String> = "finalizers" of "[]v1.FinalizerName",
    }

    #[derive(Default)]
    struct NamespaceStatus = "NamespaceStatus" {
        phase: String = "phase" of "v1.NamespacePhase",
        conditions: Vec<NamespaceCondition> = "conditions",
    }

    #[derive(Default)]
    struct NamespaceCondition = "NamespaceCondition" {
        type_: String = "type" of "v1.NamespaceConditionType",
        status: String = "status" of "v1.ConditionStatus",
        last_transition_time: Time = "lastTransitionTime",
        reason: String = "reason",
        message: String = "message",
    }

    #[derive(Default)]
    struct ConfigMap = "ConfigMap" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        immutable: Option<bool> = "immutable",
        data: BTreeMap<String, String> = "data",
        binary_data: BTreeMap<String, Vec<u8>> = "binaryData",
    }

    #[derive(Default)]
    struct Secret = "Secret" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        immutable: Option<bool> = "immutable",
        data: BTreeMap<String, Vec<u8>> = "data",
        string_data: BTreeMap<String, String> = "stringData",
        type_: String = "type" of "v1.SecretType",
    }

    #[derive(Default)]
    struct ServiceAccount = "ServiceAccount" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        secrets: Vec<ObjectReference> = "secrets",
        image_pull_secrets: Vec<LocalReference> = "imagePullSecrets",
        automount: Option<bool> = "automountServiceAccountToken",
    }

    #[derive(Default)]
    struct LocalReference = "LocalObjectReference" {
        name: String = "name",
    }

    #[derive(Default)]
    struct ObjectReference = "ObjectReference" {
        kind: String = "kind",
        namespace: String = "namespace",
        name: String = "name",
        uid: String = "uid" as "UID" of "types.UID",
        api_version: String = "apiVersion" as "APIVersion",
        resource_version: String = "resourceVersion",
        field_path: String = "fieldPath",
    }

    #[derive(Default)]
    struct CoreEvent = "Event" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        involved_object: ObjectReference = "involvedObject",
        reason: String = "reason",
        message: String = "message",
        source: EventSource = "source",
        first_timestamp: Time = "firstTimestamp",
        last_timestamp: Time = "lastTimestamp",
        count: i32 = "count",
        type_: String = "type",
        event_time: Time = "eventTime",
        series: Option<EventSeries> = "series",
        action: String = "action",
        related: Option<ObjectReference> = "related",
        reporting_component: String = "reportingComponent",
        reporting_instance: String = "reportingInstance",
    }

    #[derive(Default)]
    struct Event = "Event" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        event_time: Time = "eventTime",
        series: Option<EventSeries> = "series",
        reporting_controller: String = "reportingController",
        reporting_instance: String = "reportingInstance",
        action: String = "action",
        reason: String = "reason",
        regarding: ObjectReference = "regarding",
        related: Option<ObjectReference> = "related",
        note: String = "note",
        type_: String = "type",
        source: EventSource = "deprecatedSource",
        first_timestamp: Time = "deprecatedFirstTimestamp",
        last_timestamp: Time = "deprecatedLastTimestamp",
        count: i32 = "deprecatedCount",
    }

    #[derive(Default)]
    struct EventSource = "EventSource" {
        component: String = "component",
        host: String = "host",
    }

    #[derive(Default)]
    struct EventSeries = "EventSeries" {
        count: i32 = "count",
        last_observed_time: Time = "lastObservedTime",
    }

    #[derive(Default)]
    struct Lease = "Lease" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        spec: LeaseSpec = "spec",
    }

    #[derive(Default)]
    struct LeaseSpec = "LeaseSpec" {
        holder_identity: Option<String> = "holderIdentity",
        lease_duration_seconds: Option<i32> = "leaseDurationSeconds",
        acquire_time: Time = "acquireTime",
        renew_time: Time = "renewTime",
        lease_transitions: Option<i32> = "leaseTransitions",
        strategy: Option<String> = "strategy" of "v1.CoordinatedLeaseStrategy",
        preferred_holder: Option<String> = "preferredHolder",
    }
}
