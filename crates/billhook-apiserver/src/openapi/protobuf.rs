//! The document of OpenAPI 2 as a message (DT-50): `openapi.v2.Document`, of which kubectl reads the
//! schemas and what requests consume.

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::grow;
use serde_json::Value;

use crate::protobuf::Backwards;

/// Prints a document.
pub(super) fn document(document: &Value) -> Vec<u8> {
    let mut message = Backwards::default();
    message.fields(document, &DOCUMENT);
    message.finished()
}

/// A message: the numbers of its fields, with the members of documents that they hold.
struct Message {
    fields: &'static [(u64, &'static str, Form)],
    /// The field for members whose names begin with `x-`.
    extensions: u64,
}

/// How a member is written.
enum Form {
    Text,
    Flag,
    Integer,
    Double,
    /// Any value, as text.
    Any,
    Message(&'static Message),
    /// A field for each item of an array.
    List(&'static Form),
    /// A field with a name and a value for each member of an object.
    Map(&'static Form),
    /// A message that has the value in this field.
    In(u64, &'static Form),
    /// A form that the value decides.
    Choice(fn(&Value) -> &'static Form),
}

use Form::{Any, Choice, Double, Flag, In, Integer, List, Map, Text};

static DOCUMENT: Message = Message {
    fields: &[
        (1, "swagger", Text),
        (2, "info", Form::Message(&INFO)),
        (8, "paths", In(2, &Map(&Form::Message(&PATH_ITEM)))),
        (9, "definitions", In(1, &Map(&OF_SCHEMA))),
        (10, "parameters", In(1, &Map(&Choice(parameter)))),
    ],
    extensions: 16,
};

static INFO: Message =
    Message { fields: &[(1, "title", Text), (2, "version", Text)], extensions: 7 };

static PATH_ITEM: Message = Message {
    fields: &[
        (2, "get", OF_OPERATION),
        (3, "put", OF_OPERATION),
        (4, "post", OF_OPERATION),
        (5, "delete", OF_OPERATION),
        (8, "patch", OF_OPERATION),
        (9, "parameters", PARAMETERS),
    ],
    extensions: 10,
};

const OF_OPERATION: Form = Form::Message(&OPERATION);
const PARAMETERS: Form = List(&Choice(parameter_or_reference));

static OPERATION: Message = Message {
    fields: &[
        (1, "tags", List(&Text)),
        (3, "description", Text),
        (5, "operationId", Text),
        (6, "produces", List(&Text)),
        (7, "consumes", List(&Text)),
        (8, "parameters", PARAMETERS),
        (9, "responses", In(1, &Map(&In(1, &Form::Message(&RESPONSE))))),
        (10, "schemes", List(&Text)),
    ],
    extensions: 13,
};

static RESPONSE: Message = Message {
    fields: &[(1, "description", Text), (2, "schema", In(1, &OF_SCHEMA))],
    extensions: 5,
};

fn parameter_or_reference(value: &Value) -> &'static Form {
    static REFERENCE: Message =
        Message { fields: &[(1, "$ref", Text), (2, "description", Text)], extensions: 0 };
    static OF_REFERENCE: Form = In(2, &Form::Message(&REFERENCE));
    static OF_PARAMETER: Form = In(1, &Choice(parameter));
    if value.get("$ref").is_some() { &OF_REFERENCE } else { &OF_PARAMETER }
}

fn parameter(value: &Value) -> &'static Form {
    static BODY: Message = Message {
        fields: &[
            (1, "description", Text),
            (2, "name", Text),
            (3, "in", Text),
            (4, "required", Flag),
            (5, "schema", Form::Message(&SCHEMA)),
        ],
        extensions: 6,
    };
    static QUERY: Message = Message {
        fields: &[
            (1, "required", Flag),
            (2, "in", Text),
            (3, "description", Text),
            (4, "name", Text),
            (6, "type", Text),
            (20, "uniqueItems", Flag),
        ],
        extensions: 23,
    };
    static PATH: Message = Message {
        fields: &[
            (1, "required", Flag),
            (2, "in", Text),
            (3, "description", Text),
            (4, "name", Text),
            (5, "type", Text),
            (19, "uniqueItems", Flag),
        ],
        extensions: 22,
    };
    static OF_BODY: Form = In(1, &Form::Message(&BODY));
    static OF_QUERY: Form = In(2, &In(3, &Form::Message(&QUERY)));
    static OF_PATH: Form = In(2, &In(4, &Form::Message(&PATH)));
    match value.get("in").and_then(Value::as_str) {
        Some("body") => &OF_BODY,
        Some("path") => &OF_PATH,
        _ => &OF_QUERY,
    }
}

static OF_SCHEMA: Form = Form::Message(&SCHEMA);

static SCHEMA: Message = Message {
    fields: &[
        (1, "$ref", Text),
        (2, "format", Text),
        (3, "title", Text),
        (4, "description", Text),
        (6, "multipleOf", Double),
        (7, "maximum", Double),
        (8, "exclusiveMaximum", Flag),
        (9, "minimum", Double),
        (10, "exclusiveMinimum", Flag),
        (11, "maxLength", Integer),
        (12, "minLength", Integer),
        (13, "pattern", Text),
        (14, "maxItems", Integer),
        (15, "minItems", Integer),
        (16, "uniqueItems", Flag),
        (17, "maxProperties", Integer),
        (18, "minProperties", Integer),
        (19, "required", List(&Text)),
        (20, "enum", List(&Any)),
        (21, "additionalProperties", Choice(schema_or_flag)),
        (22, "type", In(1, &Text)),
        (23, "items", In(1, &OF_SCHEMA)),
        (25, "properties", In(1, &Map(&OF_SCHEMA))),
        (29, "externalDocs", Form::Message(&DOCUMENTATION)),
        (30, "example", Any),
    ],
    extensions: 31,
};

static DOCUMENTATION: Message =
    Message { fields: &[(1, "description", Text), (2, "url", Text)], extensions: 3 };

fn schema_or_flag(value: &Value) -> &'static Form {
    static OF_FLAG: Form = In(2, &Flag);
    static SCHEMA: Form = In(1, &OF_SCHEMA);
    if value.is_boolean() { &OF_FLAG } else { &SCHEMA }
}

impl Backwards {
    fn fields(&mut self, value: &Value, message: &Message) {
        let members = value.as_object().into_iter().flatten().rev();
        for (name, value) in members.filter(|(name, _)| name.starts_with("x-")) {
            self.message(message.extensions, |named| {
                named.form(2, value, &Any);
                named.text(1, name);
            });
        }
        for (number, name, form) in message.fields.iter().rev() {
            if let Some(value) = value.get(name) {
                self.form(*number, value, form);
            }
        }
    }

    fn form(&mut self, number: u64, value: &Value, form: &Form) {
        match form {
            Text => self.text(number, value.as_str().unwrap_or_default()),
            Flag => self.number(number, value.as_bool().unwrap_or_default()),
            Integer => self.number(number, value.as_i64().unwrap_or_default()),
            Double => self.double(number, value.as_f64().unwrap_or_default()),
            Any => self.message(number, |any| any.text(2, &compact_json(value))),
            Form::Message(fields) => {
                grow(|| self.message(number, |message| message.fields(value, fields)));
            }
            List(form) => {
                let items = value.as_array().into_iter().flatten().rev();
                items.for_each(|item| self.form(number, item, form));
            }
            Map(form) => {
                for (name, value) in value.as_object().into_iter().flatten().rev() {
                    self.message(number, |named| {
                        named.form(2, value, form);
                        named.text(1, name);
                    });
                }
            }
            In(inner, form) => self.message(number, |message| message.form(*inner, value, form)),
            Choice(choose) => self.form(number, value, choose(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Reads a number of seven bits a byte, and leaves the rest.
    fn varint(message: &mut &[u8]) -> u64 {
        let length = message.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let (number, rest) = message.split_at(length);
        *message = rest;
        number.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f))
    }

    /// Returns the last value of a field of a message in a message, and so on.
    fn field<'m>(message: &'m [u8], path: &[u64]) -> &'m [u8] {
        let Some((wanted, path)) = path.split_first() else { return message };
        let (mut rest, mut found) = (message, None);
        while !rest.is_empty() {
            let key = varint(&mut rest);
            let start = rest;
            let length = match key & 7 {
                0 => {
                    varint(&mut rest);
                    start.len() - rest.len()
                }
                1 => 8,
                _ => usize::try_from(varint(&mut rest)).unwrap(),
            };
            let begin = if key & 7 == 0 { start } else { rest };
            let (value, after) = begin.split_at(length);
            rest = after;
            if key >> 3 == *wanted {
                found = Some(value);
            }
        }
        field(found.unwrap_or_else(|| panic!("no field {wanted}")), path)
    }

    #[test]
    fn each_member_is_in_its_field() {
        let written = document(&json!({
            "swagger": "2.0",
            "definitions": {"a": {
                "type": "object", "maxLength": 3, "minimum": 1, "required": ["o", "p"],
                "additionalProperties": false, "properties": {"p": {"$ref": "r"}}, "x-k": [true],
            }},
            "parameters": {"s": {"in": "body", "name": "b", "schema": {"format": "f"}}},
            "paths": {"/p": {"parameters": [{"in": "path", "name": "n", "required": true}], "get": {
                "operationId": "o",
                "responses": {"200": {"description": "OK", "schema": {"type": "string"}}},
                "parameters": [{"in": "query", "name": "q", "uniqueItems": true}],
            }, "put": {
                "parameters": [{"$ref": "r"}],
            }}},
        }));
        let (schema, path, get) = ([9, 1, 2], [8, 2, 2], [8, 2, 2, 2]);
        let expected: [(&[u64], &[u64], &[u8]); 20] = [
            (&[], &[1], b"2.0"),
            (&[9, 1], &[1], b"a"),
            (&schema, &[9], &1f64.to_le_bytes()),
            (&schema, &[11], &[3]),
            (&schema, &[19], b"p"),
            (&schema, &[21, 2], &[0]),
            (&schema, &[22, 1], b"object"),
            (&schema, &[25, 1, 1], b"p"),
            (&schema, &[25, 1, 2, 1], b"r"),
            (&schema, &[31, 1], b"x-k"),
            (&schema, &[31, 2, 2], b"[true]"),
            (&[10, 1], &[1], b"s"),
            (&[10, 1], &[2, 1, 5, 2], b"f"),
            (&path, &[9, 1, 2, 4, 4], b"n"),
            (&path, &[9, 1, 2, 4, 1], &[1]),
            (&get, &[5], b"o"),
            (&get, &[8, 1, 2, 3, 20], &[1]),
            (&path, &[3, 8, 2, 1], b"r"),
            (&get, &[9, 1, 1], b"200"),
            (&get, &[9, 1, 2, 1, 2, 1, 22, 1], b"string"),
        ];
        for (begin, end, value) in expected {
            assert_eq!(field(&written, &[begin, end].concat()), value, "{begin:?} {end:?}");
        }
    }
}
