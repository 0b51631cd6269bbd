//! The certificates that a harness makes (ET-30).

use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};

/// A certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// An authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = params(&[], "envtest-environment", "envtest");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn key(&self) -> String {
        self.0.key().serialize_pem()
    }

    pub(crate) fn serving(&self, names: &[&str]) -> Pair {
        let mut params = params(names, "localhost", "envtest");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// The certificate of a user with one group.
    pub(crate) fn user(&self, name: &str, group: &str) -> Pair {
        self.sign(client_params(name, group))
    }

    /// The certificate of a user that has expired.
    pub(crate) fn expired_user(&self, name: &str, group: &str) -> Pair {
        let mut params = client_params(name, group);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Pair {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Pair { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

/// A certificate that its user alone has signed, and that cannot sign others.
pub(crate) fn self_signed_user(name: &str, group: &str) -> Pair {
    let key = KeyPair::generate().unwrap();
    let certificate = client_params(name, group).self_signed(&key).unwrap();
    Pair { certificate: certificate.pem(), key: key.serialize_pem() }
}

/// A request for the certificate of a user with one group, in place of the certificate.
pub(crate) fn request(name: &str, group: &str) -> Pair {
    let key = KeyPair::generate().unwrap();
    let request = client_params(name, group).serialize_request(&key).unwrap();
    Pair { certificate: request.pem().unwrap(), key: key.serialize_pem() }
}

fn client_params(name: &str, group: &str) -> CertificateParams {
    let mut params = params(&[], name, group);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params
}

fn params(names: &[&str], name: &str, organization: &str) -> CertificateParams {
    let names = names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::OrganizationName, organization);
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2024, 1, 1);
    params.not_after = date_time_ymd(2124, 1, 1);
    params
}

/// The certificates of one server: who signed its own, and who signs its clients'.
pub(crate) struct Certificates {
    pub(crate) serving: Authority,
    pub(crate) clients: Authority,
}

impl Certificates {
    /// Makes all that a server gets, in a directory.
    pub(crate) fn write(directory: &Path) -> Self {
        let (serving, clients, accounts) = (Authority::new(), Authority::new(), Authority::new());
        let pair = serving.serving(&["localhost", "127.0.0.1"]);
        for (file, text) in [
            ("apiserver.crt", &pair.certificate),
            ("apiserver.key", &pair.key),
            ("client-cert-auth-ca.crt", &clients.pem()),
            ("sa-signer.crt", &accounts.pem()),
            ("sa-signer.key", &accounts.key()),
        ] {
            std::fs::write(directory.join(file), text).unwrap();
        }
        Certificates { serving, clients }
    }
}
