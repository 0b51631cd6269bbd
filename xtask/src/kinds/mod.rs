//! The tables of the built-in kinds: `crates/billhook-kinds/data` says what they are, and
//! `crates/billhook-kinds/src/generated` is made of it.

mod fields;
mod initial;
mod names;
mod resources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use self::fields::Types;

/// The files that say what the kinds are.
const DATA: [&str; 3] = ["types.json", "resources.json", initial::RBAC];
/// The descriptions of columns, as servers print them, by kinds.
const DESCRIPTIONS: &str = "column-descriptions.json";

/// Writes the tables, or only checks whether they are as the data says.
pub fn main(root: &Path, check: bool) -> ExitCode {
    match run(root, check) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(stale) => {
            eprintln!("{stale} tables of kinds differ from the data: run cargo xtask kinds");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, check: bool) -> Result<usize, Box<dyn std::error::Error>> {
    let home = root.join("crates/billhook-kinds");
    let facts = root.join("../shared/facts/kinds");
    if !check && facts.exists() {
        for name in DATA {
            fs::copy(facts.join(name), home.join("data").join(name))?;
        }
    }
    let mut stale = 0;
    for (name, text) in tables(&home.join("data"))? {
        let file = home.join("src/generated").join(name);
        if fs::read_to_string(&file).is_ok_and(|found| found == text) {
            continue;
        }
        stale += 1;
        if !check {
            fs::create_dir_all(home.join("src/generated"))?;
            fs::write(&file, text)?;
        }
    }
    Ok(if check { stale } else { 0 })
}

/// The files that are made of the data, by their names.
pub fn tables(data: &Path) -> Result<BTreeMap<String, String>, Box<dyn std::error::Error>> {
    let read = |name: &str| -> Result<Value, Box<dyn std::error::Error>> {
        Ok(serde_json::from_slice(&fs::read(data.join(name))?)?)
    };
    let (types, resources) = (read(DATA[0])?, read(DATA[1])?);
    let types = Types::new(&types);
    let resources = resources["resources"].as_array().cloned().unwrap_or_default();
    let mut roots = BTreeSet::new();
    let table = resources::table(&resources, &read(DESCRIPTIONS)?, &types, &mut roots)?;
    let mut files = BTreeMap::new();
    let mut modules = String::new();
    for (module, text) in types.files(roots)? {
        modules.push_str(&format!("#[rustfmt::skip]\npub(crate) mod {module};\n"));
        files.insert(format!("{module}.rs"), text);
    }
    for module in ["initial", "resources"] {
        modules.push_str(&format!("#[rustfmt::skip]\npub(crate) mod {module};\n"));
    }
    let heading = "//! The tables of types and resources, made by `cargo xtask kinds`.\n\n";
    files.insert("mod.rs".to_owned(), format!("{heading}{modules}"));
    files.insert("resources.rs".to_owned(), table);
    files.insert("initial.rs".to_owned(), initial::table(&read)?);
    Ok(files)
}
