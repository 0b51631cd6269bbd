//! Definitions that people serve, changed at one node as maintainers change them.

use std::path::Path;

use billhook::CustomResourceDefinition;
use billhook_compat::{Question, Verdict, compare};
use serde_json::Value;

use crate::checks::{Tally, attack_safe, check};
use crate::corpus::{corpus, nodes};
use crate::operators::{OPERATORS, Operator, Random};

/// How large the files are whose proofs are attacked with many objects.
const MOST_BYTES: u64 = 60_000;

/// Applies an operator to the first node of a definition, from a random one on, that it can change.
fn changed(old: &Value, name: &str, operator: Operator, random: &mut Random) -> Option<Value> {
    let mut new = old.clone();
    let version = random.below(old["spec"]["versions"].as_array().unwrap().len());
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
    applied.then_some(new)
}

/// Applies each operator to a definition, and checks what is answered.
fn attack(path: &Path, objects: usize, tally: &mut Tally, random: &mut Random) {
    let text = std::fs::read(path).unwrap();
    for manifest in billhook::read_manifests(&text).unwrap() {
        let old = manifest.into_value();
        for (name, operator) in OPERATORS {
            if let Some(new) = changed(&old, name, operator, random) {
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

/// A proof about each operator, attacked with many objects: as many as the first number says, and
/// for the operators from the second number on, in steps of the third one.
#[test]
fn proofs_hold_for_many_objects() {
    let wanted = std::env::var("BILLHOOK_COMPAT_PROOFS").unwrap_or_default();
    let numbers: Vec<usize> = wanted.split('/').filter_map(|it| it.parse().ok()).collect();
    let (objects, skipped, step) = match numbers.as_slice() {
        [objects, skipped, step] => (*objects, *skipped, *step),
        _ => (500, 0, 10),
    };
    let files: Vec<_> =
        corpus().into_iter().filter(|path| path.metadata().unwrap().len() < MOST_BYTES).collect();
    for (index, (name, operator)) in OPERATORS.into_iter().enumerate().skip(skipped).step_by(step) {
        let mut random = Random(index as u64 + 1);
        let begin = random.below(files.len());
        let rotated = files.iter().cycle().skip(begin).take(files.len());
        let proved = rotated.filter_map(|path| proof(path, name, operator, &mut random)).next();
        let Some((old, new, version)) = proved else { continue };
        let of = |it: &Value| {
            let crd = CustomResourceDefinition::from_value(it).unwrap();
            crd.version(&version).unwrap()
        };
        let tried = attack_safe(Question::Writers, &of(&old), &of(&new), objects, name);
        if !wanted.is_empty() {
            println!("{name}, {}: {tried} accepted", old["metadata"]["name"]);
        }
    }
}

/// Two definitions, one changed to the other by an operator, and a version of which it is proved
/// that this is safe for writers.
fn proof(
    path: &Path,
    name: &str,
    operator: Operator,
    random: &mut Random,
) -> Option<(Value, Value, String)> {
    let text = std::fs::read(path).unwrap();
    let manifests = billhook::read_manifests(&text).unwrap();
    let definition = manifests.into_iter().next()?.into_value().into_inner();
    let new = changed(&definition, name, operator, random)?;
    for (old, new) in [(&definition, &new), (&new, &definition)] {
        let Ok(comparison) = compare(old, new) else { continue };
        let is_proved = |it: &&billhook_compat::Answer| {
            it.question == Question::Writers
                && it.verdict == Verdict::Safe
                && it.reason != "nothing changed"
        };
        if let Some(answer) = comparison.answers.iter().find(is_proved) {
            return Some((old.clone(), new.clone(), answer.version.clone()));
        }
    }
    None
}
