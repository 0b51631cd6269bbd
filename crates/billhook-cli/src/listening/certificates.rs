//! Certificates of clients (ET-31, ET-32). A handshake succeeds with any whose key the client has;
//! requests are refused if no authority vouches for it.

use std::fmt::Write as _;
use std::sync::Arc;

use billhook_apimachinery::UserInfo;
use billhook_webhook_client::certificate::{Certificate, Purpose};
use sha2::{Digest as _, Sha256};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring::default_provider, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme, client::danger::HandshakeSignatureValid,
};

use super::gate::Peer;

const AUTHENTICATED: &str = "system:authenticated";
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// The certificates that vouch for clients.
#[derive(Debug)]
pub(crate) struct ClientAuthorities {
    /// Checks chains; missing if no certificate is that of an authority.
    chains: Option<Arc<dyn ClientCertVerifier>>,
    pool: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
    subjects: Vec<DistinguishedName>,
}

impl ClientAuthorities {
    /// Trusts certificates, and those that they have signed.
    pub(crate) fn new(pool: Vec<CertificateDer<'static>>) -> Self {
        let provider = Arc::new(default_provider());
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(pool.iter().cloned());
        let subjects = roots.subjects();
        let chains =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        ClientAuthorities { chains: chains.build().ok(), pool, provider, subjects }
    }

    /// Returns who a client is that has shown that it has the key of the first certificate.
    pub(super) fn identify(&self, chain: &[CertificateDer<'_>]) -> Peer {
        let Some((leaf, intermediates)) = chain.split_first() else { return Peer::Unknown };
        let user = self.verify(leaf, intermediates).ok().and_then(|()| user(leaf));
        user.map_or(Peer::Refused, |user| Peer::Known(Box::new(user)))
    }

    fn verify(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
    ) -> Result<(), Error> {
        let now = UnixTime::now();
        if self.pool.contains(leaf) {
            let certificate = Certificate::from_der(leaf)?;
            certificate.check_time(now)?;
            certificate.check_purpose(Purpose::Client)?;
            return Ok(());
        }
        let chains = self.chains.as_ref().ok_or(CertificateError::UnknownIssuer)?;
        chains.verify_client_cert(leaf, intermediates, now).map(|_| ())
    }
}

/// Returns the user of a certificate.
fn user(leaf: &CertificateDer<'_>) -> Option<UserInfo> {
    let certificate = Certificate::from_der(leaf).ok()?;
    let name = certificate.common_name().filter(|name| !name.is_empty())?;
    let user = certificate.organizations().into_iter().fold(UserInfo::named(name), UserInfo::group);
    let is_authenticated = user.groups.iter().any(|group| group == AUTHENTICATED);
    let mut user = if is_authenticated { user } else { user.group(AUTHENTICATED) };
    let mut id = "X509SHA256=".to_owned();
    for byte in Sha256::digest(leaf) {
        // Writing to a string cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    user.extra.insert(CREDENTIAL.to_owned(), vec![id]);
    Some(user)
}

impl ClientCertVerifier for ClientAuthorities {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.subjects
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        // Requests find out, and are answered.
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
