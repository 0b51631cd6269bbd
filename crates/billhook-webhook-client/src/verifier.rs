//! Which certificates of servers are trusted: those that an authority of the bundle signed, and
//! those that are in the bundle themselves (CL-40, CL-41).
//!
//! The verifier of rustls refuses the certificate of an authority as that of a server. A server
//! that shows the very certificate that the bundle names, which is what a self-signed certificate
//! usually is, needs no chain: only its time, its names and its purpose are left to be checked.
//! That the server has the key is shown by the handshake as always.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::certificate::{Certificate, Purpose};

/// Trusts the certificates of a bundle.
#[derive(Debug)]
pub(super) struct BundleVerifier {
    chains: Arc<WebPkiServerVerifier>,
    bundle: Vec<CertificateDer<'static>>,
}

impl BundleVerifier {
    /// Trusts certificates, given in DER. Those that cannot be authorities only count themselves.
    pub(super) fn new(
        certificates: Vec<Vec<u8>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let bundle: Vec<CertificateDer<'static>> =
            certificates.into_iter().map(CertificateDer::from).collect();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(bundle.iter().cloned());
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| format!("unable to load root certificates: {error}"))?;
        Ok(BundleVerifier { chains, bundle })
    }
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if !self.bundle.contains(end_entity) {
            return self.chains.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            );
        }
        // This refuses critical extensions that are not checked.
        let parsed = ParsedCertificate::try_from(end_entity)?;
        let certificate = Certificate::from_der(end_entity)?;
        certificate.check_time(now)?;
        verify_server_name(&parsed, server_name)?;
        certificate.check_purpose(Purpose::Server)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}
