//! The failures of etcd, and what they mean (ES-60).

use std::error::Error;

use tonic::{Code, Status};

use crate::storage::{BackendError, CommitError, Revision, TOO_LARGE};

/// The text of a write that may have been made.
const TIMED_OUT: &str = "etcdserver: request timed out";

/// Whether a call has failed before it could have any effect, and may succeed soon.
pub(super) fn is_passing(status: &Status) -> bool {
    let text = status.message();
    let has_no_leader = ["etcdserver: leader changed", "etcdserver: no leader"].contains(&text);
    status.code() == Code::Unavailable && (has_no_leader || text.ends_with("raft proposal dropped"))
}

/// Whether the server could not be reached, or did not answer.
pub(super) fn is_unavailable(status: &Status) -> bool {
    // Statuses that no server sent come from the connection.
    status.code() == Code::Unavailable || status.source().is_some()
}

/// Whether the token of a user has ended.
pub(super) fn is_unauthenticated(status: &Status) -> bool {
    status.code() == Code::Unauthenticated || status.message() == "etcdserver: invalid auth token"
}

/// The failure of a read of the state at a revision, or of the changes after it.
pub(super) fn of_read(status: &Status, revision: Revision) -> BackendError {
    let is_compacted = status.code() == Code::OutOfRange && status.message().ends_with("compacted");
    match is_compacted {
        true => BackendError::Compacted(revision),
        false => BackendError::Failed(text(status)),
    }
}

/// The failure of a write.
pub(super) fn of_write(status: &Status) -> CommitError {
    if is_passing(status) {
        return CommitError::Failed(text(status));
    }
    if is_unavailable(status) {
        return CommitError::Unknown(TIMED_OUT.to_owned());
    }
    match status.code() {
        Code::Unknown
        | Code::Cancelled
        | Code::DeadlineExceeded
        | Code::Internal
        | Code::Aborted => CommitError::Unknown(text(status)),
        _ if status.message() == TOO_LARGE => CommitError::TooLarge(text(status)),
        _ => CommitError::Failed(text(status)),
    }
}

/// Returns the text of a failure, with those of the connection that have led to it.
fn text(status: &Status) -> String {
    joined(status.message().to_owned(), status.source())
}

/// Returns the text of an error with those of what has led to it.
pub(super) fn with_sources(error: &dyn Error) -> String {
    joined(error.to_string(), error.source())
}

/// Adds the texts of sources that say something new.
fn joined(mut text: String, mut source: Option<&(dyn Error + 'static)>) -> String {
    while let Some(error) = source {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        source = error.source();
    }
    text
}
