//! Claims and slices of devices.

use serde_json::{Value, json};

use crate::support::Subject;

/// BK-489.
#[test]
fn requests_are_for_one_device() {
    let devices = json!({"requests": [
        {"name": "a", "exactly": {"deviceClassName": "c", "tolerations": [{"key": "k"}]}},
        {"name": "b", "firstAvailable": [
            {"name": "s", "deviceClassName": "c", "allocationMode": "All"},
        ]},
    ]});
    let claim = json!({"spec": {"devices": devices.clone()}});
    let claim = Subject::new("resource.k8s.io/v1", "ResourceClaim").read(claim);
    let place = "/spec/devices/requests/0/exactly";
    assert_eq!(claim.pointer(&format!("{place}/allocationMode")), Some(&json!("ExactCount")));
    assert_eq!(claim.pointer(&format!("{place}/count")), Some(&json!(1)));
    assert_eq!(claim.pointer(&format!("{place}/tolerations/0/operator")), Some(&json!("Equal")));
    let alternative = claim.pointer("/spec/devices/requests/1/firstAvailable/0").unwrap();
    assert_eq!(alternative.get("count"), None);
    let template = json!({"spec": {"spec": {"devices": devices}}});
    let template = Subject::new("resource.k8s.io/v1", "ResourceClaimTemplate").read(template);
    assert_eq!(template.pointer("/spec/spec"), claim.pointer("/spec"));
}

/// BK-489.
#[test]
fn taints_of_devices_have_a_time() {
    let slice = json!({"spec": {"devices": [
        {"name": "a", "taints": [
            {"key": "k", "effect": "NoExecute"},
            {"key": "l", "effect": "NoExecute", "timeAdded": "2024-01-01T00:00:00Z"},
        ]},
    ]}});
    let slice = Subject::new("resource.k8s.io/v1", "ResourceSlice").prepared(slice, None);
    let taints = slice.pointer("/spec/devices/0/taints").unwrap();
    assert_eq!(taints.pointer("/0/timeAdded"), Some(&json!("2026-11-22T12:00:00Z")));
    assert_eq!(taints.pointer("/1/timeAdded"), Some(&json!("2024-01-01T00:00:00Z")));
}

/// BK-29: what is switched off is kept only where it is stored.
#[test]
fn mappings_to_nodes_are_dropped() {
    let device = json!({"name": "a", "nodeAllocatableResourceMappings": {"cpu": {}}});
    let plain = json!({"spec": {"devices": [{"name": "a"}]}});
    let slice = json!({"spec": {"devices": [device]}});
    let subject = Subject::new(VERSION, "ResourceSlice");
    for (old, is_kept) in [(None, false), (Some(&plain), false), (Some(&slice), true)] {
        let prepared = subject.prepared(slice.clone(), old);
        let mappings = prepared.pointer("/spec/devices/0/nodeAllocatableResourceMappings");
        assert_eq!(mappings.is_some(), is_kept, "{old:?}");
    }
}

const VERSION: &str = "resource.k8s.io/v1";

/// Checks the errors in the devices of claims and of templates, which are the same at another path.
fn check_claim(devices: Value, wanted: &[&str]) {
    let claim = json!({"spec": {"devices": devices.clone()}});
    let found = Subject::new(VERSION, "ResourceClaim").errors(claim, None);
    let wanted: Vec<String> = wanted.iter().map(|it| format!("spec.devices.{it}")).collect();
    assert_eq!(found, wanted, "{devices}");
    let template = json!({"spec": {"spec": {"devices": devices}}});
    let found = Subject::new(VERSION, "ResourceClaimTemplate").errors(template, None);
    let wanted: Vec<String> = wanted.iter().map(|it| format!("spec.{it}")).collect();
    assert_eq!(found, wanted);
}

/// BK-489.
#[test]
fn requests_have_rules() {
    let exactly = |more: Value| {
        let mut request = json!({"deviceClassName": "c"});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"requests": [{"name": "r", "exactly": request}]})
    };
    for (devices, wanted) in [
        (exactly(json!({})), &[][..]),
        (
            json!({"requests": [{"name": "r"}]}),
            &[
                "requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
            ],
        ),
        (
            exactly(json!({"deviceClassName": ""})),
            &["requests[0].exactly.deviceClassName: Required value"],
        ),
        (
            exactly(json!({"allocationMode": "All", "count": 2})),
            &[
                "requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is \
               'All'",
            ],
        ),
        (
            exactly(json!({"count": -1})),
            &["requests[0].exactly.count: Invalid value: -1: must be greater than zero"],
        ),
        (
            exactly(json!({"allocationMode": "Some"})),
            &[
                "requests[0].exactly.allocationMode: Unsupported value: \"Some\": supported values: \
               \"All\", \"ExactCount\"",
            ],
        ),
        (
            exactly(json!({"selectors": [{}]})),
            &["requests[0].exactly.selectors[0].cel: Required value"],
        ),
        (
            exactly(json!({"tolerations": [{"operator": "Exists", "value": "v"}]})),
            &["requests[0].exactly.tolerations[0].value: Invalid value: \"v\": must be empty for \
               operator `Exists`"],
        ),
        (
            exactly(json!({"capacity": {"requests": {"/x": "1"}}})),
            &[
                "requests[0].exactly.capacity.requests[/x]: Invalid value: \"\": the domain must not be \
               empty",
            ],
        ),
        (
            json!({"requests": [{"name": "r", "firstAvailable": [
                {"name": "a", "deviceClassName": "c"}, {"name": "a", "deviceClassName": "c"},
            ]}]}),
            &["requests[0].firstAvailable[1].name: Duplicate value: \"a\""],
        ),
    ] {
        check_claim(devices, wanted);
    }
}

/// BK-489.
#[test]
fn constraints_and_configurations_name_requests() {
    let requests = json!([
        {"name": "r", "exactly": {"deviceClassName": "c"}},
        {"name": "s", "firstAvailable": [{"name": "t", "deviceClassName": "c"}]},
    ]);
    let opaque = json!({"driver": "d.x", "parameters": {}});
    let unknown = "must be the name of a request in the claim or the name of a request and a subrequest \
                   separated by '/'";
    let names = json!(["r", "s", "s/t"]);
    let devices = json!({
        "requests": requests,
        "constraints": [
            {"requests": names, "matchAttribute": "d.x/a"},
            {"requests": ["q"], "matchAttribute": "a"},
            {"matchAttribute": "d.x/a", "distinctAttribute": "d.x/b"},
            {},
        ],
        "config": [
            {"requests": names, "opaque": opaque},
            {"requests": ["s/r"], "opaque": {"driver": "d.x", "parameters": []}},
            {},
        ],
    });
    let qualified = "a fully qualified name must be a domain and a name separated by a slash";
    let several = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple \
                   fields are set";
    let wanted = [
        &format!("constraints[1].requests[0]: Invalid value: \"q\": {unknown}"),
        &format!("constraints[1].matchAttribute: Invalid value: \"a\": {qualified}"),
        &format!("constraints[2]: Required value: {several}"),
        "constraints[3].matchAttribute: Required value",
        &format!("config[1].requests[0]: Invalid value: \"s/r\": {unknown}"),
        "config[1].opaque.parameters: Invalid value: []: must be a valid JSON object",
        "config[2].opaque: Required value",
    ];
    check_claim(devices, &wanted);
}

/// BK-489.
#[test]
fn users_of_claims_are_reserved_while_there_is_an_allocation() {
    let user = |uid: &str| json!({"resource": "pods", "name": "p", "uid": uid});
    let claim = |status: Value, is_deleted: bool| {
        let time = is_deleted.then_some("2024-01-01T00:00:00Z");
        json!({"metadata": {"name": "a", "deletionTimestamp": time}, "spec": {}, "status": status})
    };
    let allocated = json!({"allocation": {}, "reservedFor": [user("1")]});
    let more = json!({"allocation": {}, "reservedFor": [user("1"), user("2")]});
    for (status, is_deleted, wanted) in [
        (allocated.clone(), false, ""),
        (allocated.clone(), true, ""),
        (more.clone(), false, ""),
        (
            more,
            true,
            "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` \
             or `deletionTimestamp` are set",
        ),
        (
            json!({"reservedFor": [user("1")]}),
            false,
            "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
        ),
        (
            json!({"allocation": {}, "reservedFor": [{"resource": "", "name": "p", "uid": "1"}]}),
            false,
            "status.reservedFor[0].resource: Required value",
        ),
    ] {
        let (claim, old) = (claim(status, is_deleted), claim(allocated.clone(), false));
        let subject = Subject::new(VERSION, "ResourceClaim").subresource("status");
        assert_eq!(subject.errors(claim, Some(old)).join("; "), wanted);
    }
}

/// BK-489.
#[test]
fn classes_have_rules() {
    let class = json!({"spec": {
        "selectors": [{}], "config": [{"opaque": {"driver": ""}}], "extendedResourceName": "cpu",
    }});
    assert_eq!(
        Subject::new(VERSION, "DeviceClass").errors(class, None),
        [
            "spec.selectors[0].cel: Required value",
            "spec.config[0].opaque.driver: Required value",
            "spec.config[0].opaque.parameters: Required value",
            "spec.extendedResourceName: Invalid value: \"cpu\": must be a valid extended resource name",
        ]
    );
}

/// A slice of two devices with other members.
fn errors_of_slice(spec: Value, device: Value) -> Vec<String> {
    let mut slice = json!({"spec": {
        "driver": "d.x", "nodeName": "n", "devices": [{"name": "a"}],
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
    }});
    let extend = |object: &mut Value, more: &Value| {
        for (name, value) in more.as_object().unwrap() {
            object[name] = value.clone();
        }
    };
    extend(&mut slice["spec"]["devices"][0], &device);
    extend(&mut slice["spec"], &spec);
    Subject::new(VERSION, "ResourceSlice").errors(slice, None)
}

/// BK-489.
#[test]
fn slices_say_where_their_devices_are() {
    let required = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is \
                    required";
    for (spec, wanted) in [
        (json!({}), String::new()),
        (json!({"driver": ""}), "spec.driver: Required value".to_owned()),
        (json!({"nodeName": null}), format!("spec: Required value: {required}")),
        (
            json!({"nodeName": ""}),
            "spec.nodeName: Invalid value: \"\": must be either unset or set to a non-empty string"
                .to_owned(),
        ),
        (
            json!({"nodeName": null, "allNodes": false}),
            "spec.allNodes: Invalid value: false: must be either unset or set to true".to_owned(),
        ),
        (
            json!({"nodeName": null, "nodeSelector": {"nodeSelectorTerms": []}}),
            "spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one node selector \
             term"
                .to_owned(),
        ),
        (
            json!({"pool": {"name": "", "generation": -1, "resourceSliceCount": 0}}),
            "spec.pool.name: Required value; spec.pool.resourceSliceCount: Invalid value: 0: must be \
             greater than zero; spec.pool.generation: Invalid value: -1: must be greater than or equal \
             to zero"
                .to_owned(),
        ),
        (
            json!({"devices": [{"name": "a"}, {"name": "a"}]}),
            "spec.devices[1].name: Duplicate value: \"a\"".to_owned(),
        ),
        (
            json!({"devices": [], "sharedCounters": [{"name": ""}]}),
            "spec.sharedCounters[0].name: Required value; spec.sharedCounters[0].counters: Required \
             value"
                .to_owned(),
        ),
    ] {
        assert_eq!(errors_of_slice(spec, json!({})).join("; "), wanted);
    }
    let both = errors_of_slice(json!({"allNodes": true}), json!({}));
    assert!(
        both[0].starts_with("spec: Invalid value: {") && both[0].contains(required),
        "{both:?}"
    );
}

/// BK-489.
#[test]
fn devices_have_rules() {
    let at = "spec.devices[0]";
    let policy = |policy: Value| {
        let capacity = json!({"memory": {"value": "4", "requestPolicy": policy}});
        json!({"allowMultipleAllocations": true, "capacity": capacity})
    };
    for (device, wanted) in [
        (json!({"attributes": {"x.y/a": {"int": 1}}}), String::new()),
        (
            json!({"attributes": {"x.y/": {"int": 1}}}),
            format!("{at}.attributes[x.y/]: Invalid value: \"\": the name must not be empty"),
        ),
        (
            json!({"taints": [{"key": "k", "effect": ""}]}),
            format!("{at}.taints[0].effect: Required value"),
        ),
        (
            json!({"consumesCounters": [{"counterSet": "", "counters": {}}]}),
            format!(
                "{at}.consumesCounters[0].counterSet: Required value; \
                 {at}.consumesCounters[0].counters: Required value"
            ),
        ),
        (
            json!({"capacity": {"memory": {"value": "4", "requestPolicy": {"default": "1"}}}}),
            format!(
                "{at}.capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true"
            ),
        ),
        (
            policy(json!({"validValues": ["1"]})),
            format!(
                "{at}.capacity[memory].requestPolicy.default: Required value: required when validValues \
                 is defined"
            ),
        ),
        (
            policy(json!({"default": "1", "validValues": ["1"], "validRange": {"min": "1"}})),
            format!(
                "{at}.capacity[memory].requestPolicy: Forbidden: exactly one policy can be specified, \
                 cannot specify \"validValues\" and \"validRange\" at the same time"
            ),
        ),
        (policy(json!({"default": "1", "validValues": ["1", "2", "4"]})), String::new()),
        (
            policy(json!({"default": "3", "validValues": ["2", "1", "8"]})),
            format!(
                "{at}.capacity[memory].requestPolicy.validValues[1]: Invalid value: \"1\": values must \
                 be sorted in ascending order; \
                 {at}.capacity[memory].requestPolicy.validValues: Invalid value: \"8\": option is \
                 larger than capacity value: 4; \
                 {at}.capacity[memory].requestPolicy.validValues: Invalid value: \"3\": default value \
                 is not valid according to the requestPolicy"
            ),
        ),
        (
            policy(json!({"default": "1", "validRange": {"max": "2"}})),
            format!(
                "{at}.capacity[memory].requestPolicy.validRange.min: Required value: required when \
                 validRange is defined"
            ),
        ),
        (
            policy(json!({"default": "1", "validRange": {"min": "5", "max": "6"}})),
            format!(
                "{at}.capacity[memory].requestPolicy.validRange.min: Invalid value: \"5\": min is \
                 larger than capacity value: 4; \
                 {at}.capacity[memory].requestPolicy.validRange.min: Invalid value: \"5\": default is \
                 less than min: 5; \
                 {at}.capacity[memory].requestPolicy.validRange.max: Invalid value: \"6\": max is \
                 larger than capacity value: 4"
            ),
        ),
        (
            policy(json!({"default": "3", "validRange": {"min": "3", "max": "2"}})),
            format!(
                "{at}.capacity[memory].requestPolicy.validRange.max: Invalid value: \"2\": min is \
                 larger than max: 2; \
                 {at}.capacity[memory].requestPolicy.validRange.max: Invalid value: \"2\": default is \
                 more than max: 2"
            ),
        ),
        (
            policy(
                json!({"default": "2", "validRange": {"min": "500m", "max": "4", "step": "500m"}}),
            ),
            String::new(),
        ),
        (
            policy(json!({"default": "2", "validRange": {"min": "1", "max": "4", "step": "2"}})),
            format!(
                "{at}.capacity[memory].requestPolicy.validRange.max: Invalid value: \"4\": value is \
                 not a multiple of a given step (2) from (1); \
                 {at}.capacity[memory].requestPolicy.default: Invalid value: \"2\": value is not a \
                 multiple of a given step (2) from (1)"
            ),
        ),
        (
            policy(json!({"default": "2", "validRange": {"min": "2", "step": "3"}})),
            format!(
                "{at}.capacity[memory].requestPolicy.validRange.step: Invalid value: \"3\": one step 5 \
                 is larger than capacity value: 4"
            ),
        ),
        (
            json!({"bindingConditions": ["a", "a"]}),
            format!(
                "{at}.bindingConditions[1]: Duplicate value: \"a\"; {at}.bindingFailureConditions: \
                 Invalid value: null: bindingFailureConditions are required to use bindingConditions"
            ),
        ),
        (
            json!({"bindingConditions": ["a"], "bindingFailureConditions": ["a"]}),
            format!(
                "{at}.bindingFailureConditions[0]: Invalid value: \"a\": bindingFailureConditions must \
                 not overlap with bindingConditions"
            ),
        ),
    ] {
        assert_eq!(errors_of_slice(json!({}), device.clone()).join("; "), wanted, "{device}");
    }
    for (spec, device, wanted) in [
        (
            json!({}),
            json!({"attributes": {"a": {"int": 1, "bool": true}}}),
            "exactly one value must be specified",
        ),
        (
            json!({}),
            json!({"nodeName": "n"}),
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is \
             set to true in the ResourceSlice spec",
        ),
        (
            json!({"nodeName": null, "perDeviceNodeSelection": true}),
            json!({}),
            "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
             `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
        ),
    ] {
        let errors = errors_of_slice(spec, device);
        assert!(errors.len() == 1 && errors[0].ends_with(wanted), "{errors:?}");
    }
}

/// BK-489: versions of attributes are semantic ones.
#[test]
fn versions_of_attributes_are_semantic() {
    for (version, is_valid) in [
        ("1.2.3", true),
        ("0.0.0", true),
        ("1.2.3-rc.1+build.007", true),
        ("1.2.3--x", true),
        ("1.2.3+-", true),
        ("1.2", false),
        ("1.2.3.4", false),
        ("01.2.3", false),
        ("1.2.3-01", false),
        ("1.2.3-", false),
        ("1.2.3-a..b", false),
        ("v1.2.3", false),
        ("", false),
    ] {
        for (name, at, value) in
            [("version", "version", json!(version)), ("versions", "versions[0]", json!([version]))]
        {
            let device = json!({"attributes": {"a": {name: value}}});
            let wanted = format!(
                "spec.devices[0].attributes[a].{at}: Invalid value: \"{version}\": must be a string \
                 compatible with semver.org spec 2.0.0"
            );
            let wanted = if is_valid { Vec::new() } else { vec![wanted] };
            assert_eq!(errors_of_slice(json!({}), device), wanted);
        }
    }
}
