//! Secrets (BK-251).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{KubernetesVersion, base64};
use serde_json::{Map, Value};

use super::data;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::values::text;

/// The rules of secrets.
#[derive(Debug)]
pub(crate) struct Secret;

impl Behavior for Secret {
    fn set_defaults(&self, secret: &mut Value, _: KubernetesVersion) {
        merge_string_data(secret);
        if let Value::Object(members) = secret {
            members.entry("type").or_insert_with(|| "Opaque".into());
        }
    }

    fn validate(
        &self,
        secret: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        data::validate_secret(secret, &mut found.errors);
        found.warnings.extend(key_pair_warning(secret));
        if let Some(old) = old {
            data::validate_type(secret, old, &mut found.errors);
            data::validate_immutable(secret, old, &mut found.errors);
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![
            cells::name(object),
            cells::at(object, "/type"),
            cells::count(object, "/data").into(),
            cells::created(object, now),
        ]
    }
}

/// Moves the texts of a secret to its data, where they are encoded.
fn merge_string_data(secret: &mut Value) {
    let Value::Object(members) = secret else { return };
    let Some(Value::Object(texts)) = members.remove("stringData") else { return };
    let data = members.entry("data").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(data) = data {
        for (name, value) in texts {
            data.insert(name, base64::encode(text(&value, "").as_bytes()).into());
        }
    }
}

/// Returns the server's warning about a certificate or a key that is not in PEM. What is in the PEM
/// is not checked.
fn key_pair_warning(secret: &Value) -> Option<String> {
    if text(secret, "/type") != "kubernetes.io/tls" {
        return None;
    }
    let data = secret.get("data")?;
    for (key, part) in [("tls.crt", "certificate"), ("tls.key", "key")] {
        let bytes = base64::decode(data.get(key)?.as_str()?).unwrap_or_default();
        if !String::from_utf8_lossy(&bytes).contains("-----BEGIN ") {
            return Some(format!("tls: failed to find any PEM data in {part} input"));
        }
    }
    None
}
