//! The keys of tokens: P-256 and RSA, as PEM files have them (ET-34).

use std::fmt;

use billhook_apimachinery::base64::encode_url;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use x509_cert::Certificate;
use x509_cert::der::asn1::{BitStringRef, ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Encode, Reader, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoRef;

const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// A public key of P-256 in DER, up to its point.
const P256_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The algorithm of RSA keys in DER.
const RSA_ALGORITHM: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
/// Version and algorithm of a private key of P-256 in PKCS #8.
const P256_PRIVATE: [u8; 24] = [
    0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
];

/// A key of tokens that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenKeyError {
    /// The text has no key.
    #[error("data does not contain any valid RSA or ECDSA keys")]
    Missing,
    /// A key is of another kind, or damaged.
    #[error("{0}")]
    Unusable(String),
}

fn unusable(why: impl fmt::Display) -> TokenKeyError {
    TokenKeyError::Unusable(why.to_string())
}

/// Signs tokens.
pub(super) enum SigningKey {
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Makes a new key.
    pub(super) fn generate() -> Result<Self, TokenKeyError> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(unusable)?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random);
        pair.map(SigningKey::P256).map_err(unusable)
    }

    /// Reads the first private key of a PEM text.
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, TokenKeyError> {
        let blocks = pem::parse_many(text).map_err(unusable)?;
        let key = blocks.iter().find_map(|block| Self::of_block(block.tag(), block.contents()));
        key.ok_or(TokenKeyError::Missing)?
    }

    fn of_block(tag: &str, der: &[u8]) -> Option<Result<Self, TokenKeyError>> {
        let p256 = |der: &[u8]| {
            let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
            EcdsaKeyPair::from_pkcs8(algorithm, der, &SystemRandom::new()).map(SigningKey::P256)
        };
        let key = match tag {
            "PRIVATE KEY" => {
                p256(der).or_else(|_| RsaKeyPair::from_pkcs8(der).map(SigningKey::Rsa))
            }
            "RSA PRIVATE KEY" => RsaKeyPair::from_der(der).map(SigningKey::Rsa),
            "EC PRIVATE KEY" => {
                let body = [&P256_PRIVATE[..], &element(0x04, der)].concat();
                p256(&element(0x30, &body))
            }
            _ => return None,
        };
        Some(key.map_err(unusable))
    }

    pub(super) fn public(&self) -> PublicKey {
        match self {
            SigningKey::P256(pair) => PublicKey::P256(pair.public_key().as_ref().to_vec()),
            SigningKey::Rsa(pair) => PublicKey::Rsa(pair.public_key().as_ref().to_vec()),
        }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, TokenKeyError> {
        let random = SystemRandom::new();
        match self {
            SigningKey::P256(pair) => {
                pair.sign(&random, message).map(|it| it.as_ref().to_vec()).map_err(unusable)
            }
            SigningKey::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let signed = pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                signed.map(|()| signature).map_err(unusable)
            }
        }
    }
}

/// Verifies tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PublicKey {
    /// The point.
    P256(Vec<u8>),
    /// Modulus and exponent in DER.
    Rsa(Vec<u8>),
}

impl PublicKey {
    /// Reads all keys of a PEM text: public and private ones, and those of certificates.
    pub(super) fn all_from_pem(text: &[u8]) -> Result<Vec<Self>, TokenKeyError> {
        let mut keys = Vec::new();
        for block in pem::parse_many(text).map_err(unusable)? {
            let der = block.contents();
            match block.tag() {
                "PUBLIC KEY" => keys.push(Self::from_der(der)?),
                "CERTIFICATE" => {
                    let certificate = Certificate::from_der(der).map_err(unusable)?;
                    let key = certificate.tbs_certificate().subject_public_key_info().to_der();
                    keys.push(Self::from_der(&key.map_err(unusable)?)?);
                }
                tag => {
                    if let Some(key) = SigningKey::of_block(tag, der) {
                        keys.push(key?.public());
                    }
                }
            }
        }
        if keys.is_empty() { Err(TokenKeyError::Missing) } else { Ok(keys) }
    }

    fn from_der(der: &[u8]) -> Result<Self, TokenKeyError> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(unusable)?;
        let bits: BitStringRef<'_> = info.subject_public_key;
        let bytes = bits.as_bytes().unwrap_or_default();
        match info.algorithm.oid {
            EC if bytes.len() == 65 => Ok(PublicKey::P256(bytes.to_vec())),
            RSA => Ok(PublicKey::Rsa(bytes.to_vec())),
            _ => Err(unusable("the key is neither one of P-256 nor one of RSA")),
        }
    }

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified =
            match self {
                PublicKey::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature),
                PublicKey::Rsa(key) => UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
                    .verify(message, signature),
            };
        verified.is_ok()
    }

    /// The name of the algorithm in headers of tokens.
    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            PublicKey::P256(_) => "ES256",
            PublicKey::Rsa(_) => "RS256",
        }
    }

    /// The identifier of the key: the digest of its DER.
    pub(super) fn id(&self) -> String {
        let der = match self {
            PublicKey::P256(point) => [&P256_PREFIX[..], point].concat(),
            PublicKey::Rsa(key) => {
                let bits = element(0x03, &[&[0], &key[..]].concat());
                element(0x30, &[&RSA_ALGORITHM[..], &bits].concat())
            }
        };
        encode_url(&Sha256::digest(der))
    }

    /// The key as sets of keys list it (RFC 7517).
    pub(super) fn to_jwk(&self) -> Value {
        let (id, algorithm) = (self.id(), self.algorithm());
        match self {
            PublicKey::P256(point) => {
                let (x, y) =
                    point.get(1..).unwrap_or_default().split_at_checked(32).unwrap_or_default();
                json!({"use": "sig", "kty": "EC", "kid": id, "crv": "P-256", "alg": algorithm,
                    "x": encode_url(x), "y": encode_url(y)})
            }
            PublicKey::Rsa(key) => {
                let (modulus, exponent) = parts_of_rsa(key).unwrap_or_default();
                json!({"use": "sig", "kty": "RSA", "kid": id, "alg": algorithm,
                    "n": encode_url(&modulus), "e": encode_url(&exponent)})
            }
        }
    }
}

fn parts_of_rsa(key: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut reader = SliceReader::new(key).ok()?;
    let parts = reader.sequence(|reader| {
        let modulus = UintRef::decode(reader)?.as_bytes().to_vec();
        let exponent = UintRef::decode(reader)?.as_bytes().to_vec();
        Ok::<_, x509_cert::der::Error>((modulus, exponent))
    });
    parts.ok()
}

/// An element in DER, of at most 65,535 bytes.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let [.., high, low] = content.len().to_be_bytes();
    let head = match (high, low) {
        (0, 0..=127) => vec![tag, low],
        (0, _) => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [head, content.to_vec()].concat()
}
