//! The traces of a request in the audit log and its answer: annotations (OB-30 to OB-39,
//! AR-90 to AR-93) and warnings (AR-80 to AR-86).

use super::world::cluster;
use billhook::webhook::AdmissionAttributes;
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, AuditLevel, ChainOutcome, RequestOptions,
};
use serde_json::json;

use crate::chain::world::{
    Act, Script, World, answer, configuration, create, kind, object, resource,
};
use crate::server::Reply;

async fn run(world: &World, texts: &[String], request: AdmissionAttributes) -> ChainOutcome {
    world.chain(texts).run(request, &cluster(), &RequestOptions::default(), |_, _| Ok(())).await
}

/// Key, value and level of all annotations.
fn all(outcome: &ChainOutcome) -> Vec<(&str, &str, AuditLevel)> {
    let annotations = outcome.annotations.iter();
    annotations.map(|(key, found)| (key, found.value.as_str(), found.level)).collect()
}

/// The example of section 2: the scenario DI-T4, with everything it leaves behind.
#[tokio::test]
async fn two_webhooks_in_two_rounds() {
    let changing = |name: &'static str, empty: bool| -> Script {
        Box::new(move |request, number| {
            let patch = match number {
                0 => json!([{"value": "<a> & b", "path": format!("/spec/{name}"), "op": "add"}]),
                _ if empty => json!([]),
                _ => json!([{"op": "test", "path": "/spec/n", "value": 1}]),
            };
            answer(AdmissionResponse::allow(request).patch(&patch))
        })
    };
    for empty in [true, false] {
        let world =
            World::new(vec![("a", changing("a", empty)), ("b", changing("b", empty))]).await;
        let texts =
            ["b", "a"].map(|name| configuration("Mutating", name, "reinvocationPolicy: IfNeeded"));
        let outcome = run(&world, &texts, create()).await;
        let mutation = "mutation.webhook.admission.k8s.io";
        let patch = "patch.webhook.admission.k8s.io";
        let mutated = |name: &str, mutated: bool| {
            format!(
                "{{\"configuration\":\"{name}\",\"webhook\":\"{name}.example.com\",\"mutated\":{mutated}}}"
            )
        };
        let patched = |name: &str, patch: &str| {
            format!(
                "{{\"configuration\":\"{name}\",\"webhook\":\"{name}.example.com\",\"patch\":[{patch}],\"patchType\":\"JSONPatch\"}}"
            )
        };
        let add = |name: &str| {
            format!(
                "{{\"op\":\"add\",\"path\":\"/spec/{name}\",\"value\":\"\\u003ca\\u003e \\u0026 b\"}}"
            )
        };
        let mut expected = vec![
            (format!("{mutation}/round_0_index_0"), mutated("a", true), AuditLevel::Metadata),
            (format!("{mutation}/round_0_index_1"), mutated("b", true), AuditLevel::Metadata),
            (format!("{mutation}/round_1_index_0"), mutated("a", false), AuditLevel::Metadata),
            (format!("{patch}/round_0_index_0"), patched("a", &add("a")), AuditLevel::Request),
            (format!("{patch}/round_0_index_1"), patched("b", &add("b")), AuditLevel::Request),
        ];
        // Only a patch that is not empty is noted, even if it changes nothing.
        if !empty {
            let test = "{\"op\":\"test\",\"path\":\"/spec/n\",\"value\":1}";
            let value = patched("a", test);
            expected.push((format!("{patch}/round_1_index_0"), value, AuditLevel::Request));
        }
        let found: Vec<_> = all(&outcome)
            .into_iter()
            .map(|(key, value, level)| (key.to_owned(), value.to_owned(), level))
            .collect();
        assert_eq!(found, expected);
    }
}

/// Each call of a mutating webhook has its annotation, also one that is refused or fails (OB-31,
/// DI-80).
#[tokio::test]
async fn every_mutating_call_is_noted() {
    let dry = || create().dry_run(true);
    let delete = || AdmissionAttributes::delete(kind(), resource(), object());
    let patch = |request: &AdmissionRequest, path: &str| {
        let patch = json!([{"op": "remove", "path": path}]);
        answer(AdmissionResponse::allow(request).patch(&patch))
    };
    type Case = (&'static str, &'static str, Script, AdmissionAttributes, bool);
    let cases: Vec<Case> = vec![
        ("denied", "", Box::new(|r, _| answer(AdmissionResponse::deny(r, "no"))), create(), false),
        ("dry run", "sideEffects: Some", Box::new(|_, _| Act::Close), dry(), false),
        ("no side effects named", "sideEffects:", Box::new(|_, _| Act::Close), dry(), false),
        ("broken patch", "", Box::new(move |r, _| patch(r, "/nothing")), create(), false),
        ("patch on deletion", "", Box::new(move |r, _| patch(r, "/spec")), delete(), false),
        (
            "unknown review",
            "admissionReviewVersions: [v7]",
            Box::new(|_, _| Act::Close),
            create(),
            false,
        ),
        ("patched", "", Box::new(move |r, _| patch(r, "/spec/n")), create(), true),
    ];
    for (name, more, script, request, mutated) in cases {
        let world = World::new(vec![("a", script)]).await;
        let outcome = run(&world, &[configuration("Mutating", "a", more)], request).await;
        let value = format!(
            "{{\"configuration\":\"a\",\"webhook\":\"a.example.com\",\"mutated\":{mutated}}}"
        );
        let key = "mutation.webhook.admission.k8s.io/round_0_index_0";
        assert_eq!(outcome.annotations.get(key).unwrap().value, value, "{name}");
        assert_eq!(outcome.result.is_ok(), mutated, "{name}");
        let patch = "patch.webhook.admission.k8s.io/round_0_index_0";
        assert_eq!(outcome.annotations.get(patch).is_some(), mutated, "{name}");
    }
}

/// Annotations of answers keep their first value: of a webhook that is called again, of one with
/// the same name, and of the two stages, which keep records of their own (AR-91, AR-92).
#[tokio::test]
async fn the_first_value_stays() {
    let annotating = |name: &'static str, change: bool| -> Script {
        Box::new(move |request, number| {
            let mut response = AdmissionResponse::allow(request);
            response.audit_annotations.insert("k".to_owned(), format!("{name}{number}"));
            response.audit_annotations.insert("same".to_owned(), "s".to_owned());
            response.audit_annotations.insert(format!("only-{name}"), number.to_string());
            response.warnings = vec!["common".to_owned(), format!("{name}{number}")];
            let patch = json!([{"op": "add", "path": format!("/spec/{name}"), "value": number}]);
            answer(if change { response.patch(&patch) } else { response })
        })
    };
    let world = World::new(vec![
        ("a", annotating("a", true)),
        ("b", annotating("b", true)),
        ("c", annotating("c", false)),
    ])
    .await;
    let same_name = |text: String| text.replace("c.example.com", "a.example.com");
    let texts = [
        configuration("Mutating", "a", "reinvocationPolicy: IfNeeded"),
        configuration("Mutating", "b", ""),
        same_name(configuration("Validating", "c", "")),
    ];
    let outcome = run(&world, &texts, create()).await;
    assert!(outcome.result.is_ok());
    let found: Vec<(&str, &str)> = all(&outcome)
        .into_iter()
        .filter(|(key, ..)| !key.contains("admission.k8s.io"))
        .map(|(key, value, level)| {
            assert_eq!(level, AuditLevel::Metadata);
            (key, value)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("a.example.com/k", "a0"),
            ("a.example.com/only-a", "0"),
            ("a.example.com/only-c", "0"),
            ("a.example.com/same", "s"),
            ("b.example.com/k", "b0"),
            ("b.example.com/only-b", "0"),
            ("b.example.com/same", "s"),
        ]
    );
    // Two values of the second call were refused; what the other stage says is not an attempt to
    // overwrite.
    let refused = |key: &str, old: &str, new: &str| {
        format!(
            "admission annotations are not allowd to be overwritten, \
             key:\"a.example.com/{key}\", old value: {old}, new value: {new}"
        )
    };
    assert_eq!(
        outcome.annotations.refused(),
        [refused("k", "a0", "a1"), refused("only-a", "0", "1")]
    );
    // One recorder for all webhooks and both stages, each text once (AR-82).
    assert_eq!(outcome.warnings.texts(), ["common", "a0", "b0", "a1", "c0"]);
}

/// Annotations and warnings stay when the stage fails, those of the first stage too (OB-39).
#[tokio::test]
async fn a_failure_keeps_what_was_noted() {
    let warning = |name: &'static str, allowed: bool| -> Script {
        Box::new(move |request, _| {
            let mut response = AdmissionResponse::allow(request);
            response.allowed = allowed;
            response.warnings = vec![name.to_owned()];
            response.audit_annotations.insert("k".to_owned(), name.to_owned());
            answer(response)
        })
    };
    let world = World::new(vec![("a", warning("a", true)), ("b", warning("b", false))]).await;
    let texts = [configuration("Mutating", "a", ""), configuration("Validating", "b", "")];
    let outcome = run(&world, &texts, create()).await;
    assert!(outcome.result.is_err());
    assert_eq!(outcome.warnings.texts(), ["a", "b"]);
    let keys: Vec<_> = outcome.annotations.iter().map(|(key, _)| key).collect();
    let mutation = "mutation.webhook.admission.k8s.io/round_0_index_0";
    assert_eq!(keys, ["a.example.com/k", "b.example.com/k", mutation]);
}

/// Invalid UTF-8 in a warning is replaced when the answer is read, as the server's decoder does,
/// so that it is not a reason to drop the text (AR-83).
#[tokio::test]
async fn warnings_are_text() {
    let script: Script = Box::new(|request, _| {
        let start = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{}","allowed":true,"warnings":["a"#,
            request.uid
        );
        let mut body = start.into_bytes();
        body.push(0xff);
        body.extend_from_slice(br#"","b\u0085","c","c"]}}"#);
        Act::Reply(Reply::json(body))
    });
    let world = World::new(vec![("a", script)]).await;
    let outcome = run(&world, &[configuration("Validating", "a", "")], create()).await;
    assert_eq!(outcome.warnings.texts(), ["a\u{fffd}", "c"]);
}

/// Annotations and warnings of an answer are noted before its patch is looked at (AR-93).
#[tokio::test]
async fn a_broken_patch_does_not_silence_the_rest() {
    let script: Script = Box::new(|request, _| {
        let patch = json!([{"op": "remove", "path": "/nothing"}]);
        let response = AdmissionResponse::allow(request).patch(&patch);
        answer(response.warning("mind you").audit_annotation("k", "v"))
    });
    let world = World::new(vec![("a", script)]).await;
    let outcome = run(&world, &[configuration("Mutating", "a", "")], create()).await;
    assert!(outcome.result.is_err());
    assert_eq!(outcome.warnings.texts(), ["mind you"]);
    assert_eq!(outcome.annotations.get("a.example.com/k").unwrap().value, "v");
}

/// The changes that count (DI-33): null equals the empty list and the empty map, an integer is
/// no float, and the order of members does not matter.
#[tokio::test]
async fn changes_are_semantic() {
    let start = json!({
        "apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"list": [], "map": {}, "null": null, "n": 1, "both": {"a": 1, "b": [null]}},
    });
    for (path, value, expected) in [
        ("/spec/list", json!(null), false),
        ("/spec/map", json!(null), false),
        ("/spec/null", json!([]), false),
        ("/spec/null", json!({}), false),
        ("/spec/null", json!(""), true),
        ("/spec/null", json!(0), true),
        ("/spec/list", json!({}), true),
        ("/spec/list", json!([null]), true),
        ("/spec/n", json!(1), false),
        ("/spec/n", json!(1.0), true),
        ("/spec/n", json!("1"), true),
        ("/spec/both", json!({"b": [[]], "a": 1}), false),
        ("/spec/both", json!({"a": 1}), true),
        ("/spec/new", json!(null), true),
    ] {
        let patch = json!([{"op": "add", "path": path, "value": value}]);
        let script: Script = Box::new(move |request, _| {
            let mut response = AdmissionResponse::allow(request).patch(&patch);
            // As it stands, with the fraction of whole floats.
            response.patch = patch.to_string().into_bytes();
            answer(response)
        });
        let world = World::new(vec![("a", script)]).await;
        let request = AdmissionAttributes::create(kind(), resource(), start.clone());
        let outcome = run(&world, &[configuration("Mutating", "a", "")], request).await;
        let key = "mutation.webhook.admission.k8s.io/round_0_index_0";
        let mutated = &outcome.annotations.get(key).unwrap().value;
        assert_eq!(mutated.contains("\"mutated\":true"), expected, "{path} {value}");
        // The value is set all the same.
        let object = outcome.result.unwrap().object.unwrap();
        assert_eq!(object.pointer(path), Some(&value));
    }
}
