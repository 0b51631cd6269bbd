//! Printing of values as the server's errors and storage encoding print them (VV-62, RP-52).

use std::fmt::{self, Write as _};

use serde_json::Value;

use crate::value::{DeepValue, Num, grow, in_order};

pub use crate::float::{Float, json_float, plain_float, shortest_float};

/// Returns bytes as text, with U+FFFD for every byte that is not UTF-8.
pub fn lossy(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out
}

/// Returns a string in double quotes with the server's escapes (VV-62).
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x80 => push_hex(&mut out, "\\x", c as u32, 2),
            c if (c as u32) < 0x1_0000 => push_hex(&mut out, "\\u", c as u32, 4),
            c => push_hex(&mut out, "\\U", c as u32, 8),
        }
    }
    out.push('"');
    out
}

fn push_hex(out: &mut String, prefix: &str, code: u32, width: usize) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{prefix}{code:0width$x}");
}

/// Returns whether the server prints a character as itself: letters, marks, numbers, punctuation,
/// symbols and the ASCII space.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // `escape_debug` knows the same classes, but also escapes combining marks that stand alone;
    // after another character it leaves them as they are.
    let mut escaped = c.escape_debug();
    if escaped.next() == Some(c) {
        return true;
    }
    let text: String = ['a', c].iter().collect();
    text.escape_debug().nth(1) == Some(c)
}

/// Returns a value as the server's errors show it (VV-62): scalars plain, strings quoted,
/// everything else as compact JSON.
pub fn error_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) => match Num::of(number) {
            Num::Int(int) => int.to_string(),
            Num::Float(float) => plain_float(float),
        },
        other => compact_json(other),
    }
}

/// The bytes that most values need, so that printing begins with one allocation.
const CAPACITY: usize = 256;
/// The same for whole objects.
pub(crate) const OBJECT_CAPACITY: usize = 2048;

/// Prints compact JSON with sorted keys and the server's escapes: `<`, `>`, `&`, U+2028 and U+2029
/// are escaped (VV-62).
pub fn compact_json(value: &Value) -> String {
    let mut printer = Printer::compact(CAPACITY);
    printer.value(value);
    printer.out
}

/// A value as [`compact_json_with_place`] prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WithPlace {
    /// The JSON of [`compact_json`].
    pub text: String,
    /// The place in the text where the member belongs; none if the value has the member, or none that
    /// comes after it.
    pub place: Option<usize>,
    /// Whether there are floats in the value: whole ones are written as integers (SS-01).
    pub has_floats: bool,
}

/// Prints the JSON of [`compact_json`]. Also returns the place in it where a member belongs that the
/// value does not have, given with the names above it. `beside` is another one that its object does
/// not have, and its JSON: it is printed as if the object had it.
pub fn compact_json_with_place(
    value: &Value,
    member: &[&str],
    beside: Option<(&str, &str)>,
) -> WithPlace {
    let mut printer = Printer::compact(OBJECT_CAPACITY);
    let place = printer.noting(value, member, beside);
    WithPlace { text: printer.out, place, has_floats: printer.has_floats }
}

/// A member that is printed: its value, or its JSON.
pub(crate) enum Part<'p> {
    Value(&'p Value),
    Json(&'p str),
}

/// Appends a string as [`compact_json`] prints it.
pub fn push_json_string(text: &str, out: &mut String) {
    write_string(text, Escapes::Html, out);
}

/// Appends a value as [`compact_json`] prints it.
pub fn push_json(value: &Value, out: &mut String) {
    if let Value::String(text) = value {
        return push_json_string(text, out);
    }
    let mut printer = Printer::on(std::mem::take(out), Escapes::Html);
    printer.value(value);
    *out = printer.out;
}

/// Prints JSON: compact, or indented with `{:#}`.
impl fmt::Display for DeepValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => f.write_str(&pretty_json(self)),
            false => f.write_str(&plain_json(self)),
        }
    }
}

impl fmt::Debug for DeepValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&compact_json(self))
    }
}

/// Prints compact JSON with sorted keys; only what JSON requires is escaped.
pub fn plain_json(value: &Value) -> String {
    let mut printer = Printer::new(Escapes::Required, CAPACITY);
    printer.value(value);
    printer.out
}

/// Prints a string in double quotes as YAML, so that every reader takes it for the same string:
/// whatever is not [printable](is_printable) is escaped.
pub fn yaml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(text, Escapes::Yaml, &mut out);
    out
}

/// Below this level indented JSON goes on without indentation: its size would be the square of
/// the depth.
const MAX_INDENT: usize = 100;

/// Prints JSON with sorted keys, indented by two spaces per level. Whatever is not
/// [printable](is_printable) is escaped, so that no terminal obeys it.
pub fn pretty_json(value: &Value) -> String {
    let mut printer = Printer::new(Escapes::Unprintable, 0);
    printer.indented(value, 0);
    printer.out
}

/// Escapes the characters in JSON that servers escape for HTML and JavaScript (VV-62).
pub fn escape_html(json: &str) -> String {
    // Only strings have these characters.
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if Escapes::Html.has(c) {
            Escapes::Html.push_code(c, &mut out);
        } else {
            out.push(c);
        }
    }
    out
}

/// Indents compact JSON by two spaces per level; empty objects and lists stay as they are. Strings
/// and the order of members stay, too.
pub fn indent_json(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let (mut level, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut characters = compact.chars().peekable();
    while let Some(c) = characters.next() {
        if in_string {
            out.push(c);
            in_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            continue;
        }
        let is_flat = |level: usize| level > MAX_INDENT;
        match c {
            '{' | '[' => {
                out.push(c);
                level += 1;
                if matches!(characters.peek(), Some('}' | ']')) {
                    out.extend(characters.next());
                    level -= 1;
                } else if !is_flat(level) {
                    new_line(level, &mut out);
                }
            }
            '}' | ']' => {
                if !is_flat(level) {
                    new_line(level.saturating_sub(1), &mut out);
                }
                level = level.saturating_sub(1);
                out.push(c);
            }
            ',' => {
                out.push(c);
                if !is_flat(level) {
                    new_line(level, &mut out);
                }
            }
            ':' => out.push_str(if is_flat(level) { ":" } else { ": " }),
            c => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

fn new_line(level: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

/// The characters of strings that are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// Those that JSON requires.
    Required,
    /// Also those that the server escapes for HTML and JavaScript.
    Html,
    /// Also all that are not printable, as JSON escapes them.
    Unprintable,
    /// The same, as YAML escapes them: it has no surrogates.
    Yaml,
}

/// For each byte, the bits of those [`Escapes`] that may have a character that begins with it.
static MAY_HAVE: [u8; 256] = {
    let mut table = [0; 256];
    let mut rest = table.as_mut_slice();
    let mut byte = 0_u8;
    while let [bits, behind @ ..] = rest {
        *bits = Escapes::Required.bit_for(byte)
            | Escapes::Html.bit_for(byte)
            | Escapes::Unprintable.bit_for(byte)
            | Escapes::Yaml.bit_for(byte);
        byte = byte.wrapping_add(1);
        rest = behind;
    }
    table
};

fn may_have(byte: u8) -> u8 {
    MAY_HAVE.get(usize::from(byte)).copied().unwrap_or_default()
}

impl Escapes {
    /// Whether a character is escaped although JSON does not require it.
    fn has(self, c: char) -> bool {
        match self {
            Escapes::Required => false,
            Escapes::Html => matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'),
            Escapes::Unprintable | Escapes::Yaml => !is_printable(c),
        }
    }

    /// Whether a character that begins with a byte may be escaped.
    const fn may_have(self, first: u8) -> bool {
        let is_required = first < 0x20 || first == b'"' || first == b'\\';
        is_required
            || match self {
                Escapes::Required => false,
                Escapes::Html => matches!(first, b'<' | b'>' | b'&' | 0xe2),
                Escapes::Unprintable | Escapes::Yaml => first >= 0x7f,
            }
    }

    /// Whether a string may have characters that are escaped.
    fn may_be_in(self, text: &str) -> bool {
        text.bytes().fold(0, |found, byte| found | may_have(byte)) & self.bit() != 0
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    const fn bit_for(self, first: u8) -> u8 {
        if self.may_have(first) { self.bit() } else { 0 }
    }

    fn push_code(self, c: char, out: &mut String) {
        if self == Escapes::Yaml && c > '\u{ffff}' {
            return push_hex(out, "\\U", c as u32, 8);
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            push_hex(out, "\\u", u32::from(*unit), 4);
        }
    }
}

/// A JSON text that is being printed.
pub(crate) struct Printer {
    pub(crate) out: String,
    escapes: Escapes,
    /// Whether a float was printed.
    pub(crate) has_floats: bool,
}

impl Printer {
    /// A printer of what [`compact_json`] prints.
    pub(crate) fn compact(capacity: usize) -> Self {
        Printer::new(Escapes::Html, capacity)
    }

    fn new(escapes: Escapes, capacity: usize) -> Self {
        Printer::on(String::with_capacity(capacity), escapes)
    }

    /// A printer that goes on after a text.
    fn on(out: String, escapes: Escapes) -> Self {
        Printer { out, escapes, has_floats: false }
    }

    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Number(number) => match Num::of(number) {
                Num::Int(int) => self.out.push_str(itoa::Buffer::new().format(int)),
                Num::Float(float) => {
                    self.has_floats = true;
                    self.out.push_str(&json_float(float));
                }
            },
            Value::String(text) => self.string(text),
            Value::Array(items) => grow(|| {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index);
                    self.value(item);
                }
                self.out.push(']');
            }),
            Value::Object(members) => grow(|| {
                self.out.push('{');
                for (index, (key, member)) in in_order(members).enumerate() {
                    self.separate(index);
                    self.string(key);
                    self.out.push(':');
                    self.value(member);
                }
                self.out.push('}');
            }),
        }
    }

    /// Prints a value with another member beside one of it, and returns the place where that one belongs.
    fn noting(
        &mut self,
        value: &Value,
        member: &[&str],
        beside: Option<(&str, &str)>,
    ) -> Option<usize> {
        let (Value::Object(members), Some((wanted, below))) = (value, member.split_first()) else {
            self.value(value);
            return None;
        };
        let members = in_order(members).map(|(key, value)| (key.as_str(), Part::Value(value)));
        let mut members = members.collect::<Vec<_>>();
        if let Some((name, json)) = beside.filter(|_| below.is_empty()) {
            let at = members.partition_point(|(key, _)| *key < name);
            members.insert(at, (name, Part::Json(json)));
        }
        let mut place = None;
        self.out.push('{');
        for (index, (key, part)) in members.into_iter().enumerate() {
            self.separate(index);
            let order = key.cmp(wanted);
            if below.is_empty() && order.is_ge() {
                place.get_or_insert(order.is_gt().then_some(self.out.len()));
            }
            self.string(key);
            self.out.push(':');
            match part {
                Part::Json(json) => self.out.push_str(json),
                Part::Value(value) if order.is_eq() && !below.is_empty() => {
                    place = Some(self.noting(value, below, beside));
                }
                Part::Value(value) => self.value(value),
            }
        }
        self.out.push('}');
        place.flatten()
    }

    fn indented(&mut self, value: &Value, level: usize) {
        match value {
            Value::Array(items) if !items.is_empty() && level < MAX_INDENT => grow(|| {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index);
                    new_line(level + 1, &mut self.out);
                    self.indented(item, level + 1);
                }
                new_line(level, &mut self.out);
                self.out.push(']');
            }),
            Value::Object(members) if !members.is_empty() && level < MAX_INDENT => grow(|| {
                self.out.push('{');
                for (index, (key, member)) in in_order(members).enumerate() {
                    self.separate(index);
                    new_line(level + 1, &mut self.out);
                    self.string(key);
                    self.out.push_str(": ");
                    self.indented(member, level + 1);
                }
                new_line(level, &mut self.out);
                self.out.push('}');
            }),
            flat => self.value(flat),
        }
    }

    pub(crate) fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
    }

    pub(crate) fn string(&mut self, text: &str) {
        write_string(text, self.escapes, &mut self.out);
    }
}

fn write_string(text: &str, escapes: Escapes, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    // Nearly every string is plain.
    if escapes.may_be_in(text) {
        write_escaped(text, escapes, out);
    } else {
        out.push_str(text);
    }
    out.push('"');
}

fn write_escaped(text: &str, escapes: Escapes, out: &mut String) {
    let mut plain = 0;
    let may_be_escaped = |(_, byte): &(usize, u8)| may_have(*byte) & escapes.bit() != 0;
    for (at, _) in text.bytes().enumerate().filter(may_be_escaped) {
        // A byte inside a character begins none.
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { continue };
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\x08' => "\\b",
            '\x0c' => "\\f",
            c if (c as u32) < 0x20 => "",
            c if escapes.has(c) => "",
            _ => continue,
        };
        out.push_str(text.get(plain..at).unwrap_or_default());
        if escape.is_empty() {
            escapes.push_code(c, out);
        } else {
            out.push_str(escape);
        }
        plain = at + c.len_utf8();
    }
    out.push_str(text.get(plain..).unwrap_or_default());
}
