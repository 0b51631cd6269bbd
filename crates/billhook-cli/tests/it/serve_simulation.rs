//! `billhook serve --simulate`: the files, and what happens to objects (CP-110 to CP-116).

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::serve::Running;
use crate::support::Scratch;

const JSON: &str = "Content-Type: application/json\r\n";
const PODS: &str = "/api/v1/namespaces/default/pods";
const TEAMS: &str = "/apis/example.com/v1/namespaces/default/teams";

const DEFINITION: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: teams.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: teams, kind: Team}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

/// Two stages of which an object chooses one by weight, and one that lets it go.
const STAGES: &str = r#"
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: ready}
spec:
  resourceRef: {apiGroup: example.com/v1, kind: Team}
  selector: {matchExpressions: [{key: .status.phase, operator: DoesNotExist}]}
  weight: 1
  delay: {durationMilliseconds: 1000, jitterDurationMilliseconds: 60000}
  next:
    statusTemplate: |
      phase: Ready
      members: {{ len .spec.members }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: broken}
spec:
  resourceRef: {apiGroup: example.com/v1, kind: Team}
  selector: {matchExpressions: [{key: .status.phase, operator: DoesNotExist}]}
  weight: 0
  weightFrom: {expressionFrom: '.metadata.annotations["broken"]'}
  delay: {durationMilliseconds: 2000}
  next:
    event: {type: Warning, reason: Broken, message: it broke}
    patches:
    - type: json
      subresource: status
      template: |
        - {op: add, path: /status, value: {phase: Broken}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: gone}
spec:
  resourceRef: {apiGroup: example.com/v1, kind: Team}
  selector: {matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]}
  delay: {durationMilliseconds: 3000}
  next:
    finalizers: {empty: true}
"#;

struct Cluster(Running);

impl Cluster {
    fn start(scratch: &Scratch, file: &str) -> Self {
        let path = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
        let (file, definition) = (path(file), path("crd.yaml"));
        Cluster(Running::start(&[
            "--http",
            "--controllers",
            "all",
            "--virtual-time",
            "--crd",
            &definition,
            "--simulate",
            &file,
        ]))
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let (_, answer) = self.0.send(method, path, JSON, &body.to_string());
        serde_json::from_str(&answer).unwrap()
    }

    /// Lets time pass, such as `3s`.
    fn pass(&self, duration: &str) {
        let clock = self.send("POST", "/billhook/clock/advance", &json!({"duration": duration}));
        assert_eq!(clock["virtual"], true, "{clock}");
    }

    fn get(&self, path: &str, pointer: &str) -> Value {
        let object = self.send("GET", path, &Value::Null);
        object.pointer(pointer).cloned().unwrap_or_default()
    }

    fn create(&self, path: &str, metadata: Value, spec: &Value) {
        let (version, kind) = match path {
            PODS => ("v1", "Pod"),
            _ => ("example.com/v1", "Team"),
        };
        let object =
            json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec});
        let created = self.send("POST", path, &object);
        assert!(created["metadata"]["uid"].is_string(), "{created}");
    }
}

/// CP-115, CP-116: each effect of a rule.
#[test]
fn rules_have_effects() {
    // The name of a pod and the rule for it, how much time passes, and a member of its status then.
    let cases: [(&str, &str, &str, &str, Value); 19] = [
        ("exits", "exit: 3, after: 2s", "2s", "/containerStatuses/0/restartCount", json!(1)),
        (
            "waits",
            "exit: 3",
            "9s",
            "/containerStatuses/0/state/waiting/reason",
            "CrashLoopBackOff".into(),
        ),
        ("recovers", "exit: 3, times: 2", "10s", "/containerStatuses/0/ready", true.into()),
        (
            "words",
            "exit: 1, times: 1, reason: Starved, message: m, signal: 9",
            "0s",
            "/containerStatuses/0/lastState/terminated/signal",
            json!(9),
        ),
        (
            "memory",
            "runOutOfMemory: true, after: 1s",
            "1s",
            "/containerStatuses/0/lastState/terminated/reason",
            "OOMKilled".into(),
        ),
        ("late", "getReady: true, after: 1m", "59s", "/containerStatuses/0/ready", false.into()),
        ("early", "getReady: true, after: 1m", "60s", "/containerStatuses/0/ready", true.into()),
        ("never", "neverGetReady: true", "1h", "/containerStatuses/0/ready", false.into()),
        (
            "lost",
            "loseReadiness: true, after: 5s",
            "5s",
            "/containerStatuses/0/ready",
            false.into(),
        ),
        ("pulled", "arePulled: true, after: 5s", "4s", "/phase", "Pending".into()),
        ("starts", "start: true, after: 5s", "5s", "/phase", "Running".into()),
        (
            "liveness",
            "failLiveness: true, after: 5s",
            "5s",
            "/containerStatuses/0/restartCount",
            json!(1),
        ),
        (
            "image",
            "failToPull: true",
            "0s",
            "/containerStatuses/0/state/waiting/reason",
            "ImagePullBackOff".into(),
        ),
        ("evicted", "areEvicted: true, after: 1m", "1m", "/reason", "Evicted".into()),
        ("shut", "areShutDown: true", "0s", "/reason", "Terminated".into()),
        ("nowhere", "areUnschedulable: true", "0s", "/conditions/0/reason", "Unschedulable".into()),
        ("pending", "stayPending: true", "1h", "/conditions", Value::Null),
        ("runs", "keepRunning: true", "1h", "/phase", "Running".into()),
        ("own", "container: b, exit: 1", "0s", "/containerStatuses/0/restartCount", json!(0)),
    ];
    let mut rules = "rules:\n".to_owned();
    for (name, rule, ..) in &cases {
        writeln!(rules, "- {{pods: {name}, {rule}}}").unwrap();
    }
    let scratch = Scratch::new("effects", &[("crd.yaml", DEFINITION), ("rules.yaml", &rules)]);
    for (name, rule, time, pointer, expected) in cases {
        let cluster = Cluster::start(&scratch, "rules.yaml");
        let container = |name: &str| json!({"name": name, "image": "i"});
        let spec = json!({"containers": [container("a"), container("b")]});
        cluster.create(PODS, json!({"name": name}), &spec);
        cluster.pass(time);
        let found = cluster.get(&format!("{PODS}/{name}"), &format!("/status{pointer}"));
        assert_eq!(found, expected, "{name}: {rule}");
    }
}

/// CP-112, CP-114, CP-115: pods of one file whose containers have restart rules and hooks, with rules by
/// labels, by image and in an annotation.
#[test]
fn rules_meet_restart_policies_and_hooks() {
    let rules = "
rules:
- {labels: 'sim in (crash)', exit: 42, after: 3s}
- {image: 'slow:*', getReady: true, after: 30s}
- {pods: 'default/hang-*', ignoreDeletion: true}
- {pods: 'loud', log: \"one\\ntwo\\n\"}
";
    let scratch = Scratch::new("meet", &[("crd.yaml", DEFINITION), ("rules.yaml", rules)]);
    let cluster = Cluster::start(&scratch, "rules.yaml");
    let again = |value: i64| json!([{"action": "Restart", "exitCodes": {"operator": "In", "values": [value]}}]);
    for (name, value) in [("again", 42), ("ends", 7)] {
        let container = json!({"name": "c", "image": "i", "restartPolicy": "Never",
            "restartPolicyRules": again(value)});
        let spec = json!({"restartPolicy": "Never", "containers": [container]});
        cluster.create(PODS, json!({"name": name, "labels": {"sim": "crash"}}), &spec);
    }
    let of_image = |image: &str| json!({"containers": [{"name": "c", "image": image}]});
    cluster.create(PODS, json!({"name": "slow"}), &of_image("slow:1"));
    cluster.create(PODS, json!({"name": "hang-1"}), &of_image("i"));
    cluster.create(PODS, json!({"name": "loud"}), &of_image("i"));
    let annotations = json!({"billhook.dev/simulate": "[{exit: 1, after: 5s, times: 1}]"});
    cluster.create(PODS, json!({"name": "own", "annotations": annotations}), &of_image("i"));
    let hook = json!({"preStop": {"sleep": {"seconds": 5}}});
    let spec = json!({"containers": [{"name": "c", "image": "i", "lifecycle": hook}]});
    cluster.create(PODS, json!({"name": "hook"}), &spec);

    cluster.pass("3s");
    let get = |name: &str, pointer: &str| cluster.get(&format!("{PODS}/{name}"), pointer);
    let restarts = "/status/containerStatuses/0/restartCount";
    assert_eq!(
        (get("again", restarts), get("again", "/status/phase")),
        (json!(1), "Running".into())
    );
    assert_eq!((get("ends", restarts), get("ends", "/status/phase")), (json!(0), "Failed".into()));
    assert_eq!(get("slow", "/status/containerStatuses/0/ready"), false);
    let (code, log) = cluster.0.send("GET", &format!("{PODS}/loud/log"), "", "");
    assert_eq!((code, log.as_str()), (200, "one\ntwo\n"));
    for name in ["hang-1", "hook"] {
        cluster.send("DELETE", &format!("{PODS}/{name}"), &json!({}));
    }
    cluster.pass("4s");
    assert_eq!(get("own", restarts), 1);
    assert_eq!(get("hook", "/status/phase"), "Running");
    cluster.pass("1s");
    assert_eq!(get("hook", "/code"), 404);
    cluster.pass("1h");
    assert!(get("hang-1", "/metadata/deletionTimestamp").is_string());
    assert_eq!(get("slow", "/status/containerStatuses/0/ready"), true);
}

/// CP-110: stages of kwok with weights, delays, JSON patches, events and finalizers, in the same way in every
/// run.
#[test]
fn stages_choose_and_delay() {
    let scratch = Scratch::new("stages", &[("crd.yaml", DEFINITION), ("stages.yaml", STAGES)]);
    let run = || {
        let cluster = Cluster::start(&scratch, "stages.yaml");
        let spec = json!({"members": ["a", "b"]});
        let annotated = |name: &str, annotations: Value| {
            let metadata = json!({"name": name, "annotations": annotations});
            cluster.create(TEAMS, metadata, &spec);
        };
        annotated("plain", json!({}));
        annotated("broken", json!({"broken": "5", "ready.stage.kwok.x-k8s.io/weight": "0"}));
        let own = json!({"ready.stage.kwok.x-k8s.io/delay": "90s",
            "ready.stage.kwok.x-k8s.io/jitter-delay": "90s"});
        annotated("own", own);
        let held = json!({"name": "held", "finalizers": ["x.io/f"]});
        cluster.create(TEAMS, held, &spec);
        cluster.send("DELETE", &format!("{TEAMS}/held"), &json!({}));

        let phase = |name: &str| cluster.get(&format!("{TEAMS}/{name}"), "/status/phase");
        cluster.pass("1500ms");
        assert_eq!(phase("broken"), Value::Null);
        cluster.pass("500ms");
        assert_eq!(phase("broken"), "Broken");
        let events = cluster.get("/api/v1/namespaces/default/events", "/items");
        let broken = events.as_array().unwrap().iter().find(|it| it["reason"] == "Broken").unwrap();
        assert_eq!((&broken["type"], &broken["message"]), (&json!("Warning"), &json!("it broke")));
        cluster.pass("58s");
        let status = cluster.get(&format!("{TEAMS}/plain"), "/status");
        assert_eq!(status, json!({"phase": "Ready", "members": 2}));
        assert_eq!(cluster.get(&format!("{TEAMS}/held"), "/code"), 404);
        cluster.pass("29s");
        assert_eq!(phase("own"), Value::Null);
        cluster.pass("1s");
        assert_eq!(phase("own"), "Ready");
        let fields = cluster.get(&format!("{TEAMS}/plain"), "/metadata/managedFields");
        let own = fields.as_array().unwrap().iter().find(|it| it["manager"] == "kwok").unwrap();
        own["time"].clone()
    };
    let time = run();
    assert!(time.is_string());
    assert_eq!(time, run());
}

/// CP-101: pods of lower priorities make room if that is asked for, and only then.
#[test]
fn preemption_is_on_request() {
    for (names, phases) in [("all", ["Running", "Pending"]), ("all,preemption", ["", "Running"])] {
        let cluster =
            Cluster(Running::start(&["--http", "--controllers", names, "--virtual-time"]));
        let node = "/api/v1/nodes/node-0";
        let cluster_patch = |path: &str, patch: &Value| {
            let kind = "Content-Type: application/merge-patch+json\r\n";
            let (code, answer) = cluster.0.send("PATCH", path, kind, &patch.to_string());
            assert_eq!(code, 200, "{answer}");
        };
        let room = json!({"cpu": "1", "memory": "1Gi", "pods": "10"});
        cluster_patch(
            &format!("{node}/status"),
            &json!({"status": {"capacity": room, "allocatable": room}}),
        );
        let high = json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": "high"}, "value": 1000,
        });
        cluster.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", &high);
        cluster.pass("0s");
        for (name, class) in [("low", ""), ("high", "high")] {
            let spec = json!({
                "priorityClassName": class,
                "containers": [{
                    "name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}},
                }],
            });
            cluster.create(PODS, json!({"name": name}), &spec);
            cluster.pass("1m");
        }
        let phase = |name: &str| cluster.get(&format!("{PODS}/{name}"), "/status/phase");
        let found = ["low", "high"].map(|name| phase(name).as_str().unwrap_or_default().to_owned());
        assert_eq!(found, phases, "{names}");
    }
}
