//! `billhook check` on the fixtures and on definitions with mistakes.

use crate::support::{cases, run, run_with, snapshot};

cases! {
    check_crds: "check fixtures/crds";
    check_broken: "check fixtures/broken-crds";
    check_broken_strict: "check --field-validation strict fixtures/broken-crds/field-in-the-wrong-place.yaml";
    check_answers: "check --format status fixtures/broken-crds/missing-type.yaml fixtures/crds";
    check_broken_json: "check --report json fixtures/broken-crds/default-with-unknown-field.yaml fixtures/broken-crds/keyword-of-another-draft.yaml nope.yaml";
    check_update: "check --old fixtures/crds -"
        < [SMALL.replace("name: v1", "name: v2").replace("group: data.example.com", "group: x.org")];
    check_accepted_update: "check --old - fixtures/crds/backups.data.example.com.yaml" < [SMALL];
    check_update_of_another: "check --old fixtures/crds fixtures/broken-crds/missing-type.yaml";
    check_rules_and_formats: "check -" < [SMALL.replace("{type: object}", RULES)];
    check_rules_json: "check --report json -" < [SMALL.replace("{type: object}", RULES)];
    check_unusable_parts: "check -" < [SMALL.replace("{type: object}", "{type: object, properties: {spec: {type: object, properties: {mode: {type: string, enum: [full, incremental], maxLength: 5}}}}}")];
    check_missing_bounds: "check -" < [SMALL.replace("{type: object}", "{type: object, properties: {hosts: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, x == y))'}]}}}")];
    check_twice_written: "check -" < [SMALL.replace("served: true", "served: true, served: true")];
    check_old_version: "check -" < [SMALL.replace("io/v1", "io/v1beta1")];
    check_nothing: "check fixtures/objects";
    check_not_text: "check -" < ["a: [1"];
    check_stdin_twice: "check --old - -";
    check_policies: "check fixtures/policies";
    check_policy: "check -" < [POLICY];
    check_policy_json: "check --report json -" < [POLICY];
    check_policy_refused: "check -" < [POLICY.replace("object.spec.sise", "objekt.spec.size").replace("failurePolicy", "failPolicy")];
    check_policy_answer: "check --format status -" < [POLICY.replace("object.spec.sise", "objekt.spec.size")];
    check_policy_of_pods: "check -" < [POLICY.replace("[example.com], apiVersions: [v1], resources: [widgets]", "[''], apiVersions: [v1], resources: [pods]")];
    check_policy_update: "check --old fixtures/policies/quota -" < [POLICY.replace("name: size}", "name: database-quota}")];
    check_policy_old_version: "check -" < [POLICY.replace("k8s.io/v1\n", "k8s.io/v0\n")];
    check_policy_unusable: "check -" < [POLICY.replace("validations:", "variables: 3\n  validations:")];
    check_policy_versions: "check --kubernetes 1.35..1.36 -" < [POLICY];
    check_policy_too_new: "check --kubernetes 1.35 -" < [POLICY.replace("kind: Validating", "kind: Mutating")];
    check_policy_advice: "check -" < [[POLICY, LIMIT].concat()
        .replace("{type: integer}", "{type: integer, minimum: 0}, names: {type: array, items: {type: string}}")
        .replace("object.spec.sise < 5", "object.spec.size >= 0")
        .replace("1 < 2", "object.spec.names.all(name, name.size() < params.max)")
        .replace("failurePolicy: Ignore", "paramKind: {apiVersion: v1, kind: Limit}")
        .replace("policyName: shape", "policyName: size, paramRef: {name: low, parameterNotFoundAction: Deny}")];
    help_check: "check --help";
}

const POLICY: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {size: {type: integer}}}}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: size}
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules:
    - {operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}
  validations:
  - expression: object.spec.sise < 5
  - expression: 1 < 2
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: shape}
spec: {policyName: shape, validationActions: [Deny]}
";

const LIMIT: &str = "---\n{apiVersion: v1, kind: Limit, metadata: {name: high}, max: 9}\n";

const SMALL: &str = "\
apiVersion: v1
kind: ConfigMap
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.data.example.com}
spec:
  group: data.example.com
  scope: Namespaced
  names: {plural: backups, kind: Backup}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
      type: object, properties: {spec: {type: object}}}}}
";

const RULES: &str = "{type: object, properties: {at: {type: string, format: moment}}, \
     x-kubernetes-validations: [{rule: 'has(self.at)'}, {rule: 'true'}]}";

/// Names that try to move the cursor.
#[test]
fn control_characters() {
    let text = SMALL.replace("plural: backups", "plural: \"\\e[2J\\n\"");
    let shown = run_with("check -", text.as_bytes(), &[]);
    assert!(!shown.contains('\x1b'), "{shown}");
    assert!(shown.contains("refused"), "{shown}");
}
