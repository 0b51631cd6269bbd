//! The options of `billhook explain-expression`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::allow::{Allow, allow};
use crate::options::CRD_FORMS;
use crate::server::Server;

pub(crate) const HELP: &str = "\
A variable is declared if its value is given. `self` and `oldSelf` have the types of the CRD, if
there is one; all other objects have no types, as in admission policies.

A part that is not needed, because another one decides, is not evaluated. Of a macro such as `all`,
the first ten elements and the last one are shown.

Exit status:
  0  the expression has a value
  1  the evaluation fails
  2  unusable input: bad arguments, a missing file, not YAML or JSON, not an expression

Examples:
  billhook explain-expression --object live.yaml 'object.spec.schedule.startsWith(\"0\")'
  billhook explain-expression --crd crds/ --self live.yaml --path spec 'self.target.url != \"\"'
  billhook explain-expression --request review.json 'request.userInfo.username == \"carol\"'";

#[derive(Debug, Args)]
pub(crate) struct ExplainExpression {
    /// Value of `object`: a file or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) object: Option<PathBuf>,
    /// Value of `oldObject`: a file or `-`
    #[arg(long, value_name = "FILE")]
    pub(super) old_object: Option<PathBuf>,
    /// Captured AdmissionReview with the value of `request`: a file or `-`. It has the values of
    /// `object` and `oldObject` too, unless they are given
    #[arg(long, value_name = "REVIEW")]
    pub(super) request: Option<PathBuf>,
    /// Value of `params`: a file or `-`
    #[arg(long, value_name = "FILE")]
    pub(super) params: Option<PathBuf>,
    /// Value of `namespaceObject`: a file or `-`
    #[arg(long, value_name = "FILE")]
    pub(super) namespace_object: Option<PathBuf>,
    /// Object of a rule of a CRD, with `self` at --path: a file or `-`
    #[arg(long = "self", value_name = "FILE")]
    pub(super) of_rule: Option<PathBuf>,
    /// Old object of a rule of a CRD, with `oldSelf` at --path: a file or `-`
    #[arg(long = "old-self", value_name = "FILE", requires = "of_rule")]
    pub(super) old_of_rule: Option<PathBuf>,
    /// Place of `self` in its object, such as `spec.ports[0]` [default: the object itself]
    #[arg(long, value_name = "PATH", requires = "of_rule")]
    pub(super) path: Option<String>,
    #[arg(long, value_name = "FILE", requires = "of_rule", help = format!("{CRD_FORMS}. They give \
        `self` and `oldSelf` their types"))]
    pub(super) crd: Vec<PathBuf>,
    /// Variable `variables.NAME` of a policy; those after it may use it. May be repeated
    #[arg(long, value_name = "NAME=EXPRESSION", value_parser = variable)]
    pub(super) variable: Vec<(String, String)>,
    /// Permission granted to the user of --request, for `authorizer`, with `*` for all verbs; all
    /// others are denied. May be repeated [default: `authorizer` is not declared]
    #[arg(long, value_name = "VERB[:RESOURCE[.GROUP]]", value_parser = allow, requires = "request")]
    pub(super) allow: Vec<Allow>,
    #[command(flatten)]
    pub(super) server: Server,
    /// Format of the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Human)]
    pub(super) format: Format,
    /// CEL expression
    #[arg(value_name = "EXPRESSION")]
    pub(super) expression: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A tree
    Human,
    /// One JSON document
    Json,
}

/// Reads `NAME=EXPRESSION`.
fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, expression)) if billhook_cel::is_identifier(name.trim()) => {
            Ok((name.trim().to_owned(), expression.trim().to_owned()))
        }
        _ => Err("expected NAME=EXPRESSION, with an identifier of CEL as name".to_owned()),
    }
}

impl ExplainExpression {
    /// All paths that standard input may stand for.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let objects = [&self.object, &self.old_object, &self.request, &self.params];
        let others = [&self.namespace_object, &self.of_rule, &self.old_of_rule];
        objects.into_iter().chain(others).flatten().chain(&self.crd)
    }
}
