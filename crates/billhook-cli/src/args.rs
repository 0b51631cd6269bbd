//! The command line: subcommands, their options and the texts of `--help`. The types here mirror
//! what the user may write; the library's own types are made from them.

use std::ffi::OsString;
use std::path::PathBuf;

use billhook::{CrdOptions, Dialect, MAX_LINE};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::admit::args::Admit;
use crate::apply::args::Apply;
use crate::compat::args::Compat;
use crate::convert::args::Convert;
use crate::data::Data;
use crate::diff::args::Diff;
use crate::envtest::Envtest;
use crate::explain::Explain;
use crate::expression::args::ExplainExpression;
use crate::fixing::Fixing;
use crate::matching::args::Match;
use crate::normal::Normal;
use crate::options::{CrdPaths, FindingsFormat, Format, Jobs, Report, Validation, read_stdin_once};
use crate::owners::Owners;
use crate::policy::{Config, Known};
use crate::serve::Serve;
use crate::server::{Server, Versions, example_range, version_help, versions};
use crate::shell::{Completions, Man};
use crate::size::Size;
use crate::suites::Test;
use crate::watch::Watch;

/// Show what a Kubernetes API server does to custom resources and objects of built-in kinds: which
/// fields it prunes, which nulls it removes, which defaults it sets, and why; and which errors it
/// finds in them.
#[derive(Debug, Parser)]
#[command(name = "billhook", version, max_term_width = 100, after_help = ALL_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Subcommands,
    /// Largest file or standard input to read; with `decode --ndjson`, longest line
    #[arg(long, global = true, value_name = "SIZE", default_value_t = Size(MAX_LINE), display_order = 900)]
    pub(crate) max_input: Size,
}

const ALL_HELP: &str = "\
Exit status:
  0  all is well
  1  something is refused, differs or fails; `billhook help COMMAND` says what
  2  unusable input: bad arguments, a missing file, not YAML or JSON

Examples:
  billhook validate --crd crds/ backup.yaml
  billhook check crds/
  billhook decode --crd crds/ backup.yaml";

const VALIDATE_HELP: &str = "\
Exit status:
  0  no object is refused or invalid
  1  an object is refused or invalid
  2  unusable input: bad arguments, a missing file, not YAML or JSON, an object of an unknown kind
     unless --ignore-missing is given

Examples:
  billhook validate --strict --ignore-missing manifests/
  billhook validate --crd crds/ --old live.yaml backup.yaml
  billhook validate --crd crds/ --format sarif manifests/";

#[derive(Debug, Subcommand)]
pub(crate) enum Subcommands {
    #[command(flatten)]
    Decode(Command),
    /// Validate objects as a server does on create, or with --old on update
    #[command(after_help = VALIDATE_HELP)]
    Validate(Validate),
    /// Send objects through the whole write path of a server, webhooks included
    #[command(after_help = crate::admit::args::HELP)]
    Admit(Box<Admit>),
    /// Convert objects to another version, by the strategy of their CRD or its webhook
    #[command(after_help = crate::convert::args::HELP)]
    Convert(Convert),
    /// Apply configurations as `kubectl apply --server-side` does, without a server
    #[command(after_help = crate::apply::args::HELP)]
    Apply(Box<Apply>),
    /// Show who owns which fields of an object
    #[command(after_help = crate::owners::HELP)]
    Owners(Owners),
    /// Show how live objects differ from manifests, and why
    #[command(after_help = crate::diff::args::HELP)]
    Diff(Diff),
    /// Print objects in the form that makes manifests and live objects comparable
    #[command(after_help = crate::normal::HELP)]
    Normalize(Normal),
    /// Print the smallest manifests that a server expands to the same objects
    #[command(after_help = crate::normal::HELP)]
    Neat(Normal),
    /// Check CRDs, webhook configurations and admission policies as a server does when they are
    /// created or updated
    #[command(after_help = check_help())]
    Check(Check),
    /// Tell whether a change of CRDs is safe: with a proof, or with an object that breaks
    #[command(after_help = crate::compat::args::HELP)]
    Compat(Box<Compat>),
    /// Show which webhooks and admission policies a request goes to, and why not to the others
    #[command(after_help = crate::matching::args::HELP)]
    Match(Box<Match>),
    /// Run test suites of CRDs
    #[command(after_help = crate::suites::HELP)]
    Test(Test),
    /// Serve an API for custom resources to kubectl and other clients
    #[command(after_help = crate::serve::HELP)]
    Serve(Box<Serve>),
    /// Take the place of kube-apiserver and etcd in test suites of Go, with `envtest`
    #[command(after_help = crate::envtest::HELP)]
    Envtest(Envtest),
    /// Check, shrink or export the file of a server's objects
    #[command(after_help = crate::data::HELP)]
    Data(Data),
    /// Print rules by their ids, as changes and findings name them
    #[command(after_help = crate::explain::HELP)]
    Explain(Explain),
    /// Evaluate an expression and show the value of each part of it
    #[command(after_help = crate::expression::args::HELP)]
    ExplainExpression(Box<ExplainExpression>),
    /// Print completions for a shell
    #[command(after_help = crate::shell::COMPLETIONS_HELP)]
    Completions(Completions),
    /// Write manual pages
    #[command(after_help = crate::shell::MAN_HELP)]
    Man(Man),
}

/// Returns the arguments with the directories of `kubectl diff` at the end: kubectl puts them before those
/// of `KUBECTL_EXTERNAL_DIFF`.
pub(crate) fn in_order(mut all: Vec<OsString>) -> Vec<OsString> {
    let is_of_kubectl = all.get(3).is_some_and(|argument| argument == "diff")
        && all.iter().any(|argument| argument == "--kubectl");
    if let [_, arguments @ ..] = all.as_mut_slice()
        && is_of_kubectl
    {
        arguments.rotate_left(2);
    }
    all
}

/// The help of `check --kubernetes`.
fn versions_help() -> String {
    version_help(&format!(", or a range such as {}", example_range()))
}

/// The help of `check` after its options.
fn check_help() -> String {
    let range = example_range();
    format!(
        "\
Errors in CRDs name places as the server does: what all versions have in common is at
`spec.validation`, `spec.subresources`, `spec.additionalPrinterColumns` and
`spec.selectableFields`.

For a range of versions there is a line for each document: which versions accept it, what needs a
newer one, what a newer one refuses, and the first error of each version.

Webhook configurations get advice as well: `lint` is likely to be wrong, `note` is to be kept in
mind.

With `--report json`, `ruleCosts` lists what each rule of a CRD may cost at most, beside the limit.

Exit status:
  0  everything is accepted; advice does not count
  1  a document is refused, by any of the versions
  2  unusable input: bad arguments, a missing file, not YAML or JSON, nothing to check

Examples:
  billhook check crds/
  billhook check --kubernetes {range} crds/
  billhook check --old crds/ --format github crds/ hooks.yaml"
    )
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Stored documents: a file, a directory or `-` for standard input; may be repeated. Documents of
    /// the same kind and name are checked as updates of them, all others as new ones
    #[arg(long, value_name = "FILE")]
    pub(crate) old: Vec<PathBuf>,
    #[arg(long, value_name = "VERSIONS", value_parser = versions, help = versions_help())]
    kubernetes: Option<Versions>,
    /// Settings of the project [default: billhook.toml in the directory of the first input or above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) known: Known,
    /// Roles that `serve --record-rbac` wrote. Rules of Roles and ClusterRoles that no request of that
    /// run needed are noted
    #[arg(long, value_name = "FILE")]
    pub(crate) used_rbac: Option<PathBuf>,
    /// Handling of unknown and duplicate fields [default: warn]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) field_validation: Option<Validation>,
    /// Format of the report: text, with long values cut, or one JSON document
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text, conflicts_with = "format")]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) findings: FindingsFormat,
    #[command(flatten)]
    pub(crate) fixing: Fixing,
    #[command(flatten)]
    watch: Watch,
    /// Print only documents that are not accepted
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) jobs: Jobs,
    /// CRDs, webhook configurations, admission policies and their bindings, roles: files, directories
    /// or `-` for standard input
    #[arg(value_name = "DOCUMENT", required = true)]
    pub(crate) documents: Vec<PathBuf>,
}

/// Returns the help on the exit status of a step that changes objects, and examples of it.
macro_rules! step_help {
    ($($example:literal)*) => {
        concat!(
            "\
Exit status:
  0  no object is refused; they may have changed
  1  an object is refused or, with --check, would change
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD for an object

Examples:",
            $("\n  billhook ", $example,)*
        )
    };
}

const DECODE_HELP: &str = step_help!(
    "decode --crd crds/ backup.yaml"
    "decode --crd crds/ --from storage --output json live.yaml"
    "decode --crd crds/ --field-validation strict --format human manifests/"
);

const PRUNE_HELP: &str = step_help!(
    "prune --crd crds/ backup.yaml"
    "prune --crd crds/ --check --quiet manifests/"
);

const DEFAULT_HELP: &str = step_help!(
    "default --crd crds/ backup.yaml"
    "default --crd crds/ --remove-nulls --output json backup.yaml"
);

/// The steps that change objects.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decode objects as a server decodes a request body or a stored object
    #[command(after_help = DECODE_HELP)]
    Decode(Decode),
    /// Remove the fields that the schema does not specify, and do nothing else
    #[command(after_help = PRUNE_HELP)]
    Prune(Prune),
    /// Set the defaults of the schema, and do nothing else
    #[command(after_help = DEFAULT_HELP)]
    Default(Default),
}

#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// Source of the objects
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = From::Request)]
    pub(crate) from: From,
    /// Handling of unknown and duplicate fields [default: warn]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) field_validation: Option<Validation>,
    /// Read JSON objects, one a line, and write them the same way; neither changes nor warnings
    /// are printed. All objects of a file are of the kind and version of its first one
    #[arg(long, conflicts_with_all = ["from", "output", "report", "format", "check", "fix", "diff", "watch"])]
    pub(crate) ndjson: bool,
    #[command(flatten)]
    fixing: Fixing,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Default {
    /// Remove nulls first, as a server does
    #[arg(long)]
    pub(crate) remove_nulls: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) crd: CrdPaths,
    /// Stored objects, found by kind, namespace and name: a file, a directory or `-`; may be repeated.
    /// The objects are then validated as updates
    #[arg(long, value_name = "FILE")]
    pub(crate) old: Vec<PathBuf>,
    /// Subresource to update
    #[arg(long, value_enum, value_name = "NAME", requires = "old")]
    pub(crate) subresource: Option<Subresource>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Skip decoding: nothing is pruned, defaulted or coerced, as after admission
    #[arg(long, conflicts_with = "field_validation")]
    pub(crate) no_decode: bool,
    /// Handling of unknown and duplicate fields [default: warn]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) field_validation: Option<Validation>,
    /// Refuse objects with unknown or duplicate fields: --field-validation strict
    #[arg(long, conflicts_with_all = ["field_validation", "no_decode"])]
    strict: bool,
    /// Skip objects whose kind is neither built in nor that of a CRD
    #[arg(long)]
    pub(crate) ignore_missing: bool,
    /// Namespace of the request, for objects without one
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default")]
    pub(crate) namespace: String,
    /// Format of the report: text, or one JSON document
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text, conflicts_with = "format")]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) findings: FindingsFormat,
    #[command(flatten)]
    pub(crate) fixing: Fixing,
    #[command(flatten)]
    pub(crate) known: Known,
    #[command(flatten)]
    watch: Watch,
    /// Print only objects that are not valid
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) jobs: Jobs,
    /// Objects: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT", required = true)]
    pub(crate) objects: Vec<PathBuf>,
}

impl Validate {
    /// The handling of unknown and duplicate fields, if it was chosen.
    pub(crate) fn field_validation(&self) -> Option<Validation> {
        self.field_validation.or(self.strict.then_some(Validation::Strict))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subresource {
    /// Update only `status`
    Status,
}

/// The options of all steps that change objects.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) crd: CrdPaths,
    /// Version of the CRD to use [default: the object's own; with `decode --from storage` the version
    /// that objects are stored in]
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Behavior to reproduce
    #[arg(long, value_enum, value_name = "DIALECT", default_value_t = Rules::Kubernetes)]
    dialect: Rules,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Output format of objects
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Yaml)]
    pub(crate) output: Format,
    /// Format of the report: text on standard error, or one JSON document on standard output that
    /// holds the objects too
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text, conflicts_with = "format")]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) findings: FindingsFormat,
    /// Print no objects; exit with status 1 if any of them would change
    #[arg(long)]
    pub(crate) check: bool,
    /// Print no changes, only warnings and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) jobs: Jobs,
    /// Objects: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT", required = true)]
    pub(crate) objects: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// The body of a create or update request
    Request,
    /// Storage, on a read
    Storage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rules {
    /// Behavior of a server
    Kubernetes,
    /// Behavior that the KEPs on pruning and defaulting describe
    Kep,
}

impl Command {
    pub(crate) fn common(&self) -> &Common {
        match self {
            Command::Decode(decode) => &decode.common,
            Command::Prune(prune) => &prune.common,
            Command::Default(default) => &default.common,
        }
    }

    /// The use of safe edits, which only decoding finds.
    pub(crate) fn fixing(&self) -> Fixing {
        match self {
            Command::Decode(decode) => decode.fixing,
            _ => Fixing::default(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Command::Decode(_) => "decode",
            Command::Prune(_) => "prune",
            Command::Default(_) => "default",
        }
    }

    /// Checks combinations of options that clap cannot rule out.
    fn check(&self) -> Result<(), &'static str> {
        let common = self.common();
        read_stdin_once(common.crd.paths.iter().chain(&common.objects))?;
        self.fixing().check(&common.objects)?;
        if let Command::Decode(decode) = self {
            decode.watch.check(common.crd.paths.iter().chain(&common.objects))?;
        }
        match self {
            Command::Decode(decode)
                if decode.from == From::Storage && decode.field_validation.is_some() =>
            {
                Err("`--field-validation` is for requests, not for `--from storage`")
            }
            _ => Ok(()),
        }
    }
}

impl Subcommands {
    /// Whether the command is to be run again when something changes.
    pub(crate) fn watches(&self) -> bool {
        let watch = match self {
            Subcommands::Decode(Command::Decode(decode)) => decode.watch,
            Subcommands::Validate(validate) => validate.watch,
            Subcommands::Check(check) => check.watch,
            Subcommands::Test(test) => test.watch,
            _ => return false,
        };
        watch.watch
    }

    /// Checks combinations of options that clap cannot rule out.
    pub(crate) fn check(&self) -> Result<(), clap::Error> {
        let (name, checked) = match self {
            Subcommands::Decode(command) => (command.name(), command.check()),
            Subcommands::Validate(validate) => {
                let paths = validate.crd.paths.iter().chain(&validate.old).chain(&validate.objects);
                let fixing = validate.fixing.check(&validate.objects);
                let watch = validate.watch.check(paths.clone());
                let known = validate.known.check(validate.watch.watch);
                ("validate", read_stdin_once(paths).and(fixing).and(watch).and(known))
            }
            Subcommands::Check(check) => ("check", check.check()),
            Subcommands::Match(command) => ("match", command.check()),
            Subcommands::Admit(admit) => ("admit", read_stdin_once(admit.paths())),
            Subcommands::Compat(compat) => ("compat", compat.check()),
            Subcommands::Convert(convert) => ("convert", read_stdin_once(convert.paths())),
            Subcommands::Apply(apply) => ("apply", read_stdin_once(apply.paths())),
            Subcommands::Owners(_) => ("owners", Ok(())),
            Subcommands::Diff(diff) => ("diff", read_stdin_once(diff.paths())),
            Subcommands::Normalize(command) => ("normalize", command.check()),
            Subcommands::Neat(command) => ("neat", command.check()),
            Subcommands::Data(_)
            | Subcommands::Completions(_)
            | Subcommands::Envtest(_)
            | Subcommands::Man(_) => {
                return Ok(());
            }
            Subcommands::Test(test) => ("test", test.check()),
            Subcommands::Serve(serve) => {
                ("serve", read_stdin_once(serve.crd.iter().chain(&serve.load)))
            }
            Subcommands::ExplainExpression(command) => {
                ("explain-expression", read_stdin_once(command.paths()))
            }
            Subcommands::Explain(explain) => {
                return explain.check().map_err(|text| conflict("explain", &text));
            }
        };
        checked.map_err(|text| conflict(name, text))
    }
}

fn conflict(subcommand: &str, text: &str) -> clap::Error {
    let mut cli = Cli::command();
    cli.build();
    let kind = clap::error::ErrorKind::ArgumentConflict;
    match cli.find_subcommand_mut(subcommand) {
        Some(subcommand) => subcommand.error(kind, text),
        None => cli.error(kind, text),
    }
}

impl Check {
    /// Checks combinations of options that clap cannot rule out.
    fn check(&self) -> Result<(), &'static str> {
        let is_range = self.kubernetes.as_ref().is_some_and(|versions| versions.single().is_none());
        if is_range && (self.findings.given().is_some() || self.findings.is_status()) {
            return Err("`--format` is for one version, not for a range of `--kubernetes`");
        }
        if is_range && self.fixing.is_wanted() {
            return Err("edits are for one version, not for a range of `--kubernetes`");
        }
        self.fixing.check(&self.documents)?;
        self.known.check(self.watch.watch)?;
        self.watch.check(self.old.iter().chain(&self.documents))?;
        read_stdin_once(self.old.iter().chain(&self.documents))
    }

    pub(crate) fn kubernetes(&self, config: &Config) -> Versions {
        self.kubernetes.clone().unwrap_or_else(|| config.kubernetes().unwrap_or_default().into())
    }
}

impl Common {
    pub(crate) fn crd_options(&self, config: &Config) -> CrdOptions {
        self.server.crd_options(config).dialect(match self.dialect {
            Rules::Kubernetes => Dialect::Kubernetes,
            Rules::Kep => Dialect::Kep,
        })
    }
}
