//! Reinvocation: the scenarios of KEP-492 and further ones, DI-T1 to DI-T15 (`fixtures/kep`).

use super::world::cluster;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use billhook::Status;
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, ChainOutcome, Plugin, PluginRequest, RequestOptions,
};
use billhook_testing::fixtures;
use serde_json::{Value, json};

use crate::chain::world::{Act, Script, World, answer, configuration, create};
use crate::server::Reply;

/// The action of a webhook or plugin that is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
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

impl Effect {
    fn named(name: &str) -> Effect {
        match name {
            "changes" => Changes,
            "nothing" => Nothing,
            "sends a patch without effect" => NoOpPatch,
            "labels" => Labels,
            "fails" => Fails,
            other => panic!("unknown effect `{other}`"),
        }
    }
}

/// The plugin P: what it does in each run.
pub(crate) struct Scripted<F> {
    effect: F,
    runs: AtomicUsize,
}

impl<F: Fn(usize) -> Effect> Scripted<F> {
    pub(crate) fn new(effect: F) -> Self {
        Scripted { effect, runs: AtomicUsize::new(0) }
    }
}

impl<F: Fn(usize) -> Effect + Send + Sync> Plugin for Scripted<F> {
    fn name(&self) -> &str {
        "P"
    }

    fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        assert_eq!(request.is_reinvocation(), run > 0);
        match (self.effect)(run) {
            Changes => request.object_mut().unwrap()["spec"]["p"] = run.into(),
            Fails => return Err(Status::failure(403, "Forbidden", "P refuses")),
            _ => {}
        }
        Ok(())
    }
}

/// The answer of the webhook `name` to its call `number`.
pub(crate) fn play(effect: Effect, name: &str, request: &AdmissionRequest, number: usize) -> Act {
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

/// The only member of an object.
fn only_member(object: &Value) -> (&str, &Value) {
    let (name, value) = object.as_object().unwrap().iter().next().unwrap();
    (name, value)
}

/// Plays the calls that a scenario expects, in their order, and writes down who is called.
#[derive(Clone)]
struct Play {
    expected: Arc<Value>,
    called: Arc<Mutex<Vec<String>>>,
}

impl Play {
    /// Writes a call down; one that is not expected changes nothing.
    fn call(&self, name: &str) -> Effect {
        let mut called = self.called.lock().unwrap();
        called.push(name.to_owned());
        let expected = self.expected["calls"].get(called.len() - 1).map(only_member);
        let expected = expected.filter(|(expected, _)| *expected == name);
        expected.map_or(Nothing, |(_, effect)| Effect::named(effect.as_str().unwrap()))
    }
}

async fn run(scenario: &Value, trace: bool) -> (ChainOutcome, Vec<String>) {
    let play_of = Play { expected: Arc::new(scenario.clone()), called: Arc::default() };
    let (mut scripts, mut configurations) = (Vec::new(), Vec::new());
    for webhook in scenario["webhooks"].as_array().unwrap() {
        let (name, fields) = only_member(webhook);
        let fields = fields.as_object().unwrap().iter();
        let fields: Vec<String> =
            fields.map(|(field, value)| format!("{field}: {value}")).collect();
        configurations.push(configuration("Mutating", name, &fields.join("\n")));
        let name = ["a", "b", "c"].into_iter().find(|known| *known == name).unwrap();
        let play_of = play_of.clone();
        let script: Script =
            Box::new(move |request, number| play(play_of.call(name), name, request, number));
        scripts.push((name, script));
    }
    let world = World::new(scripts).await;
    let plugin = play_of.clone();
    let chain = world.chain(&configurations).plugin(Scripted::new(move |_| plugin.call("P")));
    let options = RequestOptions::default().trace(trace);
    let outcome = chain.run(create(), &cluster(), &options, |_, _| Ok(())).await;
    let called = play_of.called.lock().unwrap().clone();
    (outcome, called)
}

/// The annotations of an outcome, in the form of the scenarios.
fn annotations(outcome: &ChainOutcome) -> Value {
    let mut found = Vec::new();
    for (key, annotation) in outcome.annotations.iter() {
        let Some(place) = key.strip_prefix("mutation.webhook.admission.k8s.io/") else { continue };
        let value: Value = serde_json::from_str(&annotation.value).unwrap();
        let name = value["configuration"].as_str().unwrap();
        assert_eq!(value["webhook"], format!("{name}.example.com"));
        let patch = outcome.annotations.get(&format!("patch.webhook.admission.k8s.io/{place}"));
        let (round, index) = place.strip_prefix("round_").unwrap().split_once("_index_").unwrap();
        let number = |text: &str| text.parse::<u64>().unwrap();
        found.push(json!({
            "round": number(round),
            "index": number(index),
            "configuration": name,
            "mutated": value["mutated"],
            "patch": patch.is_some(),
        }));
    }
    Value::from(found)
}

#[tokio::test]
async fn scenarios() {
    let scenarios = fixtures::examples("kep", "reinvocation-");
    assert_eq!(scenarios.len(), 15);
    for (name, scenario) in scenarios {
        assert_eq!(scenario["request"]["spec"], create().object.unwrap()["spec"], "{name}");
        // A trace looks at webhooks that are otherwise left out at once.
        for trace in [false, true] {
            let name = format!("{name}, trace {trace}");
            let (outcome, called) = run(&scenario, trace).await;
            let expected = scenario["calls"].as_array().unwrap().iter();
            let expected: Vec<&str> = expected.map(|call| only_member(call).0).collect();
            assert_eq!(called, expected, "{name}: calls");
            assert_eq!(annotations(&outcome), scenario["annotations"], "{name}: annotations");
            match &outcome.result {
                Ok(admitted) => {
                    let object = admitted.object.as_ref().unwrap();
                    assert_eq!(object["spec"], scenario["spec"], "{name}");
                }
                Err(status) => assert_eq!(status.message, scenario["error"], "{name}"),
            }
            assert_eq!(outcome.result.is_err(), scenario.get("error").is_some(), "{name}");
        }
    }
}
