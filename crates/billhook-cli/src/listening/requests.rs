//! Requests for certificates that clients make by the API (CP-91).

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pem::{EncodeConfig, LineEnding, Pem};
use rcgen::{
    CertificateSigningRequestParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
    SigningKey as _, date_time_ymd,
};
use tokio_rustls::rustls::pki_types::CertificateSigningRequestDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use x509_cert::der::asn1::{AnyRef, BitString, PrintableStringRef, Utf8StringRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{
    self, Any, Decode as _, Encode as _, Reader as _, SliceReader, Tag, Tagged as _,
};
use x509_cert::name::Name;
use x509_cert::request::CertReq;

use super::authority::{Authority, limit_validity};

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");
/// How long a certificate lasts at most.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// The place of the subject among the parts of a certificate of version 3.
const SUBJECT: usize = 5;

type Failure = Box<dyn Error + Send + Sync>;

/// A request for a certificate.
pub(crate) struct CertificateRequest {
    params: CertificateSigningRequestParams,
    subject: Name,
}

impl CertificateRequest {
    /// Reads a request in PEM, whose signature shows that the one who made it has the key.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub(crate) fn from_pem(pem: &str) -> Result<Self, Failure> {
        let der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes())?;
        let subject = CertReq::from_der(&der)?.info.subject;
        Ok(CertificateRequest { params: CertificateSigningRequestParams::from_der(&der)?, subject })
    }

    /// Returns the common name of its subject: the name of a user.
    pub(crate) fn common_name(&self) -> Option<String> {
        self.names(COMMON_NAME).pop()
    }

    /// Returns the organizations of its subject: the groups of a user.
    pub(crate) fn organizations(&self) -> Vec<String> {
        self.names(ORGANIZATION)
    }

    /// Whether it asks for names or addresses of a server.
    pub(crate) fn has_alternative_names(&self) -> bool {
        !self.params.params.subject_alt_names.is_empty()
    }

    fn names(&self, wanted: ObjectIdentifier) -> Vec<String> {
        let text = |value: &Any| match value.tag() {
            Tag::Utf8String => value.decode_as::<Utf8StringRef<'_>>().map(|it| it.to_string()),
            _ => value.decode_as::<PrintableStringRef<'_>>().map(|it| it.to_string()),
        };
        let names = self.subject.iter().filter(|name| name.oid == wanted);
        names.filter_map(|name| text(&name.value).ok()).collect()
    }

    /// Signs a certificate for some usages, as the API names them, which ends after a time if that is
    /// earlier than usual. Returns it as PEM.
    ///
    /// # Errors
    ///
    /// If the authority cannot sign it.
    pub(crate) fn sign(
        &self,
        authority: &Authority,
        usages: &[&str],
        time: Option<Duration>,
    ) -> Result<String, Failure> {
        let mut request = self.params.clone();
        let params = &mut request.params;
        params.is_ca = IsCa::NoCa;
        params.key_usages = usages.iter().filter_map(|usage| key_usage(usage)).collect();
        params.extended_key_usages = usages.iter().filter_map(|usage| purpose(usage)).collect();
        limit_validity(params);
        if let Some(time) = time {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let end = now.saturating_add(time.min(YEAR)).as_secs();
            let end = date_time_ymd(1970, 1, 1) + Duration::from_secs(end);
            params.not_after = params.not_after.min(end);
        }
        let signed = request.signed_by(authority.issuer())?;
        let der = with_subject(signed.der(), &self.subject, authority.issuer().key())?;
        let lines = EncodeConfig::new().set_line_ending(LineEnding::LF);
        Ok(pem::encode_config(&Pem::new("CERTIFICATE", der), lines))
    }
}

/// Returns a certificate with another subject, signed anew: a subject may have several organizations, of
/// which those that make certificates keep one.
fn with_subject(certificate: &[u8], subject: &Name, key: &KeyPair) -> Result<Vec<u8>, Failure> {
    let (parts, subject) = (elements(certificate)?, subject.to_der()?);
    let [signed, algorithm, _] = *parts.as_slice() else { return Err("no certificate".into()) };
    let mut fields = elements(signed)?;
    *fields.get_mut(SUBJECT).ok_or("no subject")? = &subject;
    let signed = sequence(&fields)?;
    let signature = BitString::from_bytes(&key.sign(&signed)?)?.to_der()?;
    Ok(sequence(&[&signed, algorithm, &signature])?)
}

/// Returns the elements of a sequence, each with its tag and its length.
fn elements(sequence: &[u8]) -> Result<Vec<&[u8]>, der::Error> {
    SliceReader::new(sequence)?.sequence(|reader| {
        let mut elements = Vec::new();
        while !reader.is_finished() {
            elements.push(reader.tlv_bytes()?);
        }
        Ok(elements)
    })
}

fn sequence(elements: &[&[u8]]) -> Result<Vec<u8>, der::Error> {
    AnyRef::new(Tag::Sequence, &elements.concat())?.to_der()
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
    use rcgen::{CertificateParams, DnType, KeyPair};
    use tokio_rustls::rustls::Error;
    use tokio_rustls::rustls::pki_types::CertificateDer;

    use super::super::certificates::ClientAuthorities;
    use super::super::gate::Peer;
    use super::*;

    /// A request for a user of several organizations, as `openssl req -new -newkey ec -pkeyopt
    /// ec_paramgen_curve:P-256 -nodes -subj /O=a/O=b/CN=jane` makes it.
    const OF_SEVERAL: &str = include_str!("several.csr.pem");

    fn request(organizations: &[&str]) -> Result<CertificateRequest, Failure> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.distinguished_name.push(DnType::CommonName, "system:node:a");
        for organization in organizations {
            params.distinguished_name.push(DnType::OrganizationName, *organization);
        }
        let pem = params.serialize_request(&KeyPair::generate()?)?.pem()?;
        CertificateRequest::from_pem(&pem)
    }

    fn certificate_of(
        request: &CertificateRequest,
        authority: &Authority,
        time: Option<Duration>,
    ) -> Result<CertificateDer<'static>, Failure> {
        let pem = request.sign(authority, &["digital signature", "client auth"], time)?;
        Ok(CertificateDer::from_pem_slice(pem.as_bytes())?)
    }

    /// CP-91: all organizations of a subject are groups of the user, and the authority vouches for it.
    #[test]
    fn a_subject_keeps_its_organizations() -> Result<(), Failure> {
        let authority = Authority::new("an authority")?;
        let request = CertificateRequest::from_pem(OF_SEVERAL)?;
        assert_eq!(request.organizations(), ["a", "b"]);
        let der = certificate_of(&request, &authority, None)?;
        let certificate = Certificate::from_der(&der).map_err(Error::from)?;
        assert_eq!(certificate.common_name().as_deref(), Some("jane"));
        assert_eq!(certificate.organizations(), ["a", "b"]);
        let authorities = ClientAuthorities::new(vec![authority.der()]);
        let peer = authorities.identify(std::slice::from_ref(&der));
        let Peer::Known(user) = peer else { return Err("not known".into()) };
        assert_eq!(user.username, "jane");
        assert_eq!(user.groups, ["a", "b", "system:authenticated"]);
        let other = ClientAuthorities::new(vec![Authority::new("another")?.der()]);
        assert!(matches!(other.identify(&[der]), Peer::Refused));
        Ok(())
    }

    /// CP-91: a request may ask for a certificate that ends earlier.
    #[test]
    fn a_certificate_may_end_earlier() -> Result<(), Failure> {
        let (request, authority) = (request(&["system:nodes"])?, Authority::new("an authority")?);
        let end = |time| -> Result<Duration, Failure> {
            let der = certificate_of(&request, &authority, time)?;
            let certificate = x509_cert::Certificate::from_der(&der)?;
            Ok(certificate.tbs_certificate().validity().not_after.to_unix_duration())
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let hour = Duration::from_secs(3600);
        let left = end(Some(hour))?.saturating_sub(now);
        assert!(left <= hour + Duration::from_secs(60) && left + Duration::from_secs(60) >= hour);
        assert_eq!(end(Some(YEAR * 2))?, end(None)?);
        Ok(())
    }

    #[test]
    fn a_request_is_signed_for_its_usages() -> Result<(), Failure> {
        let request = request(&["system:nodes"])?;
        assert_eq!(request.common_name().as_deref(), Some("system:node:a"));
        assert_eq!(request.organizations(), ["system:nodes"]);
        assert!(!request.has_alternative_names());
        let authority = Authority::new("an authority")?;
        let pem = request.sign(&authority, &["digital signature", "client auth"], None)?;
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
