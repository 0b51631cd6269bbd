//! `billhook match`, and `billhook check` of webhook configurations, on the fixtures: exit status,
//! standard output and standard error, compared with snapshots. All paths are relative to the root
//! of the workspace.

use crate::support::{cases, report_snapshots, run, run_with, snapshot};

cases! {
    match_pod: "match --webhooks fixtures/match/webhooks.yaml --namespace-labels fixtures/match/namespaces.yaml fixtures/match/pod.yaml";
    match_objects: "match --webhooks fixtures/match/webhooks.yaml --namespace-labels shop:sidecars=enabled,tier= --crd fixtures/crds fixtures/match/pod.yaml fixtures/match/node.yaml fixtures/objects/stack-clean.json";
    match_review: "match --webhooks fixtures/match --crd fixtures/crds --request fixtures/match/review.json";
    match_delete: "match --webhooks fixtures/match/webhooks.yaml --operation delete fixtures/match/pod.yaml";
    match_connect: "match --webhooks fixtures/match/webhooks.yaml --operation connect --subresource exec fixtures/match/pod.yaml";
    match_connect_to_a_kind_without_labels: "match --webhooks - --operation connect --subresource exec --namespace-labels shop:a=b fixtures/match/pod.yaml"
        < [WEBHOOKS.replace("SELECTOR", "{matchLabels: {app: web}}").replace("CREATE", "CONNECT").replace("[pods]", "[pods/exec]")];
    match_no_such_subresource: "match --webhooks fixtures/match/webhooks.yaml --operation update --subresource Status fixtures/match/pod.yaml";
    match_ignored: "match --webhooks - --allow get --namespace-labels shop:a=b fixtures/match/pod.yaml"
        < [ASKS.replace("object.kind == \"Pod\"", "object.none == 1").replace("sideEffects", "failurePolicy: Ignore\n  sideEffects")];
    match_assumed_namespace: "match --webhooks fixtures/match/webhooks.yaml fixtures/match/pod.yaml";
    match_assumed_namespaces: "match --webhooks fixtures/match/webhooks.yaml --crd fixtures/crds --explain cluster.policy.example.com fixtures/match/pod.yaml fixtures/objects/stack-v1beta1.yaml";
    match_exempt: "match --webhooks fixtures/match/webhooks.yaml fixtures/match/webhooks.yaml";

    // Why isn't it called?
    why_scope: "match --webhooks fixtures/match/webhooks.yaml --explain cluster.policy.example.com fixtures/match/pod.yaml";
    why_subresource: "match --webhooks fixtures/match/webhooks.yaml --explain policy/pods.policy.example.com --operation update --subresource status fixtures/match/pod.yaml";
    why_namespace_label: "match --webhooks fixtures/match/webhooks.yaml --explain inject.sidecars.example.com --namespace-labels fixtures/match/namespaces.yaml -"
        < ["apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: trial}\n"];
    why_object_label: "match --webhooks fixtures/match/webhooks.yaml --explain opt-in.sidecars.example.com fixtures/match/pod.yaml";
    why_version: "match --webhooks fixtures/match/webhooks.yaml --explain stacks.policy.example.com --crd fixtures/crds --operation update fixtures/objects/stack-v1beta1.yaml";
    why_condition: "match --webhooks fixtures/match/webhooks.yaml --explain humans.policy.example.com --group system:nodes fixtures/match/pod.yaml";
    why_undecided: "match --webhooks - --explain asks.example.com fixtures/match/pod.yaml"
        < [ASKS];
    why_allowed: "match --webhooks - --explain asks.example.com --allow breakglass:pods fixtures/match/pod.yaml"
        < [ASKS];
    why_allowed_everything: "match --webhooks - --explain asks.example.com --allow *:pods fixtures/match/pod.yaml"
        < [ASKS];
    why_denied: "match --webhooks - --explain asks.example.com --allow breakglass:pods.apps fixtures/match/pod.yaml"
        < [ASKS];
    match_bad_allow: "match --webhooks - --allow breakglass: fixtures/match/pod.yaml"
        < [ASKS];

    why_beside_one_that_refuses: "match --webhooks - --explain fine.example.com --allow get --namespace-labels shop: fixtures/match/pod.yaml"
        < [format!("{}---\n{}", ASKS.replace("object.kind == \"Pod\"", "object.none == 1"), ASKS.replace("asks", "fine"))];
    match_update_of_labels: "match --webhooks fixtures/match/webhooks.yaml --namespace-labels shop:sidecars=enabled --old - fixtures/match/pod.yaml"
        < [OLD_POD];
    match_update_of_another: "match --webhooks fixtures/match/webhooks.yaml --operation update --old - fixtures/match/pod.yaml"
        < [OLD_POD.replace("name: web", "name: other")];
    match_refused: "match --webhooks - fixtures/match/pod.yaml"
        < [WEBHOOKS.replace("SELECTOR", "{matchExpressions: [{key: a, operator: Like}]}")];
    match_refused_json: "match --report json --webhooks - fixtures/match/pod.yaml"
        < [WEBHOOKS.replace("SELECTOR", "{matchExpressions: [{key: a, operator: Like}]}")];
    match_refused_human: "match --format human --webhooks - fixtures/match/pod.yaml"
        < [WEBHOOKS.replace("SELECTOR", "{matchExpressions: [{key: a, operator: Like}]}")];
    match_refused_ndjson: "match --format ndjson --webhooks - fixtures/match/pod.yaml"
        < [WEBHOOKS.replace("SELECTOR", "{matchExpressions: [{key: a, operator: Like}]}")];
    match_refused_status: "match --format status --webhooks - fixtures/match/pod.yaml"
        < [WEBHOOKS.replace("SELECTOR", "{matchExpressions: [{key: a, operator: Like}]}")];
    match_ignored_concise: "match --format concise --webhooks - --allow get --namespace-labels shop:a=b fixtures/match/pod.yaml"
        < [ASKS.replace("object.kind == \"Pod\"", "object.none == 1").replace("sideEffects", "failurePolicy: Ignore\n  sideEffects")];
    match_unknown_kind_json: "match --format json --webhooks fixtures/match/webhooks.yaml fixtures/objects/backup-clean.json";
    match_unreadable_configuration: "match --webhooks - fixtures/match/pod.yaml"
        < [WEBHOOKS.replace("SELECTOR", "[]")];
    match_unknown_webhook: "match --webhooks fixtures/match/webhooks.yaml --explain policy fixtures/match/pod.yaml";
    match_unknown_kind: "match --webhooks fixtures/match/webhooks.yaml fixtures/objects/backup-clean.json";
    match_kind_of_a_newer_server: "match --kubernetes 1.33 --webhooks fixtures/match/webhooks.yaml -"
        < ["apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\n"];
    match_unknown_version: "match --webhooks fixtures/match/webhooks.yaml --crd fixtures/crds -"
        < ["apiVersion: data.example.com/v9\nkind: Backup\n"];
    match_no_webhooks: "match --webhooks fixtures/objects fixtures/match/pod.yaml";
    match_no_objects: "match --webhooks fixtures/match/webhooks.yaml fixtures/crds";
    match_nothing: "match --webhooks fixtures/match/webhooks.yaml";
    match_no_review: "match --webhooks fixtures/match/webhooks.yaml --request fixtures/match/pod.yaml";
    match_labels_malformed: "match --webhooks fixtures/match/webhooks.yaml --namespace-labels shop:a!=b --namespace-labels shop:=b --namespace-labels fixtures/match/pod.yaml fixtures/match/pod.yaml";
    match_connect_to_nothing: "match --webhooks fixtures/match/webhooks.yaml --operation connect fixtures/match/pod.yaml";
    match_old_on_create: "match --webhooks fixtures/match/webhooks.yaml --operation create --old fixtures/match/pod.yaml fixtures/match/pod.yaml";
    help_match: "match --help";

    check_webhooks: "check fixtures/match/webhooks.yaml fixtures/broken-webhooks";
    check_webhooks_strict: "check --field-validation strict fixtures/broken-webhooks";
    check_webhooks_unreadable: "check -" < [WEBHOOKS.replace("SELECTOR", "[]")];
    check_webhooks_of_another_version: "check -" < [WEBHOOKS.replace("v1beta1", "v2")];
    check_webhooks_of_old_version: "check -" < [WEBHOOKS.replace("SELECTOR", "{}")];
    check_webhooks_update: "check --old - fixtures/broken-webhooks"
        < [STORED];
}

const OLD_POD: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  labels: {sidecars.example.com/inject: 'true'}
";

/// A condition that asks an authorizer.
const ASKS: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: asks}
webhooks:
- name: asks.example.com
  clientConfig: {url: 'https://h/'}
  rules:
  - {operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}
  matchConditions:
  - {name: cheap, expression: 'object.kind == \"Pod\"'}
  - {name: not-exempt, expression: '!authorizer.requestResource.check(\"breakglass\").allowed()'}
  sideEffects: None
  admissionReviewVersions: [v1]
";

const WEBHOOKS: &str = "\
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingWebhookConfiguration
metadata: {name: broken}
webhooks:
- name: broken.example.com
  clientConfig: {url: 'https://h/'}
  objectSelector: SELECTOR
  rules:
  - {operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}
  timeout: 5
";

/// Fields that are wrong already may stay wrong: the versions and the missing side effects.
const STORED: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: broken, resourceVersion: '7'}
webhooks:
- name: first.example.com
  clientConfig: {url: 'https://h/'}
  admissionReviewVersions: [v3]
";

/// Names of webhooks and configurations cannot move the cursor.
#[test]
fn match_control_characters() {
    let webhooks = WEBHOOKS
        .replace("SELECTOR", "{}")
        .replace("broken.example.com", "\"\\e[2J.example.com\"")
        .replace("{name: broken}", "{name: \"a\\nb\"}");
    let shown = run("match --webhooks - fixtures/match/pod.yaml", &webhooks);
    assert!(!shown.contains('\x1b'));
    snapshot!("match_control_characters", shown);
}

#[test]
fn match_colours() {
    let args = "match --webhooks fixtures/match/webhooks.yaml fixtures/match/pod.yaml";
    let shown = run_with(args, b"", &[("CLICOLOR_FORCE", "1")]);
    snapshot!("match_colours", shown.replace('\x1b', "ESC"));
}

#[test]
fn match_json_report() {
    let shown = run(
        "match --webhooks fixtures/match/webhooks.yaml --crd fixtures/crds --request \
         fixtures/match/review.json --report json",
        "",
    );
    report_snapshots!("match_json_report", 8, shown);
}

#[test]
fn check_webhooks_json_report() {
    let args = "check --report json fixtures/match fixtures/broken-webhooks/webhooks.yaml";
    report_snapshots!("check_webhooks_json_report", 4, run(args, ""));
}
