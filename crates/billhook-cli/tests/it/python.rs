//! The Python client of Kubernetes, and kopf, against `billhook serve`. Without the packages
//! `kubernetes` and `kopf` nothing is tested here, and the tests say so. `BILLHOOK_PYTHON` names the
//! interpreter that has them.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::serve::Running;

fn python() -> Command {
    Command::new(std::env::var_os("BILLHOOK_PYTHON").unwrap_or_else(|| "python3".into()))
}

/// Runs a script, if the package that it needs is there.
fn run(script: &str, package: &str) {
    let import = python().args(["-c", &format!("import {package}")]).output();
    if !import.is_ok_and(|output| output.status.success()) {
        let mut errors = std::io::stderr();
        let _ = writeln!(errors, "NOT TESTED: the Python package {package} was not found");
        return;
    }
    let kubeconfig = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{script}.kubeconfig"));
    let _server = Running::start(&["--write-kubeconfig", kubeconfig.to_str().unwrap()]);
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let output = python()
        .arg(scripts.join(script))
        .arg(&kubeconfig)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {printed}");
}

#[test]
fn the_python_client_works() {
    run("client.py", "kubernetes");
}

#[test]
fn an_operator_of_kopf_works() {
    run("kopf_test.py", "kopf");
}
