//! Stages of kwok (CP-110).

use std::time::Duration;

use billhook_control_plane::simulation::Stage;
use serde_json::{Value, json};

use crate::support::{column, create, request, run_with};

const MAP: &str = "/api/v1/namespaces/default/configmaps/m";
const POD: &str = "/api/v1/namespaces/default/pods/p";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn stage(name: &str, kind: &str, spec: &Value) -> Value {
    let mut document = json!({
        "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name},
        "spec": {"resourceRef": {"apiGroup": "v1", "kind": kind}},
    });
    let spec = spec.as_object().unwrap().clone();
    document["spec"].as_object_mut().unwrap().extend(spec);
    document
}

/// A stage that prints a template into a ConfigMap, once.
fn printing(template: &str) -> Stage {
    let document = stage(
        "print",
        "ConfigMap",
        &json!({
            "selector": {"matchExpressions": [{"key": ".data.printed", "operator": "DoesNotExist"}]},
            "next": {"patches": [{"root": "data", "template": format!("printed: {template}")}]},
        }),
    );
    Stage::from_value(&document).unwrap()
}

fn map() -> String {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "b": "x", "empty": ""},
        "metadata": {
            "name": "m", "namespace": "default", "labels": {"l": "v"},
            "annotations": {"example.com/a": "w"}, "finalizers": ["example.com/f", "example.com/g"],
        },
    })
    .to_string()
}

#[test]
fn templates_print_objects() {
    for (template, printed) in [
        ("{{ .data.a | Quote }}", "1"),
        ("{{ Now | Quote }}", "2026-01-01T00:00:00Z"),
        ("{{ NodeIP }}", "10.0.0.1"),
        ("'{{ .data.none }}'", "<no value>"),
        ("{{ if .data.none }}yes{{ else if eq .data.b \"x\" }}x{{ else }}no{{ end }}", "x"),
        ("{{ with .data.empty }}{{ . }}{{ else }}none{{ end }}", "none"),
        ("{{ with $.data }}{{ .b }}{{ end }}", "x"),
        ("{{ range .metadata.finalizers }}<{{ . }}>{{ end }}", "<example.com/f><example.com/g>"),
        (
            "{{ range $i, $it := .metadata.finalizers }}{{ $i }}{{ $it }} {{- end }}",
            "0example.com/f1example.com/g",
        ),
        ("{{ $x := len .metadata.finalizers }}n{{ $x }}", "n2"),
        ("{{ or .data.empty .data.none \"last\" }}", "last"),
        ("{{ and .data.b (not .data.empty) | Quote }}", "true"),
        ("{{ index .metadata.finalizers 1 }}", "example.com/g"),
        ("{{ index .metadata.annotations \"example.com/a\" }}{{/* nothing */}}", "w"),
        ("a {{- if ne .data.a `1` }} b {{- end }} c", "a c"),
    ] {
        run_with(
            |builder| builder.stage(printing(template)),
            async |plane| {
                create(plane, &map()).await;
                let map = request(plane, "GET", MAP, "").await;
                assert_eq!(map["data"]["printed"], printed, "{template}");
            },
        );
    }
}

#[test]
fn selectors_choose_objects() {
    let expression = |key: &str, operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
    for (selector, is_chosen) in [
        (json!({"matchLabels": {"l": "v"}}), true),
        (json!({"matchLabels": {"l": "w"}}), false),
        (json!({"matchAnnotations": {"example.com/a": "w"}}), true),
        (expression(".data.b", "In", &["x", "y"]), true),
        (expression(".data.b", "NotIn", &["x"]), false),
        (expression(".data.none", "NotIn", &["x"]), true),
        (expression(".data.none", "Exists", &[]), false),
        (expression(".metadata.annotations[\"example.com/a\"]", "Exists", &[]), true),
        (expression(".metadata.finalizers.[]", "In", &["example.com/g"]), true),
        (expression(".metadata.finalizers.[0]", "In", &["example.com/g"]), false),
        (
            expression(
                ".metadata.managedFields.[] | select( .operation == \"Update\" ) | .fieldsType",
                "In",
                &["FieldsV1"],
            ),
            true,
        ),
        (
            expression(
                ".metadata.managedFields.[] | select(.operation != \"Update\")",
                "DoesNotExist",
                &[],
            ),
            true,
        ),
    ] {
        let next = json!({"delete": true});
        let document = stage("go", "ConfigMap", &json!({"selector": selector, "next": next}));
        let stage = Stage::from_value(&document).unwrap();
        run_with(
            |builder| builder.stage(stage),
            async |plane| {
                let mut map: Value = serde_json::from_str(&map()).unwrap();
                map["metadata"]["finalizers"] = json!(["example.com/f", "example.com/g"]);
                create(plane, &map.to_string()).await;
                let map = request(plane, "GET", MAP, "").await;
                let is_deleted = map["metadata"]["deletionTimestamp"].is_string();
                assert_eq!(is_deleted, is_chosen, "{document}");
            },
        );
    }
}

/// Stages of pods take the place of scripts; each begins when the one before has changed the pod.
#[test]
fn pods_go_from_stage_to_stage() {
    let stages = [
        stage(
            "run",
            "Pod",
            &json!({
                "selector": {"matchExpressions": [
                    {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
                    {"key": ".status.phase", "operator": "In", "values": ["Pending"]},
                ]},
                "delay": {"durationMilliseconds": 2000},
                "next": {
                    "event": {"type": "Normal", "reason": "Begun", "message": "it runs"},
                    "finalizers": {"add": [{"value": "example.com/f"}]},
                    "statusTemplate": "phase: Running\npodIP: {{ PodIP }}\n",
                },
            }),
        ),
        stage(
            "go",
            "Pod",
            &json!({
                "selector": {"matchExpressions": [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}]},
                "delay": {"durationFrom": {"expressionFrom": ".metadata.annotations.late"}},
                "next": {"finalizers": {"empty": true}, "delete": true},
            }),
        ),
    ];
    let stages = stages.iter().map(|stage| Stage::from_value(stage).unwrap());
    run_with(
        |builder| stages.fold(builder, billhook_control_plane::ControlPlaneBuilder::stage),
        async |plane| {
            let pod = json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "p", "namespace": "default", "annotations": {"late": "5s"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            });
            create(plane, &pod.to_string()).await;
            let phase = async || request(plane, "GET", POD, "").await["status"]["phase"].take();
            plane.advance(Duration::from_millis(1999)).await.unwrap();
            assert_eq!(phase().await, "Pending");
            plane.advance(Duration::from_millis(1)).await.unwrap();
            let running = request(plane, "GET", POD, "").await;
            assert_eq!(running["status"]["phase"], "Running");
            assert_eq!(running["status"]["podIP"], "10.244.0.1");
            assert_eq!(running["metadata"]["finalizers"], json!(["example.com/f"]));
            assert!(column(plane, EVENTS, "/reason").await.contains(&"Begun".to_owned()));
            request(plane, "DELETE", POD, "").await;
            plane.advance(Duration::from_secs(4)).await.unwrap();
            assert_eq!(phase().await, "Running");
            plane.advance(Duration::from_secs(1)).await.unwrap();
            assert_eq!(request(plane, "GET", POD, "").await["code"], 404);
        },
    );
}

/// A delay between two times is the same in every run, and an object can have its own.
#[test]
fn delays_are_the_same_in_every_run() {
    let document = stage(
        "late",
        "ConfigMap",
        &json!({
            "selector": {"matchExpressions": [{"key": ".data.done", "operator": "DoesNotExist"}]},
            "delay": {"durationMilliseconds": 1000, "jitterDurationMilliseconds": 5000},
            "next": {"patches": [{"template": "data: {done: '{{ Now }}'}"}]},
        }),
    );
    let done = |annotation: Option<&str>| {
        let mut done = Value::Null;
        run_with(
            |builder| builder.stage(Stage::from_value(&document).unwrap()),
            async |plane| {
                let mut map: Value = serde_json::from_str(&map()).unwrap();
                if let Some(delay) = annotation {
                    map["metadata"]["annotations"]["late.stage.kwok.x-k8s.io/delay"] = delay.into();
                    map["metadata"]["annotations"]["late.stage.kwok.x-k8s.io/jitter-delay"] =
                        delay.into();
                }
                create(plane, &map.to_string()).await;
                plane.advance(Duration::from_secs(60)).await.unwrap();
                done = request(plane, "GET", MAP, "").await["data"]["done"].take();
            },
        );
        done
    };
    let first = done(None);
    let text = first.as_str().unwrap();
    assert!(("2026-01-01T00:00:01Z".."2026-01-01T00:00:06Z").contains(&text), "{text}");
    assert_eq!(first, done(None));
    assert_eq!(done(Some("20s")), "2026-01-01T00:00:20Z");
}

#[test]
fn what_is_not_understood_is_refused() {
    let next = json!({"delete": true});
    let template = |text: &str| json!({"next": {"statusTemplate": text}});
    for (spec, why) in [
        (json!({}), "spec.next is missing"),
        (json!({"next": next, "priority": 1}), "spec.priority is not understood"),
        (json!({"next": next, "weight": -1}), "spec.weight is not a whole number"),
        (json!({"next": {"delete": "yes"}}), "spec.next.delete is not true or false"),
        (
            json!({"next": {"patches": [{"template": "a", "type": "apply"}]}}),
            "spec.next.patches[0].type is not json, merge or strategic",
        ),
        (
            json!({"next": {"patches": [{"template": "a", "type": "json", "root": "status"}]}}),
            "spec.next.patches[0].root is not understood with type json, whose operations have paths",
        ),
        (
            json!({"next": next, "weightFrom": {"expressionFrom": "a"}}),
            "spec.weightFrom.expressionFrom \"a\" is not a path such as .status.phase",
        ),
        (
            json!({"next": next, "delay": {"jitterDurationFrom": {}}}),
            "spec.delay.jitterDurationFrom.expressionFrom is missing",
        ),
        (
            json!({"next": next, "selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}),
            "spec.selector.matchExpressions[0].key \"a\" is not a path such as .status.phase",
        ),
        (
            json!({"next": next, "selector": {"matchExpressions": [{"key": ".a", "operator": "Gt"}]}}),
            "spec.selector.matchExpressions[0].operator is not In, NotIn, Exists or DoesNotExist",
        ),
        (
            template("a\n{{ Env `X` }}"),
            "spec.next.statusTemplate line 2: the function Env is not understood",
        ),
        (template("{{ if .a }}"), "spec.next.statusTemplate line 1: the end of if is missing"),
        (template("{{ end }}"), "spec.next.statusTemplate line 1: end of nothing"),
        (template("{{ (.a }}"), "spec.next.statusTemplate line 1: a bracket is not closed"),
        (template("{{ .a"), "spec.next.statusTemplate line 1: }} is missing"),
        (
            template(&"{{ if .a }}".repeat(100)),
            "spec.next.statusTemplate line 1: too many blocks in each other",
        ),
        (
            template(&format!("{{{{ {} }}}}", "(".repeat(100))),
            "spec.next.statusTemplate line 1: too many brackets in each other",
        ),
    ] {
        let error = Stage::from_value(&stage("s", "Pod", &spec)).unwrap_err();
        assert_eq!(error.to_string(), why);
    }
}

/// CP-110: a JSON patch changes what its operations name.
#[test]
fn json_patches_change_objects() {
    let template = "
- {op: replace, path: /data/a, value: '{{ .data.b }}{{ .data.a }}'}
- {op: remove, path: /data/b}
- {op: add, path: /metadata/labels/done, value: 'yes'}
";
    let document = stage(
        "patch",
        "ConfigMap",
        &json!({
            "selector": {"matchExpressions": [{"key": ".metadata.labels.done", "operator": "DoesNotExist"}]},
            "next": {"patches": [{"type": "json", "template": template}]},
        }),
    );
    run_with(
        |builder| builder.stage(Stage::from_value(&document).unwrap()),
        async |plane| {
            create(plane, &map()).await;
            let map = request(plane, "GET", MAP, "").await;
            assert_eq!(map["data"], json!({"a": "x1", "empty": ""}));
            assert_eq!(map["metadata"]["labels"], json!({"l": "v", "done": "yes"}));
        },
    );
}

/// CP-110: an object says the weights of stages, and how long their delays may be.
#[test]
fn objects_decide_about_stages() {
    let of = |name: &str, extra: Value| {
        let patch = format!("data: {{done: {name}, at: '{{{{ Now }}}}'}}");
        let mut spec = json!({
            "selector": {"matchExpressions": [{"key": ".data.done", "operator": "DoesNotExist"}]},
            "next": {"patches": [{"template": patch}]},
        });
        spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        Stage::from_value(&stage(name, "ConfigMap", &spec)).unwrap()
    };
    let weight = |path: &str| json!({"weight": 1, "weightFrom": {"expressionFrom": path}});
    for (first, second, done) in [
        (".data.nothing", ".data.a", "second"),
        (".data.a", ".data.nothing", "first"),
        // What is not a number leaves the weight of the stage.
        (".data.nothing", ".data.b", "second"),
    ] {
        run_with(
            |builder| builder.stage(of("first", weight(first))).stage(of("second", weight(second))),
            async |plane| {
                let mut map: Value = serde_json::from_str(&map()).unwrap();
                map["data"]["nothing"] = "0".into();
                create(plane, &map.to_string()).await;
                assert_eq!(request(plane, "GET", MAP, "").await["data"]["done"], done);
            },
        );
    }
    let delay = json!({"delay": {"durationMilliseconds": 60_000,
        "jitterDurationFrom": {"expressionFrom": ".data.longest"}}});
    for (longest, range) in [
        ("60s", ["2026-01-01T00:01:00Z", "2026-01-01T00:01:00Z"]),
        ("2026-01-01T00:01:00Z", ["2026-01-01T00:01:00Z", "2026-01-01T00:01:00Z"]),
        ("1h", ["2026-01-01T00:01:01Z", "2026-01-01T01:00:00Z"]),
    ] {
        run_with(
            |builder| builder.stage(of("late", delay.clone())),
            async |plane| {
                let mut map: Value = serde_json::from_str(&map()).unwrap();
                map["data"]["longest"] = longest.into();
                create(plane, &map.to_string()).await;
                plane.advance(Duration::from_secs(3600)).await.unwrap();
                let map = request(plane, "GET", MAP, "").await;
                let at = map["data"]["at"].as_str().unwrap();
                assert!((range[0]..=range[1]).contains(&at), "{longest}: {at}");
            },
        );
    }
}

/// CP-110: of stages with weights each is chosen as often as it weighs, and others with another seed.
#[test]
fn weights_are_shares() {
    let of = |name: &str, weight: u64| {
        let spec = json!({
            "selector": {"matchExpressions": [{"key": ".data.done", "operator": "DoesNotExist"}]},
            "weight": weight,
            "next": {"patches": [{"template": format!("data: {{done: {name}}}")}]},
        });
        Stage::from_value(&stage(name, "ConfigMap", &spec)).unwrap()
    };
    let choose = |seed: u64| {
        let mut chosen = Vec::new();
        run_with(
            |builder| builder.seed(seed).stage(of("rare", 1)).stage(of("often", 3)),
            async |plane| {
                let map = |number: usize| map().replace("\"m\"", &format!("\"m-{number:03}\""));
                let maps: Vec<String> = (0..200).map(map).collect();
                let list = format!(
                    "{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{}]}}",
                    maps.join(",")
                );
                create(plane, &list).await;
                let path = "/api/v1/namespaces/default/configmaps";
                chosen = column(plane, path, "/data/done").await;
            },
        );
        chosen
    };
    let chosen = choose(0);
    let rare = chosen.iter().filter(|it| *it == "rare").count();
    assert!((35..=65).contains(&rare), "{rare}");
    assert_eq!(chosen, choose(0));
    assert_ne!(chosen, choose(1));
}

/// CP-117: the address of a pod that is gone is not that of another one that is there.
#[test]
fn stages_give_each_pod_an_address() {
    let runs = stage(
        "run",
        "Pod",
        &json!({
            "selector": {"matchExpressions": [
                {"key": ".status.phase", "operator": "In", "values": ["Pending"]},
            ]},
            "next": {"statusTemplate": "phase: Running\npodIP: {{ PodIP }}\n"},
        }),
    );
    let goes = stage(
        "go",
        "Pod",
        &json!({
            "selector": {"matchExpressions": [
                {"key": ".metadata.deletionTimestamp", "operator": "Exists"},
            ]},
            "next": {"delete": true},
        }),
    );
    let stages = [runs, goes].map(|stage| Stage::from_value(&stage).unwrap());
    run_with(
        |builder| {
            stages.into_iter().fold(builder, billhook_control_plane::ControlPlaneBuilder::stage)
        },
        async |plane| {
            let pod = |name: &str| {
                format!(
                    "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default}}\n\
                     spec: {{containers: [{{name: c, image: i}}]}}"
                )
            };
            create(plane, &["p", "q", "r"].map(pod).join("\n---\n")).await;
            request(plane, "DELETE", POD, "").await;
            create(plane, &pod("s")).await;
            let pods = "/api/v1/namespaces/default/pods";
            let addresses = column(plane, pods, "/status/podIP").await;
            assert_eq!(addresses, ["10.244.0.2", "10.244.0.3", "10.244.0.4"]);
        },
    );
}
