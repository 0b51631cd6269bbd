//! Writing YAML as the server writes its answers: sorted keys, lists not indented below their key,
//! quotes only where a plain scalar would read as something else, lines folded after column 80.

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::{grow, sorted};
use serde_json::Value;

use crate::scalar::{float_text, is_plain_string};

/// A line is folded at the first blank after this column.
const WIDTH: usize = 80;

/// Below this column the text goes on in flow style: indentation would make its size the square of
/// the depth.
const MAX_INDENT: usize = 200;

/// A longer key needs a `?` before it.
const MAX_SIMPLE_KEY: usize = 128;

/// Returns a value as YAML text in the layout of the server's answers.
pub fn write_document(value: &Value) -> String {
    let mut writer = Writer::default();
    if is_block(value, 0) {
        writer.block(value, 0, true);
    } else {
        writer.scalar(value, 2);
    }
    writer.line(0);
    writer.out
}

#[derive(Default)]
struct Writer {
    out: String,
    column: usize,
}

fn is_block(value: &Value, indent: usize) -> bool {
    indent <= MAX_INDENT
        && match value {
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        }
}

impl Writer {
    fn char(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn text(&mut self, text: &str) {
        text.chars().for_each(|c| self.char(c));
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Starts a line, unless one has just been started.
    fn line(&mut self, indent: usize) {
        if self.column > 0 {
            self.end_line();
        }
        (0..indent).for_each(|_| self.char(' '));
    }

    /// Writes a list or an object; `inline` means that its first line is indented already.
    fn block(&mut self, value: &Value, indent: usize, inline: bool) {
        let mut inline = inline;
        let mut start = |writer: &mut Self| {
            if !std::mem::take(&mut inline) {
                writer.line(indent);
            }
        };
        grow(|| match value {
            Value::Object(members) => {
                for (key, member) in sorted(members) {
                    start(self);
                    self.member(key, member, indent);
                }
            }
            Value::Array(items) => {
                for item in items {
                    start(self);
                    self.char('-');
                    self.char(' ');
                    if is_block(item, indent + 2) {
                        self.block(item, indent + 2, true);
                    } else {
                        self.scalar(item, indent + 2);
                    }
                }
            }
            _ => {}
        });
    }

    fn member(&mut self, key: &str, member: &Value, indent: usize) {
        let simple = key.len() <= MAX_SIMPLE_KEY && !key.contains('\n');
        if simple {
            self.string(key, None);
        } else {
            self.text("? ");
            self.string(key, Some(indent + 2));
            self.line(indent);
        }
        self.char(':');
        if !is_block(member, indent) {
            self.char(' ');
            self.scalar(member, indent + 2);
        } else if simple {
            let below = if member.is_array() { indent } else { indent + 2 };
            self.block(member, below, false);
        } else {
            self.char(' ');
            self.block(member, indent + 2, true);
        }
    }

    fn scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::String(text) => self.string(text, Some(indent)),
            Value::Number(number) => self.text(&float_text(number)),
            other => self.text(&plain_json(other)),
        }
    }

    /// Writes a string; lines are folded to an indentation, and not at all in keys.
    fn string(&mut self, text: &str, fold: Option<usize>) {
        let style = Style::of(text, fold.is_none());
        match style {
            Style::Plain => self.folded(text, fold, style),
            Style::Single | Style::Double => {
                let quote = if style == Style::Single { '\'' } else { '"' };
                self.char(quote);
                self.folded(text, fold, style);
                self.char(quote);
            }
            Style::Literal => self.literal(text, fold.unwrap_or_default()),
        }
    }

    fn folded(&mut self, text: &str, fold: Option<usize>, style: Style) {
        let mut after_space = false;
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let may_fold = c == ' ' && !after_space && self.column > WIDTH && at > 0;
            after_space = c == ' ';
            match fold.filter(|_| may_fold && next.is_some()) {
                Some(indent) if style == Style::Double || next != Some(' ') => {
                    self.line(indent);
                    if next == Some(' ') {
                        self.char('\\');
                    }
                    continue;
                }
                _ => {}
            }
            match (style, c) {
                (Style::Single, '\'') => self.text("''"),
                (Style::Double, _) => self.escaped(c),
                _ => self.char(c),
            }
        }
    }

    fn escaped(&mut self, c: char) {
        let code = u32::from(c);
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' | '\\' => c,
            '\u{85}' => 'N',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ if is_printable(c) => return self.char(c),
            _ if code <= 0xff => return self.text(&format!("\\x{code:02X}")),
            _ if code <= 0xffff => return self.text(&format!("\\u{code:04X}")),
            _ => return self.text(&format!("\\U{code:08X}")),
        };
        self.char('\\');
        self.char(short);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.char('|');
        if text.starts_with([' ', '\n']) {
            self.char('2');
        }
        match text.strip_suffix('\n') {
            None => self.char('-'),
            Some(body) if body.is_empty() || body.ends_with('\n') => self.char('+'),
            Some(_) => {}
        }
        self.end_line();
        let body = text.strip_suffix('\n').unwrap_or(text);
        let mut lines = body.split('\n').peekable();
        while let Some(line) = lines.next() {
            if !line.is_empty() {
                self.line(indent);
                self.text(line);
            }
            if lines.peek().is_some() || body.len() < text.len() {
                self.end_line();
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

impl Style {
    fn of(text: &str, is_key: bool) -> Self {
        let breaks = text.contains('\n');
        let special = !text.chars().all(|c| is_printable(c) || c == '\n')
            || text.contains(['\u{2028}', '\u{2029}'])
            || text.contains(" \n");
        if special || breaks && (is_key || text.ends_with(' ')) {
            Style::Double
        } else if breaks {
            Style::Literal
        } else if !is_plain_string(text) {
            Style::Double
        } else if has_indicators(text) || text.starts_with(' ') || text.ends_with(' ') {
            Style::Single
        } else {
            Style::Plain
        }
    }
}

/// Whether characters of a text would be read as syntax, were it plain in a block.
fn has_indicators(text: &str) -> bool {
    text.starts_with(|c| "#,[]{}&*!|>'\"%@`".contains(c))
        || matches!(text, "-" | "?")
        || ["---", "...", "- ", "? "].iter().any(|start| text.starts_with(start))
        || text.ends_with(':')
        || text.contains(": ")
        || text.contains(" #")
}

/// Whether the server writes a character as it is.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}
