//! The protobuf of Kubernetes, as far as clients use nothing else: bodies of the server's own kinds
//! are read, failures are written. Custom resources are never sent so.

mod messages;
mod read;
mod write;

pub(crate) use self::read::read;
pub(crate) use self::write::status;

/// The media type.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The beginning of every message.
const MAGIC: &[u8] = b"k8s\0";
