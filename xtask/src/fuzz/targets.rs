//! Fuzz targets: what is checked on any bytes, one function for each path. The coverage-guided
//! runs in `fuzz/` and the tests that replay their corpora both call them.

use std::sync::LazyLock;

use billhook::{CrdVersion, CustomResourceDefinition, DecodeOptions, KubernetesVersion};
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, Program, Type};
use billhook_decode::read_json;
use serde_json::Value;

pub use super::webhooks::webhooks;
use super::{check, definition};

/// A target: any bytes must come through it without a difference or a panic.
pub type Target = fn(&[u8]) -> Result<(), String>;

/// All targets, by the name of their directory in `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 7] = [
    ("definition_and_text", definition_and_text),
    ("expression", expression),
    ("pattern", pattern),
    ("stored", stored),
    ("text", text),
    ("webhooks", webhooks),
    ("yaml", yaml),
];

static VERSIONS: LazyLock<Vec<CrdVersion>> = LazyLock::new(|| {
    [
        include_str!("../../../fixtures/crds/backups.data.example.com.yaml"),
        include_str!("../../../fixtures/crds/stacks.platform.example.com.yaml"),
    ]
    .iter()
    .map(|text| CustomResourceDefinition::from_yaml(text).unwrap().version("v1").unwrap())
    .collect()
});

/// All ways to clean a body of the fixtures' kinds agree.
pub fn text(data: &[u8]) -> Result<(), String> {
    VERSIONS.iter().try_for_each(|version| check(version, data, &mut Default::default()))
}

/// The same for any schema: the first line is the schema, the rest the body.
pub fn definition_and_text(data: &[u8]) -> Result<(), String> {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return Ok(()) };
    let (schema, body) = (&data[..end], &data[end + 1..]);
    let Ok(schema) = read_json(schema) else { return Ok(()) };
    match definition(schema.value(), KubernetesVersion::default()) {
        Ok(version) => check(&version, body, &mut Default::default()),
        Err(_) => Ok(()),
    }
}

/// Reading from storage never panics, and an object of the version is read back unchanged.
pub fn stored(data: &[u8]) -> Result<(), String> {
    let options = DecodeOptions::default().report(true);
    for version in VERSIONS.iter() {
        let Ok(decoded) = version.decode_storage(data, &options) else { continue };
        let written = read_json(data).map_err(|error| error.to_string())?;
        let says = |name: &str| written.value().get(name).and_then(Value::as_str);
        // Objects of other groups and versions are only renamed, and cleaned when read again.
        if says("apiVersion") != Some(&version.api_version())
            || says("kind") != Some(version.definition().kind())
        {
            continue;
        }
        let again = billhook::to_json(decoded.object());
        let again = version.decode_storage(again.as_bytes(), &options);
        let again = again.map_err(|error| format!("not read back: {error}"))?;
        if !super::same(again.object(), decoded.object()) {
            return Err("reading twice makes a difference".to_owned());
        }
    }
    Ok(())
}

/// Any YAML is read or refused, and what is written is read back as it was.
pub fn yaml(data: &[u8]) -> Result<(), String> {
    let Ok(document) = billhook_yaml::read_document(data) else { return Ok(()) };
    let written = billhook::to_yaml(document.value());
    let again = billhook_yaml::read_document(written.as_bytes())
        .map_err(|error| format!("not read back: {error}\n{written}"))?;
    if super::same(again.value(), document.value()) {
        return Ok(());
    }
    Err(format!("written and read differ\n{written}"))
}

/// Any expression compiles or is refused, the same way twice, and so does its evaluation within a
/// limit of cost. Behind the first line may stand the object that it is about.
pub fn expression(data: &[u8]) -> Result<(), String> {
    const LIMIT: u64 = 10_000;
    let Ok(text) = std::str::from_utf8(data) else { return Ok(()) };
    let (expression, object) = text.split_once('\n').unwrap_or((text, "{}"));
    let environment = Environment::default().variable("object", Type::Dyn);
    let compile = || environment.compile(expression);
    let (program, again) = match (compile(), compile()) {
        (Ok(program), Ok(again)) => (program, again),
        (Err(error), Err(again)) if error == again => return Ok(()),
        _ => return Err(format!("`{expression}` compiles differently the second time")),
    };
    let object = read_json(object.as_bytes()).map(|document| document.into_value());
    let (object, any) = (object.unwrap_or_default(), SchemaType::ANY);
    let Ok(object) = billhook_cel::Value::of(&object, &any) else { return Ok(()) };
    let run = |program: &Program| {
        let evaluation = program.evaluate(&[("object", object.clone())], LIMIT);
        format!("{:?} {}", evaluation.result, evaluation.cost)
    };
    let (one, other) = (run(&program), run(&again));
    if one == other { Ok(()) } else { Err(format!("`{expression}` gives {one}, then {other}")) }
}

/// Any pattern compiles or is refused, and matches in bounded time.
pub fn pattern(data: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(data) else { return Ok(()) };
    let (pattern, text) = text.split_once('\n').unwrap_or((text, "aaaaaaaaaaaaaaaaaaaaaaaaaaa!"));
    let checked = billhook_regex::check(pattern);
    let compiled = billhook_regex::Pattern::new(pattern);
    if checked.is_err() && compiled.is_ok() {
        return Err(format!("`{pattern}` is refused by the check only"));
    }
    if let Ok(compiled) = compiled {
        let first = compiled.is_match(text);
        if first != compiled.is_match(text) {
            return Err(format!("`{pattern}` matches differently the second time"));
        }
    }
    Ok(())
}
