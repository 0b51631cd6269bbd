//! Definitions that people serve, changed at one node as maintainers change them.

use std::path::Path;

use serde_json::Value;

use crate::checks::{Tally, check};
use crate::corpus::{corpus, nodes};
use crate::operators::{OPERATORS, Random};

/// Applies each operator to a definition, and checks what is answered.
fn attack(path: &Path, objects: usize, tally: &mut Tally, random: &mut Random) {
    let text = std::fs::read(path).unwrap();
    for manifest in billhook::read_manifests(&text).unwrap() {
        let old = manifest.into_value();
        let versions = old["spec"]["versions"].as_array().unwrap().len();
        for (name, operator) in OPERATORS {
            let mut new = old.clone();
            let version = random.below(versions);
            let schema = &mut new["spec"]["versions"][version]["schema"]["openAPIV3Schema"];
            let mut found = Vec::new();
            nodes(schema, "", &mut found);
            let begin = random.below(found.len());
            found.rotate_left(begin);
            let applied = found.iter().any(|pointer| {
                let node = schema.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
                !(pointer.is_empty() && ["make nullable", "preserve", "atomic map"].contains(&name))
                    && operator(node, random)
            });
            if applied {
                let label = format!("{} {name}", path.file_name().unwrap().to_string_lossy());
                check(&label, &old, &new, objects, tally);
                check(&format!("{label} undone"), &new, &old, objects, tally);
            }
        }
    }
}

#[test]
fn answers_hold() {
    let files = corpus();
    // How many objects are tried for each proof, and with which part of the definitions.
    let attack = std::env::var("BILLHOOK_COMPAT_ATTACK").unwrap_or_default();
    let (objects, part) = attack.split_once('/').unwrap_or((&attack, "1"));
    let (step, objects) = match objects.parse() {
        Ok(objects) => (part.parse().unwrap(), objects),
        Err(_) => (files.len().div_ceil(3), 40),
    };
    let (mut random, mut tally) = (Random(42), Tally::default());
    for path in files.iter().step_by(step) {
        self::attack(path, objects, &mut tally, &mut random);
    }
    if !attack.is_empty() {
        println!("{}", tally.report());
    }
    let [decided, open] = tally.sums();
    assert!(decided >= 19 * open, "{}", tally.report());
}
