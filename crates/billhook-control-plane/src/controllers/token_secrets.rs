//! Secrets of type `kubernetes.io/service-account-token`: they are filled, and go with their accounts.

use std::sync::Arc;

use billhook_apimachinery::UserInfo;
use billhook_apimachinery::base64::encode;
use serde_json::{Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CONFIG_MAPS, Resource, SECRETS, SERVICE_ACCOUNTS};
use crate::view::{Change, View};

const TYPE: &str = "kubernetes.io/service-account-token";
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";
const ROOT_CERTIFICATE: &str = "kube-root-ca.crt";
/// How long a token counts: a hundred years.
const SECONDS: i64 = 100 * 365 * 24 * 3600;

/// Fills secrets with tokens of the accounts that they name.
#[derive(Debug)]
pub(crate) struct TokenSecrets;

impl Controller for TokenSecrets {
    fn name(&self) -> &'static str {
        "serviceaccount-token-controller"
    }

    fn account(&self) -> Account {
        let user = UserInfo::named("system:kube-controller-manager").group("system:authenticated");
        Account::new(user, "kube-controller-manager")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&SECRETS, &SERVICE_ACCOUNTS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, &SECRETS) {
            return;
        }
        let Some(account) = change.object() else { return };
        let is_of_account = |secret: &&Arc<Object>| {
            is_of_tokens(secret) && secret.annotation(ACCOUNT_NAME) == Some(account.name())
        };
        let secrets = view.list(&SECRETS, account.namespace()).filter(is_of_account);
        secrets.for_each(|secret| keys.add(secret.key()));
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let secret = view.get(&SECRETS, key).filter(|it| is_of_tokens(it) && !it.is_deleting());
        let Some(secret) = secret else { return Plan::nothing() };
        let name = secret.annotation(ACCOUNT_NAME).unwrap_or_default();
        let account = view.get(&SERVICE_ACCOUNTS, &format!("{}/{name}", secret.namespace()));
        let is_same = |account: &&Arc<Object>| {
            secret.annotation(ACCOUNT_UID).is_none_or(|uid| uid.is_empty() || uid == account.uid())
        };
        match account.filter(is_same) {
            None => {
                Plan::nothing().try_request(Request::delete_seen(&SECRETS, secret), &[404, 409])
            }
            Some(account) => fill(secret, account, view),
        }
    }
}

fn is_of_tokens(secret: &Object) -> bool {
    secret.text("/type") == TYPE && secret.annotation(ACCOUNT_NAME).is_some()
}

/// Writes what a secret lacks: the certificate, the namespace, a token.
fn fill(secret: &Arc<Object>, account: &Arc<Object>, view: &View) -> Plan {
    let mut filled = secret.copy();
    let key = format!("{}/{ROOT_CERTIFICATE}", secret.namespace());
    let certificate = view.get(&CONFIG_MAPS, &key).map(|map| map.text("/data/ca.crt").to_owned());
    let known = [("namespace", Some(secret.namespace().to_owned())), ("ca.crt", certificate)];
    for (name, value) in known {
        if let Some(value) = value
            && secret.get("/data").get(name).is_none()
        {
            set(&mut filled, &["data", name], encode(value.as_bytes()).into());
        }
    }
    set(&mut filled, &["metadata", "annotations", ACCOUNT_UID], account.uid().into());
    if secret.get("/data/token").is_string() {
        return write(secret, &filled);
    }
    let secret = Arc::clone(secret);
    let bound =
        json!({"apiVersion": "v1", "kind": "Secret", "name": secret.name(), "uid": secret.uid()});
    let wanted = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"audiences": null, "expirationSeconds": SECONDS, "boundObjectRef": bound},
    });
    let request = Request::create_in(&SERVICE_ACCOUNTS, account.key(), "token", &wanted);
    Plan::nothing().then(vec![request], move |outcomes| {
        let Some(outcome) = outcomes.first() else { return Plan::nothing() };
        if let Some(failure) = Plan::of_outcome(outcome) {
            return failure;
        }
        let answer = outcome.object();
        let token = answer.pointer("/status/token").and_then(Value::as_str).unwrap_or_default();
        set(&mut filled, &["data", "token"], encode(token.as_bytes()).into());
        write(&secret, &filled)
    })
}

fn write(secret: &Object, filled: &Value) -> Plan {
    if secret.copy() == *filled {
        return Plan::nothing();
    }
    Plan::nothing().request(Request::update(&SECRETS, secret.key(), filled))
}
