//! Claims and volumes (CP-75 to CP-78).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use billhook_control_plane::controllers::Provision;
use billhook_control_plane::simulation::Rule;
use serde_json::Value;

use crate::support::{column, create, request, run, run_with};

const CLAIM: &str = "/api/v1/namespaces/default/persistentvolumeclaims/c";
const VOLUMES: &str = "/api/v1/persistentvolumes";

fn claim(spec: &str) -> String {
    format!(
        "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: c, namespace: default}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 5Gi}}}}, {spec}}}
"
    )
}

fn volume(name: &str, size: &str, more: &str) -> String {
    format!(
        "
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}, labels: {{name: {name}}}}}
spec: {{capacity: {{storage: {size}}}, hostPath: {{path: /x}}, {more}}}
---"
    )
}

fn class(more: &str) -> String {
    format!(
        "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: fast}}
provisioner: x.io/p
{more}
"
    )
}

async fn get(plane: &ControlPlane, path: &str) -> Value {
    request(plane, "GET", path, "").await
}

async fn events(plane: &ControlPlane) -> Vec<String> {
    column(plane, "/api/v1/namespaces/default/events", "/reason").await
}

/// CP-75: a volume has to have the size, the class, the modes and the labels; the smallest one is taken.
#[test]
fn the_volume_of_a_claim() {
    let modes = "accessModes: [ReadWriteOnce, ReadOnlyMany]";
    let cases = [
        (
            "storageClassName: a",
            vec![("10Gi", "storageClassName: a"), ("7Gi", "storageClassName: a")],
            "v1",
        ),
        ("storageClassName: a", vec![("4Gi", "storageClassName: a")], ""),
        ("storageClassName: a", vec![("7Gi", "storageClassName: b")], ""),
        ("storageClassName: ''", vec![("7Gi", "storageClassName: ''")], "v0"),
        ("storageClassName: a, volumeMode: Block", vec![("7Gi", "storageClassName: a")], ""),
        (
            "storageClassName: a, selector: {matchLabels: {name: v0}}",
            vec![("10Gi", "storageClassName: a"), ("7Gi", "storageClassName: a")],
            "v0",
        ),
        (
            "storageClassName: a",
            vec![
                ("6Gi", "storageClassName: a"),
                ("20Gi", "storageClassName: a, claimRef: {namespace: default, name: c}"),
            ],
            "v1",
        ),
    ];
    let reserved = "storageClassName: b, claimRef: {namespace: default, name: c}";
    let cases = cases.into_iter().chain([("storageClassName: a", vec![("6Gi", reserved)], "v0")]);
    for (wanted, volumes, expected) in cases {
        run(async |plane| {
            for (index, (size, more)) in volumes.iter().enumerate() {
                let more = format!("{modes}, {more}");
                create(plane, &volume(&format!("v{index}"), size, &more)).await;
            }
            create(plane, &claim(wanted)).await;
            let claim = get(plane, CLAIM).await;
            let name = claim["spec"]["volumeName"].as_str().unwrap_or_default();
            assert_eq!(name, expected, "{wanted} {volumes:?}");
            let phase = if expected.is_empty() { "Pending" } else { "Bound" };
            assert_eq!(claim["status"]["phase"], phase, "{wanted}");
        });
    }
}

/// CP-76: events say what a claim waits for.
#[test]
fn a_claim_waits() {
    let wait = "volumeBindingMode: WaitForFirstConsumer";
    let cases = [
        ("storageClassName: ''", class(""), "FailedBinding"),
        ("storageClassName: fast", class(wait), "WaitForFirstConsumer"),
        ("storageClassName: fast", class(""), "ExternalProvisioning"),
        ("storageClassName: none", class(""), "ProvisioningFailed"),
    ];
    for (wanted, class, reason) in cases {
        run_with(
            |builder| builder.without_provisioner(),
            async |plane| {
                create(plane, &class).await;
                create(plane, &claim(wanted)).await;
                assert_eq!(get(plane, CLAIM).await["status"]["phase"], "Pending");
                let reasons = events(plane).await;
                assert!(reasons.contains(&reason.to_owned()), "{reasons:?}");
            },
        );
    }
}

/// CP-76: a claim without a class gets the default one when there is one.
#[test]
fn a_default_class_may_come_later() {
    run(async |plane| {
        create(plane, &claim("volumeMode: Filesystem")).await;
        let annotation = "metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}";
        let class = class("").replace("metadata: {name: fast}", annotation);
        create(plane, &class).await;
        let claim = get(plane, CLAIM).await;
        assert_eq!(claim["spec"]["storageClassName"], "fast");
        assert_eq!(claim["status"]["phase"], "Bound");
    });
}

/// CP-77, CP-78: a provisioned volume has what the claim wants, grows with it, and goes with it.
#[test]
fn a_volume_is_provisioned() {
    run(async |plane| {
        create(plane, &class("allowVolumeExpansion: true")).await;
        create(plane, &claim("storageClassName: fast")).await;
        let bound = get(plane, CLAIM).await;
        assert_eq!(bound["status"]["phase"], "Bound");
        let uid = bound["metadata"]["uid"].as_str().unwrap();
        let path = format!("{VOLUMES}/pvc-{uid}");
        let volume = get(plane, &path).await;
        assert_eq!(volume["spec"]["persistentVolumeReclaimPolicy"], "Delete");
        let provisioner = &volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"];
        assert_eq!(provisioner, "x.io/p");
        let larger = r#"{"spec": {"resources": {"requests": {"storage": "8Gi"}}}}"#;
        request(plane, "PATCH", CLAIM, larger).await;
        plane.settled().await.unwrap();
        assert_eq!(get(plane, CLAIM).await["status"]["capacity"]["storage"], "8Gi");
        assert_eq!(get(plane, &path).await["spec"]["capacity"]["storage"], "8Gi");
        request(plane, "DELETE", CLAIM, "").await;
        plane.settled().await.unwrap();
        assert_eq!(column(plane, VOLUMES, "/metadata/name").await, [""; 0]);
    });
}

/// CP-77: a claim that waits for a consumer is bound when its pod has a node.
#[test]
fn a_consumer_brings_the_volume() {
    run(async |plane| {
        create(plane, &class("volumeBindingMode: WaitForFirstConsumer")).await;
        create(plane, &claim("storageClassName: fast")).await;
        assert_eq!(get(plane, CLAIM).await["status"]["phase"], "Pending");
        let pod = "
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  containers: [{name: c, image: i}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]
";
        create(plane, pod).await;
        let claim = get(plane, CLAIM).await;
        assert_eq!(claim["status"]["phase"], "Bound");
        let node = &claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"];
        assert_eq!(node, "node-0");
    });
}

/// CP-78: a released volume is free again when its claim is forgotten.
#[test]
fn a_released_volume_may_be_freed() {
    run(async |plane| {
        let more = "accessModes: [ReadWriteOnce], storageClassName: a, persistentVolumeReclaimPolicy: Retain";
        create(plane, &volume("v", "5Gi", more)).await;
        create(plane, &claim("storageClassName: a")).await;
        let path = format!("{VOLUMES}/v");
        assert_eq!(get(plane, &path).await["status"]["phase"], "Bound");
        request(plane, "DELETE", CLAIM, "").await;
        plane.settled().await.unwrap();
        assert_eq!(get(plane, &path).await["status"]["phase"], "Released");
        create(plane, &claim("storageClassName: a")).await;
        assert_eq!(get(plane, CLAIM).await["status"]["phase"], "Pending");
        request(plane, "PATCH", &path, r#"{"spec": {"claimRef": null}}"#).await;
        plane.settled().await.unwrap();
        assert_eq!(get(plane, CLAIM).await["status"]["phase"], "Bound");
    });
}

/// CP-76: an event says every 15 seconds why a claim waits.
#[test]
fn a_waiting_claim_has_events() {
    run(async |plane| {
        create(plane, &claim("storageClassName: ''")).await;
        plane.advance(Duration::from_secs(31)).await.unwrap();
        let counts = column(plane, "/api/v1/namespaces/default/events", "/count").await;
        assert_eq!(counts, ["3"]);
    });
}

/// CP-77: a volume comes late or never, or an event says why it does not.
#[test]
fn the_provisioner_of_a_test() {
    let fails = Provision::Fail("no space".to_owned());
    for (provision, phases, is_told) in [
        (Provision::AtOnce, ["Bound"; 2], false),
        (Provision::After(Duration::from_secs(60)), ["Pending", "Bound"], false),
        (Provision::Never, ["Pending"; 2], false),
        (fails, ["Pending"; 2], true),
    ] {
        run_with(
            |builder| builder.provision(move |_| provision.clone()),
            async |plane| {
                create(plane, &class("")).await;
                create(plane, &claim("storageClassName: fast")).await;
                for (seconds, phase) in [50, 20].into_iter().zip(phases) {
                    plane.advance(Duration::from_secs(seconds)).await.unwrap();
                    assert_eq!(get(plane, CLAIM).await["status"]["phase"], phase);
                }
                let messages = "/api/v1/namespaces/default/events";
                let messages = column(plane, messages, "/message").await;
                let told = "failed to provision volume with StorageClass \"fast\": no space";
                assert_eq!(messages.iter().any(|message| message == told), is_told);
            },
        );
    }
}

/// CP-101: a claim of `ReadWriteOncePod` is that of one pod at a time, until this has ended or is gone.
#[test]
fn a_claim_of_one_pod() {
    let ends = Rule::pods("first").exits(0).after(Duration::from_secs(5));
    run_with(
        |builder| builder.simulate(ends),
        async |plane| {
            let pod = |name: &str| {
                format!(
                    "
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default}}
spec:
  restartPolicy: Never
  containers: [{{name: c, image: i}}]
  volumes: [{{name: v, persistentVolumeClaim: {{claimName: c}}}}]
"
                )
            };
            let claim = claim("storageClassName: fast").replace("Once]", "OncePod]");
            create(plane, &[class(""), claim, pod("first")].join("---")).await;
            create(plane, &[pod("second"), pod("third")].join("---")).await;
            let pods = "/api/v1/namespaces/default/pods";
            let phases = async || column(plane, pods, "/status/phase").await;
            assert_eq!(phases().await, ["Running", "Pending", "Pending"]);
            let why = get(plane, &format!("{pods}/second")).await;
            let expected = "0/1 nodes are available: persistentvolumeclaim \"c\" is \
                            ReadWriteOncePod, and another pod has it.";
            assert_eq!(why["status"]["conditions"][0]["message"], expected);
            plane.advance(Duration::from_secs(5)).await.unwrap();
            assert_eq!(phases().await, ["Succeeded", "Running", "Pending"]);
            request(plane, "DELETE", &format!("{pods}/second"), "").await;
            plane.settled().await.unwrap();
            assert_eq!(phases().await, ["Succeeded", "Running"]);
        },
    );
}
