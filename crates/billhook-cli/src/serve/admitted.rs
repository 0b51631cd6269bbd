//! Who may make requests to `billhook serve`.

use billhook_apimachinery::{Status, UserInfo};
use billhook_apiserver::Server;
use http::Request;
use hyper::body::Incoming;

use super::hosts::Hosts;
use crate::listening::{Gate, Peer, bearer_token};

/// Who may make requests.
pub(super) enum Admitted {
    /// The users whose tokens the server knows. Who has a certificate that it has signed is the user
    /// whom the command names.
    Known(Server),
    /// Programs of this machine, but not web pages; all are the user whom the command names.
    Hosts(Hosts),
}

impl Gate for Admitted {
    fn admit(&self, request: &Request<Incoming>, peer: &Peer) -> Result<Option<UserInfo>, Status> {
        let server = match self {
            Admitted::Known(server) => server,
            Admitted::Hosts(hosts) => return hosts.refusal(request).map_or(Ok(None), Err),
        };
        if matches!(peer, Peer::Known(_)) {
            return Ok(None);
        }
        let user = bearer_token(request.headers()).and_then(|token| server.authenticate(token));
        user.map(Some).ok_or_else(|| Status::failure(401, "Unauthorized", "Unauthorized"))
    }

    fn turns_strangers_away(&self) -> bool {
        matches!(self, Admitted::Known(_))
    }
}
