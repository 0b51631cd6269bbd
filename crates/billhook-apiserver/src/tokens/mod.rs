//! Tokens of service accounts: made on request, and accepted as those of their users (BK-253, ET-34).

mod bound;
mod keys;
mod known;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use billhook_apimachinery::base64::{decode_url, encode_url};
use serde_json::{Value, json};

pub(crate) use self::bound::{Account, BoundObject, Grant, Objects, authenticate, claim_of};
pub use self::keys::TokenKeyError;
use self::keys::{PublicKey, SigningKey};
pub(crate) use self::known::KnownTokens;

const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// How long a token is at most, in bytes: no server makes longer ones.
const MAX_LENGTH: usize = 16 << 10;

/// How the tokens of service accounts are signed and verified. By default they are signed by a key of
/// the server's own, which is made when it is first used.
#[derive(Clone)]
pub struct ServiceAccountTokens {
    issuers: Vec<String>,
    audiences: Vec<String>,
    max_expiration: Option<Duration>,
    key_set_url: Option<String>,
    signing_key: Arc<OnceLock<Option<SigningKey>>>,
    verifying_keys: Vec<PublicKey>,
}

impl fmt::Debug for ServiceAccountTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccountTokens")
            .field("issuers", &self.issuers)
            .finish_non_exhaustive()
    }
}

impl Default for ServiceAccountTokens {
    fn default() -> Self {
        ServiceAccountTokens {
            issuers: vec![DEFAULT_ISSUER.to_owned()],
            audiences: Vec::new(),
            max_expiration: None,
            key_set_url: None,
            signing_key: Arc::default(),
            verifying_keys: Vec::new(),
        }
    }
}

impl ServiceAccountTokens {
    /// Sets the issuers: new tokens are of the first, and those of all are accepted.
    #[must_use]
    pub fn issuers(mut self, issuers: impl IntoIterator<Item = String>) -> Self {
        self.issuers = issuers.into_iter().collect();
        self
    }

    /// Sets the audiences of the server, one of which a token must be for; by default the issuers.
    #[must_use]
    pub fn audiences(mut self, audiences: impl IntoIterator<Item = String>) -> Self {
        self.audiences = audiences.into_iter().collect();
        self
    }

    /// Sets how long a token counts at most.
    #[must_use]
    pub fn max_expiration(mut self, max: Duration) -> Self {
        self.max_expiration = Some(max);
        self
    }

    /// Sets where those who verify tokens find the keys; by default that is the server's own address.
    #[must_use]
    pub fn key_set_url(mut self, url: &str) -> Self {
        self.key_set_url = Some(url.to_owned());
        self
    }

    /// Signs by the first private key of a PEM text: P-256 or RSA.
    ///
    /// # Errors
    ///
    /// If the text has no such key.
    pub fn signing_key(mut self, pem: &[u8]) -> Result<Self, TokenKeyError> {
        let key = SigningKey::from_pem(pem)?;
        self.signing_key = Arc::new(OnceLock::from(Some(key)));
        Ok(self)
    }

    /// Accepts tokens that were signed by the keys of a PEM text, too: public and private keys, and
    /// those of certificates.
    ///
    /// # Errors
    ///
    /// If the text has no key, or one that cannot be used.
    pub fn verifying_keys(mut self, pem: &[u8]) -> Result<Self, TokenKeyError> {
        self.verifying_keys.extend(PublicKey::all_from_pem(pem)?);
        Ok(self)
    }

    /// The audiences of the server.
    pub(crate) fn own_audiences(&self) -> &[String] {
        if self.audiences.is_empty() { &self.issuers } else { &self.audiences }
    }

    /// The seconds that a token counts for which so many were asked.
    pub(crate) fn seconds(&self, asked: i64) -> i64 {
        let max = self.max_expiration.and_then(|max| i64::try_from(max.as_secs()).ok());
        max.map_or(asked, |max| asked.min(max))
    }

    fn key(&self) -> Option<&SigningKey> {
        self.signing_key.get_or_init(|| SigningKey::generate().ok()).as_ref()
    }

    fn public_keys(&self) -> Vec<PublicKey> {
        let own = self.key().map(SigningKey::public);
        let mut keys: Vec<PublicKey> = own.into_iter().collect();
        for key in &self.verifying_keys {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        keys
    }

    /// Signs claims, to which the issuer is added.
    pub(crate) fn sign(&self, mut claims: Value) -> Option<String> {
        let key = self.key()?;
        let public = key.public();
        if let (Value::Object(claims), Some(issuer)) = (&mut claims, self.issuers.first()) {
            claims.insert("iss".to_owned(), issuer.clone().into());
        }
        let header = json!({"alg": public.algorithm(), "kid": public.id()});
        let part = |value: &Value| encode_url(value.to_string().as_bytes());
        let message = format!("{}.{}", part(&header), part(&claims));
        let signature = key.sign(message.as_bytes()).ok()?;
        Some(format!("{message}.{}", encode_url(&signature)))
    }

    /// Returns the claims of a token, if one of the keys signed it for one of the issuers.
    pub(crate) fn verify(&self, token: &str) -> Option<Value> {
        if token.len() > MAX_LENGTH {
            return None;
        }
        let (message, signature) = token.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        let read = |part: &str| serde_json::from_slice::<Value>(&decode_url(part)?).ok();
        let (header, signature) = (read(header)?, decode_url(signature)?);
        let is_signed = self.public_keys().iter().any(|key| {
            header.get("alg").is_some_and(|it| it == key.algorithm())
                && key.verify(message.as_bytes(), &signature)
        });
        let claims = read(claims).filter(|_| is_signed)?;
        self.issuers
            .iter()
            .any(|issuer| claims.get("iss").is_some_and(|it| it == issuer))
            .then_some(claims)
    }

    /// The set of keys that verify tokens (RFC 7517).
    pub(crate) fn key_set(&self) -> Value {
        json!({"keys": self.public_keys().iter().map(PublicKey::to_jwk).collect::<Vec<_>>()})
    }

    /// The document of the issuer, if it is a URL (ET-34), from a server that is reached at an address.
    pub(crate) fn configuration(&self, address: &str) -> Option<Value> {
        let own = || format!("https://{address}/openid/v1/jwks");
        let keys = self.key_set_url.clone().unwrap_or_else(own);
        let issuer = self.issuers.first().filter(|issuer| issuer.starts_with("https://"))?;
        let mut algorithms: Vec<&str> =
            self.public_keys().iter().map(PublicKey::algorithm).collect();
        algorithms.sort_unstable();
        algorithms.dedup();
        Some(json!({
            "issuer": issuer, "jwks_uri": keys, "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        }))
    }
}
