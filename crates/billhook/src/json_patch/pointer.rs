//! Where a pointer of a patch leads: the list or object that holds the last part, and that part.

use std::borrow::Cow;

use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use super::error::PatchError;
use super::limits::Work;

/// A container and the key or index in it that a pointer ends with; nothing need be there.
pub(crate) struct Place<'p, C> {
    container: C,
    key: Cow<'p, str>,
}

/// Follows a pointer to the container of its last part. None if a part on the way is absent, null
/// or a scalar, or if the pointer has no slash.
pub(crate) fn find<'d, 'p>(document: &'d Value, pointer: &'p str) -> Option<Place<'p, &'d Value>> {
    let (parts, last) = split(pointer)?;
    let mut container = document;
    is_container(container).then_some(())?;
    for part in parts {
        let place = Place { container, key: unescape(part) };
        container = place.get().ok()??;
        is_container(container).then_some(())?;
    }
    Some(Place { container, key: unescape(last) })
}

/// [`find`] to change what is there.
pub(crate) fn find_mut<'d, 'p>(
    document: &'d mut Value,
    pointer: &'p str,
) -> Option<Place<'p, &'d mut Value>> {
    let (parts, last) = split(pointer)?;
    let mut container = document;
    is_container(container).then_some(())?;
    for part in parts {
        let key = unescape(part);
        container = match container {
            Value::Array(items) => {
                let index = position(&key, items.len()).ok()?;
                items.get_mut(index)?
            }
            Value::Object(members) => members.get_mut(&*key)?,
            _ => return None,
        };
        is_container(container).then_some(())?;
    }
    Some(Place { container, key: unescape(last) })
}

/// The parts on the way and the last part. What stands before the first slash is ignored.
fn split(pointer: &str) -> Option<(std::str::Split<'_, char>, &str)> {
    let (_, parts) = pointer.split_once('/')?;
    match parts.rsplit_once('/') {
        Some((way, last)) => Some((way.split('/'), last)),
        None => {
            let mut none = "".split('/');
            none.next();
            Some((none, parts))
        }
    }
}

fn unescape(part: &str) -> Cow<'_, str> {
    if !part.contains('~') {
        return Cow::Borrowed(part);
    }
    let mut out = String::with_capacity(part.len());
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('~') {
        out.push_str(before);
        let unescaped = [('0', '~'), ('1', '/')]
            .into_iter()
            .find_map(|(escape, c)| after.strip_prefix(escape).map(|after| (c, after)));
        let (c, after) = unescaped.unwrap_or(('~', after));
        out.push(c);
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// An array index: decimal, with an optional sign and leading zeros; negative ones count from the
/// end.
fn index(key: &str) -> Result<i64, PatchError> {
    let digits = key.strip_prefix(['-', '+']).unwrap_or(key);
    let syntax =
        |what: &str| PatchError::new(format!("strconv.Atoi: parsing {}: {what}", quote(key)));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(syntax("invalid syntax"));
    }
    key.parse().map_err(|_| syntax("value out of range"))
}

/// The position of an index among `len` places.
fn position(key: &str, len: usize) -> Result<usize, PatchError> {
    let index = index(key)?;
    let places = i64::try_from(len).unwrap_or(i64::MAX);
    let position = if index < 0 { index.saturating_add(places) } else { index };
    match usize::try_from(position) {
        Ok(position) if position < len => Ok(position),
        _ => Err(PatchError::new(format!(
            "Unable to access invalid index: {index}: invalid index referenced"
        ))),
    }
}

impl<'d> Place<'_, &'d Value> {
    /// Returns the value there; none for an absent member, an error for an absent item.
    pub(crate) fn get(&self) -> Result<Option<&'d Value>, PatchError> {
        match self.container {
            Value::Array(items) => Ok(items.get(position(&self.key, items.len())?)),
            Value::Object(members) => Ok(members.get(&*self.key)),
            _ => Ok(None),
        }
    }
}

impl Place<'_, &mut Value> {
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Sets a member, or inserts an item before the one at the index.
    pub(crate) fn add(self, value: Value, work: &mut Work) -> Result<(), PatchError> {
        match self.container {
            Value::Array(items) if self.key == "-" => items.push(value),
            Value::Array(items) => {
                let value = DeepValue::from(value);
                let at = position(&self.key, items.len() + 1)?;
                work.shift(items.len() - at)?;
                items.insert(at, value.into_inner());
            }
            Value::Object(members) => set(members, self.key, value),
            _ => {}
        }
        Ok(())
    }

    /// Sets a member, or an item that is there.
    pub(crate) fn replace(self, value: Value) -> Result<(), PatchError> {
        let value = DeepValue::from(value);
        match self.container {
            Value::Array(items) => {
                let at = position(&self.key, items.len())?;
                if let Some(item) = items.get_mut(at) {
                    drop(DeepValue::from(std::mem::replace(item, value.into_inner())));
                }
            }
            Value::Object(members) => set(members, self.key, value.into_inner()),
            _ => {}
        }
        Ok(())
    }

    /// Takes out what is there.
    pub(crate) fn remove(self, work: &mut Work) -> Result<DeepValue, PatchError> {
        let removed = match self.container {
            Value::Array(items) => {
                let at = position(&self.key, items.len())?;
                work.shift(items.len() - at)?;
                Some(items.remove(at))
            }
            Value::Object(members) => members.remove(&*self.key),
            _ => None,
        };
        removed.map(DeepValue::from).ok_or_else(|| {
            PatchError::missing(&format!("Unable to remove nonexistent key: {}", self.key))
        })
    }
}

fn set(members: &mut serde_json::Map<String, Value>, key: Cow<'_, str>, value: Value) {
    drop(members.insert(key.into_owned(), value).map(DeepValue::from));
}
