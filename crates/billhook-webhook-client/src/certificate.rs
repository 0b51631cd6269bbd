//! A certificate that is trusted because it is known, not because an authority signed it (CL-41).

use std::fmt;

use tokio_rustls::rustls::CertificateError;
use tokio_rustls::rustls::pki_types::UnixTime;
use x509_cert::der::asn1::{PrintableStringRef, TeletexStringRef, Utf8StringRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode as _, Tag, Tagged as _};
use x509_cert::ext::pkix::ExtendedKeyUsage;

const ANY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37.0");
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");

/// The purpose of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To show who a server is.
    Server,
    /// To show who a client is.
    Client,
}

impl Purpose {
    fn usage(self) -> ObjectIdentifier {
        match self {
            Purpose::Server => ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1"),
            Purpose::Client => ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2"),
        }
    }
}

/// A certificate whose parts are read when they are asked for.
///
/// A verifier that only knows authorities refuses a certificate that a bundle names itself. It needs
/// no chain: its time, its purpose and its names are left to be checked.
pub struct Certificate(x509_cert::Certificate);

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificate").field(&self.common_name()).finish()
    }
}

impl Certificate {
    /// Reads a certificate in DER.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let certificate = x509_cert::Certificate::from_der(der);
        certificate.map(Certificate).map_err(|_| CertificateError::BadEncoding)
    }

    /// Checks that it is valid at a time.
    ///
    /// # Errors
    ///
    /// If it is not valid yet, or not any more.
    pub fn check_time(&self, now: UnixTime) -> Result<(), CertificateError> {
        let validity = self.0.tbs_certificate().validity();
        let not_before = UnixTime::since_unix_epoch(validity.not_before.to_unix_duration());
        let not_after = UnixTime::since_unix_epoch(validity.not_after.to_unix_duration());
        if now < not_before {
            return Err(CertificateError::NotValidYetContext { time: now, not_before });
        }
        if now > not_after {
            return Err(CertificateError::ExpiredContext { time: now, not_after });
        }
        Ok(())
    }

    /// Checks that it is for a purpose, if it says what it is for.
    ///
    /// # Errors
    ///
    /// If it is for other purposes.
    pub fn check_purpose(&self, purpose: Purpose) -> Result<(), CertificateError> {
        let usage = self.0.tbs_certificate().get_extension::<ExtendedKeyUsage>();
        match usage.map_err(|_| CertificateError::BadEncoding)? {
            Some((_, ExtendedKeyUsage(purposes)))
                if !purposes.contains(&purpose.usage()) && !purposes.contains(&ANY_USAGE) =>
            {
                Err(CertificateError::InvalidPurpose)
            }
            _ => Ok(()),
        }
    }

    /// Returns the common name of its subject, the last one if there are several; for a client it is
    /// the name of a user (ET-31).
    pub fn common_name(&self) -> Option<String> {
        self.names(COMMON_NAME).pop()
    }

    /// Returns the organizations of its subject; for a client they are the groups of a user (ET-31).
    pub fn organizations(&self) -> Vec<String> {
        self.names(ORGANIZATION)
    }

    fn names(&self, kind: ObjectIdentifier) -> Vec<String> {
        let subject = self.0.tbs_certificate().subject();
        let found = subject.iter().filter(|name| name.oid == kind);
        found
            .filter_map(|name| match name.value.tag() {
                Tag::Utf8String => {
                    let text = name.value.decode_as::<Utf8StringRef<'_>>();
                    text.ok().map(|text| text.as_str().to_owned())
                }
                Tag::PrintableString => {
                    let text = name.value.decode_as::<PrintableStringRef<'_>>();
                    text.ok().map(|text| text.as_str().to_owned())
                }
                Tag::TeletexString => {
                    let text = name.value.decode_as::<TeletexStringRef<'_>>();
                    text.ok().map(|text| text.as_str().to_owned())
                }
                _ => None,
            })
            .collect()
    }
}
