//! Why a connection, a handshake or an exchange failed, in words like the server's (CL-62).

use std::io;

use tokio_rustls::rustls::{CertificateError, Error};

/// Why an exchange failed, in words like the server's.
pub(super) fn exchange_error(error: &hyper::Error) -> String {
    if error.is_incomplete_message() {
        return "EOF".to_owned();
    }
    if error.is_parse() {
        return format!("net/http: HTTP/1.x transport connection broken: {error}");
    }
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(error) = inner.downcast_ref::<io::Error>() {
            return handshake_error(error);
        }
        source = inner.source();
    }
    error.to_string()
}

/// An error of the network, in words like the server's.
pub(super) fn connection_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "read: connection reset by peer".to_owned(),
        io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        io::ErrorKind::BrokenPipe => "write: broken pipe".to_owned(),
        _ => error.to_string(),
    }
}

/// Why a handshake failed, in words like the server's.
pub(super) fn handshake_error(error: &io::Error) -> String {
    let Some(error) = error.get_ref().and_then(|error| error.downcast_ref::<Error>()) else {
        return connection_error(error);
    };
    let Error::InvalidCertificate(certificate) = error else { return format!("tls: {error}") };
    let why = match certificate {
        // An authority of the same name with another key is another authority.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        // A server that shows the certificate of an authority, which the bundle does not name.
        CertificateError::Other(why) if why.to_string().contains("CaUsedAsEndEntity") => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::NotValidForName => "certificate is not valid for this name".to_owned(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let presented: Vec<&str> =
                presented.iter().map(|name| name_in_certificate(name)).collect();
            let valid_for = match presented.as_slice() {
                [] => "not valid for any names".to_owned(),
                names => format!("valid for {}", names.join(", ")),
            };
            format!("certificate is {valid_for}, not {}", expected.to_str())
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "certificate specifies an incompatible key usage".to_owned()
        }
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}

/// `DnsName("a.example.com")` or `IpAddress(10.0.0.1)` without the wrapping.
fn name_in_certificate(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, inner)| inner.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}
