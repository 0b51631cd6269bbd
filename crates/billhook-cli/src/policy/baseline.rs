//! Baselines: findings that are known and not reported again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use billhook_findings::{Finding, Severity};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::UNUSED;
use crate::input::read_file;
use crate::json::API_VERSION;
use crate::problem::{Place, Problem};
use crate::report;

/// The baseline of a run.
#[derive(Debug)]
pub(crate) struct Baseline {
    path: PathBuf,
    is_written: bool,
    /// The findings, by fingerprint.
    known: IndexMap<String, Known>,
}

/// A finding in the file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Known {
    fingerprint: String,
    file: String,
    rule: String,
    text: String,
    /// How often it was found.
    count: usize,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Document {
    api_version: String,
    kind: String,
    findings: Vec<Known>,
}

const KIND: &str = "Baseline";

impl Baseline {
    /// Reads a baseline, or begins one that is to be written.
    pub(super) fn load(path: &Path, is_written: bool) -> Result<Self, Box<Problem>> {
        let mut baseline = Baseline { path: path.to_owned(), is_written, known: IndexMap::new() };
        if is_written {
            return Ok(baseline);
        }
        const HELP: &str = "`--write-baseline` writes the findings that there are";
        let mut place = Place::path(path);
        let text = read_file(path).map_err(|error| {
            let problem = Problem::io(place.clone(), &error);
            problem.help(HELP)
        })?;
        let document: Document = serde_json::from_slice(&text).map_err(|error| {
            let reason = error.to_string();
            // The place is said once.
            let reason = reason.rsplit_once(" at line ").map_or(&*reason, |(reason, _)| reason);
            place.text = Some((error.line(), error.column()));
            Problem::unusable(place.clone(), format!("not a baseline: {reason}")).help(HELP)
        })?;
        if document.api_version != API_VERSION || document.kind != KIND {
            let message = format!("not a baseline: expected a {KIND} of `{API_VERSION}`");
            return Err(Problem::unusable(place, message).help(HELP));
        }
        let known = document.findings.into_iter();
        baseline.known = known.map(|known| (known.fingerprint.clone(), known)).collect();
        Ok(baseline)
    }

    /// Whether a finding is known; if the baseline is to be written, it is from now on.
    pub(super) fn takes(&mut self, finding: &Finding) -> bool {
        let fingerprint = finding.fingerprint();
        if self.is_written {
            let known = self.known.entry(fingerprint.clone()).or_insert_with(|| Known {
                fingerprint,
                file: finding.file().to_owned(),
                rule: finding.rule.clone(),
                text: finding.text.clone(),
                count: 0,
            });
            known.count += 1;
            return true;
        }
        match self.known.get_mut(&fingerprint).filter(|known| known.count > 0) {
            Some(known) => {
                known.count -= 1;
                true
            }
            None => false,
        }
    }

    /// Writes the baseline; or returns findings about those that are gone from the files that
    /// were read.
    pub(super) fn finish(
        mut self,
        was_read: impl Fn(&str) -> bool,
    ) -> Result<Vec<Finding>, Box<Problem>> {
        if !self.is_written {
            let rest = self.known.values();
            let rest = rest.filter(|known| known.count > 0 && was_read(&known.file));
            return Ok(rest.map(|known| self.unused(known)).collect());
        }
        self.known.sort_by(|_, a, _, b| {
            (&a.file, &a.rule, &a.text, &a.fingerprint).cmp(&(
                &b.file,
                &b.rule,
                &b.text,
                &b.fingerprint,
            ))
        });
        let document = Document {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            findings: self.known.into_values().collect(),
        };
        let name = self.path.to_string_lossy();
        let count: usize = document.findings.iter().map(|known| known.count).sum();
        serde_json::to_string_pretty(&document)
            .map_err(io::Error::from)
            .and_then(|text| fs::write(&self.path, text + "\n"))
            .map_err(|error| Problem::io(Place::file(&name), &error))?;
        let findings = if count == 1 { "finding" } else { "findings" };
        report::note("baseline", &format!("{name}: {count} {findings}"));
        Ok(Vec::new())
    }

    fn unused(&self, known: &Known) -> Finding {
        let Known { file, rule, text, .. } = known;
        let path = self.path.display();
        let text = format!("{path}: no longer found in {file}: {rule} {text}");
        let help = "`--write-baseline` writes the findings that there are";
        Finding::new(Severity::Warning, UNUSED, text).help(help)
    }
}
