//! Deprecated fields and versions.

use crate::support::{Scratch, snapshot};

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: jobs, kind: Job}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              image:
                description: |-
                  The image to run. It has
                  a tag.

                  Deprecated: use containers
                  instead. It goes with v1.
                type: string
              containers:
                type: array
                items:
                  type: object
                  properties:
                    name: {type: string}
                    command: {type: string, description: 'DEPRECATED: use args'}
              limits:
                type: object
                additionalProperties:
                  type: object
                  properties:
                    cpu: {type: integer, maximum: 8, description: Deprecated. Use cores.}
                    deprecated: {type: boolean, description: Deprecated fields are fine with this.}
";

const OBJECT: &str = "\
apiVersion: example.com/v1beta1
kind: Job
metadata: {name: a, namespace: b}
spec:
  image: a
  containers:
  - {name: a}
  - {name: b, command: c}
  limits:
    a.b: {cpu: 9, deprecated: true}
";

fn scratch(name: &str) -> Scratch {
    Scratch::new(name, &[("crd.yaml", DEFINITION), ("job.yaml", OBJECT)])
}

/// An object is not refused for them (RP-90): the only error is that of the maximum.
#[test]
fn deprecated_fields() {
    let scratch = scratch("deprecated");
    snapshot!("deprecated", scratch.run("validate --crd DIR/crd.yaml DIR/job.yaml"));
    for command in ["decode", "admit"] {
        let args = format!("{command} --format concise --crd DIR/crd.yaml DIR/job.yaml");
        snapshot!(format!("deprecated_{command}"), scratch.run(&args));
    }
}

#[test]
fn deprecated_fields_are_no_errors() {
    let scratch = scratch("deprecated-fine");
    scratch.write("job.yaml", &OBJECT.replace("cpu: 9", "cpu: 7"));
    let shown = scratch.run("validate --format concise --crd DIR/crd.yaml DIR/job.yaml");
    assert!(shown.contains("exit status: 0"), "{shown}");
    assert_eq!(shown.matches(": note[deprecated-field] ").count(), 3, "{shown}");
    assert_eq!(shown.matches(": warning[RP-90] ").count(), 1, "{shown}");
    scratch.write("billhook.toml", "[rules]\ndeprecated-field = \"off\"\nRP-90 = \"off\"\n");
    let shown = scratch.run("validate --format concise --crd DIR/crd.yaml DIR/job.yaml");
    assert!(!shown.contains("job.yaml:"), "{shown}");
    scratch.write("job.yaml", &OBJECT.replace("v1beta1", "v1"));
    let shown = scratch.run("validate -q --crd DIR/crd.yaml DIR/job.yaml");
    assert!(shown.contains("exit status: 0") && !shown.contains("deprecated"), "{shown}");
}
