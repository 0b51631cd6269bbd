//! Whether a value is valid, without the errors (VV-03).
//!
//! It makes the same demands as the [walk](crate::walk) for the errors, stops at the first
//! violation and needs neither places nor scores.

use std::cell::Cell;

use billhook_apimachinery::value::{Num, grow};
use billhook_regex::Steps;
use billhook_schema::NodeId;
use serde_json::{Map, Value};

use crate::compile::{Arena, Junctors, Node};
use crate::correlate::{Correlation, OldElements};
use crate::identity::has_duplicates;
use crate::members::Member;
use crate::types::Kinds;
use crate::work::Work;

/// Levels that are walked between two looks at how much stack is left.
const LEVELS: usize = 8;

pub(crate) struct Verdict<'w> {
    pub(crate) arena: &'w Arena,
    pub(crate) root: NodeId,
    pub(crate) correlation: Correlation<'w>,
    /// The steps that matching patterns may still take.
    pub(crate) steps: Cell<Steps>,
    /// The work that branches of junctors may still take.
    pub(crate) work: Work,
}

impl Verdict<'_> {
    /// Whether a value is valid, or wrong as it was before (VV-80); `old` is the value it replaces,
    /// if that is known.
    #[inline(always)]
    pub(crate) fn admits(
        &self,
        id: NodeId,
        value: &Value,
        old: Option<&Value>,
        level: usize,
    ) -> bool {
        let kind = Kinds::of(value);
        self.arena.node(id).plain.include(kind) || self.admits_of(id, kind, value, old, level)
    }

    /// [`Verdict::admits`] for a value of a kind that may be invalid.
    #[inline(always)]
    fn admits_of(
        &self,
        id: NodeId,
        kind: Kinds,
        value: &Value,
        old: Option<&Value>,
        level: usize,
    ) -> bool {
        self.meets(self.arena.node(id), kind, value, old, level) || self.is_forgiven(id, value, old)
    }

    /// Returns whether an invalid value is unchanged (VV-80).
    #[inline(never)]
    fn is_forgiven(&self, id: NodeId, value: &Value, old: Option<&Value>) -> bool {
        old.is_some_and(|old| self.correlation.is_unchanged(id, value, old))
    }

    /// Returns whether a value meets the demands of a node.
    #[inline(never)]
    fn meets(
        &self,
        node: &Node,
        kind: Kinds,
        value: &Value,
        old: Option<&Value>,
        level: usize,
    ) -> bool {
        if !node.direct.include(kind) {
            return self.meets_all(node, kind, value, old, level);
        }
        self.content(node, value, old, level)
    }

    #[inline(never)]
    fn meets_all(
        &self,
        node: &Node,
        kind: Kinds,
        value: &Value,
        old: Option<&Value>,
        level: usize,
    ) -> bool {
        self.meets_first(node, kind, value, level) && self.content(node, value, old, level)
    }

    /// Returns whether the content of a value meets the demands of a node.
    #[inline(always)]
    fn content(&self, node: &Node, value: &Value, old: Option<&Value>, level: usize) -> bool {
        match value {
            Value::String(text) => self.text(node, text),
            Value::Number(number) => {
                node.numbers.as_ref().is_none_or(|numbers| numbers.admit(Num::of(number)))
            }
            Value::Array(_) | Value::Object(_) if (level + 1).is_multiple_of(LEVELS) => {
                self.container_below(node, value, old, level + 1)
            }
            container => self.container(node, container, old, level + 1),
        }
    }

    #[inline(never)]
    fn container_below(
        &self,
        node: &Node,
        value: &Value,
        old: Option<&Value>,
        level: usize,
    ) -> bool {
        grow(|| self.container(node, value, old, level))
    }

    #[inline(always)]
    fn container(&self, node: &Node, value: &Value, old: Option<&Value>, level: usize) -> bool {
        match value {
            Value::Array(items) => self.elements(node, items, old, level),
            Value::Object(members) => self.members(node, members, old, level),
            _ => true,
        }
    }

    /// VV-20 to VV-22, VV-70.
    #[inline(never)]
    fn text(&self, node: &Node, text: &str) -> bool {
        self.work.take_text(text);
        node.strings.as_ref().is_none_or(|strings| strings.fault(text, &self.steps).is_none())
            && node.checker.as_ref().is_none_or(|checker| checker.matches(text))
    }

    /// Returns whether a value has the right type and meets junctors and enum.
    #[inline]
    fn meets_first(&self, node: &Node, kind: Kinds, value: &Value, level: usize) -> bool {
        let has_type = node.accepted.include(kind) || node.admits_type(value);
        let branches = node.junctors.as_ref();
        let branches = branches.filter(|own| !value.is_null() && !own.admitted.include(kind));
        has_type
            && branches.is_none_or(|own| grow_at(level, || self.junctors(own, value, level + 1)))
            && (node.enum_.is_empty() || node.enum_.admits(value, &self.work))
    }

    /// VV-50 to VV-53.
    #[inline(never)]
    fn junctors(&self, junctors: &Junctors, value: &Value, level: usize) -> bool {
        let admits = |id: &NodeId| self.branch(*id, value, level);
        let Junctors { any_of, one_of, all_of, not, .. } = junctors;
        self.work.in_branches(|| {
            (any_of.is_empty() || any_of.iter().any(admits))
                && (one_of.is_empty() || one_of.iter().filter(|id| admits(id)).take(2).count() == 1)
                && all_of.iter().all(admits)
                && !not.iter().any(admits)
                && !self.work.is_over()
        })
    }

    /// Whether a branch of a junctor admits a value.
    #[inline]
    pub(crate) fn branch(&self, id: NodeId, value: &Value, level: usize) -> bool {
        self.work.take(1);
        !self.work.is_over() && self.admits(id, value, None, level)
    }

    /// VV-30 to VV-33.
    #[inline(never)]
    fn elements(&self, node: &Node, items: &[Value], old: Option<&Value>, level: usize) -> bool {
        if let Some(counts) = &node.counts
            && (!counts.items.admit(items.len()) || counts.unique_items && has_duplicates(items))
        {
            return false;
        }
        let Some(id) = node.items else { return true };
        let wrong = match old {
            None => items.iter().position(|item| !self.admits(id, item, None, level)),
            Some(old) => self.wrong_element(node, id, items, old, level),
        };
        self.work.take(wrong.unwrap_or(items.len()));
        wrong.is_none() && !self.work.is_over()
    }

    /// Returns the position of the first invalid element of a list that replaces `old`.
    #[inline(never)]
    fn wrong_element(
        &self,
        node: &Node,
        id: NodeId,
        items: &[Value],
        old: &Value,
        level: usize,
    ) -> Option<usize> {
        let old = OldElements::new(node, old);
        items.iter().position(|item| {
            let old = old.as_ref().and_then(|old| old.get(item));
            !self.admits(id, item, old, level)
        })
    }

    /// VV-34 to VV-37.
    #[inline(never)]
    fn members(
        &self,
        node: &Node,
        object: &Map<String, Value>,
        old: Option<&Value>,
        level: usize,
    ) -> bool {
        if let Some(counts) = &node.counts
            && !counts.properties.admit(object.len())
        {
            return false;
        }
        let (mut next, mut required, mut is_wrong) = (0, 0, false);
        let mut members = object.iter();
        for (key, member) in members.by_ref() {
            let found;
            (found, next) = match node.members.at(next, key) {
                Some(found) => (found.as_ref(), next + 1),
                None => self.search(node, key, next),
            };
            let Some(Member { id, plain, is_required }) = found else {
                is_wrong = true;
                break;
            };
            required += usize::from(*is_required);
            let kind = Kinds::of(member);
            if plain.include(kind) {
                continue;
            }
            let old = old.and_then(|old| self.old_member(node, old, key));
            if !self.admits_of(*id, kind, member, old, level) {
                is_wrong = true;
                break;
            }
        }
        self.work.take(object.len() - members.len());
        !is_wrong
            && !self.work.is_over()
            && match node.members.required {
                Some(count) => required == count,
                None => node.required.iter().all(|name| object.contains_key(&**name)),
            }
    }

    #[inline(never)]
    fn search<'n>(&self, node: &'n Node, name: &str, next: usize) -> (Option<&'n Member>, usize) {
        node.members.search(|| self.arena.at(node), name, next)
    }

    /// Returns the value with which a member of an object that replaces `old` is compared.
    #[inline(never)]
    pub(crate) fn old_member<'v>(
        &self,
        node: &Node,
        old: &'v Value,
        key: &str,
    ) -> Option<&'v Value> {
        // These two are never compared on their own (VV-84).
        let is_top = || node.is_unnamed || std::ptr::eq(node, self.arena.node(self.root));
        if matches!(key, "apiVersion" | "kind") && is_top() {
            return None;
        }
        old.as_object()?.get(key)
    }
}

/// Walks on below a level, now and then with a look at the stack.
#[inline(always)]
pub(crate) fn grow_at<R>(level: usize, walk: impl FnOnce() -> R) -> R {
    if level.is_multiple_of(LEVELS) { grow(walk) } else { walk() }
}
