//! Logs: files that are written line by line.

use std::fmt::Display;
use std::io::Write;
use std::sync::Mutex;

/// Returns what writes lines. The program goes on when they cannot be written, as on a full disk.
pub(crate) fn written_to<L: Display>(
    to: impl Write + Send + 'static,
) -> impl Fn(&L) + Send + Sync + 'static {
    let to = Mutex::new(to);
    move |line| {
        if let Ok(mut to) = to.lock() {
            let _ = to.write_all(format!("{line}\n").as_bytes());
        }
    }
}
