//! Who makes a request to `kube-apiserver`: the certificate of the client says so, or its token;
//! else the user is anonymous (ET-31, ET-72).

use std::path::Path;

use billhook_apimachinery::{Status, UserInfo};
use billhook_apiserver::Server;
use http::Request;
use hyper::body::Incoming;

use crate::listening::{Gate, Peer, bearer_token};

const AUTHENTICATED: &str = "system:authenticated";

/// The users that a server knows.
pub(super) struct Users {
    /// Knows the tokens.
    server: Server,
    /// The user who has not said who it is, if there may be one.
    anonymous: Option<UserInfo>,
}

impl Users {
    pub(super) fn new(server: Server, allows_anonymous: bool) -> Self {
        let anonymous = UserInfo::named("system:anonymous").group("system:unauthenticated");
        Users { server, anonymous: allows_anonymous.then_some(anonymous) }
    }
}

impl Gate for Users {
    fn admit(&self, request: &Request<Incoming>, peer: &Peer) -> Result<Option<UserInfo>, Status> {
        if let Peer::Known(user) = peer {
            return Ok(Some(UserInfo::clone(user)));
        }
        let token = bearer_token(request.headers());
        let user = match (token, peer) {
            (Some(token), _) => self.server.authenticate(token),
            (None, Peer::Refused) => None,
            (None, _) => self.anonymous.clone(),
        };
        let unauthorized = || Status::failure(401, "Unauthorized", "Unauthorized");
        user.map(Some).ok_or_else(unauthorized)
    }

    fn turns_strangers_away(&self) -> bool {
        false
    }
}

/// Reads the file with tokens and their users.
///
/// # Errors
///
/// If it cannot be read.
pub(super) fn tokens(file: &Path) -> Result<Vec<(String, UserInfo)>, String> {
    let failed = |why: String| format!("token auth file {}: {why}", file.display());
    let text = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    text_of(&text).and_then(read_tokens).map_err(failed)
}

fn text_of(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.iter().take(error.valid_up_to());
        let line = before.filter(|byte| **byte == b'\n').count().saturating_add(1);
        format!("line {line}: the text is not UTF-8")
    })
}

/// Reads lines of `token,user,uid` or `token,user,uid,"group,group"`.
fn read_tokens(text: &str) -> Result<Vec<(String, UserInfo)>, String> {
    let mut tokens = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields = fields(line);
        let [token, name, uid, rest @ ..] = fields.as_slice() else {
            return Err(format!("line {}: a token, a user and a UID are needed", index + 1));
        };
        if token.is_empty() {
            return Err(format!("line {}: the token is empty", index + 1));
        }
        let mut user = UserInfo::named(name);
        user.uid.clone_from(uid);
        let groups = rest.first().map(String::as_str).unwrap_or_default();
        let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
        user = groups.fold(user, |user, group| user.group(group));
        tokens.push((token.clone(), user.group(AUTHENTICATED)));
    }
    Ok(tokens)
}

/// The fields of a line, which may be in quotation marks.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(field) = fields.last_mut() else { break };
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            ' ' if field.is_empty() && !is_quoted => {}
            letter => field.push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ET-72.
    #[test]
    fn tokens_are_lines_of_a_file() {
        let text = "# of tests\nt1,alice,7,\"a,b\"\n\nt2, bob, 8\nt3,\"c \"\"d\",9\n";
        let tokens = read_tokens(text).unwrap();
        let users: Vec<(&str, &str, &str, String)> = tokens
            .iter()
            .map(|(token, user)| {
                (token.as_str(), user.username.as_str(), user.uid.as_str(), user.groups.join(" "))
            })
            .collect();
        let own = |text: &str| text.to_owned();
        assert_eq!(
            users,
            [
                ("t1", "alice", "7", own("a b system:authenticated")),
                ("t2", "bob", "8", own("system:authenticated")),
                ("t3", "c \"d", "9", own("system:authenticated")),
            ]
        );
        assert_eq!(
            read_tokens("a,b,c\na,b").unwrap_err(),
            "line 2: a token, a user and a UID are needed"
        );
        assert_eq!(read_tokens(",b,c").unwrap_err(), "line 1: the token is empty");
        assert_eq!(text_of(b"a,b,c\n\xff").unwrap_err(), "line 2: the text is not UTF-8");
    }
}
