//! How objects are shown to a client: as they are, as rows of a table, or only their metadata
//! (DT-60 to DT-75).

use std::borrow::Cow;

use billhook::{DeepValue, scale};
use billhook_apimachinery::Status;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::print::{compact_json, quote};
use billhook_apimachinery::record::{Record, TypedRecord as _, declared_json, text};
use billhook_apimachinery::value::deep_clone;
use billhook_kinds::Kind;
use serde_json::Value;

use crate::clock::Clock;
use crate::request::{Shape, Transform};
use crate::table::Columns;

/// How objects are printed.
#[derive(Clone, Debug)]
pub(crate) struct View {
    form: Form,
    /// The type of the objects, if the server has one for them (RE-14).
    record: Option<&'static Record>,
}

/// The form that objects are printed in.
#[derive(Clone, Debug)]
enum Form {
    Object,
    Table(TableView),
    /// The metadata of an object, in a version of `meta.k8s.io`.
    Metadata(&'static str),
    /// The metadata of a list's objects.
    MetadataList(&'static str),
}

/// The form of a table.
#[derive(Clone, Debug)]
struct TableView {
    /// The version of `meta.k8s.io`.
    version: &'static str,
    columns: Columns,
    include: Result<Include, Status>,
    clock: Clock,
}

/// The part of its object that a row holds (DT-61).
#[derive(Clone, Copy, Debug)]
enum Include {
    Nothing,
    Metadata,
    Object,
}

/// The metadata of a list.
#[derive(Debug, Default)]
pub(crate) struct ListMetadata {
    pub(crate) resource_version: String,
    /// Where the next page begins; empty on the last one.
    pub(crate) next: String,
    /// How many objects are left for other pages, if that is known.
    pub(crate) remaining: Option<usize>,
}

/// A list of objects.
#[derive(Debug)]
pub(crate) struct List<'l> {
    pub(crate) api_version: &'l str,
    pub(crate) kind: &'l str,
    pub(crate) metadata: &'l ListMetadata,
    pub(crate) items: &'l [DeepValue],
}

impl View {
    /// The view that a client asks for; `include` is what rows of tables are to hold.
    pub(crate) fn new(
        record: Option<&'static Record>,
        transform: Option<Transform>,
        include: &str,
        columns: impl FnOnce() -> Columns,
        clock: &Clock,
    ) -> Self {
        let form = transform.map_or(Form::Object, |Transform { shape, version }| match shape {
            Shape::Table => {
                let include = Include::parse(include);
                let clock = clock.clone();
                Form::Table(TableView { version, columns: columns(), include, clock })
            }
            Shape::Metadata => Form::Metadata(version),
            Shape::MetadataList => Form::MetadataList(version),
        });
        View { form, record }
    }

    /// Whether objects are shown as they are.
    pub(crate) fn shows_objects(&self) -> bool {
        matches!(self.form, Form::Object)
    }

    /// Whether only lists are shown.
    pub(crate) fn shows_lists(&self) -> bool {
        matches!(self.form, Form::MetadataList(_))
    }

    /// Fails if the client asks for unknown contents of rows (DT-61).
    pub(crate) fn check(&self) -> Result<(), Status> {
        match &self.form {
            Form::Table(TableView { include: Err(error), .. }) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Prints an object.
    pub(crate) fn object(&self, object: &Value) -> Result<String, Status> {
        self.check()?;
        match self.form {
            Form::MetadataList(_) if self.record.is_some() => {
                let type_ = go_type(text(object, "apiVersion"), text(object, "kind"));
                Err(Status::failure(
                    406,
                    "NotAcceptable",
                    format!(
                        "you requested PartialObjectMetadataList, but the requested object is not \
                         a list ({type_})"
                    ),
                ))
            }
            Form::MetadataList(_) => Err(Status::failure(500, "", "content is not a list")),
            _ => Ok(self.event(object, true, false)),
        }
    }

    /// Prints the object of an event; a table says only once which columns it has (WA-51). The
    /// objects of some bookmarks are never left out.
    pub(crate) fn event(&self, object: &Value, has_columns: bool, is_kept: bool) -> String {
        match &self.form {
            Form::Object => object_json(object, self.record),
            Form::Metadata(version) | Form::MetadataList(version) => metadata(object, version),
            Form::Table(table) => {
                let revision =
                    object.get("metadata").map_or("", |all| text(all, "resourceVersion"));
                let of_object =
                    ListMetadata { resource_version: revision.to_owned(), ..Default::default() };
                table.print(&of_object, [object], self.record, has_columns, is_kept)
            }
        }
    }

    /// Prints what is before and after the items of a list of objects (RE-51).
    pub(crate) fn list_ends(
        &self,
        api_version: &str,
        kind: &str,
        metadata: &ListMetadata,
    ) -> (String, String) {
        let (api_version, kind) = (quoted(api_version), quoted(kind));
        match self.record {
            Some(_) => {
                let metadata = metadata.declared();
                let begin = format!(
                    r#"{{"kind":{kind},"apiVersion":{api_version},"metadata":{metadata},"items":["#
                );
                (begin, "]}".to_owned())
            }
            None => {
                let begin = format!(r#"{{"apiVersion":{api_version},"items":["#);
                (begin, format!(r#"],"kind":{kind},"metadata":{}}}"#, metadata.sorted()))
            }
        }
    }

    /// Prints a list.
    pub(crate) fn list(&self, list: &List<'_>) -> Result<Vec<u8>, Status> {
        self.check()?;
        let items = list.items.iter().map(|item| &**item);
        match (&self.form, self.record) {
            (Form::Object, record) => {
                // The items of the server's own kinds do not say what they are.
                let items = items.map(|item| match record {
                    Some(record) => declared_json(&typeless(item), record),
                    None => compact_json(item),
                });
                let ends = self.list_ends(list.api_version, list.kind, list.metadata);
                Ok(list_json(ends, &items.collect::<Vec<_>>(), ("", 0)))
            }
            (Form::Table(table), record) => {
                Ok(table.print(list.metadata, items, record, true, false).into_bytes())
            }
            (Form::Metadata(_), record) => {
                let type_ = match record {
                    Some(_) => go_type(list.api_version, list.kind),
                    None => "*unstructured.UnstructuredList".to_owned(),
                };
                let message = format!(
                    "you requested PartialObjectMetadata, but the requested object is a list \
                     ({type_})"
                );
                Err(Status::failure(406, "NotAcceptable", message))
            }
            (Form::MetadataList(version), _) => {
                let items = match list.items {
                    [] => "null".to_owned(),
                    _ => format!("[{}]", joined(items.map(|item| metadata(item, version)))),
                };
                Ok(format!(
                    r#"{{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/{version}","metadata":{},"items":{items}}}"#,
                    list.metadata.declared(),
                )
                .into_bytes())
            }
        }
    }
}

impl TableView {
    fn print<'v>(
        &self,
        metadata: &ListMetadata,
        objects: impl IntoIterator<Item = &'v Value>,
        record: Option<&'static Record>,
        has_columns: bool,
        is_kept: bool,
    ) -> String {
        let columns = if has_columns { self.columns.definitions() } else { "null".to_owned() };
        let now = self.clock.now();
        let rows = objects.into_iter().map(|object| {
            let cells = self.columns.cells(object, now);
            let conditions = self.columns.row_conditions(object);
            let object = self.row_object(object, record, is_kept);
            format!(r#"{{"cells":{cells},{conditions}"object":{object}}}"#)
        });
        let rows = match joined(rows) {
            rows if rows.is_empty() => self.columns.no_rows().to_owned(),
            rows => format!("[{rows}]"),
        };
        format!(
            r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{}","metadata":{},"columnDefinitions":{columns},"rows":{rows}}}"#,
            self.version,
            metadata.declared(),
        )
    }

    fn row_object(&self, object: &Value, record: Option<&'static Record>, is_kept: bool) -> String {
        match self.include {
            Ok(Include::Object) => object_json(object, record),
            Ok(Include::Nothing) if !is_kept => "null".to_owned(),
            _ => metadata(object, self.version),
        }
    }
}

impl Include {
    fn parse(text: &str) -> Result<Self, Status> {
        match text {
            "" | "Metadata" => Ok(Include::Metadata),
            "Object" => Ok(Include::Object),
            "None" => Ok(Include::Nothing),
            other => Err(Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {}: must \
                 be 'Metadata', 'Object', 'None', or empty",
                quote(other)
            ))),
        }
    }
}

impl ListMetadata {
    /// Prints the metadata as lists of custom resources have it (RE-51).
    fn sorted(&self) -> String {
        let remaining = self.remaining();
        let remaining = remaining.map(|member| member + ",").unwrap_or_default();
        let (next, revision) = (quoted(&self.next), quoted(&self.resource_version));
        format!(r#"{{"continue":{next},{remaining}"resourceVersion":{revision}}}"#)
    }

    /// Prints the metadata as other lists have it.
    fn declared(&self) -> String {
        let next = format!(r#""continue":{}"#, quoted(&self.next));
        let revision = format!(r#""resourceVersion":{}"#, quoted(&self.resource_version));
        let members = [
            Some(revision).filter(|_| !self.resource_version.is_empty()),
            Some(next).filter(|_| !self.next.is_empty()),
            self.remaining(),
        ];
        format!("{{{}}}", joined(members.into_iter().flatten()))
    }

    fn remaining(&self) -> Option<String> {
        self.remaining.map(|remaining| format!(r#""remainingItemCount":{remaining}"#))
    }
}

/// The type that errors name for a kind of the server itself.
fn go_type(api_version: &str, kind: &str) -> String {
    let group = api_version.split_once('/').map_or("core", |(group, _)| group);
    format!("*{}.{kind}", group.split('.').next().unwrap_or_default())
}

/// Prints the metadata of an object (DT-75).
fn metadata(object: &Value, version: &str) -> String {
    let mut shown = object.get("metadata").map(Cow::Borrowed);
    let written = written_annotations(object);
    if !written.is_empty()
        && let Some(Value::Object(metadata)) = shown.as_mut().map(Cow::to_mut)
        && let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
    {
        written.iter().for_each(|annotation| drop(annotations.remove(*annotation)));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    let metadata = shown.map(|all| declared_json(&all, ObjectMeta::record()));
    format!(
        r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{version}","metadata":{}}}"#,
        metadata.as_deref().unwrap_or("{}"),
    )
}

/// The annotations that metadata does not have without its object.
fn written_annotations(object: &Value) -> &'static [&'static str] {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = Kind::named(text("apiVersion"), text("kind"));
    kind.map_or(&[], |kind| kind.behavior().written_annotations())
}

/// Prints a list between its ends. Its items are printed already; each is shown as a beginning and its
/// text from a place on.
pub(crate) fn list_json(
    (begin, end): (String, String),
    items: &[impl AsRef<[u8]>],
    (start, rest): (&str, usize),
) -> Vec<u8> {
    let length: usize = items.iter().map(|item| item.as_ref().len() + 1).sum();
    // Where there is place for a line break, none of it is copied again.
    let mut list = Vec::with_capacity(length + begin.len() + end.len() + 1);
    list.extend_from_slice(begin.as_bytes());
    for (index, item) in items.iter().enumerate() {
        list.extend_from_slice(if index > 0 { b"," } else { b"" });
        list.extend_from_slice(start.as_bytes());
        list.extend_from_slice(item.as_ref().get(rest..).unwrap_or_default());
    }
    list.extend_from_slice(end.as_bytes());
    list
}

/// Prints an object: its members in declared order if the server has a type for it, otherwise sorted
/// (RE-14).
fn object_json(object: &Value, record: Option<&'static Record>) -> String {
    match record {
        _ if scale::is_scale(object) => scale::to_json(object),
        Some(record) => declared_json(object, record),
        None => compact_json(object),
    }
}

/// An object that does not say what it is.
fn typeless(object: &Value) -> DeepValue {
    let mut object = DeepValue::from(deep_clone(object));
    if let Value::Object(members) = &mut *object {
        members.remove("kind");
        members.remove("apiVersion");
    }
    object
}

fn quoted(text: &str) -> String {
    compact_json(&Value::from(text))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",")
}
