//! Families, addresses and ports that a server gives to services (BK-201 to BK-204).

use billhook_apimachinery::KubernetesVersion;
use billhook_kinds::{AllocatedByServices, AllocationError, ServiceAllocator, ServiceRanges};
use serde_json::{Value, json};

fn service(spec: Value) -> Value {
    json!({"metadata": {"name": "s"}, "spec": spec})
}

fn errors(result: Result<(), AllocationError>) -> Vec<String> {
    match result {
        Ok(()) => Vec::new(),
        Err(AllocationError::Invalid(errors)) => errors.iter().map(ToString::to_string).collect(),
        Err(error) => vec![format!("internal: {error}")],
    }
}

/// Allocates for a service that is created where nothing is taken.
fn create(spec: Value) -> (Value, Vec<String>) {
    let (ranges, allocated) = Default::default();
    let mut service = service(spec);
    let result = ServiceAllocator::new(&ranges, &allocated).allocate(&mut service, None);
    (service["spec"].take(), errors(result))
}

/// BK-201: a server with IPv4 alone.
#[test]
fn families() {
    let cases = [
        (json!({}), Ok(("SingleStack", vec!["IPv4"]))),
        (
            json!({"clusterIPs": ["None"], "clusterIP": "None"}),
            Ok(("RequireDualStack", vec!["IPv4", "IPv6"])),
        ),
        (
            json!({"clusterIPs": ["None"], "clusterIP": "None", "selector": {"a": "b"}}),
            Ok(("SingleStack", vec!["IPv4"])),
        ),
        (
            json!({"clusterIPs": ["None"], "clusterIP": "None", "ipFamilyPolicy": "SingleStack"}),
            Ok(("SingleStack", vec!["IPv4"])),
        ),
        (json!({"ipFamilyPolicy": "PreferDualStack"}), Ok(("PreferDualStack", vec!["IPv4"]))),
        (
            json!({"ipFamilyPolicy": "RequireDualStack"}),
            Err("spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not \
                 configured for dual-stack services"),
        ),
        (
            json!({"ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "PreferDualStack"}),
            Err("spec.ipFamilies[1]: Invalid value: \"IPv6\": not configured on this cluster"),
        ),
        (
            json!({"clusterIPs": ["10.0.0.8", "fd00::1"]}),
            Err("spec.clusterIPs: Invalid value: [\"10.0.0.8\",\"fd00::1\"]: must be empty when \
                 `clusterIP` is not specified"),
        ),
    ];
    for (spec, expected) in cases {
        let (stored, errors) = create(spec.clone());
        match expected {
            Ok((policy, families)) => {
                assert_eq!(errors, [""; 0], "{spec}");
                assert_eq!(stored["ipFamilyPolicy"], policy, "{spec}");
                assert_eq!(stored["ipFamilies"], json!(families), "{spec}");
            }
            Err(error) => assert_eq!(errors, [error], "{spec}"),
        }
    }
    let external = json!({"type": "ExternalName", "externalName": "a.b"});
    assert_eq!(create(external.clone()), (external, Vec::new()));
}

/// BK-202: the upper part of the range first, then the lower one, then none.
#[test]
fn addresses() {
    let ranges = ServiceRanges::new("10.0.0.0/27", 30_000..=30_000).unwrap();
    let mut allocated = AllocatedByServices::default();
    let mut given = Vec::new();
    for _ in 0..30 {
        let mut service = service(json!({}));
        ServiceAllocator::new(&ranges, &allocated).allocate(&mut service, None).unwrap();
        allocated.add(&service);
        given.push(service["spec"]["clusterIP"].as_str().unwrap().to_owned());
    }
    let expected: Vec<String> =
        (17..=30).chain(1..=16).map(|host| format!("10.0.0.{host}")).collect();
    assert_eq!(given, expected);
    let result = ServiceAllocator::new(&ranges, &allocated).allocate(&mut service(json!({})), None);
    let full = "internal: failed to allocate a serviceIP for Service \"s\": range is full";
    assert_eq!(errors(result), [full]);
}

/// BK-202: another seed begins elsewhere, and comes to the same end.
#[test]
fn seeds() {
    let (ranges, allocated) = Default::default();
    let given = |seed| {
        let mut service = service(json!({"type": "NodePort", "ports": [{"port": 80}]}));
        let allocator = ServiceAllocator::new(&ranges, &allocated).seed(seed);
        allocator.allocate(&mut service, None).unwrap();
        (service["spec"]["clusterIP"].clone(), service["spec"]["ports"][0]["nodePort"].clone())
    };
    assert_eq!(given(0), ("10.0.0.17".into(), 30_086.into()));
    assert_eq!(given(1), ("10.0.0.18".into(), 30_087.into()));
    assert_eq!(given(u64::MAX), given(u64::MAX));
}

/// BK-202: an address that the client chose.
#[test]
fn chosen_addresses() {
    let ranges = ServiceRanges::default();
    let mut allocated = AllocatedByServices::default();
    allocated.add(&service(json!({"clusterIPs": ["10.0.0.5"]})));
    let choose = |address: &str, kubernetes| {
        let mut service = service(json!({"clusterIP": address, "clusterIPs": [address]}));
        let allocator = ServiceAllocator::new(&ranges, &allocated).kubernetes(kubernetes);
        errors(allocator.allocate(&mut service, None))
    };
    let newest = KubernetesVersion::default();
    let failed = |address: &str, why: &str| {
        let error = "failed to allocate IP";
        vec![format!("spec.clusterIPs: Invalid value: [\"{address}\"]: {error} {address}: {why}")]
    };
    assert_eq!(choose("10.0.0.6", newest), [""; 0]);
    let taken = "provided IP is already allocated";
    assert_eq!(choose("10.0.0.5", newest), failed("10.0.0.5", taken));
    let outside = "the provided network does not match the current range";
    for address in ["10.1.0.1", "10.0.0.0", "10.0.0.255"] {
        assert_eq!(choose(address, newest), failed(address, outside));
    }
    let outside = "the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is \
        10.0.0.0/24";
    assert_eq!(choose("1.2.3.4", KubernetesVersion::V1_32), failed("1.2.3.4", outside));
    let text = "spec.clusterIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. \
        10.9.8.7 or 2001:db8::ffff)";
    assert_eq!(choose("x", newest), [text]);
}

/// BK-203.
#[test]
fn node_ports() {
    let ports = json!([
        {"name": "u", "port": 80, "protocol": "UDP"},
        {"name": "t", "port": 80, "protocol": "TCP", "nodePort": 30_101},
        {"name": "x", "port": 81, "protocol": "TCP"},
    ]);
    let (spec, errors) = create(json!({"type": "NodePort", "ports": ports}));
    assert_eq!(errors, [""; 0]);
    let given: Vec<_> = [0, 1, 2].map(|at| spec["ports"][at]["nodePort"].clone()).into();
    assert_eq!(given, [30_101, 30_101, 30_086]);

    let refused = [
        (
            json!([{"port": 80, "nodePort": 29_999}]),
            "spec.ports[0].nodePort: Invalid value: 29999: provided port is not in the valid \
             range. The range of valid ports is 30000-32767",
        ),
        (
            json!([{"port": 81, "nodePort": 30_102}, {"port": 82, "nodePort": 30_102}]),
            "spec.ports[1].nodePort: Invalid value: 30102: provided port is already allocated",
        ),
    ];
    for (ports, error) in refused {
        let (_, errors) = create(json!({"type": "NodePort", "ports": ports}));
        assert_eq!(errors, [error]);
    }
    let without = json!({
        "type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "ports": [{"port": 80}],
        "externalTrafficPolicy": "Local",
    });
    let (spec, _) = create(without);
    assert_eq!(spec["ports"][0].get("nodePort"), None);
    assert_eq!(spec["healthCheckNodePort"], 30_086);
}

/// BK-204: an update allocates only what the service did not have.
#[test]
fn updates() {
    let ranges = ServiceRanges::default();
    let mut allocated = AllocatedByServices::default();
    let old = service(json!({
        "type": "NodePort",
        "clusterIP": "10.0.0.20", "clusterIPs": ["10.0.0.20"],
        "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
        "ports": [{"name": "a", "port": 80, "nodePort": 30_086}],
    }));
    allocated.add(&old);
    let update = |new: &mut Value, old| {
        errors(ServiceAllocator::new(&ranges, &allocated).allocate(new, Some(old)))
    };
    let mut new = old.clone();
    new["spec"]["ports"] = json!([
        {"name": "a", "port": 80, "nodePort": 30_086}, {"name": "b", "port": 81},
    ]);
    assert_eq!(update(&mut new, &old), [""; 0]);
    assert_eq!(new["spec"]["clusterIP"], "10.0.0.20");
    assert_eq!(new["spec"]["ports"][1]["nodePort"], 30_087);

    let external = service(json!({"type": "ExternalName", "externalName": "a.b"}));
    let mut new = service(json!({"type": "ClusterIP"}));
    assert_eq!(update(&mut new, &external), [""; 0]);
    assert_eq!(new["spec"]["clusterIPs"], json!(["10.0.0.17"]));

    allocated.remove(&old);
    assert_eq!(allocated, AllocatedByServices::default());
}
