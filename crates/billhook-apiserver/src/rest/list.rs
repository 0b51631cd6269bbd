//! Lists (RE-50 to RE-60).

use std::fmt::Display;

use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::value::{DeepValue, json_type};
use billhook_apimachinery::{Status, base64, record};
use billhook_decode::read_json;
use http::StatusCode;

use super::context::{Context, unreadable};
use super::list_options::ListOptions;
use super::list_text::{self, Items, ListText};
use super::read::{check_reached, revision, too_large};
use super::selectors::{Keys, Selectors};
use crate::answer::Body;
use crate::budget::{Reservation, SMALL};
use crate::response::{Form, Response};
use crate::storage::{Listing, Object, PastError, Range, Revision, RevisionError};
use crate::view::{List, ListMetadata, list_json};

const EXPIRED_PAGE: &str = "The provided continue parameter is too old to display a consistent \
    list result. You can start a new list without the continue parameter, or use the continue \
    token in this response to retrieve the remainder of the results. Continuing with the provided \
    token results in an inconsistent list - objects that were created, modified, or deleted \
    between the time the first chunk was returned and now may show up in the list.";

/// How many stored objects are looked at together for those that are selected.
const CHUNK: usize = 1000;

/// `GET` of a collection.
pub(super) async fn list(context: &Context<'_>) -> Result<Response, Status> {
    let page = Page::of(context, ListOptions::read(context)?)?;
    context.check_cache()?;
    let listed = if context.view.shows_objects() && page.selectors.is_everything() {
        page.texts(context).await
    } else {
        let listed = page.list(context).await;
        listed.and_then(|(items, metadata)| list_answer(context, &items, &metadata))
    };
    listed.or_else(|status| page.failed(context, status))
}

/// The answer with a list.
pub(super) fn list_answer(
    context: &Context<'_>,
    items: &[DeepValue],
    metadata: &ListMetadata,
) -> Result<Response, Status> {
    let api_version = &context.version.api_version();
    let kind = &context.resource.definition.names().list_kind;
    let list = List { api_version, kind, metadata, items };
    Ok(context.form.json(StatusCode::OK, context.view.list(&list)?))
}

/// The part of a collection that a request lists.
pub(super) struct Page {
    selectors: Selectors,
    keys: Keys,
    limit: Option<usize>,
    at: Option<Revision>,
    /// The key after which the page begins, without the prefix of the path.
    after: String,
    is_continued: bool,
}

impl Page {
    /// Finds out which part options are about.
    pub(super) fn of(context: &Context<'_>, options: ListOptions) -> Result<Self, Status> {
        let ListOptions { selectors, limit, .. } = options;
        let query = &context.request.query;
        let token = query.text("continue");
        if !token.is_empty() {
            return Self::following(context, selectors, limit, token);
        }
        let text = query.text("resourceVersion");
        let wanted = revision(text)
            .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
        check_reached(context, wanted)?;
        let is_exact = match query.text("resourceVersionMatch") {
            "Exact" => true,
            "" => limit.is_some() && wanted > 0,
            _ => false,
        };
        let keys = selectors.keys(context);
        let limit = limit.filter(|_| !keys.is_one && !is_whole(context));
        let at = Some(wanted).filter(|wanted| is_exact && *wanted > 0);
        Ok(Page { selectors, keys, limit, at, after: String::new(), is_continued: false })
    }

    fn following(
        context: &Context<'_>,
        selectors: Selectors,
        limit: Option<usize>,
        token: &str,
    ) -> Result<Self, Status> {
        if !matches!(context.request.query.text("resourceVersion"), "" | "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(Status::bad_request(message));
        }
        let (at, after) = read_token(token)
            .map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))?;
        if let Some(at) = at {
            check_reached(context, at)?;
        }
        let limit = limit.filter(|_| !is_whole(context));
        let keys = Keys { prefix: selectors.prefix(context), is_one: false };
        Ok(Page { selectors, keys, limit, at, after, is_continued: true })
    }

    /// Answers with a failure. A page that is gone says how to go on without it (RE-58).
    pub(super) fn failed(&self, context: &Context<'_>, status: Status) -> Result<Response, Status> {
        if !self.is_continued || status.reason != "Expired" {
            return Err(status);
        }
        Ok(Form::of_failures(context.request)
            .status_with(&status, &write_token(NEWEST, &self.after)))
    }

    /// Lists the objects of the page, and the metadata of the list.
    pub(super) async fn list(
        &self,
        context: &Context<'_>,
    ) -> Result<(Vec<DeepValue>, ListMetadata), Status> {
        let prefix = &self.keys.prefix;
        let mut after = self.after_key(prefix);
        let mut at = self.at;
        let mut items = Vec::new();
        let (mut held, mut bytes) = (Reservation::default(), 0);
        loop {
            let range = self.range(prefix, &after, items.len());
            let mut listing = self.storage_list(context, range, at).await?;
            at = Some(listing.revision);
            for (place, object) in listing.objects.iter().enumerate() {
                let_others(place).await;
                if let Some(item) = self.select(context, object).await? {
                    bytes += object.text.len();
                    held.cover(&context.server.settings.budgets.printing, bytes)?;
                    items.push(item);
                }
                if self.limit == Some(items.len()) {
                    // The rest was looked at in vain.
                    listing.remaining += listing.objects.len() - place - 1;
                    listing.objects.truncate(place + 1);
                    return Ok((items, self.metadata(&listing)));
                }
            }
            match listing.objects.last() {
                Some(last) if listing.remaining > 0 && !self.keys.is_one => {
                    after = last.key.to_string();
                }
                _ => {
                    listing.remaining = 0;
                    return Ok((items, self.metadata(&listing)));
                }
            }
        }
    }

    /// Reads an object if it is selected.
    async fn select(
        &self,
        context: &Context<'_>,
        object: &Object,
    ) -> Result<Option<DeepValue>, Status> {
        // Only a webhook changes labels when it converts objects.
        let tells = !context.resource.definition.is_converted_by_webhook();
        if !self.keys.contain(&object.key) || (tells && !self.selectors.may_match(object)) {
            return Ok(None);
        }
        let item = context.read(object).await?;
        Ok(self.selectors.matches(&item).then_some(item))
    }

    /// Answers with the texts of the page's objects where nothing is selected.
    async fn texts(&self, context: &Context<'_>) -> Result<Response, Status> {
        let prefix = &self.keys.prefix;
        let after = self.after_key(prefix);
        let listing = self.storage_list(context, self.range(prefix, &after, 0), self.at).await?;
        let metadata = self.metadata(&listing);
        if let Some(list) = self.streamed(context, &listing, &metadata, &after) {
            return Ok(context.form.text(StatusCode::OK, Body::parts(list)));
        }
        let _held = hold(context, &listing)?;
        let mut texts = Vec::with_capacity(listing.objects.len());
        for (index, object) in listing.objects.iter().enumerate() {
            let_others(index).await;
            texts.push(context.read_text(object).await?);
        }
        let api_version = &context.version.api_version();
        let kind = &context.resource.definition.names().list_kind;
        let ends = context.view.list_ends(api_version, kind, &metadata);
        let text = list_json(ends, &texts, context.resource.item_start());
        Ok(context.form.json(StatusCode::OK, text))
    }

    /// The text of a large list, if it need not be printed before it is sent.
    fn streamed(
        &self,
        context: &Context<'_>,
        listing: &Listing,
        metadata: &ListMetadata,
        after: &str,
    ) -> Option<ListText> {
        let length: usize = listing.objects.iter().map(|object| object.text.len()).sum();
        if length <= SMALL || !context.form.is_compact_json() {
            return None;
        }
        let (resource, version) = (&context.resource, context.version.name());
        let lengths = listing.objects.iter().map(|it| list_text::length(resource, version, it));
        let length = lengths.sum::<Option<usize>>()?;
        let objects = context.server.storage.snapshot(&resource.collection, listing.revision)?;
        let prefix = self.keys.prefix.clone();
        let items =
            Items { objects, prefix, after: after.to_owned(), count: listing.objects.len() };
        let kind = &resource.definition.names().list_kind;
        let (begin, end) = context.view.list_ends(&context.version.api_version(), kind, metadata);
        Some(ListText::new(resource, version, items, length, (begin, end + "\n")))
    }

    /// The key after which the page begins.
    fn after_key(&self, prefix: &str) -> String {
        if self.is_continued { format!("{prefix}{}", self.after) } else { String::new() }
    }

    /// The rest of the page after a key, when some objects have been listed.
    fn range<'r>(&self, prefix: &'r str, after: &'r str, listed: usize) -> Range<'r> {
        let range = Range::of_prefix(prefix).after(after);
        if self.keys.is_one {
            // It comes before all others that begin so.
            return range.limit(1);
        }
        match self.limit.map(|limit| limit.saturating_sub(listed)) {
            // The list does not say how many there are. Most objects may not be selected.
            _ if !self.selectors.is_everything() => range.without_count().limit(CHUNK),
            Some(limit) => range.limit(limit),
            None => range,
        }
    }

    async fn storage_list(
        &self,
        context: &Context<'_>,
        range: Range<'_>,
        at: Option<Revision>,
    ) -> Result<Listing, Status> {
        let (storage, collection) = (context.storage(), &context.resource.collection);
        let Some(at) = at else { return Ok(storage.list(collection, range)) };
        storage.list_past(collection, range, at).await.map_err(|error| match error {
            PastError::Revision(RevisionError::Future { current }) => too_large(at, current),
            PastError::Failed(why) => unreadable(&why),
            _ if self.is_continued => Status::failure(410, "Expired", EXPIRED_PAGE),
            _ => {
                let message = "The resourceVersion for the provided list is too old.";
                Status::failure(410, "Expired", message)
            }
        })
    }

    fn metadata(&self, listing: &Listing) -> ListMetadata {
        let prefix = &self.keys.prefix;
        let next = listing.objects.last().filter(|_| listing.remaining > 0);
        ListMetadata {
            resource_version: listing.revision.to_string(),
            next: next.map_or_else(String::new, |last| {
                write_token(&listing.revision, last.key.strip_prefix(prefix).unwrap_or(&last.key))
            }),
            remaining: next.filter(|_| self.selectors.is_everything()).map(|_| listing.remaining),
        }
    }
}

/// Lets other requests have their turn, and the time of this one end, among many objects.
pub(super) async fn let_others(index: usize) {
    const TURN: usize = 128;
    if index % TURN == TURN - 1 {
        tokio::task::yield_now().await;
    }
}

/// Counts the memory that a large listing takes while it is printed, which may have to wait.
fn hold(context: &Context<'_>, listing: &Listing) -> Result<Reservation, Status> {
    let bytes = listing.objects.iter().map(|object| object.text.len()).sum();
    context.server.settings.budgets.printing.reserve(bytes)
}

/// The revision of pages that show the newest state, whatever the pages before them showed.
const NEWEST: &i64 = &-1;

/// Whether everything is listed at once: from memory, at revision 0.
fn is_whole(context: &Context<'_>) -> bool {
    context.request.query.text("resourceVersion") == "0" && context.resource.is_cached()
}

/// Returns the revision of a page that a request asks for, if it is a certain one.
pub(super) fn revision_of_page(token: &str) -> Option<Revision> {
    read_token(token).ok()?.0
}

record! {
    /// Where a page begins (RE-58).
    #[derive(Default)]
    struct Token = "continueToken" {
        version: String = "v",
        revision: i64 = "rv",
        start: String = "start",
    }
}

/// Writes where the next page begins: after a key, at a revision (RE-58).
fn write_token(revision: &impl Display, key: &str) -> String {
    let token = format!(
        r#"{{"v":"meta.k8s.io/v1","rv":{revision},"start":{}}}"#,
        quote(&format!("/{key}\u{0}")).replace("\\x00", "\\u0000")
    );
    let encoded = base64::encode(token.as_bytes());
    encoded.trim_end_matches('=').replace('+', "-").replace('/', "_")
}

/// Reads where a page begins: its revision, unless it is the newest one, and the key before it.
fn read_token(token: &str) -> Result<(Option<Revision>, String), String> {
    let illegal =
        |place| format!("continue key is not valid: illegal base64 data at input byte {place}");
    if let Some(place) = token.find(['+', '/', '=']) {
        return Err(illegal(place));
    }
    let standard = token.replace('-', "+").replace('_', "/");
    let padded = format!("{standard}{}", "=".repeat((4 - standard.len() % 4) % 4));
    let decoded = base64::decode(&padded);
    let bytes = decoded.map_err(|place| illegal(place.min(token.len().saturating_sub(1))))?;
    let token = read_json(&bytes).map_err(|error| format!("continue key is not valid: {error}"))?;
    let token = token.into_value();
    if !token.is_object() && !token.is_null() {
        return Err(format!(
            "continue key is not valid: json: cannot unmarshal {} into Go value of type \
             storage.continueToken",
            json_type(&token)
        ));
    }
    let token = Token::read(&token);
    let (token, _) = token.map_err(|error| format!("continue key is not valid: {error}"))?;
    let Token { version, revision, start } = token;
    if version != "meta.k8s.io/v1" {
        return Err(format!(
            "continue key is not valid: server does not recognize this encoded version {version}"
        ));
    }
    if revision == 0 {
        return Err("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)".to_owned());
    }
    if start.is_empty() {
        return Err("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"
            .to_owned());
    }
    let key = start.strip_prefix('/').unwrap_or(&start);
    if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(format!("continue key is not valid: {start}"));
    }
    let key = key.strip_suffix('\0').unwrap_or(key);
    Ok((Revision::try_from(revision).ok(), key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_back() {
        let token = write_token(&122, "a");
        let text = r#"{"v":"meta.k8s.io/v1","rv":122,"start":"/a\u0000"}"#;
        let encoded = base64::encode(text.as_bytes());
        assert_eq!(token, encoded.trim_end_matches('='));
        assert_eq!(read_token(&token), Ok((Some(122), "a".to_owned())));
        assert_eq!(
            read_token("!!").unwrap_err(),
            "continue key is not valid: illegal base64 data at input byte 0",
        );
        assert_eq!(
            read_token("W10").unwrap_err(),
            "continue key is not valid: json: cannot unmarshal array into Go value of type \
             storage.continueToken",
        );
    }
}
