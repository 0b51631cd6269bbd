//! The answers to reviews of tokens.

use billhook_apimachinery::Status;
use billhook_apimachinery::record::{member, text, to_value};
use serde_json::{Value, json};

use crate::shared::Shared;

/// Returns the status of a review: whose token it is, and which of the audiences it is for.
pub(super) fn answer(server: &Shared, review: &Value) -> Result<Value, Status> {
    let spec = member(review, "spec").unwrap_or(&Value::Null);
    let token = text(spec, "token");
    if token.is_empty() {
        let message = "token is required for TokenReview in authentication";
        return Err(Status::bad_request(message));
    }
    let asked = member(spec, "audiences").and_then(Value::as_array);
    let asked: Vec<String> =
        asked.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let own = server.settings.tokens.own_audiences();
    let audiences = if asked.is_empty() { own } else { &asked };
    Ok(match server.authenticate(token, audiences) {
        Some((user, audiences)) => json!({
            "authenticated": true, "user": to_value(&user).into_inner(), "audiences": audiences,
        }),
        None => json!({"error": "invalid bearer token"}),
    })
}
