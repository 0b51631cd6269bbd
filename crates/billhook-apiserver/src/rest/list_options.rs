//! The options of lists, watches and deletions of collections, and what may be wrong with them
//! (RE-50 to RE-52, WA-03, WA-05, WA-10).

use std::time::Duration;

use billhook_apimachinery::{FieldError, FieldPath, Status};

use super::context::Context;
use super::options::invalid;
use super::selectors::Selectors;
use crate::request::Query;

/// The options that say which objects a request is about.
pub(super) struct ListOptions {
    pub(super) selectors: Selectors,
    pub(super) limit: Option<usize>,
    /// How long a watch is to last.
    pub(super) duration: Option<Duration>,
}

impl ListOptions {
    /// Reads the options of a request.
    pub(super) fn read(context: &Context<'_>) -> Result<Self, Status> {
        let query = &context.request.query;
        let seconds = query.integer("timeoutSeconds")?;
        let limit = query.integer("limit")?;
        let settings = &context.server.settings;
        let selectors = Selectors::parse(query, settings.kubernetes)?;
        // The old form of a watch does not ask for one in its query (WA-02).
        let errors = match query.flag("watch") {
            true => watch_errors(query, settings.edition.streams_lists),
            false => list_errors(query),
        };
        invalid("ListOptions", &errors)?;
        selectors.check_fields(context)?;
        Ok(ListOptions {
            selectors: selectors.of_path(context.path)?,
            limit: usize::try_from(limit).ok().filter(|limit| *limit > 0),
            duration: u64::try_from(seconds)
                .ok()
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
        })
    }
}

const MATCH: &str = "resourceVersionMatch";
const INITIAL: &str = "sendInitialEvents";
const NOT_OLDER: &str = "NotOlderThan";

/// Whether a resource version leaves it to the server where to begin.
pub(super) fn is_newest(query: &Query) -> bool {
    matches!(query.text("resourceVersion"), "" | "0")
}

/// Checks the options of a list (RE-52).
fn list_errors(query: &Query) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let path = || FieldPath::default().name(MATCH);
    let (wanted, revision) = (query.text(MATCH), query.text("resourceVersion"));
    if !wanted.is_empty() {
        let mut forbid = |detail| errors.push(FieldError::forbidden(path(), detail));
        if revision.is_empty() {
            forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if !query.text("continue").is_empty() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if !matches!(wanted, "Exact" | NOT_OLDER) {
            let supported = ["Exact", NOT_OLDER, ""];
            errors.push(FieldError::not_supported(path(), wanted, supported));
        } else if wanted == "Exact" && revision == "0" {
            let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(FieldError::forbidden(path(), detail));
        }
    }
    if query.get(INITIAL).is_some() {
        let path = FieldPath::default().name(INITIAL);
        errors.push(FieldError::forbidden(path, "sendInitialEvents is forbidden for list"));
    }
    errors
}

/// Checks the options of a watch (WA-05); a server may not be able to stream lists.
fn watch_errors(query: &Query, streams_lists: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let path = || FieldPath::default().name(MATCH);
    let mut wanted = query.text(MATCH);
    let mut has_initial = query.get(INITIAL).is_some();
    if streams_lists && is_newest(query) && !has_initial && wanted.is_empty() {
        // Such a watch begins with the objects that there are, as if it had asked (WA-10).
        (wanted, has_initial) = (NOT_OLDER, true);
    }
    if has_initial && wanted != NOT_OLDER {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(path(), detail));
    }
    if has_initial && !streams_lists {
        let path = FieldPath::default().name(INITIAL);
        let detail =
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
        errors.push(FieldError::forbidden(path, detail));
    }
    if wanted.is_empty() {
        return errors;
    }
    if !has_initial {
        let detail =
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        errors.push(FieldError::forbidden(path(), detail));
    }
    if wanted != NOT_OLDER {
        errors.push(FieldError::not_supported(path(), wanted, [NOT_OLDER]));
    }
    if !query.text("continue").is_empty() {
        let detail = "resourceVersionMatch is forbidden when continue is provided";
        errors.push(FieldError::forbidden(path(), detail));
    }
    errors
}
