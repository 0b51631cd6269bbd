//! Field paths (SS-02) and where a walk is.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

/// One step of a [`FieldPath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Segment<'a> {
    /// A member, printed `.name` (without the dot at the start of a path).
    Name(&'a str),
    /// A subscript that is a map key, printed `[key]`.
    Key(&'a str),
    /// A position in a list, printed `[index]`.
    Index(usize),
}

/// A path as the server prints it in field errors (SS-02): names joined with dots, subscripts in
/// brackets, nothing escaped. The empty path prints `<nil>`, an empty name `[]`.
///
/// Paths compare step by step.
///
/// ```
/// use billhook_apimachinery::FieldPath;
/// let path = FieldPath::default().name("spec").name("ports").index(2).name("a/b");
/// assert_eq!(path.to_string(), "spec.ports[2].a/b");
/// assert_eq!(path.to_json_pointer(), "/spec/ports/2/a~1b");
/// ```
#[derive(Default, PartialEq, Eq, Hash)]
pub struct FieldPath {
    /// All steps in one text, as reports make many paths: each is a number (see [`push_number`])
    /// and, unless it is an index, as many bytes of text as the number says.
    steps: String,
}

/// The copy has room for some more steps: mostly it is made to go on from here.
impl Clone for FieldPath {
    fn clone(&self) -> Self {
        let mut steps = String::with_capacity(self.steps.len() + ROOM);
        steps.push_str(&self.steps);
        FieldPath { steps }
    }
}

/// The room that a path has for more steps when it begins, in bytes.
const ROOM: usize = 24;

impl FieldPath {
    /// Returns the path with a member appended.
    #[must_use]
    pub fn name(mut self, name: impl AsRef<str>) -> Self {
        self.push(Segment::Name(name.as_ref()));
        self
    }

    /// Returns the path with a map key appended as a subscript.
    #[must_use]
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.push(Segment::Key(key.as_ref()));
        self
    }

    /// Returns the path with a list position appended.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.push(Segment::Index(index));
        self
    }

    /// Returns the path of a place that is at `below` from here.
    #[must_use]
    pub fn join(&self, below: &FieldPath) -> Self {
        let mut steps = String::with_capacity(self.steps.len() + below.steps.len());
        steps.push_str(&self.steps);
        steps.push_str(&below.steps);
        FieldPath { steps }
    }

    /// Returns the steps from the top.
    pub fn segments(&self) -> Segments<'_> {
        Segments(&self.steps)
    }

    /// Returns whether this is the top itself.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the bytes that the steps take.
    pub fn size(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether this is `place` or below it.
    pub fn starts_with(&self, place: &FieldPath) -> bool {
        self.steps.starts_with(&place.steps)
    }

    /// Returns the path in the form used for unknown and duplicate fields (PR-30): as
    /// [`Display`](fmt::Display) prints it, except that map keys have a dot, an empty name is
    /// nothing after its dot, and the top is empty.
    pub fn to_dotted(&self) -> String {
        const BRACKETS: usize = 16;
        let mut out = String::with_capacity(self.steps.len() + BRACKETS);
        for (position, segment) in self.segments().enumerate() {
            match segment {
                Segment::Index(index) => push_index(&mut out, index),
                Segment::Name(name) | Segment::Key(name) => {
                    out.push_str(if position > 0 { "." } else { "" });
                    out.push_str(name);
                }
            }
        }
        out
    }

    /// Returns the path as a JSON pointer (RFC 6901) into the document it belongs to.
    pub fn to_json_pointer(&self) -> String {
        let mut out = String::new();
        for segment in self.segments() {
            out.push('/');
            match segment {
                Segment::Name(text) | Segment::Key(text) => {
                    out.push_str(&text.replace('~', "~0").replace('/', "~1"));
                }
                Segment::Index(index) => out.push_str(&index.to_string()),
            }
        }
        out
    }

    fn push(&mut self, segment: Segment<'_>) {
        if self.is_empty() {
            self.steps.reserve(ROOM);
        }
        match segment {
            Segment::Name(text) => {
                push_number(&mut self.steps, Kind::Name, text.len());
                self.steps.push_str(text);
            }
            Segment::Key(text) => {
                push_number(&mut self.steps, Kind::Key, text.len());
                self.steps.push_str(text);
            }
            Segment::Index(index) => push_number(&mut self.steps, Kind::Index, index),
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Name = 0,
    Key = 1,
    Index = 2,
}

/// Says that more digits follow.
const MORE: u8 = 0x40;

/// Writes a number as ASCII characters: six bits each, the lowest first; the first one holds the
/// kind of the step instead of its two lowest bits.
fn push_number(steps: &mut String, kind: Kind, number: usize) {
    let digit = |bits: usize, rest: usize| {
        let more = if rest == 0 { 0 } else { MORE };
        char::from(u8::try_from(bits).unwrap_or_default() | more)
    };
    let mut rest = number >> 4;
    steps.push(digit((number & 0xf) << 2 | kind as usize, rest));
    while rest > 0 {
        let bits = rest & 0x3f;
        rest >>= 6;
        steps.push(digit(bits, rest));
    }
}

fn push_index(out: &mut String, index: usize) {
    out.push('[');
    out.push_str(itoa::Buffer::new().format(index));
    out.push(']');
}

/// The steps of a [`FieldPath`] from the top.
#[derive(Clone, Debug)]
pub struct Segments<'a>(&'a str);

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Segment<'a>> {
        let mut digits = self.0.bytes();
        let first = digits.next()?;
        let mut number = usize::from((first & !MORE) >> 2);
        let mut last = first;
        let mut shift = 4;
        while last & MORE != 0 {
            last = digits.next()?;
            number |= usize::from(last & !MORE) << shift;
            shift += 6;
        }
        let used = self.0.len() - digits.len();
        let (_, rest) = self.0.split_at_checked(used)?;
        if first & 3 == Kind::Index as u8 {
            self.0 = rest;
            return Some(Segment::Index(number));
        }
        let (text, rest) = rest.split_at_checked(number)?;
        self.0 = rest;
        Some(if first & 3 == Kind::Key as u8 { Segment::Key(text) } else { Segment::Name(text) })
    }
}

impl std::iter::FusedIterator for Segments<'_> {}

impl PartialOrd for FieldPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FieldPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.segments().cmp(other.segments())
    }
}

impl fmt::Debug for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.segments()).finish()
    }
}

impl<'a> Extend<Segment<'a>> for FieldPath {
    fn extend<T: IntoIterator<Item = Segment<'a>>>(&mut self, segments: T) {
        const USUAL_LENGTH: usize = 16;
        let segments = segments.into_iter();
        self.steps.reserve(segments.size_hint().0.saturating_mul(USUAL_LENGTH));
        segments.for_each(|segment| self.push(segment));
    }
}

impl<'a> FromIterator<Segment<'a>> for FieldPath {
    fn from_iter<T: IntoIterator<Item = Segment<'a>>>(segments: T) -> Self {
        let mut path = FieldPath::default();
        path.extend(segments);
        path
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("<nil>");
        }
        for (position, segment) in self.segments().enumerate() {
            match segment {
                Segment::Name("") => f.write_str("[]")?,
                Segment::Name(name) if position == 0 => f.write_str(name)?,
                Segment::Name(name) => write!(f, ".{name}")?,
                Segment::Key(key) => write!(f, "[{key}]")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for FieldPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The place of a walk: a list on the stack that becomes a [`FieldPath`] only when there is
/// something to report about it.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    parent: Option<&'a Location<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Base(Option<&'a FieldPath>),
    Name(&'a str),
    Key(&'a str),
    Index(usize),
}

impl<'a> Location<'a> {
    /// The top of a value.
    pub const TOP: Location<'static> = Location { parent: None, step: Step::Base(None) };

    /// Starts a walk at a known path.
    pub fn at(base: &'a FieldPath) -> Self {
        Location { parent: None, step: Step::Base(Some(base)) }
    }

    /// Returns the member `name` of this place.
    pub fn name(&'a self, name: &'a str) -> Self {
        Location { parent: Some(self), step: Step::Name(name) }
    }

    /// Returns the map key `key` of this place.
    pub fn key(&'a self, key: &'a str) -> Self {
        Location { parent: Some(self), step: Step::Key(key) }
    }

    /// Returns the list position `index` of this place.
    pub fn index(&'a self, index: usize) -> Self {
        Location { parent: Some(self), step: Step::Index(index) }
    }

    /// Returns the place as a path.
    pub fn to_path(&self) -> FieldPath {
        self.path(Segment::Key)
    }

    /// The place as a path that names map keys like other members, as unknown fields are (PR-30).
    pub fn to_path_of_names(&self) -> FieldPath {
        self.path(Segment::Name)
    }

    fn path(&self, key_segment: fn(&'a str) -> Segment<'a>) -> FieldPath {
        let mut base = None;
        let mut segments = Vec::new();
        let mut place = Some(self);
        while let Some(current) = place {
            match current.step {
                Step::Base(path) => base = path,
                Step::Name(name) => segments.push(Segment::Name(name)),
                Step::Key(key) => segments.push(key_segment(key)),
                Step::Index(index) => segments.push(Segment::Index(index)),
            }
            place = current.parent;
        }
        let base = base.into_iter().flat_map(FieldPath::segments);
        base.chain(segments.into_iter().rev()).collect()
    }
}
