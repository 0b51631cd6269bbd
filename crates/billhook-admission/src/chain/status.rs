//! The status that a client gets when a webhook denies its request or cannot be asked (AR-71 to
//! AR-74).

use billhook_apimachinery::Status;

/// 500: a webhook could not be asked, and its failure policy is to fail (AR-73).
pub(crate) fn webhook_failed(hook: &str, reason: &str) -> Status {
    Status::internal_error(&format!("failed calling webhook \"{hook}\": {reason}"))
}

/// 400: a webhook that may have side effects would have to be called for a dry run (AR-74).
pub(crate) fn dry_run_unsupported(hook: &str) -> Status {
    Status::bad_request(format!("admission webhook \"{hook}\" does not support dry run"))
}

/// The status of a request that a webhook denies, made from the one in its answer (AR-71).
pub(crate) fn denied(hook: &str, answer: Option<Status>) -> Status {
    let mut status = answer.unwrap_or_default();
    if status.code < 400 {
        status.code = 400;
    }
    if status.status.is_empty() || status.status == "Success" {
        status.status = "Failure".to_owned();
    }
    let why = match (status.message.as_str(), status.reason.as_str()) {
        ("", "") => " without explanation".to_owned(),
        ("", reason) => format!(": {reason}"),
        (message, _) => format!(": {message}"),
    };
    status.message = format!("admission webhook \"{hook}\" denied the request{why}");
    status
}
