//! The decoder: a compiled schema prepared for decoding JSON text.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Dialect, TypeMeta};
use billhook_schema::CompiledSchema;
use billhook_schema::walk::Findings;
use serde_json::{Map, Value};

use crate::fields::Fields;
use crate::normalize::rewrite;
use crate::prepared::PreparedDefaults;
use crate::reader::{read_checked, read_json};
use crate::report::Reported;
use crate::rewriter::{Done, Expected, Pass};
use crate::scanner::{Step, Stop};

/// Decodes the JSON text of custom resources of one kind and version, as a server decodes a request
/// body: pruning, null removal, normalization of metadata, defaults.
///
/// Cheap to clone, and free to share between threads.
#[derive(Clone)]
pub struct Decoder(Arc<Inner>);

struct Inner {
    schema: CompiledSchema,
    defaults: PreparedDefaults,
    expected: Expected,
    fields: Fields,
    spare: Spare,
    /// Whether maps keep their members in the order of the keys.
    maps_are_sorted: bool,
    /// Whether the pass over text supports this schema at all.
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
        let is_supported = root.dialect() == Dialect::Kubernetes
            && schema.is_resource_root()
            && root
                .property("metadata")
                .is_some_and(|metadata| metadata.resource_field().is_some())
            && !root.is_embedded_resource()
            && TypeMeta::new(api_version, kind).is_ok();
        let expected = Expected::new(root, api_version, kind);
        let defaults = PreparedDefaults::new(&schema);
        let spare = Spare::default();
        let maps_are_sorted = maps_are_sorted();
        let fields = Fields::object_meta(root.writes_unset_time());
        Decoder(Arc::new(Inner {
            schema,
            defaults,
            expected,
            fields,
            spare,
            maps_are_sorted,
            is_supported,
        }))
    }

    /// Returns the schema.
    pub fn schema(&self) -> &CompiledSchema {
        &self.0.schema
    }

    /// Decodes a text; returns it borrowed if nothing changes. Parts that are kept are spelled as
    /// they came, except for metadata that was not normalized.
    ///
    /// # Errors
    ///
    /// When the text is refused, or of another kind or version, or so unusual that only the path
    /// over a tree supports it.
    pub fn clean<'t>(&self, text: &'t [u8]) -> Result<Cow<'t, [u8]>, Stop> {
        match self.pass(text, false, Vec::new(), None) {
            Ok(done) => Ok(done.cleaned(text)),
            Err(Stop::Duplicate) => self.clean_anew(text).map(Cow::Owned),
            Err(stop) => Err(stop),
        }
    }

    /// Cleans a text that has to be written anew first.
    fn clean_anew(&self, text: &[u8]) -> Result<Vec<u8>, Stop> {
        let rewritten = rewrite(text)?;
        let done = self.pass(&rewritten, true, Vec::new(), None)?;
        Ok(if done.changed { done.buffer } else { rewritten })
    }

    /// Like [`Decoder::clean`], with findings.
    ///
    /// # Errors
    ///
    /// As for [`Decoder::clean`]; also for a text with repeated keys.
    pub fn clean_reporting<'t>(
        &self,
        text: &'t [u8],
        reported: Reported,
    ) -> Result<(Cow<'t, [u8]>, Findings), Stop> {
        let mut done = self.pass_reporting(text, Vec::new(), reported)?;
        let findings = std::mem::take(&mut done.findings);
        Ok((done.cleaned(text), findings))
    }

    /// Like [`Decoder::clean`], to a value.
    ///
    /// # Errors
    ///
    /// As for [`Decoder::clean`].
    pub fn read(&self, text: &[u8]) -> Result<DeepValue, Stop> {
        match self.pass(text, false, self.0.spare.take(), None) {
            Ok(done) => self.read_done(text, done),
            Err(Stop::Duplicate) => {
                let read = read_json(&self.clean_anew(text)?).map_err(|_| Stop::Invalid)?;
                Ok(read.into_value())
            }
            Err(stop) => Err(stop),
        }
    }

    /// [`Decoder::clean_reporting`] to a value.
    ///
    /// # Errors
    ///
    /// As for [`Decoder::clean_reporting`].
    pub fn read_reporting(
        &self,
        text: &[u8],
        reported: Reported,
    ) -> Result<(DeepValue, Findings), Stop> {
        let mut done = self.pass_reporting(text, self.0.spare.take(), reported)?;
        let findings = std::mem::take(&mut done.findings);
        Ok((self.read_done(text, done)?, findings))
    }

    fn pass_reporting(&self, text: &[u8], buffer: Vec<u8>, reported: Reported) -> Step<Done> {
        let done = self.pass(text, false, buffer, Some(reported))?;
        if done.changed && !self.0.maps_are_sorted { Err(Stop::MapOrder) } else { Ok(done) }
    }

    fn read_done(&self, text: &[u8], done: Done) -> Step<DeepValue> {
        let cleaned = if done.changed { &done.buffer } else { text };
        let value = std::str::from_utf8(cleaned).ok().and_then(read_checked);
        self.0.spare.put(done.buffer);
        value.ok_or(Stop::Invalid)
    }

    fn pass(
        &self,
        text: &[u8],
        trusted: bool,
        buffer: Vec<u8>,
        reported: Option<Reported>,
    ) -> Step<Done> {
        if !self.0.is_supported {
            return Err(Stop::Schema);
        }
        if !trusted && std::str::from_utf8(text).is_err() {
            return Err(Stop::Duplicate);
        }
        let Inner { schema, defaults, expected, fields, .. } = &*self.0;
        let pass = Pass::new(text, buffer, defaults, expected, fields, trusted);
        pass.report(reported).run(schema.root())
    }
}

impl Done {
    fn cleaned(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.changed { Cow::Owned(self.buffer) } else { Cow::Borrowed(text) }
    }
}

/// A buffer that is kept for the next text that is only an intermediate step: allocating a large
/// one between many small allocations makes those slower.
#[derive(Default)]
struct Spare(Mutex<Vec<u8>>);

impl Spare {
    /// The maximum number of bytes kept.
    const LIMIT: usize = 4 * 1024 * 1024;

    /// Takes the buffer, or a new one if it is in use.
    fn take(&self) -> Vec<u8> {
        self.0.try_lock().map(|mut spare| std::mem::take(&mut *spare)).unwrap_or_default()
    }

    fn put(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= Self::LIMIT
            && let Ok(mut spare) = self.0.try_lock()
            && spare.capacity() < buffer.capacity()
        {
            *spare = buffer;
        }
    }
}

fn maps_are_sorted() -> bool {
    let members = ["b", "a"].map(|key| (key.to_owned(), Value::Null));
    Map::from_iter(members).keys().is_sorted()
}
