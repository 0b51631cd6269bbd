//! The summary of a run for people.

use billhook_findings::{Finding, Severity};

use crate::report;

/// The files and objects of a run, and the findings in them.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) files: usize,
    pub(crate) objects: usize,
    errors: usize,
    warnings: usize,
}

impl Summary {
    pub(crate) fn add(&mut self, findings: &[Finding]) {
        let count = |severity| findings.iter().filter(|it| it.severity == severity).count();
        self.errors += count(Severity::Error);
        self.warnings += count(Severity::Warning);
    }

    /// Prints the summary of a run over several files that hold anything.
    pub(crate) fn print(&self, noun: &str) {
        if self.files > 1 && self.objects + self.errors > 0 {
            report::to_stderr(&(self.text(noun) + "\n"));
        }
    }

    /// Returns `412 files, 1,034 objects: 3 errors, no warnings`.
    fn text(&self, noun: &str) -> String {
        let (files, objects) = (count(self.files, "file"), count(self.objects, noun));
        let (errors, warnings) = (count(self.errors, "error"), count(self.warnings, "warning"));
        format!("{files}, {objects}: {errors}, {warnings}")
    }
}

/// Returns `no objects`, `1 object` or `1,034 objects`.
pub(crate) fn count(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        more => format!("{} {noun}s", number(more)),
    }
}

/// Returns a number with commas between thousands.
pub(crate) fn number(number: usize) -> String {
    let digits = number.to_string();
    let comma = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    let parts = digits.char_indices().map(|(at, digit)| match comma(at) {
        true => format!(",{digit}"),
        false => digit.to_string(),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        for (value, shown) in [(0, "0"), (12, "12"), (412, "412"), (1034, "1,034")] {
            assert_eq!(number(value), shown);
        }
        assert_eq!(count(12_345_678, "object"), "12,345,678 objects");
    }

    #[test]
    fn summaries() {
        let summary = Summary { files: 412, objects: 1034, errors: 1, warnings: 0 };
        assert_eq!(summary.text("object"), "412 files, 1,034 objects: 1 error, no warnings");
    }
}
