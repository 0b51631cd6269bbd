//! The abilities of the members of a cluster.

use tonic::transport::Channel;

use super::client::Client;
use super::failure::of_read;
use super::watcher::Coverage;
use crate::storage::BackendError;

/// The first versions of each line that tell the progress of a watch after its changes (ES-44).
const FIRST: [(u64, u64, u64); 2] = [(3, 4, 31), (3, 5, 13)];

/// Asks the members that answer for their versions. Fails if none does.
pub(super) async fn coverage(
    members: Vec<Channel>,
    user: Option<&(String, String)>,
) -> Result<Coverage, BackendError> {
    let mut coverage = Coverage::Prefix;
    let mut failure = None;
    let count = members.len();
    let mut failures = 0;
    for member in members {
        match Client::new(member, user.cloned()).status().await {
            Ok(status) if tells_progress(&status.version) => {}
            Ok(_) => coverage = Coverage::AllKeys,
            Err(status) => {
                // It may be of any version.
                coverage = Coverage::AllKeys;
                failures += 1;
                failure = Some(of_read(&status, 0));
            }
        }
    }
    match failure {
        Some(failure) if failures == count => Err(failure),
        _ => Ok(coverage),
    }
}

fn tells_progress(version: &str) -> bool {
    let mut numbers = version.splitn(3, '.').map(|number| number.parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    let (Some(major), Some(minor), Some(patch)) = (next(), next(), next()) else { return false };
    let version = (major, minor, patch);
    match FIRST.iter().find(|(_, line, _)| *line == minor && major == 3) {
        Some(first) => version >= *first,
        None => version > FIRST[1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ES-44.
    #[test]
    fn only_newer_versions_tell_progress_in_order() {
        for (version, expected) in [
            ("3.3.27", false),
            ("3.4.30", false),
            ("3.4.31", true),
            ("3.5.12", false),
            ("3.5.13", true),
            ("3.6.0", true),
            ("4.0.0", true),
            ("3.6", false),
            ("3.6.0-rc.1", false),
            ("", false),
        ] {
            assert_eq!(tells_progress(version), expected, "{version}");
        }
    }
}
