//! Differences of values, as errors about immutable specs show them (BK-432): the lines that the
//! longest equal blocks leave over, with some lines around them.

use std::collections::BTreeMap;
use std::ops::Range;

/// Lines around a difference.
const CONTEXT: usize = 3;

/// From this number of lines on, lines that are there often do not begin a block.
const MANY: usize = 200;

/// How many lines are compared in the search for equal blocks. All that is not found by then counts as
/// different.
const MAX_COMPARED: usize = 1 << 20;

/// Returns the lines in which two values in compact JSON differ.
pub(crate) fn difference(old: &str, new: &str) -> String {
    let (old, new) = (pretty(old), pretty(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let lines = Lines { places: places(&new), old, new };
    let mut text = String::new();
    for group in groups(&lines.steps()) {
        lines.write(&group, &mut text);
    }
    text
}

/// A part of both values: equal, or replaced.
#[derive(Clone)]
struct Step {
    old: Range<usize>,
    new: Range<usize>,
    is_equal: bool,
}

struct Lines<'l> {
    old: Vec<&'l str>,
    new: Vec<&'l str>,
    /// Where each line stands in the new value.
    places: BTreeMap<&'l str, Vec<usize>>,
}

fn places<'l>(lines: &[&'l str]) -> BTreeMap<&'l str, Vec<usize>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, line) in lines.iter().enumerate() {
        places.entry(line).or_default().push(index);
    }
    let most = lines.len() / 100 + 1;
    places.retain(|_, places| lines.len() < MANY || places.len() <= most);
    places
}

impl<'l> Lines<'l> {
    /// Returns the steps from the old value to the new one.
    fn steps(&self) -> Vec<Step> {
        let mut blocks = self.blocks();
        blocks.push((self.old.len(), self.new.len(), 0));
        let (mut old, mut new) = (0, 0);
        let mut steps: Vec<Step> = Vec::new();
        for (at, in_new, length) in blocks {
            if old < at || new < in_new {
                steps.push(Step { old: old..at, new: new..in_new, is_equal: false });
            }
            (old, new) = (at + length, in_new + length);
            let (of_old, of_new) = (at..old, in_new..new);
            match steps.last_mut().filter(|step| step.is_equal) {
                Some(step) => (step.old.end, step.new.end) = (old, new),
                None if length > 0 => {
                    steps.push(Step { old: of_old, new: of_new, is_equal: true });
                }
                None => {}
            }
        }
        steps
    }

    /// Finds the equal blocks of both values, in order: the longest one, and those before and after it.
    fn blocks(&self) -> Vec<(usize, usize, usize)> {
        let mut blocks = Vec::new();
        let mut left = MAX_COMPARED;
        let mut parts = vec![(0..self.old.len(), 0..self.new.len())];
        while let Some((old, new)) = parts.pop() {
            let (at, in_new, length) = self.longest(&old, &new, &mut left);
            if length > 0 {
                blocks.push((at, in_new, length));
                parts.push((old.start..at, new.start..in_new));
                parts.push((at + length..old.end, in_new + length..new.end));
            }
        }
        blocks.sort_unstable();
        blocks
    }

    /// Returns the longest equal block: its places and its length, which is 0 if no lines may be compared any
    /// more.
    fn longest(
        &self,
        old: &Range<usize>,
        new: &Range<usize>,
        left: &mut usize,
    ) -> (usize, usize, usize) {
        let mut best = (old.start, new.start, 0);
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        for index in old.clone() {
            let mut lengths = BTreeMap::new();
            let places = self.old.get(index).and_then(|line| self.places.get(line));
            *left = left.saturating_sub(1 + places.map_or(0, Vec::len));
            if *left == 0 {
                return (old.start, new.start, 0);
            }
            for place in places.into_iter().flatten().copied().filter(|at| new.contains(at)) {
                let earlier = place.checked_sub(1).and_then(|place| before.get(&place));
                let length = earlier.copied().unwrap_or_default() + 1;
                lengths.insert(place, length);
                if length > best.2 {
                    best = (index + 1 - length, place + 1 - length, length);
                }
            }
            before = lengths;
        }
        self.widened(best, old, new)
    }

    /// Returns a block with the equal lines around it.
    fn widened(
        &self,
        (mut at, mut in_new, mut length): (usize, usize, usize),
        old: &Range<usize>,
        new: &Range<usize>,
    ) -> (usize, usize, usize) {
        let is_same = |at: usize, in_new: usize| {
            old.contains(&at) && new.contains(&in_new) && self.old.get(at) == self.new.get(in_new)
        };
        while at > old.start && in_new > new.start && is_same(at - 1, in_new - 1) {
            (at, in_new, length) = (at - 1, in_new - 1, length + 1);
        }
        while is_same(at + length, in_new + length) {
            length += 1;
        }
        (at, in_new, length)
    }

    fn write(&self, group: &[Step], text: &mut String) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let range = |start: usize, end: usize| match end - start {
            1 => format!("{}", start + 1),
            0 => format!("{start},0"),
            length => format!("{},{length}", start + 1),
        };
        let (of_old, of_new) =
            (range(first.old.start, last.old.end), range(first.new.start, last.new.end));
        text.push_str(&format!("@@ -{of_old} +{of_new} @@\n"));
        for step in group {
            if step.is_equal {
                write_lines(" ", &self.old, &step.old, text);
            } else {
                write_lines("-", &self.old, &step.old, text);
                write_lines("+", &self.new, &step.new, text);
            }
        }
    }
}

fn write_lines(sign: &str, lines: &[&str], range: &Range<usize>, text: &mut String) {
    for line in lines.get(range.clone()).unwrap_or_default() {
        text.push_str(&format!("{sign}{line}\n"));
    }
}

/// Returns the steps in groups with equal lines around them.
fn groups(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut groups = Vec::new();
    let mut group: Vec<Step> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if !step.is_equal {
            group.push(step.clone());
            continue;
        }
        let (is_first, is_last) = (index == 0, index + 1 == steps.len());
        let length = step.old.len();
        let end = Step {
            old: step.old.start..step.old.start + length.min(CONTEXT),
            new: step.new.start..step.new.start + length.min(CONTEXT),
            is_equal: true,
        };
        let start = Step {
            old: step.old.end - length.min(CONTEXT)..step.old.end,
            new: step.new.end - length.min(CONTEXT)..step.new.end,
            is_equal: true,
        };
        match (is_first, is_last) {
            (true, true) => {}
            (true, false) => group.push(start),
            (false, true) => group.push(end),
            (false, false) if length <= 2 * CONTEXT => group.push(step.clone()),
            (false, false) => {
                group.push(end);
                groups.push(std::mem::replace(&mut group, vec![start]));
            }
        }
    }
    if group.iter().any(|step| !step.is_equal) {
        groups.push(group);
    }
    groups
}

/// Returns compact JSON with a line for each member and item.
fn pretty(json: &str) -> String {
    let mut text = String::new();
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if in_string {
            text.push(letter);
            in_string = is_escaped || letter != '"';
            is_escaped = letter == '\\' && !is_escaped;
            continue;
        }
        match letter {
            '{' | '[' if letters.next_if(|next| matches!(next, '}' | ']')).is_some() => {
                text.push_str(if letter == '{' { "{}" } else { "[]" });
            }
            '{' | '[' => {
                depth += 1;
                text.push(letter);
                new_line(&mut text, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(letter);
                new_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            letter => {
                in_string = letter == '"';
                text.push(letter);
            }
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', depth));
}
