//! The decoder: a compiled schema prepared for cleaning JSON text.

use std::borrow::Cow;
use std::sync::Arc;

use billhook_schema::print::plain_json;
use billhook_schema::{CompiledSchema, Dialect};
use serde_json::{Map, Value};

use crate::notes::{Findings, Notes};
use crate::pass::{Expected, Pass};
use crate::prepared::PreparedDefaults;
use crate::rewrite::rewrite;
use crate::scan::{Step, Stop};

/// Cleans the JSON text of custom resources of one kind and version, as a server does when it
/// decodes a request body: pruning, null removal, metadata in normal form, defaults.
///
/// Cheap to clone, and free to share between threads.
#[derive(Clone)]
pub struct Decoder(Arc<Inner>);

struct Inner {
    schema: CompiledSchema,
    defaults: PreparedDefaults,
    expected: Expected,
    /// Whether the pass over text knows what to do with this schema at all.
    is_supported: bool,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Decoder").field(&self.0.schema).finish()
    }
}

impl Decoder {
    /// Prepares a schema for objects that say they are of `api_version` and `kind`.
    pub fn new(schema: CompiledSchema, api_version: &str, kind: &str) -> Self {
        let root = schema.root();
        let is_supported = schema.dialect() == Dialect::Kubernetes
            && schema.is_resource_root()
            && root
                .property("metadata")
                .is_some_and(|metadata| metadata.resource_field().is_some())
            && !root.is_embedded_resource();
        let quoted = |text: &str| plain_json(&text.into()).into_bytes();
        let expected = Expected { api_version: quoted(api_version), kind: quoted(kind) };
        let defaults = PreparedDefaults::new(&schema);
        Decoder(Arc::new(Inner { schema, defaults, expected, is_supported }))
    }

    /// The schema.
    pub fn schema(&self) -> &CompiledSchema {
        &self.0.schema
    }

    /// Cleans a text; gives it back borrowed if nothing changes. What is kept is spelled as it
    /// came, except for metadata that was not in normal form. None if the text is refused, or of
    /// another kind or version, or so unusual that only the path over a tree knows what to do.
    pub fn clean<'t>(&self, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        match self.pass::<false>(text, false) {
            Ok((cleaned, _)) => Some(cleaned.map_or(Cow::Borrowed(text), Cow::Owned)),
            Err(Stop::Duplicate) => {
                let rewritten = rewrite(text).ok()?;
                let (cleaned, _) = self.pass::<false>(&rewritten, true).ok()?;
                Some(Cow::Owned(cleaned.unwrap_or(rewritten)))
            }
            Err(Stop::Invalid | Stop::Tree) => None,
        }
    }

    /// [`Decoder::clean`] with what was found and changed. None also for a text with repeated
    /// keys, and where maps keep the order of their members (serde_json's `preserve_order`), which
    /// the order of changes follows.
    pub fn clean_reporting<'t>(&self, text: &'t [u8]) -> Option<(Cow<'t, [u8]>, Findings)> {
        let (cleaned, notes) = self.pass::<true>(text, false).ok()?;
        if cleaned.is_some() && !maps_are_sorted() {
            return None;
        }
        Some((cleaned.map_or(Cow::Borrowed(text), Cow::Owned), notes.finish()))
    }

    fn pass<const REPORT: bool>(
        &self,
        text: &[u8],
        trusted: bool,
    ) -> Step<(Option<Vec<u8>>, Notes<'_>)> {
        if !self.0.is_supported {
            return Err(Stop::Tree);
        }
        if !trusted && std::str::from_utf8(text).is_err() {
            return Err(Stop::Duplicate);
        }
        let Inner { schema, defaults, expected, .. } = &*self.0;
        Pass::<REPORT>::run(text, schema.root(), defaults, expected, trusted)
    }
}

fn maps_are_sorted() -> bool {
    let members = ["b", "a"].map(|key| (key.to_owned(), Value::Null));
    Map::from_iter(members).keys().is_sorted()
}
