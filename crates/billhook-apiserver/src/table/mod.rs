//! Tables of objects (DT-62 to DT-69).

mod age;
mod cell;
mod json_path;

use billhook::definition::Column;
use billhook::{CrdVersion, Time};
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::text;
use serde_json::Value;

use self::cell::cell;
use self::json_path::JsonPath;

const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, \
    although some resources may allow a client to request the generation of an appropriate name \
    automatically. Name is primarily intended for creation idempotence and configuration \
    definition. Cannot be updated. More info: \
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object \
    was created. It is not guaranteed to be set in happens-before order across separate \
    operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\
    \n\nPopulated by the system. Read-only. Null for lists. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The columns of a table.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// Those after that of the name.
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
    path: JsonPath,
    /// Whether a time is shown as it is, not as an age.
    is_as_written: bool,
}

impl Columns {
    /// The columns of the objects of a version.
    pub(crate) fn of_version(version: &CrdVersion) -> Self {
        let declared = version.additional_printer_columns();
        if declared.is_empty() {
            return Columns::new(age_column());
        }
        // A path that cannot be read hides its column and those after it (DT-65).
        Columns::new(declared.iter().map_while(TableColumn::of))
    }

    /// The columns of definitions (DT-69).
    pub(crate) fn of_definitions() -> Self {
        let created = age_column().map(|age| TableColumn {
            name: "Created At".to_owned(),
            is_as_written: true,
            ..age
        });
        Columns { no_rows: "null", ..Columns::new(created) }
    }

    /// The columns of a scale (DT-69).
    pub(crate) fn of_scale() -> Self {
        let number = |name: &str, path: &str, description: &str| {
            TableColumn::new(name, "integer", path, description)
        };
        let desired = number("Desired", ".spec.replicas", "Number of desired replicas");
        let available = number("Available", ".status.replicas", "Number of actual replicas");
        Columns::new(desired.into_iter().chain(available).chain(age_column()))
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
        let mut out = format!(
            r#"[{{"name":"Name","type":"string","format":"name","description":{},"priority":0}}"#,
            quoted(NAME)
        );
        for column in &self.columns {
            out.push_str(&format!(
                r#",{{"name":{},"type":{},"format":{},"description":{},"priority":{}}}"#,
                quoted(&column.name),
                quoted(&column.type_),
                quoted(&column.format),
                quoted(&column.description),
                column.priority,
            ));
        }
        out + "]"
    }

    /// Prints the cells of an object.
    pub(crate) fn cells(&self, object: &Value, now: Time) -> String {
        let metadata = object.get("metadata").unwrap_or(&Value::Null);
        let mut out = format!("[{}", quoted(text(metadata, "name")));
        for column in &self.columns {
            out.push(',');
            let type_ = if column.is_as_written { "string" } else { &column.type_ };
            out.push_str(&cell(type_, column.path.first(object), now));
        }
        out + "]"
    }
}

impl TableColumn {
    fn new(name: &str, type_: &str, path: &str, description: &str) -> Option<Self> {
        Some(TableColumn {
            name: name.to_owned(),
            type_: type_.to_owned(),
            format: String::new(),
            description: description.to_owned(),
            priority: 0,
            path: JsonPath::parse(path)?,
            is_as_written: false,
        })
    }

    fn of(declared: &Column) -> Option<Self> {
        let Column { name, type_, json_path, .. } = declared;
        let description = match declared.description.as_str() {
            "" => format!("Custom resource definition column (in JSONPath format): {json_path}"),
            description => description.to_owned(),
        };
        let column = TableColumn::new(name, type_, json_path, &description)?;
        let (format, priority) = (declared.format.clone(), declared.priority);
        Some(TableColumn { format, priority, ..column })
    }
}

/// The column of those who declare none (DT-64).
fn age_column() -> Option<TableColumn> {
    TableColumn::new("Age", "date", ".metadata.creationTimestamp", AGE)
}

fn quoted(text: &str) -> String {
    compact_json(&Value::from(text))
}
