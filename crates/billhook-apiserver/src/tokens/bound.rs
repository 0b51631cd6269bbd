//! The claims of tokens: whose they are, and with which objects they end (BK-253).

use billhook_apimachinery::UserInfo;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::{member, text};
use billhook_apimachinery::value::DeepValue;
use billhook_kinds::Kind;
use serde_json::{Value, json};
use uuid::Uuid;

use super::ServiceAccountTokens;
use crate::users::with_credential;

/// A service account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// The claims of objects with which tokens may end, and their kinds in the core group.
const CLAIMS: [(&str, &str); 3] = [("pod", "Pod"), ("secret", "Secret"), ("node", "Node")];

/// Returns the claim of the objects of a kind, if tokens may end with them.
pub(crate) fn claim_of(kind: &Kind) -> Option<&'static str> {
    let mut claims = CLAIMS.into_iter().filter(|_| kind.api_version() == "v1");
    claims.find(|(_, name)| *name == kind.kind).map(|(claim, _)| claim)
}

/// An object with which a token ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundObject {
    /// The name of the claim: `pod`, `secret` or `node`.
    claim: String,
    name: String,
    uid: String,
    /// The node of a pod.
    node: Option<Box<BoundObject>>,
}

impl BoundObject {
    /// Reads an object.
    pub(crate) fn read(claim: &str, object: &Value) -> Option<Self> {
        let metadata = member(object, "metadata")?;
        let of = |name: &str| text(metadata, name).to_owned();
        Some(BoundObject { claim: claim.to_owned(), name: of("name"), uid: of("uid"), node: None })
    }

    /// The same on a node.
    pub(crate) fn on(mut self, node: Option<BoundObject>) -> Self {
        self.node = node.map(Box::new);
        self
    }

    fn add_to(&self, claims: &mut Value) {
        if let Value::Object(members) = claims {
            let (name, uid) = (&self.name, &self.uid);
            members.insert(self.claim.clone(), json!({"name": name, "uid": uid}));
        }
        if let Some(node) = &self.node {
            node.add_to(claims);
        }
    }
}

/// A token that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) account: Account,
    pub(crate) bound: Option<BoundObject>,
    pub(crate) seconds: i64,
}

impl Grant {
    /// Returns the token, and when it ends.
    pub(crate) fn sign(
        &self,
        tokens: &ServiceAccountTokens,
        audiences: &[String],
        now: Time,
    ) -> Option<(String, Time)> {
        let Account { namespace, name, uid } = &self.account;
        let mut own = json!({"namespace": namespace, "serviceaccount": {"name": name, "uid": uid}});
        if let Some(bound) = &self.bound {
            bound.add_to(&mut own);
        }
        let expiration = now.plus_seconds(tokens.seconds(self.seconds));
        let epoch = Time::from_unix(0);
        let issued = now.seconds_since(epoch);
        let token = tokens.sign(json!({
            "aud": audiences, "exp": expiration.seconds_since(epoch), "iat": issued, "nbf": issued,
            "jti": Uuid::new_v4().to_string(), "kubernetes.io": own,
            "sub": format!("system:serviceaccount:{namespace}:{name}"),
        }))?;
        Some((token, expiration))
    }
}

/// The objects of a server that tokens end with.
pub(crate) struct Objects<'o> {
    /// Returns an object of the core group by its resource and its key.
    pub(crate) find: &'o dyn Fn(&str, &str) -> Option<DeepValue>,
    pub(crate) now: Time,
}

/// Returns the user of a token and the audiences among those asked for that it is for: if the token
/// has not ended, and its account and the object that it is bound to are still there.
pub(crate) fn authenticate(
    tokens: &ServiceAccountTokens,
    objects: &Objects<'_>,
    token: &str,
    audiences: &[String],
) -> Option<(UserInfo, Vec<String>)> {
    let claims = tokens.verify(token)?;
    let now = objects.now.seconds_since(Time::from_unix(0));
    let at = |name: &str| claims.get(name).and_then(Value::as_i64);
    if at("exp")? <= now || at("nbf").is_some_and(|begin| begin > now) {
        return None;
    }
    let audiences: Vec<String> =
        audiences.iter().filter(|it| is_for(&claims, it)).cloned().collect();
    if audiences.is_empty() {
        return None;
    }
    let own = claims.get("kubernetes.io")?;
    let (namespace, account) = (text(own, "namespace"), own.get("serviceaccount")?);
    let in_namespace = |name: &str| format!("{namespace}/{name}");
    check(objects, "serviceaccounts", &in_namespace(text(account, "name")), account)?;
    let mut user = UserInfo::service_account(namespace, text(account, "name"));
    text(account, "uid").clone_into(&mut user.uid);
    for (claim, kind) in CLAIMS {
        let Some(object) = own.get(claim) else { continue };
        let kind = Kind::named("v1", kind)?;
        let (name, uid) = (text(object, "name"), text(object, "uid"));
        // The node of a pod may be gone before it.
        let is_checked = claim != "node" || own.get("pod").is_none();
        let key = if kind.is_namespaced { in_namespace(name) } else { name.to_owned() };
        if is_checked {
            check(objects, kind.plural, &key, object)?;
        }
        if claim != "secret" {
            for (part, value) in [("name", name), ("uid", uid)] {
                let key = format!("authentication.kubernetes.io/{claim}-{part}");
                user.extra.insert(key, vec![value.to_owned()]);
            }
        }
    }
    let id = text(&claims, "jti");
    Some((with_credential(user, &format!("JTI={id}")), audiences))
}

fn is_for(claims: &Value, audience: &str) -> bool {
    match claims.get("aud") {
        Some(Value::Array(audiences)) => audiences.iter().any(|it| it == audience),
        Some(only) => only == audience,
        None => false,
    }
}

/// Whether an object of a claim is there, and is the same.
fn check(objects: &Objects<'_>, plural: &str, key: &str, claim: &Value) -> Option<()> {
    let object = (objects.find)(plural, key)?;
    let metadata = member(&object, "metadata")?;
    (text(metadata, "uid") == text(claim, "uid")).then_some(())
}
