//! Watches (18, WA).

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use billhook::CrdVersion;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath, Status};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;
use tokio::time::Instant;

use super::context::Context;
use super::options::invalid;
use super::read::revision;
use super::selectors::Selectors;
use crate::catalog::Resource;
use crate::future::BoxFuture;
use crate::request::{MediaType, Query};
use crate::response::{Body, Lines, Response, status_json};
use crate::storage::{Event, Object, Range, Revision, RevisionError, Watch};
use crate::view::View;
use crate::write_path::stored_object;

/// How long a watch lasts that names no time.
const DEFAULT_DURATION: Duration = Duration::from_secs(30 * 60);
/// How often progress is told without a change, and how long before the end (WA-29).
const PROGRESS: Duration = Duration::from_secs(60);
const LAST_PROGRESS: Duration = Duration::from_secs(2);
const NOT_STREAMABLE: &str = "only the following media types are accepted: \
    application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// `GET` of a collection's changes.
pub(super) fn watch(context: &Context<'_>) -> Result<Response, Status> {
    let query = &context.request.query;
    query.check()?;
    let seconds = query.integer("timeoutSeconds")?;
    let selectors = Selectors::parse(context)?;
    let start = Start::read(query)?;
    selectors.check_fields(context)?;
    let wanted =
        revision(query.text("resourceVersion")).map_err(|why| Status::failure(500, "", why))?;
    if context.form.media_type != MediaType::Json {
        return Err(Status::failure(406, "NotAcceptable", NOT_STREAMABLE));
    }
    context.view.check()?;
    context.check_cache()?;
    let duration = match u64::try_from(seconds) {
        Ok(seconds) if seconds > 0 => Duration::from_secs(seconds),
        _ => DEFAULT_DURATION,
    };
    let stream = EventStream::begin(context, selectors, &start, wanted, duration);
    let mut response = http::Response::new(Body::events(stream));
    *response.status_mut() = StatusCode::OK;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

/// Where a watch begins (WA-10, WA-11).
struct Start {
    /// Whether it begins with the objects that are there.
    has_state: bool,
    /// Whether the end of these is told, and progress without changes.
    has_bookmarks: bool,
    /// Whether it begins at the newest revision, whatever the client has seen.
    is_newest: bool,
}

impl Start {
    fn read(query: &Query) -> Result<Self, Status> {
        let initial = query.get("sendInitialEvents");
        let wanted = query.text("resourceVersionMatch");
        let is_newest = matches!(query.text("resourceVersion"), "" | "0");
        let is_implied = is_newest && initial.is_none() && wanted.is_empty();
        if !is_implied {
            invalid("ListOptions", &option_errors(query))?;
        }
        let has_state = match initial {
            Some(_) => query.flag("sendInitialEvents"),
            None => is_newest,
        };
        let has_bookmarks = query.flag("allowWatchBookmarks");
        Ok(Start { has_state, has_bookmarks, is_newest })
    }
}

/// Checks the options of a watch (WA-05).
fn option_errors(query: &Query) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let path = || FieldPath::default().name("resourceVersionMatch");
    let wanted = query.text("resourceVersionMatch");
    let has_initial = query.get("sendInitialEvents").is_some();
    if has_initial && wanted != "NotOlderThan" {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(path(), detail));
    }
    if wanted.is_empty() {
        return errors;
    }
    if !has_initial {
        let detail =
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        errors.push(FieldError::forbidden(path(), detail));
    }
    if wanted != "NotOlderThan" {
        errors.push(FieldError::not_supported(path(), wanted, ["NotOlderThan"]));
    }
    if !query.text("continue").is_empty() {
        let detail = "resourceVersionMatch is forbidden when continue is provided";
        errors.push(FieldError::forbidden(path(), detail));
    }
    errors
}

/// The events of a watch, a line each.
struct EventStream(Stream);

enum Stream {
    /// The next line is being waited for.
    Waiting(BoxFuture<'static, Option<(Bytes, Box<Events>)>>),
    Ended,
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}

impl EventStream {
    fn begin(
        context: &Context<'_>,
        selectors: Selectors,
        start: &Start,
        wanted: Revision,
        duration: Duration,
    ) -> Self {
        let mut events = Events {
            selection: Selection {
                resource: Arc::clone(&context.resource),
                version: context.version.clone(),
                copies_text: context.shows_text() && selectors.is_everything(),
                selectors,
            },
            view: context.view.clone(),
            has_columns: false,
            state: Vec::new().into_iter(),
            end_of_state: None,
            failure: None,
            changes: None,
            retired: context.resource.retired.subscribe(),
            end: Instant::now() + duration,
            progress: None,
        };
        events.failure = events.start(context, start, wanted).err();
        EventStream(Stream::Waiting(Box::pin(Box::new(events).next())))
    }
}

impl Lines for EventStream {
    fn poll_line(&mut self, context: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        let Stream::Waiting(next) = &mut self.0 else { return Poll::Ready(None) };
        let next = ready!(Pin::new(next).poll(context));
        let (line, stream) = match next {
            Some((line, events)) => (Some(line), Stream::Waiting(Box::pin(events.next()))),
            None => (None, Stream::Ended),
        };
        self.0 = stream;
        Poll::Ready(line)
    }
}

/// The events that a watch still has to tell.
struct Events {
    selection: Selection,
    view: View,
    /// Whether an event said which columns a table has.
    has_columns: bool,
    /// The objects that the watch begins with.
    state: std::vec::IntoIter<Object>,
    /// The revision of these, if their end is told.
    end_of_state: Option<Revision>,
    /// Why the watch could not begin.
    failure: Option<Status>,
    /// `None` after a failure.
    changes: Option<Box<dyn Watch>>,
    /// Says when the definition is another one (LC-42).
    retired: tokio::sync::watch::Receiver<bool>,
    end: Instant,
    /// The progress that is told, if the client wants to hear of it.
    progress: Option<Progress>,
}

/// The progress that a client is told between changes (WA-29).
struct Progress {
    /// The revision up to which everything was sent.
    seen: Revision,
    /// Whether a change was seen since the beginning.
    is_new: bool,
    /// When it is told next.
    next: Instant,
}

impl Events {
    fn start(
        &mut self,
        context: &Context<'_>,
        start: &Start,
        wanted: Revision,
    ) -> Result<(), Status> {
        if matches!(self.view, View::MetadataList(_)) {
            // No event is a list.
            return Ok(());
        }
        let storage = context.storage();
        let collection = &self.selection.resource.collection;
        let prefix = context.prefix();
        if !start.is_newest && wanted < context.resource.since {
            let since = RevisionError::Compacted { oldest: context.resource.since };
            return Err(expired(wanted, since));
        }
        let mut after = if start.is_newest { storage.revision() } else { wanted };
        if start.has_state {
            super::read::check_reached(context, wanted)?;
            let state = storage
                .list(collection, Range::of_prefix(&prefix), None)
                .map_err(|error| Status::internal_error(&error.to_string()))?;
            after = state.revision;
            self.state = state.objects.into_iter();
            self.end_of_state = start.has_bookmarks.then_some(after);
        }
        let now = Instant::now();
        self.progress = start.has_bookmarks.then(|| Progress {
            seen: after,
            is_new: false,
            next: next_progress(now, self.end),
        });
        let changes = storage.watch(collection, &prefix, after);
        self.changes = Some(changes.map_err(|error| expired(after, error))?);
        Ok(())
    }

    async fn next(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        loop {
            match self.next_line().await? {
                Ok(Some(line)) => return Some((line, self)),
                Ok(None) => {}
                Err(status) => {
                    self.state = Vec::new().into_iter();
                    self.end_of_state = None;
                    self.changes = None;
                    return Some((error_line(&status), self));
                }
            }
        }
    }

    /// Waits for the next event. Returns its line if the client sees it; `None` at the end.
    async fn next_line(&mut self) -> Option<Result<Option<Bytes>, Status>> {
        if let Some(status) = self.failure.take() {
            return Some(Err(status));
        }
        if let Some(object) = self.state.next() {
            let selected = self.selection.read(Some(&object), object.modified).await;
            let line = |object| self.line("ADDED", object, false);
            return Some(selected.map(|object| object.map(line)));
        }
        if let Some(revision) = self.end_of_state.take() {
            return Some(Ok(Some(self.bookmark(revision, true))));
        }
        let changes = self.changes.as_mut()?;
        let wakes = self.progress.as_ref().map_or(self.end, |progress| progress.next.min(self.end));
        let event = tokio::select! {
            biased;
            event = changes.next() => Some(event),
            _ = self.retired.wait_for(|is_retired| *is_retired) => return None,
            () = tokio::time::sleep_until(wakes) => None,
        };
        let event = match event {
            Some(Ok(event)) => event,
            Some(Err(_)) => {
                self.changes = None;
                return None;
            }
            None if Instant::now() < self.end => return Some(Ok(self.tell_progress())),
            None => return None,
        };
        if let Some(progress) = &mut self.progress {
            progress.seen = event.revision;
            progress.is_new = true;
        }
        let change = self.selection.change(&event).await;
        Some(change.map(|change| {
            let (kind, object) = change?;
            Some(self.line(kind, object, false))
        }))
    }

    /// Tells how far the watch has come, if it has come further than its beginning (WA-29).
    fn tell_progress(&mut self) -> Option<Bytes> {
        let progress = self.progress.as_mut()?;
        progress.next = next_progress(Instant::now(), self.end);
        let seen = Some(progress.seen).filter(|_| progress.is_new)?;
        Some(self.bookmark(seen, false))
    }

    /// Says that everything up to a revision was sent (WA-13, WA-28).
    fn bookmark(&mut self, revision: Revision, ends_state: bool) -> Bytes {
        let revision = revision.to_string();
        let metadata = match ends_state {
            true => json!({
                "annotations": {"k8s.io/initial-events-end": "true"},
                "resourceVersion": revision,
            }),
            false => json!({"resourceVersion": revision}),
        };
        let object = json!({
            "apiVersion": self.selection.version.api_version(),
            "kind": self.selection.resource.definition.kind(),
            "metadata": metadata,
        });
        self.line("BOOKMARK", Seen::Object(object.into()), ends_state)
    }

    /// Prints an event (WA-20).
    fn line(&mut self, kind: &str, object: Seen, is_kept: bool) -> Bytes {
        let has_columns = std::mem::replace(&mut self.has_columns, true);
        let object = match object {
            Seen::Object(object) => self.view.event(&object, !has_columns, is_kept),
            Seen::Text(text) => text,
        };
        format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into()
    }
}

/// When progress is told after a time: a minute later, or shortly before the end; never after that.
fn next_progress(now: Instant, end: Instant) -> Instant {
    let last = end.checked_sub(LAST_PROGRESS).filter(|last| *last > now);
    last.map_or(end, |last| last.min(now + PROGRESS))
}

/// The objects that a client watches, in its version.
struct Selection {
    resource: Arc<Resource>,
    version: CrdVersion,
    selectors: Selectors,
    /// Whether the text of an object is all that is asked of it.
    copies_text: bool,
}

/// An object that a client sees.
enum Seen {
    Object(DeepValue),
    /// Printed already.
    Text(String),
}

impl Selection {
    /// Returns a change for those who see the selected objects only: the type of its event, and the
    /// object (WA-23).
    async fn change(&self, event: &Event) -> Result<Option<(&'static str, Seen)>, Status> {
        let (before, after) = (event.before.as_ref(), event.after.as_ref());
        // Who sees everything need not know what a changed object was before.
        let before_is_needed = after.is_none() || !self.selectors.is_everything();
        let was_seen = match before {
            Some(before) if before_is_needed => self.read(Some(before), event.revision).await?,
            _ => None,
        };
        let is_update = was_seen.is_some() || (before.is_some() && !before_is_needed);
        Ok(match (self.read(after, event.revision).await?, was_seen) {
            (Some(object), _) if is_update => Some(("MODIFIED", object)),
            (Some(object), _) => Some(("ADDED", object)),
            (None, Some(object)) => Some(("DELETED", object)),
            (None, None) => None,
        })
    }

    /// Reads an object as of a revision, if it is selected. In a watch every failure of a
    /// conversion is an internal error (CX-13).
    async fn read(
        &self,
        object: Option<&Object>,
        revision: Revision,
    ) -> Result<Option<Seen>, Status> {
        let Some(object) = object else { return Ok(None) };
        let version = self.version.name();
        if self.copies_text
            && let Some(text) = self.resource.text(version, object, revision)
        {
            return Ok(Some(Seen::Text(text)));
        }
        let stored = stored_object(object).resource_version(revision.to_string());
        let read = self.resource.admission.read(version, &stored).await;
        let read = read.map_err(|status| match status.reason.as_str() {
            "" => Status::internal_error(&status.message),
            _ => status,
        });
        Ok(Some(read?).filter(|object| self.selectors.matches(object)).map(Seen::Object))
    }
}

/// The last event of a watch that fails (WA-30).
fn error_line(status: &Status) -> Bytes {
    format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", status_json(status)).into()
}

fn expired(wanted: Revision, error: RevisionError) -> Status {
    match error {
        RevisionError::Compacted { oldest } => {
            let message = format!("too old resource version: {wanted} ({oldest})");
            Status::failure(410, "Expired", message)
        }
        error => Status::internal_error(&error.to_string()),
    }
}
