//! The core group (BK-209, BK-251, BK-254, BK-484).

use serde_json::{Value, json};

use crate::support::Subject;
use crate::write::{Write, cells, check, check_update, created, with};

/// BK-209.
#[test]
fn endpoints() {
    let endpoints = |subsets: Value| {
        json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "e"},
            "subsets": subsets})
    };
    let wrong = endpoints(json!([
        {"addresses": [{"ip": "127.0.0.1"}, {"ip": "x"}], "ports": [{"port": 0}, {"port": 5}]}, {},
    ]));
    let errors = [
        "subsets[0].addresses[0].ip: Invalid value: \"127.0.0.1\": may not be in the loopback \
         range (127.0.0.0/8, ::1/128)",
        "subsets[0].addresses[1].ip: Invalid value: \"x\": must be a valid IP address, (e.g. \
         10.9.8.7 or 2001:db8::ffff)",
        "subsets[0].addresses[1].ip: Invalid value: \"x\": must be a valid IP address",
        "subsets[0].ports[0].name: Required value",
        "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        "subsets[0].ports[1].name: Required value",
        "subsets[1]: Required value: must specify `addresses` or `notReadyAddresses`",
    ];
    check(&wrong, &errors);
    // What is stored may stay.
    let (stored, _) = Write::default().of(&wrong);
    check_update(&stored, &with(&wrong, "/metadata/labels", json!({"a": "b"})), &[]);

    let addresses = json!([{"ip": "1.1.1.1"}, {"ip": "1.1.1.2"}]);
    let shown = endpoints(json!([{"addresses": addresses, "ports": [{"port": 1}, {"port": 2}]}]));
    assert_eq!(cells(&shown), ["e", "1.1.1.1:1,1.1.1.2:1,1.1.1.1:2 + 1 more...", "<unknown>"]);
}

/// BK-254.
#[test]
fn namespaces() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
    let stored = created(&namespace);
    assert_eq!(stored["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(stored["status"], json!({"phase": "Active"}));
    assert_eq!(stored["metadata"]["labels"]["kubernetes.io/metadata.name"], "n");

    let finalized = with(&stored, "/spec/finalizers", json!(["bad"]));
    let unqualified = "name is neither a standard finalizer name nor is it fully qualified";
    check(&finalized, &[&format!("spec.finalizers: Invalid value: \"bad\": {unqualified}")]);
    check_update(&stored, &finalized, &[]);
    let finalize = Write { old: Some(&stored), subresource: "finalize", ..Write::default() };
    let error = format!("spec.finalizers[0]: Invalid value: \"bad\": {unqualified}");
    assert_eq!(finalize.errors(&finalized), [error]);

    let status = Write { old: Some(&stored), subresource: "status", ..Write::default() };
    let ending = with(&stored, "/status/phase", "Terminating");
    let error = "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if \
        `deletionTimestamp` is empty";
    assert_eq!(status.errors(&ending), [error]);
    let deleted = with(&stored, "/metadata/deletionTimestamp", "2026-01-01T00:00:00Z");
    let error = "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if \
        `deletionTimestamp` is not empty";
    assert_eq!(status.errors(&deleted), [error]);
}

/// BK-251: the warning about certificates.
#[test]
fn certificates() {
    let secret = |certificate: &str, key: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "type": "kubernetes.io/tls",
            "stringData": {"tls.crt": certificate, "tls.key": key}})
    };
    let block = |label: &str| format!("-----BEGIN {label}-----\nMAA=\n-----END {label}-----\n");
    let (certificate, key) = (block("CERTIFICATE"), block("EC PRIVATE KEY"));
    let parameters = block("EC PARAMETERS");
    let both = [parameters.as_str(), &key].concat();
    for (certificate, key, warning) in [
        ("x", "y", "failed to find any PEM data in certificate input"),
        ("-----BEGIN CERTIFICATE-----", &key, "failed to find any PEM data in certificate input"),
        (&certificate, "", "failed to find any PEM data in key input"),
        (
            &key,
            &certificate,
            "failed to find certificate PEM data in certificate input, but did find a private key; \
             PEM inputs may have been switched",
        ),
        (
            &both,
            &key,
            "failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM \
             blocks of the following types: [EC PARAMETERS EC PRIVATE KEY]",
        ),
        (
            &certificate,
            &certificate,
            "found a certificate rather than a key in the PEM for the private key",
        ),
        (
            &certificate,
            &parameters,
            "failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after \
             skipping PEM blocks of the following types: [EC PARAMETERS]",
        ),
    ] {
        let (_, found) = Write::default().of(&secret(certificate, key));
        assert_eq!((found.errors, found.warnings), (vec![], vec![format!("tls: {warning}")]));
    }
}

fn event() -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "ns"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "x.io/c",
        "reportingInstance": "i",
        "action": "A",
        "reason": "R",
        "type": "Normal",
        "regarding": {"kind": "Pod", "namespace": "ns", "name": "p"},
        "note": "text",
    })
}

/// BK-484: events of the newer group.
#[test]
fn new_events() {
    check(&event(), &[]);
    let bare = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": "e", "namespace": "ns"}, "regarding": {"namespace": "ns"}});
    let errors = ["eventTime: Required value", "type: Invalid value: \"\": has invalid value: "];
    check(&bare, &errors);
    let long = "x".repeat(129);
    let cases = [
        ("/reason", json!(""), "reason: Required value".to_owned()),
        (
            "/action",
            json!(long),
            format!("action: Invalid value: \"{long}\": can have at most 128 characters"),
        ),
        (
            "/series",
            json!({"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}),
            "series.count: Invalid value: \"\": should be at least 2".to_owned(),
        ),
        ("/deprecatedCount", json!(2), "count: Invalid value: \"\": needs to be unset".to_owned()),
        (
            "/deprecatedSource",
            json!({"component": "c"}),
            "source: Invalid value: \"\": needs to be unset".to_owned(),
        ),
    ];
    for (place, value, error) in cases {
        check(&with(&event(), place, value), &[&error]);
    }
}

/// BK-484: an update of an event of the newer group, in the words of the older one.
#[test]
fn updates_of_new_events() {
    let old = created(&event());
    let cases = [
        ("/note", json!("other"), "message: Invalid value: \"other\": field is immutable"),
        (
            "/regarding/name",
            json!("q"),
            "involvedObject: Invalid value: {\"Kind\":\"Pod\",\"Namespace\":\"ns\",\"Name\":\"q\",\
             \"UID\":\"\",\"APIVersion\":\"\",\"ResourceVersion\":\"\",\"FieldPath\":\"\"}: field \
             is immutable",
        ),
    ];
    for (place, value, error) in cases {
        check_update(&old, &with(&old, place, value), &[error]);
    }
    let series = json!({"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"});
    check_update(&old, &with(&old, "/series", series), &[]);
}

/// BK-484: events of the core group.
#[test]
fn old_events() {
    let event = |namespace: &str, about: &str| {
        json!({"apiVersion": "v1", "kind": "Event",
            "metadata": {"name": "e", "namespace": namespace},
            "involvedObject": {"namespace": about}})
    };
    check(&event("ns", "ns"), &[]);
    check(&event("default", ""), &[]);
    let error =
        "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace";
    check(&event("ns", "other"), &[error]);
    let timed = with(&event("ns", "ns"), "/eventTime", "2026-01-01T00:00:00.000000Z");
    let timed = with(&with(&timed, "/reportingComponent", "c"), "/reportingInstance", "i");
    check(&timed, &["action: Required value", "reason: Required value"]);
}

/// The fields of coordinated leader election are removed, unless the stored lease has them (BK-29).
#[test]
fn leases() {
    let lease = |spec: Value| {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "a", "namespace": "default"}, "spec": spec})
    };
    let new = lease(json!({"preferredHolder": "b", "strategy": "OldestEmulationVersion"}));
    let stored = |old: Option<&Value>| {
        let (stored, found) = Write { old, ..Write::default() }.of(&new);
        assert_eq!(found.errors, []);
        stored["spec"].clone()
    };
    assert_eq!(stored(None), json!({}));
    assert_eq!(stored(Some(&lease(json!({"holderIdentity": "a"})))), json!({}));
    assert_eq!(stored(Some(&lease(json!({"strategy": "x"})))), new["spec"]);
}

/// BK-24: bytes may be sent as a list of numbers, and are printed as base64.
#[test]
fn bytes_in_a_list() {
    let secret = Subject::new("v1", "Secret");
    let data = json!({"a": [104, 105], "b": [], "c": [null, 1], "d": "aGk="});
    let read = secret.prepared(json!({"metadata": {"name": "a"}, "data": data}), None);
    assert_eq!(read["data"], json!({"a": "aGk=", "b": "", "c": "AAE=", "d": "aGk="}));
}
