//! Tokens that are given to a server with their users (ET-72).

use billhook_apimachinery::UserInfo;

/// Tokens and whose they are.
#[derive(Clone, Default)]
pub(crate) struct KnownTokens(Vec<(String, UserInfo)>);

impl KnownTokens {
    pub(crate) fn add(&mut self, token: String, user: UserInfo) {
        self.0.push((token, user));
    }

    /// Returns the user of a token.
    pub(crate) fn user(&self, token: &str) -> Option<&UserInfo> {
        let mut found = self.0.iter().filter(|(known, _)| is_same(known, token));
        found.next().map(|(_, user)| user)
    }
}

/// Whether a token is the one given; how long the answer takes says nothing about it but its length.
fn is_same(token: &str, given: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differences == 0
}
