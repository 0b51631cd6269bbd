//! Reinvocation: the scenario tables DI-T1 to DI-T15.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use billhook::Status;
use billhook::webhook::AdmissionAttributes;
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, ChainOutcome, Plugin, PluginRequest, RequestOptions,
};
use serde_json::json;

use crate::chain::world::{
    Act, Script, World, allow, answer, configuration, create, kind, object, resource,
};
use crate::server::Reply;

/// What a step does in its first and its second run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// It changes the object.
    Changes,
    /// It leaves the object alone.
    Nothing,
    /// It sends a patch that changes nothing.
    NoOpPatch,
    /// It adds the label that another one waits for.
    Labels,
    /// It fails; a plugin refuses the request.
    Fails,
}

use Effect::{Changes, Fails, Labels, NoOpPatch, Nothing};

struct CompiledWebhook {
    name: &'static str,
    effects: [Effect; 2],
    more: &'static str,
}

fn hook(name: &'static str, effects: [Effect; 2], more: &'static str) -> CompiledWebhook {
    CompiledWebhook { name, effects, more }
}

const IF_NEEDED: &str = "reinvocationPolicy: IfNeeded";
const NEVER: &str = "reinvocationPolicy: Never";

struct Scenario {
    name: &'static str,
    plugin: [Effect; 2],
    hooks: Vec<CompiledWebhook>,
    /// How often the plugin and the hooks run.
    calls: (usize, &'static [usize]),
    /// The annotations: round and index, configuration, whether it changed the object, whether
    /// there was a patch.
    annotations: &'static [(&'static str, &'static str, bool, bool)],
    /// What the request fails with.
    error: Option<&'static str>,
}

/// The plugin P.
struct Scripted {
    effects: [Effect; 2],
    runs: Arc<AtomicUsize>,
}

impl Plugin for Scripted {
    fn name(&self) -> &str {
        "P"
    }

    fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        assert_eq!(request.is_reinvocation(), run > 0);
        match self.effects[run] {
            Changes => request.object_mut().unwrap()["spec"]["p"] = run.into(),
            Fails => return Err(Status::failure(403, "Forbidden", "P refuses")),
            _ => {}
        }
        Ok(())
    }
}

fn play(effect: Effect, name: &str, request: &AdmissionRequest, number: usize) -> Act {
    let response = AdmissionResponse::allow(request);
    let patch = match effect {
        Nothing => return answer(response),
        Fails => return Act::Reply(Reply::new(500, Vec::new(), "broken")),
        Changes => {
            json!([{"op": "add", "path": format!("/spec/{name}"), "value": number}])
        }
        NoOpPatch => json!([{"op": "replace", "path": "/spec/n", "value": 1}]),
        Labels => json!([{"op": "add", "path": "/metadata/labels", "value": {"late": "yes"}}]),
    };
    answer(response.patch(&patch))
}

async fn run(scenario: &Scenario, trace: bool) -> (World, ChainOutcome, usize) {
    let mut scripts = Vec::new();
    for CompiledWebhook { name, effects, .. } in &scenario.hooks {
        let (name, effects) = (*name, *effects);
        let script: Script =
            Box::new(move |request, number| play(effects[number], name, request, number));
        scripts.push((name, script));
    }
    let world = World::new(scripts).await;
    let configurations: Vec<String> =
        scenario.hooks.iter().map(|hook| configuration("Mutating", hook.name, hook.more)).collect();
    let runs = Arc::new(AtomicUsize::new(0));
    let plugin = Scripted { effects: scenario.plugin, runs: Arc::clone(&runs) };
    let chain = world.chain(&configurations).plugin(plugin);
    let options = RequestOptions::default().trace(trace);
    let outcome = chain.run(create(), &options, |_, _| Ok(())).await;
    (world, outcome, runs.load(Ordering::Relaxed))
}

/// The annotations of an outcome, in the form of the table.
fn annotations(outcome: &ChainOutcome) -> Vec<(String, String, bool, bool)> {
    let mut found = Vec::new();
    for (key, annotation) in outcome.annotations.iter() {
        let Some(place) = key.strip_prefix("mutation.webhook.admission.k8s.io/") else { continue };
        let value: serde_json::Value = serde_json::from_str(&annotation.value).unwrap();
        let name = value["configuration"].as_str().unwrap();
        assert_eq!(value["webhook"], format!("{name}.example.com"));
        let patch = outcome.annotations.get(&format!("patch.webhook.admission.k8s.io/{place}"));
        let mutated = value["mutated"].as_bool().unwrap();
        found.push((place.to_owned(), name.to_owned(), mutated, patch.is_some()));
    }
    found
}

#[tokio::test]
async fn tables() {
    let scenarios = [
        Scenario {
            name: "T1: nothing is called again",
            plugin: [Changes, Nothing],
            hooks: vec![hook("a", [Nothing; 2], IF_NEEDED)],
            calls: (1, &[1]),
            annotations: &[("round_0_index_0", "a", false, false)],
            error: None,
        },
        Scenario {
            name: "T2: only the plugin runs again",
            plugin: [Changes, Nothing],
            hooks: vec![hook("a", [Changes; 2], IF_NEEDED)],
            calls: (2, &[1]),
            annotations: &[("round_0_index_0", "a", true, true)],
            error: None,
        },
        Scenario {
            name: "T3: the plugin changes the object again",
            plugin: [Changes, Changes],
            hooks: vec![hook("a", [Changes; 2], IF_NEEDED)],
            calls: (2, &[2]),
            annotations: &[
                ("round_0_index_0", "a", true, true),
                ("round_1_index_0", "a", true, true),
            ],
            error: None,
        },
        Scenario {
            name: "T4: the first of two webhooks is called again",
            plugin: [Changes, Nothing],
            hooks: vec![
                hook("a", [Changes, Nothing], IF_NEEDED),
                hook("b", [Changes; 2], IF_NEEDED),
            ],
            calls: (2, &[2, 1]),
            annotations: &[
                ("round_0_index_0", "a", true, true),
                ("round_0_index_1", "b", true, true),
                ("round_1_index_0", "a", false, false),
            ],
            error: None,
        },
        Scenario {
            name: "T5: both webhooks are called again",
            plugin: [Changes, Nothing],
            hooks: vec![hook("a", [Changes; 2], IF_NEEDED), hook("b", [Changes; 2], IF_NEEDED)],
            calls: (2, &[2, 2]),
            annotations: &[
                ("round_0_index_0", "a", true, true),
                ("round_0_index_1", "b", true, true),
                ("round_1_index_0", "a", true, true),
                ("round_1_index_1", "b", true, true),
            ],
            error: None,
        },
        Scenario {
            name: "T6: one that never wants to be called again",
            plugin: [Changes, Nothing],
            hooks: vec![hook("a", [Changes; 2], NEVER), hook("b", [Nothing; 2], IF_NEEDED)],
            calls: (2, &[1, 1]),
            annotations: &[
                ("round_0_index_0", "a", true, true),
                ("round_0_index_1", "b", false, false),
            ],
            error: None,
        },
        Scenario {
            name: "T7: two that never want to be called again",
            plugin: [Nothing; 2],
            hooks: vec![hook("a", [Changes; 2], NEVER), hook("b", [Changes; 2], NEVER)],
            calls: (2, &[1, 1]),
            annotations: &[
                ("round_0_index_0", "a", true, true),
                ("round_0_index_1", "b", true, true),
            ],
            error: None,
        },
        Scenario {
            name: "T8: one that matches only after the other",
            plugin: [Nothing; 2],
            hooks: vec![
                hook(
                    "a",
                    [Changes; 2],
                    "reinvocationPolicy: IfNeeded
                    objectSelector: {matchLabels: {late: 'yes'}}",
                ),
                hook("b", [Labels; 2], IF_NEEDED),
            ],
            calls: (2, &[0, 1]),
            annotations: &[("round_0_index_1", "b", true, true)],
            error: None,
        },
        Scenario {
            name: "T9: an ignored failure counts as a call",
            plugin: [Nothing; 2],
            hooks: vec![
                hook(
                    "a",
                    [Fails, Nothing],
                    "reinvocationPolicy: IfNeeded
                    failurePolicy: Ignore",
                ),
                hook("b", [Changes; 2], NEVER),
            ],
            calls: (2, &[2, 1]),
            annotations: &[
                ("round_0_index_0", "a", false, false),
                ("round_0_index_1", "b", true, true),
                ("round_1_index_0", "a", false, false),
            ],
            error: None,
        },
        Scenario {
            name: "T10: the plugin refuses what the webhook made",
            plugin: [Nothing, Fails],
            hooks: vec![hook("a", [Changes; 2], IF_NEEDED)],
            calls: (2, &[1]),
            annotations: &[("round_0_index_0", "a", true, true)],
            error: Some("P refuses"),
        },
        Scenario {
            name: "T11: the webhook fails in the second pass",
            plugin: [Nothing, Changes],
            hooks: vec![hook("a", [Changes, Fails], IF_NEEDED)],
            calls: (2, &[2]),
            annotations: &[
                ("round_0_index_0", "a", true, true),
                ("round_1_index_0", "a", false, false),
            ],
            error: Some(
                "Internal error occurred: failed calling webhook \"a.example.com\": failed to \
                 call webhook: an error on the server (\"broken\") has prevented the request from \
                 succeeding",
            ),
        },
        Scenario {
            name: "T12: a patch without effect",
            plugin: [Nothing; 2],
            hooks: vec![hook("a", [NoOpPatch; 2], IF_NEEDED)],
            calls: (1, &[1]),
            annotations: &[("round_0_index_0", "a", false, true)],
            error: None,
        },
        Scenario {
            name: "T13: one without a change before one with",
            plugin: [Nothing; 2],
            hooks: vec![hook("a", [Nothing; 2], IF_NEEDED), hook("b", [Changes; 2], IF_NEEDED)],
            calls: (2, &[2, 1]),
            annotations: &[
                ("round_0_index_0", "a", false, false),
                ("round_0_index_1", "b", true, true),
                ("round_1_index_0", "a", false, false),
            ],
            error: None,
        },
        Scenario {
            name: "T14: one with a change before one without",
            plugin: [Nothing; 2],
            hooks: vec![hook("a", [Changes; 2], IF_NEEDED), hook("b", [Nothing; 2], IF_NEEDED)],
            calls: (2, &[1, 1]),
            annotations: &[
                ("round_0_index_0", "a", true, true),
                ("round_0_index_1", "b", false, false),
            ],
            error: None,
        },
        Scenario {
            name: "T15: the index counts those that do not match too",
            plugin: [Nothing; 2],
            hooks: vec![
                hook("a", [Changes; 2], "rules: []"),
                hook("b", [Changes; 2], NEVER),
                hook("c", [Nothing; 2], NEVER),
            ],
            calls: (2, &[0, 1, 1]),
            annotations: &[
                ("round_0_index_1", "b", true, true),
                ("round_0_index_2", "c", false, false),
            ],
            error: None,
        },
    ];
    assert_eq!(scenarios.len(), 15);
    for scenario in scenarios {
        // A trace looks at webhooks that are otherwise left out at once.
        for trace in [false, true] {
            let name = format!("{}, trace {trace}", scenario.name);
            let (world, outcome, plugin_runs) = run(&scenario, trace).await;
            let error = outcome.result.as_ref().err().map(|status| status.message.as_str());
            assert_eq!(error, scenario.error, "{name}");
            assert_eq!(plugin_runs, scenario.calls.0, "{name}: runs of P");
            let calls: Vec<usize> =
                scenario.hooks.iter().map(|hook| world.calls(hook.name)).collect();
            assert_eq!(calls, scenario.calls.1, "{name}: calls");
            let owned =
                |row: &(&str, &str, bool, bool)| (row.0.to_owned(), row.1.to_owned(), row.2, row.3);
            let expected: Vec<_> = scenario.annotations.iter().map(owned).collect();
            assert_eq!(annotations(&outcome), expected, "{name}: annotations");
        }
    }
}

/// Each webhook sees what those before it made, also of a plugin's second run; every call has a
/// UID of its own (DI-10, AR-10).
#[tokio::test]
async fn calls_build_on_one_another() {
    let scenario = Scenario {
        name: "",
        plugin: [Changes, Changes],
        hooks: vec![hook("a", [Changes; 2], IF_NEEDED), hook("b", [Changes; 2], IF_NEEDED)],
        calls: (2, &[2, 2]),
        annotations: &[],
        error: None,
    };
    let (world, outcome, _) = run(&scenario, false).await;
    let seen = world.seen();
    let specs: Vec<_> =
        seen.iter().map(|seen| seen.review["request"]["object"]["spec"].to_string()).collect();
    assert_eq!(
        specs,
        [
            r#"{"n":1,"p":0}"#,
            r#"{"a":0,"n":1,"p":0}"#,
            r#"{"a":0,"b":0,"n":1,"p":1}"#,
            r#"{"a":1,"b":0,"n":1,"p":1}"#,
        ]
    );
    let uids: std::collections::BTreeSet<_> =
        seen.iter().map(|seen| seen.review["request"]["uid"].to_string()).collect();
    assert_eq!(uids.len(), 4);
    let object = outcome.result.unwrap().object.unwrap();
    assert_eq!(object["spec"].to_string(), r#"{"a":1,"b":1,"n":1,"p":1}"#);
}

/// Two webhooks that write the same field: the later one has the last word, in both rounds.
#[tokio::test]
async fn the_last_of_two_that_change_the_same_field_wins() {
    let script = |value: &'static str| -> Script {
        Box::new(move |request, _| {
            let patch = json!([{"op": "replace", "path": "/spec/n", "value": value}]);
            answer(AdmissionResponse::allow(request).patch(&patch))
        })
    };
    let world = World::new(vec![("a", script("a")), ("b", script("b"))]).await;
    let texts =
        [configuration("Mutating", "a", IF_NEEDED), configuration("Mutating", "b", IF_NEEDED)];
    let outcome =
        world.chain(&texts).run(create(), &RequestOptions::default(), |_, _| Ok(())).await;
    assert_eq!(outcome.result.unwrap().object.unwrap()["spec"]["n"], "b");
    assert_eq!((world.calls("a"), world.calls("b")), (2, 2));
}

/// Validating plugins and webhooks come behind the preparation, and see the final object (DI-03).
#[tokio::test]
async fn validation_sees_the_final_object() {
    struct Seen(Arc<Mutex<Vec<String>>>);
    impl Plugin for Seen {
        fn name(&self) -> &str {
            "Seen"
        }

        fn validate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
            self.0.lock().unwrap().push(request.object().unwrap()["spec"].to_string());
            Ok(())
        }
    }
    let world = World::new(vec![
        ("a", Box::new(|request, number| play(Changes, "a", request, number))),
        ("b", Box::new(|request, _| allow(request))),
    ])
    .await;
    let texts = [configuration("Mutating", "a", ""), configuration("Validating", "b", "")];
    let seen = Arc::new(Mutex::new(Vec::new()));
    let chain = world.chain(&texts).plugin(Seen(Arc::clone(&seen)));
    let outcome = chain
        .run(create(), &RequestOptions::default(), |request, warnings| {
            warnings.add("prepared");
            request.object.as_mut().unwrap()["spec"]["ready"] = true.into();
            Ok(())
        })
        .await;
    let object = outcome.result.unwrap().object.unwrap();
    let expected = r#"{"a":0,"n":1,"ready":true}"#;
    assert_eq!(object["spec"].to_string(), expected);
    assert_eq!(*seen.lock().unwrap(), [expected]);
    let reviews = world.seen();
    assert_eq!(reviews[1].review["request"]["object"]["spec"].to_string(), expected);
    assert_eq!(outcome.warnings.texts(), ["prepared"]);
}

/// A plugin behind the webhooks changes the object: only the repetition shows it to those that
/// want to be called again, and alone it causes none (DI-41, DI-46).
#[tokio::test]
async fn plugins_behind_the_webhooks_count_too() {
    struct Late(Effect);
    impl Plugin for Late {
        fn name(&self) -> &str {
            "Late"
        }

        fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
            if self.0 == Changes {
                request.object_mut().unwrap()["spec"]["late"] = request.is_reinvocation().into();
            }
            Ok(())
        }
    }
    // Without the late change, with one, and with nothing but one.
    for (late, first, calls) in
        [(Nothing, Changes, [1, 1]), (Changes, Changes, [2, 2]), (Changes, Nothing, [1, 1])]
    {
        let world = World::new(vec![
            ("a", Box::new(move |request, number| play(first, "a", request, number))),
            ("b", Box::new(|request, number| play(Nothing, "b", request, number))),
        ])
        .await;
        // Webhooks are called in the order of names, not in that in which they were added.
        let texts = ["b", "a"].map(|name| configuration("Mutating", name, IF_NEEDED));
        let chain = world.chain(&texts).late_plugin(Late(late));
        let outcome = chain.run(create(), &RequestOptions::default(), |_, _| Ok(())).await;
        assert!(outcome.result.is_ok());
        assert_eq!([world.calls("a"), world.calls("b")], calls, "{late:?} {first:?}");
        assert_eq!(world.seen()[0].path, "/a");
    }
}

/// A webhook whose failure is ignored has no output to be asked about again, nor has a deletion.
#[tokio::test]
async fn only_output_is_checked_for_idempotence() {
    for (effect, request, calls) in [
        (Fails, create(), 1),
        (Nothing, create(), 2),
        (Nothing, AdmissionAttributes::delete(kind(), resource(), object()), 1),
    ] {
        let script: Script = Box::new(move |request, number| play(effect, "a", request, number));
        let world = World::new(vec![("a", script)]).await;
        let chain = world.chain(&[configuration("Mutating", "a", "failurePolicy: Ignore")]);
        let options = RequestOptions::default().check_idempotence(true);
        let outcome = chain.run(request, &options, |_, _| Ok(())).await;
        assert!(outcome.result.is_ok());
        assert!(outcome.findings.is_empty());
        assert_eq!(world.calls("a"), calls, "{effect:?}");
    }
}

/// Webhooks of the same name in one configuration are told apart (DI-06).
#[tokio::test]
async fn webhooks_of_the_same_name() {
    let world = World::new(vec![
        ("a", Box::new(|request, number| play(Nothing, "a", request, number))),
        ("b", Box::new(|request, number| play(Changes, "b", request, number))),
    ])
    .await;
    let texts = ["a", "b"].map(|name| configuration("Mutating", name, IF_NEEDED));
    let mut configurations = world.configurations(&texts);
    let mut second = configurations[1].webhooks.remove(0);
    second.name = configurations[0].webhooks[0].name.clone();
    configurations[0].webhooks.push(second);
    let chain = world.chain(&[]).webhooks(&configurations);
    let outcome = chain.run(create(), &RequestOptions::default(), |_, _| Ok(())).await;
    assert!(outcome.result.is_ok());
    assert_eq!([world.calls("a"), world.calls("b")], [2, 1]);
}
