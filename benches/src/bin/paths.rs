//! Times or counts the paths of the product.
//!
//! `billhook-paths time SECONDS` prints a line for each path: its name, its nanoseconds and, if it has
//! a peer, that one's name, nanoseconds and limit. `billhook-paths count` runs each path once between
//! two marks, where a profiler starts a new profile, and prints the names.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use billhook_benches::callgrind::count_mark;
use billhook_benches::paths::{Path, Run, paths};

/// That of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long a piece of work is repeated at a time.
const TURN: Duration = Duration::from_micros(500);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["count"] => count(),
        ["time", seconds] => match seconds.parse() {
            Ok(seconds) => time(Duration::from_secs(seconds)),
            Err(_) => return usage(),
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: billhook-paths time SECONDS | count");
    ExitCode::from(2)
}

fn count() {
    for path in paths() {
        let mut run = (path.prepare)();
        // What is learnt from inputs is learnt before.
        run();
        run();
        count_mark();
        run();
        count_mark();
        println!("{}", path.name);
    }
}

/// Work that is timed again and again.
struct Timed {
    run: Run,
    iterations: u32,
    /// Nanoseconds for one run, by round.
    samples: Vec<f64>,
}

impl Timed {
    fn new(prepare: fn() -> Run) -> Self {
        let mut timed = Timed { run: prepare(), iterations: 1, samples: Vec::new() };
        timed.turn();
        let once = timed.turn();
        timed.iterations = (TURN.as_nanos() as f64 / once).clamp(1.0, 10_000.0) as u32;
        timed.samples.clear();
        timed
    }

    fn turn(&mut self) -> f64 {
        let start = Instant::now();
        (0..self.iterations).for_each(|_| (self.run)());
        let time = start.elapsed().as_nanos() as f64 / f64::from(self.iterations);
        self.samples.push(time);
        time
    }

    /// The lower quartile: slower rounds say more about the machine.
    fn quartile(mut self) -> f64 {
        self.samples.sort_by(f64::total_cmp);
        self.samples[(self.samples.len() - 1) / 4]
    }
}

/// Times each path, in turns with its peer, for the same part of the time.
fn time(budget: Duration) {
    let paths = paths();
    let share = budget / paths.len() as u32;
    for Path { name, prepare, peer } in paths {
        let mut own = Timed::new(prepare);
        let mut other = peer.as_ref().map(|peer| Timed::new(peer.prepare));
        let start = Instant::now();
        while own.samples.len() < 3 || start.elapsed() < share {
            own.turn();
            if let Some(other) = &mut other {
                other.turn();
            }
        }
        print!("{name}\t{:.1}", own.quartile());
        if let (Some(peer), Some(other)) = (peer, other) {
            let limit = peer.limit.map(|limit| limit.to_string()).unwrap_or_default();
            print!("\t{}\t{:.1}\t{limit}", peer.name, other.quartile());
        }
        println!();
    }
}
