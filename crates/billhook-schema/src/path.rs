//! Field paths (SS-02) and where a walk is.

use std::fmt;

use serde::Serialize;

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Segment {
    /// A member, printed `.name` (without the dot at the start of a path).
    Name(String),
    /// A subscript that is a map key, printed `[key]`.
    Key(String),
    /// A position in a list, printed `[index]`.
    Index(usize),
}

/// A path as the server prints it in field errors (SS-02): names joined with dots, subscripts in
/// brackets, nothing escaped. The empty path prints `<nil>`, an empty name `[]`.
///
/// ```
/// use billhook_schema::FieldPath;
/// let path = FieldPath::default().name("spec").name("ports").index(2).name("a/b");
/// assert_eq!(path.to_string(), "spec.ports[2].a/b");
/// assert_eq!(path.to_json_pointer(), "/spec/ports/2/a~1b");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath {
    segments: Vec<Segment>,
}

impl FieldPath {
    /// The path with a member appended.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.segments.push(Segment::Name(name.into()));
        self
    }

    /// The path with a map key appended as a subscript.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.segments.push(Segment::Key(key.into()));
        self
    }

    /// The path with a list position appended.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.segments.push(Segment::Index(index));
        self
    }

    /// The steps from the top.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether this is the top itself.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The path in the form of unknown and duplicate fields (PR-30): as [`Display`](fmt::Display)
    /// prints it, but map keys with a dot, an empty name as nothing behind its dot, and nothing at
    /// all for the top.
    pub fn to_dotted(&self) -> String {
        let mut out = String::new();
        for (position, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Index(index) => out.push_str(&format!("[{index}]")),
                Segment::Name(name) | Segment::Key(name) => {
                    out.push_str(if position > 0 { "." } else { "" });
                    out.push_str(name);
                }
            }
        }
        out
    }

    /// The path as a JSON pointer (RFC 6901) into the document it belongs to.
    pub fn to_json_pointer(&self) -> String {
        let mut out = String::new();
        for segment in &self.segments {
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
}

impl Extend<Segment> for FieldPath {
    fn extend<T: IntoIterator<Item = Segment>>(&mut self, segments: T) {
        self.segments.extend(segments);
    }
}

impl FromIterator<Segment> for FieldPath {
    fn from_iter<T: IntoIterator<Item = Segment>>(segments: T) -> Self {
        FieldPath { segments: segments.into_iter().collect() }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segments.is_empty() {
            return f.write_str("<nil>");
        }
        for (position, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Name(name) if name.is_empty() => f.write_str("[]")?,
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

/// Where a walk is: a list on the stack that becomes a [`FieldPath`] only when there is something
/// to say about the place.
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

    /// A walk that starts at a known path.
    pub fn at(base: &'a FieldPath) -> Self {
        Location { parent: None, step: Step::Base(Some(base)) }
    }

    /// The member `name` of this place.
    pub fn name(&'a self, name: &'a str) -> Self {
        Location { parent: Some(self), step: Step::Name(name) }
    }

    /// The map key `key` of this place.
    pub fn key(&'a self, key: &'a str) -> Self {
        Location { parent: Some(self), step: Step::Key(key) }
    }

    /// The list position `index` of this place.
    pub fn index(&'a self, index: usize) -> Self {
        Location { parent: Some(self), step: Step::Index(index) }
    }

    /// The place as a path.
    pub fn to_path(&self) -> FieldPath {
        let mut segments = Vec::new();
        let mut base = None;
        let mut place = Some(self);
        while let Some(current) = place {
            match current.step {
                Step::Base(path) => base = path,
                Step::Name(name) => segments.push(Segment::Name(name.to_owned())),
                Step::Key(key) => segments.push(Segment::Key(key.to_owned())),
                Step::Index(index) => segments.push(Segment::Index(index)),
            }
            place = current.parent;
        }
        if let Some(base) = base {
            segments.extend(base.segments.iter().rev().cloned());
        }
        segments.reverse();
        FieldPath { segments }
    }
}
