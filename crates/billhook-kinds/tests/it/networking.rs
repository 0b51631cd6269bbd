//! The group `networking.k8s.io` (BK-460 to BK-462).

use billhook_apimachinery::KubernetesVersion;
use serde_json::{Value, json};

use crate::write::{Write, cells, check, check_update, created, with};

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "networking.k8s.io/v1", "kind": kind, "metadata": {"name": name},
        "spec": spec})
}

fn backend() -> Value {
    json!({"service": {"name": "s", "port": {"number": 80}}})
}

/// BK-460.
#[test]
fn ingresses() {
    let path = |path: &str, kind: &str| {
        let paths = json!([{"path": path, "pathType": kind, "backend": backend()}]);
        object("Ingress", "i", json!({"rules": [{"http": {"paths": paths}}]}))
    };
    let at = "spec.rules[0].http.paths[0]";
    let cases = [
        (
            "//a/..",
            "Exact",
            vec![
                format!("{at}.path: Invalid value: \"//a/..\": must not contain '//'"),
                format!("{at}.path: Invalid value: \"//a/..\": cannot end with '/..'"),
            ],
        ),
        ("", "Prefix", vec![format!("{at}.path: Invalid value: \"\": must be an absolute path")]),
        ("", "ImplementationSpecific", vec![]),
        (
            "/a",
            "X",
            vec![format!(
                "{at}.pathType: Unsupported value: \"X\": supported values: \"Exact\", \
             \"ImplementationSpecific\", \"Prefix\""
            )],
        ),
    ];
    for (text, kind, errors) in cases {
        assert_eq!(Write::default().errors(&path(text, kind)), errors);
    }
    let error = "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified";
    check(&object("Ingress", "i", json!({})), &[error]);

    let backends = [
        (
            json!({}),
            "spec.defaultBackend: Invalid value: \"\": resource or service backend is \
            required",
        ),
        (
            json!({"service": {"name": "s", "port": {"number": 1, "name": "x"}}}),
            "spec.defaultBackend: Invalid value: \"\": cannot set both port name & port number",
        ),
        (
            json!({"service": {"name": "s"}}),
            "spec.defaultBackend: Required value: port name or number is required",
        ),
        (
            json!({"resource": {"kind": "", "name": "n"}}),
            "spec.defaultBackend.resource.kind: Required value",
        ),
    ];
    for (backend, error) in backends {
        check(&object("Ingress", "i", json!({"defaultBackend": backend})), &[error]);
    }
    for host in ["*", "a.*.b"] {
        let rules = json!({"rules": [{"host": host}]});
        let found = Write::default().errors(&object("Ingress", "i", rules));
        assert!(found[0].contains("a wildcard DNS-1123 subdomain must start with '*.'"));
    }
}

/// BK-770: names of services that begin with a digit.
#[test]
fn services_of_older_servers() {
    let backend = json!({"service": {"name": "1a", "port": {"number": 80}}});
    let ingress = object("Ingress", "i", json!({"defaultBackend": backend}));
    check(&ingress, &[]);
    let old = Write { kubernetes: KubernetesVersion::V1_35, ..Write::default() };
    assert!(old.errors(&ingress)[0].contains("a DNS-1035 label must consist of"));
}

/// BK-460: the annotation that classes replace.
#[test]
fn annotations_of_ingresses() {
    let mut ingress = object("Ingress", "i", json!({"defaultBackend": backend()}));
    ingress["metadata"]["annotations"] = json!({"kubernetes.io/ingress.class": "x"});
    let (_, found) = Write::default().of(&ingress);
    let warning = "annotation \"kubernetes.io/ingress.class\" is deprecated, please use \
        'spec.ingressClassName' instead";
    assert_eq!((found.errors, found.warnings), (vec![], vec![warning.to_owned()]));
    let error = "annotations.kubernetes.io/ingress.class: Invalid value: \"x\": must match \
        `ingressClassName` when both are specified";
    check(&with(&ingress, "/spec/ingressClassName", "y"), &[error]);
}

/// BK-722.
#[test]
fn table_of_ingresses() {
    let rules = ["a", "b", "c", "d"].map(|host| json!({"host": host}));
    let shown = object("Ingress", "i", json!({"rules": rules, "tls": [{}]}));
    let expected = ["i", "<none>", "a,b,c + 1 more...", "", "80, 443", "<unknown>"];
    assert_eq!(cells(&shown), expected);
    let shown = object("Ingress", "i", json!({"ingressClassName": "x"}));
    assert_eq!(cells(&shown), ["i", "x", "*", "", "80", "<unknown>"]);
}

/// BK-460.
#[test]
fn ingress_classes() {
    let class = |controller: &str, parameters: Value| {
        object("IngressClass", "c", json!({"controller": controller, "parameters": parameters}))
    };
    let parameters = json!({"kind": "K", "name": "n"});
    let old = created(&class("x.io/c", parameters.clone()));
    assert_eq!(old["spec"]["parameters"]["scope"], "Cluster");
    let error = "spec.controller: Invalid value: \"x\": must be a domain-prefixed path (such as \
        \"acme.io/foo\")";
    check(&class("x", parameters.clone()), &[error]);
    let error = "spec.controller: Invalid value: \"x.io/d\": field is immutable";
    check_update(&old, &class("x.io/d", parameters.clone()), &[error]);
    let cases = [
        (
            json!({"scope": "Namespace"}),
            "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
        ),
        (
            json!({"namespace": "n"}),
            "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
        ),
        (
            json!({"scope": "X"}),
            "spec.parameters.scope: Unsupported value: \"X\": supported values: \"Cluster\", \
             \"Namespace\"",
        ),
    ];
    for (members, error) in cases {
        let mut parameters = parameters.clone();
        parameters.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        check(&class("x.io/c", parameters), &[error]);
    }
}

/// BK-461.
#[test]
fn network_policies() {
    let policy = |spec: Value| object("NetworkPolicy", "p", spec);
    let stored = created(&policy(json!({"egress": [{"ports": [{"port": 80}]}]})));
    assert_eq!(stored["spec"]["policyTypes"], json!(["Ingress", "Egress"]));
    assert_eq!(stored["spec"]["egress"][0]["ports"][0]["protocol"], "TCP");

    let wrong = json!({"egress": [{
        "to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16", "10.0.0.0/8"]},
            "podSelector": {}}, {}],
        "ports": [{"port": 80, "endPort": 70}, {"port": "A", "endPort": 5}, {"endPort": 5}],
    }]});
    let at = "spec.egress[0]";
    let subset = "must be a strict subset of `cidr`";
    let errors = [
        format!(
            "{at}.ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`"
        ),
        format!(
            "{at}.ports[1].endPort: Invalid value: 5: may not be specified when `port` is \
            non-numeric"
        ),
        format!(
            "{at}.ports[1].port: Invalid value: \"A\": must contain only alpha-numeric \
            characters (a-z, 0-9), and hyphens (-)"
        ),
        format!("{at}.ports[1].port: Invalid value: \"A\": must contain at least one letter (a-z)"),
        format!(
            "{at}.ports[2].endPort: Invalid value: 5: may not be specified when `port` is not \
            specified"
        ),
        format!("{at}.to[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": {subset}"),
        format!("{at}.to[0].ipBlock.except[1]: Invalid value: \"10.0.0.0/8\": {subset}"),
        format!("{at}.to[0]: Forbidden: may not specify both ipBlock and another peer"),
        format!("{at}.to[1]: Required value: must specify a peer"),
    ];
    assert_eq!(Write::default().errors(&policy(wrong)), errors);

    let error = "spec.policyTypes: Invalid value: [\"X\",\"Ingress\",\"Egress\"]: may not specify \
        more than two policyTypes";
    check(&policy(json!({"policyTypes": ["X", "Ingress", "Egress"]})), &[error]);
    assert_eq!(cells(&policy(json!({"podSelector": {}}))), ["p", "<none>", "<unknown>"]);
    let selector = json!({"podSelector": {"matchLabels": {"a": "b"}}});
    assert_eq!(cells(&policy(selector)), ["p", "a=b", "<unknown>"]);
}

/// BK-462.
#[test]
fn addresses() {
    let address =
        |name: &str, reference: Value| object("IPAddress", name, json!({"parentRef": reference}));
    let reference = json!({"resource": "services", "namespace": "n", "name": "s"});
    let old = created(&address("10.0.0.5", reference.clone()));
    check(&address("2001:db8::1", reference.clone()), &[]);
    let error = "metadata.name: Invalid value: \"2001:DB8::1\": must be in canonical form \
        (\"2001:db8::1\")";
    check(&address("2001:DB8::1", reference.clone()), &[error]);
    check(&address("10.0.0.5", Value::Null), &["spec.parentRef: Required value"]);
    let error = "spec.parentRef: Invalid value: {\"Group\":\"\",\"Resource\":\"services\",\
        \"Namespace\":\"n\",\"Name\":\"t\"}: field is immutable";
    check_update(&old, &address("10.0.0.5", with(&reference, "/name", "t")), &[error]);
    assert_eq!(cells(&old), ["10.0.0.5", "services/n/s", "<unknown>"]);
}

/// BK-462.
#[test]
fn ranges_of_services() {
    let ranges = |ranges: &[&str]| object("ServiceCIDR", "c", json!({"cidrs": ranges}));
    check(&ranges(&[]), &["spec.cidrs: Required value: at least one CIDR required"]);
    let error = "spec.cidrs: Invalid value: [\"10.0.0.0/24\",\"10.1.0.0/24\"]: may specify no more \
        than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    check(&ranges(&["10.0.0.0/24", "10.1.0.0/24"]), &[error]);
    let old = created(&ranges(&["10.0.0.0/24"]));
    check_update(&old, &ranges(&["10.0.0.0/24", "2001:db8::/64"]), &[]);
    let error = "spec.cidrs[0]: Invalid value: \"10.1.0.0/24\": field is immutable";
    check_update(&old, &ranges(&["10.1.0.0/24"]), &[error]);
    let error = "spec.cidrs: Invalid value: []: field is immutable";
    check_update(&old, &ranges(&[]), &[error]);
}
