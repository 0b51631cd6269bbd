//! Which findings count, and how much: settings of the project, comments in the files, and findings
//! that are known.

mod baseline;
mod config;
mod ignores;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use billhook_findings::{Finding, Source};

use crate::findings::UNUSABLE;
use crate::input::{Input, inputs};
use crate::problem::{Problem, Status};
use crate::report;
use baseline::Baseline;
pub(crate) use config::Config;
use config::Level;
use ignores::Ignores;

/// The rule about comments and baselines that ignore nothing.
const UNUSED: &str = "unused-ignore";

/// Findings that are known.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Known {
    /// Leave out the findings that are in this file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to the baseline, and print none
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
}

impl Known {
    /// Refuses to write the baseline whenever something changes.
    pub(crate) fn check(&self, watches: bool) -> Result<(), &'static str> {
        match self.write_baseline && watches {
            true => Err("`--write-baseline` is for a run that ends, not for `--watch`"),
            false => Ok(()),
        }
    }
}

/// The findings of a run that count.
#[derive(Debug)]
pub(crate) struct Policy<'c> {
    config: &'c Config,
    baseline: Option<Baseline>,
    /// The files that were read.
    files: BTreeSet<String>,
    /// The policy for the file of the last finding.
    last: Option<(Arc<Source>, FilePolicy<'c>)>,
}

/// The findings of a file that count.
#[derive(Debug)]
pub(crate) struct FilePolicy<'c> {
    levels: BTreeMap<&'c str, Level>,
    ignores: Ignores,
}

impl<'c> Policy<'c> {
    pub(crate) fn new(config: &'c Config, known: &Known) -> Result<Self, Box<Problem>> {
        let baseline = known.baseline.as_ref();
        let baseline = baseline.map(|path| Baseline::load(path, known.write_baseline));
        Ok(Policy { config, baseline: baseline.transpose()?, files: BTreeSet::new(), last: None })
    }

    /// The policy for a file.
    pub(crate) fn file(config: &'c Config, source: &Arc<Source>) -> FilePolicy<'c> {
        FilePolicy { levels: config.levels(source), ignores: Ignores::read(source) }
    }

    pub(crate) fn config(&self) -> &'c Config {
        self.config
    }

    /// Returns the findings that count, with their severities; they may be of several files.
    pub(crate) fn apply(&mut self, findings: Vec<Finding>) -> Vec<Finding> {
        let findings = findings.into_iter().filter_map(|finding| self.apply_one(finding));
        let mut findings = findings.collect();
        self.leave_new(&mut findings);
        findings
    }

    fn apply_one(&mut self, finding: Finding) -> Option<Finding> {
        let source = finding.place.as_ref().map(|place| place.source.clone()).unwrap_or_default();
        let mut last = self.last.take().filter(|(known, _)| Arc::ptr_eq(known, &source));
        let (_, file) = last.get_or_insert_with(|| {
            let file = Policy::file(self.config, &source);
            (source, file)
        });
        let applied = file.apply_one(finding, None);
        self.last = last;
        applied
    }

    /// Says that the files below the paths were read.
    pub(crate) fn read_below<'p>(&mut self, paths: impl Iterator<Item = &'p PathBuf>) {
        if self.baseline.is_some() {
            let paths: Vec<PathBuf> = paths.cloned().collect();
            self.files.extend(inputs(&paths).iter().flatten().map(Input::label));
        }
    }

    /// Says that a file was read.
    pub(crate) fn read(&mut self, file: &str) {
        if self.baseline.is_some() {
            self.files.insert(file.to_owned());
        }
    }

    /// Takes away the findings that are known. What cannot be used is always reported: nothing is
    /// known of what it would have held.
    pub(crate) fn leave_new(&mut self, findings: &mut Vec<Finding>) {
        if let Some(baseline) = &mut self.baseline {
            findings.retain(|finding| finding.rule == UNUSABLE || !baseline.takes(finding));
        }
    }

    /// Writes the baseline, or returns findings about those that are gone. What goes wrong is
    /// reported.
    pub(crate) fn finish(self) -> (Vec<Finding>, Status) {
        let files = self.files;
        let Some(baseline) = self.baseline else { return (Vec::new(), Status::Fine) };
        match baseline.finish(|file| files.contains(file)) {
            Ok(gone) => (gone, Status::Fine),
            Err(problem) => (Vec::new(), report::problem(&problem)),
        }
    }
}

impl FilePolicy<'_> {
    /// Returns the findings that count, with their severities.
    pub(crate) fn apply(&mut self, findings: Vec<Finding>) -> Vec<Finding> {
        findings.into_iter().filter_map(|finding| self.apply_one(finding, None)).collect()
    }

    /// Returns the finding with its severity, if it counts. It may be in something that begins at a
    /// line, for whose findings comments there are too.
    pub(crate) fn apply_one(&mut self, finding: Finding, whole: Option<usize>) -> Option<Finding> {
        if self.ignores.ignore(&finding, whole) {
            return None;
        }
        match self.levels.get(finding.rule.as_str()) {
            Some(level) => level.apply(finding),
            None => Some(finding),
        }
    }

    /// Returns findings about comments that have ignored nothing, of the rules that are looked at.
    pub(crate) fn unused(mut self, is_looked_at: fn(&str) -> bool) -> Vec<Finding> {
        let found = std::mem::take(&mut self.ignores).unused(is_looked_at);
        self.apply(found)
    }
}
