//! Reading `caBundle`, the certificates that a webhook's own one is checked against (CL-41, CL-42,
//! CV-89, WCF-72).

use billhook_apimachinery::message_error;
use billhook_apimachinery::pem::PemBlocks;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

message_error! {
    /// A bundle without a certificate; prints the server's text.
    pub struct CaBundleError;
}

/// Returns the certificates of a bundle, in DER. Other blocks are skipped, as are those with
/// headers; a block that is not a certificate only matters if there is no certificate at all.
///
/// # Errors
///
/// If there is no certificate.
pub fn certificates(bundle: &[u8]) -> Result<Vec<Vec<u8>>, CaBundleError> {
    let failed = |why: &str| Err(format!("unable to load root certificates: {why}").into());
    let mut blocks = PemBlocks::new(bundle);
    let mut certificates = Vec::new();
    let mut is_malformed = false;
    for block in &mut blocks {
        if block.label != b"CERTIFICATE" || block.has_headers {
            continue;
        }
        match Certificate::from_der(&block.bytes) {
            Ok(_) => certificates.push(block.bytes),
            Err(_) => is_malformed = true,
        }
    }
    match (certificates.is_empty(), is_malformed, blocks.rest().is_empty()) {
        (false, ..) => Ok(certificates),
        (true, true, _) => failed("failed to parse certificate: x509: malformed certificate"),
        (true, false, false) => failed("unable to parse bytes as PEM block"),
        (true, false, true) => failed("no valid certificate authority data seen"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn certificate() -> String {
        rcgen::generate_simple_self_signed(["a.example.com".to_owned()]).unwrap().cert.pem()
    }

    fn block(label: &str, body: &str) -> String {
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
    }

    /// CL-41, CL-42.
    #[test]
    fn bundles_hold_certificates() {
        let (one, two) = (certificate(), certificate());
        let key = block("PRIVATE KEY", "AAAA");
        let bad = block("CERTIFICATE", "AAAA");
        let header = one.replacen('\n', "\nProc-Type: 4,ENCRYPTED\n\n", 1);
        let indented = one.replace("-----\n", "-----  \r\n").replace("\nM", "\n M\t");
        let broken = one.replacen('\n', "\n!\n", 1);
        let open = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        let no_pem = "unable to parse bytes as PEM block";
        let malformed = "failed to parse certificate: x509: malformed certificate";
        let no_authority = "no valid certificate authority data seen";
        for (bundle, expected) in [
            (one.clone(), Ok(1)),
            (format!("{one}{two}"), Ok(2)),
            (format!("# the first\n{one}\n# the second\n{two}# end"), Ok(2)),
            (format!("{key}{one}"), Ok(1)),
            (format!("{bad}{one}"), Ok(1)),
            (indented, Ok(1)),
            (one.trim_end().to_owned(), Ok(1)),
            (format!("{open}{one}"), Ok(1)),
            (format!("{broken}{one}"), Ok(1)),
            (String::new(), Err(no_authority)),
            ("nothing".to_owned(), Err(no_pem)),
            (open.to_owned(), Err(no_pem)),
            (broken, Err(no_pem)),
            (one.replace("END CERTIFICATE", "END KEY"), Err(no_pem)),
            (one.replace("-----BEGIN", " -----BEGIN"), Err(no_pem)),
            (key.clone(), Err(no_authority)),
            (header, Err(no_authority)),
            (format!("{key}\n"), Err(no_pem)),
            (bad.clone(), Err(malformed)),
            (format!("{key}{bad}# end"), Err(malformed)),
            (block("CERTIFICATE", ""), Err(malformed)),
            (block("CERTIFICATE", "MAA="), Err(malformed)),
        ] {
            let found = certificates(bundle.as_bytes()).map(|found| found.len());
            let expected =
                expected.map_err(|why| format!("unable to load root certificates: {why}").into());
            assert_eq!(found, expected, "{bundle}");
        }
    }

    proptest! {
        /// Any bytes are read, and certificates are found after them.
        #[test]
        fn any_bytes_are_read(parts in prop::collection::vec(prop_oneof![
            Just("-----BEGIN CERTIFICATE-----\n"), Just("-----END CERTIFICATE-----\n"),
            Just("-----BEGIN "), Just("-----"), Just("\n"), Just("MAA=\n"), Just("a: b\n"),
            Just("é"), Just("\r\n"),
        ], 0..40)) {
            let text = parts.concat();
            let before = certificates(text.as_bytes()).map_or(0, |found| found.len());
            let with_one = certificates(format!("{text}\n{}", certificate()).as_bytes());
            prop_assert_eq!(with_one.map(|found| found.len()), Ok(before + 1));
        }
    }
}
