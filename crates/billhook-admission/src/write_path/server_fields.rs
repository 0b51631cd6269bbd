//! The fields that the server sets in a new object (RP-45, AR-30).

use billhook::Time;

use crate::time::now;

/// The fields that the server sets in a new object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFields {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.creationTimestamp`.
    pub creation_timestamp: String,
    /// The end of a generated name.
    pub name_suffix: String,
}

impl ServerFields {
    /// The fields of a new object.
    pub fn new(
        uid: impl Into<String>,
        creation_timestamp: impl Into<String>,
        name_suffix: impl Into<String>,
    ) -> Self {
        ServerFields {
            uid: uid.into(),
            creation_timestamp: creation_timestamp.into(),
            name_suffix: name_suffix.into(),
        }
    }

    /// Makes the fields of an object that is created now.
    pub fn random() -> Self {
        ServerFields::random_at(now())
    }

    /// Makes the fields of an object that is created at a time.
    pub fn random_at(time: Time) -> Self {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let uid = uuid::Uuid::new_v4();
        let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len()).copied();
        let suffix = uid.as_bytes().iter().take(5).filter_map(letter).map(char::from);
        Self::new(uid, time.to_rfc3339(), suffix.collect::<String>())
    }
}
