//! Values in Go syntax, as errors of older servers show them (KV-10).

use serde_json::Value;

use super::{Record, Type};
use crate::go_value::go_value;
use crate::print::quote;
use crate::value::{grow, sorted};

/// The address in place of each pointer that is set. A server prints where the value happens to be
/// in its memory.
const ADDRESS: &str = "0xc000000000";

/// Returns a value of a type in Go syntax. `package` is the name of the Go package that declares
/// its records. Fields of the value have their names in documents or in Go.
///
/// ```
/// use billhook_apimachinery::record::{FieldValue, go_syntax};
/// let names = serde_json::json!(["a", "b"]);
/// assert_eq!(go_syntax(&names, <Vec<String>>::TYPE, ""), r#"[]string{"a", "b"}"#);
/// ```
pub fn go_syntax(value: &Value, type_: Type, package: &str) -> String {
    let mut out = String::new();
    Syntax { package, out: &mut out }.value(Some(value), type_);
    out
}

struct Syntax<'o> {
    package: &'o str,
    out: &'o mut String,
}

impl Syntax<'_> {
    fn value(&mut self, value: Option<&Value>, type_: Type) {
        let value = value.filter(|value| !value.is_null());
        match type_.unnamed() {
            Type::Record(table) => self.record(value, table()),
            Type::Text => {
                let text = value.and_then(Value::as_str).unwrap_or_default();
                self.out.push_str(&quote(text));
            }
            Type::Flag => {
                let flag = value.and_then(Value::as_bool).unwrap_or_default();
                self.out.push_str(if flag { "true" } else { "false" });
            }
            Type::Int32 | Type::Int64 | Type::Float => {
                self.out.push_str(&go_value(value.unwrap_or(&Value::from(0))));
            }
            Type::Any => {
                let shown = value.map_or_else(|| format!("{}(nil)", self.name(type_)), go_value);
                self.out.push_str(&shown);
            }
            Type::List(of) => self.list(value, *of, &self.name(type_)),
            Type::Map(of) => self.map(value, *of, &self.name(type_)),
            Type::Optional(Type::List(of)) => self.list(value, **of, &self.name(type_)),
            Type::Optional(Type::Map(of)) => self.map(value, **of, &self.name(type_)),
            Type::RecordOrList(table) => {
                let part = |name: &str| value.and_then(|value| value.get(name));
                let name = self.name_of(table());
                self.out.push_str(&format!("{name}OrArray{{Schema:"));
                self.pointer(part("Schema"), &format!("*{name}"));
                self.out.push_str(", JSONSchemas:");
                self.list(part("JSONSchemas"), Type::Record(table), &format!("[]{name}"));
                self.out.push('}');
            }
            _ => self.pointer(value, &self.name(type_)),
        }
    }

    fn pointer(&mut self, value: Option<&Value>, name: &str) {
        let address = value.filter(|value| !value.is_null()).map_or("nil", |_| ADDRESS);
        self.out.push_str(&format!("({name})({address})"));
    }

    fn list(&mut self, value: Option<&Value>, of: Type, name: &str) {
        self.out.push_str(name);
        match value.and_then(Value::as_array) {
            None => self.out.push_str("(nil)"),
            Some(items) => self.braces(items, |syntax, item| syntax.value(Some(item), of)),
        }
    }

    fn map(&mut self, value: Option<&Value>, of: Type, name: &str) {
        self.out.push_str(name);
        match value.and_then(Value::as_object) {
            None => self.out.push_str("(nil)"),
            Some(members) => self.braces(sorted(members), |syntax, (key, member)| {
                syntax.out.push_str(&quote(key));
                syntax.out.push(':');
                syntax.value(Some(member), of);
            }),
        }
    }

    fn record(&mut self, value: Option<&Value>, record: &'static Record) {
        self.out.push_str(&self.name_of(record));
        self.braces(record.fields, |syntax, field| {
            let name = field.go_name();
            let member = value.and_then(|value| value.get(field.name).or(value.get(&*name)));
            syntax.out.push_str(&name);
            syntax.out.push(':');
            syntax.value(member, field.type_);
        });
    }

    fn braces<T>(&mut self, items: impl IntoIterator<Item = T>, write: impl Fn(&mut Self, T)) {
        self.out.push('{');
        grow(|| {
            for (index, item) in items.into_iter().enumerate() {
                self.out.push_str(if index > 0 { ", " } else { "" });
                write(self, item);
            }
        });
        self.out.push('}');
    }

    fn name_of(&self, record: &Record) -> String {
        format!("{}.{}", self.package, record.name)
    }

    /// The name of a type. Named types have the package of documents in their tables.
    fn name(&self, type_: Type) -> String {
        let own = |name: &str| {
            let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
            format!("{}.{name}", self.package)
        };
        match type_ {
            Type::Named(name, Type::Optional(Type::List(_) | Type::Map(_))) => own(name),
            Type::Named(name, Type::Optional(_)) => format!("*{}", own(name)),
            Type::Named(name, _) => own(name),
            Type::Text | Type::Parsed(_) => "string".to_owned(),
            Type::Flag => "bool".to_owned(),
            Type::Int32 => "int32".to_owned(),
            Type::Int64 => "int64".to_owned(),
            Type::Float => "float64".to_owned(),
            Type::Bytes => "[]uint8".to_owned(),
            Type::Time => own("Time"),
            Type::MicroTime => own("MicroTime"),
            Type::Quantity => "resource.Quantity".to_owned(),
            Type::IntOrString => "intstr.IntOrString".to_owned(),
            Type::Any => own("JSON"),
            Type::Record(table) => self.name_of(table()),
            Type::Optional(of @ (Type::List(_) | Type::Map(_))) => self.name(*of),
            Type::Optional(of) => format!("*{}", self.name(*of)),
            Type::List(of) => format!("[]{}", self.name(*of)),
            Type::Map(of) => format!("map[string]{}", self.name(*of)),
            Type::RecordOrList(table) => format!("{}OrArray", self.name_of(table())),
            Type::RecordOrFlag(table) => format!("{}OrBool", self.name_of(table())),
            Type::RecordOrTexts(table) => format!("{}OrStringArray", self.name_of(table())),
        }
    }
}
