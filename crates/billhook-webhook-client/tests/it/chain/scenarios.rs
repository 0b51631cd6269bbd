//! Reinvocation: what the scenarios of `fixtures/kep` leave open.

use super::world::cluster;
use std::sync::{Arc, Mutex};

use billhook::Status;
use billhook::webhook::AdmissionAttributes;
use billhook_admission::{AdmissionResponse, Plugin, PluginRequest, RequestOptions};
use serde_json::json;

use crate::chain::reinvocation::Effect::{Changes, Fails, Nothing};
use crate::chain::reinvocation::{Effect, Scripted, play};
use crate::chain::world::{
    Script, World, allow, answer, configuration, create, kind, object, resource,
};

const IF_NEEDED: &str = "reinvocationPolicy: IfNeeded";

/// Each webhook sees what those before it made, also of a plugin's second run; every call has a
/// UID of its own (DI-10, AR-10).
#[tokio::test]
async fn calls_build_on_one_another() {
    let script = |name: &'static str| -> Script {
        Box::new(move |request, number| play(Changes, name, request, number))
    };
    let world = World::new(vec![("a", script("a")), ("b", script("b"))]).await;
    let texts = ["a", "b"].map(|name| configuration("Mutating", name, IF_NEEDED));
    let chain = world.chain(&texts).plugin(Scripted::new(|_| Changes));
    let outcome = chain.run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
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
    let outcome = world
        .chain(&texts)
        .run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(()))
        .await;
    assert_eq!(outcome.result.unwrap().object.unwrap()["spec"]["n"], "b");
    assert_eq!((world.calls("a"), world.calls("b")), (2, 2));
}

/// Validating plugins and webhooks come after the preparation, and see the final object (DI-03).
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
        .run(create(), &cluster(), &RequestOptions::default(), |request, warnings| {
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

/// A plugin after the webhooks changes the object: only the repetition shows it to those that
/// want to be called again, and alone it causes none (DI-41, DI-46).
#[tokio::test]
async fn plugins_after_the_webhooks_count_too() {
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
        let outcome =
            chain.run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
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
        let outcome = chain.run(request, &cluster(), &options, |_, _| Ok(())).await;
        assert!(outcome.result.is_ok());
        assert!(outcome.findings.is_empty());
        assert_eq!(world.calls("a"), calls, "{effect:?}");
    }
}

/// Webhooks of the same name in one configuration are distinguished (DI-06).
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
    let outcome = chain.run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
    assert!(outcome.result.is_ok());
    assert_eq!([world.calls("a"), world.calls("b")], [2, 1]);
}
