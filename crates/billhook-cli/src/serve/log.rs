//! The file with a line for each request.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use billhook_apiserver::RequestRecord;

use crate::problem::{Place, Problem};

/// Returns what writes the line of a request to a file, which is made anew.
pub(super) fn to_file(
    path: &Path,
) -> Result<impl Fn(&RequestRecord) + Send + Sync + 'static, Box<Problem>> {
    let file = File::create(path).map_err(|error| Problem::io(Place::path(path), &error))?;
    let file = Mutex::new(file);
    Ok(move |record: &RequestRecord| {
        if let Ok(mut file) = file.lock() {
            // The server goes on without its log, as on a full disk.
            let _ = file.write_all(format!("{record}\n").as_bytes());
        }
    })
}
