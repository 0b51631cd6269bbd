//! The events of a watch in protobuf (BK-20).

use billhook_apimachinery::record::text;
use billhook_decode::read_json;
use bytes::Bytes;
use serde_json::Value;

use crate::kinds::record_of;
use crate::protobuf;

/// The type of the stream.
pub(super) const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// Prints an event, given as a line of JSON, as a frame: a length and a message. `None` if its
/// object has no message.
pub(super) fn frame(line: &[u8]) -> Option<Bytes> {
    let event = read_json(line).ok()?.into_value();
    let object = event.get("object").unwrap_or(&Value::Null);
    let object = protobuf::object(object, record_of)?;
    Some(protobuf::event(text(&event, "type"), &object).into())
}
