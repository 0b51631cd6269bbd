//! The group `discovery.k8s.io` (BK-210).

use serde_json::{Value, json};

use crate::write::{Write, cells, check, check_update, created, with};

fn slice(endpoints: Value, ports: Value) -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "s"},
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": ports,
    })
}

#[test]
fn defaults() {
    let endpoint = json!([{"addresses": ["10.0.0.1"], "deprecatedTopology": {"a": "b"}}]);
    let stored = created(&slice(endpoint, json!([{"port": 80}])));
    assert_eq!(stored["ports"], json!([{"port": 80, "name": "", "protocol": "TCP"}]));
    assert_eq!(stored["endpoints"], json!([{"addresses": ["10.0.0.1"], "conditions": {}}]));
}

#[test]
fn rules() {
    let endpoints = json!([
        {"addresses": []},
        {"addresses": ["fe80::1", "x"], "hints": {"forZones": [{"name": "z"}, {"name": "z"}]}},
    ]);
    let errors = [
        "ports[1].name: Duplicate value: \"\"",
        "endpoints[0].addresses: Required value: must contain at least 1 address",
        "endpoints[1].addresses: Invalid value: \"fe80::1\": must be an IPv4 address",
        "endpoints[1].addresses[0]: Invalid value: \"fe80::1\": may not be in the link-local range \
         (169.254.0.0/16, fe80::/10)",
        "endpoints[1].addresses[1]: Invalid value: \"x\": must be a valid IP address, (e.g. \
         10.9.8.7 or 2001:db8::ffff)",
        "endpoints[1].hints.forZones[1].name: Duplicate value: \"z\"",
    ];
    check(&slice(endpoints, json!([{"port": 80}, {"port": 81}])), &errors);

    let v6 = |address: &str| {
        with(&slice(json!([{"addresses": [address]}]), Value::Null), "/addressType", "IPv6")
    };
    check(&v6("2001:db8::1"), &[]);
    let error = "endpoints[0].addresses[0]: Invalid value: \"2001:DB8::0:1\": must be in canonical \
        form (\"2001:db8::1\")";
    check(&v6("2001:DB8::0:1"), &[error]);
}

/// An address type stays; names of domains are deprecated.
#[test]
fn address_types() {
    let old = created(&slice(Value::Null, Value::Null));
    let other = with(&old, "/addressType", "IPv6");
    let error = "addressType: Invalid value: \"IPv6\": field is immutable";
    check_update(&old, &other, &[error]);
    let (_, found) = Write::default().of(&with(&old, "/addressType", "FQDN"));
    assert_eq!(found.warnings, ["spec.addressType: FQDN endpoints are deprecated"]);
}

/// BK-722.
#[test]
fn table() {
    let shown = slice(json!([{"addresses": ["10.0.0.1"]}]), json!([{"port": 80}, {"name": "x"}]));
    assert_eq!(cells(&shown), ["s", "IPv4", "80,x", "10.0.0.1", "<unknown>"]);
    let empty = slice(Value::Null, Value::Null);
    assert_eq!(cells(&empty), ["s", "IPv4", "<unset>", "<unset>", "<unknown>"]);
}
