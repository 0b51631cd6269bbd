//! Reading a few parts of JSON text in place.

use std::borrow::Cow;
use std::fmt;

use billhook_apimachinery::value::DeepValue;
use serde::Deserialize;

use crate::check::check_json;
use crate::error::JsonError;
use crate::number;
use crate::reader::{MAX_DEPTH, read_checked, read_json};
use crate::scanner::{AnyKeys, Part, Scan, end_of_plain};
use crate::string::{string, unescaped};

/// A value in JSON text, mostly an object, that is read where it stands: to look at a few of its parts
/// costs no more than passing over what comes before them, and builds no tree.
///
/// ```
/// use billhook_decode::ObjectView;
///
/// let text = br#"{"metadata": {"name": "a", "labels": {"app": "shop"}}, "spec": {"replicas": 3}}"#;
/// let object = ObjectView::read(text)?;
/// assert_eq!(object.at(["metadata", "labels", "app"]).and_then(|it| it.as_str()).unwrap(), "shop");
/// let spec = object.get("spec").unwrap();
/// assert_eq!(spec.get("replicas").and_then(|it| it.as_i64()), Some(3));
/// assert_eq!(*spec.to_value(), serde_json::json!({"replicas": 3}));
/// let names: Vec<_> = object.members().map(|(name, _)| name).collect();
/// assert_eq!(names, ["metadata", "spec"]);
/// # Ok::<(), billhook_decode::JsonError>(())
/// ```
#[derive(Clone, Copy)]
pub struct ObjectView<'t> {
    text: &'t [u8],
    /// Where the value begins.
    at: usize,
    /// Whether no object in the text has a key twice.
    has_unique_keys: bool,
}

impl fmt::Debug for ObjectView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.text()))
    }
}

impl<'t> ObjectView<'t> {
    /// Returns the value of a text, which is checked. Of a repeated key the last value counts.
    ///
    /// # Errors
    ///
    /// If the text is not JSON as the server accepts it.
    pub fn read(text: &'t [u8]) -> Result<Self, JsonError> {
        check_json(text)?;
        Ok(ObjectView { has_unique_keys: false, ..ObjectView::of_checked(text) })
    }

    /// Returns the value of a text that is known to be JSON without repeated keys, as what servers store
    /// and what decoding returns. Of another text some of what is there may not be found.
    pub fn of_checked(text: &'t [u8]) -> Self {
        let (at, _) = Scan::new(text).token(0);
        ObjectView { text, at, has_unique_keys: true }
    }

    /// Returns the value of a member; `None` if this is not an object, or has no such member.
    pub fn get(&self, name: &str) -> Option<ObjectView<'t>> {
        let mut members = self.members();
        let mut found = None;
        while let Some((written, is_escaped, value)) = members.next_written() {
            let is_named = match is_escaped || !written.is_ascii() {
                true => unescaped(written) == name,
                false => written == name.as_bytes(),
            };
            if is_named {
                found = Some(value);
                if self.has_unique_keys {
                    break;
                }
            }
        }
        found
    }

    /// Returns the value at the end of a path of members.
    pub fn at<'n>(&self, path: impl IntoIterator<Item = &'n str>) -> Option<ObjectView<'t>> {
        path.into_iter().try_fold(*self, |value, name| value.get(name))
    }

    /// Returns the members of an object in the order of the text, repeated ones included; none if this is
    /// not an object.
    pub fn members(&self) -> Members<'t> {
        Members { parts: self.parts(b'{', b'}'), name: 0 }
    }

    /// Returns the elements of a list; none if this is not a list.
    pub fn elements(&self) -> impl Iterator<Item = ObjectView<'t>> {
        let mut parts = self.parts(b'[', b']');
        std::iter::from_fn(move || {
            let (at, byte) = parts.next()?;
            parts.passes(at, byte);
            Some(parts.value(at))
        })
    }

    /// Returns the text of the value.
    pub fn text(&self) -> &'t [u8] {
        let mut scan = Scan::new(self.text);
        let end = scan.skip_value(self.at, self.first(), &mut AnyKeys, MAX_DEPTH);
        scan.slice(self.at, end.unwrap_or(self.at))
    }

    /// Returns the position of the value in the whole text, in bytes.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the text that a string stands for; `None` if this is not a string.
    pub fn as_str(&self) -> Option<Cow<'t, str>> {
        if self.first() != b'"' {
            return None;
        }
        let start = self.at + 1;
        let end = end_of_plain(self.text, start);
        let plain = self.text.get(start..end).and_then(|plain| std::str::from_utf8(plain).ok());
        match (plain, self.text.get(end)) {
            (Some(plain), Some(b'"')) => Some(Cow::Borrowed(plain)),
            _ => string(self.text, None, start).ok().map(|(text, _)| Cow::Owned(text)),
        }
    }

    /// Returns an integer; `None` if this is not one, or does not fit.
    pub fn as_i64(&self) -> Option<i64> {
        self.number()?.as_i64()
    }

    /// Returns a number; `None` if this is not one.
    pub fn as_f64(&self) -> Option<f64> {
        self.number()?.as_f64()
    }

    /// Returns a truth value; `None` if this is not one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.first() {
            b't' => Some(true),
            b'f' => Some(false),
            _ => None,
        }
    }

    /// Returns whether this is null.
    pub fn is_null(&self) -> bool {
        self.first() == b'n'
    }

    /// Returns whether this is an object.
    pub fn is_object(&self) -> bool {
        self.first() == b'{'
    }

    /// Returns whether this is a list.
    pub fn is_array(&self) -> bool {
        self.first() == b'['
    }

    /// Returns the value as a tree.
    pub fn to_value(&self) -> DeepValue {
        let text = self.text();
        let unique = std::str::from_utf8(text).ok().filter(|_| self.has_unique_keys);
        let read = unique.and_then(read_checked);
        read.or_else(|| read_json(text).ok().map(|it| it.into_value())).unwrap_or_default()
    }

    /// Returns the value as a type of serde.
    ///
    /// # Errors
    ///
    /// If it does not have the form of the type, or is nested too deeply for serde.
    pub fn deserialize<T: Deserialize<'t>>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.text())
    }

    fn first(&self) -> u8 {
        Scan::new(self.text).byte(self.at)
    }

    fn number(&self) -> Option<serde_json::Number> {
        let is_number = self.first().is_ascii_digit() || self.first() == b'-';
        let literal = is_number.then(|| std::str::from_utf8(self.text()).ok());
        number::parse(literal??)
    }

    fn parts(&self, begin: u8, end: u8) -> Parts<'t> {
        let place = if self.first() == begin { Place::Begin } else { Place::End };
        Parts { of: *self, place, end }
    }
}

/// The members of an object: their names and values.
#[derive(Clone, Debug)]
pub struct Members<'t> {
    parts: Parts<'t>,
    name: usize,
}

impl Members<'_> {
    /// Returns the position in the whole text, in bytes, of the name of the member that was returned last.
    pub fn name_offset(&self) -> usize {
        self.name
    }
}

impl<'t> Members<'t> {
    /// Returns the name of the next member as it is written, whether it has escapes, and the value.
    #[inline(always)]
    fn next_written(&mut self) -> Option<(&'t [u8], bool, ObjectView<'t>)> {
        let (name, byte) = self.parts.next()?;
        let mut scan = Scan::new(self.parts.of.text);
        let (end, is_escaped) = scan.skip_key(name, byte).ok()?;
        let written = scan.slice(name + 1, end - 1);
        let (at, byte) = scan.skip_colon(end).ok()?;
        self.name = name;
        self.parts.passes(at, byte);
        Some((written, is_escaped, self.parts.value(at)))
    }
}

impl<'t> Iterator for Members<'t> {
    type Item = (Cow<'t, str>, ObjectView<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        let (written, is_escaped, value) = self.next_written()?;
        let plain = std::str::from_utf8(written).ok().filter(|_| !is_escaped);
        let name = plain.map_or_else(|| Cow::Owned(unescaped(written)), Cow::Borrowed);
        Some((name, value))
    }
}

/// The parts of an object or a list, one after the other.
#[derive(Clone, Debug)]
struct Parts<'t> {
    of: ObjectView<'t>,
    place: Place,
    /// The byte after the last part.
    end: u8,
}

/// Where the next part is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The first one, after the first byte of the whole.
    Begin,
    /// After the value that begins here with a byte.
    After(usize, u8),
    End,
}

impl<'t> Parts<'t> {
    /// Returns the position and the first byte of the next part.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u8)> {
        let mut scan = Scan::new(self.of.text);
        match std::mem::replace(&mut self.place, Place::End) {
            Place::Begin => Some(scan.token(self.of.at + 1)).filter(|(_, byte)| *byte != self.end),
            Place::After(at, byte) => {
                let end = scan.skip_value(at, byte, &mut AnyKeys, MAX_DEPTH).ok()?;
                match scan.next_part(end, self.end).ok()? {
                    Part::Next(at, byte) => Some((at, byte)),
                    Part::End(_) => None,
                }
            }
            Place::End => None,
        }
    }

    /// The value at a position, which begins with a byte, is the part that was returned last.
    #[inline(always)]
    fn passes(&mut self, at: usize, byte: u8) {
        self.place = Place::After(at, byte);
    }

    fn value(&self, at: usize) -> ObjectView<'t> {
        ObjectView { at, ..self.of }
    }
}
