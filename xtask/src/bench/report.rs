//! Ratios by the clock: all contestants on all inputs in one process, in random order, in many
//! rounds, of which the slow ones tell more about the machine than about us.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use billhook_benches::{Contestant, Input, Rng};

use super::rows::OF_WIDTH;
use super::table::Costs;
use crate::readme::Measured;

/// How long a contestant runs at a time, unless once takes longer.
const TURN: Duration = Duration::from_micros(100);

/// How many rounds tell enough.
const ENOUGH: usize = 300;

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
        // Whatever allocates first clears up what others have freed; that is not on its account.
        self.key.1.time(self.input, 1);
        let time = self.key.1.time(self.input, self.iterations);
        self.samples.push(time.as_nanos() as f64 / self.iterations as f64);
    }

    /// The time of a run that so many quarters of all runs don't exceed.
    fn quantile(&self, quarters: usize) -> f64 {
        let mut sorted = self.samples.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[(sorted.len() - 1) * quarters / 4]
    }
}

/// Measures for about so long; returns the tables, and the medians that have a limit.
pub(super) fn run(budget: Duration, with_times: bool) -> (String, Measured) {
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
    let quartiles = lanes.iter().map(|lane| (lane.key, lane.quantile(1))).collect();
    let costs = Costs { inputs: &inputs, widths: &widths, costs: quartiles };
    let rounds = lanes.iter().map(|lane| lane.samples.len());
    let (least, most) = (rounds.clone().min().unwrap_or(0), rounds.max().unwrap_or(0));
    let mut out = format!(
        "Ratios of the lower quartiles of {least} (largest inputs) to {most} rounds.\n\n{}",
        costs.ratios()
    );
    if with_times {
        out.push_str(&times(&lanes));
    }
    (out, costs.medians())
}

/// Every block gets three turns, then about the same time as the others, in random order; what
/// small inputs don't need goes to the large ones.
fn take_turns(blocks: &mut [Vec<Lane<'_>>], end: Instant) {
    let mut rng = Rng::new(1);
    let mut first: Vec<usize> = (0..3).flat_map(|_| 0..blocks.len()).collect();
    rng.shuffle(&mut first);
    let mut used = vec![Duration::ZERO; blocks.len()];
    loop {
        let next = first.pop().or_else(|| {
            let hungry = |index: &usize| blocks[*index][0].samples.len() < ENOUGH;
            let hungry: Vec<usize> = (0..used.len()).filter(hungry).collect();
            let total: Duration = hungry.iter().map(|index| used[*index]).sum();
            let is_behind = |index: &&usize| used[**index] * hungry.len() as u32 <= total;
            let behind: Vec<&usize> = hungry.iter().filter(is_behind).collect();
            (!behind.is_empty()).then(|| *behind[rng.below(behind.len())])
        });
        let Some(next) = next else { return };
        let start = Instant::now();
        rng.shuffle(&mut blocks[next]);
        blocks[next].iter_mut().for_each(Lane::turn);
        used[next] += start.elapsed();
        if first.is_empty() && Instant::now() >= end {
            return;
        }
    }
}

/// Contestants that are compared are measured close together.
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
    for (contestant, _) in OF_WIDTH {
        let width = |(index, input)| lane(inputs.len() + index, input, contestant);
        blocks.push(widths.iter().enumerate().map(width).collect());
    }
    blocks
}

/// The times themselves, and how far they lie apart.
fn times(lanes: &[Lane<'_>]) -> String {
    let mut out = "\n| µs | contestant | min | quartile | median | max | ns/byte |\n\
                   |---|---|---|---|---|---|---|\n"
        .to_owned();
    let by_key: BTreeMap<_, _> = lanes.iter().map(|lane| (lane.key, lane)).collect();
    for ((_, contestant), lane) in by_key {
        let _ = write!(out, "| {} | {} |", lane.input.title(), contestant.name());
        for quarters in [0, 1, 2, 4] {
            let _ = write!(out, " {:.2} |", lane.quantile(quarters) / 1e3);
        }
        let _ = writeln!(out, " {:.2} |", lane.quantile(1) / lane.input.len() as f64);
    }
    out
}
