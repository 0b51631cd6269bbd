//! From nodes to a JSON value: merge keys, keys of other types than strings, repeated keys.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::{DeepValue, dismantle};
use billhook_apimachinery::{Span, SpanId, SpansBuilder, TreeBudget, TreeTooLargeError};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::MAX_DEPTH;
use crate::aliases::Feed;
use crate::duplicate::{Duplicate, Part, Step};
use crate::error::{YamlError, depth_problem};
use crate::place::Place;
use crate::scalar::{Resolved, Scalar};
use crate::source::Kind;

/// A document that was read.
pub(crate) struct Built {
    pub(crate) value: DeepValue,
    pub(crate) duplicates: Vec<Duplicate>,
    pub(crate) spans: Option<SpansBuilder>,
    /// The place of the top.
    pub(crate) place: Place,
}

/// Reads the value of a document.
pub(crate) fn build(
    feed: &mut Feed<'_, '_>,
    memory: &mut TreeBudget,
    with_spans: bool,
) -> Result<Built, YamlError> {
    let spans = with_spans.then(SpansBuilder::default);
    let builder = Builder { frames: Vec::new(), depth: 0, duplicates: Vec::new(), spans, memory };
    builder.run(feed)
}

/// A finished value and the part of it that JSON cannot hold, which counts only if the value is not
/// replaced by a later one.
struct Done {
    value: Value,
    bad: Option<YamlError>,
    place: Place,
    id: SpanId,
}

/// A key that waits for its value.
struct Key {
    text: String,
    /// The key itself if it is not a string.
    other: Option<Resolved<'static>>,
    span: Span,
    bad: Option<YamlError>,
}

/// The next thing that a mapping expects.
enum Next {
    Key,
    Value(Key),
    /// A mapping to merge, or a list of them.
    Merge,
    /// So many mappings to merge.
    Merges(usize),
}

/// An open collection.
enum Frame {
    List(List),
    Object(Box<Object>),
    /// A mapping that goes into the object with this number.
    Merge {
        target: usize,
        next: Next,
    },
}

impl Frame {
    fn head(&mut self) -> Option<&mut Head> {
        match self {
            Frame::List(list) => Some(&mut list.head),
            Frame::Object(object) => Some(&mut object.head),
            Frame::Merge { .. } => None,
        }
    }

    fn step(&self) -> Option<&Arc<Step>> {
        match self {
            Frame::List(list) => list.head.step.as_ref(),
            Frame::Object(object) => object.head.step.as_ref(),
            Frame::Merge { .. } => None,
        }
    }
}

struct List {
    items: DeepValues,
    bad: Option<YamlError>,
    head: Head,
}

struct Object {
    members: DeepMembers,
    next: Next,
    /// Members that JSON cannot hold.
    bad: HashMap<String, YamlError>,
    /// A key that JSON cannot hold.
    bad_key: Option<YamlError>,
    /// The keys that are set, once there was one that is not a string.
    keys: Option<Box<Keys>>,
    head: Head,
}

/// The common part of all open collections.
struct Head {
    place: Place,
    id: SpanId,
    /// The path to here, once something was said about a place further in.
    step: Option<Arc<Step>>,
}

#[derive(Default)]
struct Keys {
    strings: HashSet<String>,
    others: HashSet<(std::mem::Discriminant<Resolved<'static>>, String)>,
}

/// Values that are dropped without recursion.
#[derive(Default)]
struct DeepValues(Vec<Value>);

impl Drop for DeepValues {
    fn drop(&mut self) {
        dismantle(Value::Array(std::mem::take(&mut self.0)));
    }
}

/// Members that are dropped without recursion.
#[derive(Default)]
struct DeepMembers(Map<String, Value>);

impl Drop for DeepMembers {
    fn drop(&mut self) {
        dismantle(Value::Object(std::mem::take(&mut self.0)));
    }
}

struct Builder<'m> {
    frames: Vec<Frame>,
    /// The number of them that are levels of the value.
    depth: usize,
    duplicates: Vec<Duplicate>,
    spans: Option<SpansBuilder>,
    memory: &'m mut TreeBudget,
}

impl Builder<'_> {
    fn run(mut self, feed: &mut Feed<'_, '_>) -> Result<Built, YamlError> {
        loop {
            let node = feed.next()?;
            if let Kind::End = node.kind {
                let Some(done) = self.close(feed.place(), node.span.end)? else { continue };
                if let Some(built) = self.put(done)? {
                    return Ok(built);
                }
                continue;
            }
            match self.awaited() {
                Some(Next::Key) => self.key(node.kind, node.place, node.span)?,
                Some(Next::Merge | Next::Merges(_)) => {
                    self.merge(&node.kind, node.aliased, node.place, feed)?;
                }
                _ => {
                    if let Some(done) = self.open(node.kind, node.place, node.span)?
                        && let Some(built) = self.put(done)?
                    {
                        return Ok(built);
                    }
                }
            }
        }
    }

    /// Returns the thing that the innermost open collection expects, if it is a mapping.
    fn awaited(&mut self) -> Option<&mut Next> {
        match self.frames.last_mut()? {
            Frame::List(_) => None,
            Frame::Object(object) => Some(&mut object.next),
            Frame::Merge { next, .. } => Some(next),
        }
    }

    /// Starts a value; a scalar is done at once.
    fn open(
        &mut self,
        kind: Kind<'_>,
        place: Place,
        span: Span,
    ) -> Result<Option<Done>, YamlError> {
        let key = match self.awaited() {
            Some(Next::Value(key)) => Some((key.span, key.text.len())),
            _ => None,
        };
        let paid = match key {
            Some((_, length)) => self.memory.member(length),
            None => self.memory.item(),
        };
        paid.map_err(|error| too_large(error, place))?;
        let key = key.map(|(span, _)| span);
        let id = self.spans.as_mut().map(|spans| spans.value(key, span)).unwrap_or_default();
        let head = Head { place, id, step: None };
        let frame = match kind {
            Kind::Scalar(scalar) => {
                let resolved = resolve(scalar, place)?;
                let (value, bad) = match resolved.into_value() {
                    Ok(value) => (value, None),
                    Err(message) => (Value::Null, Some(YamlError::plain(place, message))),
                };
                return Ok(Some(Done { value, bad, place, id }));
            }
            Kind::Sequence => Frame::List(List { items: DeepValues::default(), bad: None, head }),
            _ => Frame::Object(Box::new(Object {
                members: DeepMembers::default(),
                next: Next::Key,
                bad: HashMap::new(),
                bad_key: None,
                keys: None,
                head,
            })),
        };
        if self.depth == MAX_DEPTH {
            return Err(YamlError::plain(place, format!("yaml: {}", depth_problem())));
        }
        if matches!(frame, Frame::Object(_)) {
            self.memory.object().map_err(|error| too_large(error, place))?;
        }
        self.depth += 1;
        self.frames.push(frame);
        Ok(None)
    }

    /// Ends the innermost collection. A merged mapping is not a value of its own.
    fn close(&mut self, place: Place, end: usize) -> Result<Option<Done>, YamlError> {
        let done = match self.frames.pop() {
            Some(Frame::List(mut list)) => {
                let value = Value::Array(std::mem::take(&mut list.items.0));
                let Head { place, id, .. } = list.head;
                Done { value, bad: list.bad.take(), place, id }
            }
            Some(Frame::Object(mut object)) => {
                let value = Value::Object(std::mem::take(&mut object.members.0));
                let bad = object.bad.drain().map(|(_, error)| error).chain(object.bad_key.take());
                let bad = bad.min_by_key(|error| (error.line(), error.column()));
                let Head { place, id, .. } = object.head;
                Done { value, bad, place, id }
            }
            Some(Frame::Merge { .. }) => {
                self.merged();
                return Ok(None);
            }
            None => {
                return Err(YamlError::plain(place, "yaml: did not find expected node content"));
            }
        };
        self.depth -= 1;
        if let Some(spans) = &mut self.spans {
            spans.end(done.id, end);
        }
        Ok(Some(done))
    }

    /// Puts a finished value where it belongs; the top finishes the document.
    fn put(&mut self, done: Done) -> Result<Option<Built>, YamlError> {
        match self.frames.last_mut() {
            None => {
                let value = DeepValue::from(done.value);
                return match done.bad {
                    Some(error) => Err(error),
                    None => Ok(Some(Built {
                        value,
                        duplicates: std::mem::take(&mut self.duplicates),
                        spans: self.spans.take(),
                        place: done.place,
                    })),
                };
            }
            Some(Frame::List(list)) => {
                list.items.0.push(done.value);
                list.bad = list.bad.take().or(done.bad);
                if let Some(spans) = &mut self.spans {
                    spans.item(list.head.id, done.id);
                }
            }
            Some(Frame::Object(_) | Frame::Merge { .. }) => self.put_member(done),
        }
        Ok(None)
    }

    fn put_member(&mut self, done: Done) {
        let Some(next) = self.awaited() else { return };
        let Next::Value(key) = std::mem::replace(next, Next::Key) else { return };
        let target = match self.frames.last() {
            Some(Frame::Merge { target, .. }) => *target,
            _ => self.frames.len() - 1,
        };
        let Some(Frame::Object(object)) = self.frames.get_mut(target) else { return };
        let mut repeated = object.sets_again(&key).then(|| key.text.clone());
        if key.bad.is_some() {
            object.bad_key = object.bad_key.take().or(key.bad);
            dismantle(done.value);
        } else {
            if let Some(spans) = &mut self.spans {
                spans.member(object.head.id, &key.text, done.id);
            }
            if !object.bad.is_empty() {
                object.bad.remove(&key.text);
            }
            if let Some(error) = done.bad {
                object.bad.insert(key.text.clone(), error);
            }
            let has_only_strings = object.keys.is_none() && key.other.is_none();
            match object.members.0.entry(key.text) {
                Entry::Vacant(place) => _ = place.insert(done.value),
                Entry::Occupied(mut place) => {
                    if has_only_strings {
                        repeated = Some(place.key().clone());
                    }
                    dismantle(place.insert(done.value));
                }
            }
        }
        if let Some(name) = repeated {
            let printed = key.other.map_or_else(|| quote(&name), |other| other.printed());
            let step = Step::new(self.step_to(target), Part::Name(name));
            self.duplicates.push(Duplicate::new(printed, done.place.line, step));
        }
    }

    /// Returns the path to an open collection; `None` for the top. Continues from the part that is
    /// known already.
    fn step_to(&mut self, target: usize) -> Option<Arc<Step>> {
        let frames = self.frames.get_mut(..=target).unwrap_or_default();
        let known = frames.iter().rposition(|frame| frame.step().is_some()).unwrap_or_default();
        let mut parent = None;
        let mut segment = None;
        for frame in frames.iter_mut().skip(known) {
            if let Frame::Merge { next, .. } = frame {
                segment = next_name(next);
                continue;
            }
            let inner = match frame {
                Frame::List(list) => Some(Part::Index(list.items.0.len())),
                Frame::Object(object) => next_name(&object.next),
                Frame::Merge { .. } => None,
            };
            if let (Some(head), Some(segment)) = (frame.head(), segment) {
                head.step = Some(Arc::new(Step::new(parent, segment)));
            }
            parent = frame.step().cloned();
            segment = inner;
        }
        parent
    }

    /// Takes a node as the key of the innermost mapping.
    fn key(&mut self, kind: Kind<'_>, place: Place, span: Span) -> Result<(), YamlError> {
        let scalar = match kind {
            Kind::Scalar(scalar) => scalar,
            Kind::Sequence => {
                return Err(YamlError::plain(place, "yaml: invalid map key: []interface {}{…}"));
            }
            _ => {
                let message = "yaml: invalid map key: map[interface {}]interface {}{…}";
                return Err(YamlError::plain(place, message));
            }
        };
        let Some(next) = self.awaited() else { return Ok(()) };
        if scalar.is_merge() {
            *next = Next::Merge;
            return Ok(());
        }
        let (text, bad, other) = match resolve(scalar, place)? {
            Resolved::Text(text) => (text.into_owned(), None, None),
            other => match other.key_text() {
                Ok(text) => (text, None, Some(into_owned(other))),
                Err(message) => {
                    let error = YamlError::plain(place, message);
                    (String::new(), Some(error), Some(into_owned(other)))
                }
            },
        };
        *next = Next::Value(Key { text, other, span, bad });
        Ok(())
    }

    /// Takes a node to merge. As in the server, members that are set before the merge are set again
    /// by it.
    fn merge(
        &mut self,
        kind: &Kind<'_>,
        aliased: bool,
        place: Place,
        feed: &mut Feed<'_, '_>,
    ) -> Result<(), YamlError> {
        let may_be_list = !aliased && matches!(self.awaited(), Some(Next::Merge));
        match kind {
            Kind::Mapping => {
                let target = match self.frames.last() {
                    Some(Frame::Merge { target, .. }) => *target,
                    _ => self.frames.len() - 1,
                };
                self.frames.push(Frame::Merge { target, next: Next::Key });
                Ok(())
            }
            Kind::Sequence if may_be_list => {
                let left = feed.reverse_list()?;
                if let Some(next) = self.awaited() {
                    *next = if left == 0 { Next::Key } else { Next::Merges(left) };
                }
                Ok(())
            }
            _ => Err(YamlError::plain(
                place,
                "yaml: map merge requires map or sequence of maps as the value",
            )),
        }
    }

    /// Counts down the nodes that are left to merge.
    fn merged(&mut self) {
        if let Some(next) = self.awaited() {
            *next = match next {
                Next::Merges(left) if *left > 1 => Next::Merges(*left - 1),
                _ => Next::Key,
            };
        }
    }
}

impl Object {
    /// Notes that a key is set; whether it was set before. Keys of different types are different
    /// keys even where their text is the same. As long as all are strings, the members tell.
    fn sets_again(&mut self, key: &Key) -> bool {
        let Some(other) = &key.other else {
            let keys = self.keys.as_mut();
            return keys.is_some_and(|keys| !keys.strings.insert(key.text.clone()));
        };
        let printed = match other {
            Resolved::Float(float) if float.is_nan() => return false,
            Resolved::Float(0.0) => "0".to_owned(),
            other => other.printed(),
        };
        let keys = self.keys.get_or_insert_with(|| {
            let strings = self.members.0.keys().cloned().collect();
            Box::new(Keys { strings, others: HashSet::new() })
        });
        !keys.others.insert((std::mem::discriminant(other), printed))
    }
}

fn too_large(error: TreeTooLargeError, place: Place) -> YamlError {
    YamlError::plain(place, error.to_string())
}

fn next_name(next: &Next) -> Option<Part> {
    match next {
        Next::Value(key) => Some(Part::Name(key.text.clone())),
        _ => None,
    }
}

fn resolve<'t>(scalar: Scalar<'t>, place: Place) -> Result<Resolved<'t>, YamlError> {
    scalar.resolve().map_err(|message| YamlError::plain(place, message))
}

fn into_owned(resolved: Resolved<'_>) -> Resolved<'static> {
    match resolved {
        Resolved::Null => Resolved::Null,
        Resolved::Bool(value) => Resolved::Bool(value),
        Resolved::Int(int) => Resolved::Int(int),
        Resolved::Uint(int) => Resolved::Uint(int),
        Resolved::Float(float) => Resolved::Float(float),
        Resolved::Text(text) => Resolved::Text(text.into_owned().into()),
    }
}
