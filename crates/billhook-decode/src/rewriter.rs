//! The pass: JSON text in, decoded JSON text out, driven by the compiled schema, without a tree.
//!
//! Nothing is written until the first change; then unchanged stretches are copied whole. Pruning
//! (PR-10 to PR-23), null removal (DF-10) and defaulting (DF-20) happen while the text is read;
//! metadata is handled by `metadata`. Rare and refused text ends the pass, and a slower path takes
//! over.
//!
//! Positions are passed from function to function, so that they stay in registers, and code that
//! expected members do not need is kept out of line.

use billhook_apimachinery::TypeField;
use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::grow;
use billhook_defaulting::DefaultBudget;
use billhook_schema::walk::{Cause, Findings, LEVELS, NARROW, Narrow, Seen, Wide};
use billhook_schema::{
    Edge, Effects, NodeRef, PreviousProperty, PropertyRef, ResourceField, Unlisted,
};

use crate::duplicate_keys::OpenKeys;
use crate::fields::Fields;
use crate::metadata::{self, Fast, Normal};
use crate::output::Output;
use crate::prepared::{Prepared, PreparedDefaults};
use crate::reader::MAX_DEPTH;
use crate::removed_fields::RemovedFields;
use crate::report::{Notes, Place, Reported, Within};
use crate::scanner::{AnyKeys, Keys, Part, Scan, Step, Stop};
use crate::string;

/// The API version and kind that the top object must have.
pub(crate) struct Expected {
    /// Both as JSON strings.
    api_version: Vec<u8>,
    kind: Vec<u8>,
    /// The positions of the two members, if the schema knows them.
    positions: Option<[usize; 2]>,
}

impl Expected {
    pub(crate) fn new(root: NodeRef<'_>, api_version: &str, kind: &str) -> Self {
        let quoted = |text: &str| plain_json(&text.into()).into_bytes();
        let position = |name| root.property(name).map(PropertyRef::position);
        let positions = position("apiVersion").zip(position("kind")).map(<[usize; 2]>::from);
        Expected { api_version: quoted(api_version), kind: quoted(kind), positions }
    }
}

pub(crate) struct Pass<'t, 's> {
    scan: Scan<'t>,
    out: Output<'t>,
    keys: OpenKeys,
    notes: Notes<'s>,
    defaults: &'s PreparedDefaults,
    expected: &'s Expected,
    fields: &'s Fields,
    default_budget: DefaultBudget,
}

/// The result of a pass.
pub(crate) struct Done {
    pub(crate) buffer: Vec<u8>,
    /// Whether the decoded text is in the buffer; otherwise nothing changes.
    pub(crate) changed: bool,
    pub(crate) findings: Findings,
}

/// An object that is being read.
#[derive(Clone, Copy)]
struct Object<'s> {
    node: NodeRef<'s>,
    /// The number of levels that may be opened in it.
    left: usize,
}

impl Object<'_> {
    fn is_root(self) -> bool {
        self.left == MAX_DEPTH - 1
    }

    /// The reason to stop at a repeated member.
    #[cold]
    fn repeated(self, property: PropertyRef<'_>) -> Stop {
        let names_type = matches!(
            property.resource_field(),
            Some(ResourceField::ApiVersion | ResourceField::Kind)
        );
        if self.is_root() && names_type { Stop::OtherKind } else { Stop::Duplicate }
    }
}

/// A member that was not expected.
enum Found<'s> {
    /// The node knows it; its value is at the position and begins with the byte.
    Known(PropertyRef<'s>, usize, u8),
    /// It was passed up to the position.
    Passed(usize),
    /// It was passed and is to be removed.
    Removed(usize),
}

impl<'t, 's> Pass<'t, 's> {
    /// For a text that is UTF-8; `trusted` if it is known to have no repeated keys.
    pub(crate) fn new(
        text: &'t [u8],
        buffer: Vec<u8>,
        defaults: &'s PreparedDefaults,
        expected: &'s Expected,
        fields: &'s Fields,
        trusted: bool,
    ) -> Self {
        Pass {
            scan: Scan::new(text),
            out: Output::new(text, buffer),
            keys: OpenKeys::new(trusted),
            notes: Notes::new(None),
            defaults,
            expected,
            fields,
            default_budget: DefaultBudget::default(),
        }
    }

    /// The pass with notes, of which there are none by default.
    pub(crate) fn report(mut self, reported: Option<Reported>) -> Self {
        self.notes = Notes::new(reported);
        self
    }

    /// Reads the whole text, with `root` for its top object.
    pub(crate) fn run(mut self, root: NodeRef<'s>) -> Step<Done> {
        let (start, byte) = self.scan.token(0);
        if byte != b'{' {
            return Err(Stop::NotAnObject);
        }
        let end = self.object(start, root, MAX_DEPTH)?;
        if self.scan.token(end).0 != self.scan.text.len() {
            return Err(Stop::Invalid);
        }
        if self.scan.lone_surrogate {
            return Err(Stop::Duplicate);
        }
        let (buffer, changed) = self.out.finish();
        Ok(Done { buffer, changed, findings: self.notes.finish()? })
    }

    /// A value that is not null and begins with `byte`, at a node where something may change.
    #[inline(always)]
    fn value<'p>(
        &mut self,
        at: usize,
        byte: u8,
        edge: Edge<'s>,
        left: usize,
        place: impl FnOnce() -> Place<'p, 's>,
    ) -> Step {
        if byte == b'{' {
            let node = edge.node();
            if node.is_passive() {
                return self.scan.skip_object(at, &mut self.keys, left);
            }
            let end = self.object(at, node, left)?;
            self.notes.were_in(left, place);
            return Ok(end);
        }
        if byte == b'[' {
            let node = edge.node();
            if node.is_passive() {
                return self.scan.skip_array(at, &mut self.keys, left);
            }
            let end = self.array(at, node, left)?;
            self.notes.were_in(left, place);
            return Ok(end);
        }
        self.scan.skip_scalar(at, byte)
    }

    fn array(&mut self, at: usize, node: NodeRef<'s>, left: usize) -> Step {
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        if left % LEVELS == 0 {
            return grow(|| self.elements(at + 1, node, left));
        }
        self.elements(at + 1, node, left)
    }

    /// The elements of a list whose opening bracket was read.
    #[inline(always)]
    fn elements(&mut self, at: usize, node: NodeRef<'s>, left: usize) -> Step {
        let (mut at, mut byte) = self.scan.token(at);
        if byte == b']' {
            return Ok(at + 1);
        }
        let edge = node.items();
        let mut index = 0;
        loop {
            let place = || Place { node, left, part: Within::Element(index) };
            let end = if byte == b'n' {
                self.null_element(at, edge, place())?
            } else {
                self.value(at, byte, edge, left, place)?
            };
            index += 1;
            match self.scan.next_part(end, b']')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => return Ok(end),
            }
        }
    }

    #[inline(never)]
    fn null_element(&mut self, at: usize, edge: Edge<'s>, place: Place<'_, 's>) -> Step {
        let end = self.scan.skip_literal(at, b"null")?;
        if !edge.is_nullable() && edge.default().is_some() {
            let default = self.prepared(edge)?;
            self.out.replace(at..end, default.value());
            self.notes.defaulted(edge, Cause::NullElement, place)?;
        }
        Ok(end)
    }

    #[inline(always)]
    fn object(&mut self, at: usize, node: NodeRef<'s>, left: usize) -> Step {
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        let count = node.property_count();
        if left % LEVELS == 0 || !(1..=NARROW).contains(&count) {
            return self.other_object(at, node, left);
        }
        self.members::<Narrow>(at + 1, node, left)
    }

    #[inline(never)]
    fn other_object(&mut self, at: usize, node: NodeRef<'s>, left: usize) -> Step {
        let start = at + 1;
        let walk = |pass: &mut Self| match (node.property_count(), node.unlisted()) {
            (0, Unlisted::Descend(edge)) => pass.map(start, node, edge, left),
            (0..=NARROW, _) => pass.members::<Narrow>(start, node, left),
            _ => pass.members::<Wide>(start, node, left),
        };
        if left.is_multiple_of(LEVELS) { grow(|| walk(self)) } else { walk(self) }
    }

    /// Passes the members of an object of which none is known by name.
    fn map(&mut self, start: usize, node: NodeRef<'s>, edge: Edge<'s>, left: usize) -> Step {
        let keys = self.keys.open();
        // Behind the last member that was kept; the start if none was.
        let mut kept_end = start;
        let (mut at, mut byte) = self.scan.token(start);
        if byte == b'}' {
            return Ok(at + 1);
        }
        loop {
            let (end, escaped) = self.scan.skip_key(at, byte)?;
            let key = self.scan.slice(at + 1, end - 1);
            self.keys.key(&keys, key, escaped)?;
            let place = || Place { node, left, part: Within::Unlisted(key) };
            let (value, first) = self.scan.skip_colon(end)?;
            let (end, is_kept) = self.member_value(value, first, edge, left, place)?;
            if is_kept {
                kept_end = end;
            } else {
                self.cut_member((start, kept_end), end);
            }
            match self.scan.next_part(end, b'}')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => {
                    self.keys.close(keys);
                    return Ok(end);
                }
            }
        }
    }

    /// Leaves out a member that ends at `end`; `kept` is where the members begin and where those
    /// that are kept end.
    #[inline(never)]
    fn cut_member(&mut self, kept: (usize, usize), end: usize) {
        self.out.cut_member(kept, end, self.scan.comma_end(end));
    }

    /// The members of an object whose opening brace was read.
    #[inline(never)]
    fn members<S: Seen>(&mut self, start: usize, node: NodeRef<'s>, left: usize) -> Step {
        let object = Object { node, left };
        let keys = self.keys.open();
        let mut seen = S::new(node.property_count());
        let mut previous = PreviousProperty::NONE;
        let mut expected = node.expected_first();
        // Behind the last member that was kept; the start if none was.
        let mut kept_end = start;
        let (mut at, mut byte) = self.scan.token(start);
        while byte != b'}' {
            let found = match self.scan.expected(node, expected, at) {
                Some((property, value, byte)) => Found::Known(property, value, byte),
                None => self.look_up(object, &keys, previous, at, byte)?,
            };
            let (end, is_kept) = match found {
                Found::Known(property, value, byte) => {
                    if !seen.insert(property.position()) {
                        return Err(object.repeated(property));
                    }
                    previous = property.as_previous();
                    expected = property.expected_next();
                    self.known(object, property, value, byte)?
                }
                Found::Passed(end) => (end, true),
                Found::Removed(end) => (end, false),
            };
            if is_kept {
                kept_end = end;
                if self.scan.is_next_key(end) {
                    (at, byte) = (end + 1, b'"');
                    continue;
                }
            } else {
                self.cut_member((start, kept_end), end);
            }
            (at, byte) = self.scan.token(end);
            if byte == b',' {
                (at, byte) = self.scan.token(at + 1);
                // A comma promises a member.
                if byte == b'"' {
                    continue;
                }
            } else if byte == b'}' {
                break;
            }
            return Err(Stop::Invalid);
        }
        if seen.lacks_defaulted(node) {
            self.insert_missing(object, &seen, kept_end == start, at)?;
        }
        if object.is_root() {
            self.check_root(&seen)?;
        }
        self.keys.close(keys);
        Ok(at + 1)
    }

    #[inline(never)]
    fn look_up(
        &mut self,
        object: Object<'s>,
        keys: &usize,
        previous: PreviousProperty,
        at: usize,
        byte: u8,
    ) -> Step<Found<'s>> {
        let Object { node, left } = object;
        let (end, escaped) = self.scan.skip_key(at, byte)?;
        let key = self.scan.slice(at + 1, end - 1);
        let (value, byte) = self.scan.skip_colon(end)?;
        let content;
        let name = if escaped {
            content = string::unescaped(key);
            content.as_bytes()
        } else {
            key
        };
        if node.property_count() > 0
            && let Some(property) = node.property_named(name)
        {
            node.learn(previous, property);
            return Ok(Found::Known(property, value, byte));
        }
        // A server takes it for one of these two if only the case of letters differs.
        if object.is_root()
            && std::str::from_utf8(name).is_ok_and(|name| TypeField::of(name).is_some())
        {
            return Err(Stop::OtherKind);
        }
        let place = || Place { node, left, part: Within::Unlisted(key) };
        match node.unlisted() {
            Unlisted::Remove if self.notes.are_wanted() => {
                // Repeated keys are reported even in removed parts.
                self.keys.key(keys, key, escaped)?;
                let end = self.scan.skip_value(value, byte, &mut self.keys, left)?;
                let removed = self.scan.slice(value, end);
                self.notes.pruned(removed, place())?;
                Ok(Found::Removed(end))
            }
            Unlisted::Remove => {
                Ok(Found::Removed(self.scan.skip_value(value, byte, &mut AnyKeys, left)?))
            }
            Unlisted::Keep => {
                self.keys.key(keys, key, escaped)?;
                Ok(Found::Passed(self.scan.skip_value(value, byte, &mut self.keys, left)?))
            }
            Unlisted::Descend(edge) => {
                self.keys.key(keys, key, escaped)?;
                let (end, is_kept) = self.member_value(value, byte, edge, left, place)?;
                Ok(if is_kept { Found::Passed(end) } else { Found::Removed(end) })
            }
        }
    }

    /// Passes the value of a member that the node knows by name; returns the position after it and
    /// whether it is kept.
    #[inline(always)]
    fn known(
        &mut self,
        object: Object<'s>,
        property: PropertyRef<'s>,
        at: usize,
        byte: u8,
    ) -> Step<(usize, bool)> {
        let Object { node, left } = object;
        let place = || Place { node, left, part: Within::Known(property) };
        match property.resource_field() {
            None => self.member_value(at, byte, property.edge(), left, place),
            Some(field) => {
                Ok((self.resource_field(at, object, field, property.edge(), place())?, true))
            }
        }
    }

    #[inline(always)]
    fn member_value<'p>(
        &mut self,
        at: usize,
        byte: u8,
        edge: Edge<'s>,
        left: usize,
        place: impl FnOnce() -> Place<'p, 's>,
    ) -> Step<(usize, bool)> {
        if byte == b'"' {
            return Ok((self.scan.skip_string(at)?, true));
        }
        if byte == b'n' {
            return self.null_member(at, edge, place());
        }
        Ok((self.value(at, byte, edge, left, place)?, true))
    }

    #[inline(never)]
    fn null_member(
        &mut self,
        at: usize,
        edge: Edge<'s>,
        place: Place<'_, 's>,
    ) -> Step<(usize, bool)> {
        let end = self.scan.skip_literal(at, b"null")?;
        if edge.is_nullable() {
            return Ok((end, true));
        }
        if edge.default().is_none() {
            self.notes.null_removed(edge, place);
            return Ok((end, false));
        }
        let default = self.prepared(edge)?;
        self.out.replace(at..end, default.value());
        let cause = if place.is_listed() { Cause::NullField } else { Cause::NullMember };
        self.notes.defaulted(edge, cause, place)?;
        Ok((end, true))
    }

    #[inline(never)]
    fn resource_field(
        &mut self,
        at: usize,
        object: Object<'s>,
        field: ResourceField,
        edge: Edge<'s>,
        place: Place<'_, 's>,
    ) -> Step {
        let expected = match field {
            ResourceField::ApiVersion => &self.expected.api_version,
            ResourceField::Kind => &self.expected.kind,
            ResourceField::Metadata => {
                return self.metadata(at, object, edge.node(), place);
            }
        };
        if object.is_root() {
            let end = at + expected.len();
            return if self.scan.slice(at, end) == expected {
                Ok(end)
            } else {
                Err(Stop::OtherKind)
            };
        }
        if self.scan.byte(at) != b'"' {
            return Err(Stop::EmbeddedResource);
        }
        self.scan.skip_string(at)
    }

    fn metadata(
        &mut self,
        at: usize,
        object: Object<'s>,
        node: NodeRef<'s>,
        place: Place<'_, 's>,
    ) -> Step {
        if node.can(Effects::COERCE) {
            return Err(Stop::Metadata);
        }
        if !node.can(Effects::DEFAULT) {
            let (keys, out) = (self.keys.mark(), self.out.mark());
            let mut fast = Fast {
                scan: &mut self.scan,
                keys: &mut self.keys,
                out: &mut self.out,
                removed: self.notes.are_wanted().then(RemovedFields::default),
            };
            if let Some(end) = fast.metadata(self.fields, at, object.left)? {
                let removed = fast.removed.unwrap_or_default();
                if let Some((written, decoded)) = removed.into_difference()? {
                    let normal = Normal { written, decoded, text: None };
                    self.notes.metadata(object.is_root(), node, normal, place)?;
                }
                return Ok(end);
            }
            self.keys.forget_since(keys);
            self.out.return_to(&out);
        }
        let byte = self.scan.byte(at);
        let end = self.scan.skip_value(at, byte, &mut self.keys, object.left)?;
        let written = self.scan.slice(at, end);
        let budget = &mut self.default_budget;
        let normal = metadata::normalize(written, node, object.is_root(), object.left, budget)?;
        if let Some(text) = &normal.text {
            self.out.replace(at..end, text.as_bytes());
        }
        if normal.text.is_some() {
            self.notes.metadata(object.is_root(), node, normal, place)?;
        }
        Ok(end)
    }

    /// Writes the defaults of members that were missing, before the closing brace.
    #[inline(never)]
    fn insert_missing(
        &mut self,
        Object { node, left }: Object<'s>,
        seen: &impl Seen,
        mut is_first: bool,
        at: usize,
    ) -> Step<()> {
        for property in seen.missing(node) {
            if property.edge().default_id().is_none() {
                continue;
            }
            let default = self.prepared(property.edge())?;
            self.out.insert(at, default.member(is_first));
            is_first = false;
            let place = Place { node, left, part: Within::Known(property) };
            self.notes.defaulted(property.edge(), Cause::Missing, place)?;
        }
        Ok(())
    }

    fn prepared(&mut self, edge: Edge<'s>) -> Step<&'s Prepared> {
        let prepared = self.defaults.get(edge).ok_or(Stop::Defaults)?;
        self.default_budget.spend(prepared.size).map_err(|_| Stop::Defaults)?;
        Ok(prepared)
    }

    /// Without these two the object is another one than the schema is for.
    fn check_root(&self, seen: &impl Seen) -> Step<()> {
        match self.expected.positions {
            Some(positions) if positions.iter().all(|position| seen.contains(*position)) => Ok(()),
            _ => Err(Stop::OtherKind),
        }
    }
}
