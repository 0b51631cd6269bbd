//! Who may make a request.

use billhook_apimachinery::{Status, UserInfo};
use http::{HeaderMap, Request, header};
use hyper::body::Incoming;

/// A client, as its certificate identifies it.
#[derive(Clone, Debug)]
pub(crate) enum Peer {
    /// It has none.
    Unknown,
    /// It is that of a user.
    Known(Box<UserInfo>),
    /// No authority vouches for it.
    Refused,
}

/// Decides about requests.
pub(crate) trait Gate: Send + Sync + 'static {
    /// Returns the user who makes a request; `None` for the server's own user.
    ///
    /// # Errors
    ///
    /// If the request is refused.
    fn admit(&self, request: &Request<Incoming>, peer: &Peer) -> Result<Option<UserInfo>, Status>;

    /// Whether a connection ends from which no request is admitted for a while.
    fn turns_strangers_away(&self) -> bool;
}

/// Returns the bearer token of a request.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| str::from_utf8(token).unwrap_or_default())
}
