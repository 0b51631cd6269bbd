//! Comments that ignore findings: `# billhook: ignore PR-12 because …`, on the line of a finding or
//! on the line above.

use std::sync::Arc;

use billhook::Span;
use billhook_findings::{Finding, Place, Severity, Source};

use super::UNUSED;
use super::config::{is_rule, unknown_rule};

const NAME: &str = "# billhook";
const MARK: &str = ": ";
const IGNORE: &str = "ignore";

/// The comments of a text.
#[derive(Debug, Default)]
pub(super) struct Ignores {
    source: Arc<Source>,
    comments: Vec<Comment>,
}

#[derive(Debug)]
struct Comment {
    span: Span,
    /// The line that it is for.
    line: usize,
    /// The rules that it ignores, or why it does nothing.
    rules: Result<Vec<Rule>, &'static str>,
}

#[derive(Debug)]
struct Rule {
    id: String,
    /// Whether anything was ignored.
    is_used: bool,
}

impl Ignores {
    pub(super) fn read(source: &Arc<Source>) -> Self {
        let text = source.text();
        let mut comments: Vec<Comment> = Vec::new();
        let mut scalars: Option<Vec<Span>> = None;
        // From the end: a comment above another one is for the same line.
        let mut next = None;
        for (start, _) in text.rmatch_indices(NAME) {
            let said = text.get(start + NAME.len()..).and_then(|rest| rest.lines().next());
            let Some(rules) = said.and_then(rules) else { continue };
            let scalars = scalars.get_or_insert_with(|| scalars_of(source));
            if is_comment(text, start, scalars) {
                let comment = comment(source, start, rules, next);
                next = Some((source.position(start).line, comment.line));
                comments.push(comment);
            }
        }
        comments.reverse();
        Ignores { source: source.clone(), comments }
    }

    /// Whether a finding is to be ignored, by comments for its own line or for that where the whole
    /// begins that it is in.
    pub(super) fn ignore(&mut self, finding: &Finding, whole: Option<usize>) -> bool {
        let own = finding.start().map(|start| start.line);
        own.into_iter().chain(whole).any(|line| self.ignore_on(line, finding))
    }

    fn ignore_on(&mut self, line: usize, finding: &Finding) -> bool {
        let first = self.comments.partition_point(|comment| comment.line < line);
        let on_line = self.comments.iter_mut().skip(first).take_while(|it| it.line == line);
        let mut rules = on_line.flat_map(|comment| &mut comment.rules).flatten();
        match rules.find(|rule| rule.id == finding.rule) {
            Some(rule) => {
                rule.is_used = true;
                true
            }
            None => false,
        }
    }

    /// Returns findings about comments that have ignored nothing, except for rules that only other
    /// commands look at.
    pub(super) fn unused(&self, is_looked_at: fn(&str) -> bool) -> Vec<Finding> {
        let place = Place::file(self.source.clone());
        let finding = |comment: &Comment, text: String| {
            Finding::new(Severity::Warning, UNUSED, text).at_span(&place, comment.span)
        };
        let mut found = Vec::new();
        for comment in &self.comments {
            let rules = comment.rules.as_deref().unwrap_or_default();
            if rules.is_empty() {
                let text = comment.rules.as_ref().err().unwrap_or(&"no rule is ignored here");
                let help = "`# billhook: ignore PR-12 because …` names the rule";
                found.push(finding(comment, (*text).to_owned()).help(help));
            }
            for Rule { id, is_used } in rules {
                if !is_rule(id) {
                    found.push(finding(comment, unknown_rule(id)));
                } else if !is_used && is_looked_at(id) {
                    let text = format!("`{id}` is ignored here, but nothing is found");
                    found.push(finding(comment, text).help("remove the comment"));
                }
            }
        }
        found
    }
}

/// Where scalars are written: what looks like a comment there is text. Sorted.
fn scalars_of(source: &Source) -> Vec<Span> {
    let documents = source.documents();
    let mut spans: Vec<Span> = documents.flat_map(|spans| spans.scalars()).collect();
    spans.sort();
    spans
}

fn is_comment(text: &str, start: usize, scalars: &[Span]) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let begins = before.is_empty() || before.ends_with([' ', '\t', '\n', '\r']);
    let after = scalars.partition_point(|scalar| scalar.start <= start);
    let scalar = after.checked_sub(1).and_then(|at| scalars.get(at));
    begins && scalar.is_none_or(|scalar| scalar.end <= start)
}

/// Reads a comment; of the next one the line where it is and the one that it is for are known.
fn comment(
    source: &Source,
    start: usize,
    rules: Result<Vec<Rule>, &'static str>,
    next: Option<(usize, usize)>,
) -> Comment {
    let text = source.text();
    let line_of = |at: usize| source.position(at).line;
    let own = line_of(start);
    let whole = |line: usize| {
        text.get(source.line_start(line)..source.line_start(line + 1)).unwrap_or_default().trim()
    };
    let end = start
        + text.get(start..).unwrap_or_default().find(['\n', '\r']).unwrap_or(text.len() - start);
    let line = match whole(own).starts_with('#') {
        false => own,
        // The next line that is not a comment.
        true => (own + 1..=line_of(text.len()))
            .find_map(|line| match (whole(line), next) {
                (_, Some((at, target))) if at == line => Some(target),
                (text, _) if text.is_empty() || text.starts_with('#') => None,
                _ => Some(line),
            })
            .unwrap_or(own),
    };
    Comment { span: Span::new(start, end), line, rules }
}

/// Reads what a comment says after the name, up to the end of the line; `None` if it is only about
/// billhook.
fn rules(said: &str) -> Option<Result<Vec<Rule>, &'static str>> {
    let Some(said) = said.strip_prefix(MARK) else {
        let is_meant = said.trim_start_matches([':', ' ', '\t']).starts_with(IGNORE);
        let text = "this comment does nothing: a colon and a space must follow `# billhook`";
        return (is_meant && !said.starts_with(IGNORE)).then_some(Err(text));
    };
    let mut words = said.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    if words.next() != Some(IGNORE) {
        return Some(Err("this comment does nothing: only `ignore` is known"));
    }
    let rules = words.take_while(|word| word.trim_end_matches(':') != "because");
    Some(Ok(rules.map(|id| Rule { id: id.to_owned(), is_used: false }).collect()))
}
