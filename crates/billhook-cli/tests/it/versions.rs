//! Servers of other versions: `--kubernetes`, and what `check` says about a range of them.

use crate::support::{cases, run, snapshot};

cases! {
    versions_range: "check --kubernetes 1.32..1.36 -" < [DEFINITIONS];
    versions_range_json: "check --kubernetes 1.34..1.35 --report json -" < [DEFINITIONS];
    versions_range_update: "check --kubernetes 1.33..1.34 --old - fixtures/crds/backups.data.example.com.yaml"
        < [DEFINITIONS];
    versions_range_webhooks: "check --kubernetes 1.33..1.35 -" < [WEBHOOKS];
    versions_range_unusable: "check --kubernetes 1.35..1.36 nope.yaml -" < ["a: [1"];
    versions_one: "check --kubernetes 1.33 -" < [DEFINITIONS];
    versions_backwards: "check --kubernetes 1.36..1.33 fixtures/crds";
    versions_unknown: "check --kubernetes 1.3 fixtures/crds";
    versions_decode: "decode --kubernetes 1.33 --crd fixtures/crds -" < [OBJECT];
    versions_decode_unknown: "decode --kubernetes v1.31 --crd fixtures/crds -" < [OBJECT];
    versions_as_a_server_has_them: "decode --kubernetes v1.33.4 --crd fixtures/crds -" < [OBJECT];
    versions_validate: "validate --kubernetes 1.34 --crd fixtures/crds -" < [OBJECT];
    versions_match: "match --kubernetes 1.33 --webhooks - --operation delete fixtures/match/pod.yaml" < [WEBHOOKS];
}

const DEFINITIONS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.data.example.com}
spec:
  group: data.example.com
  scope: Namespaced
  names: {plural: backups, kind: Backup}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
      name: {type: string, format: k8s-short-name},
      version: {type: string, maxLength: 64, x-kubernetes-validations: [{rule: isSemver(self)}]},
      days: {type: array, maxItems: 7, items: {type: integer},
             x-kubernetes-validations: [{rule: self.sort() == self}]}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: disks.data.example.com}
spec:
  group: data.example.com
  scope: Namespaced
  names: {plural: disks, kind: Disk}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
      size: {type: integer, format: int32, default: 3000000000}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: keys.data.example.com}
spec:
  group: data.example.com
  scope: Namespaced
  names: {plural: keys, kind: Key}
  versions:
  - {name: v1, served: true, storage: true}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: logs.data.example.com}
spec:
  group: data.example.com
  scope: Namespaced
  names: {plural: logs, kind: Log}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";

const WEBHOOKS: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: policy}
webhooks:
- name: policy.example.com
  clientConfig: {service: {namespace: policy, name: ''}}
  rules: [{operations: ['*', CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]
  objectSelector: {matchLabels: {a/b/c: x}}
  matchConditions: [{name: sorted, expression: 'request.userInfo.groups.sort() == []'}]
  sideEffects: None
  admissionReviewVersions: [v1]
";

const OBJECT: &str = "\
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: nightly, labels: {app: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}}
spec: {schedule: daily}
";
