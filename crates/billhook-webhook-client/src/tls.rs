//! Trust and identity of a connection (CL-40 to CL-44).

use std::path::Path;
use std::sync::Arc;

use billhook_definition::ca_bundle::certificates;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider};

use super::users::{Source, User};
use super::verifier::BundleVerifier;

/// A client certificate with its chain, and its key.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The settings for connections that trust a bundle, or the system's roots if it is empty, and
/// show the client certificate of a user if the server asks for one.
pub(super) fn settings(ca_bundle: &[u8], user: Option<&User>) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = if ca_bundle.is_empty() {
        builder.with_root_certificates(system_roots())
    } else {
        let bundle = certificates(ca_bundle).map_err(|error| error.to_string())?;
        let verifier = BundleVerifier::new(bundle, provider)?;
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
    };
    let mut config = match user.map(identity).transpose()?.flatten() {
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| format!("unable to use the client certificate: {error}"))?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn identity(user: &User) -> Result<Option<Identity>, String> {
    let (Some(certificate), Some(key)) = (&user.certificate, &user.key) else {
        return match (&user.certificate, &user.key) {
            (None, None) => Ok(None),
            (Some(_), None) => Err("a client certificate needs a key".to_owned()),
            _ => Err("a client key needs a certificate".to_owned()),
        };
    };
    let (certificate, key) = (load(certificate)?, load(key)?);
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate).collect();
    let chain = chain.map_err(|error| format!("unable to read the client certificate: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|error| format!("unable to read the client key: {error}"))?;
    Ok(Some((chain, key)))
}

fn load(source: &Source) -> Result<Vec<u8>, String> {
    match source {
        Source::Data(data) => Ok(data.clone()),
        Source::File(path) => read_file(path),
    }
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    crate::files::read(path).map_err(|error| format!("unable to read {}: {error}", path.display()))
}
