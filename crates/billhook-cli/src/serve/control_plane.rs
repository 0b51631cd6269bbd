//! The controllers of `billhook serve`.

use billhook_control_plane::controllers::Selection;
use billhook_control_plane::simulation::{Rule, Stage};

use super::Serve;
use crate::controllers::Simulation;
use crate::input::{Document, readable_documents};
use crate::problem::{Place, Problem};

/// The controllers that run, and what they simulate.
pub(super) struct Controllers {
    pub(super) selection: Selection,
    pub(super) simulation: Simulation,
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
        let mut simulation = Simulation::default();
        for document in &documents {
            match Stage::is_meant(&document.value) {
                true => simulation.stages.push(read_stage(document)?),
                false => simulation.rules.extend(read_rules(document)?),
            }
        }
        let is_empty = simulation.rules.is_empty() && simulation.stages.is_empty();
        if !is_empty && !selection.has_nodes() {
            let message = "rules and stages are for simulated nodes, and there are none";
            return Err(Problem::unusable(Place::file("--simulate"), message)
                .help("give --controllers all, or --controllers nodes"));
        }
        Ok(Controllers { selection, simulation })
    }
}

/// Reads a stage of kwok.
fn read_stage(document: &Document) -> Result<Stage, Box<Problem>> {
    let stage = Stage::from_value(&document.value);
    stage.map_err(|error| {
        Problem::unusable(document.place.clone().of_field(error.path()), error.to_string())
    })
}

/// Reads the rules of a document.
fn read_rules(document: &Document) -> Result<Vec<Rule>, Box<Problem>> {
    let rules = document.value.get("rules").and_then(|rules| rules.as_array());
    let Some(rules) = rules else {
        return Err(Problem::unusable(document.place.clone(), "rules are missing").field("rules"));
    };
    let read = |(index, rule)| {
        Rule::from_value(rule).map_err(|error| {
            let path = format!("rules[{index}]");
            let place = document.place.clone().of_field(&path);
            Problem::unusable(place, format!("{path}: {error}"))
        })
    };
    rules.iter().enumerate().map(read).collect()
}
