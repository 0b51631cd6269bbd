//! The walk over a value: all checks of a node, in the server's order (VV-03, VV-04).
//!
//! It runs for values that the [verdict](crate::verdict) found to be invalid. It also counts how
//! many of a node's demands applied to the value, which selects the branch of a failed junctor
//! whose errors are shown (VV-54).

use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::{Num, deep_clone, sorted};
use billhook_apimachinery::{FieldError, FieldPath, Location};
use billhook_schema::NodeId;
use serde_json::{Map, Value};

use crate::compile::{Additional, Arena, Bounds, Junctors, Node, Strings, TextFault};
use crate::correlate::OldElements;
use crate::identity::has_duplicates;
use crate::is_valid::{Verdict, grow_at};
use crate::numbers::NumberError;
use crate::place;
use crate::report::{Errors, Report as _};
use crate::types::{self, Mismatch};

pub(crate) struct Walk<'w> {
    pub(crate) verdict: Verdict<'w>,
    pub(crate) base: &'w FieldPath,
}

/// The steps that putting the errors of a branch together takes.
const ERRORS_OF_BRANCH: usize = 4;

/// A measure of how well a value fits a node (VV-54).
type Score = u64;

impl<'w> Walk<'w> {
    fn arena(&self) -> &'w Arena {
        self.verdict.arena
    }

    /// Checks a value against a node; `old` is the value it replaces, if that is known. What is
    /// wrong with an unchanged value is forgotten (VV-80).
    pub(crate) fn node(
        &self,
        id: NodeId,
        value: &Value,
        old: Option<&Value>,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        let node = self.arena().node(id);
        let mark = report.mark();
        let score = grow_at(level, || self.checks(node, value, old, at, level + 1, report));
        if let Some(old) = old
            && report.mark() > mark
            && self.verdict.correlation.is_unchanged(id, value, old)
        {
            report.reset(mark);
        }
        score
    }

    /// Null is checked for its type and against `enum`, which never lists it (VV-04).
    fn null(&self, node: &Node, at: &Location<'_>, report: &mut Errors) -> Score {
        let fits = node.admits_null();
        if !fits {
            report.add(|| self.type_error(&Mismatch::Type("null"), node, at));
        }
        self.enum_(node, &Value::Null, at, report);
        u64::from(fits)
    }

    fn checks(
        &self,
        node: &Node,
        value: &Value,
        old: Option<&Value>,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        if value.is_null() {
            return self.null(node, at, report);
        }
        let mut score = 1;
        score += self.types(node, value, at, report);
        // The junctors and the enum count even where there are none.
        score += 3;
        if report.is_done() {
            return score;
        }
        if let Some(junctors) = &node.junctors {
            score += self.junctors(junctors, value, at, level, report);
        }
        match value {
            Value::String(text) => score += self.string(node, text, at, report),
            Value::Number(number) => {
                self.number(node, Num::of(number), at, report);
                score += 2;
            }
            Value::Array(items) => score += 2 + self.array(node, items, old, at, level, report),
            _ => {}
        }
        if report.is_done() {
            return score;
        }
        self.enum_(node, value, at, report);
        if let Value::Object(members) = value {
            score += 1 + self.object(node, members, old, at, level, report);
        }
        score
    }

    fn types(&self, node: &Node, value: &Value, at: &Location<'_>, report: &mut Errors) -> Score {
        let applies = !node.types.is_empty() || !node.format.is_empty();
        match types::check(&node.types, &node.format, value) {
            Ok(()) => 2 * u64::from(applies),
            Err(mismatch) => {
                report.add(|| self.type_error(&mismatch, node, at));
                1
            }
        }
    }

    fn type_error(&self, mismatch: &Mismatch, node: &Node, at: &Location<'_>) -> FieldError {
        let (expected, found) = match mismatch {
            Mismatch::Format(found) => (&*node.format, *found),
            Mismatch::Type(found) => (node.types.names(), *found),
        };
        let detail =
            format!("{} in body must be of type {expected}: {}", place::name(at), quote(found));
        FieldError::type_invalid(place::path(self.base, at), found, &detail)
    }

    /// An error that belongs to no keyword of a field (VV-60).
    fn general_error(&self, detail: &str) -> FieldError {
        FieldError::invalid(self.base.clone(), "", detail)
    }

    /// Creates an error whose text names the value that was expected.
    fn should<V: Into<Value>>(&self, at: &Location<'_>, value: V, what: &str) -> FieldError {
        let detail = format!("{} in body {what}", place::name(at));
        FieldError::invalid(place::path(self.base, at), value, &detail)
    }

    /// VV-50 to VV-53.
    fn junctors(
        &self,
        junctors: &Junctors,
        value: &Value,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        self.verdict.work.in_branches(|| {
            let mut score = self.any_of(&junctors.any_of, value, at, level, report);
            score += self.one_of(&junctors.one_of, value, at, level, report);
            score += self.all_of(&junctors.all_of, value, at, level, report);
            if junctors.not.iter().any(|id| self.verdict.branch(*id, value, level)) {
                report.add(|| self.junctor_error(at, "must not validate the schema (not)"));
            }
            score
        })
    }

    /// A branch of a junctor, with its errors and its score; none if there was too much to do.
    fn branch(
        &self,
        id: NodeId,
        value: &Value,
        at: &Location<'_>,
        level: usize,
    ) -> Option<(Score, Errors)> {
        self.verdict.work.take(ERRORS_OF_BRANCH);
        if self.verdict.work.is_over() {
            return None;
        }
        let mut branch = Errors::branch();
        let score = self.node(id, value, None, at, level, &mut branch);
        Some((score, branch))
    }

    fn junctor_error(&self, at: &Location<'_>, what: &str) -> FieldError {
        self.general_error(&format!("{} {what}", quote(&place::name(at))))
    }

    fn any_of(
        &self,
        branches: &[NodeId],
        value: &Value,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        let mut best: Option<(Score, Errors)> = None;
        for id in branches {
            let Some((score, branch)) = self.branch(*id, value, at, level) else { break };
            if !branch.has_failed() {
                return score;
            }
            keep_better(&mut best, score, branch);
        }
        let Some((score, branch)) = best else { return 0 };
        report.add(|| self.junctor_error(at, "must validate at least one schema (anyOf)"));
        report.absorb(branch);
        score
    }

    fn one_of(
        &self,
        branches: &[NodeId],
        value: &Value,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        let (mut valid, mut valid_score) = (0, 0);
        let mut best: Option<(Score, Errors)> = None;
        for id in branches {
            let Some((score, branch)) = self.branch(*id, value, at, level) else { break };
            if branch.has_failed() {
                keep_better(&mut best, score, branch);
            } else {
                (valid, valid_score) = (valid + 1, score);
            }
        }
        let what = "must validate one and only one schema (oneOf). Found";
        match (valid, best) {
            (1, _) => valid_score,
            (0, Some((score, branch))) => {
                report.add(|| self.junctor_error(at, &format!("{what} none valid")));
                report.absorb(branch);
                score
            }
            (0, None) => 0,
            _ => {
                report
                    .add(|| self.junctor_error(at, &format!("{what} {valid} valid alternatives")));
                0
            }
        }
    }

    fn all_of(
        &self,
        branches: &[NodeId],
        value: &Value,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        let (mut failed, mut score) = (0, 0);
        for id in branches {
            let Some((of_branch, branch)) = self.branch(*id, value, at, level) else { break };
            score += of_branch;
            failed += usize::from(branch.has_failed());
            report.absorb(branch);
        }
        if failed > 0 {
            let none = if failed == branches.len() { ". None validated" } else { "" };
            report.add(|| {
                self.junctor_error(at, &format!("must validate all the schemas (allOf){none}"))
            });
        }
        score
    }

    /// The checks of strings, then the format (VV-20 to VV-23, VV-70).
    fn string(&self, node: &Node, text: &str, at: &Location<'_>, report: &mut Errors) -> Score {
        self.verdict.work.take_text(text);
        if let Some(strings) = &node.strings {
            self.lengths_and_pattern(strings, text, at, report);
        }
        let Some(checker) = &node.checker else { return 1 };
        if !checker.matches(text) {
            report.add(|| {
                let (name, format) = (place::name(at), &node.format);
                let detail = format!("{name} in body must be of type {format}: {}", quote(text));
                FieldError::type_invalid(place::path(self.base, at), text, &detail)
            });
        }
        2
    }

    fn lengths_and_pattern(
        &self,
        strings: &Strings,
        text: &str,
        at: &Location<'_>,
        report: &mut Errors,
    ) {
        let Some(fault) = strings.fault(text, &self.verdict.steps) else { return };
        report.add(|| match fault {
            TextFault::TooLong(max) => FieldError::too_long(place::path(self.base, at), max),
            TextFault::TooShort(min) => {
                self.should(at, text, &format!("should be at least {min} chars long"))
            }
            TextFault::Mismatch(pattern) => {
                self.should(at, text, &format!("should match '{pattern}'"))
            }
            TextFault::TooHard(pattern) => {
                let text_of =
                    format!("should match '{pattern}', but matching takes too many steps");
                self.should(at, text, &text_of)
            }
        });
    }

    /// VV-25 to VV-29.
    fn number(&self, node: &Node, number: Num, at: &Location<'_>, report: &mut Errors) {
        let Some(numbers) = &node.numbers else { return };
        numbers.check(number, |error| {
            report.add(|| match error {
                NumberError::Range(which) => {
                    let types = node.types.names();
                    let format = numbers.context.format_text();
                    let name = place::name(at);
                    self.general_error(&format!(
                        "{which} value must be of type {types} {format} in {name}"
                    ))
                }
                NumberError::Factor(factor) => {
                    let shown = billhook_apimachinery::print::error_value(&factor);
                    let name = place::name(at);
                    let detail =
                        format!("factor MultipleOf declared for {name} must be positive: {shown}");
                    FieldError::invalid(place::path(self.base, at), factor, &detail)
                }
                NumberError::Should(value, what) => {
                    self.should(at, value, &format!("should be {what}"))
                }
            });
        });
    }

    /// VV-30 to VV-33.
    fn array(
        &self,
        node: &Node,
        items: &[Value],
        old: Option<&Value>,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        let mut score = 0;
        if let Some(id) = node.items {
            let old = old.and_then(|old| OldElements::new(node, old));
            for (index, item) in items.iter().enumerate() {
                self.verdict.work.take(1);
                if self.verdict.work.is_over() {
                    return score;
                }
                let old = old.as_ref().and_then(|old| old.get(item));
                score += self.node(id, item, old, &at.index(index), level, report);
                if report.is_done() {
                    return score;
                }
            }
        }
        let Some(counts) = &node.counts else { return score };
        self.count(counts.items, (items.len(), "items"), at, report);
        if counts.unique_items && has_duplicates(items) {
            report.add(|| self.should(at, "", "shouldn't contain duplicates"));
        }
        score
    }

    /// VV-38.
    fn enum_(&self, node: &Node, value: &Value, at: &Location<'_>, report: &mut Errors) {
        if node.enum_.is_empty() || node.enum_.admits(value, &self.verdict.work) {
            return;
        }
        report.add(|| {
            let entries = node.enum_.texts();
            let entries = entries.iter().map(String::as_str);
            FieldError::not_supported(place::path(self.base, at), deep_clone(value), entries)
        });
    }

    /// VV-34 to VV-37.
    fn object(
        &self,
        node: &Node,
        members: &Map<String, Value>,
        old: Option<&Value>,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        if let Some(counts) = &node.counts {
            self.count(counts.properties, (members.len(), "properties"), at, report);
        }
        let old_member = |key: &str| self.verdict.old_member(node, old?, key);
        let mut score = 0;
        let mut listed = Vec::new();
        self.verdict.work.take(members.len());
        if self.verdict.work.is_over() {
            return score;
        }
        for (key, member) in sorted(members) {
            match self.arena().property(node, key) {
                Some(id) => listed.push((id, key, member)),
                None => {
                    let old = old_member(key);
                    score += self.unlisted(node, (key, member), old, at, level, report);
                }
            }
        }
        for (id, key, member) in listed {
            score += self.node(id, member, old_member(key), &at.name(key), level, report);
        }
        for name in &node.required {
            if !members.contains_key(&**name) {
                report.add(|| FieldError::required(place::path(self.base, &at.name(name)), ""));
            }
        }
        score
    }

    fn count(
        &self,
        Bounds { min, max }: Bounds,
        (count, what): (usize, &str),
        at: &Location<'_>,
        report: &mut Errors,
    ) {
        if let Some(min) = min.filter(|min| (count as i64) < *min) {
            report.add(|| self.should(at, count, &format!("should have at least {min} {what}")));
        }
        if let Some(max) = max.filter(|max| (count as i64) > *max) {
            report.add(|| FieldError::too_many(place::path(self.base, at), count, max));
        }
    }

    /// A member that `properties` does not list (VV-35).
    fn unlisted(
        &self,
        node: &Node,
        (key, member): (&str, &Value),
        old: Option<&Value>,
        at: &Location<'_>,
        level: usize,
        report: &mut Errors,
    ) -> Score {
        match node.additional {
            Additional::Anything => 0,
            Additional::Forbidden => {
                report.add(|| {
                    let detail =
                        format!("{}.{key} in body is a forbidden property", place::name(at));
                    FieldError::invalid(place::path(self.base, at), key, &detail)
                });
                0
            }
            Additional::Schema(id) => self.node(id, member, old, &at.key(key), level, report),
        }
    }
}

/// Keeps the first of the branches with the highest score (VV-54).
fn keep_better(best: &mut Option<(Score, Errors)>, score: Score, branch: Errors) {
    if best.as_ref().is_none_or(|(highest, _)| score > *highest) {
        *best = Some((score, branch));
    }
}
