//! Servers whose own certificate is in the bundle itself (CL-40, CL-41), as those are that test
//! webhooks are often given: self-signed, and marked as an authority or not.

use billhook::webhook::WebhookConfiguration;
use billhook_admission::{AdmissionResponse, AdmissionReview, ReviewVersion};
use billhook_webhook_client::{HttpsCaller, StaticResolver};
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd,
};

use crate::chain::client::{chain_of, reason, run};
use crate::chain::world::configuration;
use crate::server::{Handled, Received, Reply, Server};

fn allow(received: Received) -> Handled {
    Box::pin(async move {
        let request = AdmissionReview::from_slice(&received.body).unwrap().request.unwrap();
        let response = AdmissionResponse::allow(&request);
        Some(Reply::json(AdmissionReview::of_response(ReviewVersion::V1, response).to_json()))
    })
}

/// The fields of a certificate, which is made anew, with another key, for each use.
#[derive(Clone)]
struct Made {
    names: &'static [&'static str],
    is_authority: bool,
    years: (i32, i32),
    purposes: Vec<ExtendedKeyUsagePurpose>,
}

/// A good one.
fn good() -> Made {
    Made { names: &["a.hooks.svc"], is_authority: true, years: (2020, 4000), purposes: Vec::new() }
}

impl Made {
    /// The certificate for a key, in PEM.
    fn certificate(&self, key: &KeyPair) -> String {
        let names = self.names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut params = CertificateParams::new(names).unwrap();
        if self.is_authority {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        params.not_before = date_time_ymd(self.years.0, 1, 1);
        params.not_after = date_time_ymd(self.years.1, 1, 1);
        params.extended_key_usages.clone_from(&self.purposes);
        params.self_signed(key).unwrap().pem()
    }
}

/// Calls a webhook that shows a certificate, trusting a bundle; says what is wrong with TLS.
async fn call(certificate: &str, key: &KeyPair, bundle: &str) -> Result<(), String> {
    let key = key.serialize_pem();
    let server = Server::with_certificate("127.0.0.1:0", certificate, &key, allow).await.unwrap();
    let resolver = StaticResolver::default().with("hooks", "a", &server.address().to_string());
    let mut configuration =
        WebhookConfiguration::from_yaml(&configuration("Validating", "a", "")).unwrap();
    configuration.webhooks[0].client_config.ca_bundle = bundle.as_bytes().to_vec();
    let chain = chain_of(HttpsCaller::default().resolver(resolver), &[configuration]);
    match reason(&run(&chain).await) {
        None => Ok(()),
        Some(found) => {
            let start =
                "failed to call webhook: Post \"https://a.hooks.svc:443/a?timeout=5s\": tls: ";
            Err(found.strip_prefix(start).unwrap_or(&found).to_owned())
        }
    }
}

#[tokio::test]
async fn a_certificate_in_the_bundle_is_trusted_for_what_it_says() {
    use ExtendedKeyUsagePurpose::{Any, ClientAuth, ServerAuth};
    let verify = |why: &str| Err(format!("failed to verify certificate: x509: {why}"));
    let time = || verify("certificate has expired or is not yet valid");
    for (made, expected) in [
        (good(), Ok(())),
        (Made { is_authority: false, ..good() }, Ok(())),
        (Made { names: &["*.hooks.svc"], ..good() }, Ok(())),
        (
            Made { names: &["b.hooks.svc"], ..good() },
            verify("certificate is valid for b.hooks.svc, not a.hooks.svc"),
        ),
        (
            Made { names: &[], ..good() },
            verify("certificate is not valid for any names, not a.hooks.svc"),
        ),
        (Made { years: (2020, 2021), ..good() }, time()),
        (Made { years: (3999, 4000), ..good() }, time()),
        (Made { names: &["b.hooks.svc"], years: (2020, 2021), ..good() }, time()),
        (Made { is_authority: false, years: (2020, 2021), ..good() }, time()),
        (Made { purposes: vec![ServerAuth], ..good() }, Ok(())),
        (Made { purposes: vec![ClientAuth, Any], ..good() }, Ok(())),
        (
            Made { purposes: vec![ClientAuth], ..good() },
            verify("certificate specifies an incompatible key usage"),
        ),
    ] {
        let key = KeyPair::generate().unwrap();
        let certificate = made.certificate(&key);
        let found = call(&certificate, &key, &certificate).await;
        assert_eq!(found, expected, "{:?} {:?}", made.names, made.years);
    }
}

#[tokio::test]
async fn only_the_very_certificate_is_trusted() {
    let (key, other_key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let certificate = good().certificate(&key);
    let other = good().certificate(&other_key);
    assert_eq!(call(&certificate, &key, &format!("{other}{certificate}")).await, Ok(()));

    // Another one that says the same.
    let unknown =
        Err("failed to verify certificate: x509: certificate signed by unknown authority".into());
    let twin = Made { is_authority: false, ..good() };
    assert_eq!(call(&twin.certificate(&key), &key, &other).await, unknown);
    let found = call(&certificate, &key, &other).await.unwrap_err();
    assert!(found.starts_with("failed to verify certificate: x509: "), "{found}");
    // An authority with the key of one in the bundle is still none for servers.
    let renewed = Made { years: (2021, 4000), ..good() }.certificate(&key);
    let found = call(&renewed, &key, &certificate).await.unwrap_err();
    assert!(found.starts_with("failed to verify certificate: x509: "), "{found}");

    // A server that shows the certificate without having its key.
    let found = call(&certificate, &other_key, &certificate).await.unwrap_err();
    assert!(found.starts_with("failed to verify certificate: x509: "), "{found}");
}
