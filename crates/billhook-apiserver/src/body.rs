//! The bodies of requests.

use billhook_apimachinery::Status;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Limited};

/// How many bytes a body has at most (RE-140).
const MAX_BODY: usize = 3 << 20;

/// Reads a body, up to the limit.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Status>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    let body = Limited::new(body, MAX_BODY).collect().await;
    body.map(Collected::to_bytes).map_err(|error| unreadable(&*error))
}

fn unreadable(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Status {
    if error.is::<http_body_util::LengthLimitError>() {
        return too_large();
    }
    Status::bad_request(error.to_string())
}

fn too_large() -> Status {
    let message = format!("Request entity too large: limit is {MAX_BODY}");
    Status::failure(413, "RequestEntityTooLarge", message)
}
