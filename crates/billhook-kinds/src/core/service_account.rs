//! ServiceAccounts (BK-252).

use billhook_apimachinery::metadata::Time;
use serde_json::{Value, json};

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::values::{text, value_at};

/// The annotation that restricts which secrets pods may mount.
const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";

/// The rules of service accounts.
#[derive(Debug)]
pub(crate) struct ServiceAccount;

impl Behavior for ServiceAccount {
    fn prepare(&self, account: &mut Value, _: Option<&Value>, _: &WriteContext<'_>) {
        let secrets = account.get_mut("secrets").and_then(Value::as_array_mut);
        for secret in secrets.into_iter().flatten() {
            *secret = match text(secret, "/name") {
                "" => json!({}),
                name => json!({ "name": name }),
            };
        }
    }

    fn validate(
        &self,
        account: &Value,
        _: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let annotations = value_at(account, "/metadata/annotations");
        if annotations.and_then(|all| all.get(ENFORCE)).is_some() {
            found.warnings.push(format!(
                "metadata.annotations[{ENFORCE}]: deprecated in v1.32+; prefer separate \
                 namespaces to isolate access to mounted secrets"
            ));
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![cells::name(object), cells::created(object, now)]
    }
}
