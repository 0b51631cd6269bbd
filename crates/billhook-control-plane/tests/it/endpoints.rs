//! EndpointSlices and Endpoints (CP-70, CP-71).

use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{column, create, request, run, run_with};

const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";

fn service(spec: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Service
metadata: {{name: s, namespace: default}}
spec: {spec}
"
    )
}

fn pod(name: &str, ports: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, labels: {{app: x}}}}
spec: {{containers: [{{name: c, image: i, ports: {ports}}}]}}
---"
    )
}

const NAMED: &str = "{selector: {app: x}, ports: [{name: http, port: 80, targetPort: web}]}";

async fn slices(plane: &ControlPlane) -> Vec<Value> {
    let list = request(plane, "GET", SLICES, "").await;
    let of_service =
        |slice: &&Value| slice["metadata"]["labels"]["kubernetes.io/service-name"] == "s";
    list["items"].as_array().unwrap().iter().filter(of_service).cloned().collect()
}

/// CP-70: pods on which a named port differs are in slices of their own.
#[test]
fn a_named_port_is_that_of_each_pod() {
    run(async |plane| {
        create(plane, &pod("a", "[{name: web, containerPort: 8080}]")).await;
        create(plane, &pod("b", "[{name: web, containerPort: 9090}]")).await;
        create(plane, &service(NAMED)).await;
        let slices = slices(plane).await;
        let mut ports: Vec<_> = slices.iter().map(|it| it["ports"][0]["port"].clone()).collect();
        ports.sort_by_key(Value::to_string);
        assert_eq!(ports, [8080, 9090]);
        let subsets = request(plane, "GET", &format!("{ENDPOINTS}/s"), "").await;
        assert_eq!(subsets["subsets"].as_array().unwrap().len(), 2);
    });
}

/// CP-70: a slice has at most 100 endpoints; those that have a place keep it.
#[test]
fn slices_are_filled() {
    run(async |plane| {
        create(plane, &service("{selector: {app: x}, ports: [{port: 80}]}")).await;
        let pods: String = (0..101).map(|index| pod(&format!("p{index:03}"), "[]")).collect();
        create(plane, &pods).await;
        let sizes = async || {
            let slices = slices(plane).await;
            let size = |slice: &Value| slice["endpoints"].as_array().map_or(0, Vec::len);
            let mut sizes: Vec<_> = slices.iter().map(size).collect();
            sizes.sort_unstable();
            sizes
        };
        assert_eq!(sizes().await, [1, 100]);
        request(plane, "DELETE", "/api/v1/namespaces/default/pods/p000?gracePeriodSeconds=0", "")
            .await;
        plane.settled().await.unwrap();
        assert_eq!(sizes().await.iter().sum::<usize>(), 100);
    });
}

/// CP-70: addresses may be published before their pods are ready.
#[test]
fn unready_pods_may_be_published() {
    use billhook_control_plane::simulation::Unready;

    run_with(
        |builder| builder.script(|_, script| script.unready = Some(Unready::default())),
        async |plane| {
            create(plane, &pod("a", "[]")).await;
            let spec = "{selector: {app: x}, publishNotReadyAddresses: true, ports: [{port: 80}]}";
            create(plane, &service(spec)).await;
            let conditions = slices(plane).await[0]["endpoints"][0]["conditions"].clone();
            let expected = json!({"ready": true, "serving": false, "terminating": false});
            assert_eq!(conditions, expected);
            let endpoints = request(plane, "GET", &format!("{ENDPOINTS}/s"), "").await;
            assert_eq!(endpoints["subsets"][0]["addresses"].as_array().unwrap().len(), 1);
        },
    );
}

/// CP-70: what others change in a slice is undone.
#[test]
fn changes_of_slices_are_undone() {
    run(async |plane| {
        create(plane, &pod("a", "[]")).await;
        create(plane, &service("{selector: {app: x}, ports: [{port: 80}]}")).await;
        let before = slices(plane).await;
        let path = format!("{SLICES}/{}", before[0]["metadata"]["name"].as_str().unwrap());
        request(plane, "PATCH", &path, r#"{"endpoints": []}"#).await;
        plane.settled().await.unwrap();
        assert_eq!(slices(plane).await[0]["endpoints"], before[0]["endpoints"]);
    });
}

/// CP-71: Endpoints without their service go; those that were made by hand are mirrored by families.
#[test]
fn hand_made_endpoints_are_mirrored() {
    run(async |plane| {
        create(plane, &service("{ports: [{port: 80}]}")).await;
        let endpoints = "
apiVersion: v1
kind: Endpoints
metadata: {name: s, namespace: default, annotations: {a: b}}
subsets:
- addresses: [{ip: 192.168.1.1}, {ip: 'fd00::1'}]
  notReadyAddresses: [{ip: 192.168.1.2, hostname: h}]
  ports: [{port: 80}]
";
        create(plane, endpoints).await;
        let slices = slices(plane).await;
        let mut types: Vec<_> = slices.iter().map(|it| it["addressType"].clone()).collect();
        types.sort_by_key(Value::to_string);
        assert_eq!(types, ["IPv4", "IPv6"]);
        let v4 = slices.iter().find(|it| it["addressType"] == "IPv4").unwrap();
        assert_eq!(v4["metadata"]["annotations"], json!({"a": "b"}));
        let unready = json!({
            "addresses": ["192.168.1.2"], "conditions": {"ready": false}, "hostname": "h",
        });
        assert!(v4["endpoints"].as_array().unwrap().contains(&unready), "{v4}");
        let label =
            r#"{"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}}"#;
        request(plane, "PATCH", &format!("{ENDPOINTS}/s"), label).await;
        plane.settled().await.unwrap();
        assert_eq!(self::slices(plane).await, [json!(null); 0]);
        request(plane, "DELETE", "/api/v1/namespaces/default/services/s", "").await;
        plane.settled().await.unwrap();
        assert!(!column(plane, ENDPOINTS, "/metadata/name").await.contains(&"s".to_owned()));
    });
}

/// CP-71: of more than 1000 addresses the rest is left out.
#[test]
fn endpoints_are_truncated() {
    run_with(
        |builder| builder.nodes([]),
        async |plane| {
            let pods: String = (0..1001).map(|index| pod(&format!("p{index}"), "[]")).collect();
            plane.server().load_text(&pods).await.unwrap();
            for index in 0..1001 {
                let ip = format!("10.244.{}.{}", index / 250, index % 250 + 1);
                let ready = json!({"type": "Ready", "status": "True"});
                let status = json!({"status": {
                    "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [ready],
                }});
                let path = format!("/api/v1/namespaces/default/pods/p{index}/status");
                request(plane, "PATCH", &path, &status.to_string()).await;
            }
            create(plane, &service("{selector: {app: x}, ports: [{port: 80}]}")).await;
            let endpoints = request(plane, "GET", &format!("{ENDPOINTS}/s"), "").await;
            assert_eq!(endpoints["subsets"][0]["addresses"].as_array().unwrap().len(), 1000);
            let annotations = &endpoints["metadata"]["annotations"];
            assert_eq!(annotations["endpoints.kubernetes.io/over-capacity"], "truncated");
        },
    );
}
