//! Single reads from an HTTPS server that is trusted, and shown credentials, as a webhook is.

use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::message_error;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, HOST};
use tokio::time::timeout;

use super::MAX_RESPONSE;
use super::connect::{Network, Pool};
use super::connector::Direct;
use super::credentials::Credentials;
use super::resolve::DnsResolver;
use super::target::Target;
use super::tls;
use super::users::Kubeconfig;

message_error! {
    /// A read that did not come to an answer.
    pub struct GetError;
}

/// Reads a document of a server, and returns the status and the body of the answer.
///
/// The server is trusted if its certificate, or that of its authority, is among those in PEM (CL-40,
/// CL-41); the kubeconfig has the credentials for it (CL-21).
///
/// # Errors
///
/// If the URL is not one of HTTPS, the server does not answer in time, or is not trusted.
///
/// ```no_run
/// # async fn read() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// let trusted = std::fs::read("ca.crt")?;
/// let user = billhook_webhook_client::Kubeconfig::from_file("kubeconfig".as_ref())?;
/// let url = "https://127.0.0.1:6443/version";
/// let answer =
///     billhook_webhook_client::get(url, "application/json", &trusted, &user, Duration::from_secs(5));
/// let (status, body) = answer.await?;
/// # Ok(())
/// # }
/// ```
pub async fn get(
    url: &str,
    accept: &str,
    trusted: &[u8],
    kubeconfig: &Kubeconfig,
    time: Duration,
) -> Result<(u16, Vec<u8>), GetError> {
    let answered = timeout(time, exchange(url, accept, trusted, kubeconfig)).await;
    answered.unwrap_or_else(|_| Err("context deadline exceeded".to_owned())).map_err(GetError::new)
}

async fn exchange(
    url: &str,
    accept: &str,
    trusted: &[u8],
    kubeconfig: &Kubeconfig,
) -> Result<(u16, Vec<u8>), String> {
    let rest =
        url.strip_prefix("https://").ok_or_else(|| format!("{url} is not a URL of https"))?;
    let start = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(start);
    let target = Target::of_authority(authority)?;
    let user = kubeconfig.user(&target.user_key());
    let credentials = Credentials::new(user.as_ref(), None)?;
    let network = Network {
        resolver: Arc::new(DnsResolver),
        service_connector: Arc::new(Direct),
        url_connector: Arc::new(Direct),
    };
    let tls = tls::settings(trusted, user.as_ref())?;
    let request = Request::get(if path.is_empty() { "/" } else { path })
        .header(HOST, authority)
        .header(ACCEPT, accept)
        .body(Full::new(Bytes::new()));
    let mut request = request.map_err(|error| error.to_string())?;
    request
        .headers_mut()
        .extend(credentials.headers(concat!("billhook/", env!("CARGO_PKG_VERSION")))?);
    let exchange = Pool::new(target, network, tls)?.send(request).await?;
    let (head, body) = exchange.response.into_parts();
    let body = Limited::new(body, MAX_RESPONSE).collect().await;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    Ok((head.status.as_u16(), body.to_vec()))
}
