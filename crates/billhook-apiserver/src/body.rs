//! The bodies of requests.

use std::pin::pin;

use billhook_apimachinery::Status;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};

use crate::budget::{Budget, Reservation};

/// How many bytes a body has at most (RE-140).
const MAX_BODY: usize = 3 << 20;

/// A body that was read, and the memory that it takes.
#[derive(Debug, Default)]
pub(crate) struct RequestBody {
    pub(crate) bytes: Bytes,
    _held: Reservation,
}

/// Reads a body, up to the limit. However small the parts are that it comes in, it takes about its
/// size in memory, and all bodies together take no more than the budget.
pub(crate) async fn read<B>(body: B, budget: &Budget) -> Result<RequestBody, Status>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    let mut body = pin!(Limited::new(body, MAX_BODY));
    let mut held = Reservation::default();
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(part) = frame.map_err(|error| unreadable(&*error))?.into_data() else { continue };
        if first.is_empty() && all.is_empty() {
            first = part;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&part);
        held.cover(budget, all.capacity())?;
    }
    let bytes = if all.is_empty() { first } else { Bytes::from(all) };
    held.cover(budget, bytes.len())?;
    Ok(RequestBody { bytes, _held: held })
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
