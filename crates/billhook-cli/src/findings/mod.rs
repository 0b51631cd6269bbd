//! From the outcomes of commands to findings, and the printing of those.

mod collector;

use billhook::{CrdVersion, FieldError, FieldPath, Span, StatusCause};
use billhook_admission::deprecation_warning;
use billhook_findings::{DeprecatedField, Finding, ObjectName, SchemaSource, Severity};
use billhook_suite::{Failure, Plan};

use crate::advice::Advice;
use crate::built_in::record_of;
use crate::identity::Identity;
use crate::problem::{Place, Problem, Status};
use crate::report::error_text;
use crate::summary::count;
pub(crate) use collector::{Collector, text};

/// How many findings of one severity are made of an object. Each takes a hundred times the memory of
/// a field.
const MAX_FINDINGS: usize = 10_000;

/// The rules of texts that a server gives no reason for.
pub(crate) const REFUSED: &str = "refused";
pub(crate) const UNUSABLE: &str = "unusable";
const WARNING: &str = "server-warning";
/// The rule on namespaces that are not given.
pub(crate) const ASSUMED: &str = "assumed-namespace";
/// The rule on definitions that are used although something is wrong with them.
const DEFINITION: &str = "definition";
/// The rules that are not of the book.
pub(crate) const OWN_RULES: [&str; 8] =
    [REFUSED, WARNING, ASSUMED, DEFINITION, DEPRECATED, MORE, Plan::RULE, Failure::RULE];
/// The rule on findings that are left out.
const MORE: &str = "more-findings";
/// The rule on fields that are deprecated, and that on versions.
const DEPRECATED: &str = "deprecated-field";
const DEPRECATED_VERSION: &str = "RP-90";
/// The rules on unknown and repeated fields: those that are warned of, and those that are refused.
const UNKNOWN_FIELD: &str = "RP-20";
const STRICT: &str = "RP-21";

/// Whether only requests show what a rule is about: `match` and `admit` find it, other commands do
/// not.
pub(crate) fn is_of_requests(rule: &str) -> bool {
    let section = rule.split_once('-').map_or(rule, |(section, _)| section);
    ["AR", "DI", "WM", "PO", "SA"].contains(&section) || [REFUSED, ASSUMED].contains(&rule)
}

/// Whether only `test` finds what a rule is about.
pub(crate) fn is_of_suites(rule: &str) -> bool {
    [Plan::RULE, Failure::RULE].contains(&rule)
}

/// A webhook as findings name it.
pub(crate) fn webhook_named(configuration: &str, hook: &str) -> String {
    format!("webhook `{hook}` of `{configuration}`")
}

/// An object, for whose findings places and names are known.
pub(crate) struct About<'a> {
    place: &'a Place,
    identity: &'a Identity,
    schema: Option<SchemaSource>,
    /// The warning of a server about the version.
    deprecation: Option<String>,
}

impl<'a> About<'a> {
    pub(crate) fn new(place: &'a Place, identity: &'a Identity) -> Self {
        About { place, identity, schema: None, deprecation: None }
    }

    /// An object of a version of a definition, whose schema it is.
    pub(crate) fn version(mut self, schema: Option<SchemaSource>, version: &CrdVersion) -> Self {
        self.schema = schema;
        self.deprecation = deprecation_warning(version);
        self
    }

    /// A finding for each item, in their order, of one severity; if there are too many, the last says
    /// how many are left out.
    pub(crate) fn each<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        find: impl Fn(T) -> Finding,
    ) -> Vec<Finding> {
        let mut items = items.into_iter();
        let mut found: Vec<Finding> = items.by_ref().take(MAX_FINDINGS).map(find).collect();
        let rest = items.count();
        if let Some(severity) = found.last().map(|last| last.severity).filter(|_| rest > 0) {
            let text = format!("not shown: {} about this object", count(rest, "more finding"));
            found.push(self.whole(severity, MORE, &text));
        }
        found
    }

    /// An error of a field.
    pub(crate) fn error(&self, error: &FieldError) -> Finding {
        let finding =
            self.finding(Severity::Error, error.error_type().reason(), &error_text(error));
        let finding = match self.place.of_finding() {
            Some(place) => finding.at(&place, path_of(error, &place)),
            None => finding,
        };
        match &self.schema {
            Some(schema) => schema.explain(finding, error),
            None => finding.suggest(error),
        }
    }

    /// An error in a definition.
    pub(crate) fn definition_error(&self, error: &FieldError) -> Finding {
        let finding = self.error(error);
        match self.place.of_finding() {
            Some(place) => {
                let path = finding.path.clone();
                finding.at_definition(&place, path)
            }
            None => finding,
        }
    }

    /// A problem with the object: each field for which it is refused, or all in one.
    pub(crate) fn problem(&self, whole: &Problem) -> Vec<Finding> {
        if whole.fields.is_empty() {
            let finding = problem(whole).object(self.name());
            return vec![match record_of(self.identity) {
                Some(kind) => finding.suggest_type_of(kind),
                None => finding.suggest_type(),
            }];
        }
        let strict = |text: &str| {
            let mut finding = self.warning(text);
            finding.severity = Severity::Error;
            finding.rule = STRICT.to_owned();
            finding.text = format!("strict decoding error: {text}");
            finding
        };
        // Those of YAML are in one text, a line each (RP-21).
        let lines = whole.fields.iter().flat_map(|text| {
            let text = text.strip_prefix("yaml: unmarshal errors:\n").unwrap_or(text);
            text.split("\n").map(str::trim_start)
        });
        self.each(lines, strict)
    }

    /// The answer of a server that refuses the object: each cause at its field, or all in one.
    pub(crate) fn answered(&self, problem: &Problem) -> Vec<Finding> {
        let details = problem.answer.iter().flat_map(|answer| &answer.details);
        let causes = details.flat_map(|details| &details.causes);
        let causes = causes.filter(|cause| !cause.field.is_empty());
        let found: Vec<Finding> = causes.map(|cause| self.cause(cause)).collect();
        if found.is_empty() { self.problem(problem) } else { found }
    }

    fn cause(&self, cause: &StatusCause) -> Finding {
        let StatusCause { reason, message, field, .. } = cause;
        let finding = self.finding(Severity::Error, reason, &format!("{field}: {message}"));
        let Some(place) = self.place.of_finding() else { return finding };
        // A missing field is reported where it belongs.
        let mut around = Some(field.as_str());
        while let Some(dotted) = around {
            if let Some(path) = place.resolve(dotted) {
                return finding.at(&place, path);
            }
            around = dotted.rfind(['.', '[']).and_then(|end| dotted.get(..end));
        }
        finding.at(&place, FieldPath::default())
    }

    /// A note on a deprecated field.
    pub(crate) fn deprecated(&self, field: &DeprecatedField) -> Finding {
        let DeprecatedField { path, notice, .. } = field;
        let text = format!("{path}: {notice}");
        let finding = self.finding(Severity::Note, DEPRECATED, &text);
        let finding = match self.place.of_finding() {
            Some(place) => finding.at_key(&place, path.clone()),
            None => finding,
        };
        match &self.schema {
            Some(schema) => schema.explain_deprecated(finding),
            None => finding,
        }
    }

    /// A warning of a server.
    pub(crate) fn warning(&self, text: &str) -> Finding {
        if self.deprecation.as_deref() == Some(text) {
            let finding = self.finding(Severity::Warning, DEPRECATED_VERSION, text);
            let finding = match self.place.of_finding() {
                Some(place) => finding.at(&place, FieldPath::default().name("apiVersion")),
                None => finding,
            };
            return match &self.schema {
                Some(schema) => schema.explain_version(finding),
                None => finding,
            };
        }
        self.field(text).unwrap_or_else(|| self.whole(Severity::Warning, WARNING, text))
    }

    /// A warning of an unknown or repeated field.
    fn field(&self, text: &str) -> Option<Finding> {
        let place = self.place.of_finding()?;
        for kind in ["unknown", "duplicate"] {
            let Some(quoted) = text.strip_prefix(kind).and_then(|it| it.strip_prefix(" field "))
            else {
                continue;
            };
            let finding = self.finding(Severity::Warning, UNKNOWN_FIELD, text);
            let path = unquoted(quoted).into_iter().find_map(|dotted| place.resolve(&dotted));
            let Some(path) = path else {
                return Some(finding.at(&place, FieldPath::default()));
            };
            let finding = finding.at_key(&place, path);
            return Some(match (kind, &self.schema, record_of(self.identity)) {
                ("unknown", Some(schema), _) => schema.explain_unknown(finding),
                ("unknown", None, Some(kind)) => finding.suggest_field_of(kind),
                _ => finding,
            });
        }
        let line = line_of(text)?;
        let (start, end) = (place.source.offset(line, 1), place.source.offset(line + 1, 1));
        let whole = place.source.text().get(start..end).unwrap_or_default();
        let indentation = whole.len() - whole.trim_start().len();
        let span = Span::new(start + indentation, start + whole.trim_end().len());
        Some(self.finding(Severity::Warning, UNKNOWN_FIELD, text).at_span(&place, span))
    }

    /// Advice about a document.
    pub(crate) fn advice(&self, advice: &Advice) -> Finding {
        let mut finding = self.finding(advice.severity, advice.rule, &advice.text());
        if let Some(help) = advice.help {
            finding = finding.help(help);
        }
        let Some(place) = self.place.of_finding() else { return finding };
        let finding = finding.at(&place, advice.field.clone());
        let part = advice.part.as_ref();
        match part.and_then(|(text, part)| place.find_part(&advice.field, text, part.clone())) {
            Some(span) => finding.at_span(&place, span),
            None => finding,
        }
    }

    /// A finding about the object as a whole.
    pub(crate) fn whole(&self, severity: Severity, rule: &str, text: &str) -> Finding {
        let finding = self.finding(severity, rule, text);
        match self.place.of_finding() {
            Some(place) => finding.at(&place, FieldPath::default()),
            None => finding,
        }
    }

    fn finding(&self, severity: Severity, rule: &str, text: &str) -> Finding {
        Finding::new(severity, rule, text).object(self.name())
    }

    fn name(&self) -> ObjectName {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let Identity { api_version, kind, namespace, name } = self.identity;
        ObjectName {
            api_version: text(api_version),
            kind: text(kind),
            namespace: text(namespace),
            name: text(name),
        }
    }
}

/// A problem as a finding.
pub(crate) fn problem(problem: &Problem) -> Finding {
    let rule = if problem.status == Status::Refused { REFUSED } else { UNUSABLE };
    let mut finding = Finding::new(Severity::Error, rule, &problem.message);
    if let Some(help) = &problem.help {
        finding = finding.help(help);
    }
    let Some(place) = problem.place.of_finding() else {
        // Nothing was read from it: the text names it.
        finding.text = format!("{}: {}", problem.place, problem.message);
        return finding;
    };
    match problem.place.text {
        Some((line, column)) => {
            let start = place.source.offset(line, column);
            let rest = place.source.text().get(start..).unwrap_or_default();
            let length = rest.chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
            finding.at_span(&place, Span::new(start, start + length))
        }
        None => {
            let path = problem.field.map(|name| FieldPath::default().name(name));
            finding.at(&place, path.unwrap_or_default())
        }
    }
}

/// A note about a definition as a finding.
pub(crate) fn note(text: &str) -> Finding {
    Finding::new(Severity::Warning, DEFINITION, text)
}

/// The texts that may be meant by one in quotes: with escapes as in JSON, or without any (RP-20).
fn unquoted(quoted: &str) -> Vec<String> {
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.map(str::to_owned).into_iter().chain(serde_json::from_str(quoted).ok()).collect()
}

/// The field of an error; some name it by a path as of `scale`, `.spec.replicas`, some only in
/// words (VV-25).
fn path_of(error: &FieldError, place: &billhook_findings::Place) -> FieldPath {
    let text = error.field().to_string();
    let in_words = error.detail().strip_prefix("Checked value must be ");
    let named = in_words.and_then(|words| words.rsplit_once(" in ")).map(|(_, named)| named);
    let dotted = text.strip_prefix('.').or(named).and_then(|dotted| place.resolve(dotted));
    dotted.unwrap_or_else(|| error.field().clone())
}

/// The line of a repeated key in YAML (RP-20).
fn line_of(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("line ")?;
    let (line, rest) = rest.split_once(": key ")?;
    rest.ends_with(" already set in map").then(|| line.parse().ok()).flatten()
}
