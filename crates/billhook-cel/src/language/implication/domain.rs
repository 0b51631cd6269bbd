//! Sets of values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use billhook_regex::{Pattern, Steps, Texts};

use crate::language::ast::{Expr, Kind, Literal};

/// The steps of a search for a text that some patterns match and others do not.
const MAX_TEXT_STEPS: u64 = 1 << 18;

/// The whole numbers of an interval that are looked at one by one.
const MAX_SPAN: i64 = 64;

/// The function whose values are durations.
pub(super) const DURATION: &str = "duration";

/// A sort of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Bool,
    Int,
    Double,
    Text,
}

/// A value that equals nothing but itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Constant {
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
}

impl Constant {
    pub(super) fn of(expr: &Expr) -> Option<Constant> {
        match &expr.kind {
            Kind::Literal(Literal::Bool(value)) => Some(Constant::Bool(*value)),
            Kind::Literal(Literal::Int(value)) => Some(Constant::Int(*value)),
            Kind::Literal(Literal::String(value)) => Some(Constant::Text(Arc::clone(value))),
            _ => None,
        }
    }

    /// The constants that two expressions are. A duration is one, as its nanoseconds, where it is
    /// compared with another one: all others are durations then, too.
    pub(super) fn of_pair(one: &Expr, other: &Expr) -> (Option<Constant>, Option<Constant>) {
        match (duration(one), duration(other)) {
            (Some(one), Some(None)) => (one.map(Constant::Int), None),
            (Some(None), Some(other)) => (None, other.map(Constant::Int)),
            _ => (Constant::of(one), Constant::of(other)),
        }
    }

    fn is_of(&self, sort: Sort) -> bool {
        matches!(
            (self, sort),
            (Constant::Bool(_), Sort::Bool)
                | (Constant::Int(_), Sort::Int | Sort::Double)
                | (Constant::Text(_), Sort::Text)
        )
    }
}

/// Whether an expression is the duration of a text, and which, if that is a constant.
fn duration(expr: &Expr) -> Option<Option<i64>> {
    let Kind::Call { function, target: None, arguments } = &expr.kind else { return None };
    if **function != *DURATION {
        return None;
    }
    match arguments.as_slice() {
        [Expr { kind: Kind::Literal(Literal::String(text)), .. }] => {
            Some(Some(billhook_validation::parse_go_duration(text)?))
        }
        _ => Some(None),
    }
}

/// An end of an interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    at: i64,
    is_open: bool,
}

/// A set of values; all of them, unless something restricts it. A set with ends holds nothing but
/// numbers, and one with patterns nothing but texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Domain {
    sort: Option<Sort>,
    only: Option<BTreeSet<Constant>>,
    not: BTreeSet<Constant>,
    low: Option<End>,
    high: Option<End>,
    patterns: Vec<(Pattern, bool)>,
    /// The lengths of texts, in code points.
    lengths: (usize, Option<usize>),
}

impl Domain {
    pub(super) fn of_sort(sort: Sort) -> Domain {
        Domain { sort: Some(sort), ..Domain::default() }
    }

    pub(super) fn bool(value: bool) -> Domain {
        Domain::only([Constant::Bool(value)].into())
    }

    pub(super) fn only(constants: BTreeSet<Constant>) -> Domain {
        Domain { only: Some(constants), ..Domain::default() }
    }

    pub(super) fn other_than(constants: BTreeSet<Constant>) -> Domain {
        Domain { not: constants, ..Domain::default() }
    }

    /// The numbers that are at least, or more than, a bound.
    pub(super) fn from(at: i64, is_open: bool) -> Domain {
        Domain { low: Some(End { at, is_open }), ..Domain::default() }
    }

    /// The numbers that are at most, or less than, a bound.
    pub(super) fn up_to(at: i64, is_open: bool) -> Domain {
        Domain { high: Some(End { at, is_open }), ..Domain::default() }
    }

    /// The texts that a pattern matches, or those that it does not match.
    pub(super) fn matching(pattern: Pattern, is_wanted: bool) -> Domain {
        Domain { patterns: vec![(pattern, is_wanted)], ..Domain::default() }
    }

    /// The same for texts whose size has a domain.
    pub(super) fn sized(mut self, sizes: &Domain) -> Domain {
        let size = |end: &End| usize::try_from(end.at).ok();
        self.lengths.0 = sizes.low.as_ref().and_then(size).unwrap_or_default();
        self.lengths.1 = sizes.high.as_ref().and_then(size);
        self
    }

    /// The values that are in both.
    pub(super) fn and(&self, other: &Domain) -> Domain {
        let either = |one: Option<End>,
                      other: Option<End>,
                      is_tighter: &dyn Fn(End, End) -> bool| match (one, other)
        {
            (Some(one), Some(other)) if is_tighter(one, other) => Some(one),
            (one, other) => other.or(one),
        };
        let mut all = self.clone();
        all.sort = self.sort.or(other.sort);
        all.only = match (&self.only, &other.only) {
            (Some(one), Some(other)) => Some(one & other),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        all.not.extend(other.not.iter().cloned());
        all.low = either(self.low, other.low, &|one, other| {
            (one.at, one.is_open) > (other.at, other.is_open)
        });
        all.high = either(self.high, other.high, &|one, other| {
            (one.at, !one.is_open) < (other.at, !other.is_open)
        });
        for (pattern, is_wanted) in &other.patterns {
            if !all.has(pattern, *is_wanted) {
                all.patterns.push((pattern.clone(), *is_wanted));
            }
        }
        let ends = [self.lengths.1, other.lengths.1].into_iter().flatten();
        all.lengths = (self.lengths.0.max(other.lengths.0), ends.min());
        all.tidied()
    }

    /// The same with as few constants and as narrow an interval as it has.
    fn tidied(mut self) -> Domain {
        if self.sort == Some(Sort::Bool) && self.only.is_none() {
            self.only = Some([false, true].map(Constant::Bool).into());
        }
        if let Some(only) = self.only.take() {
            let is_in = |constant: &Constant| self.admits(constant, true);
            self.only = Some(only.into_iter().filter(is_in).collect());
            return self;
        }
        if self.sort == Some(Sort::Int) {
            self.low = self.low.map(|end| self.closed(end, 1));
            self.high = self.high.map(|end| self.closed(end, -1));
        }
        self
    }

    /// The first whole number from the end of an interval on.
    fn closed(&self, end: End, step: i64) -> End {
        let mut at = if end.is_open { end.at.checked_add(step) } else { Some(end.at) };
        while let Some(excluded) = at.filter(|at| self.not.contains(&Constant::Int(*at))) {
            at = excluded.checked_add(step);
        }
        at.map_or(End { is_open: true, ..end }, |at| End { at, is_open: false })
    }

    fn has(&self, pattern: &Pattern, is_wanted: bool) -> bool {
        self.patterns
            .iter()
            .any(|(known, wanted)| known.as_str() == pattern.as_str() && *wanted == is_wanted)
    }

    /// Whether a constant is not excluded; `otherwise` if that takes too long to tell.
    fn admits(&self, constant: &Constant, otherwise: bool) -> bool {
        let is_of_sort = self.sort.is_none_or(|sort| constant.is_of(sort));
        let is_between = match constant {
            _ if self.low.is_none() && self.high.is_none() => true,
            Constant::Int(number) => {
                let is_above = |end: End| *number > end.at || (*number == end.at && !end.is_open);
                let is_below = |end: End| *number < end.at || (*number == end.at && !end.is_open);
                self.low.is_none_or(is_above) && self.high.is_none_or(is_below)
            }
            _ => false,
        };
        let is_long = match constant {
            Constant::Text(text) if self.lengths != (0, None) => {
                let length = text.chars().count();
                length >= self.lengths.0 && self.lengths.1.is_none_or(|most| length <= most)
            }
            _ => true,
        };
        let is_matched = match constant {
            _ if self.patterns.is_empty() => true,
            Constant::Text(text) => {
                let mut steps = Steps::of(MAX_TEXT_STEPS);
                let mut patterns = self.patterns.iter();
                patterns.all(|(pattern, is_wanted)| {
                    let is_match = pattern.is_match_within(text, &mut steps);
                    is_match.map_or(otherwise, |is_match| is_match == *is_wanted)
                })
            }
            _ => false,
        };
        is_of_sort && is_between && is_long && is_matched && !self.not.contains(constant)
    }

    fn contains(&self, constant: &Constant, otherwise: bool) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(constant))
            && self.admits(constant, otherwise)
    }

    /// Whether it was said with integers.
    pub(super) fn has_integers(&self) -> bool {
        let mut constants = self.only.iter().flatten().chain(&self.not);
        self.low.is_some()
            || self.high.is_some()
            || constants.any(|constant| matches!(constant, Constant::Int(_)))
    }

    /// The sizes of its values, if all are texts.
    pub(super) fn sizes(&self) -> Option<Domain> {
        let size = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (mut least, mut most) = (self.lengths.0, self.lengths.1);
        match &self.only {
            Some(only) => {
                let lengths = only.iter().map(|constant| match constant {
                    Constant::Text(text) => Some(text.chars().count()),
                    _ => None,
                });
                let lengths: Vec<usize> = lengths.collect::<Option<_>>()?;
                (least, most) = (*lengths.iter().min()?, lengths.iter().max().copied());
            }
            None if self.is_of(Sort::Text) => {
                let empty = Constant::Text("".into());
                least = least.max(usize::from(self.not.contains(&empty)));
            }
            None => return None,
        }
        let sizes = Domain::of_sort(Sort::Int).and(&Domain::from(size(least), false));
        Some(match most {
            Some(most) => sizes.and(&Domain::up_to(size(most), false)),
            None => sizes,
        })
    }

    /// Whether all its values are of a sort.
    pub(super) fn is_of(&self, sort: Sort) -> bool {
        let are_texts = |only: &BTreeSet<Constant>| {
            !only.is_empty() && only.iter().all(|constant| constant.is_of(Sort::Text))
        };
        self.sort == Some(sort)
            || (sort == Sort::Text
                && (!self.patterns.is_empty() || self.only.as_ref().is_some_and(are_texts)))
    }

    /// Whether it is one truth value, and which.
    pub(super) fn is_bool(&self, value: bool) -> bool {
        self.only.as_ref().is_some_and(|only| only.iter().eq([&Constant::Bool(value)]))
    }

    /// The numbers that are in it after a constant was taken away from each; if they are only at
    /// most that much, without those at least.
    pub(super) fn shifted(&self, by: i64, is_exact: bool) -> Domain {
        let shifted = |end: Option<End>| {
            let End { at, is_open } = end?;
            Some(End { at: at.checked_sub(by)?, is_open })
        };
        let low = self.low.filter(|_| is_exact);
        Domain { low: shifted(low), high: shifted(self.high), ..Domain::default() }
    }

    /// The least and the greatest of its values, if all are integers.
    pub(super) fn integers(&self) -> Option<(i64, i64)> {
        if let Some(only) = &self.only {
            let integers = only.iter().map(|constant| match constant {
                Constant::Int(value) => Some(*value),
                _ => None,
            });
            let integers: Vec<i64> = integers.collect::<Option<_>>()?;
            let is_int = self.sort == Some(Sort::Int);
            return is_int
                .then_some(())
                .and_then(|()| Some((*integers.iter().min()?, *integers.iter().max()?)));
        }
        let at = |end: Option<End>, otherwise| end.map_or(otherwise, |end| end.at);
        let ends = (at(self.low, i64::MIN), at(self.high, i64::MAX));
        (self.sort == Some(Sort::Int)).then_some(ends)
    }

    fn is_number(&self) -> bool {
        matches!(self.sort, Some(Sort::Int | Sort::Double))
            || self.low.is_some()
            || self.high.is_some()
    }

    /// The texts of it; all, if nothing is known.
    fn texts(&self) -> Texts {
        let texts = Texts::default().of_length(self.lengths.0, self.lengths.1);
        self.patterns.iter().fold(texts, |texts, (pattern, is_wanted)| match is_wanted {
            true => texts.matching(pattern),
            false => texts.not_matching(pattern),
        })
    }

    /// Whether it is proved to be empty.
    pub(super) fn is_empty(&self, searches: &mut Searches) -> bool {
        if let Some(only) = &self.only {
            return only.is_empty();
        }
        if let (Some(low), Some(high)) = (self.low, self.high)
            && (low.at > high.at || (low.at == high.at && (low.is_open || high.is_open)))
        {
            return true;
        }
        self.patterns.len() > 1 && searches.have_none(&self.texts())
    }

    /// Whether it is proved that all values of another set are in it.
    pub(super) fn includes(&self, other: &Domain, searches: &mut Searches) -> bool {
        if let Some(only) = &other.only {
            let is_sort = |constant: &Constant| match self.sort {
                Some(sort @ (Sort::Bool | Sort::Text)) => constant.is_of(sort),
                sort => sort.is_none() || sort == other.sort,
            };
            return only.iter().all(|constant| is_sort(constant) && self.contains(constant, false));
        }
        if other.is_empty(searches) {
            return true;
        }
        if self.only.is_some() {
            let (Some(low), Some(high), Some(Sort::Int)) = (other.low, other.high, other.sort)
            else {
                return false;
            };
            let span = high.at.saturating_sub(low.at);
            return span <= MAX_SPAN
                && (low.at..=high.at).map(Constant::Int).all(|constant| {
                    !other.admits(&constant, true) || self.contains(&constant, false)
                });
        }
        let is_low = self.low.is_none_or(|end| {
            let holds =
                |low: End| low.at > end.at || (low.at == end.at && (low.is_open || !end.is_open));
            other.low.is_some_and(holds)
        });
        let is_high = self.high.is_none_or(|end| {
            let holds = |high: End| {
                high.at < end.at || (high.at == end.at && (high.is_open || !end.is_open))
            };
            other.high.is_some_and(holds)
        });
        self.sort.is_none_or(|sort| other.sort == Some(sort))
            && is_low
            && is_high
            && self.not.iter().all(|constant| !other.contains(constant, true))
            && (self.patterns.is_empty() || other.is_of(Sort::Text))
            && self.patterns.iter().all(|(pattern, is_wanted)| {
                other.has(pattern, *is_wanted) || {
                    let texts = other.texts();
                    let rest = match is_wanted {
                        true => texts.not_matching(pattern),
                        false => texts.matching(pattern),
                    };
                    searches.have_none(&rest)
                }
            })
    }

    /// The values of another set that are not in this one, which is restricted in one way; none if
    /// these cannot be said as one.
    pub(super) fn without(&self, other: &Domain) -> Option<Domain> {
        let Domain { sort, only, not, low, high, patterns, .. } = self;
        let rest = match (sort, only, not.is_empty(), low, high, patterns.as_slice()) {
            (None, Some(only), true, None, None, []) => Domain::other_than(only.clone()),
            (None, None, false, None, None, []) => Domain::only(not.clone()),
            (None, None, true, Some(low), None, []) if other.is_number() => {
                Domain::up_to(low.at, !low.is_open)
            }
            (None, None, true, None, Some(high), []) if other.is_number() => {
                Domain::from(high.at, !high.is_open)
            }
            (None, None, true, None, None, [(pattern, is_wanted)]) if other.is_of(Sort::Text) => {
                Domain::matching(pattern.clone(), !is_wanted)
            }
            _ => return None,
        };
        Some(other.and(&rest))
    }
}

/// Searches for texts, a bounded number of steps long together.
#[derive(Debug)]
pub(super) struct Searches {
    left: u64,
    /// Whether their absence is proved, by what was looked for.
    known: BTreeMap<String, bool>,
}

impl Searches {
    pub(super) fn of(steps: u64) -> Self {
        Searches { left: steps, known: BTreeMap::new() }
    }

    /// Whether it is proved that no such texts exist.
    fn have_none(&mut self, texts: &Texts) -> bool {
        let query = format!("{texts:?}");
        if let Some(known) = self.known.get(&query) {
            return *known;
        }
        let before = self.left.min(MAX_TEXT_STEPS);
        let mut steps = Steps::of(before);
        let has_none = texts.shortest(&mut steps) == Ok(None);
        self.left = self.left.saturating_sub(before - steps.left());
        self.known.insert(query, has_none);
        has_none
    }
}
