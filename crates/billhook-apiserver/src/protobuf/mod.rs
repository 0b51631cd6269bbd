//! The protobuf of Kubernetes: bodies of the server's own kinds are read, their objects, lists and
//! events are written, and so are failures. Custom resources are never sent so.

mod messages;
mod read;
mod write;

pub(crate) use self::read::read;
pub(crate) use self::write::{event, object, status};

/// The media type.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The beginning of every message.
const MAGIC: &[u8] = b"k8s\0";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use billhook_apimachinery::base64;
    use billhook_apimachinery::record::text;
    use serde_json::Value;

    use super::*;
    use crate::kinds::record_of;

    /// The round trips of Kubernetes' own types, if they are there.
    #[test]
    fn filled_objects_are_read_and_written() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../shared/facts/kinds/examples.jsonl");
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let example: Value = serde_json::from_str(line).unwrap();
            let (api_version, kind) = (text(&example, "apiVersion"), text(&example, "kind"));
            if record_of(api_version, kind).is_none() {
                continue;
            }
            let message = base64::decode(text(&example, "protobuf")).unwrap();
            let mut expected = example["json"].clone();
            // No server sends them any more, or sets them.
            expected["metadata"].as_object_mut().unwrap().remove("selfLink");
            if kind == "ValidatingAdmissionPolicy" {
                expected["status"].as_object_mut().unwrap().remove("conditions");
            }
            let found = read(&message, record_of);
            let found = found.unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert_eq!(*found, expected, "{api_version} {kind}");
            let again = object(&found, record_of).unwrap();
            assert_eq!(read(&again, record_of).as_deref(), Ok(&expected), "{api_version} {kind}");
        }
    }
}
