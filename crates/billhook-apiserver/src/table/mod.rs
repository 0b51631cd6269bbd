//! Tables of objects (DT-62 to DT-69).

mod age;
mod cell;
mod json_path;
mod own;

use billhook::definition::Column;
use billhook::{CrdVersion, Time};
use billhook_apimachinery::print::compact_json;
use serde_json::Value;

use self::cell::cell;
use self::json_path::JsonPath;

const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, \
    although some resources may allow a client to request the generation of an appropriate name \
    automatically. Name is primarily intended for creation idempotence and configuration \
    definition. Cannot be updated. More info: \
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const CREATED: &str = ".metadata.creationTimestamp";
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object \
    was created. It is not guaranteed to be set in happens-before order across separate \
    operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\
    \n\nPopulated by the system. Read-only. Null for lists. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The columns of a table.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    columns: Vec<TableColumn>,
    /// The rows of a table without objects.
    no_rows: &'static str,
}

#[derive(Clone, Debug)]
struct TableColumn {
    name: String,
    type_: String,
    format: String,
    description: String,
    priority: i32,
    content: Content,
}

/// Where the cells of a column come from.
#[derive(Clone, Debug)]
enum Content {
    /// The value at a path, as the type of the column shows it.
    At(JsonPath),
    /// A value that is made of an object at a time.
    Made(fn(&Value, Time) -> Value),
}

impl Columns {
    /// The columns of the objects of a version.
    pub(crate) fn of_version(version: &CrdVersion) -> Self {
        let declared = version.additional_printer_columns();
        if declared.is_empty() {
            return Columns::named(age_column());
        }
        // A path that cannot be read hides its column and those after it (DT-65).
        Columns::named(declared.iter().map_while(TableColumn::of))
    }

    /// The columns of a scale (DT-69).
    pub(crate) fn of_scale() -> Self {
        let number = |name: &str, path: &str, description: &str| {
            TableColumn::at(name, "integer", path, description)
        };
        let desired = number("Desired", ".spec.replicas", "Number of desired replicas");
        let available = number("Available", ".status.replicas", "Number of actual replicas");
        Columns::named(desired.into_iter().chain(available).chain(age_column()))
    }

    /// The column of the name, and others after it.
    fn named(others: impl IntoIterator<Item = TableColumn>) -> Self {
        Columns::new(std::iter::once(name_column()).chain(others))
    }

    fn new(columns: impl IntoIterator<Item = TableColumn>) -> Self {
        Columns { columns: columns.into_iter().collect(), no_rows: "[]" }
    }

    /// Prints the rows of a table without objects.
    pub(crate) fn no_rows(&self) -> &'static str {
        self.no_rows
    }

    /// Prints the definitions of the columns.
    pub(crate) fn definitions(&self) -> String {
        let columns = self.columns.iter().map(|column| {
            format!(
                r#"{{"name":{},"type":{},"format":{},"description":{},"priority":{}}}"#,
                quoted(&column.name),
                quoted(&column.type_),
                quoted(&column.format),
                quoted(&column.description),
                column.priority,
            )
        });
        format!("[{}]", columns.collect::<Vec<_>>().join(","))
    }

    /// Prints the cells of an object.
    pub(crate) fn cells(&self, object: &Value, now: Time) -> String {
        let cells = self.columns.iter().map(|column| match &column.content {
            Content::At(path) => cell(&column.type_, path.first(object), now),
            Content::Made(make) => compact_json(&make(object, now)),
        });
        format!("[{}]", cells.collect::<Vec<_>>().join(","))
    }
}

impl TableColumn {
    fn new(name: &str, type_: &str, description: &str, content: Content) -> Self {
        TableColumn {
            name: name.to_owned(),
            type_: type_.to_owned(),
            format: String::new(),
            description: description.to_owned(),
            priority: 0,
            content,
        }
    }

    /// A column of what is at a path; `None` if it is not a path.
    fn at(name: &str, type_: &str, path: &str, description: &str) -> Option<Self> {
        let content = Content::At(JsonPath::parse(path)?);
        Some(TableColumn::new(name, type_, description, content))
    }

    fn of(declared: &Column) -> Option<Self> {
        let Column { name, type_, json_path, .. } = declared;
        let description = match declared.description.as_str() {
            "" => format!("Custom resource definition column (in JSONPath format): {json_path}"),
            description => description.to_owned(),
        };
        let column = TableColumn::at(name, type_, json_path, &description)?;
        let (format, priority) = (declared.format.clone(), declared.priority);
        Some(TableColumn { format, priority, ..column })
    }
}

/// The column that the tables of most kinds begin with (DT-63).
fn name_column() -> TableColumn {
    let name = Content::Made(|object, _| member(object, "/metadata/name").into());
    TableColumn { format: "name".to_owned(), ..TableColumn::new("Name", "string", NAME, name) }
}

/// The column of those who declare none (DT-64).
fn age_column() -> Option<TableColumn> {
    TableColumn::at("Age", "date", CREATED, AGE)
}

/// The text at a place in an object; empty if there is none.
fn member<'o>(object: &'o Value, place: &str) -> &'o str {
    object.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

fn quoted(text: &str) -> String {
    compact_json(&Value::from(text))
}
