//! Watches (18, WA).

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use billhook_apimachinery::Status;
use billhook_apimachinery::value::DeepValue;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep_until};

use super::context::{Context, unreadable};
use super::frames::{self, frame};
use super::list_options::{ListOptions, is_newest};
use super::read::revision;
use super::selectors::{Keys, Selectors};
use crate::answer::{Body, Lines};
use crate::edition::Edition;
use crate::event_cache::{Change, Place, Reading, event_line};
use crate::future::BoxFuture;
use crate::request::{MediaType, Query};
use crate::resources::{Resource, WatchCache};
use crate::response::{Response, status_json};
use crate::shared::Shared;
use crate::storage::{Collection, Event, Object, PastError, Range, Revision, RevisionError, Watch};
use crate::view::View;

/// How long a watch lasts at most, so that its end can be computed.
const MAX_DURATION: Duration = Duration::from_secs(365 * 24 * 3600);
/// How often progress is reported without a change, and how long before the end (WA-29).
const PROGRESS: Duration = Duration::from_secs(60);
const LAST_PROGRESS: Duration = Duration::from_secs(2);
const NOT_STREAMABLE: &str = "only the following media types are accepted: \
    application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// `GET` of a collection's changes.
pub(super) async fn watch(context: &Context<'_>) -> Result<Response, Status> {
    let query = &context.request.query;
    let options = ListOptions::read(context)?;
    let wanted =
        revision(query.text("resourceVersion")).map_err(|why| Status::failure(500, "", why))?;
    let media_type = context.form.media_type;
    if media_type == MediaType::Yaml {
        return Err(Status::failure(406, "NotAcceptable", NOT_STREAMABLE));
    }
    context.view.check()?;
    context.check_cache()?;
    let (stream, end) = EventStream::begin(context, options, wanted).await;
    let type_ = match media_type {
        MediaType::Protobuf => frames::CONTENT_TYPE,
        _ => media_type.name(),
    };
    let mut response = http::Response::new(Body::events(stream, end.into_std()));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(type_));
    Ok(response)
}

/// Where a watch begins (WA-10, WA-11).
struct Start {
    /// Whether it begins with the objects that are there.
    has_state: bool,
    /// Whether the end of these is announced.
    ends_state: bool,
    /// Whether progress without changes is reported.
    has_bookmarks: bool,
    /// Whether it begins at the newest revision, whatever the client has seen.
    is_newest: bool,
}

impl Start {
    fn of(query: &Query, edition: &Edition) -> Self {
        let is_newest = is_newest(query);
        let has_state = match query.get("sendInitialEvents") {
            Some(_) => query.flag("sendInitialEvents"),
            None => is_newest,
        };
        let has_bookmarks = query.flag("allowWatchBookmarks");
        // Not in the old form of a watch (WA-02).
        let ends_state = has_bookmarks && query.flag("watch") && edition.streams_lists;
        Start { has_state, ends_state, has_bookmarks, is_newest }
    }
}

/// The events of a watch, a line or a frame each.
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
    async fn begin(
        context: &Context<'_>,
        options: ListOptions,
        wanted: Revision,
    ) -> (Self, Instant) {
        let ListOptions { selectors, duration, .. } = options;
        let end = later(Instant::now(), duration.unwrap_or(context.server.settings.watch_time));
        let mut events = Events {
            selection: Selection {
                resource: Arc::clone(&context.resource),
                cache: Arc::clone(&context.cache),
                version: context.version.name().into(),
                keys: selectors.keys(context),
                selectors,
            },
            api_version: context.version.api_version(),
            is_framed: context.form.media_type == MediaType::Protobuf,
            view: context.view.clone(),
            has_columns: false,
            state: State::default(),
            end_of_state: None,
            failure: None,
            past: VecDeque::new(),
            changes: None,
            retired: context.cache.retired.subscribe(),
            end,
            progress: None,
            timer: None,
        };
        events.failure = events.start(context, wanted).await.err();
        (EventStream(Stream::Waiting(Box::pin(Box::new(events).next()))), end)
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
    api_version: String,
    /// Whether they are sent as frames of protobuf, not as lines of JSON.
    is_framed: bool,
    view: View,
    /// Whether an event said which columns a table has.
    has_columns: bool,
    /// The objects that the watch begins with.
    state: State,
    /// The revision of these, if their end is announced.
    end_of_state: Option<Revision>,
    /// Why the watch could not begin.
    failure: Option<Status>,
    /// The changes before those that are watched, which memory has forgotten.
    past: VecDeque<Event>,
    /// `None` after a failure.
    changes: Option<Watch>,
    /// Says when the definition is another one (LC-42).
    retired: tokio::sync::watch::Receiver<bool>,
    end: Instant,
    /// The progress to report, if the client asks for it.
    progress: Option<Progress>,
    /// Wakes the watch at its end, or to report progress; made when it is first waited for.
    timer: Option<Pin<Box<Sleep>>>,
}

/// How many objects of its state a watch holds while it is not read.
const PAGE: usize = 100;

/// The objects at the revision that a watch begins at, page by page.
#[derive(Default)]
struct State {
    server: Weak<Shared>,
    range: Option<(Collection, String)>,
    revision: Revision,
    page: std::vec::IntoIter<Object>,
    /// The last key that was listed; none if all were.
    last: Option<Arc<str>>,
}

impl State {
    fn begin(
        server: &Arc<Shared>,
        collection: &Collection,
        prefix: &str,
    ) -> Result<Self, RevisionError> {
        let range = Some((collection.clone(), prefix.to_owned()));
        let mut state = State { server: Arc::downgrade(server), range, ..State::default() };
        state.read("", None)?;
        Ok(state)
    }

    fn next(&mut self) -> Result<Option<Object>, RevisionError> {
        if self.page.as_slice().is_empty()
            && let Some(last) = self.last.take()
        {
            self.read(&last, Some(self.revision))?;
        }
        Ok(self.page.next())
    }

    fn read(&mut self, after: &str, at: Option<Revision>) -> Result<(), RevisionError> {
        let Some((collection, prefix)) = &self.range else { return Ok(()) };
        let server = self.server.upgrade().ok_or(RevisionError::Closed)?;
        let range = Range::of_prefix(prefix).after(after).limit(PAGE).without_count();
        let listing = match at {
            Some(at) => server.storage.list_at(collection, range, at)?,
            None => server.storage.list(collection, range),
        };
        self.revision = listing.revision;
        let last = listing.objects.last().filter(|_| listing.remaining > 0);
        self.last = last.map(|last| Arc::clone(&last.key));
        self.page = listing.objects.into_iter();
        Ok(())
    }
}

/// The progress that is reported to a client between changes (WA-29).
struct Progress {
    /// The revision up to which everything was sent.
    seen: Revision,
    /// Whether a change was seen since the beginning.
    is_new: bool,
    /// When it is reported next.
    next: Instant,
}

impl Events {
    async fn start(&mut self, context: &Context<'_>, wanted: Revision) -> Result<(), Status> {
        let start = Start::of(&context.request.query, &context.server.settings.edition);
        if self.view.shows_lists() {
            // No event is a list.
            return Ok(());
        }
        let storage = context.storage();
        let collection = &self.selection.resource.collection;
        let prefix = context.prefix();
        if !start.has_state && !start.is_newest && wanted < context.resource.since {
            let since = RevisionError::Compacted { oldest: context.resource.since };
            return Err(expired(&context.resource, wanted, since));
        }
        let mut after = if start.is_newest { storage.revision() } else { wanted };
        if start.has_state {
            super::read::check_reached(context, wanted)?;
            self.state = State::begin(context.server, collection, &prefix)
                .map_err(|error| Status::internal_error(&error.to_string()))?;
            after = self.state.revision;
            self.end_of_state = start.ends_state.then_some(after);
        }
        let now = Instant::now();
        self.progress = start.has_bookmarks.then(|| Progress {
            seen: after,
            is_new: false,
            next: next_progress(now, self.end),
        });
        let resource = &context.resource;
        self.changes = Some(if resource.is_cached() {
            let watch = storage.watch(collection, &prefix, after);
            watch.map_err(|error| expired(resource, after, error))?
        } else {
            let (past, watch) = storage.watch_past(collection, &prefix, after).await.map_err(
                |error| match error {
                    PastError::Revision(error) => expired(resource, after, error),
                    PastError::Failed(why) => unreadable(&why),
                },
            )?;
            self.past = past.into();
            watch
        });
        Ok(())
    }

    async fn next(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        loop {
            match self.next_line().await? {
                Ok(Some(printed)) => return Some((printed.encode(self.is_framed)?, self)),
                Ok(None) => {}
                Err(status) => {
                    self.state = State::default();
                    self.end_of_state = None;
                    self.past.clear();
                    self.changes = None;
                    let printed = PrintedEvent::from(error_line(&status));
                    return Some((printed.encode(self.is_framed)?, self));
                }
            }
        }
    }

    /// Waits for the next event. Returns it if the client sees it; `None` at the end.
    async fn next_line(&mut self) -> Option<Result<Option<PrintedEvent>, Status>> {
        if let Some(status) = self.failure.take() {
            return Some(Err(status));
        }
        // A state that is forgotten before it is read ends the watch (WA-33).
        if let Some(object) = self.state.next().ok()? {
            return Some(self.tell_state(&object).await);
        }
        if let Some(revision) = self.end_of_state.take() {
            return Some(Ok(Some(self.bookmark(revision, true).into())));
        }
        if let Some(event) = self.past.pop_front() {
            return Some(self.tell_change(&event).await);
        }
        let changes = self.changes.as_mut()?;
        let wakes = self.progress.as_ref().map_or(self.end, |progress| progress.next.min(self.end));
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(wakes)));
        if timer.deadline() != wakes {
            timer.as_mut().reset(wakes);
        }
        let event = tokio::select! {
            biased;
            event = changes.next() => Some(event),
            _ = self.retired.wait_for(|is_retired| *is_retired) => return None,
            () = timer => None,
        };
        let event = match event {
            Some(Ok(event)) => event,
            Some(Err(_)) => {
                self.changes = None;
                return None;
            }
            None if Instant::now() < self.end => {
                return Some(Ok(self.tell_progress().map(PrintedEvent::from)));
            }
            None => return None,
        };
        if let Some(progress) = &mut self.progress {
            progress.seen = event.revision;
            progress.is_new = true;
        }
        Some(self.tell_change(&event).await)
    }

    /// Tells of an object that was there at the beginning, if the client sees it.
    async fn tell_state(&mut self, object: &Object) -> Result<Option<PrintedEvent>, Status> {
        let reading = Arc::new(Reading::new(object.clone(), object.modified));
        match self.selection.select(reading).await? {
            Some(reading) => self.line(Change::Added, reading).await.map(Some),
            None => Ok(None),
        }
    }

    /// Tells of a change, if the client sees it.
    async fn tell_change(&mut self, event: &Event) -> Result<Option<PrintedEvent>, Status> {
        match self.selection.change(event).await? {
            Some((change, reading)) => self.line(change, reading).await.map(Some),
            None => Ok(None),
        }
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
            "apiVersion": self.api_version,
            "kind": self.selection.resource.definition.kind(),
            "metadata": metadata,
        });
        self.print("BOOKMARK", &object, ends_state)
    }

    /// Prints an event about an object; if it shows the whole object, for all watches at once.
    async fn line(
        &mut self,
        change: Change,
        reading: Arc<Reading>,
    ) -> Result<PrintedEvent, Status> {
        if self.view.shows_objects() {
            let line = self.selection.line(change, &reading, &self.view).await?;
            return Ok(PrintedEvent { line, shared: Some((change, reading)) });
        }
        let object = self.selection.object(&reading).await?;
        Ok(self.print(change.name(), object, false).into())
    }

    /// Prints an event for this watch.
    fn print(&mut self, kind: &str, object: &Value, is_kept: bool) -> Bytes {
        let has_columns = std::mem::replace(&mut self.has_columns, true);
        event_line(kind, self.view.event(object, !has_columns, is_kept).as_bytes())
    }
}

/// An event that is printed.
struct PrintedEvent {
    /// It as a line of JSON.
    line: Bytes,
    /// The change and the object that other watches tell of, too.
    shared: Option<(Change, Arc<Reading>)>,
}

impl From<Bytes> for PrintedEvent {
    fn from(line: Bytes) -> Self {
        PrintedEvent { line, shared: None }
    }
}

impl PrintedEvent {
    /// Returns the event as it is sent; `None` if it cannot be, which ends the watch.
    fn encode(self, is_framed: bool) -> Option<Bytes> {
        match self.shared {
            _ if !is_framed => Some(self.line),
            Some((change, reading)) => {
                let framed = &reading.printed(change).frame;
                framed.get_or_init(|| frame(&self.line)).clone()
            }
            None => frame(&self.line),
        }
    }
}

/// When progress is reported after a time: a minute later, or shortly before the end; never after that.
fn next_progress(now: Instant, end: Instant) -> Instant {
    let last = end.checked_sub(LAST_PROGRESS).filter(|last| *last > now);
    last.map_or(end, |last| last.min(later(now, PROGRESS)))
}

/// The end of a duration that begins at a time.
pub(super) fn later(begin: Instant, duration: Duration) -> Instant {
    begin.checked_add(duration.min(MAX_DURATION)).unwrap_or(begin)
}

/// The objects that a client watches, in its version.
struct Selection {
    resource: Arc<Resource>,
    cache: Arc<WatchCache>,
    version: Arc<str>,
    keys: Keys,
    selectors: Selectors,
}

impl Selection {
    /// Returns a change for those who see the selected objects only: the type of its event, and the
    /// object (WA-23).
    async fn change(&self, event: &Event) -> Result<Option<(Change, Arc<Reading>)>, Status> {
        let (before, after) = (event.before.as_ref(), event.after.as_ref());
        // Who sees everything need not know what a changed object was before.
        let before_is_needed = after.is_none() || !self.selectors.is_everything();
        let is_seen = match after {
            Some(after) => self.select(self.shared(after, event.revision, false)).await?,
            None => None,
        };
        let was_seen = match before.filter(|_| before_is_needed) {
            Some(before) => self.select(self.shared(before, event.revision, true)).await?,
            None => None,
        };
        let is_update = was_seen.is_some() || (before.is_some() && !before_is_needed);
        Ok(match (is_seen, was_seen) {
            (Some(object), _) if is_update => Some((Change::Modified, object)),
            (Some(object), _) => Some((Change::Added, object)),
            (None, Some(object)) => Some((Change::Deleted, object)),
            (None, None) => None,
        })
    }

    /// The object of a change, as all watches share it.
    fn shared(&self, object: &Object, revision: Revision, is_before: bool) -> Arc<Reading> {
        let (key, version) = (Arc::clone(&object.key), Arc::clone(&self.version));
        let place = Place { revision, key, is_before, version };
        self.cache.events.get(place, object)
    }

    /// Returns an object if it is selected.
    async fn select(&self, reading: Arc<Reading>) -> Result<Option<Arc<Reading>>, Status> {
        let is_selected = self.selectors.is_everything()
            || (self.keys.contain(&reading.stored.key)
                && self.selectors.matches(self.object(&reading).await?));
        Ok(is_selected.then_some(reading))
    }

    /// Reads an object. In a watch every failure of a conversion is an internal error (CX-13).
    async fn object<'r>(&self, reading: &'r Reading) -> Result<&'r DeepValue, Status> {
        let read = async || {
            let stored = self.resource.stored(&reading.stored);
            let stored = stored.resource_version(reading.revision.to_string());
            let read = self.resource.admission.read(&self.version, &stored).await;
            read.map_err(|status| match status.reason.as_str() {
                "" => Status::internal_error(&status.message),
                _ => status,
            })
        };
        reading.object.get_or_init(read).await.as_ref().map_err(Status::clone)
    }

    /// Prints the event of an object that is shown as it is, for all watches.
    async fn line(&self, change: Change, reading: &Reading, view: &View) -> Result<Bytes, Status> {
        let line = &reading.printed(change).line;
        if let Some(line) = line.get() {
            return Ok(line.clone());
        }
        let text = || self.resource.text(&self.version, &reading.stored, reading.revision);
        let object = match text() {
            Some(text) => text,
            None => view.event(self.object(reading).await?, false, false).into_bytes(),
        };
        Ok(line.get_or_init(|| event_line(change.name(), &object)).clone())
    }
}

/// The last event of a watch that fails (WA-30).
fn error_line(status: &Status) -> Bytes {
    event_line("ERROR", status_json(status).as_bytes())
}

/// The failure of a watch from a revision that is forgotten (WA-11, ES-43).
fn expired(resource: &Resource, wanted: Revision, error: RevisionError) -> Status {
    match error {
        RevisionError::Compacted { .. } if !resource.is_cached() => {
            let message = "The resourceVersion for the provided watch is too old.";
            Status::failure(410, "Expired", message)
        }
        RevisionError::Compacted { oldest } => {
            let message = format!("too old resource version: {wanted} ({oldest})");
            Status::failure(410, "Expired", message)
        }
        error => Status::internal_error(&error.to_string()),
    }
}
