//! Workloads, autoscalers and disruption budgets (BK-300 to BK-308, BK-480, BK-481, BK-722).

use billhook::DecodeOptions;
use billhook_apimachinery::KubernetesVersion;
use billhook_kinds::{Findings, Kind, pod_autoscaler_to_v1, pod_autoscaler_to_v2};
use serde_json::{Value, json};

use crate::write::{Write, cells, created, with};

const NOW: &str = "2024-01-02T03:04:05Z";

/// Returns the object that a server makes of a body, and its findings.
fn write(body: &Value, old: Option<&Value>, subresource: &str) -> (Value, Findings) {
    Write { subresource, old, ..Write::default() }.of(body)
}

fn shown(object: &Value) -> Value {
    cells(object).into()
}

fn errors(found: &Findings) -> Vec<String> {
    found.errors.iter().map(ToString::to_string).collect()
}

fn of(api_version: &str, kind: &str, spec: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec})
}

fn app(kind: &str) -> Value {
    let template = json!({
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    });
    let spec = json!({"selector": {"matchLabels": {"app": "x"}}, "template": template});
    of("apps/v1", kind, &spec)
}

fn job(spec: &Value) -> Value {
    let pods = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]});
    let mut job = of("batch/v1", "Job", spec);
    job["metadata"]["uid"] = "u".into();
    job["spec"]["template"] = json!({"spec": pods});
    job
}

/// The errors about an object with another value at a place.
fn check(object: &Value, place: &str, value: Value, expected: &[&str]) {
    let (_, found) = write(&with(object, place, value), None, "");
    assert_eq!(errors(&found), expected, "{place}");
}

#[test]
fn deployments_have_defaults() {
    // BK-301
    let spec = &created(&app("Deployment"))["spec"];
    let rolling = json!({"maxUnavailable": "25%", "maxSurge": "25%"});
    assert_eq!(spec["strategy"], json!({"type": "RollingUpdate", "rollingUpdate": rolling}));
    assert_eq!(spec["replicas"], 1);
    let recreate = with(&app("Deployment"), "/spec/strategy", json!({"type": "Recreate"}));
    assert_eq!(created(&recreate)["spec"]["strategy"], json!({"type": "Recreate"}));
}

#[test]
fn strategies_are_shown_as_structures() {
    // BK-301, BK-791
    let rolling = json!({"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "0%"}});
    let none = "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when \
        `maxSurge` is 0";
    check(&app("Deployment"), "/spec/strategy", rolling, &[none]);
    let unknown = "spec.strategy: Unsupported value: {\"Type\":\"X\",\"RollingUpdate\":null}: \
        supported values: \"Recreate\", \"RollingUpdate\"";
    check(&app("Deployment"), "/spec/strategy", json!({"type": "X"}), &[unknown]);
}

#[test]
fn selectors_match_templates_and_stay() {
    // BK-301: a selector that cannot be used hides what is wrong with the template.
    let labels = "spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does \
        not match template `labels`";
    let other = json!({"matchLabels": {"app": "y"}});
    check(&app("Deployment"), "/spec/selector", other.clone(), &[labels]);
    let broken = json!({"matchExpressions": [{"key": "a", "operator": "In"}]});
    let values = "spec.selector.matchExpressions[0].values: Required value: must be specified when \
        `operator` is 'In' or 'NotIn'";
    let unusable = "spec.selector: Invalid value: {\"matchExpressions\":[{\"key\":\"a\",\
        \"operator\":\"In\"}]}: invalid label selector";
    check(&app("ReplicaSet"), "/spec/selector", broken, &[values, unusable]);
    let old = created(&app("Deployment"));
    let (_, found) = write(&with(&old, "/spec/selector", other), Some(&old), "");
    let fixed =
        "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable";
    assert_eq!(errors(&found), [labels, fixed]);
}

#[test]
fn parts_of_a_status_are_not_more_than_all() {
    // BK-302, BK-303
    for (kind, ready) in [("ReplicaSet", "readyReplicas"), ("StatefulSet", "status.readyReplicas")]
    {
        let old = created(&app(kind));
        let status = json!({"replicas": 1, "availableReplicas": 1});
        let (_, found) = write(&with(&old, "/status", status), Some(&old), "status");
        let expected =
            format!("status.availableReplicas: Invalid value: 1: cannot be greater than {ready}");
        assert_eq!(errors(&found), [expected]);
    }
}

#[test]
fn daemon_sets_count_their_templates() {
    // BK-304
    let place = "/metadata/annotations/deprecated.daemonset.template.generation";
    let old = created(&app("DaemonSet"));
    assert_eq!(old.pointer(place).unwrap(), "1");
    let mut new = with(&old, "/spec/minReadySeconds", 1);
    assert_eq!(write(&new, Some(&old), "").0.pointer(place).unwrap(), "1");
    new["spec"]["template"]["metadata"]["labels"]["b"] = "c".into();
    assert_eq!(write(&new, Some(&old), "").0.pointer(place).unwrap(), "2");
}

#[test]
fn stateful_sets_change_in_some_fields_only() {
    // BK-303
    let old = created(&app("StatefulSet"));
    for place in ["/spec/replicas", "/spec/minReadySeconds", "/spec/revisionHistoryLimit"] {
        let (_, found) = write(&with(&old, place, 7), Some(&old), "");
        assert_eq!(errors(&found), [""; 0], "{place}");
    }
    let (_, found) = write(&with(&old, "/spec/serviceName", "s"), Some(&old), "");
    assert!(errors(&found)[0].starts_with("spec: Forbidden: updates to statefulset spec"));
}

#[test]
fn claims_are_volumes_of_a_stateful_set() {
    // BK-303: the claims come before the volumes of the template.
    let mut set = app("StatefulSet");
    let requests = json!({"requests": {"storage": "1Gi"}});
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": requests});
    set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": spec}]);
    let mount = json!([{"name": "data", "mountPath": "/d"}]);
    set["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = mount;
    let claim = &created(&set)["spec"]["volumeClaimTemplates"][0];
    assert_eq!(claim["kind"], "PersistentVolumeClaim");
    assert_eq!(claim["status"], json!({"phase": "Pending"}));
}

#[test]
fn jobs_select_their_own_pods() {
    // BK-305
    let labels = json!({
        "controller-uid": "u", "job-name": "a",
        "batch.kubernetes.io/controller-uid": "u", "batch.kubernetes.io/job-name": "a",
    });
    let own = created(&job(&json!({})));
    assert_eq!(own["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(own["metadata"]["labels"], labels);
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}});
    assert_eq!(own["spec"]["selector"], selector);
    let manual = json!({"manualSelector": true});
    let (_, found) = write(&job(&manual), None, "");
    assert_eq!(errors(&found)[0], "spec.selector: Required value");
}

#[test]
fn indexed_jobs_have_limits() {
    // BK-305
    let indexed = |spec: Value| {
        let mut spec = spec;
        spec["completionMode"] = "Indexed".into();
        errors(&write(&job(&spec), None, "").1)
    };
    let none = "spec.completions: Required value: when completion mode is Indexed";
    assert_eq!(indexed(json!({"parallelism": 1})), [none]);
    let most = "spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions";
    let limits = json!({"completions": 2, "backoffLimitPerIndex": 1, "maxFailedIndexes": 3});
    assert_eq!(indexed(limits), [most]);
    let policy = |indexes: &str| {
        let rules = json!([{"succeededIndexes": indexes}]);
        indexed(json!({"completions": 5, "successPolicy": {"rules": rules}}))
    };
    assert_eq!(policy("0-2,4"), [""; 0]);
    for (indexes, what) in [
        ("x", "cannot convert string to integer for index: \"x\""),
        ("5", "too large index: \"5\""),
        ("2,1", "non-increasing order, previous: 2, current: 1"),
    ] {
        let error = format!(
            "spec.successPolicy.rules[0].succeededIndexes: Invalid value: \"{indexes}\": error \
             parsing succeededIndexes: {what}"
        );
        assert_eq!(policy(indexes), [error]);
    }
}

#[test]
fn a_success_policy_requires_indexes() {
    // BK-305
    let policy = json!({"rules": [{"succeededCount": 1}]});
    let shown = "spec.successPolicy: Invalid value: \
                 {\"Rules\":[{\"SucceededIndexes\":null,\"SucceededCount\":1}]}: requires indexed \
                 completion mode";
    let unknown = "spec.completionMode: Unsupported value: \"x\": supported values: \
                   \"NonIndexed\", \"Indexed\"";
    for (mode, expected) in [("NonIndexed", vec![shown]), ("x", vec![unknown, shown])] {
        let spec = json!({"completionMode": mode, "successPolicy": policy});
        assert_eq!(errors(&write(&job(&spec), None, "").1), expected, "{mode}");
    }
    let many = json!({
        "completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001,
        "backoffLimitPerIndex": 1,
    });
    let expected = [
        "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000",
        "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when \
         completions are above 100000 and used with backoff limit per index",
    ];
    assert_eq!(errors(&write(&job(&many), None, "").1), expected);
}

#[test]
fn pods_of_suspended_jobs_may_move() {
    // BK-305
    let old = created(&job(&json!({"suspend": true})));
    let mut moved = old.clone();
    moved["spec"]["template"]["spec"]["nodeSelector"] = json!({"a": "b"});
    assert_eq!(errors(&write(&moved, Some(&old), "").1), [""; 0]);
    let running = with(&old, "/spec/suspend", false);
    let shown = errors(&write(&moved, Some(&running), "").1).join("\n");
    assert!(shown.starts_with("spec.template: Invalid value: {\"labels\":{"), "{shown}");
    assert!(shown.contains("\"NodeSelector\":{\"a\":\"b\"}"), "{shown}");
    assert!(shown.contains("\"SecurityContext\":{\"HostNetwork\":false,"), "{shown}");
    let other = with(&old, "/spec/template/spec/hostname", "h");
    let shown = errors(&write(&other, Some(&old), "").1).join("\n");
    assert!(shown.starts_with("spec.template.spec: Invalid value: {\"Volumes\":null,"), "{shown}");
}

#[test]
fn a_job_ends_once() {
    // BK-305
    let old = created(&job(&json!({})));
    let status = |types: &[&str], times: Value| {
        let conditions =
            types.iter().map(|type_| json!({"type": type_, "status": "True"})).collect::<Vec<_>>();
        let mut status = times;
        status["conditions"] = conditions.into();
        with(&old, "/status", status)
    };
    let times = json!({"startTime": NOW, "completionTime": NOW});
    let done = status(&["SuccessCriteriaMet", "Complete"], times.clone());
    assert_eq!(errors(&write(&done, Some(&old), "status").1), [""; 0]);
    let early = status(&["Complete"], json!({"startTime": NOW}));
    assert_eq!(
        errors(&write(&early, Some(&old), "status").1),
        [
            "status.completionTime: Required value: completionTime is required for Complete jobs",
            "status.conditions: Invalid value: cannot set Complete=True condition without the \
             SuccessCriteriaMet=true condition",
        ]
    );
    let found = write(&status(&[], json!({"startTime": NOW})), Some(&done), "status").1;
    assert!(errors(&found)[0].contains("cannot disable the terminal Complete=True condition"));
}

#[test]
fn schedules_are_parsed() {
    // BK-306
    let cron_job = |schedule: &str, zone: Value| {
        let mut spec = json!({"schedule": schedule, "timeZone": zone});
        spec["jobTemplate"] = json!({"spec": {"template": job(&json!({}))["spec"]["template"]}});
        let (_, found) = write(&of("batch/v1", "CronJob", &spec), None, "");
        errors(&found)
    };
    for schedule in
        ["*/5 * * * *", "0 0 1-7,15 jan-MAR ?", "@daily", "@every 1h30m", "0/15 * * * *"]
    {
        assert_eq!(cron_job(schedule, Value::Null), [""; 0], "{schedule}");
    }
    for (schedule, what) in [
        ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
        ("@sometimes", "unrecognized descriptor: @sometimes"),
        ("TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
    ] {
        let error = format!("spec.schedule: Invalid value: \"{schedule}\": {what}");
        assert_eq!(cron_job(schedule, Value::Null), [error]);
    }
    assert_eq!(cron_job("@daily", "Europe/Berlin".into()), [""; 0]);
    for (zone, what) in [
        ("europe/berlin", "unknown time zone europe/berlin"),
        ("", "timeZone must be nil or non-empty string"),
        (
            "local",
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        ),
    ] {
        let error = format!("spec.timeZone: Invalid value: \"{zone}\": {what}");
        assert_eq!(cron_job("@daily", zone.into()), [error]);
    }
}

fn autoscaler(members: &Value) -> Value {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let mut spec = json!({"scaleTargetRef": target, "maxReplicas": 3});
    spec.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    of("autoscaling/v2", "HorizontalPodAutoscaler", &spec)
}

#[test]
fn autoscalers_name_the_group_of_their_target() {
    // BK-481
    let place = "/spec/scaleTargetRef/apiVersion";
    let error = "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must specify API \
        group";
    check(&autoscaler(&json!({})), place, "v1".into(), &[error]);
    let controller = json!({"apiVersion": "v1", "kind": "ReplicationController", "name": "r"});
    check(&autoscaler(&json!({})), "/spec/scaleTargetRef", controller, &[]);
    let stored = with(&created(&autoscaler(&json!({}))), place, "v1");
    assert_eq!(errors(&write(&stored, Some(&stored), "").1), [""; 0]);
}

/// BK-05, BK-481: an object that is stored in another version is read in that of the request, with the
/// defaults of both.
#[test]
fn autoscalers_are_read_in_each_version() {
    let read = |object: &Value, name: &str| {
        let kind = Kind::named(&format!("autoscaling/{name}"), "HorizontalPodAutoscaler").unwrap();
        let definition = kind.compile(KubernetesVersion::default()).unwrap().unwrap();
        let mut object = object.clone();
        let version = definition.served(name).unwrap();
        version.decode_storage_value(&mut object, &DecodeOptions::default()).unwrap();
        assert_eq!(object["apiVersion"], format!("autoscaling/{name}"));
        object["spec"].take()
    };
    let target = json!({"type": "Utilization", "averageUtilization": 70});
    let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
    let newer = autoscaler(&json!({"metrics": [cpu], "minReplicas": null}));
    let older = read(&newer, "v1");
    assert_eq!(older["targetCPUUtilizationPercentage"], 70);
    assert_eq!(older["minReplicas"], 1);
    assert_eq!(older.get("metrics"), None);

    let older = of("autoscaling/v1", "HorizontalPodAutoscaler", &older);
    assert_eq!(read(&older, "v2"), read(&newer, "v2"));
    assert_eq!(read(&older, "v1"), older["spec"]);
}

#[test]
fn empty_policies_of_scaling_are_not_defaulted() {
    // BK-481
    let up = |up: Value| autoscaler(&json!({"behavior": {"scaleUp": up}}));
    let policies = &created(&up(json!({})))["spec"]["behavior"]["scaleUp"]["policies"];
    assert_eq!(policies.as_array().unwrap().len(), 2);
    let (_, found) = write(&up(json!({"policies": []})), None, "");
    let error = "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy";
    assert_eq!(errors(&found), [error]);
}

#[test]
fn autoscalers_are_the_same_in_both_versions() {
    // BK-481: what version 1 has no fields for is in annotations.
    let cpu = json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}});
    let target = json!({"type": "Value", "value": "3"});
    let metrics = json!([
        {"type": "External", "external": {"metric": {"name": "q"}, "target": target}},
        {"type": "Resource", "resource": cpu},
    ]);
    let down = json!({"scaleDown": {"stabilizationWindowSeconds": 5}});
    let object = created(&autoscaler(&json!({"metrics": metrics, "behavior": down})));
    let mut converted = object.clone();
    pod_autoscaler_to_v1(&mut converted, KubernetesVersion::default());
    assert_eq!(converted["spec"]["targetCPUUtilizationPercentage"], 50);
    assert_eq!(converted["status"]["currentReplicas"], 0);
    let annotations = &converted["metadata"]["annotations"];
    assert_eq!(
        annotations["autoscaling.alpha.kubernetes.io/metrics"],
        "[{\"type\":\"External\",\"external\":{\"metricName\":\"q\",\"targetValue\":\"3\"}}]"
    );
    let behavior = annotations["autoscaling.alpha.kubernetes.io/behavior"].as_str().unwrap();
    assert!(behavior.starts_with("{\"ScaleUp\":{\"StabilizationWindowSeconds\":0,"), "{behavior}");
    pod_autoscaler_to_v2(&mut converted, KubernetesVersion::default());
    assert_eq!(converted["spec"], object["spec"]);
    assert_eq!(converted["status"], object["status"]);
}

#[test]
fn a_budget_has_one_limit() {
    // BK-480
    let spec = json!({"minAvailable": 1, "maxUnavailable": "101%", "selector": {}});
    let (_, found) = write(&of("policy/v1", "PodDisruptionBudget", &spec), None, "");
    assert_eq!(
        errors(&found),
        [
            "spec: Invalid value: {\"MinAvailable\":1,\"Selector\":{},\"MaxUnavailable\":\"101%\",\
             \"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be both \
             set",
            "spec.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%",
        ]
    );
}

#[test]
fn tables_show_workloads() {
    // BK-722
    let mut deployment = created(&app("Deployment"));
    deployment["status"] = json!({"readyReplicas": 1, "updatedReplicas": 2});
    let row = json!(["a", "1/1", 2, 0, "<unknown>", "c", "i:1", "app=x"]);
    assert_eq!(shown(&deployment), row);
    let mut suspended = job(&json!({"parallelism": 3}));
    suspended["status"] = json!({
        "startTime": "2024-01-02T03:00:00Z", "completionTime": "2024-01-02T03:05:07Z",
        "succeeded": 1, "conditions": [{"type": "Suspended", "status": "True"}],
    });
    let row = json!(["a", "Suspended", "1/1 of 3", "5m7s", "<unknown>", "c", "i:1", "<none>"]);
    assert_eq!(shown(&suspended), row);
    let row = json!(["a", "Deployment/d", "cpu: <unknown>/80%", "1", 3, 0, "<unknown>"]);
    assert_eq!(shown(&created(&autoscaler(&json!({})))), row);
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 2,
        "metadata": {"name": "a", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "controller": true},
        ]},
    });
    assert_eq!(shown(&revision), json!(["a", "statefulset.apps/s", 2, "<unknown>"]));
}
