//! Ratios as Markdown tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use billhook_benches::{Contestant, Input, Variant};
use serde_json::json;

use super::rows::{OF_WIDTH, ROWS, Row};
use crate::readme::Measured;

/// The cost of each contestant on each input.
pub(super) struct Costs<'i> {
    pub(super) inputs: &'i [Input],
    pub(super) widths: &'i [Input],
    /// By the position of the input; the widths come after the inputs.
    pub(super) costs: BTreeMap<(usize, Contestant), f64>,
}

impl Costs<'_> {
    /// The first cost in units of the second.
    fn ratio(&self, cost: (usize, Contestant), unit: (usize, Contestant)) -> f64 {
        let cost_of = |key| self.costs.get(&key).copied().unwrap_or(f64::NAN);
        cost_of(cost) / cost_of(unit)
    }

    /// All ratios, a line for each comparison and variant, with the median over the inputs.
    pub(super) fn ratios(&self) -> String {
        let names = self.names();
        let mut out = format!("| | variant | {} | median | limit | met |\n", names.join(" | "));
        let _ = writeln!(out, "|---|---|{}---|---|---|", "---|".repeat(names.len()));
        for row in &ROWS {
            self.row(row, &names, &mut out);
        }
        self.widths(names.len(), &mut out);
        out
    }

    /// The names of the inputs, each once.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for input in self.inputs {
            if !names.contains(&input.name.as_str()) {
                names.push(&input.name);
            }
        }
        names
    }

    /// The medians that have a limit, by comparison and variant.
    pub(super) fn medians(&self) -> Measured {
        let names = self.names();
        let of_row = |row: &Row| {
            let ratios =
                row.variants.iter().flat_map(|variant| self.row_ratios(row, &names, *variant));
            let variant = match row.variants {
                [variant] => variant.name(),
                _ => "all",
            };
            (format!("{}, {variant}", row.title()), median(ratios.collect()), row.limit)
        };
        let medians = ROWS.iter().map(of_row).chain(self.width_ratios());
        let with_limit = |(title, median, limit): (String, f64, Option<f64>)| {
            Some((title, json!({"median": (median * 1e3).round() / 1e3, "limit": limit?})))
        };
        medians.filter_map(with_limit).collect()
    }

    fn row(&self, row: &Row, names: &[&str], out: &mut String) {
        let title = row.title();
        let mut all = Vec::new();
        for variant in row.variants {
            let ratios = self.row_ratios(row, names, *variant);
            all.extend(&ratios);
            let cells: Vec<String> = ratios.iter().map(|ratio| number(*ratio)).collect();
            let end = if row.variants.len() == 1 {
                verdict(median(ratios), row.limit)
            } else {
                format!("{} | |", number(median(ratios)))
            };
            let cells = cells.join(" | ");
            let _ = writeln!(out, "| {title} | {} | {cells} | {end} |", variant.name());
        }
        if row.variants.len() > 1 {
            let empty = " |".repeat(names.len());
            let end = verdict(median(all), row.limit);
            let _ = writeln!(out, "| **{title}** | all |{empty} {end} |");
        }
    }

    fn row_ratios(&self, row: &Row, names: &[&str], variant: Variant) -> Vec<f64> {
        let ratio = |name: &&str| {
            let is_meant = |input: &Input| input.name == *name && input.variant == variant;
            let input = self.inputs.iter().position(is_meant).unwrap_or(usize::MAX);
            self.ratio((input, row.contestant), (input, row.unit))
        };
        names.iter().map(ratio).collect()
    }

    /// Returns the costs of wide schemas in units of the narrow one, with the limits.
    fn width_ratios(&self) -> Vec<(String, f64, Option<f64>)> {
        let [narrow, wide @ ..] = self.widths else { return Vec::new() };
        let first = self.inputs.len();
        let mut ratios = Vec::new();
        for (position, wide) in wide.iter().enumerate() {
            for (contestant, limit) in OF_WIDTH {
                let ratio = self.ratio((first + 1 + position, contestant), (first, contestant));
                let title =
                    format!("{}, by member: {} / {}", contestant.name(), wide.name, narrow.name);
                ratios.push((title, ratio, limit));
            }
        }
        ratios
    }

    fn widths(&self, columns: usize, out: &mut String) {
        let empty = " |".repeat(columns);
        for (title, ratio, limit) in self.width_ratios() {
            let _ = writeln!(out, "| {title} | clean |{empty} {} |", verdict(ratio, limit));
        }
    }
}

fn verdict(ratio: f64, limit: Option<f64>) -> String {
    let Some(limit) = limit else { return format!("{} | |", number(ratio)) };
    format!("**{}** | {limit} | {}", number(ratio), if ratio <= limit { "yes" } else { "NO" })
}

/// Three digits that count.
fn number(number: f64) -> String {
    match number {
        number if number < 0.1 => format!("{number:.3}"),
        number if number < 10.0 => format!("{number:.2}"),
        number => format!("{number:.0}"),
    }
}

/// The middle one, or the mean of the two in the middle.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.retain(|number| !number.is_nan());
    numbers.sort_by(f64::total_cmp);
    let upper = numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN);
    let lower = numbers.get(numbers.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN);
    lower.midpoint(upper)
}
