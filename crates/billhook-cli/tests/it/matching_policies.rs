//! `billhook match --policies`: which policies and bindings apply, and why the others do not.

use crate::support::{cases, run, snapshot};

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
    match_unknown_policy: "match --policies - --explain taged fixtures/match/pod.yaml" < [CONDITION];
    match_no_policies: "match --policies fixtures/match/pod.yaml fixtures/match/pod.yaml";
}
