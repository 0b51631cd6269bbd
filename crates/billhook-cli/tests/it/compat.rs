//! `billhook compat`.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Scratch, cases, run, snapshot};

cases! {
    help_compat: "compat --help";
    compat_nothing_changed: "compat --explain fixtures/crds/backups.data.example.com.yaml fixtures/crds/backups.data.example.com.yaml";
    compat_without_definitions: "compat fixtures/objects/backup.yaml fixtures/crds";
    compat_with_one_argument: "compat fixtures/crds";
    compat_with_an_unknown_question: "compat --allow everything fixtures/crds fixtures/crds";
}

/// A definition with a schema of `spec`.
fn definition(properties: &Value) -> String {
    let document = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "backups.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList"},
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": properties}},
            }}}],
        },
    });
    billhook::to_yaml(&document)
}

/// Two definitions in a directory: an enum shrinks, and a rule is added that nothing decides.
fn project(name: &str) -> Scratch {
    let old =
        json!({"mode": {"type": "string", "enum": ["fast", "full"]}, "keep": {"type": "integer"}});
    let new = json!({"mode": {"type": "string", "enum": ["full"]}, "keep": {"type": "integer"}});
    let hard = json!({"mode": {"type": "string", "enum": ["fast", "full"]}, "keep": {"type": "integer",
        "x-kubernetes-validations": [{"rule": "self * self != 104976"}]}});
    let (old, new, hard) = (definition(&old), definition(&new), definition(&hard));
    Scratch::new(name, &[("old.yaml", &old), ("new.yaml", &new), ("hard.yaml", &hard)])
}

fn output(scratch: &Scratch, args: &str) -> Output {
    let built = env!("CARGO_BIN_EXE_billhook");
    Command::new(built).args(args.split(' ')).current_dir(scratch.path()).output().unwrap()
}

fn status(scratch: &Scratch, args: &str) -> i32 {
    output(scratch, args).status.code().unwrap()
}

/// The thing that makes objects others is named; findings of each format are of a file.
#[test]
fn compat_of_other_objects() {
    let old = definition(&json!({}));
    let new = old.replace("Namespaced", "Cluster");
    let scratch = Scratch::new("compat-scope", &[("old.yaml", &old), ("new.yaml", &new)]);
    for format in ["human", "junit", "tap"] {
        let args = format!("compat --format {format} DIR/old.yaml DIR/new.yaml");
        snapshot!(format!("compat_of_other_objects_{format}"), scratch.run(&args));
    }
}

#[test]
fn compat_statuses() {
    let project = project("compat-status");
    for (args, expected) in [
        ("compat old.yaml old.yaml", 0),
        ("compat new.yaml old.yaml --allow readers", 0),
        ("compat new.yaml old.yaml", 1),
        ("compat old.yaml new.yaml", 1),
        ("compat old.yaml new.yaml --allow writers:spec.mode", 0),
        ("compat old.yaml new.yaml --allow writers:spec.mod", 1),
        ("compat old.yaml new.yaml --baseline known.json --write-baseline", 0),
        ("compat old.yaml new.yaml --baseline known.json", 0),
        ("compat old.yaml hard.yaml", 3),
        ("compat old.yaml absent.yaml", 2),
        ("compat old.yaml git::x", 2),
    ] {
        assert_eq!(status(&project, args), expected, "{args}");
    }
}

#[test]
fn compat_forms() {
    let project = project("compat-forms");
    let place = project.path().display().to_string();
    for form in ["human", "json", "markdown", "concise"] {
        let shown = run(&format!("compat --format {form} {place}/old.yaml {place}/new.yaml"), "");
        snapshot!(format!("compat_{form}"), shown.replace(&place, "DIR"));
    }
}

#[test]
fn compat_revisions() {
    let project = project("compat-git");
    let git = |args: &str| {
        let git = Command::new("git").args(args.split(' ')).current_dir(project.path()).output();
        assert!(git.unwrap().status.success(), "{args}");
    };
    git("init -q");
    let old = std::fs::read_to_string(project.path().join("old.yaml")).unwrap();
    let new = std::fs::read_to_string(project.path().join("new.yaml")).unwrap();
    for text in [&old, &new] {
        std::fs::create_dir_all(project.path().join("crds")).unwrap();
        project.write("crds/backups.yaml", text);
        git("add crds");
        git("-c user.name=a -c user.email=a@example.com commit -qm change");
    }
    for (args, expected) in [
        ("compat --git HEAD~1..HEAD crds", 1),
        ("compat --git HEAD~1..HEAD", 1),
        ("compat --git HEAD..HEAD crds", 0),
        ("compat git:HEAD~1:crds/backups.yaml crds", 1),
        ("compat git:HEAD:crds crds/backups.yaml", 0),
        ("compat git:nowhere:crds crds", 2),
        ("compat git:HEAD:absent crds", 2),
        ("compat git:--help:crds crds", 2),
    ] {
        assert_eq!(status(&project, args), expected, "{args}");
    } // What is checked out is named by its path, so that CI finds it.
    let shown = |args: &str| String::from_utf8(output(&project, args).stdout).unwrap();
    let annotations = shown("compat --git HEAD~1..HEAD crds --format github");
    assert!(annotations.contains("::error file=crds/backups.yaml,line="), "{annotations}");
    assert!(shown("compat --git HEAD~1..HEAD crds").contains("::: HEAD~1:crds/backups.yaml:"));
    for (file, text) in [
        ("chart/Chart.yaml", "name: backups\n"),
        (
            "chart/templates/backups.yaml",
            "{{- if .Values.crds }}\nkind: {{ .Values.kind }}\n{{ end }}\n",
        ),
        ("chart/crds/backups.yaml", &new),
    ] {
        std::fs::create_dir_all(project.path().join(file).parent().unwrap()).unwrap();
        project.write(file, text);
    }
    git("add chart");
    git("-c user.name=a -c user.email=a@example.com commit -qm chart");
    assert_eq!(status(&project, "compat git:HEAD:chart chart"), 0);
    assert_eq!(status(&project, "compat git:HEAD~2:crds git:HEAD:chart"), 1);
    project.write("crds/backups.yaml", "# Not committed.\n");
    let shown = shown("compat --git HEAD~2..HEAD crds");
    assert!(shown.contains("--> HEAD:crds/backups.yaml:"), "{shown}");
}
