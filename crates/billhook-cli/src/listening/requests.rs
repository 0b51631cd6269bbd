//! Requests for certificates that clients make by the API (CP-91).

use std::error::Error;

use rcgen::{
    CertificateSigningRequestParams, DnType, DnValue, ExtendedKeyUsagePurpose, IsCa,
    KeyUsagePurpose,
};
use tokio_rustls::rustls::pki_types::CertificateSigningRequestDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use x509_cert::der::Decode as _;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::request::CertReq;

use super::authority::{Authority, limit_validity};

const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");

type Failure = Box<dyn Error + Send + Sync>;

/// A request for a certificate.
pub(crate) struct CertificateRequest(CertificateSigningRequestParams);

impl CertificateRequest {
    /// Reads a request in PEM, whose signature shows that the one who made it has the key.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub(crate) fn from_pem(pem: &str) -> Result<Self, Failure> {
        let der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes())?;
        let subject = CertReq::from_der(&der)?.info.subject;
        if subject.iter().filter(|name| name.oid == ORGANIZATION).count() > 1 {
            // A certificate would have the last one only.
            return Err("requests of several organizations are not signed".into());
        }
        Ok(CertificateRequest(CertificateSigningRequestParams::from_der(&der)?))
    }

    /// Returns the common name of its subject: the name of a user.
    pub(crate) fn common_name(&self) -> Option<&str> {
        self.names(&DnType::CommonName).last()
    }

    /// Returns the organizations of its subject: the groups of a user.
    pub(crate) fn organizations(&self) -> Vec<&str> {
        self.names(&DnType::OrganizationName).collect()
    }

    /// Whether it asks for names or addresses of a server.
    pub(crate) fn has_alternative_names(&self) -> bool {
        !self.0.params.subject_alt_names.is_empty()
    }

    fn names(&self, wanted: &DnType) -> impl Iterator<Item = &str> {
        let names = self.0.params.distinguished_name.iter();
        names.filter(move |(kind, _)| *kind == wanted).filter_map(|(_, name)| match name {
            DnValue::Utf8String(name) => Some(name.as_str()),
            DnValue::PrintableString(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Signs a certificate for some usages, as the API names them. Returns it as PEM.
    ///
    /// # Errors
    ///
    /// If the authority cannot sign it.
    pub(crate) fn sign(&self, authority: &Authority, usages: &[&str]) -> Result<String, Failure> {
        let mut request = self.0.clone();
        let params = &mut request.params;
        params.is_ca = IsCa::NoCa;
        params.key_usages = usages.iter().filter_map(|usage| key_usage(usage)).collect();
        params.extended_key_usages = usages.iter().filter_map(|usage| purpose(usage)).collect();
        limit_validity(params);
        Ok(request.signed_by(authority.issuer())?.pem())
    }
}

fn key_usage(usage: &str) -> Option<KeyUsagePurpose> {
    Some(match usage {
        "signing" | "digital signature" => KeyUsagePurpose::DigitalSignature,
        "content commitment" => KeyUsagePurpose::ContentCommitment,
        "key encipherment" => KeyUsagePurpose::KeyEncipherment,
        "key agreement" => KeyUsagePurpose::KeyAgreement,
        "data encipherment" => KeyUsagePurpose::DataEncipherment,
        _ => return None,
    })
}

fn purpose(usage: &str) -> Option<ExtendedKeyUsagePurpose> {
    Some(match usage {
        "client auth" => ExtendedKeyUsagePurpose::ClientAuth,
        "server auth" => ExtendedKeyUsagePurpose::ServerAuth,
        "any" => ExtendedKeyUsagePurpose::Any,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use billhook_webhook_client::certificate::{Certificate, Purpose};
    use rcgen::{CertificateParams, KeyPair};
    use tokio_rustls::rustls::Error;
    use tokio_rustls::rustls::pki_types::CertificateDer;

    use super::*;

    fn request(organizations: &[&str]) -> Result<CertificateRequest, Failure> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.distinguished_name.push(DnType::CommonName, "system:node:a");
        for organization in organizations {
            params.distinguished_name.push(DnType::OrganizationName, *organization);
        }
        let pem = params.serialize_request(&KeyPair::generate()?)?.pem()?;
        CertificateRequest::from_pem(&pem)
    }

    #[test]
    fn a_request_is_signed_for_its_usages() -> Result<(), Failure> {
        let request = request(&["system:nodes"])?;
        assert_eq!(request.common_name(), Some("system:node:a"));
        assert_eq!(request.organizations(), ["system:nodes"]);
        assert!(!request.has_alternative_names());
        let authority = Authority::new("an authority")?;
        let pem = request.sign(&authority, &["digital signature", "client auth"])?;
        let der = CertificateDer::from_pem_slice(pem.as_bytes())?;
        let certificate = Certificate::from_der(&der).map_err(Error::from)?;
        assert_eq!(certificate.common_name().as_deref(), Some("system:node:a"));
        assert_eq!(certificate.organizations(), ["system:nodes"]);
        certificate.check_purpose(Purpose::Client).map_err(Error::from)?;
        assert!(certificate.check_purpose(Purpose::Server).is_err());
        Ok(())
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert!(CertificateRequest::from_pem("-----BEGIN CERTIFICATE REQUEST-----").is_err());
    }
}
