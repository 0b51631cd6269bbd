//! Who may make requests to `billhook serve`.

use billhook_apimachinery::{Status, UserInfo};
use billhook_apiserver::Server;
use http::Request;
use hyper::body::Incoming;

use super::hosts::Hosts;
use crate::listening::{Gate, Peer, bearer_token};

/// Says whether a path is that of a file with nothing in it but what is in this program.
pub(super) type IsPublic = fn(&str) -> bool;

/// Who may make requests.
pub(super) enum Admitted {
    /// The users whose tokens the server knows. Who has a certificate that it has signed is the user
    /// whom the command names; so is everyone for the paths of which a function says so.
    Known(Server, Option<IsPublic>),
    /// Programs of this machine, but not web pages; all are the user whom the command names.
    Hosts(Hosts),
}

impl Gate for Admitted {
    fn admit(&self, request: &Request<Incoming>, peer: &Peer) -> Result<Option<UserInfo>, Status> {
        let server = match self {
            Admitted::Known(_, Some(is_public)) if is_public(request.uri().path()) => {
                return Ok(None);
            }
            Admitted::Known(server, _) => server,
            Admitted::Hosts(hosts) => return hosts.refusal(request).map_or(Ok(None), Err),
        };
        if matches!(peer, Peer::Known(_)) {
            return Ok(None);
        }
        let user = bearer_token(request.headers()).and_then(|token| server.authenticate(token));
        user.map(Some).ok_or_else(|| Status::failure(401, "Unauthorized", "Unauthorized"))
    }

    fn turns_strangers_away(&self) -> bool {
        matches!(self, Admitted::Known(..))
    }
}
