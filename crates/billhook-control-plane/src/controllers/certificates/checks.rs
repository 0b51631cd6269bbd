//! The requests for certificates that the signers of a cluster sign, and those that they refuse (CP-91).

use billhook_apimachinery::base64::decode;
use serde_json::Value;
use x509_cert::Certificate;
use x509_cert::der::asn1::{Ia5StringRef, PrintableStringRef, Utf8StringRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Tagged};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::request::{CertReq, CertReqInfo, ExtensionReq};

use crate::clock::Timestamp;
use crate::object::Object;

/// The signers whose requests a cluster signs itself.
pub(super) const CLIENT: &str = "kubernetes.io/kube-apiserver-client";
pub(super) const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
pub(super) const KUBELET_SERVING: &str = "kubernetes.io/kubelet-serving";
pub(super) const LEGACY: &str = "kubernetes.io/legacy-unknown";

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");
const EXTENSIONS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.14");
const ALTERNATIVE_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// Finds out whether a request is one that its signer signs.
///
/// # Errors
///
/// Why it is not.
pub(super) fn check(request: &Object) -> Result<(), String> {
    match request.text("/spec/signerName") {
        CLIENT => check_usages(request, &["client auth"]),
        KUBELET_CLIENT => {
            check_usages(request, &["digital signature", "client auth"])?;
            let body = body(request)?;
            check_node(&body)?;
            match alternative_names(&body)?.as_slice() {
                [] => Ok(()),
                _ => Err("names and addresses of a server are not allowed".to_owned()),
            }
        }
        KUBELET_SERVING => {
            check_usages(request, &["digital signature", "server auth"])?;
            let body = body(request)?;
            check_node(&body)?;
            let is_of_server = |name: &GeneralName| {
                matches!(name, GeneralName::DnsName(_) | GeneralName::IpAddress(_))
            };
            match alternative_names(&body)?.as_slice() {
                [] => Err("a DNS name or an IP address is required".to_owned()),
                names if names.iter().all(is_of_server) => Ok(()),
                _ => Err("only DNS names and IP addresses are allowed".to_owned()),
            }
        }
        _ => Ok(()),
    }
}

/// Checks that the usages are those that are required, and at most those of the handshake beside.
fn check_usages(request: &Object, required: &[&str]) -> Result<(), String> {
    let usages: Vec<&str> = request.list("/spec/usages").iter().filter_map(Value::as_str).collect();
    let of_handshake = ["digital signature", "key encipherment"];
    let is_allowed = |usage: &&str| required.contains(usage) || of_handshake.contains(usage);
    match required.iter().all(|usage| usages.contains(usage)) && usages.iter().all(is_allowed) {
        true => Ok(()),
        false => Err(format!(
            "usages have to be {}, and may be {} beside",
            required.join(", "),
            of_handshake.join(", ")
        )),
    }
}

/// Checks that a request is for the user of a node.
fn check_node(body: &CertReqInfo) -> Result<(), String> {
    if names(body, ORGANIZATION) != ["system:nodes"] {
        return Err("the organization has to be system:nodes".to_owned());
    }
    match names(body, COMMON_NAME).last() {
        Some(name) if name.starts_with("system:node:") => Ok(()),
        _ => Err("the common name has to begin with system:node:".to_owned()),
    }
}

fn body(request: &Object) -> Result<CertReqInfo, String> {
    let der = der(request.text("/spec/request")).ok_or("the request is not in PEM")?;
    CertReq::from_der(&der).map(|request| request.info).map_err(|error| error.to_string())
}

/// Returns the texts of an attribute of the subject.
fn names(body: &CertReqInfo, wanted: ObjectIdentifier) -> Vec<String> {
    let attributes = body.subject.iter().filter(|attribute| attribute.oid == wanted);
    let text = |value: &x509_cert::der::Any| match value.tag() {
        x509_cert::der::Tag::Utf8String => {
            value.decode_as::<Utf8StringRef<'_>>().map(|it| it.as_str().to_owned())
        }
        x509_cert::der::Tag::Ia5String => {
            value.decode_as::<Ia5StringRef<'_>>().map(|it| it.as_str().to_owned())
        }
        _ => value.decode_as::<PrintableStringRef<'_>>().map(|it| it.as_str().to_owned()),
    };
    attributes.filter_map(|attribute| text(&attribute.value).ok()).collect()
}

/// Returns the names and addresses that a request asks for beside its subject.
fn alternative_names(body: &CertReqInfo) -> Result<Vec<GeneralName>, String> {
    let mut names = Vec::new();
    for attribute in body.attributes.iter().filter(|attribute| attribute.oid == EXTENSIONS) {
        for value in attribute.values.iter() {
            let extensions: ExtensionReq = value.decode_as().map_err(unreadable)?;
            let extensions = extensions.0.iter();
            for named in extensions.filter(|extension| extension.extn_id == ALTERNATIVE_NAMES) {
                let found = SubjectAltName::from_der(named.extn_value.as_bytes());
                names.extend(found.map_err(unreadable)?.0);
            }
        }
    }
    Ok(names)
}

fn unreadable(error: x509_cert::der::Error) -> String {
    format!("the extensions cannot be read: {error}")
}

/// Returns when the certificate of a request ends, if it has one that can be read.
pub(super) fn end(request: &Object) -> Option<Timestamp> {
    let certificate = Certificate::from_der(&der(request.text("/status/certificate"))?).ok()?;
    let end = certificate.tbs_certificate().validity().not_after;
    Some(Timestamp::from_unix(end.to_unix_duration()))
}

/// Returns the content of the first block of a text in PEM, which is encoded once more.
fn der(encoded: &str) -> Option<Vec<u8>> {
    let pem = String::from_utf8(decode(encoded).ok()?).ok()?;
    let lines = pem.lines().skip_while(|line| !line.starts_with("-----BEGIN")).skip(1);
    let content: String = lines.take_while(|line| !line.starts_with("-----")).collect();
    decode(content.trim()).ok()
}
