//! Metadata in text: whether it is normalized already (OM-02 to OM-04), and the slower path when it
//! is not.

use billhook_apimachinery::metadata::{Invalid, decode_metadata, is_normal_time, write_unset_time};
use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::value::{DeepValue, deep_eq};
use billhook_defaulting::{DefaultBudget, apply_defaults_within, remove_nulls};
use billhook_schema::{NodeRef, PreviousProperty};

use crate::duplicate_keys::OpenKeys;
use crate::fields::{FieldKind, Fields};
use crate::output::Output;
use crate::reader::read_json_to_depth;
use crate::removed_fields::RemovedFields;
use crate::scanner::{AnyKeys, Keys, Part, Scan, Step, Stop};

/// The fast path through metadata: where everything is normalized, or only unknown fields must be
/// removed.
pub(crate) struct Fast<'p, 't> {
    pub(crate) scan: &'p mut Scan<'t>,
    pub(crate) keys: &'p mut OpenKeys,
    pub(crate) out: &'p mut Output<'t>,
    /// The unknown fields that were removed, if they are wanted.
    pub(crate) removed: Option<RemovedFields>,
}

/// Metadata as it came and as a server normalizes it.
#[derive(Debug)]
pub(crate) struct Normal {
    pub(crate) written: DeepValue,
    pub(crate) decoded: DeepValue,
    /// The text to write; `None` if it is the same as in the input.
    pub(crate) text: Option<String>,
}

/// Decodes metadata at `node`. Nulls are removed first where the schema lists fields of an embedded
/// resource's metadata, and defaults applied afterwards.
pub(crate) fn normalize(
    text: &[u8],
    node: NodeRef<'_>,
    is_root: bool,
    left: usize,
    budget: &mut DefaultBudget,
) -> Step<Normal> {
    let document = read_json_to_depth(text, left).map_err(|_| Stop::Invalid)?;
    if !document.duplicates().is_empty() {
        return Err(Stop::Duplicate);
    }
    let written = document.into_value();
    if !(written.is_object() || is_root && written.is_null()) {
        return Err(Stop::Metadata);
    }
    let mut cleaned = DeepValue::clone(&written);
    if !is_root {
        remove_nulls(node, &mut cleaned, &mut ());
    }
    let decoded = decode_metadata(&cleaned, Invalid::Refuse).map_err(|_| Stop::Metadata)?;
    let mut decoded = decoded.changed().unwrap_or(cleaned);
    if is_root && node.writes_unset_time() {
        write_unset_time(&mut decoded);
    }
    apply_defaults_within(budget, node, &mut decoded, &mut ()).map_err(|_| Stop::Defaults)?;
    let text = (!deep_eq(&written, &decoded)).then(|| plain_json(&decoded));
    Ok(Normal { written, decoded, text })
}

/// The position after the part that was passed; `None` if only the slower path supports it.
type NormalEnd = Step<Option<usize>>;

impl<'t> Fast<'_, 't> {
    /// Passes metadata.
    pub(crate) fn metadata(&mut self, fields: &Fields, at: usize, left: usize) -> NormalEnd {
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        self.record(fields, at, left)
    }

    /// A record whose opening brace is next.
    fn record(&mut self, fields: &Fields, at: usize, left: usize) -> NormalEnd {
        if self.scan.byte(at) != b'{' {
            return Ok(None);
        }
        let names = fields.names();
        let start = at + 1;
        let mut kept_end = start;
        let mut seen = 0u32;
        let mut previous = PreviousProperty::NONE;
        let mut expected = names.expected_first();
        let (mut at, mut byte) = self.scan.token(start);
        if byte == b'}' {
            return Ok(fields.has_required(seen).then_some(at + 1));
        }
        loop {
            let mut key: &[u8] = &[];
            let found = match self.scan.expected(names, expected, at) {
                Some(found) => Some(found),
                None => {
                    let (end, escaped) = self.scan.skip_key(at, byte)?;
                    key = self.scan.slice(at + 1, end - 1);
                    (at, byte) = self.scan.skip_colon(end)?;
                    if escaped {
                        return Ok(None);
                    }
                    let field = names.property_named(key);
                    if let Some(field) = field {
                        names.learn(previous, field);
                    }
                    field.map(|field| (field, at, byte))
                }
            };
            let end = match found {
                Some((field, value, byte)) => {
                    let bit = 1 << field.position();
                    if seen & bit != 0 {
                        return Ok(None);
                    }
                    seen |= bit;
                    previous = field.as_previous();
                    expected = field.expected_next();
                    let end = self.field((field.name(), fields.kind(field)), value, byte, left)?;
                    let Some(end) = end else { return Ok(None) };
                    kept_end = end;
                    end
                }
                None => {
                    let end = self.scan.skip_value(at, byte, &mut AnyKeys, left)?;
                    if let Some(removed) = &mut self.removed {
                        removed.add(key, self.scan.slice(at, end), left)?;
                    }
                    self.out.cut_member((start, kept_end), end, self.scan.comma_end(end));
                    end
                }
            };
            match self.scan.next_part(end, b'}')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => return Ok(fields.has_required(seen).then_some(end)),
            }
        }
    }

    fn field(
        &mut self,
        (name, kind): (&str, Option<&FieldKind>),
        at: usize,
        byte: u8,
        left: usize,
    ) -> NormalEnd {
        let (type_, is_required) = match kind {
            Some(FieldKind::Plain(type_, is_required)) => (type_, *is_required),
            Some(FieldKind::Records(fields)) => return self.records(name, fields, at, left),
            None => return Ok(None),
        };
        match type_ {
            Type::Text => self.string(at, byte, |text| is_required || !text.is_empty()),
            Type::Int64 => self.integer(at, |literal| literal != b"0"),
            Type::Optional(Type::Int64) => self.integer(at, |_| true),
            Type::Optional(Type::Flag) => match byte {
                b't' => self.scan.skip_literal(at, b"true").map(Some),
                b'f' => self.scan.skip_literal(at, b"false").map(Some),
                _ => Ok(None),
            },
            Type::Time => self.string(at, byte, is_normal_time),
            Type::Map(_) => self.string_map(at, left),
            Type::List(_) => self.list(at, left, |fast, at, _| {
                let byte = fast.scan.byte(at);
                fast.string(at, byte, |_| true)
            }),
            Type::Optional(Type::Any) if byte != b'n' => {
                self.scan.skip_value(at, byte, self.keys, left).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A list of records.
    fn records(&mut self, name: &str, fields: &Fields, at: usize, left: usize) -> NormalEnd {
        if let Some(removed) = &mut self.removed {
            removed.open_list(name);
        }
        let end = self.list(at, left, |fast, at, left| {
            let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
            let end = fast.record(fields, at, left);
            if let Some(removed) = &mut fast.removed {
                removed.next_item();
            }
            end
        });
        if let Some(removed) = &mut self.removed {
            removed.close_list();
        }
        end
    }

    /// A string with an acceptable spelling.
    #[inline]
    fn string(&mut self, at: usize, byte: u8, accepts: impl Fn(&'t [u8]) -> bool) -> NormalEnd {
        if byte != b'"' {
            return Ok(None);
        }
        let end = self.scan.skip_string(at)?;
        Ok(accepts(self.scan.slice(at + 1, end - 1)).then_some(end))
    }

    /// A number that is surely written back as it is spelled, if that is acceptable.
    fn integer(&self, at: usize, accepts: impl Fn(&[u8]) -> bool) -> NormalEnd {
        const SURE_DIGITS: usize = 18;
        if !matches!(self.scan.byte(at), b'-' | b'0'..=b'9') {
            return Ok(None);
        }
        let end = self.scan.skip_number(at)?;
        let literal = self.scan.slice(at, end);
        let digits = literal.strip_prefix(b"-").unwrap_or(literal);
        let is_plain = digits.iter().all(u8::is_ascii_digit) && digits.len() <= SURE_DIGITS;
        Ok((is_plain && literal != b"-0" && accepts(literal)).then_some(end))
    }

    fn string_map(&mut self, at: usize, left: usize) -> NormalEnd {
        if self.scan.byte(at) != b'{' {
            return Ok(None);
        }
        if left == 0 {
            return Err(Stop::Invalid);
        }
        let (mut at, mut byte) = self.scan.token(at + 1);
        if byte == b'}' {
            return Ok(None);
        }
        let frame = self.keys.open();
        loop {
            let (end, escaped) = self.scan.skip_key(at, byte)?;
            self.keys.key(&frame, self.scan.slice(at + 1, end - 1), escaped)?;
            (at, byte) = self.scan.skip_colon(end)?;
            if byte != b'"' {
                return Ok(None);
            }
            let end = self.scan.skip_string(at)?;
            match self.scan.next_part(end, b'}')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => {
                    self.keys.close(frame);
                    return Ok(Some(end));
                }
            }
        }
    }

    /// A list that is not empty.
    fn list(
        &mut self,
        at: usize,
        left: usize,
        mut item: impl FnMut(&mut Self, usize, usize) -> NormalEnd,
    ) -> NormalEnd {
        if self.scan.byte(at) != b'[' {
            return Ok(None);
        }
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        let (mut at, byte) = self.scan.token(at + 1);
        if byte == b']' {
            return Ok(None);
        }
        loop {
            let Some(end) = item(self, at, left)? else { return Ok(None) };
            match self.scan.next_part(end, b']')? {
                Part::Next(next, _) => at = next,
                Part::End(end) => return Ok(Some(end)),
            }
        }
    }
}
