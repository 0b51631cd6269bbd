//! The options of `billhook compat`.

use billhook::{FieldPath, Segment};
use billhook_compat::{Answer, Question};
use clap::Args;

use crate::options::{Chosen, format_parser};
use crate::policy::Known;
use crate::server::Server;

pub(crate) const HELP: &str = "\
Each version of each CRD is asked five questions:
  writers     are manifests that were accepted still accepted, and do they mean the same?
  stored      can stored objects be read, and updated elsewhere than where they offend?
  readers     do clients with the old types understand what is written from now on?
  appliers    does server-side apply merge as before?
  definition  does a server accept the change, and do clients find what they know?

The answer is `safe` with a proof, `breaks` with an object that shows it, on which both CRDs were
run, or `undecided`.

With `--git main..HEAD config/crd`, or as `git:v1.2.0:config/crd`, CRDs are read from revisions of
the repository around.

Exit status:
  0  all is safe, or allowed
  1  something breaks
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD
  3  nothing breaks, but something is undecided

Examples:
  billhook compat crds/ new-crds/
  billhook compat --format json --allow readers --allow writers:spec.mode crds/ new-crds/";

#[derive(Debug, Args)]
pub(crate) struct Compat {
    /// Compare two revisions of the repository around, as `main..HEAD`; the arguments are then paths in it
    #[arg(long, value_name = "OLD..NEW", value_parser = revisions)]
    pub(crate) git: Option<(String, String)>,
    /// Answers that may break or be undecided: a question, or a question and the field that it is
    /// about, with those below; may be repeated
    #[arg(long, value_name = "QUESTION[:PATH]", value_parser = allowed)]
    pub(crate) allow: Vec<Allowed>,
    /// Format of the answers
    #[arg(
        long,
        value_parser = format_parser(FORMS),
        value_name = "FORMAT",
        default_value = "human"
    )]
    pub(crate) format: Chosen<Form>,
    #[command(flatten)]
    pub(crate) server: Server,
    #[command(flatten)]
    pub(crate) known: Known,
    /// Print the proofs, too: what is safe, and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// The old CRDs and the new ones: files, directories, Helm charts or `git:REVISION:PATH`
    #[arg(value_name = "CRDS")]
    pub(crate) inputs: Vec<String>,
}

impl Compat {
    /// Checks combinations of options that clap cannot rule out.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        match (&self.git, self.inputs.len()) {
            (None, 2) | (Some(_), _) => Ok(()),
            (None, _) => Err("expected OLD and NEW, or `--git`"),
        }
    }
}

/// A form of all answers, with their witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Human,
    Json,
    Markdown,
}

const FORMS: &[(Form, &str, &str)] = &[
    (Form::Human, "human", "Excerpts of both files, and witnesses as YAML"),
    (Form::Json, "json", "One JSON document with all answers"),
    (Form::Markdown, "markdown", "A comment for a pull request"),
];

/// An answer that may break.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allowed {
    question: Question,
    path: Option<String>,
}

impl Allowed {
    /// Whether an answer is one of these.
    pub(crate) fn admits(&self, answer: &Answer) -> bool {
        let is_below = |path: &String| {
            let own = plain(&answer.path);
            own == *path || own.strip_prefix(path.as_str()).is_some_and(|it| it.starts_with('.'))
        };
        self.question == answer.question && self.path.as_ref().is_none_or(is_below)
    }
}

/// A path without positions, which people leave out.
fn plain(path: &FieldPath) -> String {
    let names = path.segments().filter_map(|segment| match segment {
        Segment::Name(name) | Segment::Key(name) => Some(name),
        _ => None,
    });
    names.collect::<Vec<_>>().join(".")
}

fn allowed(text: &str) -> Result<Allowed, String> {
    let (question, path) = match text.split_once(':') {
        Some((question, path)) => (question, Some(path.replace("[]", ""))),
        None => (text, None),
    };
    let known = Question::ALL.into_iter().find(|known| known.as_str() == question);
    let question = known.ok_or_else(|| {
        let names = Question::ALL.map(Question::as_str);
        format!("expected one of {}", names.join(", "))
    })?;
    Ok(Allowed { question, path })
}

fn revisions(text: &str) -> Result<(String, String), String> {
    match text.split_once("..") {
        Some((old, new)) if !old.is_empty() && !new.is_empty() && !new.starts_with('.') => {
            Ok((old.to_owned(), new.to_owned()))
        }
        _ => Err("expected two revisions, as in `main..HEAD`".to_owned()),
    }
}
