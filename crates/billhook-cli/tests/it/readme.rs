//! The commands in README.md and in the README of the command do what these say.

use crate::admit::Webhooks;
use crate::support::{root, run};

/// Commands that other tests run, or that are these tests.
const ELSEWHERE: [&str; 2] = [
    "cargo test --workspace",
    "cargo run -q -p billhook-webhook-client --example webhook_server > webhooks.yaml &",
];

/// Returns the commands of the `console` blocks, each with the output that is shown.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let block = block.split_once("```").unwrap().0;
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_owned(), String::new())),
                None => commands.last_mut().unwrap().1.extend([line, "\n"]),
            }
        }
    }
    commands
}

#[test]
fn commands_run() {
    let pages = ["README.md", "crates/billhook-cli/README.md"];
    let texts = pages.map(|page| std::fs::read_to_string(root().join(page)).unwrap());
    let commands: Vec<_> = texts.iter().flat_map(|text| commands(text)).collect();
    assert!(commands.len() >= 9);
    let webhooks = Webhooks::start("readme");
    let file = webhooks.file("");
    for (command, output) in commands {
        let Some(args) = command.strip_prefix("cargo run -q -- ") else {
            assert!(ELSEWHERE.contains(&&*command), "nobody runs `{command}`");
            continue;
        };
        let words = args.split_whitespace();
        let words = words.map(|word| if word == "webhooks.yaml" { &file } else { word });
        let shown = run(&words.collect::<Vec<_>>().join(" "), "");
        let finds = output.contains("error") || output.contains("  + ");
        let status = format!("exit status: {}", i32::from(finds));
        assert!(shown.contains(&status), "{command}\n{shown}");
        assert!(shown.contains(&output), "{command} shows\n{output}\nbut is\n{shown}");
    }
}
