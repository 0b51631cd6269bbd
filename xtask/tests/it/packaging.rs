//! The files that carry billhook to where people work, where they can be checked here: scripts
//! with shellcheck and a dry run, the rest as YAML.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn yaml(file: &str) -> Value {
    let text = std::fs::read(root().join(file)).unwrap();
    let mut documents = billhook::read_manifests(&text).unwrap();
    assert_eq!(documents.len(), 1, "{file}");
    assert!(documents[0].duplicates().is_empty(), "{file}");
    documents.remove(0).value().clone()
}

/// The scripts, and those in steps of workflows.
fn scripts() -> Vec<(String, String)> {
    let read = |file: &str| (file.to_owned(), std::fs::read_to_string(root().join(file)).unwrap());
    let files = [
        "packaging/install.sh",
        "packaging/action.sh",
        "packaging/archive.sh",
        "packaging/try-go-suite",
    ];
    let mut scripts: Vec<_> = files.map(read).into();
    let action = yaml("action.yml");
    let release = yaml(".github/workflows/release.yml");
    let jobs = ["/jobs/binaries/steps", "/jobs/image/steps"].map(|steps| release.pointer(steps));
    let lists = jobs.into_iter().chain([action.pointer("/runs/steps")]);
    for step in lists.flat_map(|list| list.unwrap().as_array().unwrap()) {
        if let Some(script) = step.get("run").and_then(Value::as_str) {
            assert_eq!(step["shell"], "bash", "{step}");
            // Expressions in a script are a way to smuggle commands into it.
            assert!(!script.contains("${{"), "{script}");
            scripts.push((step["name"].to_string(), format!("#!/usr/bin/env bash\n{script}")));
        }
    }
    scripts
}

#[test]
fn scripts_are_clean() {
    if Command::new("shellcheck").arg("--version").output().is_err() {
        eprintln!("shellcheck is not installed: scripts are not checked");
        return;
    }
    let directory = std::env::temp_dir().join(format!("billhook-scripts-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for (index, (name, script)) in scripts().into_iter().enumerate() {
        let file = directory.join(format!("{index}.sh"));
        std::fs::write(&file, script).unwrap();
        let output = Command::new("shellcheck").arg(&file).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn hooks_and_action_run_the_command() {
    for hook in yaml(".pre-commit-hooks.yaml").as_array().unwrap() {
        let entry = hook["entry"].as_str().unwrap();
        assert_eq!(hook["id"], entry.replace(' ', "-"));
        assert!(entry.starts_with("billhook "), "{entry}");
    }
    let action = yaml("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    let inputs = action["inputs"].as_object().unwrap();
    let text = std::fs::read_to_string(root().join("action.yml")).unwrap();
    for used in text.split("inputs.").skip(1) {
        let name: String = used.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        assert!(inputs.contains_key(&name), "{name}");
    }
}

#[test]
fn installation_names_what_the_release_uploads() {
    let release = yaml(".github/workflows/release.yml");
    let targets = release["jobs"]["binaries"]["strategy"]["matrix"]["include"].as_array().unwrap();
    let script = std::fs::read_to_string(root().join("packaging/install.sh")).unwrap();
    for target in targets {
        let target = target["target"].as_str().unwrap();
        assert!(script.contains(&format!("target={target} ;;")), "{target}");
    }
    let install = |args: &[&str]| {
        Command::new("sh").arg(root().join("packaging/install.sh")).args(args).output().unwrap()
    };
    assert_eq!(install(&["--dry-run"]).status.code(), Some(2));
    assert_eq!(install(&["--version"]).status.code(), Some(2));
    let run = install(&["--repository", "a/b", "--version", "v1.2.3", "--dry-run"]);
    let text = String::from_utf8(run.stdout).unwrap();
    if run.status.success() {
        assert!(
            text.contains("https://github.com/a/b/releases/download/v1.2.3/billhook-"),
            "{text}"
        );
    }
}

/// Runs the scripts of the action with a command and a download that a shell can play.
#[cfg(unix)]
#[test]
fn what_is_packed_can_be_installed_and_run() {
    const COMMAND: &str = "#!/bin/sh
case $1 in
  --version) echo installed ;;
  man) mkdir \"$2\" ;;
  completions) ;;
  *) echo \"$@\"; exit 1 ;;
esac
";
    const CURL: &str = "#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in --output) out=$2; shift ;; esac
  shift
done
cp \"$DIST/${1##*/}\" \"$out\"
";
    let directory = std::env::temp_dir().join(format!("billhook-install-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("bin")).unwrap();
    for (file, text) in [("billhook", COMMAND), ("bin/curl", CURL)] {
        std::fs::write(directory.join(file), text).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.join(file), mode).unwrap();
    }
    let run = |script: &str, args: &[&str], path: &str, environment: &[(&str, &str)]| {
        let path = format!("{}:{}", directory.join(path).display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.arg(root().canonicalize().unwrap().join("packaging").join(script)).args(args);
        command.current_dir(&directory).env("PATH", path).env("DIST", directory.join("dist"));
        let output = command.envs(environment.iter().copied()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let dry = run("install.sh", &["--repository", "a/b", "--dry-run"], "bin", &[]).1;
    let name = dry.split('/').find_map(|part| part.strip_suffix(" to ")).unwrap();
    let target = name.strip_prefix("billhook-").unwrap().strip_suffix(".tar.gz").unwrap();
    assert_eq!(run("archive.sh", &["./billhook", target, "dist"], "bin", &[]).0, Some(0));
    let install = ["--repository", "a/b", "--to", "tools"];
    assert_eq!(run("install.sh", &install, "bin", &[]), (Some(0), "installed\n".to_owned()));
    let sarif = [("SARIF_FILE", "out.sarif")];
    let (status, shown) = run("action.sh", &["check", "crds"], "tools", &sarif);
    assert_eq!((status, shown.as_str()), (Some(1), "check crds --format github\n"));
    let written = |file: &str| std::fs::read_to_string(directory.join(file)).unwrap();
    assert_eq!(written("out.sarif"), "check crds --format sarif\n");
    let summary = [("GITHUB_STEP_SUMMARY", "summary.md")];
    let (status, shown) = run("action.sh", &["compat", "old", "new"], "tools", &summary);
    assert_eq!((status, shown.as_str()), (Some(1), "compat old new --format github\n"));
    assert_eq!(written("summary.md"), "compat old new --format markdown\n");
    std::fs::write(directory.join("dist").join(name), "other").unwrap();
    assert_ne!(run("install.sh", &install, "bin", &[]).0, Some(0), "the sum is wrong");
    std::fs::remove_dir_all(&directory).unwrap();
}
