//! Ratios by the clock: all contestants on all inputs in one process, in random order, in many
//! rounds. Ratios are taken within a round, so that a slow moment of the machine meets both sides.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use billhook_benches::{Contestant, Input, Rng};

use super::rows::OF_WIDTH;
use super::table::{Costs, median};

/// How long a contestant runs at a time, unless once takes longer.
const TURN: Duration = Duration::from_micros(300);

/// One contestant on one input.
struct Lane<'i> {
    key: (usize, Contestant),
    input: &'i Input,
    iterations: u64,
    /// Nanoseconds for one run, by round.
    samples: Vec<f64>,
}

impl Lane<'_> {
    fn turn(&mut self) {
        let time = self.key.1.time(self.input, self.iterations);
        self.samples.push(time.as_nanos() as f64 / self.iterations as f64);
    }
}

/// Measures for about so long; gives the tables.
pub(super) fn run(budget: Duration, with_times: bool) -> String {
    let start = Instant::now();
    let (inputs, widths) = (super::inputs(), super::widths());
    let mut blocks = blocks(&inputs, &widths);
    for lane in blocks.iter_mut().flatten() {
        // The second run, when what there is to learn is learnt.
        lane.key.1.time(lane.input, 1);
        let once = lane.key.1.time(lane.input, 1).max(Duration::from_nanos(1));
        lane.iterations = (TURN.as_nanos() / once.as_nanos()).max(1) as u64;
    }
    take_turns(&mut blocks, start + budget);
    let lanes: Vec<Lane<'_>> = blocks.into_iter().flatten().collect();
    let samples = lanes.iter().map(|lane| (lane.key, lane.samples.clone())).collect();
    let costs = Costs { inputs: &inputs, widths: &widths, samples };
    let rounds = lanes.iter().map(|lane| lane.samples.len());
    let (least, most) = (rounds.clone().min().unwrap_or(0), rounds.max().unwrap_or(0));
    let mut out = format!(
        "Medians of the ratios of {least} (largest inputs) to {most} rounds.\n\n{}",
        costs.ratios()
    );
    if with_times {
        out.push_str(&times(&lanes));
    }
    out
}

/// Every block gets about the same time, in small turns at random.
fn take_turns(blocks: &mut [Vec<Lane<'_>>], end: Instant) {
    const LEAST_ROUNDS: usize = 3;
    let mut rng = Rng::new(1);
    let mut used = vec![Duration::ZERO; blocks.len()];
    let mut turns = 0;
    while turns < LEAST_ROUNDS * blocks.len() || Instant::now() < end {
        let mean = used.iter().sum::<Duration>() / blocks.len() as u32;
        let is_next = |index: &usize| {
            used[*index] <= mean || (Instant::now() > end && blocks[*index][0].samples.len() < LEAST_ROUNDS)
        };
        let next: Vec<usize> = (0..blocks.len()).filter(is_next).collect();
        let index = next[rng.below(next.len())];
        let start = Instant::now();
        rng.shuffle(&mut blocks[index]);
        blocks[index].iter_mut().for_each(Lane::turn);
        used[index] += start.elapsed();
        turns += 1;
    }
}

/// What is compared with each other is measured close together.
fn blocks<'i>(inputs: &'i [Input], widths: &'i [Input]) -> Vec<Vec<Lane<'i>>> {
    let lane = |index, input, contestant| Lane {
        key: (index, contestant),
        input,
        iterations: 1,
        samples: Vec::new(),
    };
    let mut blocks = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        blocks.push(Contestant::ALL.map(|contestant| lane(index, input, contestant)).into());
    }
    for contestant in OF_WIDTH {
        let width = |(index, input)| lane(inputs.len() + index, input, contestant);
        blocks.push(widths.iter().enumerate().map(width).collect());
    }
    blocks
}

/// The times themselves, in microseconds, and how far the samples lie apart.
fn times(lanes: &[Lane<'_>]) -> String {
    let mut out = "\n| input | contestant | min µs | median µs | max µs | ns/byte |\n\
                   |---|---|---|---|---|---|\n"
        .to_owned();
    let by_key: BTreeMap<_, _> = lanes.iter().map(|lane| (lane.key, lane)).collect();
    for ((_, contestant), lane) in by_key {
        let extreme = |pick: fn(f64, f64) -> f64| {
            lane.samples.iter().copied().reduce(pick).unwrap_or(f64::NAN) / 1e3
        };
        let middle = median(lane.samples.clone());
        let _ = writeln!(
            out,
            "| {} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            lane.input.title(),
            contestant.name(),
            extreme(f64::min),
            middle / 1e3,
            extreme(f64::max),
            middle / lane.input.len() as f64,
        );
    }
    out
}
