//! Tables of Markdown as aligned columns; wide columns are wrapped until the table fits.

use std::fmt::Write as _;

use super::inline::{self, WIDTH, wrap};
use crate::report::HEADER;

const GAP: usize = 2;
/// No column is made narrower.
const NARROWEST: usize = 12;

/// Renders the lines of a table: the header, a line of dashes, the rows.
pub(super) fn render(lines: &[&str]) -> String {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let mut rows = rows.into_iter();
    let Some(header) = rows.next() else { return String::new() };
    let rows: Vec<Vec<String>> = rows.skip(1).collect();
    let widths = widths(std::iter::once(&header).chain(&rows), header.len());
    let mut out = row(&header, &widths, |line| format!("{HEADER}{line}{HEADER:#}")).join("");
    let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let _ = writeln!(out, "{}", dashes.join(&" ".repeat(GAP)));
    let rows: Vec<Vec<String>> =
        rows.iter().map(|cells| row(cells, &widths, str::to_owned)).collect();
    // Rows of several lines are separated by empty ones.
    let between = if rows.iter().any(|lines| lines.len() > 1) { "\n" } else { "" };
    let rows: Vec<String> = rows.iter().map(|lines| lines.concat()).collect();
    out.push_str(&rows.join(between));
    out
}

/// Splits a line at the bars that are neither escaped nor inside code.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in line.trim().trim_start_matches('|').chars() {
        match (c, cells.last_mut()) {
            ('|', _) if !escaped => cells.push(String::new()),
            ('|', Some(cell)) => {
                cell.pop();
                cell.push('|');
            }
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
        escaped = c == '\\' && !escaped;
    }
    // The bar at the end opens no cell.
    cells.pop();
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The widths of columns: as wide as their cells, the widest cut until all fit.
fn widths<'r>(rows: impl Iterator<Item = &'r Vec<String>>, columns: usize) -> Vec<usize> {
    let mut widths = vec![0; columns];
    for cells in rows {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(inline::width(cell));
        }
    }
    while widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1) > WIDTH {
        match widths.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => break,
        }
    }
    widths
}

/// The lines of a row, each with its line break.
fn row(cells: &[String], widths: &[usize], style: impl Fn(&str) -> String) -> Vec<String> {
    let cells: Vec<Vec<(String, usize)>> =
        cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    let line = |index: usize| {
        let mut out = String::new();
        let mut padding = 0;
        for (lines, width) in cells.iter().zip(widths) {
            let empty = (String::new(), 0);
            let (text, used) = lines.get(index).unwrap_or(&empty);
            if *used > 0 {
                out.push_str(&" ".repeat(padding));
                out.push_str(&style(text));
                padding = 0;
            }
            padding += width.saturating_sub(*used) + GAP;
        }
        out.push('\n');
        out
    };
    (0..height).map(line).collect()
}
