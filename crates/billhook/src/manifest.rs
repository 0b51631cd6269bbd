//! Documents as users have them: files of YAML or JSON with one or more objects.

use billhook_apimachinery::Spans;
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::{
    Document, JsonError, is_json, read_json_documents, read_json_documents_with_spans,
};
use billhook_yaml::{read_documents, read_documents_with_spans};
use indexmap::IndexSet;
use serde_json::Value;

/// The maximum number of repeated keys that are listed, as for JSON (RP-20).
const MAX_DUPLICATES: usize = 100;

/// One document of a manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    value: DeepValue,
    duplicates: Vec<String>,
    index: usize,
    spans: Option<Spans>,
}

impl Manifest {
    /// Returns the document's value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Takes the value out.
    pub fn into_value(self) -> DeepValue {
        self.value
    }

    /// Returns the paths of keys that are written more than once, of the first 100; the last one
    /// won.
    pub fn duplicates(&self) -> &[String] {
        &self.duplicates
    }

    /// Returns the position of the document in its text, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the places of keys and values in the text; `None` if it was read without spans, or if
    /// it is UTF-16.
    pub fn spans(&self) -> Option<&Spans> {
        self.spans.as_ref()
    }

    /// Takes the [`spans`](Self::spans) out.
    pub fn into_spans(self) -> Option<Spans> {
        self.spans
    }

    /// Whether the document is a `List`, as clients make of several objects, or the list of a kind,
    /// as servers answer with.
    pub fn is_list(&self) -> bool {
        let Some(items) = self.value.get("items").and_then(Value::as_array) else { return false };
        // A kind of a CRD may be called so, and have items of its own.
        let has_metadata = |item: &Value| item.get("metadata").is_some_and(Value::is_object);
        let is_of_objects = || {
            self.value.pointer("/metadata/name").is_none()
                && !items.is_empty()
                && items.iter().all(has_metadata)
        };
        text(&self.value, "kind").ends_with("List")
            && (text(&self.value, "apiVersion") == "v1" || is_of_objects())
    }

    /// Returns the items of a [list](Self::is_list), without spans, or the document itself. Items of
    /// the list of a kind, which say nothing of it themselves, get `apiVersion` and `kind`.
    ///
    /// ```
    /// let text = b"apiVersion: v1\nkind: List\nitems: [{kind: A}, {kind: B}]";
    /// let list = billhook::read_manifests(text)?.remove(0);
    /// let kinds: Vec<_> =
    ///     list.into_objects().iter().map(|object| object.value()["kind"].clone()).collect();
    /// assert_eq!(kinds, ["A", "B"]);
    /// # Ok::<(), billhook::ManifestError>(())
    /// ```
    pub fn into_objects(mut self) -> Vec<Manifest> {
        if !self.is_list() {
            return vec![self];
        }
        let list_kind = text(&self.value, "kind");
        let kind = list_kind.strip_suffix("List").filter(|kind| !kind.is_empty());
        let kind = kind.map(|kind| [text(&self.value, "apiVersion"), kind].map(str::to_owned));
        let items = match self.value.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let object = |(index, mut value): (usize, Value)| {
            if let (Some([api_version, kind]), Value::Object(members)) = (&kind, &mut value)
                && !members.contains_key("apiVersion")
                && !members.contains_key("kind")
            {
                members.insert("apiVersion".to_owned(), api_version.as_str().into());
                members.insert("kind".to_owned(), kind.as_str().into());
            }
            let prefix = format!("items[{index}].");
            let inside = |path: &String| path.strip_prefix(&prefix).map(str::to_owned);
            Manifest {
                value: DeepValue::from(value),
                duplicates: self.duplicates.iter().filter_map(inside).collect(),
                index: self.index,
                spans: None,
            }
        };
        items.into_iter().enumerate().map(object).collect()
    }
}

/// A document that cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ManifestError {
    message: String,
    index: usize,
    place: Option<(usize, usize)>,
}

impl ManifestError {
    /// Returns the position of the document in its text, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Line and column in the text, from 1, where known.
    pub fn place(&self) -> Option<(usize, usize)> {
        self.place
    }
}

/// Reads all documents of a text. One that begins with `{` or `[` is JSON: a document, or objects one after
/// the other, as `jq` prints them; anything else is YAML. Empty YAML documents are left out.
///
/// # Errors
///
/// If a document is malformed.
///
/// ```
/// let documents = billhook::read_manifests(b"a: 1\n---\nb: [x]\n")?;
/// assert_eq!(documents[1].value()["b"][0], "x");
/// # Ok::<(), billhook::ManifestError>(())
/// ```
pub fn read_manifests(text: &[u8]) -> Result<Vec<Manifest>, ManifestError> {
    read(text, false)
}

/// [`read_manifests`], for documents that can be asked for [`Manifest::spans`].
///
/// # Errors
///
/// If a document is malformed.
///
/// ```
/// use billhook::FieldPath;
/// let text = b"a: 1\n---\nb: [x, yz]\n";
/// let documents = billhook::read_manifests_with_spans(text)?;
/// let path = FieldPath::default().name("b").index(1);
/// let span = documents[1].spans().and_then(|spans| spans.find(&path)).unwrap().value;
/// assert_eq!(&text[span.start..span.end], b"yz");
/// # Ok::<(), billhook::ManifestError>(())
/// ```
pub fn read_manifests_with_spans(text: &[u8]) -> Result<Vec<Manifest>, ManifestError> {
    read(text, true)
}

fn read(text: &[u8], with_spans: bool) -> Result<Vec<Manifest>, ManifestError> {
    if is_json(text) {
        return read_all_json(text, with_spans);
    }
    let mut manifests = Vec::new();
    let documents = match with_spans {
        true => read_documents_with_spans(text),
        false => read_documents(text),
    };
    for (index, document) in documents.into_iter().enumerate() {
        let mut document = document.map_err(|error| ManifestError {
            message: error.to_string(),
            index,
            place: Some((error.line(), error.column())),
        })?;
        if !document.value().is_null() {
            let path = |duplicate: &billhook_yaml::Duplicate| duplicate.path().to_dotted();
            let duplicates: IndexSet<_> =
                document.duplicates().iter().take(MAX_DUPLICATES).map(path).collect();
            let duplicates = duplicates.into_iter().collect();
            let spans = document.take_spans();
            manifests.push(Manifest { value: document.into_value(), duplicates, index, spans });
        }
    }
    Ok(manifests)
}

fn read_all_json(text: &[u8], with_spans: bool) -> Result<Vec<Manifest>, ManifestError> {
    let with = |(document, spans)| (document, Some(spans));
    let documents: Vec<_> = match with_spans {
        true => read_json_documents_with_spans(text).into_iter().map(|it| it.map(with)).collect(),
        false => read_json_documents(text).into_iter().map(|it| it.map(|it| (it, None))).collect(),
    };
    let manifest = |(index, read): (usize, Result<(Document, Option<Spans>), JsonError>)| {
        let (document, spans) = read.map_err(|error| ManifestError {
            message: error.to_string(),
            index,
            place: Some((error.line(), error.column())),
        })?;
        let duplicates = document.duplicates().to_vec();
        Ok(Manifest { value: document.into_value(), duplicates, index, spans })
    };
    documents.into_iter().enumerate().map(manifest).collect()
}

/// Returns a value as indented JSON text, with sorted keys and numbers as the server prints them.
pub fn to_json_pretty(value: &Value) -> String {
    billhook_apimachinery::print::pretty_json(value)
}

/// Returns a value as compact JSON text, with sorted keys and numbers as the server prints them
/// (RP-52).
pub fn to_json(value: &Value) -> String {
    billhook_apimachinery::print::plain_json(value)
}
