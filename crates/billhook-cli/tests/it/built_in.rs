//! Objects of built-in kinds, which need no definition (BK-01 to BK-06).

use billhook::KubernetesVersion;

use crate::support::{Scratch, cases, run, snapshot};

const GOOD: &str = "fixtures/manifests/good";

cases! {
    built_in_mistakes: "validate --format human fixtures/manifests/mistakes/web.yaml";
    built_in_mistakes_ignored: "validate --ignore-missing --format concise fixtures/manifests/mistakes/widget.yaml";
    built_in_update: "validate --format human --old fixtures/manifests/mistakes/old.yaml fixtures/manifests/mistakes/new.yaml";
    built_in_diff: "diff fixtures/manifests/mistakes/new.yaml fixtures/manifests/mistakes/old.yaml";
    built_in_diff_of_versions: "diff fixtures/manifests/versions/v2.yaml fixtures/manifests/versions/v1.yaml";
    built_in_diff_in_older_version: "diff fixtures/manifests/versions/v1.yaml fixtures/manifests/versions/v2.yaml";
    built_in_update_of_another_version: "validate --format concise --old fixtures/manifests/versions/v1.yaml fixtures/manifests/versions/v2.yaml";
    built_in_decode: "decode fixtures/manifests/mistakes/old.yaml";
    built_in_neat: "neat fixtures/manifests/mistakes/old.yaml";
    built_in_of_a_newer_server: "validate --kubernetes 1.33 -"
        < ["apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\nspec: {}\n"];
    built_in_diff_of_statuses: "diff - fixtures/manifests/statuses/live.yaml"
        < ["apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, \
            template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}]}]}}}\n"];
    built_in_of_an_older_server: "validate --kubernetes 1.32 --format concise -"
        < ["apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: a}\nspec: {cidrs: [10.0.0.0/8]}\n"];
}

/// Manifests as projects have them are valid on each server, and nothing is unknown in them.
#[test]
fn good_manifests_are_valid() {
    for version in KubernetesVersion::ALL {
        let found = run(&format!("validate --strict --kubernetes {version} --quiet {GOOD}"), "");
        let is_fine = found.contains("\nexit status: 0\n") && body(&found).is_empty();
        assert!(is_fine, "{version}: {found}");
    }
}

/// Neat manifests decode to the objects that they were made of.
#[test]
fn neat_manifests_decode_to_the_same() {
    let decoded = run(&format!("decode --quiet {GOOD}"), "");
    let neat = run(&format!("neat {GOOD}"), "");
    assert!(body(&neat).len() < body(&decoded).len());
    let scratch =
        Scratch::new("neat", &[("decoded.yaml", body(&decoded)), ("neat.yaml", body(&neat))]);
    let again = scratch.run("decode --quiet DIR/neat.yaml");
    let expected = scratch.run("decode --quiet DIR/decoded.yaml");
    assert_eq!(body(&again), body(&expected));
}

/// Servers answer with lists whose items do not say of which kind they are (BK-19).
#[test]
fn lists_of_a_kind() {
    let list = |text: &str| run("validate --strict --format concise -", text);
    let found = list(
        "apiVersion: apps/v1\nkind: DeploymentList\nmetadata: {resourceVersion: \"7\"}\nitems:\n\
         - metadata: {name: a}\n  sepc: {}\n- metadata: {name: b}\n  spec: {replicas: two}\n",
    );
    assert!(
        found.contains("<stdin>:6:3: error[RP-21] strict decoding error: unknown field \"sepc\""),
        "{found}"
    );
    assert!(found.contains("<stdin>:8:20: error[refused] Deployment in version \"v1\""), "{found}");
    let found = list("apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}]\n");
    assert!(found.contains("\nexit status: 0\n"), "{found}");
}

/// Up to 1.33 decoding writes a creation time that is not set, which no manifest has (KV-01).
#[test]
fn unset_times() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    for (version, is_written) in [("1.33", true), ("1.34", false)] {
        let formed = |command: &str| run(&format!("{command} --kubernetes {version} -"), object);
        let decoded = formed("decode");
        assert_eq!(body(&decoded).contains("\n  creationTimestamp: null\n"), is_written);
        assert_eq!(decoded.contains(": no changes"), !is_written, "{decoded}");
        assert!(!decoded.contains("null removed"), "{decoded}");
        for command in ["neat", "normalize"] {
            assert!(!formed(command).contains("creationTimestamp"), "{version} {command}");
        }
    }
}

/// The standard output of a command.
fn body(shown: &str) -> &str {
    let (_, printed) = shown.split_once("-- standard output\n").unwrap();
    printed.split_once("\n-- standard error").unwrap().0
}

/// An apply owns items of lists by the keys of the kind (BK-08), and defaults have no owner.
#[test]
fn applies_own_items_by_their_keys() {
    let shown = run("apply --manager me fixtures/manifests/mistakes/new.yaml", "");
    let (managed, rest) = shown.split_once("    manager: me").unwrap();
    assert!(managed.contains(r#""k:{\"name\":\"web\"}":"#), "{shown}");
    assert!(!managed.contains("f:imagePullPolicy"), "{shown}");
    assert!(rest.contains("imagePullPolicy: IfNotPresent"), "{shown}");
}

#[test]
fn misspelled_fields_are_renamed() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicsa: 2\n  \
        selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      \
        containers: [{name: a, image: a, imagePullPolcy: Always}]\n";
    let scratch = Scratch::new("renamed", &[("a.yaml", text)]);
    scratch.run("validate --fix DIR/a.yaml");
    snapshot!("built_in_fixed", scratch.text("a.yaml"));
}

/// BK-05, SA-90: owners of fields in another version of a built-in kind are found, with the ways out of the conflict.
#[test]
fn an_apply_in_another_version_conflicts() {
    const LIVE: &str = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n\
        metadata:\n  name: web\n  namespace: default\n  managedFields:\n  \
        - {manager: other, operation: Apply, apiVersion: autoscaling/v2, fieldsType: FieldsV1, \
        fieldsV1: {f:spec: {f:metrics: {}}}}\n\
        spec:\n  maxReplicas: 5\n  minReplicas: 1\n  \
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  metrics:\n  \
        - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}\n";
    let scratch = Scratch::new("other-version", &[("live.yaml", LIVE)]);
    let apply = |utilization: i64| {
        let configuration = format!(
            "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\n\
             spec:\n  maxReplicas: 5\n  targetCPUUtilizationPercentage: {utilization}\n  \
             scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}\n"
        );
        scratch.write("web.yaml", &configuration);
        scratch.run("apply --manager me --live DIR/live.yaml DIR/web.yaml")
    };
    let applied = apply(80);
    assert!(applied.contains("exit status: 0"), "{applied}");
    let refused = apply(70);
    let conflict = "Apply failed with 1 conflict: conflict with \"other\": .spec.metrics";
    assert!(
        refused.contains(conflict) && refused.contains("help: to take the fields over"),
        "{refused}"
    );
}
