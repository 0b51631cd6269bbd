//! The protobuf of Kubernetes: bodies of the server's own kinds are read, their objects, lists and
//! events are written, and so are failures. Custom resources are never sent so.

mod messages;
mod read;
mod write;

pub(crate) use self::read::read;
pub(crate) use self::write::{Backwards, event, object, status};

/// The media type.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The beginning of every message.
pub(crate) const MAGIC: &[u8] = b"k8s\0";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use billhook_apimachinery::record::{complete, text};
    use billhook_apimachinery::value::DeepValue;
    use billhook_apimachinery::{KubernetesVersion, base64};
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
            let Some(record) = record_of(api_version, kind) else { continue };
            let message = base64::decode(text(&example, "protobuf")).unwrap();
            let expected = example["json"].clone();
            let found = read(&message, record_of);
            let found = found.unwrap_or_else(|error| panic!("{kind}: {error}"));
            // What has no value is in messages, too.
            let completed = |mut value: DeepValue| {
                complete(&mut value, record, KubernetesVersion::default());
                value
            };
            let expected = completed(DeepValue::from(expected));
            let again = object(&found, record_of).unwrap();
            let again = read(&again, record_of).unwrap();
            assert_eq!(completed(found), expected, "{api_version} {kind}");
            assert_eq!(completed(again), expected, "{api_version} {kind}");
        }
    }
}
