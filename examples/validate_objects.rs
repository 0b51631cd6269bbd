//! Validates objects as an API server does on create and on update, with rules in CEL, transition
//! rules among them.

#![expect(clippy::print_stdout, reason = "the output is the example")]

use std::error::Error;

use billhook::{CrdVersion, CustomResourceDefinition, DecodeOptions, ValidateOptions};
use serde_json::Value;

const DEFINITION: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: volumes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: volumes, kind: Volume}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [class]
            properties:
              class: {type: string, enum: [fast, cheap]}
              gigabytes:
                type: integer
                minimum: 1
                x-kubernetes-validations:
                - {rule: self >= oldSelf, message: volumes do not shrink}
"#;

/// An object with a spec, decoded as a request body. Stored objects have a revision, and an update
/// must name it.
fn volume(version: &CrdVersion, revision: &str, spec: &str) -> Result<Value, Box<dyn Error>> {
    let text = format!(
        "apiVersion: example.com/v1
kind: Volume
metadata: {{name: data, namespace: default, resourceVersion: '{revision}'}}
spec: {spec}"
    );
    Ok(version.decode(text.as_bytes(), &DecodeOptions::default())?.into_object().into_inner())
}

fn main() -> Result<(), Box<dyn Error>> {
    let definition = CustomResourceDefinition::from_yaml(DEFINITION)?;
    let v1 = definition.served("v1")?;
    let options = ValidateOptions::default();

    // A create: what the server fills in before it validates comes first.
    let mut wrong = volume(&v1, "", "{class: free, gigabytes: 0}")?;
    v1.prepare_create(&mut wrong, "default");
    let validation = v1.validate_create(&wrong, &options);
    println!("create: {}", validation.status_message().unwrap_or_default());

    let mut right = volume(&v1, "", "{class: fast, gigabytes: 10}")?;
    v1.prepare_create(&mut right, "default");
    println!("create: {:?}", v1.validate_create(&right, &options).verdict());

    // An update: rules see the stored object as `oldSelf`.
    let old = volume(&v1, "1", "{class: fast, gigabytes: 10}")?;
    for gigabytes in [20, 5] {
        let spec = format!("{{class: fast, gigabytes: {gigabytes}}}");
        let mut new = volume(&v1, "1", &spec)?;
        v1.prepare_update(&mut new, &old);
        let validation = v1.validate_update(&new, &old, &options);
        println!("update to {gigabytes}: {:?}", validation.verdict());
        for error in validation.errors() {
            println!("- {error}");
        }
    }
    Ok(())
}
