//! Which findings count, and how much: settings of the project, comments in the files, and findings
//! that are known.

mod baseline;
mod config;
mod ignores;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use billhook_findings::{Finding, Source};

use crate::problem::Problem;
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
    #[arg(long, requires = "baseline", conflicts_with = "watch")]
    write_baseline: bool,
}

/// The findings of a run that count.
#[derive(Debug)]
pub(crate) struct Policy<'c> {
    config: &'c Config,
    baseline: Option<Baseline>,
    /// The files that were read.
    files: BTreeSet<String>,
}

/// The findings of a file that count.
#[derive(Debug)]
pub(crate) struct FilePolicy<'c> {
    levels: BTreeMap<&'c str, Level>,
    ignores: Ignores,
}

/// The findings of one file after another that count.
pub(crate) struct Levels<'c> {
    config: &'c Config,
    /// The policy for the file of the last finding.
    last: Option<(Arc<Source>, FilePolicy<'c>)>,
}

impl<'c> Levels<'c> {
    pub(crate) fn new(config: &'c Config) -> Self {
        Levels { config, last: None }
    }

    /// Returns the findings that count, with their severities.
    pub(crate) fn apply(&mut self, findings: Vec<Finding>) -> Vec<Finding> {
        findings.into_iter().filter_map(|finding| self.apply_one(finding)).collect()
    }

    fn apply_one(&mut self, finding: Finding) -> Option<Finding> {
        let source = finding.place.as_ref().map(|place| place.source.clone()).unwrap_or_default();
        let mut last = self.last.take().filter(|(known, _)| Arc::ptr_eq(known, &source));
        let (_, file) = last.get_or_insert_with(|| {
            let file = Policy::file(self.config, &source);
            (source, file)
        });
        let applied = file.apply_one(finding);
        self.last = last;
        applied
    }
}

impl<'c> Policy<'c> {
    pub(crate) fn new(config: &'c Config, known: &Known) -> Result<Self, Box<Problem>> {
        let baseline = known.baseline.as_ref();
        let baseline = baseline.map(|path| Baseline::load(path, known.write_baseline));
        Ok(Policy { config, baseline: baseline.transpose()?, files: BTreeSet::new() })
    }

    /// The policy for a file.
    pub(crate) fn file(config: &'c Config, source: &Arc<Source>) -> FilePolicy<'c> {
        FilePolicy { levels: config.levels(source.name()), ignores: Ignores::read(source) }
    }

    pub(crate) fn config(&self) -> &'c Config {
        self.config
    }

    /// Says that a file was read.
    pub(crate) fn read(&mut self, file: &str) {
        if self.baseline.is_some() {
            self.files.insert(file.to_owned());
        }
    }

    /// Takes away the findings that are known.
    pub(crate) fn leave_new(&mut self, findings: &mut Vec<Finding>) {
        if let Some(baseline) = &mut self.baseline {
            findings.retain(|finding| !baseline.takes(finding));
        }
    }

    /// Writes the baseline, or returns findings about those that are gone.
    pub(crate) fn finish(self) -> Result<Vec<Finding>, Box<Problem>> {
        let files = self.files;
        match self.baseline {
            Some(baseline) => baseline.finish(|file| files.contains(file)),
            None => Ok(Vec::new()),
        }
    }
}

impl FilePolicy<'_> {
    /// Returns the findings that count, with their severities.
    pub(crate) fn apply(&mut self, findings: Vec<Finding>) -> Vec<Finding> {
        findings.into_iter().filter_map(|finding| self.apply_one(finding)).collect()
    }

    fn apply_one(&mut self, finding: Finding) -> Option<Finding> {
        if self.ignores.ignore(&finding) {
            return None;
        }
        match self.levels.get(finding.rule.as_str()) {
            Some(level) => level.apply(finding),
            None => Some(finding),
        }
    }

    /// Returns findings about comments that have ignored nothing.
    pub(crate) fn unused(mut self) -> Vec<Finding> {
        let found = std::mem::take(&mut self.ignores).unused();
        self.apply(found)
    }
}
