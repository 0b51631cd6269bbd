//! Differential runs: all ways to clean an object must give the same result, over generated
//! schemas and texts, for servers of all versions.

mod generate;
mod random;
pub mod targets;
mod webhooks;

use std::process::ExitCode;

use billhook::{
    BodyFormat, Change, CrdOptions, CrdVersion, CustomResourceDefinition, DecodeError,
    DecodeErrorKind, DecodeOptions, Decoded, DecodedText, FieldValidation, KubernetesVersion,
    field_warnings, read_manifests, to_json,
};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::{DeepValue, Num, deep_clone, grow, has_floats};
use billhook_cel::CheckedSchema;
use billhook_decode::{Document, check_json, read_json};
use billhook_default_validation::{DefaultChecks, validate_defaults};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use serde_json::Value;

use random::Random;

/// The figures of a run.
#[derive(Debug, Default)]
pub struct Stats {
    /// Objects that were decoded.
    pub decoded: usize,
    /// Of those, the ones that nothing was changed in.
    pub unchanged: usize,
    /// Texts and objects that were refused.
    pub refused: usize,
}

/// How many objects are tried for each schema.
const OBJECTS_PER_SCHEMA: usize = 20;

/// Runs generated cases; the error tells a seed and what differs.
pub fn run(seed: u64, cases: usize) -> Result<Stats, String> {
    let mut stats = Stats::default();
    let mut case = 0;
    while case < cases {
        let mut random = Random::new(seed.wrapping_add(case as u64));
        let schema = generate::root_schema(&mut random);
        let version = definition(&schema, *random.pick(&KubernetesVersion::ALL))?;
        let is_repeatable = has_valid_defaults(&schema);
        for _ in 0..OBJECTS_PER_SCHEMA.min(cases - case) {
            let body = generate::body(&mut random, &schema);
            let mut checked = check(&version, &body, &mut stats);
            if is_repeatable {
                checked = checked.and_then(|()| check_repetition(&version, &body));
            }
            checked.map_err(|difference| {
                let shown = String::from_utf8_lossy(&body);
                let at = seed.wrapping_add((case - case % OBJECTS_PER_SCHEMA) as u64);
                format!("seed {at}: {difference}\nschema {schema}\nbody {shown}")
            })?;
            case += 1;
        }
    }
    Ok(stats)
}

fn definition(schema: &Value, kubernetes: KubernetesVersion) -> Result<CrdVersion, String> {
    let mut definition = read_manifests(
        br#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {}}]}}"#,
    )
    .map_err(|error| error.to_string())?
    .remove(0)
    .into_value();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema.clone();
    let options = CrdOptions::default().kubernetes(kubernetes);
    let crd = CustomResourceDefinition::with_options(&definition, &options);
    let crd = crd.map_err(|error| error.to_string())?;
    crd.version("v1").ok_or_else(|| "no version".to_owned())
}

/// Whether a server would accept the defaults of a schema.
fn has_valid_defaults(schema: &Value) -> bool {
    let props = JsonSchemaProps::from_value(schema).ok();
    let schema = props.and_then(|props| StructuralSchema::new(props).ok());
    schema.is_some_and(|schema| {
        let found = validate_defaults(&CheckedSchema::new(&schema), &DefaultChecks::default());
        found.errors.is_empty()
    })
}

fn check(version: &CrdVersion, body: &[u8], stats: &mut Stats) -> Result<(), String> {
    let read = read_json(body);
    if check_json(body).is_ok() != read.is_ok() {
        return Err("the scanner and the reader disagree about the text".to_owned());
    }
    let silent = as_json().field_validation(FieldValidation::Ignore);
    let value = version.decode(body, &silent);
    let text = version.decode_text(body, &silent);
    let reported = version.decode_text(body, &as_json().report(true));
    match (decode_tree(version, read.as_ref().ok()), &value, &text, &reported) {
        (Some(tree), Ok(value), Ok(text), Ok(reported)) => {
            stats.decoded += 1;
            stats.unchanged += usize::from(text.is_borrowed());
            check_objects(&tree, value, text, reported)?;
            check_reports(&tree, reported)?;
        }
        (None, Err(value), Err(text), Err(reported))
            if value == text && refusal(text) == refusal(reported) =>
        {
            stats.refused += 1;
        }
        (tree, ..) => {
            let show = |refused: Option<String>| refused.unwrap_or_else(|| "decoded".to_owned());
            return Err(format!(
                "not refused alike\ntree {}\nvalue {}\ntext {}\ntext with report {}",
                if tree.is_some() { "decoded" } else { "refused" },
                show(value.err().map(|error| error.to_string())),
                show(text.err().map(|error| error.to_string())),
                show(reported.err().map(|error| error.to_string())),
            ));
        }
    }
    if let Ok(read) = read {
        check_in_place(version, read.into_value())?;
    }
    Ok(())
}

/// Reads what does not look like JSON as JSON, too, and not as YAML.
fn as_json() -> DecodeOptions {
    DecodeOptions::default().format(BodyFormat::Json)
}

/// A refusal without the findings of field validation, which only some options ask for.
fn refusal(error: &DecodeError) -> (String, &str, Option<(usize, usize)>, DecodeErrorKind) {
    (error.to_string(), error.status_message(), error.place(), error.kind())
}

/// Checks that all ways lead to the same object, and that the scanner misses no change.
fn check_objects(
    tree: &Tree,
    value: &Decoded,
    text: &DecodedText<'_>,
    reported: &DecodedText<'_>,
) -> Result<(), String> {
    let read = |text: &DecodedText<'_>| {
        read_json(text.text()).map_err(|error| format!("cleaned to no JSON: {error}"))
    };
    let (parsed, parsed_reported) = (read(text)?, read(reported)?);
    for (name, object) in [
        ("value", value.object()),
        ("text", parsed.value()),
        ("text with report", parsed_reported.value()),
    ] {
        if !same(&tree.object, object) {
            let (tree, object) = (to_json(&tree.object), to_json(object));
            return Err(format!("tree and {name} differ\ntree {tree}\n{name} {object}"));
        }
    }
    if !parsed.duplicates().is_empty() {
        return Err("the cleaned text repeats keys".to_owned());
    }
    if text.is_borrowed() && !tree.changes.is_empty() {
        return Err("changes were missed".to_owned());
    }
    Ok(())
}

/// Checks that decoding changes nothing in what was decoded before. Whole floats are integers then
/// (SS-01).
fn check_repetition(version: &CrdVersion, body: &[u8]) -> Result<(), String> {
    let Ok(once) = version.decode(body, &as_json()) else { return Ok(()) };
    let text = to_json(once.object());
    let again = version.decode(text.as_bytes(), &as_json()).map_err(|error| error.to_string())?;
    if has_floats(once.object()) || same(once.object(), again.object()) {
        return Ok(());
    }
    let again = to_json(again.object());
    Err(format!("decoding twice is not decoding once\nonce  {text}\ntwice {again}"))
}

/// Checks that both reports tell the same.
fn check_reports(tree: &Tree, reported: &DecodedText<'_>) -> Result<(), String> {
    let warnings = reported.warnings();
    if tree.changes == reported.changes() && warnings.iter().eq(&tree.warnings) {
        return Ok(());
    }
    let lines = |changes: &[Change], warnings: &[&str]| {
        let changes = changes.iter().map(ToString::to_string);
        let warnings = warnings.iter().map(ToString::to_string);
        changes.chain(warnings).collect::<Vec<_>>().join("\n  ")
    };
    let own_warnings: Vec<&str> = tree.warnings.iter().map(String::as_str).collect();
    let tree = lines(&tree.changes, &own_warnings);
    let text = lines(reported.changes(), &warnings);
    Err(format!("the reports differ\ntree\n  {tree}\ntext\n  {text}"))
}

/// The outcome of the separate steps over a tree for a body.
struct Tree {
    object: DeepValue,
    changes: Vec<Change>,
    warnings: Vec<String>,
}

fn decode_tree(version: &CrdVersion, read: Option<&Document>) -> Option<Tree> {
    let read = read?;
    read.types().check().ok()?;
    let mut object = DeepValue::from(deep_clone(read.value()));
    let options = DecodeOptions::default().report(true);
    let (unknown, changes) = version.decode_value(&mut object, &options).ok()?;
    let duplicate = |path: &String| format!("duplicate field {}", quote(path));
    let entries: Vec<String> = read.duplicates().iter().map(duplicate).chain(unknown).collect();
    let warnings = field_warnings(&entries).map(str::to_owned).collect();
    Some(Tree { object, changes, warnings })
}

fn check_in_place(version: &CrdVersion, value: DeepValue) -> Result<(), String> {
    let mut fused = value.clone();
    let mut separate = value;
    version.prune_and_default(&mut fused, &mut ()).map_err(|error| error.to_string())?;
    version.prune(&mut separate, &mut ());
    version.remove_nulls(&mut separate, &mut ());
    version.apply_defaults(&mut separate, &mut ()).map_err(|error| error.to_string())?;
    if fused != separate {
        let (separate, fused) = (to_json(&separate), to_json(&fused));
        return Err(format!("the steps differ\nseparate {separate}\nfused {fused}"));
    }
    Ok(())
}

/// Equality with numbers compared by value.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (Num::of(left), Num::of(right)) {
            (Num::Int(left), Num::Int(right)) => left == right,
            (left, right) => left.as_f64() == right.as_f64(),
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && grow(|| left.iter().zip(right).all(|(left, right)| same(left, right)))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && grow(|| {
                    left.iter()
                        .all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
                })
        }
        _ => left == right,
    }
}

/// `cargo xtask fuzz-diff`.
pub fn main(cases: usize, seed: u64) -> ExitCode {
    match run(seed, cases) {
        Ok(stats) => {
            println!(
                "{cases} cases agree: {} decoded ({} unchanged), {} refused",
                stats.decoded, stats.unchanged, stats.refused
            );
            ExitCode::SUCCESS
        }
        Err(difference) => {
            eprintln!("{difference}");
            ExitCode::FAILURE
        }
    }
}
