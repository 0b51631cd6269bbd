//! Secrets (BK-251).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{KubernetesVersion, base64};
use serde_json::{Map, Value};

use super::data;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::values::{pem_labels, text};

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

/// Returns the server's warning about a pair of which the certificate or the key is not in PEM. What
/// is in the blocks is not checked.
fn key_pair_warning(secret: &Value) -> Option<String> {
    if text(secret, "/type") != "kubernetes.io/tls" {
        return None;
    }
    let data = secret.get("data")?;
    let labels = |key| Some(pem_labels(data.get(key)?.as_str()?));
    let (certificate, key) = (labels("tls.crt")?, labels("tls.key")?);
    let problem = certificate_problem(&certificate).or_else(|| key_problem(&key));
    problem.map(|problem| format!("tls: {problem}"))
}

fn certificate_problem(labels: &[String]) -> Option<String> {
    match labels {
        [] => Some("failed to find any PEM data in certificate input".to_owned()),
        labels if labels.iter().any(|label| label == "CERTIFICATE") => None,
        [label] if label.ends_with("PRIVATE KEY") => Some(
            "failed to find certificate PEM data in certificate input, but did find a private key; PEM \
             inputs may have been switched"
                .to_owned(),
        ),
        labels => Some(format!(
            "failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of \
             the following types: [{}]",
            labels.join(" ")
        )),
    }
}

fn key_problem(labels: &[String]) -> Option<String> {
    let is_key = |label: &String| label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
    match labels {
        [] => Some("failed to find any PEM data in key input".to_owned()),
        labels if labels.iter().any(is_key) => None,
        [label] if label == "CERTIFICATE" => {
            Some("found a certificate rather than a key in the PEM for the private key".to_owned())
        }
        labels => Some(format!(
            "failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping \
             PEM blocks of the following types: [{}]",
            labels.join(" ")
        )),
    }
}
