//! Metadata in text: whether it is in its normal form already (OM-02 to OM-04), and the slower
//! way when it is not.

use billhook_defaulting::{apply_defaults_node, remove_nulls_node};
use billhook_objectmeta::fields::{Kind, OBJECT_META, Record};
use billhook_objectmeta::{Invalid, decode_metadata, is_normal_time};
use billhook_schema::NodeRef;
use billhook_schema::print::plain_json;
use billhook_schema::value::{DeepValue, deep_eq};

use crate::keys::OpenKeys;
use crate::read::read_json_to_depth;
use crate::scan::{Keys, Part, Scan, Step, Stop};

/// Passes metadata; gives the position behind it if it is in normal form.
pub(crate) fn normal_end(
    scan: &mut Scan<'_>,
    keys: &mut OpenKeys,
    at: usize,
    left: usize,
) -> Step<Option<usize>> {
    let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
    record(scan, keys, OBJECT_META, at, left)
}

/// Metadata as it came and what a server makes of it.
#[derive(Debug)]
pub(crate) struct Normal {
    pub(crate) written: DeepValue,
    pub(crate) decoded: DeepValue,
    /// What is to be written; none if that is what is written already.
    pub(crate) text: Option<String>,
}

/// Decodes metadata at `node`. Nulls are removed first where the schema lists fields of an embedded
/// resource's metadata, and defaults applied afterwards.
pub(crate) fn normalise(
    text: &[u8],
    node: NodeRef<'_>,
    is_root: bool,
    left: usize,
) -> Step<Normal> {
    let document = read_json_to_depth(text, left).map_err(|_| Stop::Invalid)?;
    if !document.duplicates().is_empty() {
        return Err(Stop::Duplicate);
    }
    let written = document.into_value();
    if !(written.is_object() || is_root && written.is_null()) {
        return Err(Stop::Tree);
    }
    let mut cleaned = DeepValue::clone(&written);
    if !is_root {
        remove_nulls_node(node, &mut cleaned);
    }
    let mut decoded = decode_metadata(&cleaned, Invalid::Refuse).map_err(|_| Stop::Tree)?;
    apply_defaults_node(node, &mut decoded).map_err(|_| Stop::Tree)?;
    let text = (!deep_eq(&written, &decoded)).then(|| plain_json(&decoded));
    Ok(Normal { written, decoded, text })
}

type NormalEnd = Step<Option<usize>>;

/// A record whose opening brace is next.
fn record(
    scan: &mut Scan<'_>,
    keys: &mut OpenKeys,
    fields: Record,
    at: usize,
    left: usize,
) -> NormalEnd {
    if scan.byte(at) != b'{' {
        return Ok(None);
    }
    let mut seen = 0u32;
    let mut at = scan.skip_space(at + 1);
    if scan.byte(at) == b'}' {
        return Ok(has_required(fields, seen).then_some(at + 1));
    }
    loop {
        let (end, escaped) = scan.skip_key(at)?;
        let key = scan.slice(at + 1, end - 1);
        at = scan.skip_colon(end)?;
        let Some((position, kind)) = find(fields, key) else { return Ok(None) };
        if escaped || seen & 1 << position != 0 {
            return Ok(None);
        }
        seen |= 1 << position;
        let Some(end) = field(scan, keys, kind, at, left)? else { return Ok(None) };
        match scan.next_part(end, b'}')? {
            Part::Next(next) => at = next,
            Part::End(end) => return Ok(has_required(fields, seen).then_some(end)),
        }
    }
}

#[inline]
fn find(fields: Record, key: &[u8]) -> Option<(usize, Kind)> {
    let is_meant = |name: &str| {
        let name = name.as_bytes();
        name.len() == key.len() && name.first() == key.first() && name == key
    };
    let position = fields.iter().position(|(name, _)| is_meant(name))?;
    Some((position, fields.get(position)?.1))
}

fn has_required(fields: Record, seen: u32) -> bool {
    fields.iter().enumerate().all(|(position, (_, kind))| {
        !matches!(kind, Kind::RequiredString(_)) || seen & 1 << position != 0
    })
}

fn field(
    scan: &mut Scan<'_>,
    keys: &mut OpenKeys,
    kind: Kind,
    at: usize,
    left: usize,
) -> NormalEnd {
    match kind {
        Kind::String(_) => string(scan, at, |text| !text.is_empty()),
        Kind::RequiredString(_) => string(scan, at, |_| true),
        Kind::Integer => integer(scan, at, |literal| literal != b"0"),
        Kind::OptionalInteger => integer(scan, at, |_| true),
        Kind::OptionalBool => match scan.byte(at) {
            b't' => scan.skip_literal(at, b"true").map(Some),
            b'f' => scan.skip_literal(at, b"false").map(Some),
            _ => Ok(None),
        },
        Kind::Time => string(scan, at, is_normal_time),
        Kind::StringMap => string_map(scan, keys, at, left),
        Kind::StringList => list(scan, at, left, |scan, at, _| string(scan, at, |_| true)),
        Kind::Records { fields, .. } => list(scan, at, left, |scan, at, left| {
            let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
            record(scan, keys, fields, at, left)
        }),
        Kind::Any => {
            if scan.byte(at) == b'n' {
                return Ok(None);
            }
            scan.skip_value(at, keys, left).map(Some)
        }
        _ => Ok(None),
    }
}

/// A string with an acceptable spelling.
#[inline]
fn string(scan: &mut Scan<'_>, at: usize, accepts: impl Fn(&[u8]) -> bool) -> NormalEnd {
    if scan.byte(at) != b'"' {
        return Ok(None);
    }
    let end = scan.skip_string(at)?;
    Ok(accepts(scan.slice(at + 1, end - 1)).then_some(end))
}

/// A number that is surely written back as it is spelled, if that is acceptable.
fn integer(scan: &Scan<'_>, at: usize, accepts: impl Fn(&[u8]) -> bool) -> NormalEnd {
    const SURE_DIGITS: usize = 18;
    if !matches!(scan.byte(at), b'-' | b'0'..=b'9') {
        return Ok(None);
    }
    let end = scan.skip_number(at)?;
    let literal = scan.slice(at, end);
    let digits = literal.strip_prefix(b"-").unwrap_or(literal);
    let is_plain = digits.iter().all(u8::is_ascii_digit) && digits.len() <= SURE_DIGITS;
    Ok((is_plain && literal != b"-0" && accepts(literal)).then_some(end))
}

fn string_map(scan: &mut Scan<'_>, keys: &mut OpenKeys, at: usize, left: usize) -> NormalEnd {
    if scan.byte(at) != b'{' {
        return Ok(None);
    }
    if left == 0 {
        return Err(Stop::Invalid);
    }
    let mut at = scan.skip_space(at + 1);
    if scan.byte(at) == b'}' {
        return Ok(None);
    }
    let mut frame = keys.open();
    loop {
        let (end, escaped) = scan.skip_key(at)?;
        keys.key(&mut frame, scan.slice(at + 1, end - 1), escaped)?;
        at = scan.skip_colon(end)?;
        if scan.byte(at) != b'"' {
            return Ok(None);
        }
        let end = scan.skip_string(at)?;
        match scan.next_part(end, b'}')? {
            Part::Next(next) => at = next,
            Part::End(end) => {
                keys.close(frame);
                return Ok(Some(end));
            }
        }
    }
}

/// A list that is not empty.
fn list<'t>(
    scan: &mut Scan<'t>,
    at: usize,
    left: usize,
    mut item: impl FnMut(&mut Scan<'t>, usize, usize) -> NormalEnd,
) -> NormalEnd {
    if scan.byte(at) != b'[' {
        return Ok(None);
    }
    let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
    let mut at = scan.skip_space(at + 1);
    if scan.byte(at) == b']' {
        return Ok(None);
    }
    loop {
        let Some(end) = item(scan, at, left)? else { return Ok(None) };
        match scan.next_part(end, b']')? {
            Part::Next(next) => at = next,
            Part::End(end) => return Ok(Some(end)),
        }
    }
}
