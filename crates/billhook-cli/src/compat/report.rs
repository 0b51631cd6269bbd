//! The answers for people: with excerpts of both files, as JSON, and as a comment.

use std::fmt::Write as _;

use billhook::{to_json_pretty, to_yaml};
use billhook_apimachinery::value::deep_clone;
use billhook_compat::Verdict;
use billhook_findings::{Finding, human as excerpt};
use serde_json::{Map, Value, json};

use super::Answered;
use crate::json::API_VERSION;

/// Answers that are not safe, with excerpts of both files and the witness; then a line for each
/// definition.
pub(super) fn human(answers: &[Answered], gone: &[Finding], explain: bool) -> String {
    let mut out = String::new();
    for one in answers {
        let is_safe = one.answer.verdict == Verdict::Safe;
        if one.is_allowed || (is_safe && !explain) {
            continue;
        }
        out.push_str(&excerpt(&one.finding, true));
        if let Some(witness) = &one.answer.witness {
            out.push_str("  witness:\n");
            for line in to_yaml(witness).lines() {
                let _ = writeln!(out, "    {line}");
            }
            out.push('\n');
        }
    }
    for finding in gone {
        out.push_str(&excerpt(finding, true));
    }
    for (name, [safe, breaks, undecided, allowed]) in counted(answers) {
        let mut parts = vec![format!("{safe} safe")];
        let more = [(breaks, "breaking"), (undecided, "undecided"), (allowed, "allowed")];
        parts
            .extend(more.iter().filter(|(count, _)| *count > 0).map(|(n, it)| format!("{n} {it}")));
        let _ = writeln!(out, "{name}: {}", parts.join(", "));
    }
    out
}

/// The definitions in their order, with the numbers of answers of each kind.
fn counted(answers: &[Answered]) -> Vec<(&str, [usize; 4])> {
    let mut counts: Vec<(&str, [usize; 4])> = Vec::new();
    for one in answers {
        let name = one.answer.definition.as_str();
        if counts.last().is_none_or(|(last, _)| *last != name) {
            counts.push((name, [0; 4]));
        }
        let Some((_, [safe, breaks, undecided, allowed])) = counts.last_mut() else { continue };
        let count = match one.answer.verdict {
            Verdict::Safe => safe,
            _ if one.is_allowed => allowed,
            Verdict::Breaks => breaks,
            Verdict::Undecided => undecided,
        };
        *count += 1;
    }
    counts
}

/// One document with all answers.
pub(super) fn json(answers: &[Answered]) -> String {
    let answers: Vec<Value> = answers.iter().map(answer).collect();
    let document = json!({
        "apiVersion": API_VERSION,
        "kind": "CompatibilityReport",
        "answers": answers,
    });
    format!("{}\n", to_json_pretty(&document))
}

fn answer(one: &Answered) -> Value {
    let answer = &one.answer;
    let path = if answer.path.is_empty() { String::new() } else { answer.path.to_string() };
    let mut object = Map::new();
    for (name, text) in [
        ("definition", answer.definition.as_str()),
        ("version", &answer.version),
        ("question", answer.question.as_str()),
        ("verdict", answer.verdict.as_str()),
        ("path", &path),
        ("change", &answer.change),
        ("reason", &answer.reason),
    ] {
        object.insert(name.to_owned(), text.into());
    }
    let witness = answer.witness.as_ref().map_or(Value::Null, |witness| deep_clone(witness));
    object.insert("witness".to_owned(), witness);
    if one.is_allowed {
        object.insert("allowed".to_owned(), true.into());
    }
    object.into()
}

/// A comment for a pull request.
pub(super) fn markdown(answers: &[Answered]) -> String {
    let open = || answers.iter().filter(|one| !one.is_allowed);
    let count = |verdict| open().filter(|one| one.answer.verdict == verdict).count();
    let (breaks, undecided) = (count(Verdict::Breaks), count(Verdict::Undecided));
    let mut out = match (breaks, undecided) {
        (0, 0) => "### The changes of the CRDs are safe\n".to_owned(),
        (0, 1) => "### A change of the CRDs is undecided\n".to_owned(),
        (0, _) => format!("### {undecided} changes of the CRDs are undecided\n"),
        (1, _) => "### A change of the CRDs breaks something\n".to_owned(),
        _ => format!("### {breaks} changes of the CRDs break something\n"),
    };
    let answers: Vec<&Answered> =
        open().filter(|one| one.answer.verdict != Verdict::Safe).collect();
    if answers.is_empty() {
        return out;
    }
    out.push_str("\n| CRD | version | question | field | change | |\n|---|---|---|---|---|---|\n");
    for one in &answers {
        let answer = &one.answer;
        let path = if answer.path.is_empty() { String::new() } else { answer.path.to_string() };
        let cells = [
            answer.definition.as_str(),
            &answer.version,
            answer.question.as_str(),
            &path,
            &answer.change,
            answer.verdict.as_str(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    for one in answers {
        let Some(witness) = &one.answer.witness else { continue };
        let summary = one.finding.text.replace('<', "&lt;").replace('\n', " ");
        let yaml = to_yaml(witness);
        let _ = write!(
            out,
            "\n<details><summary>{summary}</summary>\n\n```yaml\n{yaml}```\n\n</details>\n"
        );
    }
    out
}
