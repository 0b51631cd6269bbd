//! Field sets: trees of paths, and the operations on them (SA-20, SA-22, SA-25).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

use crate::join::{Pair, join};
use crate::path_element::PathElement;

/// A set of fields of an object: what a manager owns, or what differs between two objects.
///
/// It is a tree. Each step is a *member*, leads to members below it, or both; a path whose fields
/// are owned need not be owned itself (SA-20). The object as a whole is never a member.
///
/// Cheap to clone; sets share the parts that they have in common.
#[derive(Clone, Default)]
pub struct FieldSet {
    /// Sorted by their steps, each of which stands here once; never empty.
    nodes: Option<Arc<Vec<Node>>>,
}

/// The empty set.
pub(crate) static NOTHING: FieldSet = FieldSet { nodes: None };

/// The fate of the members below one that is taken away (SA-25).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    Stays,
    Goes,
}

/// A step of a [`FieldSet`], and what is below it. It is a member or has members below.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) element: PathElement,
    pub(crate) is_member: bool,
    pub(crate) children: FieldSet,
}

/// The path of a field, as server-side apply prints it (SA-13): `.spec.ports[name="a"].port`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnedPath(Vec<PathElement>);

impl FieldSet {
    /// Makes a set of nodes that are sorted; those that hold nothing are left out.
    pub(crate) fn from_sorted(mut nodes: Vec<Node>) -> Self {
        nodes.retain(Node::holds_something);
        FieldSet { nodes: (!nodes.is_empty()).then(|| Arc::new(nodes)) }
    }

    /// Makes a set of nodes in any order; those of the same step become one.
    pub(crate) fn from_unsorted(mut nodes: Vec<Node>) -> Self {
        if nodes.is_sorted_by(|left, right| left.element < right.element) {
            return FieldSet::from_sorted(nodes);
        }
        nodes.sort_by(|left, right| left.element.cmp(&right.element));
        let mut merged: Vec<(Node, Vec<FieldSet>)> = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            match merged.last_mut().filter(|(last, _)| last.element == node.element) {
                Some((last, below)) => {
                    last.is_member |= node.is_member;
                    below.push(std::mem::take(&mut node.children));
                }
                None => merged.push((node, Vec::new())),
            }
        }
        let merged = merged.into_iter().map(|(mut node, mut below)| {
            if !below.is_empty() {
                below.push(std::mem::take(&mut node.children));
                node.children = grow(|| FieldSet::union_all(&below));
            }
            node
        });
        FieldSet::from_sorted(merged.collect())
    }

    /// Returns the members of any of the sets. It takes less time than one union after the other.
    pub(crate) fn union_all(sets: &[FieldSet]) -> Self {
        match sets {
            [] => FieldSet::default(),
            [only] => only.clone(),
            several => {
                let (left, right) = several.split_at(several.len() / 2);
                FieldSet::union_all(left).union(&FieldSet::union_all(right))
            }
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        self.nodes.as_deref().map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn into_nodes(mut self) -> Vec<Node> {
        self.nodes.take().map(Arc::unwrap_or_clone).unwrap_or_default()
    }

    /// Returns whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_none()
    }

    /// Adds a path; the empty one is ignored.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else { return };
        let nodes = Arc::make_mut(self.nodes.get_or_insert_default());
        let found = nodes.binary_search_by(|node| node.element.cmp(first));
        let position = found.unwrap_or_else(|position| {
            nodes.insert(position, Node::new(first.clone(), false, FieldSet::default()));
            position
        });
        let Some(node) = nodes.get_mut(position) else { return };
        match rest {
            [] => node.is_member = true,
            rest => grow(|| node.children.insert(rest)),
        }
    }

    /// Returns whether a path is a member.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        let mut set = self;
        let mut is_member = false;
        for element in path {
            let Some(node) = set.get(element) else { return false };
            (set, is_member) = (&node.children, node.is_member);
        }
        is_member
    }

    /// Returns whether a path, or one above it, is a member.
    pub fn covers(&self, path: &[PathElement]) -> bool {
        let mut set = self;
        path.iter()
            .map_while(|element| {
                let node = set.get(element)?;
                set = &node.children;
                Some(node)
            })
            .any(|node| node.is_member)
    }

    /// Returns whether a path, or one below it, is a member.
    pub fn touches(&self, path: &[PathElement]) -> bool {
        let mut set = self;
        for element in path {
            let Some(node) = set.get(element) else { return false };
            set = &node.children;
        }
        !path.is_empty() || !self.is_empty()
    }

    pub(crate) fn get(&self, element: &PathElement) -> Option<&Node> {
        self.find(|own| own.cmp(element))
    }

    /// Finds the step that compares as equal.
    pub(crate) fn find(&self, compare: impl Fn(&PathElement) -> Ordering) -> Option<&Node> {
        let found = self.nodes().binary_search_by(|node| compare(&node.element));
        self.nodes().get(found.ok()?)
    }

    /// Returns the members of either set.
    #[must_use]
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() || self.is_same(other) {
            return self.clone();
        }
        self.join(other, |pair| match pair {
            Pair::Left(only) | Pair::Right(only) => Some(only.clone()),
            Pair::Both(left, right) => Some(Node::new(
                left.element.clone(),
                left.is_member || right.is_member,
                left.children.union(&right.children),
            )),
        })
    }

    /// Returns the members of both sets. It takes little time if one of them is small.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let mut finder = Finder { rest: other.nodes() };
        let common = self.nodes().iter().filter_map(|own| {
            let other = finder.find(&own.element)?;
            Some(Node::new(
                own.element.clone(),
                own.is_member && other.is_member,
                own.children.intersection(&other.children),
            ))
        });
        grow(|| FieldSet::from_sorted(common.collect()))
    }

    /// Returns the members of this set that the other has not. A path that is taken away leaves
    /// those below it (SA-25).
    #[must_use]
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        let mut rest = self.clone();
        rest.subtract(other, Below::Stays);
        rest
    }

    /// Returns the members of this set that neither are in the other nor below one that is
    /// (SA-25).
    #[must_use]
    pub fn recursive_difference(&self, other: &FieldSet) -> FieldSet {
        let mut rest = self.clone();
        rest.subtract(other, Below::Goes);
        rest
    }

    /// Takes the members of another set away.
    pub(crate) fn subtract(&mut self, other: &FieldSet, below: Below) {
        let Some(nodes) = self.nodes.as_mut().filter(|_| !other.is_empty()) else { return };
        let nodes = Arc::make_mut(nodes);
        let mut finder = Finder { rest: other.nodes() };
        grow(|| {
            nodes.retain_mut(|own| {
                let Some(other) = finder.find(&own.element) else { return true };
                if other.is_member && below == Below::Goes {
                    return false;
                }
                own.is_member &= !other.is_member;
                own.children.subtract(&other.children, below);
                own.holds_something()
            });
        });
        if nodes.is_empty() {
            self.nodes = None;
        }
    }

    /// Returns whether all members of this set are in the other.
    pub fn is_subset(&self, other: &FieldSet) -> bool {
        let mut finder = Finder { rest: other.nodes() };
        self.is_same(other)
            || grow(|| {
                self.nodes().iter().all(|own| {
                    finder.find(&own.element).is_some_and(|other| {
                        (other.is_member || !own.is_member)
                            && own.children.is_subset(&other.children)
                    })
                })
            })
    }

    /// Walks the steps of two sets together.
    fn join(
        &self,
        other: &FieldSet,
        keep: impl Fn(Pair<&Node, &Node>) -> Option<Node>,
    ) -> FieldSet {
        let by_element = |left: &&Node, right: &&Node| left.element.cmp(&right.element);
        let pairs = join(self.nodes().iter(), other.nodes().iter(), by_element);
        grow(|| FieldSet::from_sorted(pairs.filter_map(keep).collect()))
    }

    /// Whether two sets share all they have.
    fn is_same(&self, other: &FieldSet) -> bool {
        match (&self.nodes, &other.nodes) {
            (Some(left), Some(right)) => Arc::ptr_eq(left, right),
            (left, right) => left.is_none() && right.is_none(),
        }
    }

    /// Returns the paths of all members: at each step first the members themselves in their
    /// order, then those below (SA-84).
    pub fn paths(&self) -> Vec<OwnedPath> {
        let mut paths = Vec::new();
        self.add_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn add_paths(&self, above: &mut Vec<PathElement>, paths: &mut Vec<OwnedPath>) {
        for node in self.nodes().iter().filter(|node| node.is_member) {
            let path = above.iter().chain([&node.element]).cloned();
            paths.push(OwnedPath(path.collect()));
        }
        for node in self.nodes().iter().filter(|node| !node.children.is_empty()) {
            above.push(node.element.clone());
            grow(|| node.children.add_paths(above, paths));
            above.pop();
        }
    }
}

/// Finds steps in a set that are asked for in their order.
struct Finder<'n> {
    rest: &'n [Node],
}

impl<'n> Finder<'n> {
    fn find(&mut self, element: &PathElement) -> Option<&'n Node> {
        let compare = |node: &Node| node.element.cmp(element);
        let mut bound = 1;
        loop {
            match self.rest.get(bound - 1).map(compare) {
                Some(Ordering::Less) => bound *= 2,
                Some(Ordering::Greater) if bound == 1 => return None,
                _ => break,
            }
        }
        let near = self.rest.get(..bound).unwrap_or(self.rest);
        let found = near.binary_search_by(compare);
        let (Ok(position) | Err(position)) = found;
        self.rest = self.rest.get(position..).unwrap_or_default();
        self.rest.first().filter(|_| found.is_ok())
    }
}

impl Node {
    pub(crate) fn new(element: PathElement, is_member: bool, children: FieldSet) -> Self {
        Node { element, is_member, children }
    }

    fn holds_something(&self) -> bool {
        self.is_member || !self.children.is_empty()
    }
}

impl PartialEq for FieldSet {
    fn eq(&self, other: &Self) -> bool {
        let same = |(left, right): (&Node, &Node)| {
            left.is_member == right.is_member
                && left.element == right.element
                && left.children == right.children
        };
        self.is_same(other)
            || self.nodes().len() == other.nodes().len()
                && grow(|| self.nodes().iter().zip(other.nodes()).all(same))
    }
}

impl Eq for FieldSet {}

impl Drop for FieldSet {
    fn drop(&mut self) {
        if let Some(nodes) = self.nodes.take() {
            grow(|| drop(nodes));
        }
    }
}

/// Prints the set as FieldsV1.
impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_fields_v1().fmt(f)
    }
}

impl FromIterator<OwnedPath> for FieldSet {
    fn from_iter<T: IntoIterator<Item = OwnedPath>>(paths: T) -> Self {
        let mut set = FieldSet::default();
        paths.into_iter().for_each(|path| set.insert(&path.0));
        set
    }
}

impl OwnedPath {
    /// Returns the steps from the top.
    pub fn elements(&self) -> &[PathElement] {
        &self.0
    }
}

impl From<Vec<PathElement>> for OwnedPath {
    fn from(elements: Vec<PathElement>) -> Self {
        OwnedPath(elements)
    }
}

impl fmt::Display for OwnedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}
