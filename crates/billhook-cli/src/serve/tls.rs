//! The certificate of the server, made when it starts.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// How long certificates are valid, in days from yesterday on: clocks differ.
const VALIDITY: u64 = 1 + 365;
const DAY: u64 = 24 * 60 * 60;
/// The last day, counted from 1970, for which certificates are made, so that dates can be computed.
const LAST_DAY: u64 = 200 * 365;

/// A certificate with its key, and the authority that signed it.
pub(super) struct Identity {
    pub(super) acceptor: TlsAcceptor,
    /// The certificate of the authority, as PEM.
    pub(super) authority: String,
}

impl Identity {
    /// Makes an authority, and a certificate for this machine and an address.
    pub(super) fn new(address: IpAddr) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut authority = CertificateParams::new(Vec::<String>::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "billhook authority");
        limit_validity(&mut authority);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        let own = address.to_string();
        if !names.contains(&own) {
            names.push(own);
        }
        let mut certificate = CertificateParams::new(names)?;
        certificate.distinguished_name.push(DnType::CommonName, "billhook");
        limit_validity(&mut certificate);
        let key = KeyPair::generate()?;
        let certificate = certificate.signed_by(&key, &authority)?;
        let key = PrivateKeyDer::try_from(key.serialize_der())?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Identity { acceptor: TlsAcceptor::from(Arc::new(config)), authority: authority.pem() })
    }
}

/// Lets a certificate begin a day ago, and end.
fn limit_validity(certificate: &mut CertificateParams) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let yesterday = (now.as_secs() / DAY).saturating_sub(1).min(LAST_DAY);
    let day = |day: u64| date_time_ymd(1970, 1, 1) + Duration::from_secs(day * DAY);
    certificate.not_before = day(yesterday);
    certificate.not_after = day(yesterday + VALIDITY);
}
