//! The controllers of `billhook serve`.

use billhook_control_plane::controllers::Selection;
use billhook_control_plane::simulation::Rule;

use super::Serve;
use crate::input::{Document, readable_documents};
use crate::problem::{Place, Problem};

/// The controllers that run, and the rules of the simulation.
pub(super) struct Controllers {
    pub(super) selection: Selection,
    pub(super) rules: Vec<Rule>,
}

impl Controllers {
    /// Reads the names and the files of the options.
    pub(super) fn read(command: &Serve) -> Result<Self, Box<Problem>> {
        let names = command.controllers.iter().map(|name| name.trim());
        let selection = Selection::parse(names)
            .map_err(|error| Problem::unusable(Place::file("--controllers"), error.to_string()))?;
        let mut problems = Vec::new();
        let documents = readable_documents(&command.simulate, &mut problems);
        if let Some(problem) = problems.into_iter().next() {
            return Err(Box::new(problem));
        }
        let mut rules = Vec::new();
        for document in &documents {
            rules.extend(read_rules(document)?);
        }
        if !rules.is_empty() && !selection.has_nodes() {
            let message = "rules are for simulated nodes, and there are none";
            return Err(Problem::unusable(Place::file("--simulate"), message)
                .help("give --controllers all, or --controllers nodes"));
        }
        Ok(Controllers { selection, rules })
    }
}

/// Reads the rules of a document.
fn read_rules(document: &Document) -> Result<Vec<Rule>, Box<Problem>> {
    let rules = document.value.get("rules").and_then(|rules| rules.as_array());
    let Some(rules) = rules else {
        return Err(Problem::unusable(document.place.clone(), "rules are missing").field("rules"));
    };
    let read = |(index, rule)| {
        Rule::from_value(rule).map_err(|error| {
            Problem::unusable(document.place.clone(), format!("rules[{index}]: {error}"))
        })
    };
    rules.iter().enumerate().map(read).collect()
}
