//! A status in protobuf, for clients that take nothing else (RE-11).

use billhook_apimachinery::{Status, StatusCause, StatusDetails};

use super::MAGIC;

/// Prints a status as a message of its own.
pub(crate) fn status(status: &Status) -> Vec<u8> {
    let mut type_meta = Message::default();
    type_meta.text(1, "v1");
    type_meta.text(2, "Status");
    let mut unknown = Message::default();
    unknown.bytes(1, &type_meta.0);
    unknown.bytes(2, &of_status(status));
    unknown.text(3, "");
    unknown.text(4, "");
    [MAGIC, &unknown.0].concat()
}

fn of_status(status: &Status) -> Vec<u8> {
    let mut metadata = Message::default();
    (1..=3).for_each(|field| metadata.text(field, ""));
    let mut message = Message::default();
    message.bytes(1, &metadata.0);
    message.text(2, &status.status);
    message.text(3, &status.message);
    message.text(4, &status.reason);
    if let Some(details) = &status.details {
        message.bytes(5, &of_details(details));
    }
    message.number(6, status.code);
    message.0
}

fn of_details(details: &StatusDetails) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, &details.name);
    message.text(2, &details.group);
    message.text(3, &details.kind);
    for StatusCause { reason, message: text, field, .. } in &details.causes {
        let mut cause = Message::default();
        cause.text(1, reason);
        cause.text(2, text);
        cause.text(3, field);
        message.bytes(4, &cause.0);
    }
    message.number(5, details.retry_after_seconds);
    message.text(6, &details.uid);
    message.0
}

/// A message that is being written, field by field.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn text(&mut self, field: u8, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn bytes(&mut self, field: u8, bytes: &[u8]) {
        self.0.push(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, field: u8, number: impl Into<i64>) {
        self.0.push(field << 3);
        self.varint(number.into().cast_unsigned());
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_message() {
        let mut details = StatusDetails::default();
        details.name = "a".to_owned();
        details.retry_after_seconds = 1;
        let mut failure = Status::failure(404, "NotFound", "none");
        failure.details = Some(Box::new(details));
        let expected: &[&[u8]] = &[
            b"k8s\0",
            b"\x0a\x0c\x0a\x02v1\x12\x06Status",
            b"\x12\x31",
            b"\x0a\x06\x0a\x00\x12\x00\x1a\x00",
            b"\x12\x07Failure\x1a\x04none\x22\x08NotFound",
            b"\x2a\x0b\x0a\x01a\x12\x00\x1a\x00\x28\x01\x32\x00",
            b"\x30\x94\x03",
            b"\x1a\x00\x22\x00",
        ];
        assert_eq!(status(&failure), expected.concat());
    }
}
