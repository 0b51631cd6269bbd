//! The events of a watch in protobuf (BK-20).

use std::task::{Context, Poll};

use billhook_apimachinery::record::text;
use billhook_decode::read_json;
use bytes::Bytes;
use serde_json::Value;

use crate::answer::Lines;
use crate::kinds::record_of;
use crate::protobuf;

/// The type of the stream.
pub(super) const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// Prints events, given as lines of JSON, as frames: a length and a message each.
#[derive(Debug)]
pub(super) struct Frames<L>(pub(super) L);

impl<L: Lines> Lines for Frames<L> {
    fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_line(context).map(|line| frame(&line?))
    }
}

fn frame(line: &[u8]) -> Option<Bytes> {
    let event = read_json(line).ok()?.into_value();
    let object = event.get("object").unwrap_or(&Value::Null);
    let object = protobuf::object(object, record_of)?;
    Some(protobuf::event(text(&event, "type"), &object).into())
}
