//! The parts of a configuration that are owned as a whole (PO-72).

use billhook_apimachinery::value::{grow, sorted};
use serde_json::Value;

use crate::shape::{Shape, Type};

/// Returns the paths of all atomic lists, maps and structs in a value, along declared fields and
/// the elements of lists.
pub(crate) fn atomics(type_: Type<'_>, value: &Value) -> Vec<String> {
    let mut search = Search::default();
    search.visit(type_, value);
    search.found
}

#[derive(Default)]
struct Search {
    path: String,
    found: Vec<String>,
}

impl Search {
    fn visit(&mut self, type_: Type<'_>, value: &Value) {
        match (type_.shape(value), value) {
            (Some(Shape::Map(map)), Value::Object(members)) => {
                self.note(map.is_atomic);
                for (name, value) in sorted(members) {
                    if let Some(member) = map.member(name).filter(|member| member.is_declared) {
                        self.below(&format!(".{name}"), member.type_, value);
                    }
                }
            }
            (Some(Shape::List(list)), Value::Array(items)) => {
                self.note(list.is_atomic());
                for (index, item) in items.iter().enumerate() {
                    self.below(&format!("[{index}]"), list.items, item);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, is_atomic: bool) {
        if is_atomic {
            self.found.push(self.path.clone());
        }
    }

    fn below(&mut self, step: &str, type_: Type<'_>, value: &Value) {
        let before = self.path.len();
        self.path.push_str(step);
        grow(|| self.visit(type_, value));
        self.path.truncate(before);
    }
}
