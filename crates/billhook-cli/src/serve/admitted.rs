//! Who may make requests to `billhook serve`.

use billhook_apimachinery::{Status, UserInfo};
use http::Request;
use hyper::body::Incoming;

use super::hosts::Hosts;
use crate::listening::{Gate, Peer, bearer_token, is_same};

/// Who may make requests. All are made by the user whom the command names.
#[derive(Debug)]
pub(super) enum Admitted {
    /// Who has the token, or a certificate that the server has signed.
    Token(String),
    /// Programs of this machine, but not web pages.
    Hosts(Hosts),
}

impl Gate for Admitted {
    fn admit(&self, request: &Request<Incoming>, peer: &Peer) -> Result<Option<UserInfo>, Status> {
        let token = match self {
            Admitted::Token(token) => token,
            Admitted::Hosts(hosts) => return hosts.refusal(request).map_or(Ok(None), Err),
        };
        let given = bearer_token(request.headers());
        let has_token = given.is_some_and(|given| is_same(token.as_bytes(), given));
        match has_token || matches!(peer, Peer::Known(_)) {
            true => Ok(None),
            false => Err(Status::failure(401, "Unauthorized", "Unauthorized")),
        }
    }

    fn turns_strangers_away(&self) -> bool {
        matches!(self, Admitted::Token(_))
    }
}
