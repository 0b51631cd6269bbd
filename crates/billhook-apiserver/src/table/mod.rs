//! Tables of objects (DT-62 to DT-69).

mod cell;
mod json_path;

use std::fmt;

use billhook::definition::Column;
use billhook::{CrdVersion, Time};
use billhook_apimachinery::print::compact_json;
use billhook_kinds::{Behavior, Kind};
use serde_json::Value;

use self::cell::cell;
use self::json_path::JsonPath;

const CREATED: &str = ".metadata.creationTimestamp";
/// The columns of a table.
#[derive(Clone)]
pub(crate) struct Columns {
    columns: Vec<TableColumn>,
    /// The rows of a table without objects.
    no_rows: &'static str,
    /// The rules of a built-in kind, which make its cells.
    behavior: Option<&'static dyn Behavior>,
}

#[derive(Clone, Debug)]
struct TableColumn {
    name: String,
    type_: String,
    format: String,
    description: String,
    priority: i32,
    /// The value that the cells show; none for the name, and if the rules of a kind make them.
    path: Option<JsonPath>,
}

impl fmt::Debug for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.columns).finish()
    }
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

    /// The columns of a built-in kind.
    pub(crate) fn of_kind(kind: &Kind) -> Self {
        let columns = kind.columns.iter().map(|heading| TableColumn {
            format: heading.format.to_owned(),
            priority: heading.priority,
            ..TableColumn::new(heading.name, heading.type_, heading.description, None)
        });
        // Those without columns of their own have no empty list of rows (DT-69).
        let is_plain = kind.columns.last().is_some_and(|last| last.name == "Created At");
        let no_rows = if is_plain { "null" } else { "[]" };
        Columns { behavior: Some(kind.behavior()), no_rows, ..Columns::new(columns) }
    }

    /// The columns of a scale (DT-69), which are others for the server's own kinds (BK-722).
    pub(crate) fn of_scale(kind: Option<&'static Kind>) -> Self {
        let mut subresources = kind.into_iter().flat_map(|kind| kind.subresources);
        if let Some(own) = subresources.find(|subresource| subresource.name == "scale") {
            return Columns::of_own_scale(own.body.behavior());
        }
        let number = |name: &str, path: &str, description: &str| {
            TableColumn::at(name, "integer", path, description)
        };
        let desired = number("Desired", ".spec.replicas", "Number of desired replicas");
        let available = number("Available", ".status.replicas", "Number of actual replicas");
        Columns::named(desired.into_iter().chain(available).chain(age_column()))
    }

    fn of_own_scale(behavior: &'static dyn Behavior) -> Self {
        let [name, created] = Kind::common_descriptions();
        let columns = [
            ("Name", "string", name),
            (
                "Desired",
                "integer",
                "replicas is the desired number of instances for the scaled object.",
            ),
            (
                "Available",
                "integer",
                "replicas is the actual number of observed instances of the scaled object.",
            ),
            ("Age", "string", created),
        ];
        let columns = columns
            .map(|(name, type_, description)| TableColumn::new(name, type_, description, None));
        Columns { behavior: Some(behavior), ..Columns::new(columns) }
    }

    /// The column of the name, and others after it.
    fn named(others: impl IntoIterator<Item = TableColumn>) -> Self {
        Columns::new(std::iter::once(name_column()).chain(others))
    }

    fn new(columns: impl IntoIterator<Item = TableColumn>) -> Self {
        Columns { columns: columns.into_iter().collect(), no_rows: "[]", behavior: None }
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
        if let Some(behavior) = self.behavior {
            return compact_json(&behavior.cells(object, now).into());
        }
        let cells = self.columns.iter().map(|column| match &column.path {
            Some(path) => cell(&column.type_, path.first(object), now),
            // A bookmark has no name, and yet a text in its place (DT-63).
            None => compact_json(&text_at(object, "/metadata/name").into()),
        });
        format!("[{}]", cells.collect::<Vec<_>>().join(","))
    }

    /// Prints the conditions of an object's row as a member, if there are any.
    pub(crate) fn row_conditions(&self, object: &Value) -> String {
        let conditions = self.behavior.map(|behavior| behavior.row_conditions(object));
        let texts: Vec<String> = conditions.iter().flatten().map(row_condition).collect();
        if texts.is_empty() {
            return String::new();
        }
        format!(r#""conditions":[{}],"#, texts.join(","))
    }
}

/// Prints a condition of a row with its members in declared order.
fn row_condition(condition: &Value) -> String {
    let members = ["type", "status", "reason", "message"].into_iter().filter_map(|name| {
        let value = condition.get(name)?;
        Some(format!(r#""{name}":{}"#, compact_json(value)))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

impl TableColumn {
    fn new(name: &str, type_: &str, description: &str, path: Option<JsonPath>) -> Self {
        TableColumn {
            name: name.to_owned(),
            type_: type_.to_owned(),
            format: String::new(),
            description: description.to_owned(),
            priority: 0,
            path,
        }
    }

    /// A column of what is at a path; `None` if it is not a path.
    fn at(name: &str, type_: &str, path: &str, description: &str) -> Option<Self> {
        Some(TableColumn::new(name, type_, description, Some(JsonPath::parse(path)?)))
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
    let [description, _] = Kind::common_descriptions();
    let column = TableColumn::new("Name", "string", description, None);
    TableColumn { format: "name".to_owned(), ..column }
}

/// The column of those who declare none (DT-64).
fn age_column() -> Option<TableColumn> {
    let [_, description] = Kind::common_descriptions();
    TableColumn::at("Age", "date", CREATED, description)
}

/// The text at a place in an object; empty if absent.
fn text_at<'o>(object: &'o Value, place: &str) -> &'o str {
    object.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

fn quoted(text: &str) -> String {
    compact_json(&Value::from(text))
}
