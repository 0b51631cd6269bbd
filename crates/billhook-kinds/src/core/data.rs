//! The data of ConfigMaps and Secrets (BK-250, BK-251).

use billhook_apimachinery::base64;
use billhook_apimachinery::value::json_type;
use billhook_apimachinery::{FieldError, FieldPath};
use billhook_decode::read_json;
use serde_json::Value;

use crate::rules;

/// How many bytes all values have together at most.
const MAX_DATA: usize = 1 << 20;

/// The annotation that names the account of a token.
const ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Checks the keys and the size of a ConfigMap's data.
pub(super) fn validate_config_map(object: &Value, errors: &mut Vec<FieldError>) {
    let (texts, binary) = (section(object, "data"), section(object, "binaryData"));
    for (key, _) in texts.clone() {
        let path = FieldPath::default().name("data").key(key);
        validate_key(key, &path, errors);
        if object.get("binaryData").and_then(|binary| binary.get(key)).is_some() {
            let detail = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(path, key, detail));
        }
    }
    for (key, _) in binary.clone() {
        validate_key(key, &FieldPath::default().name("binaryData").key(key), errors);
    }
    let size = texts.map(|(_, text)| text.len()).sum::<usize>() + size_of_binary(binary);
    if size > MAX_DATA {
        // The path of the whole object.
        errors.push(FieldError::too_long(FieldPath::default().key(""), MAX_DATA as i64));
    }
}

/// Checks the data of a Secret, and whether it is what the type needs.
pub(super) fn validate_secret(object: &Value, errors: &mut Vec<FieldError>) {
    let data = section(object, "data");
    for (key, _) in data.clone() {
        validate_key(key, &FieldPath::default().name("data").key(key), errors);
    }
    if size_of_binary(data.clone()) > MAX_DATA {
        errors.push(FieldError::too_long(FieldPath::default().name("data"), MAX_DATA as i64));
    }
    let has = |key: &str| data.clone().any(|(known, _)| known == key);
    let mut require = |keys: &[&str]| {
        let paths = keys.iter().map(|key| FieldPath::default().name("data").key(key));
        errors.extend(paths.map(|path| FieldError::required(path, "")));
    };
    match object.get("type").and_then(Value::as_str).unwrap_or_default() {
        "kubernetes.io/service-account-token" => validate_account(object, errors),
        "kubernetes.io/dockercfg" => validate_json(data, ".dockercfg", errors),
        "kubernetes.io/dockerconfigjson" => validate_json(data, ".dockerconfigjson", errors),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            require(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" => {
            let key = "ssh-privatekey";
            if !data.clone().any(|(known, value)| known == key && !value.is_empty()) {
                require(&[key]);
            }
        }
        "kubernetes.io/tls" => {
            let missing: Vec<_> =
                ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)).collect();
            require(&missing);
        }
        _ => {}
    }
}

fn validate_account(secret: &Value, errors: &mut Vec<FieldError>) {
    let annotations = secret.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let account = annotations.and_then(|all| all.get(ACCOUNT)).and_then(Value::as_str);
    if account.unwrap_or_default().is_empty() {
        let path = FieldPath::default().name("metadata").name("annotations").key(ACCOUNT);
        errors.push(FieldError::required(path, ""));
    }
}

/// Checks that a value is there and an object in JSON.
fn validate_json<'d>(
    mut data: impl Iterator<Item = (&'d str, &'d str)>,
    key: &str,
    errors: &mut Vec<FieldError>,
) {
    let path = FieldPath::default().name("data").key(key);
    let Some((_, value)) = data.find(|(known, _)| *known == key) else {
        errors.push(FieldError::required(path, ""));
        return;
    };
    let error = match read_json(&base64::decode(value).unwrap_or_default()) {
        Err(error) => error.to_string(),
        Ok(document) => match document.value() {
            Value::Object(_) | Value::Null => return,
            other => {
                let found = json_type(other);
                format!(
                    "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
                )
            }
        },
    };
    errors.push(FieldError::invalid(path, "<secret contents redacted>", &error));
}

/// The keys and values of a part of an object.
fn section<'o>(object: &'o Value, name: &str) -> impl Iterator<Item = (&'o str, &'o str)> + Clone {
    let members = object.get(name).and_then(Value::as_object).into_iter().flatten();
    members.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}

/// How many bytes values have that are written in base64.
fn size_of_binary<'d>(data: impl Iterator<Item = (&'d str, &'d str)>) -> usize {
    data.map(|(_, text)| base64::decode(text).map_or(0, |bytes| bytes.len())).sum()
}

fn validate_key(key: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    rules::invalid(errors, path, key, rules::config_key(key));
}

/// The type of a secret stays.
pub(super) fn validate_type(object: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let (new, old) = (object.get("type"), old.get("type"));
    if new != old {
        let path = FieldPath::default().name("type");
        let new = new.cloned().unwrap_or_else(|| "".into());
        errors.push(FieldError::invalid(path, new, "field is immutable"));
    }
}

/// Data that is declared immutable stays, and stays so.
pub(super) fn validate_immutable(object: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let is_immutable = |object: &Value| object.get("immutable") == Some(&Value::Bool(true));
    if !is_immutable(old) {
        return;
    }
    let detail = "field is immutable when `immutable` is set";
    let mut forbid = |name: &str| {
        errors.push(FieldError::forbidden(FieldPath::default().name(name), detail));
    };
    if !is_immutable(object) {
        forbid("immutable");
    }
    for name in ["data", "binaryData"] {
        if object.get(name) != old.get(name) {
            forbid(name);
        }
    }
}
