//! `decode --ndjson`: objects one a line, from files of any size to standard output. The first
//! object of a file decides which definition and version all of them are decoded with.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal as _, Read as _, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use billhook::{CrdVersion, DecodeError, DecodeOptions, StreamError};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;

use super::run::Run;
use crate::args::{Command, Decode};
use crate::crds::{Crds, Used};
use crate::identity::{Identity, type_meta};
use crate::input::{Document, max_input};
use crate::options::{field_validation, is_stdin};
use crate::problem::{Place, Problem, Status};
use crate::report;

/// How often the progress line is written.
const INTERVAL: Duration = Duration::from_millis(200);

/// Bytes that are read or written at a time.
const BUFFER: usize = 256 << 10;

/// Runs the command. The error is one of writing the output.
pub(crate) fn run(command: &Command, decode: &Decode, crds: &Crds) -> io::Result<Status> {
    let common = command.common();
    let stdout = io::stdout();
    let shows = !common.quiet && io::stderr().is_terminal() && !stdout.is_terminal();
    let out = BufWriter::with_capacity(BUFFER, stdout.lock());
    let mut out = Counted { out, count: 0, start: Instant::now(), last: Instant::now(), shows };
    let mut work = Work {
        run: Run { command, crds },
        used: Used::default(),
        options: DecodeOptions::default()
            .field_validation(field_validation(decode.field_validation))
            .max_line(max_input().0),
        jobs: common.jobs.given().unwrap_or(NonZeroUsize::MIN),
        status: Status::Fine,
    };
    for path in &common.objects {
        if is_stdin(path) {
            work.input("<stdin>", BufReader::with_capacity(BUFFER, io::stdin()), &mut out)?;
            continue;
        }
        let label = path.to_string_lossy();
        match open(path) {
            Ok(file) => work.input(&label, BufReader::with_capacity(BUFFER, file), &mut out)?,
            Err(error) => work.problem(&Problem::io(Place::file(&label), &error)),
        }
    }
    out.flush()?;
    Ok(work.status)
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

struct Work<'r> {
    run: Run<'r>,
    used: Used,
    options: DecodeOptions,
    jobs: NonZeroUsize,
    status: Status,
}

impl Work<'_> {
    fn input(
        &mut self,
        label: &str,
        mut reader: impl BufRead,
        out: &mut Counted<impl Write>,
    ) -> io::Result<()> {
        let mut before = 0;
        let (version, line) = loop {
            let mut line = Vec::new();
            let limit = max_input().0;
            let most = (limit as u64).saturating_add(1);
            match reader.by_ref().take(most).read_until(b'\n', &mut line) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => {
                    self.problem(&Problem::io(Place::file(label), &error));
                    return Ok(());
                }
            }
            if line.len() > limit {
                let message = format!("the line is longer than {limit} bytes");
                self.problem(&Problem::unusable(place(label, before + 1), message));
                return Ok(());
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                match self.version(&line, &place(label, before + 1)) {
                    Ok(version) => break (version, line),
                    Err(problem) => self.problem(&problem),
                }
            }
            before += 1;
        };
        let (jobs, options) = (self.jobs, self.options.clone());
        let mut refused = |line: u64, error: DecodeError| {
            let place = place(label, before + line);
            self.problem(&Problem::refused(place, error.status_message()));
        };
        let reader = line.as_slice().chain(reader);
        let result = version.decode_lines_parallel(reader, out, &options, jobs, &mut refused);
        report::clear_progress();
        match result {
            Ok(_) => Ok(()),
            Err(StreamError::Write(error)) => Err(error),
            Err(StreamError::Read(error)) => {
                self.problem(&Problem::io(Place::file(label), &error));
                Ok(())
            }
            Err(error) => {
                self.problem(&Problem::unusable(Place::file(label), error.to_string()));
                Ok(())
            }
        }
    }

    /// The version that the first object asks for.
    fn version(&mut self, line: &[u8], place: &Place) -> Result<CrdVersion, Box<Problem>> {
        let mut manifests = billhook::read_manifests(line)
            .map_err(|error| Problem::refused(place.clone(), error.to_string()))?;
        let value = manifests.pop().map_or_else(DeepValue::default, |found| found.into_value());
        let identity = Identity::of(&value);
        let document = Document { place: place.clone(), value, duplicates: Vec::new(), body: None };
        let (api_version, kind) = type_meta(&document.value, &identity, place)?;
        let (group, own) = split_api_version(api_version);
        let crd = self.run.crds.find(group, own, kind, place)?;
        let version = self.run.version(&crd, own, place)?;
        let notes = self.used.notes(&crd, &version, self.run.is_request());
        notes.iter().for_each(|note| report::warning(note));
        Ok(version)
    }

    fn problem(&mut self, problem: &Problem) {
        self.status = self.status.max(problem.status);
        report::problem(problem);
    }
}

/// `file:line`.
fn place(label: &str, line: u64) -> Place {
    Place::file(&format!("{label}:{line}"))
}

/// Counts the lines that are written and says how fast they come.
struct Counted<W> {
    out: W,
    count: usize,
    start: Instant,
    last: Instant,
    shows: bool,
}

impl<W: Write> Counted<W> {
    fn progress(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.last) < INTERVAL {
            return;
        }
        self.last = now;
        let rate = self.count as f64 / now.duration_since(self.start).as_secs_f64();
        report::progress(&format!("{} objects, {rate:.0} a second", self.count));
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let written = self.out.write(text)?;
        if self.shows {
            let written = text.iter().take(written);
            self.count += written.filter(|byte| **byte == b'\n').count();
            self.progress();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
