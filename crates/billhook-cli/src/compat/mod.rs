//! `billhook compat`: whether a change of definitions is safe.

pub(crate) mod args;
mod report;
mod side;

use billhook_compat::{Answer, CompareOptions, Question, Verdict, compare_with};
use billhook_findings::{Finding, Label, ObjectName, Severity, Subject};
use indexmap::IndexMap;
use serde_json::json;

use crate::compat::args::{Compat, Form};
use crate::input::Document;
use crate::options::Chosen;
use crate::parallel;
use crate::policy::Policy;
use crate::problem::{Problem, RunError, Status};
use crate::report as output;

/// An answer, with what is said about it.
pub(crate) struct Answered {
    pub(crate) answer: Answer,
    /// Whether it may be as it is.
    pub(crate) is_allowed: bool,
    pub(crate) finding: Finding,
}

/// Runs the command.
pub(crate) fn run(command: &Compat) -> Result<Status, RunError> {
    let config = command.server.config(&[])?;
    let (old, new) = match sides(command) {
        Ok(sides) => sides,
        Err(problems) => return Ok(output::problems(&problems)),
    };
    let mut policy = Policy::new(&config, &command.known)?;
    let mut answers = Vec::new();
    let mut status = Status::Fine;
    let options = CompareOptions::default().kubernetes(command.server.kubernetes(&config));
    let pairs: Vec<(&String, &Document)> = old.iter().collect();
    let threads = parallel::all_cores();
    let compare =
        |(name, old): &(&String, &Document)| compared(name, old, new.get(*name), &options);
    let Ok(()) = parallel::in_order(
        &pairs,
        threads,
        compare,
        |_| 1,
        |compared| {
            match compared {
                Ok(compared) => answers.extend(compared),
                Err(problem) => status = status.max(output::problem(&problem)),
            }
            Ok::<(), std::convert::Infallible>(())
        },
    );
    for one in &mut answers {
        one.is_allowed = command.allow.iter().any(|allowed| allowed.admits(&one.answer));
        if one.answer.verdict != Verdict::Safe && !one.is_allowed {
            let mut findings = vec![one.finding.clone()];
            policy.leave_new(&mut findings);
            one.is_allowed = findings.is_empty();
        }
    }
    for file in old.values().chain(new.values()) {
        policy.read(&file.place.file);
    }
    let (gone, written) = policy.finish();
    let counted = answers.iter().filter(|one| !one.is_allowed).map(|one| one.answer.verdict);
    let status = status.max(written).max(match counted.max() {
        Some(Verdict::Breaks) => Status::Refused,
        Some(Verdict::Undecided) => Status::Undecided,
        _ => Status::Fine,
    });
    output::write(&printed(command, &answers, gone))?;
    Ok(status)
}

type Definitions = IndexMap<String, Document>;

fn sides(command: &Compat) -> Result<(Definitions, Definitions), Vec<Problem>> {
    let read = |revision: Option<&String>, inputs: &[String]| match revision {
        None => side::definitions(inputs),
        Some(revision) => {
            let paths = if inputs.is_empty() { &[String::new()][..] } else { inputs };
            let inputs: Vec<String> =
                paths.iter().map(|path| format!("git:{revision}:{path}")).collect();
            side::definitions(&inputs)
        }
    };
    match (&command.git, command.inputs.as_slice()) {
        (Some((old, new)), inputs) => Ok((read(Some(old), inputs)?, read(Some(new), inputs)?)),
        (None, [old, new]) => {
            let one = std::slice::from_ref;
            Ok((read(None, one(old))?, read(None, one(new))?))
        }
        (None, _) => Ok(Default::default()),
    }
}

fn compared(
    name: &str,
    old: &Document,
    new: Option<&Document>,
    options: &CompareOptions,
) -> Result<Vec<Answered>, Box<Problem>> {
    let Some(new) = new else { return Ok(vec![removed(name, old)]) };
    let comparison = compare_with(&old.value, &new.value, options);
    let comparison = comparison.map_err(|error| {
        Problem::unusable(new.place.clone(), format!("`{name}` cannot be compared: {error}"))
    })?;
    let answered = |answer: Answer| {
        let finding = finding(&answer, old, Some(new));
        Answered { answer, is_allowed: false, finding }
    };
    Ok(comparison.answers.into_iter().map(answered).collect())
}

/// The answer about a definition that is not there any more.
fn removed(name: &str, old: &Document) -> Answered {
    let request = json!({"request":
        format!("GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")});
    let answer = Answer::removed(name, request);
    let finding = finding(&answer, old, None);
    Answered { answer, is_allowed: false, finding }
}

fn finding(answer: &Answer, old: &Document, new: Option<&Document>) -> Finding {
    let severity = match answer.verdict {
        Verdict::Breaks => Severity::Error,
        Verdict::Undecided => Severity::Warning,
        Verdict::Safe => Severity::Note,
    };
    let mut text = sentence(answer);
    if !answer.path.is_empty() {
        text.push_str(&format!(" at `{}`", answer.path));
    }
    for part in [&answer.change, &answer.reason].into_iter().filter(|part| !part.is_empty()) {
        text.push_str(&format!(": {part}"));
    }
    let finding = Finding::new(severity, rule(answer.question), text);
    let name = ObjectName { name: answer.definition.clone(), ..ObjectName::default() };
    let finding = finding.object(name);
    let (own, path, other) = match new {
        Some(new) => (new, &answer.new_place, Some((old, &answer.old_place))),
        None => (old, &answer.old_place, None),
    };
    let Some(place) = own.place.of_finding() else { return finding };
    let cause = other
        .filter(|_| answer.verdict != Verdict::Safe)
        .and_then(|(old, path)| Label::new(&old.place.of_finding()?, path.clone(), "as it was"));
    finding.at(&place, path.clone()).because(cause)
}

/// The answer as a sentence, as `v1 breaks writers`.
fn sentence(answer: &Answer) -> String {
    let version = if answer.version.is_empty() { "the change" } else { &answer.version };
    let whom = match answer.question {
        Question::Stored => "stored objects",
        Question::Definition => "the definition",
        question => question.as_str(),
    };
    let verdict = match answer.verdict {
        Verdict::Breaks => "breaks",
        Verdict::Undecided => "is undecided for",
        Verdict::Safe => "is safe for",
    };
    format!("{version} {verdict} {whom}")
}

fn rule(question: Question) -> &'static str {
    match question {
        Question::Writers => "CC-20",
        Question::Stored => "CC-21",
        Question::Readers => "CC-23",
        Question::Appliers => "CC-24",
        _ => "CC-22",
    }
}

fn printed(command: &Compat, answers: &[Answered], gone: Vec<Finding>) -> String {
    let format = match command.format {
        Chosen::Own(Form::Human) => return report::human(answers, &gone, command.explain),
        Chosen::Own(Form::Json) => return report::json(answers),
        Chosen::Own(Form::Markdown) => return report::markdown(answers),
        Chosen::Findings(format) => format,
    };
    let mut subjects: IndexMap<&str, Subject> = IndexMap::new();
    for one in answers {
        let name = one.answer.definition.as_str();
        let subject = subjects
            .entry(name)
            .or_insert_with(|| Subject::new(one.finding.file(), name, Vec::new()));
        if !one.is_allowed && (one.answer.verdict != Verdict::Safe || command.explain) {
            subject.findings.push(one.finding.clone());
        }
    }
    let mut subjects: Vec<Subject> = subjects.into_values().collect();
    if !gone.is_empty() {
        subjects.push(Subject::new("", "baseline", gone));
    }
    billhook_findings::print(format, &subjects)
}
