//! The audit log (ET-61).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use billhook_apiserver::{AuditEvent, AuditPolicy};

use crate::lines::written_to;
use crate::stand_in::flags::Flags;

/// The settings of an audit log.
#[derive(Debug)]
pub(in crate::stand_in) struct AuditSettings {
    pub(in crate::stand_in) policy: AuditPolicy,
    /// Where events are written; `-` for standard output.
    file: PathBuf,
}

impl AuditSettings {
    /// Opens the file, which goes on where it ends, and returns what writes an event there.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(in crate::stand_in) fn open(
        &self,
    ) -> Result<impl Fn(&AuditEvent) + Send + Sync + 'static, String> {
        let to: Box<dyn Write + Send> = match self.file.as_os_str() == "-" {
            true => Box::new(io::stdout()),
            false => {
                let file = File::options().append(true).create(true).open(&self.file);
                let shown = self.file.display();
                Box::new(file.map_err(|why| format!("failed to open audit log {shown}: {why}"))?)
            }
        };
        Ok(written_to(to))
    }
}

/// Returns the settings, if both the policy and the file are there.
pub(super) fn settings(
    flags: &Flags,
    errors: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<AuditSettings> {
    let (policy, file) = ("audit-policy-file", "audit-log-path");
    if let Some(format) = flags.text("audit-log-format").filter(|format| *format != "json") {
        let why = "events are lines of JSON";
        errors.push(format!("--audit-log-format={format} is not supported: {why}"));
    }
    match (flags.text(policy), flags.text(file)) {
        (Some(policy), Some(file)) => {
            let read = fs::read(policy).map_err(|error| error.to_string());
            let read =
                read.and_then(|text| AuditPolicy::read(&text).map_err(|error| error.to_string()));
            let read = read.map_err(|why| {
                errors.push(format!("failed to read audit policy {policy}: {why}"));
            });
            Some(AuditSettings { policy: read.ok()?, file: file.into() })
        }
        (None, None) => None,
        (Some(_), None) => {
            warnings.push(format!("--{policy} has no effect without --{file}"));
            None
        }
        (None, Some(_)) => {
            warnings.push(format!("--{file} has no effect without --{policy}"));
            None
        }
    }
}
