//! `billhook match --policies`: which policies and bindings apply, and why the others do not.

use crate::support::{Scratch, cases, run, snapshot};

const CONDITION: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: tagged}
spec:
  matchConstraints:
    resourceRules:
    - {operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}
  matchConditions:
  - name: untagged
    expression: object.spec.containers.exists(c, !c.image.contains(':'))
  validations:
  - expression: 'false'
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: tagged, validationActions: [Deny]}
";

cases! {
    match_policies: "match --policies fixtures/policies --crd fixtures/policies --namespace-labels shop:env=test fixtures/match/pod.yaml";
    match_policies_and_webhooks: "match --policies - --webhooks fixtures/match/webhooks.yaml --namespace-labels fixtures/match/namespaces.yaml fixtures/match/pod.yaml"
        < [CONDITION];
    match_policy_explained: "match --policies - --explain tagged/everywhere fixtures/match/pod.yaml"
        < [CONDITION];
    match_policies_json: "match --policies - --report json --namespace-labels shop: fixtures/match/pod.yaml"
        < [CONDITION];
    match_policy_fails: "match --policies - --namespace-labels shop: fixtures/match/pod.yaml"
        < [CONDITION.replace("object.spec.containers.exists", "object.spec.pods.exists")];
    match_definition_among_policies: "match --policies fixtures/policies/databases.yaml --policies fixtures/policies/quota/policy.yaml --namespace shop --namespace-labels shop: -"
        < ["apiVersion: example.com/v1\nkind: Database\nmetadata: {name: a}"];
    match_excluded_explained: "match --policies fixtures/policies/no-latest-tag/policy.yaml --explain no-latest-tag --namespace-labels default: -"
        < ["apiVersion: v1\nkind: Pod\nmetadata: {name: debug}\nspec: {containers: [{name: a, image: b}]}"];
    match_unknown_policy: "match --policies - --explain taged fixtures/match/pod.yaml" < [CONDITION];
    match_no_policies: "match --policies fixtures/match/pod.yaml fixtures/match/pod.yaml";
}

#[test]
fn objects_of_built_in_kinds_have_their_defaults() {
    let policy = CONDITION.replace(
        "object.spec.containers.exists(c, !c.image.contains(':'))",
        "object.spec.restartPolicy == 'Always' && object.spec.containers.all(c, has(c.imagePullPolicy))",
    );
    let shown = run("match --policies - --namespace-labels shop: fixtures/match/pod.yaml", &policy);
    assert!(shown.contains("applies         tagged/everywhere"), "{shown}");
}

#[test]
fn objects_of_built_in_kinds_have_their_types() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: 1}]}";
    let files = [("policy.yaml", CONDITION), ("pod.yaml", pod)];
    let scratch = Scratch::new("match-types", &files);
    let shown = scratch.run("match --policies DIR/policy.yaml DIR/pod.yaml");
    let text = "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go \
                struct field Container.spec.containers.name of type string";
    assert!(shown.contains("exit status: 1") && shown.contains(text), "{shown}");
}
