//! Which failures count: levels of the settings, and comments in the suites.

use std::sync::Arc;

use billhook_findings::{Finding, Source, Subject};
use billhook_suite::{Failure, Run};

use crate::findings::is_of_suites;
use crate::policy::{Config, FilePolicy, Policy};

/// The failures of a suite that count.
pub(super) struct Counting<'c> {
    config: &'c Config,
    /// The file of the last case.
    last: Option<(Arc<Source>, FilePolicy<'c>)>,
    /// Findings about comments in the files before it that have ignored nothing.
    unused: Vec<Finding>,
}

impl<'c> Counting<'c> {
    pub(super) fn new(config: &'c Config) -> Self {
        Counting { config, last: None, unused: Vec::new() }
    }

    /// The outcome of a case for a report, with its failure if that counts. A comment for the line
    /// where the case begins is for all of it. A case that cannot be run always counts.
    pub(super) fn subject(&mut self, run: &Run, outcome: &Result<(), Failure>) -> Subject {
        let mut subject = run.subject(outcome);
        if !outcome.as_ref().is_err_and(Failure::is_unusable) {
            let findings = std::mem::take(&mut subject.findings).into_iter();
            let (file, whole) = (self.file(run.source()), run.line());
            let counted = findings.filter_map(|finding| file.apply_one(finding, whole));
            subject.findings = counted.collect();
        }
        subject
    }

    /// The remarks that count.
    pub(super) fn remarks(&mut self, remarks: &[Finding]) -> Vec<Finding> {
        let Some(place) = remarks.iter().find_map(|remark| remark.place.as_ref()) else {
            return remarks.to_vec();
        };
        self.file(&place.source).apply(remarks.to_vec())
    }

    /// Returns findings about comments that have ignored nothing.
    pub(super) fn unused(mut self) -> Vec<Finding> {
        self.finish(|_| true);
        self.unused
    }

    fn file(&mut self, source: &Arc<Source>) -> &mut FilePolicy<'c> {
        self.finish(|last| !Arc::ptr_eq(last, source));
        let new = || (source.clone(), Policy::file(self.config, source));
        &mut self.last.get_or_insert_with(new).1
    }

    /// Ends with the last file if it is over.
    fn finish(&mut self, is_over: impl Fn(&Arc<Source>) -> bool) {
        if let Some((_, file)) = self.last.take_if(|(last, _)| is_over(last)) {
            self.unused.extend(file.unused(is_of_suites));
        }
    }
}
