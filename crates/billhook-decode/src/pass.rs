//! The pass: JSON text in, cleaned JSON text out, driven by the compiled schema, without a tree.
//!
//! Nothing is written until the first change; then unchanged stretches are copied whole. Pruning
//! (PR-10 to PR-23), null removal (DF-10) and defaulting (DF-20) happen while the text is read,
//! metadata takes the way of `metadata`. Whatever is rare or refused ends the pass, and a slower
//! path takes over.

use billhook_defaulting::MAX_DEFAULTED_VALUES;
use billhook_schema::value::grow;
use billhook_schema::{Edge, NodeRef, PropertyRef, ResourceField, Unlisted};

use crate::keys::{KeyFrame, OpenKeys};
use crate::metadata;
use crate::output::Output;
use crate::prepared::{Prepared, PreparedDefaults};
use crate::read::MAX_DEPTH;
use crate::scan::{Keys, LEVELS, Scan, Step, Stop};
use crate::seen::{Seen, SeenFrame};
use crate::text;

/// What the top object must say it is, as JSON strings.
pub(crate) struct Expected {
    pub(crate) api_version: Vec<u8>,
    pub(crate) kind: Vec<u8>,
}

pub(crate) struct Pass<'t, 's> {
    scan: Scan<'t>,
    out: Output<'t>,
    keys: OpenKeys,
    seen: Seen,
    defaults: &'s PreparedDefaults,
    expected: &'s Expected,
    defaulted_values_left: usize,
}

/// An object that is being read.
struct Object<'s> {
    node: NodeRef<'s>,
    is_root: bool,
    left: usize,
    /// Behind the opening brace.
    start: usize,
    /// Behind the last member that was kept.
    kept_end: Option<usize>,
    previous: Option<PropertyRef<'s>>,
    /// Whether the node knows more members than `seen` has bits.
    is_wide: bool,
    seen: u64,
    keys: KeyFrame,
}

/// How many expected members are compared before one is looked up.
const GUESSES: usize = 3;

/// What becomes of a member.
enum Fate {
    Keep,
    Remove,
}

impl<'t, 's> Pass<'t, 's> {
    /// Reads a whole document; gives the cleaned text, or none if nothing changes.
    pub(crate) fn run(
        text: &'t [u8],
        root: NodeRef<'s>,
        defaults: &'s PreparedDefaults,
        expected: &'s Expected,
        trusted: bool,
    ) -> Step<Option<Vec<u8>>> {
        let mut pass = Pass {
            scan: Scan::new(text),
            out: Output::new(text),
            keys: OpenKeys::new(trusted),
            seen: Seen::default(),
            defaults,
            expected,
            defaulted_values_left: MAX_DEFAULTED_VALUES,
        };
        pass.scan.skip_space();
        if pass.scan.peek() != Some(b'{') {
            return Err(Stop::Tree);
        }
        pass.scan.at += 1;
        pass.object(root, true, MAX_DEPTH - 1)?;
        pass.scan.skip_space();
        if pass.scan.at != text.len() {
            return Err(Stop::Invalid);
        }
        if pass.scan.lone_surrogate {
            return Err(Stop::Duplicate);
        }
        Ok(pass.out.finish())
    }

    /// A value that is not null, at a node where something can change.
    #[inline]
    fn value(&mut self, node: NodeRef<'s>, left: usize) -> Step {
        let open = self.scan.peek();
        if !matches!(open, Some(b'{' | b'[')) {
            return self.scan.skip_scalar();
        }
        if node.is_passive() {
            return self.scan.skip_value(&mut self.keys, left);
        }
        let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
        self.scan.at += 1;
        let walk = |pass: &mut Self| match open {
            Some(b'{') => pass.object(node, false, left),
            _ => pass.array(node, left),
        };
        if left % LEVELS == 0 { grow(|| walk(self)) } else { walk(self) }
    }

    /// The elements of a list whose opening bracket was read.
    fn array(&mut self, node: NodeRef<'s>, left: usize) -> Step {
        self.scan.skip_space();
        if self.scan.peek() == Some(b']') {
            self.scan.at += 1;
            return Ok(());
        }
        let edge = node.items();
        let node = edge.node();
        loop {
            if self.scan.peek() == Some(b'n') {
                self.null_element(edge)?;
            } else {
                self.value(node, left)?;
            }
            if !self.scan.more_before(b']')? {
                return Ok(());
            }
        }
    }

    fn null_element(&mut self, edge: Edge<'s>) -> Step {
        let start = self.scan.at;
        self.scan.skip_literal(b"null")?;
        if !edge.is_nullable() && edge.default().is_some() {
            let default = self.prepared(edge)?;
            self.out.replace(start..self.scan.at, default.value());
        }
        Ok(())
    }

    /// The members of an object whose opening brace was read.
    fn object(&mut self, node: NodeRef<'s>, is_root: bool, left: usize) -> Step {
        let mut object = Object {
            node,
            is_root,
            left,
            start: self.scan.at,
            kept_end: None,
            previous: None,
            is_wide: node.property_count() > 64,
            seen: 0,
            keys: self.keys.open(),
        };
        let wide_count = if object.is_wide { node.property_count() } else { 0 };
        let seen = self.seen.open(wide_count);
        self.scan.skip_space();
        if self.scan.peek() == Some(b'}') {
            self.insert_missing(&mut object, &seen)?;
        } else {
            self.members(&mut object, &seen)?;
        }
        if is_root {
            self.check_root(&object, &seen)?;
        }
        self.scan.at += 1;
        self.seen.close(&seen);
        self.keys.close(object.keys);
        Ok(())
    }

    /// Reads members up to the closing brace.
    #[inline]
    fn members(&mut self, object: &mut Object<'s>, seen: &SeenFrame) -> Step {
        loop {
            let fate = self.member(object, seen)?;
            let end = self.scan.at;
            let mut next = self.scan.peek();
            if !matches!(next, Some(b',' | b'}')) {
                self.scan.skip_space();
                next = self.scan.peek();
            }
            match fate {
                Fate::Keep => object.kept_end = Some(end),
                Fate::Remove => {
                    // The comma before goes with the member; before the first kept member there
                    // is none, so the one behind goes.
                    let leading = object.kept_end.is_none() && next == Some(b',');
                    let from = object.kept_end.unwrap_or(object.start);
                    self.out.cut(from..if leading { self.scan.at + 1 } else { end });
                }
            }
            match next {
                Some(b',') => self.scan.at += 1,
                Some(b'}') => return self.insert_missing(object, seen),
                _ => return Err(Stop::Invalid),
            }
            if self.scan.peek() != Some(b'"') {
                self.scan.skip_space();
            }
        }
    }

    #[inline]
    fn member(&mut self, object: &mut Object<'s>, seen: &SeenFrame) -> Step<Fate> {
        let node = object.node;
        // What followed last time may be missing this time; then what followed that is likely.
        let mut expected = node.expected_after(object.previous);
        for _ in 0..GUESSES {
            let Some(property) = expected else { break };
            if let Some(length) = property.spelled_at(self.scan.text, self.scan.at) {
                self.scan.at += length;
                return self.known(object, property, seen);
            }
            expected = node.expected_after(expected);
        }
        self.looked_up(object, seen)
    }

    /// A member that was not expected. This and what else is not on the way of expected members
    /// is kept out of line, so that the way itself stays short.
    #[inline(never)]
    fn looked_up(&mut self, object: &mut Object<'s>, seen: &SeenFrame) -> Step<Fate> {
        let node = object.node;
        if self.scan.peek() != Some(b'"') {
            return Err(Stop::Invalid);
        }
        let start = self.scan.at + 1;
        let escaped = self.scan.skip_string()?;
        let key = self.scan.slice(start, self.scan.at - 1);
        let property = if escaped {
            let content = text::string(self.scan.text, start).map_err(|_| Stop::Invalid)?.0;
            node.property(&content)
        } else {
            node.property_named(key)
        };
        match property {
            Some(property) => {
                node.learn(object.previous, property);
                self.known(object, property, seen)
            }
            None => self.unlisted(object, key, escaped),
        }
    }

    #[inline]
    fn colon(&mut self) -> Step {
        if self.scan.peek() != Some(b':') {
            self.scan.skip_space();
        }
        self.scan.expect(b':')?;
        if self.scan.peek().is_none_or(|byte| byte <= b' ') {
            self.scan.skip_space();
        }
        Ok(())
    }

    /// The value of a member that the node knows by name.
    #[inline]
    fn known(
        &mut self,
        object: &mut Object<'s>,
        property: PropertyRef<'s>,
        seen: &SeenFrame,
    ) -> Step<Fate> {
        let position = object.node.position(property);
        if object.is_wide {
            if !self.seen.insert(seen, position) {
                return Err(Stop::Duplicate);
            }
        } else {
            let bit = 1 << (position % 64);
            if object.seen & bit != 0 {
                return Err(Stop::Duplicate);
            }
            object.seen |= bit;
        }
        object.previous = Some(property);
        self.colon()?;
        if let Some(field) = property.resource_field() {
            return self.resource_field(object, field, property.edge()).map(|()| Fate::Keep);
        }
        self.member_value(property.edge(), object.left)
    }

    fn unlisted(&mut self, object: &mut Object<'s>, key: &[u8], escaped: bool) -> Step<Fate> {
        self.colon()?;
        match object.node.unlisted() {
            Unlisted::Remove => {
                self.scan.skip_value(&mut crate::scan::AnyKeys, object.left)?;
                Ok(Fate::Remove)
            }
            Unlisted::Keep => {
                self.keys.key(&mut object.keys, key, escaped)?;
                self.scan.skip_value(&mut self.keys, object.left)?;
                Ok(Fate::Keep)
            }
            Unlisted::Descend(edge) => {
                self.keys.key(&mut object.keys, key, escaped)?;
                self.member_value(edge, object.left)
            }
        }
    }

    #[inline]
    fn member_value(&mut self, edge: Edge<'s>, left: usize) -> Step<Fate> {
        match self.scan.peek() {
            Some(b'"') => self.scan.skip_string().map(|_| Fate::Keep),
            Some(b'n') => self.null_member(edge),
            _ => self.value(edge.node(), left).map(|()| Fate::Keep),
        }
    }

    #[inline(never)]
    fn null_member(&mut self, edge: Edge<'s>) -> Step<Fate> {
        let start = self.scan.at;
        self.scan.skip_literal(b"null")?;
        if edge.is_nullable() {
            return Ok(Fate::Keep);
        }
        if edge.default().is_none() {
            return Ok(Fate::Remove);
        }
        let default = self.prepared(edge)?;
        self.out.replace(start..self.scan.at, default.value());
        Ok(Fate::Keep)
    }

    #[inline(never)]
    fn resource_field(
        &mut self,
        object: &Object<'s>,
        field: ResourceField,
        edge: Edge<'s>,
    ) -> Step {
        let start = self.scan.at;
        let expected = match field {
            ResourceField::ApiVersion => &self.expected.api_version,
            ResourceField::Kind => &self.expected.kind,
            ResourceField::Metadata => return self.metadata(object, edge),
        };
        if self.scan.peek() != Some(b'"') {
            return Err(Stop::Tree);
        }
        self.scan.skip_string()?;
        if object.is_root && self.scan.slice(start, self.scan.at) != expected {
            return Err(Stop::Tree);
        }
        Ok(())
    }

    fn metadata(&mut self, object: &Object<'s>, edge: Edge<'s>) -> Step {
        let start = self.scan.at;
        let node = edge.node();
        if node.has_embedded_resource() {
            return Err(Stop::Tree);
        }
        if !node.can_default() && metadata::is_normal(&mut self.scan, &mut self.keys, object.left)?
        {
            return Ok(());
        }
        self.keys.forget_below(&object.keys);
        self.scan.at = start;
        self.scan.skip_value(&mut self.keys, object.left)?;
        let written = self.scan.slice(start, self.scan.at);
        if let Some(text) = metadata::normalise(written, node, object.is_root, object.left)? {
            self.out.replace(start..self.scan.at, text.as_bytes());
        }
        Ok(())
    }

    /// Writes the defaults of members that were missing, in front of the closing brace.
    #[inline]
    fn insert_missing(&mut self, object: &mut Object<'s>, seen: &SeenFrame) -> Step {
        let node = object.node;
        if !object.is_wide {
            let mut missing = node.defaulted_mask() & !object.seen;
            while missing != 0 {
                let position = missing.trailing_zeros() as usize;
                missing &= missing - 1;
                if let Some(property) = node.property_at(position) {
                    self.insert(object, property)?;
                }
            }
            return Ok(());
        }
        for property in node.defaulted_properties() {
            if !self.seen.contains(seen, node.position(property)) {
                self.insert(object, property)?;
            }
        }
        Ok(())
    }

    fn insert(&mut self, object: &mut Object<'s>, property: PropertyRef<'s>) -> Step {
        if property.edge().default().is_none() {
            return Ok(());
        }
        let default = self.prepared(property.edge())?;
        let at = self.scan.at;
        if object.kept_end.is_some() {
            self.out.insert(at, b",");
        }
        self.out.insert(at, default.member());
        object.kept_end = Some(at);
        Ok(())
    }

    fn prepared(&mut self, edge: Edge<'s>) -> Step<&'s Prepared> {
        let prepared = self.defaults.get(edge).ok_or(Stop::Tree)?;
        self.defaulted_values_left =
            self.defaulted_values_left.checked_sub(prepared.size).ok_or(Stop::Tree)?;
        Ok(prepared)
    }

    /// Without these two the object is another one than the schema is for.
    fn check_root(&self, object: &Object<'s>, seen: &SeenFrame) -> Step {
        let node = object.node;
        let has = |name: &str| {
            node.property(name).is_some_and(|property| {
                let position = node.position(property);
                if object.is_wide {
                    self.seen.contains(seen, position)
                } else {
                    object.seen & 1 << position != 0
                }
            })
        };
        if has("apiVersion") && has("kind") { Ok(()) } else { Err(Stop::Tree) }
    }
}
