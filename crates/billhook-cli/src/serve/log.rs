//! The logs of a server: files with a line for each request, or for each of its stages.

use std::fmt::Display;
use std::fs::{self, File};
use std::path::Path;

use billhook_apiserver::{AuditLevel, AuditPolicy};

use crate::lines::written_to;
use crate::problem::{Place, Problem};

/// Returns what writes lines to a file, which is made anew.
pub(super) fn to_file<L: Display>(
    path: &Path,
) -> Result<impl Fn(&L) + Send + Sync + use<L>, Box<Problem>> {
    let file = File::create(path).map_err(|error| Problem::io(Place::path(path), &error))?;
    Ok(written_to(file))
}

/// Reads the policy of the audit log; without a file it has every request, without its body.
pub(super) fn audit_policy(path: Option<&Path>) -> Result<AuditPolicy, Box<Problem>> {
    let Some(path) = path else { return Ok(AuditPolicy::everything(AuditLevel::Metadata)) };
    let text = fs::read(path).map_err(|error| Problem::io(Place::path(path), &error))?;
    AuditPolicy::read(&text)
        .map_err(|error| Problem::unusable(Place::path(path), error.to_string()))
}
