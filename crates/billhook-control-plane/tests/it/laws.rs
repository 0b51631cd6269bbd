//! Laws of all controllers together: whatever is done to workloads, pods and nodes, what is left in the
//! end is what the objects ask for (CP-118), the same each time, and at rest.

use std::collections::BTreeSet;
use std::time::Duration;

use billhook_control_plane::ControlPlane;
use billhook_control_plane::simulation::Rule;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use crate::support::{request, text};

const NODES: [&str; 3] = ["node-0", "node-1", "node-2"];

/// The kinds of workloads: their group, plural and kind.
const WORKLOADS: [(&str, &str, &str); 5] = [
    ("apps/v1", "deployments", "Deployment"),
    ("apps/v1", "replicasets", "ReplicaSet"),
    ("apps/v1", "statefulsets", "StatefulSet"),
    ("apps/v1", "daemonsets", "DaemonSet"),
    ("batch/v1", "jobs", "Job"),
];

/// Something that happens to a cluster.
#[derive(Clone, Debug)]
enum Act {
    /// A workload is created, or replaced if it is there.
    Put {
        workload: usize,
        name: u8,
        replicas: u8,
        image: u8,
        variant: u8,
    },
    Delete {
        workload: usize,
        name: u8,
        propagation: &'static str,
    },
    /// A pod is deleted, evicted, or taken from its owner by other labels.
    Pod {
        number: usize,
        how: &'static str,
    },
    Cordon {
        node: usize,
        is_cordoned: bool,
    },
    Taint {
        node: usize,
        is_tainted: bool,
    },
    /// Containers of one image crash so often, from now on.
    Crash {
        image: u8,
        times: u64,
    },
    /// No more pods than so many may be created.
    Limit {
        pods: u8,
    },
    /// The last node is deleted.
    Remove,
    Wait {
        seconds: u64,
    },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let put = (0..WORKLOADS.len(), 0..2u8, 0..4u8, 0..3u8, 0..8u8).prop_map(
        |(workload, name, replicas, image, variant)| Act::Put {
            workload,
            name,
            replicas,
            image,
            variant,
        },
    );
    let propagation = prop_oneof![Just("Background"), Just("Foreground"), Just("Orphan")];
    let delete = (0..WORKLOADS.len(), 0..2u8, propagation)
        .prop_map(|(workload, name, propagation)| Act::Delete { workload, name, propagation });
    let how = prop_oneof![Just("delete"), Just("kill"), Just("evict"), Just("orphan")];
    let pod = (0..12usize, how).prop_map(|(number, how)| Act::Pod { number, how });
    let node = 0..NODES.len();
    prop::collection::vec(
        prop_oneof![
                    6 => put,
                    2 => delete,
                    3 => pod,
                    1 => (node.clone(), any::<bool>())
                        .prop_map(|(node, is_cordoned)| Act::Cordon { node, is_cordoned }),
                    1 => (node, any::<bool>())
                        .prop_map(|(node, is_tainted)| Act::Taint { node, is_tainted }),
                    1 => (0..3u8, 1..4u64).prop_map(|(image, times)| Act::Crash { image, times }),
                    1 => (0..8u8).prop_map(|pods| Act::Limit { pods }),
                    1 => Just(Act::Remove),
        3 => (0..90u64).prop_map(|seconds| Act::Wait { seconds }),
                ],
        1..16,
    )
}

fn path(workload: usize, name: &str) -> String {
    let (group, plural, _) = WORKLOADS[workload];
    format!("/apis/{group}/namespaces/default/{plural}/{name}").trim_end_matches('/').to_owned()
}

/// A workload of a name. Those of one name have the same labels except for their kind.
fn workload(index: usize, name: &str, replicas: u8, image: u8, variant: u8) -> Value {
    let (group, _, kind) = WORKLOADS[index];
    let labels = json!({"app": name, "kind": kind});
    let restarts = if kind == "Job" { "Never" } else { "Always" };
    let template = json!({"metadata": {"labels": labels}, "spec": {
        "restartPolicy": restarts, "terminationGracePeriodSeconds": 5,
        "containers": [{"name": "c", "image": format!("image-{image}")}],
    }});
    let selector = json!({"matchLabels": labels});
    let spec = match kind {
        "Deployment" => json!({"replicas": replicas, "selector": selector, "template": template,
        "revisionHistoryLimit": variant, "minReadySeconds": 3 * (variant / 4),
            // Changed in the middle of a rollout together with the size, it would hold that up.
            "strategy": match (name, variant % 2) {
                ("w1", _) => json!({"type": "Recreate"}),
                (_, 0) => json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
                _ => json!({"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}}),
        }}),
        "ReplicaSet" => json!({"replicas": replicas, "selector": selector, "template": template,
            "minReadySeconds": variant}),
        "StatefulSet" => json!({"replicas": replicas, "selector": selector, "template": template,
                        "serviceName": name, "minReadySeconds": variant / 4,
            "ordinals": {"start": variant / 6},
            "persistentVolumeClaimRetentionPolicy": {
                "whenScaled": if variant > 3 { "Delete" } else { "Retain" },
                "whenDeleted": if variant % 4 < 2 { "Delete" } else { "Retain" }},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}],

            "podManagementPolicy": if variant.is_multiple_of(2) { "OrderedReady" } else { "Parallel" }}),
        "DaemonSet" => json!({"selector": selector, "template": template,
            "updateStrategy": {"rollingUpdate": {"maxUnavailable": 1 + variant}}}),
        _ => json!({"parallelism": replicas, "completions": 1 + replicas, "template": template,
            "backoffLimit": variant, "suspend": variant == 3,
            "podReplacementPolicy": if variant.is_multiple_of(3) { "Failed" } else { "TerminatingOrFailed" },
            "completionMode": if variant % 2 == 1 { "Indexed" } else { "NonIndexed" }}),
    };
    json!({"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

async fn items(plane: &ControlPlane, path: &str) -> Vec<Value> {
    let list = request(plane, "GET", path, "").await;
    list["items"].as_array().cloned().unwrap_or_default()
}

async fn pods(plane: &ControlPlane) -> Vec<Value> {
    items(plane, "/api/v1/namespaces/default/pods").await
}

async fn nodes(plane: &ControlPlane) -> Vec<String> {
    let nodes = items(plane, "/api/v1/nodes").await;
    nodes.iter().map(|node| text(node, "/metadata/name").to_owned()).collect()
}

async fn patch_node(plane: &ControlPlane, node: usize, spec: &Value) {
    let path = format!("/api/v1/nodes/{}", NODES[node]);
    request(plane, "PATCH", &path, &json!({ "spec": spec }).to_string()).await;
}

async fn act(plane: &ControlPlane, act: &Act) {
    match *act {
        Act::Put { workload: index, name, replicas, image, variant } => {
            let name = format!("w{name}");
            let object = workload(index, &name, replicas, image, variant);
            let found = request(plane, "GET", &path(index, &name), "").await;
            match found["code"] == 404 {
                true => request(plane, "POST", &path(index, ""), &object.to_string()).await,
                // What may not change is refused, and so nothing happens.
                false => request(plane, "PUT", &path(index, &name), &object.to_string()).await,
            };
        }
        Act::Delete { workload, name, propagation } => {
            let options = json!({"propagationPolicy": propagation}).to_string();
            request(plane, "DELETE", &path(workload, &format!("w{name}")), &options).await;
        }
        Act::Pod { number, how } => {
            let pods = pods(plane).await;
            let Some(pod) = pods.get(number % pods.len().max(1)) else { return };
            // Its name is still taken, so that the set has to wait.
            if how == "orphan" && text(pod, "/metadata/labels/kind") == "StatefulSet" {
                return;
            }
            let name = text(pod, "/metadata/name");
            let path = format!("/api/v1/namespaces/default/pods/{name}");
            let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": name}});
            let orphan = json!({"metadata": {"labels": {"app": "none"}}});
            match how {
                "delete" => request(plane, "DELETE", &path, "").await,
                "kill" => request(plane, "DELETE", &path, r#"{"gracePeriodSeconds": 0}"#).await,
                "evict" => {
                    let path = format!("{path}/eviction");
                    request(plane, "POST", &path, &eviction.to_string()).await
                }
                _ => request(plane, "PATCH", &path, &orphan.to_string()).await,
            };
        }
        Act::Cordon { node, is_cordoned } => {
            patch_node(plane, node, &json!({"unschedulable": is_cordoned})).await;
        }
        Act::Taint { node, is_tainted } => {
            let taint = json!([{"key": "k", "effect": "NoExecute"}]);
            let taints = if is_tainted { taint } else { Value::Null };
            patch_node(plane, node, &json!({"taints": taints})).await;
        }
        Act::Crash { image, times } => {
            let rule = Rule::pods("*").image(&format!("image-{image}")).exits(1).times(times);
            plane.simulate(rule).await;
        }
        Act::Limit { pods } => limit(plane, pods).await,
        Act::Remove => {
            request(plane, "DELETE", &format!("/api/v1/nodes/{}", NODES[2]), "").await;
        }
        Act::Wait { seconds } => {
            plane.advance(Duration::from_secs(seconds)).await.unwrap();
            return;
        }
    }
    plane.settled().await.unwrap();
}

async fn limit(plane: &ControlPlane, pods: u8) {
    let quota = json!({"spec": {"hard": {"pods": pods.to_string()}}}).to_string();
    request(plane, "PATCH", "/api/v1/namespaces/default/resourcequotas/q", &quota).await;
}

/// Plays what happens, then lets the nodes take pods, and time pass.
async fn play(all: &[Act]) -> ControlPlane {
    let plane = ControlPlane::builder().nodes(NODES).build().await;
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "provisioner": "example.com/disk", "metadata": {"name": "disk",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}});
    request(&plane, "POST", "/apis/storage.k8s.io/v1/storageclasses", &class.to_string()).await;
    let others = json!({
"apiVersion": "v1", "kind": "Service", "metadata": {"name": "w0"},
        "spec": {"selector": {"app": "w0"}, "ports": [{"port": 80}]}});
    request(&plane, "POST", "/api/v1/namespaces/default/services", &others.to_string()).await;
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "w0"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "w0", "kind": "ReplicaSet"}}}});
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    request(&plane, "POST", budgets, &budget.to_string()).await;
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "60", "count/jobs.batch": "9", "services": "5"}}});
    request(&plane, "POST", "/api/v1/namespaces/default/resourcequotas", &quota.to_string()).await;
    for one in all {
        act(&plane, one).await;
    }
    limit(&plane, 60).await;
    for node in 0..NODES.len() {
        patch_node(&plane, node, &json!({"unschedulable": null, "taints": null})).await;
    }
    plane.advance(Duration::from_secs(3600)).await.unwrap();
    plane.settled().await.unwrap();
    plane
}

fn count(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

fn is_true(object: &Value, condition: &str) -> bool {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let mut found = conditions.into_iter().flatten().filter(|it| it["type"] == condition);
    found.any(|it| it["status"] == "True")
}

fn is_over(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

fn is_deleted(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

/// Whether all of some numbers of a status are this one.
fn all_are(object: &Value, fields: &[&str], number: usize) -> bool {
    fields.iter().all(|field| count(object, &format!("/status/{field}")) == number as i64)
}

/// The objects that are there at the end.
struct End {
    nodes: Vec<String>,
    pods: Vec<Value>,
    workloads: Vec<(&'static str, Value)>,
}

impl End {
    async fn read(plane: &ControlPlane) -> Self {
        let mut workloads = Vec::new();
        for (index, (_, _, kind)) in WORKLOADS.iter().enumerate() {
            let found = items(plane, &path(index, "")).await;
            workloads.extend(found.into_iter().map(|object| (*kind, object)));
        }
        End { nodes: nodes(plane).await, pods: pods(plane).await, workloads }
    }

    fn of_kind(&self, wanted: &str) -> impl Iterator<Item = &Value> {
        let found = self.workloads.iter().filter(move |(kind, _)| *kind == wanted);
        found.map(|(_, object)| object)
    }

    /// Returns the objects that an owner controls.
    fn controlled<'e>(objects: impl Iterator<Item = &'e Value>, owner: &Value) -> Vec<&'e Value> {
        let uid = text(owner, "/metadata/uid");
        objects.filter(|it| text(it, "/metadata/ownerReferences/0/uid") == uid).collect()
    }

    /// Returns the addresses of the running pods with some labels.
    fn addresses(&self, labels: &[(&str, &str)]) -> BTreeSet<&str> {
        let has = |pod: &&Value, (key, value): &(&str, &str)| {
            text(pod, &format!("/metadata/labels/{key}")) == *value
        };
        let is_meant = |pod: &&Value| !is_over(pod) && labels.iter().all(|label| has(pod, label));
        self.pods.iter().filter(is_meant).map(|pod| text(pod, "/status/podIP")).collect()
    }

    /// Whether a pod runs on a node, has ended and is not tracked any more, and has its owner.
    fn is_right_pod(&self, pod: &Value) -> bool {
        let owner = text(pod, "/metadata/ownerReferences/0/uid");
        let mut owners = self.workloads.iter().map(|(_, object)| text(object, "/metadata/uid"));
        let node = text(pod, "/spec/nodeName");
        (owner.is_empty() || owners.any(|uid| uid == owner))
            && !is_deleted(pod)
            && match is_over(pod) {
                true => pod.pointer("/metadata/finalizers").is_none(),
                false => is_true(pod, "Ready") && self.nodes.iter().any(|name| name == node),
            }
    }

    /// Whether a workload has what it asks for, and its status says so.
    fn is_right_workload(&self, kind: &str, object: &Value) -> bool {
        let own = End::controlled(self.pods.iter(), object);
        let running = own.iter().filter(|pod| !is_over(pod)).count();
        let wanted = usize::try_from(count(object, "/spec/replicas")).unwrap();
        let is_seen = kind == "Job"
            || count(object, "/status/observedGeneration") == count(object, "/metadata/generation");
        let has_all = match kind {
            "Deployment" => {
                let sets = End::controlled(self.of_kind("ReplicaSet"), object);
                let sizes = sets.iter().map(|set| count(set, "/spec/replicas"));
                let (old, used): (Vec<i64>, Vec<i64>) = sizes.partition(|size| *size == 0);
                let fields = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
                let kept = count(object, "/spec/revisionHistoryLimit") + 1;
                let wanted_in_one = if wanted == 0 { Vec::new() } else { vec![wanted as i64] };
                used == wanted_in_one
                    && old.len() as i64 <= kept
                    && all_are(object, &fields, wanted)
            }
            "ReplicaSet" => {
                let fields =
                    ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
                running == wanted && all_are(object, &fields, wanted)
            }
            "StatefulSet" => {
                let (start, name) =
                    (count(object, "/spec/ordinals/start"), text(object, "/metadata/name"));
                let expected =
                    (start..start + wanted as i64).map(|number| format!("{name}-{number}"));
                let fields = [
                    "replicas",
                    "readyReplicas",
                    "availableReplicas",
                    "updatedReplicas",
                    "currentReplicas",
                ];
                own.iter().map(|pod| text(pod, "/metadata/name")).eq(expected)
                    && object["status"]["currentRevision"] == object["status"]["updateRevision"]
                    && all_are(object, &fields, wanted)
            }
            "DaemonSet" => {
                let used: BTreeSet<_> = own.iter().map(|pod| text(pod, "/spec/nodeName")).collect();
                let fields = [
                    "desiredNumberScheduled",
                    "currentNumberScheduled",
                    "numberReady",
                    "numberAvailable",
                    "updatedNumberScheduled",
                ];
                let wanted = self.nodes.len();
                [used.len(), own.len()] == [wanted; 2] && all_are(object, &fields, wanted)
            }
            _ => {
                let is_stopped = object.pointer("/spec/suspend") == Some(&Value::Bool(true))
                    || count(object, "/spec/parallelism") == 0;
                let succeeded = own.iter().filter(|pod| text(pod, "/status/phase") == "Succeeded");
                let counted = count(object, "/status/succeeded");
                let end = [is_true(object, "Complete"), is_true(object, "Failed")];
                running == 0
                    && count(object, "/status/active") == 0
                    && counted >= succeeded.count() as i64
                    && (is_stopped || end != [false; 2])
                    && (!end[0] || counted == count(object, "/spec/completions"))
            }
        };
        is_seen && has_all && !is_deleted(object)
    }

    /// Returns what is not as it should be.
    async fn faults(&self, plane: &ControlPlane) -> Vec<String> {
        let pods = self.pods.iter().filter(|pod| !self.is_right_pod(pod));
        let workloads =
            self.workloads.iter().filter(|(kind, object)| !self.is_right_workload(kind, object));
        let mut faults: Vec<String> =
            pods.chain(workloads.map(|(_, object)| object)).map(Value::to_string).collect();
        let running = self.pods.iter().filter(|pod| !is_over(pod)).count();
        if self.addresses(&[]).len() != running {
            faults.push("pods share an address".to_owned());
        }

        let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=\
                      kubernetes.io/service-name=w0";
        let slices = items(plane, slices).await;
        let endpoints = slices.iter().filter_map(|slice| slice["endpoints"].as_array()).flatten();
        let mut listed: Vec<&str> = endpoints.map(|it| text(it, "/addresses/0")).collect();
        listed.sort_unstable();
        if !listed.iter().copied().eq(self.addresses(&[("app", "w0")])) {
            faults.push(format!("endpoints: {listed:?}"));
        }
        let budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/w0";
        let budget = request(plane, "GET", budget, "").await;
        let healthy = self.addresses(&[("app", "w0"), ("kind", "ReplicaSet")]).len();
        if !all_are(&budget, &["currentHealthy"], healthy)
            || !all_are(&budget, &["disruptionsAllowed"], healthy.saturating_sub(1))
        {
            faults.push(format!("budget: {} for {healthy}", budget["status"]));
        }
        let quota = "/api/v1/namespaces/default/resourcequotas/q";
        let quota = request(plane, "GET", quota, "").await;
        let used = json!({"pods": running.to_string(), "services": "2",
            "count/jobs.batch": self.of_kind("Job").count().to_string()});
        if quota["status"]["used"] != used {
            faults.push(format!("quota: {} for {used}", quota["status"]));
        }
        faults
    }
}

/// The objects, without leases, which nodes renew, and events, of which a restart makes some again.
async fn state(plane: &ControlPlane) -> BTreeSet<String> {
    let dump = plane.server().dump().await.unwrap();
    let objects = dump.split("\n---\n").filter(|object| {
        !object.contains("\nkind: Lease\n") && !object.contains("\nkind: Event\n")
    });
    objects.map(str::to_owned).collect()
}

/// Returns the objects that only one of two states has.
fn differences(left: &BTreeSet<String>, right: &BTreeSet<String>) -> String {
    let differing: Vec<&str> = left.symmetric_difference(right).map(String::as_str).collect();
    differing.join("\n---\n")
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 6,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// CP-118: what is there in the end is what the objects ask for.
    #[test]
    fn workloads_come_to_what_they_ask_for(acts in acts()) {
        let faults = run(async {
            let plane = play(&acts).await;
            End::read(&plane).await.faults(&plane).await
        });
        prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    /// The same happens each time, nothing is written at rest, and controllers that start anew over
    /// the same objects find nothing to do.
    #[test]
    fn runs_are_alike_and_end(acts in acts()) {
        run(async {
            let (plane, other) = (play(&acts).await, play(&acts).await);
            let ended = state(&plane).await;
            prop_assert_eq!(differences(&ended, &state(&other).await), "");
            let nodes = nodes(&plane).await;
            let again = ControlPlane::builder().nodes(nodes.iter().map(String::as_str)).clock
(plane.clock().clone());
            let again = again.build_on(plane.server().fork()).await;
            again.settled().await.unwrap();
            prop_assert_eq!(differences(&ended, &state(&again).await), "");
            Ok(())
        })?;
    }
}
