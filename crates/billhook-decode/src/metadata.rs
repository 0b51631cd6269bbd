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
use crate::scan::{Keys, Scan, Step, Stop};

/// Passes metadata; gives whether it is in normal form. If it isn't, the scan may stand anywhere
/// in it.
pub(crate) fn is_normal(scan: &mut Scan<'_>, keys: &mut OpenKeys, left: usize) -> Step<bool> {
    let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
    record(scan, keys, OBJECT_META, left)
}

/// What a server makes of metadata at `node`; none if that is what is written already. Nulls are
/// removed first where the schema lists fields of an embedded resource's metadata, and defaults
/// applied afterwards.
pub(crate) fn normalise(
    text: &[u8],
    node: NodeRef<'_>,
    is_root: bool,
    left: usize,
) -> Step<Option<String>> {
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
    Ok((!deep_eq(&written, &decoded)).then(|| plain_json(&decoded)))
}

/// A record whose opening brace is next.
fn record(scan: &mut Scan<'_>, keys: &mut OpenKeys, fields: Record, left: usize) -> Step<bool> {
    if scan.peek() != Some(b'{') {
        return Ok(false);
    }
    scan.at += 1;
    scan.skip_space();
    let mut seen = 0u32;
    if scan.peek() == Some(b'}') {
        scan.at += 1;
        return Ok(has_required(fields, seen));
    }
    loop {
        let (key, escaped) = key(scan)?;
        let position = fields.iter().position(|(name, _)| name.as_bytes() == key);
        let Some((position, (_, kind))) =
            position.and_then(|position| Some((position, fields.get(position)?)))
        else {
            return Ok(false);
        };
        if escaped || seen & 1 << position != 0 {
            return Ok(false);
        }
        seen |= 1 << position;
        if !field(scan, keys, *kind, left)? {
            return Ok(false);
        }
        if !scan.more_before(b'}')? {
            return Ok(has_required(fields, seen));
        }
    }
}

fn has_required(fields: Record, seen: u32) -> bool {
    fields.iter().enumerate().all(|(position, (_, kind))| {
        !matches!(kind, Kind::RequiredString(_)) || seen & 1 << position != 0
    })
}

/// A key and the colon behind it.
fn key<'t>(scan: &mut Scan<'t>) -> Step<(&'t [u8], bool)> {
    if scan.peek() != Some(b'"') {
        return Err(Stop::Invalid);
    }
    let start = scan.at + 1;
    let escaped = scan.skip_string()?;
    let key = scan.slice(start, scan.at - 1);
    scan.skip_space();
    scan.expect(b':')?;
    scan.skip_space();
    Ok((key, escaped))
}

fn field(scan: &mut Scan<'_>, keys: &mut OpenKeys, kind: Kind, left: usize) -> Step<bool> {
    match kind {
        Kind::String(_) => Ok(string(scan)?.is_some_and(|text| !text.is_empty())),
        Kind::RequiredString(_) => Ok(string(scan)?.is_some()),
        Kind::Integer => Ok(integer(scan)?.is_some_and(|literal| literal != b"0")),
        Kind::OptionalInteger => Ok(integer(scan)?.is_some()),
        Kind::OptionalBool => match scan.peek() {
            Some(b't') => scan.skip_literal(b"true").map(|()| true),
            Some(b'f') => scan.skip_literal(b"false").map(|()| true),
            _ => Ok(false),
        },
        Kind::Time => Ok(string(scan)?.is_some_and(is_normal_time)),
        Kind::StringMap => string_map(scan, keys, left),
        Kind::StringList => list(scan, left, |scan, _| Ok(string(scan)?.is_some())),
        Kind::Records { fields, .. } => list(scan, left, |scan, left| {
            let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
            record(scan, keys, fields, left)
        }),
        Kind::Any => {
            if scan.peek() == Some(b'n') {
                return Ok(false);
            }
            scan.skip_value(keys, left).map(|()| true)
        }
        _ => Ok(false),
    }
}

/// The spelling of a string, if one is next.
fn string<'t>(scan: &mut Scan<'t>) -> Step<Option<&'t [u8]>> {
    if scan.peek() != Some(b'"') {
        return Ok(None);
    }
    let start = scan.at + 1;
    scan.skip_string()?;
    Ok(Some(scan.slice(start, scan.at - 1)))
}

/// The literal of a number, if one is next that is surely written back as it is.
fn integer<'t>(scan: &mut Scan<'t>) -> Step<Option<&'t [u8]>> {
    const SURE_DIGITS: usize = 18;
    if !matches!(scan.peek(), Some(b'-' | b'0'..=b'9')) {
        return Ok(None);
    }
    let start = scan.at;
    scan.skip_number()?;
    let literal = scan.slice(start, scan.at);
    let digits = literal.strip_prefix(b"-").unwrap_or(literal);
    let is_plain = digits.iter().all(u8::is_ascii_digit) && digits.len() <= SURE_DIGITS;
    Ok((is_plain && literal != b"-0").then_some(literal))
}

fn string_map(scan: &mut Scan<'_>, keys: &mut OpenKeys, left: usize) -> Step<bool> {
    if scan.peek() != Some(b'{') {
        return Ok(false);
    }
    if left == 0 {
        return Err(Stop::Invalid);
    }
    scan.at += 1;
    scan.skip_space();
    if scan.peek() == Some(b'}') {
        return Ok(false);
    }
    let mut frame = keys.open();
    loop {
        let (key, escaped) = key(scan)?;
        keys.key(&mut frame, key, escaped)?;
        if string(scan)?.is_none() {
            return Ok(false);
        }
        if !scan.more_before(b'}')? {
            keys.close(frame);
            return Ok(true);
        }
    }
}

/// A list that is not empty.
fn list<'t>(
    scan: &mut Scan<'t>,
    left: usize,
    mut item: impl FnMut(&mut Scan<'t>, usize) -> Step<bool>,
) -> Step<bool> {
    if scan.peek() != Some(b'[') {
        return Ok(false);
    }
    let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
    scan.at += 1;
    scan.skip_space();
    if scan.peek() == Some(b']') {
        return Ok(false);
    }
    loop {
        if !item(scan, left)? {
            return Ok(false);
        }
        if !scan.more_before(b']')? {
            return Ok(true);
        }
    }
}
