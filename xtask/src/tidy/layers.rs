//! The layout: dependencies between crates point one way; the facade and all below it do no I/O,
//! start no threads and know no async; the command uses what is published.

use serde_json::Value;

use super::Files;

/// The crates from the bottom to the top: each may depend on those before it.
const ORDER: &[&str] = &[
    "billhook-apimachinery",
    "billhook-regex",
    "billhook-yaml",
    "billhook-schema",
    "billhook-pruning",
    "billhook-defaulting",
    "billhook-validation",
    "billhook-cel",
    "billhook-default-validation",
    "billhook-decode",
    "billhook-definition",
    "billhook-apply",
    "billhook",
    "billhook-findings",
    "billhook-generation",
    "billhook-compat",
    "billhook-policy",
    "billhook-kinds",
    "billhook-admission",
    "billhook-suite",
    "billhook-webhook-client",
    "billhook-apiserver",
    "billhook-control-plane",
    "billhook-cli",
];
/// The last crate without effects.
const LAST_PURE: &str = "billhook";
/// Paths that a crate without effects does not name.
const EFFECTS: [&str; 14] = [
    "std::fs",
    "std::process",
    "std::env",
    "std::thread",
    "TcpListener",
    "TcpStream",
    "UdpSocket",
    "ToSocketAddrs",
    "SystemTime",
    "async fn",
    "async move",
    "async {",
    "tokio::",
    "println!",
];

pub(super) fn check(files: &Files, metadata: &Value, problems: &mut Vec<String>) {
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        if name.starts_with("billhook") {
            check_package(name, package, problems);
        }
    }
    let pure = ORDER.iter().take_while(|name| **name != LAST_PURE).chain([&LAST_PURE]);
    for name in pure {
        let source = format!("crates/{name}/src/");
        for (file, text) in files.ending_in(".rs").filter(|(file, _)| file.starts_with(&source)) {
            check_effects(file, text, problems);
        }
    }
    for (file, text) in files.ending_in(".rs").filter(|(file, _)| file.starts_with("crates/")) {
        for (index, _) in text.lines().enumerate().filter(|(_, line)| line.contains("doc(hidden)"))
        {
            problems.push(format!("{file}:{}: public, but not in the documentation", index + 1));
        }
    }
}

fn check_package(name: &str, package: &Value, problems: &mut Vec<String>) {
    let place = |wanted: &str| ORDER.iter().position(|name| *name == wanted);
    let is_tool = [
        "billhook-testing",
        "billhook-benches",
        "billhook-examples",
        "billhook-example-controller",
        "billhook-example-operator",
    ]
    .contains(&name);
    let Some(own) = place(name) else {
        if !is_tool {
            problems.push(format!(
                "{name}: has no place in the order of crates (xtask/src/tidy/layers.rs)"
            ));
        }
        return;
    };
    for dependency in list(package, "dependencies") {
        let other = text(dependency, "name");
        // Tests may need what lies above.
        if !other.starts_with("billhook") || text(dependency, "kind") == "dev" {
            continue;
        }
        if place(other).is_none_or(|other| other >= own) {
            problems.push(format!("{name}: depends on {other}, which is not below it"));
        }
    }
}

fn check_effects(file: &str, text: &str, problems: &mut Vec<String>) {
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for effect in EFFECTS.iter().filter(|effect| line.contains(**effect)) {
            problems.push(format!("{file}:{}: `{effect}` below billhook-admission", index + 1));
        }
    }
}

pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
