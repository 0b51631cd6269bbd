//! The identifiers of requests in audit logs (RE-15).

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;
use uuid::{Builder, Uuid};

/// How much of a client's identifier counts.
const MAX_LENGTH: usize = 64;

/// Returns the identifier that a client gave its request, or else a new one.
pub(super) fn audit_id(given: Option<&HeaderValue>) -> HeaderValue {
    let given = given.filter(|given| !given.is_empty());
    let cut = given.and_then(|given| {
        let bytes = given.as_bytes();
        HeaderValue::from_bytes(bytes.get(..MAX_LENGTH).unwrap_or(bytes)).ok()
    });
    cut.unwrap_or_else(|| {
        let mut text = Uuid::encode_buffer();
        let id = new_id().hyphenated().encode_lower(&mut text);
        HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
    })
}

/// Counts from a random number on: they must differ, not surprise.
fn new_id() -> Uuid {
    static BASE: LazyLock<u128> = LazyLock::new(|| Uuid::new_v4().as_u128());
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = u128::from(COUNT.fetch_add(1, Ordering::Relaxed));
    Builder::from_random_bytes(BASE.wrapping_add(count).to_be_bytes()).into_uuid()
}
