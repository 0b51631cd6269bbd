//! Starting the browser.

use std::process::{Command, Stdio};

use super::files::PAGE;
use crate::report;

/// The program that opens a URL in the browser.
const PROGRAM: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens the page of a server in the browser. The server goes on if that fails.
pub(crate) fn open(url: &str) {
    let page = format!("{url}{PAGE}");
    let started = Command::new(PROGRAM)
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        // The program ends as soon as the browser has the URL.
        Ok(mut program) => drop(std::thread::spawn(move || program.wait())),
        Err(error) => report::warning(&format!("{PROGRAM} cannot open {page}: {error}")),
    }
}
