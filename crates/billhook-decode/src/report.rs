//! The changes of a pass, with paths that are only put together for actual changes: a note begins
//! at its place, and every object and list on the way back adds a step to it.

use std::cmp::Ordering;

use billhook_apimachinery::metadata::{metadata_changes, unknown_metadata_fields};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{Change, ChangeKind, FieldPath, Location, Segment};
use billhook_defaulting::{apply_defaults, default_change, null_change, sort_default_changes};
use billhook_pruning::{pruned_change, unknown_fields};
use billhook_schema::walk::{Cause, Findings, MAX_PATHS};
use billhook_schema::{Edge, Effects, NodeRef, PropertyRef, SchemaPaths};

use crate::metadata::Normal;
use crate::reader::read_json;
use crate::scanner::{self, Stop};
use crate::string;

/// A place in an object or a list at `node`.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p, 's> {
    pub(crate) node: NodeRef<'s>,
    /// The number of levels that may be opened in the object or list, which identifies its level.
    pub(crate) left: usize,
    pub(crate) part: Within<'p, 's>,
}

/// The content of an object or a list.
#[derive(Clone, Copy)]
pub(crate) enum Within<'p, 's> {
    /// A member that the schema knows by name.
    Known(PropertyRef<'s>),
    /// Any other member, by its key as it is written.
    Unlisted(&'p [u8]),
    Element(usize),
}

impl Place<'_, '_> {
    pub(crate) fn is_listed(self) -> bool {
        matches!(self.part, Within::Known(property) if property.is_listed())
    }
}

/// A step from an object or a list into its content.
enum Step<'s> {
    Known(&'s str),
    Unlisted(String),
    Element(usize),
}

impl Step<'_> {
    /// Steps from the same place come in this order.
    fn order(&self) -> (&str, usize) {
        match self {
            Step::Known(name) => (name, 0),
            Step::Unlisted(name) => (name, 0),
            Step::Element(index) => ("", *index),
        }
    }

    fn segment(&self, by_key: bool) -> Segment<'_> {
        match self {
            Step::Known(name) => Segment::Name(name),
            Step::Unlisted(name) if by_key => Segment::Key(name),
            Step::Unlisted(name) => Segment::Name(name),
            Step::Element(index) => Segment::Index(*index),
        }
    }
}

enum What<'s> {
    Pruned {
        /// The node that removed it.
        node: NodeRef<'s>,
        value: DeepValue,
    },
    NullRemoved(Edge<'s>),
    Defaulted {
        edge: Edge<'s>,
        cause: Cause,
        /// The defaults that complete it, with paths from its place.
        completed: Vec<Change>,
    },
    Metadata {
        is_root: bool,
        schema_path: FieldPath,
        normal: Normal,
    },
}

struct Note<'s> {
    /// The number of the step to its place.
    step: usize,
    what: What<'s>,
}

/// A step on the way to notes, which share the steps before it.
struct Way<'s> {
    step: Step<'s>,
    /// The node of the container.
    node: NodeRef<'s>,
    /// The number of the step before; none for those from the root.
    before: Option<usize>,
}

/// The findings that are reported of a text, beside the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reported {
    /// The unknown fields, as field validation reports them (RP-20).
    UnknownFields,
    /// These, and all changes.
    Changes,
}

/// The notes of a pass.
pub(crate) struct Notes<'s> {
    reported: Option<Reported>,
    list: Vec<Note<'s>>,
    ways: Vec<Way<'s>>,
    /// The steps in containers that are still read, and their levels, as in [`Place::left`].
    open: Vec<(usize, usize)>,
    /// The level of the last note; more than there are levels if there is none.
    last_left: usize,
}

impl<'s> Notes<'s> {
    pub(crate) fn new(reported: Option<Reported>) -> Self {
        Notes {
            reported,
            list: Vec::new(),
            ways: Vec::new(),
            open: Vec::new(),
            last_left: usize::MAX,
        }
    }

    pub(crate) fn are_wanted(&self) -> bool {
        self.reported.is_some()
    }

    /// Whether nulls and defaults are noted, which are no unknown fields.
    fn has_changes(&self) -> bool {
        self.reported == Some(Reported::Changes)
    }

    /// Something at `place`, which is at a level, was read: the notes since then were in it.
    #[inline(always)]
    pub(crate) fn were_in<'p>(&mut self, left: usize, place: impl FnOnce() -> Place<'p, 's>) {
        if self.last_left < left {
            self.add_step(place());
        }
    }

    #[inline(never)]
    fn add_step(&mut self, place: Place<'_, 's>) {
        let number = self.ways.len();
        while let Some((inner, left)) = self.open.last().copied()
            && left < place.left
        {
            if let Some(way) = self.ways.get_mut(inner) {
                way.before = Some(number);
            }
            self.open.pop();
        }
        let step = match place.part {
            Within::Known(property) => Step::Known(property.name()),
            Within::Unlisted(key) => Step::Unlisted(string::unescaped(key)),
            Within::Element(index) => Step::Element(index),
        };
        self.ways.push(Way { step, node: place.node, before: None });
        self.open.push((number, place.left));
        self.last_left = place.left;
    }

    fn push(&mut self, what: What<'s>, place: Place<'_, 's>) {
        self.list.push(Note { step: self.ways.len(), what });
        self.add_step(place);
    }

    /// For each step, the last node up to it that is a part of the schema.
    fn written(&self) -> Vec<Option<NodeRef<'s>>> {
        let mut written = vec![None; self.ways.len()];
        // A step before another one has a higher number.
        for (number, way) in self.ways.iter().enumerate().rev() {
            let found = match way.node.specifies_nothing() {
                false => Some(way.node),
                true => way.before.and_then(|before| written.get(before).copied().flatten()),
            };
            if let Some(place) = written.get_mut(number) {
                *place = found;
            }
        }
        written
    }

    /// The steps from a place to the root.
    fn way(&self, step: usize) -> impl Iterator<Item = &Step<'s>> + Clone {
        let first = self.ways.get(step);
        let before = |way: &&Way<'s>| self.ways.get(way.before?);
        std::iter::successors(first, before).map(|way| &way.step)
    }

    /// A member was removed; `text` is its value, which has no repeated keys.
    pub(crate) fn pruned(&mut self, text: &[u8], place: Place<'_, 's>) -> scanner::Step<()> {
        let value = match self.has_changes() {
            true => read_json(text).map_err(|_| Stop::Invalid)?.into_value(),
            false => DeepValue::default(),
        };
        self.push(What::Pruned { node: place.node, value }, place);
        Ok(())
    }

    pub(crate) fn null_removed(&mut self, edge: Edge<'s>, place: Place<'_, 's>) {
        if self.has_changes() {
            self.push(What::NullRemoved(edge), place);
        }
    }

    pub(crate) fn defaulted(
        &mut self,
        edge: Edge<'s>,
        cause: Cause,
        place: Place<'_, 's>,
    ) -> scanner::Step<()> {
        let Some(default) = edge.default().filter(|_| self.has_changes()) else { return Ok(()) };
        let mut completed = Vec::new();
        if edge.node().can(Effects::DEFAULT) {
            let mut value = DeepValue::from(deep_clone(default));
            apply_defaults(edge.node(), &mut value, &mut completed).map_err(|_| Stop::Defaults)?;
        }
        self.push(What::Defaulted { edge, cause, completed }, place);
        Ok(())
    }

    /// Metadata, whose own schema is at `node`, was not normalized.
    pub(crate) fn metadata(
        &mut self,
        is_root: bool,
        node: NodeRef<'s>,
        normal: Normal,
        place: Place<'_, 's>,
    ) -> scanner::Step<()> {
        if !self.are_wanted() {
            return Ok(());
        }
        // Nulls and defaults of listed fields would be changes of their own.
        if node.can(Effects::DEFAULT) || !is_root && node.can(Effects::REMOVE_NULL) {
            return Err(Stop::Metadata);
        }
        let schema_path = place.node.schema_path();
        self.push(What::Metadata { is_root, schema_path, normal }, place);
        Ok(())
    }

    /// Puts the notes into the order of the steps over a tree. Stops if the paths are too long
    /// together.
    pub(crate) fn finish(mut self) -> scanner::Step<Findings> {
        let mut findings = Findings::default();
        if self.list.is_empty() {
            return Ok(findings);
        }
        let written = self.written();
        let mut paths = SchemaPaths::default();
        let mut changes = Vec::with_capacity(self.list.len());
        let mut embedded = Vec::new();
        let mut room = MAX_PATHS;
        for Note { step, what } in std::mem::take(&mut self.list) {
            let path = path(self.way(step), false);
            room = room.checked_sub(path.size()).ok_or(Stop::LongReport)?;
            match what {
                What::Pruned { node, value } => {
                    let written = written.get(step).copied().flatten().unwrap_or(node);
                    let schema_path = paths.of(written);
                    let value = value.into_inner();
                    changes.push(pruned_change(path, value, (node, written), schema_path));
                }
                What::NullRemoved(edge) => changes.push(null_change(path, edge.node())),
                What::Defaulted { edge, cause, completed } => {
                    let schema_path = paths.of(edge.node());
                    changes.push(default_change(path.clone(), edge, cause, schema_path));
                    changes.extend(completed.into_iter().map(|change| change.below(&path)));
                }
                What::Metadata { is_root: true, schema_path, normal } => {
                    let at = Location::TOP.name("metadata");
                    findings.unknown = unknown_metadata_fields(&normal.written, &at);
                    findings.changes =
                        metadata_changes(&normal.written, &normal.decoded, &at, &schema_path);
                }
                What::Metadata { is_root: false, schema_path, normal } => {
                    embedded.push((self.way(step).collect(), schema_path, normal));
                }
            }
        }
        let unknown = add_embedded(&mut changes, embedded);
        sort_by_step(&mut changes, true);
        append(&mut findings.unknown, unknown_fields(&changes));
        append(&mut findings.unknown, unknown);
        append(&mut findings.changes, changes);
        Ok(findings)
    }
}

/// Brings the changes of one object into the order of the steps that made them, and, within the
/// steps that remove fields, of their paths if they are not in it. Other changes of the same step
/// stay in their order, except defaults, which have one of their own.
pub(crate) fn sort_by_step(changes: &mut [Change], by_path: bool) {
    let step = |change: &Change| match change.kind() {
        ChangeKind::Pruned => 0,
        ChangeKind::NullRemoved => 1,
        ChangeKind::Defaulted => 3,
        _ => 2,
    };
    changes.sort_by(|one, other| {
        step(one).cmp(&step(other)).then_with(|| {
            let removes = by_path && step(one) < 2;
            if removes { one.path().cmp(other.path()) } else { Ordering::Equal }
        })
    });
    let defaults = changes.partition_point(|change| step(change) < 3);
    sort_default_changes(changes.get_mut(defaults..).unwrap_or_default());
}

/// Most texts have changes of one kind only; their list need not be copied.
fn append<T>(list: &mut Vec<T>, mut more: Vec<T>) {
    if list.is_empty() {
        *list = more;
    } else {
        list.append(&mut more);
    }
}

/// Adds what changed in the metadata of embedded resources, to which the steps lead; returns their
/// unknown fields.
fn add_embedded(
    changes: &mut Vec<Change>,
    mut found: Vec<(Vec<&Step<'_>>, FieldPath, Normal)>,
) -> Vec<String> {
    // A resource comes before those in it.
    found.sort_by(|(one, ..), (other, ..)| {
        let resource = |steps: &[&Step<'_>]| steps.len().saturating_sub(1);
        let ours = one.iter().rev().take(resource(one));
        let theirs = other.iter().rev().take(resource(other));
        ours.map(|step| step.order()).cmp(theirs.map(|step| step.order()))
    });
    let mut unknown = Vec::new();
    for (steps, schema_path, normal) in found {
        let resource = path(steps.iter().skip(1).copied(), true);
        let at = Location::at(&resource);
        let at = at.name("metadata");
        unknown.extend(unknown_metadata_fields(&normal.written, &at));
        changes.extend(metadata_changes(&normal.written, &normal.decoded, &at, &schema_path));
    }
    unknown.sort_unstable();
    unknown
}

/// The path of a place from the steps to the root; `by_key` writes members that the schema doesn't
/// list by name as keys.
fn path<'n, 's: 'n>(steps: impl Iterator<Item = &'n Step<'s>>, by_key: bool) -> FieldPath {
    let steps: Vec<_> = steps.collect();
    steps.into_iter().rev().map(|step| step.segment(by_key)).collect()
}
