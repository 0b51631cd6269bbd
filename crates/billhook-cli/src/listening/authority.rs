//! Certificates of the server: those that are made when it starts, and those of files.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, date_time_ymd,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use super::certificates::ClientAuthorities;

/// The name of HTTP/2 in handshakes.
pub(super) const HTTP2: &[u8] = b"h2";

/// How long certificates are valid, in days from yesterday on: clocks differ.
const VALIDITY: u64 = 1 + 365;
const DAY: u64 = 24 * 60 * 60;
/// The last day, counted from 1970, for which certificates are made, so that dates can be computed.
const LAST_DAY: u64 = 200 * 365;

type Failure = Box<dyn Error + Send + Sync>;

/// An authority that signs the certificates of one run.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as PEM.
pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    /// Makes a new one.
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        let mut authority = CertificateParams::new(Vec::<String>::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, name);
        limit_validity(&mut authority);
        Ok(Authority(CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?))
    }

    /// The certificate of the authority, as PEM.
    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// The certificate of the authority, in DER.
    pub(crate) fn der(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// Makes a certificate for a server of some names and addresses.
    pub(crate) fn serving(&self, name: &str, hosts: Vec<String>) -> Result<Issued, Failure> {
        let mut certificate = CertificateParams::new(hosts)?;
        certificate.distinguished_name.push(DnType::CommonName, name);
        certificate.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(certificate)
    }

    /// Makes a certificate for a user, whose groups the server knows.
    pub(crate) fn client(&self, user: &str) -> Result<Issued, Failure> {
        let mut certificate = CertificateParams::new(Vec::<String>::new())?;
        certificate.distinguished_name.push(DnType::CommonName, user);
        certificate.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(certificate)
    }

    /// Returns what signs.
    pub(super) fn issuer(&self) -> &Issuer<'static, KeyPair> {
        &self.0
    }

    fn issue(&self, mut certificate: CertificateParams) -> Result<Issued, Failure> {
        limit_validity(&mut certificate);
        let key = KeyPair::generate()?;
        let certificate = certificate.signed_by(&key, &self.0)?;
        Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// Lets a certificate begin a day ago, and end.
pub(super) fn limit_validity(certificate: &mut CertificateParams) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let yesterday = (now.as_secs() / DAY).saturating_sub(1).min(LAST_DAY);
    let day = |day: u64| date_time_ymd(1970, 1, 1) + Duration::from_secs(day * DAY);
    certificate.not_before = day(yesterday);
    certificate.not_after = day(yesterday + VALIDITY);
}

/// A certificate of the server with its chain and its key, and the names that it is shown for.
#[derive(Debug)]
pub(crate) struct ServingPair {
    certified: Arc<CertifiedKey>,
    /// `*.example.com` stands for all names with one part more. If there are none, it is shown for
    /// those that it names itself.
    names: Vec<String>,
}

impl ServingPair {
    /// Reads a pair of PEM texts.
    ///
    /// # Errors
    ///
    /// If they are none, or do not belong together.
    pub(crate) fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, Failure> {
        let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>()?;
        if chain.is_empty() {
            return Err("failed to find any PEM data in certificate input".into());
        }
        let key = PrivateKeyDer::from_pem_slice(key)?;
        let certified = CertifiedKey::from_der(chain, key, &default_provider())?;
        Ok(ServingPair { certified: Arc::new(certified), names: Vec::new() })
    }

    /// Reads a pair of files.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self, Failure> {
        Self::from_pem(&std::fs::read(certificate)?, &std::fs::read(key)?)
    }

    /// Shows it for these names.
    pub(crate) fn names(self, names: Vec<String>) -> Self {
        ServingPair { names, ..self }
    }

    fn is_for(&self, host: &str) -> bool {
        if self.names.is_empty() {
            let parsed = self.certified.cert.first().map(ParsedCertificate::try_from);
            return matches!((parsed, ServerName::try_from(host)), (Some(Ok(certificate)), Ok(name))
                if verify_server_name(&certificate, &name).is_ok());
        }
        self.names.iter().any(|name| match name.strip_prefix("*.") {
            Some(domain) => {
                host.split_once('.').is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(domain))
            }
            None => host.eq_ignore_ascii_case(name),
        })
    }
}

/// The certificates of a server: the first one counts whose name is asked for, else the first of all.
#[derive(Debug)]
struct ServingPairs(Vec<ServingPair>);

impl ResolvesServerCert for ServingPairs {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let others = self.0.get(1..).unwrap_or_default();
        let named = hello.server_name().and_then(|host| others.iter().find(|it| it.is_for(host)));
        named.or(self.0.first()).map(|pair| Arc::clone(&pair.certified))
    }
}

/// Makes what serves over TLS, with HTTP/2 for those who know it.
///
/// # Errors
///
/// If the library refuses its own settings.
pub(crate) fn acceptor(
    pairs: Vec<ServingPair>,
    clients: Option<Arc<ClientAuthorities>>,
) -> Result<TlsAcceptor, Failure> {
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?;
    let builder = match clients {
        Some(clients) => builder.with_client_cert_verifier(clients),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(Arc::new(ServingPairs(pairs)));
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
