//! The public items of crates, one a line, so that a change of the API is seen in review. They are
//! read from the source; of macros, those that make records and errors are understood.

mod items;
mod print;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use crate::source::Source;

const CRATES: &[&str] = &[
    "billhook",
    "billhook-admission",
    "billhook-apimachinery",
    "billhook-apiserver",
    "billhook-apply",
    "billhook-cel",
    "billhook-compat",
    "billhook-control-plane",
    "billhook-decode",
    "billhook-default-validation",
    "billhook-defaulting",
    "billhook-definition",
    "billhook-findings",
    "billhook-generation",
    "billhook-kinds",
    "billhook-policy",
    "billhook-pruning",
    "billhook-regex",
    "billhook-schema",
    "billhook-suite",
    "billhook-validation",
    "billhook-webhook-client",
    "billhook-yaml",
];
const DIRECTORY: &str = "docs/public-api";

/// The text of a crate's file.
fn listing(root: &Path, name: &str) -> Result<String, String> {
    let source = Source::read(root, &format!("crates/{name}"))?;
    let mut lines = BTreeSet::new();
    items::module(&source, 0, &name.replace('-', "_"), &mut lines);
    Ok(lines.into_iter().collect::<Vec<_>>().join("\n") + "\n")
}

/// The crates whose files are not up to date.
pub fn outdated(root: &Path) -> Result<Vec<&'static str>, String> {
    let mut outdated = Vec::new();
    for &name in CRATES {
        let written = std::fs::read_to_string(root.join(DIRECTORY).join(format!("{name}.txt")));
        if written.ok() != Some(listing(root, name)?) {
            outdated.push(name);
        }
    }
    Ok(outdated)
}

fn update(root: &Path) -> Result<(), String> {
    let directory = root.join(DIRECTORY);
    std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    for &name in CRATES {
        let file = directory.join(format!("{name}.txt"));
        std::fs::write(&file, listing(root, name)?).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// `cargo xtask public-api`.
pub fn main(root: &Path, check: bool) -> ExitCode {
    let result = if check { outdated(root) } else { update(root).map(|()| Vec::new()) };
    match result {
        Ok(outdated) if outdated.is_empty() => ExitCode::SUCCESS,
        Ok(outdated) => {
            eprintln!("changed: {}; run `cargo xtask public-api`", outdated.join(", "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
