//! Which requests for certificates a cluster approves, and how it signs them (CP-91).

use std::time::Duration;

use billhook_apimachinery::base64;
use billhook_control_plane::Object;
use serde_json::Value;

use crate::listening::{Authority, CertificateRequest};

const OF_KUBELETS: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const NODES: &str = "system:nodes";
const NODE: &str = "system:node:";

/// Returns the subresource that the user of a request has to be allowed to create, if it is one of a
/// kubelet that wants to be a client.
pub(crate) fn of_kubelet(object: &Object) -> Option<&'static str> {
    let usages = usages(object);
    let are_usual =
        |it: &&str| ["key encipherment", "digital signature", "client auth"].contains(it);
    let is_client = ["digital signature", "client auth"].iter().all(|it| usages.contains(it));
    if object.text("/spec/signerName") != OF_KUBELETS || !is_client || !usages.iter().all(are_usual)
    {
        return None;
    }
    let request = read(object).ok()?;
    let name = request.common_name().filter(|name| name.starts_with(NODE))?;
    if request.organizations() != [NODES] || request.has_alternative_names() {
        return None;
    }
    let is_own = name == object.text("/spec/username");
    Some(if is_own { "selfnodeclient" } else { "nodeclient" })
}

/// Signs a request by an authority. Returns the certificate as PEM, or why there is none.
pub(crate) fn sign(authority: &Authority, object: &Object) -> Result<String, String> {
    let time = object.int("/spec/expirationSeconds").and_then(|time| time.try_into().ok());
    let time = time.map(Duration::from_secs);
    let certificate = read(object)?.sign(authority, &usages(object), time);
    certificate.map_err(|error| error.to_string())
}

fn usages(object: &Object) -> Vec<&str> {
    object.list("/spec/usages").iter().filter_map(Value::as_str).collect()
}

fn read(object: &Object) -> Result<CertificateRequest, String> {
    let pem = base64::decode(object.text("/spec/request"));
    let pem = pem.ok().and_then(|pem| String::from_utf8(pem).ok());
    let pem = pem.ok_or("PEM block type must be CERTIFICATE REQUEST")?;
    CertificateRequest::from_pem(&pem).map_err(|error| error.to_string())
}
