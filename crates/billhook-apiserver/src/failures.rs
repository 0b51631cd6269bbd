//! Failures that several parts of the server answer with.

use billhook_apimachinery::Status;

/// The failure of a method that the server's own kinds do not offer (LC-02).
pub(crate) fn not_allowed() -> Status {
    let message = "the server does not allow this method on the requested resource";
    with_details(Status::failure(405, "MethodNotAllowed", message))
}

/// The failure of a path among those of the server's own kinds that nothing is served at (LC-02).
pub(crate) fn not_served() -> Status {
    with_details(Status::resource_not_found())
}

/// The failure of a body of a type that is not read (RE-12).
pub(crate) fn unsupported_body(types: &str) -> Status {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {types}"
    );
    Status::failure(415, "UnsupportedMediaType", message)
}

/// A failure that shows its details although they are empty.
pub(crate) fn with_details(mut status: Status) -> Status {
    status.details = Some(Box::default());
    status
}
