//! A definition, objects with mistakes, and what is found in them.

use std::sync::Arc;

use billhook::{CrdVersion, CustomResourceDefinition, DecodeOptions, DeepValue, ValidateOptions};
use billhook_findings::{Finding, ObjectName, Place, SchemaSource, Severity, Source, Subject};

pub(crate) const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: backups.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: backups, singular: backup, kind: Backup, listKind: BackupList}
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
            required: [schedule]
            x-kubernetes-validations:
            - rule: '!has(self.keep) || self.keep < 100'
              message: keep less
            - rule: '!has(self.retention) || self.retention.days > 0'
              message: retain for days
            properties:
              schedule: {type: string, maxLength: 10}
              keep:
                type: integer
                minimum: 1
                maximum: 500
              size: {type: number}
              mode:
                type: string
                enum: [Full, Incremental]
              targets:
                type: array
                maxItems: 1
                items: {type: string, pattern: ^s3}
              retention:
                type: object
                properties:
                  days: {type: integer}
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              sizes: {type: number}
              window: {type: string}
  - name: v3
    served: false
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {zone: {type: string}}}}
";

pub(crate) fn definition() -> (CrdVersion, SchemaSource) {
    let source = Arc::new(Source::new("crd.yaml", DEFINITION));
    let value = billhook::read_manifests(DEFINITION.as_bytes()).unwrap().remove(0).into_value();
    let version = CustomResourceDefinition::from_value(&value).unwrap().version("v1").unwrap();
    let place = Place::document(source, 0);
    (version, SchemaSource::new(place, value, "v1").unwrap())
}

/// The findings in an object with this `spec`, which begins on the third line.
pub(crate) fn findings(spec: &str) -> Vec<Finding> {
    let text = format!("apiVersion: example.com/v1\nkind: Backup\n{spec}metadata: {{name: b}}\n");
    findings_in(&Arc::new(Source::new("backup.yaml", text)))
}

/// The findings in the only object of a text.
pub(crate) fn findings_in(source: &Arc<Source>) -> Vec<Finding> {
    let (version, schema) = definition();
    let place = Place::document(source.clone(), 0);
    let name = || ObjectName {
        api_version: "example.com/v1".to_owned(),
        kind: "Backup".to_owned(),
        namespace: String::new(),
        name: "b".to_owned(),
    };
    let mut found = Vec::new();
    let decoded = version.decode(source.bytes(), &DecodeOptions::default()).unwrap();
    for warning in decoded.warnings() {
        let path = warning.strip_prefix("unknown field \"").and_then(|it| it.strip_suffix('"'));
        let path = path.and_then(|path| place.resolve(path)).unwrap_or_default();
        let finding = Finding::new(Severity::Warning, "RP-20", warning).at_key(&place, path);
        found.push(schema.explain_unknown(finding).object(name()));
    }
    let mut object: DeepValue = decoded.into_object();
    version.prepare_create(&mut object, "default");
    let validation = version.validate_create(&object, &ValidateOptions::default());
    for error in validation.errors() {
        let finding = Finding::new(Severity::Error, error.error_type().reason(), error.to_string());
        let finding = finding.at(&place, error.field().clone()).object(name());
        found.push(schema.explain(finding, error));
    }
    found
}

pub(crate) fn subjects() -> Vec<Subject> {
    let spec = "spec:\n  schedule: \"a\\u001b]b\"\n  kep: 3\n  keep: 0\n  mode: full # é\n";
    vec![
        Subject::new("backup.yaml", "Backup b", findings(spec)),
        Subject::new("fine.yaml", "Backup c", Vec::new()),
    ]
}
