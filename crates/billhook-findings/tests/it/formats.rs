//! Each form of the same findings.

use billhook_findings::{Finding, Format, Severity, Subject, human, print};
use serde_json::Value;

use crate::support::{findings, subjects};

fn schema(name: &str) -> Value {
    let path = format!("{}/../../docs/formats/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn check(schema_name: &str, document: &Value) {
    let mut schema = schema(schema_name);
    if schema_name == "findings" {
        // Put in place of the reference, which has no server.
        let mut finding = self::schema("finding");
        schema["$defs"] = finding.as_object_mut().unwrap().remove("$defs").unwrap();
        schema["properties"]["findings"]["items"] = finding;
        for name in ["$id", "$schema"] {
            schema["properties"]["findings"]["items"].as_object_mut().unwrap().remove(name);
        }
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    // The schema can refuse.
    assert!(!validator.is_valid(&serde_json::json!({"extra": 1})));
}

#[test]
fn every_form() {
    for (name, format) in [
        ("human", Format::Human),
        ("concise", Format::Concise),
        ("json", Format::Json),
        ("sarif", Format::Sarif),
        ("github", Format::Github),
        ("gitlab", Format::Gitlab),
        ("junit", Format::Junit),
        ("tap", Format::Tap),
        ("azure", Format::Azure),
    ] {
        insta::assert_snapshot!(name, print(format, &subjects()));
    }
}

#[test]
fn documents_are_as_their_schemas_say() {
    let read = |format| serde_json::from_str::<Value>(&print(format, &subjects())).unwrap();
    let json = read(Format::Json);
    check("findings", &json);
    check("sarif", &read(Format::Sarif));
    let lines = print(Format::Ndjson, &subjects());
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Value::from(lines.clone()), json["findings"]);
    lines.iter().for_each(|line| check("finding", line));
    for format in [Format::Json, Format::Sarif, Format::Gitlab] {
        serde_json::from_str::<Value>(&print(format, &[])).unwrap();
    }
    check("sarif", &serde_json::from_str(&print(Format::Sarif, &[])).unwrap());
}

/// No character of the input moves the cursor, in any field.
#[test]
fn control_characters_are_escaped() {
    let evil = "a\u{1b}[2J\u{7}\u{202e}\u{9b}b\nc";
    let mut found = findings("spec:\n  schedule: \"a\u{85}\u{202e}b\"\n  k\u{202e}ep: 3\n");
    for finding in &mut found {
        finding.text = evil.to_owned();
        finding.rule = evil.to_owned();
        finding.label = Some(evil.to_owned());
        finding.help = Some(evil.to_owned());
        finding.object.name = evil.to_owned();
    }
    let subjects = [Subject::new(evil, evil, found.clone())];
    for format in [
        Format::Human,
        Format::Concise,
        Format::Json,
        Format::Ndjson,
        Format::Sarif,
        Format::Github,
        Format::Gitlab,
        Format::Junit,
        Format::Tap,
        Format::Azure,
    ] {
        let out = print(format, &subjects);
        let raw =
            |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c);
        assert_eq!(out.chars().find(raw), None, "{format:?}: {out:?}");
    }
    let line = print(Format::Ndjson, &subjects);
    let first: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert_eq!(first["text"], evil);
    assert!(human(&found[0], true).contains("\u{1b}["), "colors are there when they are wanted");
}

#[test]
fn findings_without_a_place() {
    let finding = Finding::new(Severity::Error, "unusable", "no CRD for kind `X`");
    let subjects = [Subject::new("", "X", vec![finding])];
    assert_eq!(print(Format::Concise, &subjects), "error[unusable] no CRD for kind `X`\n");
    assert_eq!(print(Format::Github, &subjects), "::error title=unusable::no CRD for kind `X`\n");
    assert!(print(Format::Human, &subjects).starts_with("error[unusable]: no CRD for kind `X`"));
}
