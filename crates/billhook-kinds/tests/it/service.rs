//! Services (BK-200 to BK-207).

use billhook_apimachinery::KubernetesVersion;
use serde_json::{Value, json};

use crate::write::{Write, cells, check, check_update, created, with};

fn service(spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec})
}

/// BK-200: what a client can leave out.
#[test]
fn defaults() {
    let stored = created(&service(json!({"ports": [{"port": 80}]})));
    let expected = json!({
        "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP"}],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "internalTrafficPolicy": "Cluster",
    });
    assert_eq!(stored["spec"], expected);
    assert_eq!(stored["status"], json!({"loadBalancer": {}}));

    let affinity = json!({"ports": [{"port": 1}], "sessionAffinity": "ClientIP"});
    let stored = created(&service(affinity));
    assert_eq!(stored["spec"]["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"], 10_800);

    let external = json!({"ports": [{"port": 1}], "externalIPs": ["9.8.7.6"]});
    assert_eq!(created(&service(external))["spec"]["externalTrafficPolicy"], "Cluster");

    let balanced = json!({"ports": [{"port": 1}], "type": "LoadBalancer"});
    assert_eq!(created(&service(balanced))["spec"]["allocateLoadBalancerNodePorts"], true);
}

/// BK-206.
#[test]
fn rules() {
    let ranges = "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is \
        'LoadBalancer'";
    let port = json!([{"port": 80}]);
    let cases = [
        (json!({}), vec!["spec.ports: Required value"]),
        (json!({"clusterIP": "None"}), vec![]),
        (
            json!({"ports": [{"port": 80}, {"port": 80, "name": "x"}]}),
            vec![
                "spec.ports[0].name: Required value",
                "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\
                 \"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,\"NodePort\":0}",
            ],
        ),
        (
            json!({"ports": port, "loadBalancerSourceRanges": ["1.2.3.4/24"]}),
            vec![
                ranges,
                "spec.LoadBalancerSourceRanges[0]: Invalid value: \"1.2.3.4/24\": must not have \
                 bits set beyond the prefix length",
            ],
        ),
        (
            json!({"type": "ExternalName", "clusterIP": "None"}),
            vec![
                "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
                "spec.externalName: Required value",
            ],
        ),
        (json!({"type": "ExternalName", "externalName": "a.b."}), vec![]),
        (
            json!({"ports": [{"port": 80, "nodePort": 30000}]}),
            vec!["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        ),
        (
            json!({"ports": port, "externalIPs": ["127.0.0.1", "x"]}),
            vec![
                "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback \
                 range (127.0.0.0/8, ::1/128)",
                "spec.externalIPs[1]: Invalid value: \"x\": must be a valid IP address, (e.g. \
                 10.9.8.7 or 2001:db8::ffff)",
            ],
        ),
    ];
    for (spec, errors) in cases {
        check(&service(spec), &errors);
    }
}

/// BK-30, BK-770: addresses are strict from 1.36 on, and near endpoints have more names from 1.34
/// on.
#[test]
fn versions() {
    let padded = service(json!({"ports": [{"port": 80}], "externalIPs": ["9.8.7.06"]}));
    let error = "spec.externalIPs[0]: Invalid value: \"9.8.7.06\": must not have leading 0s";
    check(&padded, &[error]);
    let old = Write { kubernetes: KubernetesVersion::V1_35, ..Write::default() };
    assert_eq!(old.errors(&padded), [""; 0]);
    // What is stored may stay.
    check_update(&padded, &padded, &[]);

    let near = service(json!({"ports": [{"port": 80}], "trafficDistribution": "PreferSameZone"}));
    check(&near, &[]);
    let old = Write { kubernetes: KubernetesVersion::V1_33, ..Write::default() };
    let error = "spec.trafficDistribution: Unsupported value: \"PreferSameZone\": supported \
        values: \"PreferClose\"";
    assert_eq!(old.errors(&near), [error]);
}

/// BK-204: what was allocated stays if it is left out, and goes with the type that needs it.
#[test]
fn updates_keep_and_clear() {
    let balanced = created(&service(json!({
        "type": "LoadBalancer",
        "clusterIP": "10.0.0.20",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "externalTrafficPolicy": "Local",
        "healthCheckNodePort": 30_005,
        "loadBalancerClass": "x.io/lb",
        "ports": [{"name": "a", "port": 80, "nodePort": 30_001}],
    })));
    let write = Write { old: Some(&balanced), ..Write::default() };

    let ports = json!([{"name": "b", "port": 81}, {"name": "a", "port": 82}]);
    let (stored, found) = write.of(&service(json!({
        "type": "LoadBalancer",
        "externalTrafficPolicy": "Local",
        "loadBalancerClass": "x.io/lb",
        "ipFamilies": ["IPv4"],
        "ports": ports,
    })));
    assert_eq!(found.errors, []);
    assert_eq!(stored["spec"]["clusterIPs"], json!(["10.0.0.20"]));
    assert_eq!(stored["spec"]["healthCheckNodePort"], 30_005);
    assert_eq!(stored["spec"]["ports"][0].get("nodePort"), None);
    assert_eq!(stored["spec"]["ports"][1]["nodePort"], 30_001);

    let (stored, found) = write.of(&with(&balanced, "/spec/type", "ClusterIP"));
    assert_eq!(found.errors, []);
    for name in ["externalTrafficPolicy", "healthCheckNodePort", "loadBalancerClass"] {
        assert_eq!(stored["spec"].get(name), None, "{name}");
    }
    assert_eq!(stored["spec"]["ports"][0].get("nodePort"), None);

    let mut external = with(&balanced, "/spec/type", "ExternalName");
    external["spec"]["externalName"] = "x.y".into();
    let (stored, found) = write.of(&external);
    assert_eq!(found.errors, []);
    for name in ["clusterIP", "clusterIPs", "ipFamilies", "internalTrafficPolicy"] {
        assert_eq!(stored["spec"].get(name), None, "{name}");
    }
}

/// BK-205.
#[test]
fn what_must_stay() {
    let old = created(&service(json!({
        "clusterIP": "10.0.0.20", "ipFamilies": ["IPv4"], "ports": [{"port": 80}],
    })));
    let moved = with(&old, "/spec/clusterIP", "10.0.0.21");
    let error = "spec.clusterIPs[0]: Invalid value: [\"10.0.0.21\"]: may not change once set";
    check_update(&old, &moved, &[error]);
    let error = "spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set";
    check_update(&old, &with(&old, "/spec/clusterIP", "None"), &[error]);
    check_update(&old, &with(&old, "/spec/selector", json!({"a": "b"})), &[]);
    let cleared = with(&with(&old, "/spec/clusterIP", ""), "/spec/clusterIPs", json!([]));
    check_update(&old, &cleared, &[]);

    let classed = with(&old, "/spec/type", "LoadBalancer");
    let classed = created(&with(&classed, "/spec/loadBalancerClass", "x.io/a"));
    let error = "spec.loadBalancerClass: Invalid value: \"x.io/b\": may not change once set";
    check_update(&classed, &with(&classed, "/spec/loadBalancerClass", "x.io/b"), &[error]);
}

/// BK-207.
#[test]
fn status() {
    let write = Write { subresource: "status", ..Write::default() };
    let ingress = |ingress: Value| json!({"loadBalancer": {"ingress": ingress}});
    let plain = service(json!({"ports": [{"port": 80}]}));
    let error = "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is \
        'LoadBalancer'";
    let addressed = ingress(json!([{"ip": "1.2.3.4"}]));
    assert_eq!(write.errors(&with(&plain, "/status", addressed.clone())), [error]);

    let balanced = with(&plain, "/spec/type", "LoadBalancer");
    let (stored, found) = write.of(&with(&balanced, "/status", addressed));
    assert_eq!(found.errors, []);
    assert_eq!(stored.pointer("/status/loadBalancer/ingress/0/ipMode"), Some(&"VIP".into()));
    let wrong = ingress(json!([{"hostname": "1.2.3.4", "ipMode": "VIP"}]));
    let errors = [
        "status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not \
         set",
        "status.loadBalancer.ingress[0].hostname: Invalid value: \"1.2.3.4\": must be a DNS name, \
         not an IP address",
    ];
    assert_eq!(write.errors(&with(&balanced, "/status", wrong)), errors);
}

/// BK-206: warnings.
#[test]
fn warnings() {
    let spec = json!({
        "ports": [{"port": 80}],
        "clusterIP": "None",
        "externalIPs": ["9.8.7.6"],
        "trafficDistribution": "PreferClose",
    });
    let (_, found) = Write::default().of(&service(spec));
    let expected = [
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        "spec.externalIPs is ignored for headless services",
        "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
    ];
    assert_eq!(found.warnings, expected);
}

/// BK-722.
#[test]
fn table() {
    let mut service = service(json!({
        "type": "LoadBalancer",
        "clusterIPs": ["10.0.0.20"],
        "externalIPs": ["9.8.7.6"],
        "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30_001}],
        "selector": {"b": "c", "a": "b"},
    }));
    service["status"] =
        json!({"loadBalancer": {"ingress": [{"hostname": "h"}, {"ip": "2.2.2.2"}]}});
    let expected = [
        "s",
        "LoadBalancer",
        "10.0.0.20",
        "2.2.2.2,h,9.8.7.6",
        "80:30001/TCP",
        "<unknown>",
        "a=b,b=c",
    ];
    assert_eq!(cells(&service), expected);
}
