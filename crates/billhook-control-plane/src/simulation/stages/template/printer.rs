//! Printing an object by a template.

use std::cell::Cell;

use billhook_apimachinery::value::footprint;
use serde_json::Value;

use super::Surroundings;
use super::lexer::Root;
use super::parser::{Choice, Node, Pipeline, Term};
use super::value::{is_filled, text_of};

/// How many nodes are printed, and how many bytes.
const MAX_NODES: usize = 100_000;
const MAX_BYTES: usize = 1 << 20;
/// How many bytes of values are copied for that.
const MAX_COPIED: usize = 64 << 20;

pub(super) struct Printer<'p> {
    object: &'p Value,
    surroundings: &'p Surroundings<'p>,
    current: Value,
    variables: Vec<(String, Value)>,
    text: String,
    count: usize,
    copied: Cell<usize>,
}

impl<'p> Printer<'p> {
    pub(super) fn new(object: &'p Value, surroundings: &'p Surroundings<'p>) -> Self {
        Printer {
            object,
            surroundings,
            current: object.clone(),
            variables: Vec::new(),
            text: String::new(),
            count: 0,
            copied: Cell::new(0),
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Prints nodes. Variables that are set in them end with them.
    pub(super) fn print_all(&mut self, nodes: &[Node]) -> Result<(), String> {
        let count = self.variables.len();
        let printed = nodes.iter().try_for_each(|node| self.print(node));
        self.variables.truncate(count);
        printed
    }

    fn print(&mut self, node: &Node) -> Result<(), String> {
        self.count += 1;
        if self.count > MAX_NODES || self.text.len() > MAX_BYTES {
            return Err("too much is printed".to_owned());
        }
        match node {
            Node::Text(text) => self.text.push_str(text),
            Node::Print(pipeline) => {
                let value = self.value(pipeline)?;
                self.text.push_str(&text_of(&value));
            }
            Node::Set(name, pipeline) => {
                let value = self.value(pipeline)?;
                self.variables.push((name.clone(), value));
            }
            Node::If(choice) => match is_filled(&self.value(&choice.value)?) {
                true => self.print_all(&choice.then)?,
                false => self.print_all(&choice.otherwise)?,
            },
            Node::With(choice) => match self.value(&choice.value)? {
                value if is_filled(&value) => self.print_of(value, &choice.then)?,
                _ => self.print_all(&choice.otherwise)?,
            },
            Node::Range { names, choice } => self.print_range(names, choice)?,
        }
        Ok(())
    }

    /// Prints nodes with another current value.
    fn print_of(&mut self, value: Value, nodes: &[Node]) -> Result<(), String> {
        let before = std::mem::replace(&mut self.current, value);
        let printed = self.print_all(nodes);
        self.current = before;
        printed
    }

    fn print_range(&mut self, names: &[String], choice: &Choice) -> Result<(), String> {
        let elements: Vec<(Value, Value)> = match self.value(&choice.value)? {
            Value::Array(list) => {
                list.into_iter().enumerate().map(|(index, value)| (index.into(), value)).collect()
            }
            Value::Object(members) => {
                members.into_iter().map(|(name, value)| (name.into(), value)).collect()
            }
            Value::Null => Vec::new(),
            _ => return Err("range over neither a list nor an object".to_owned()),
        };
        if elements.is_empty() {
            return self.print_all(&choice.otherwise);
        }
        for (key, value) in elements {
            let count = self.variables.len();
            match names {
                [item] => self.variables.push((item.clone(), value.clone())),
                [index, item] => {
                    self.variables.push((index.clone(), key));
                    self.variables.push((item.clone(), value.clone()));
                }
                _ => {}
            }
            let printed = self.print_of(value, &choice.then);
            self.variables.truncate(count);
            printed?;
        }
        Ok(())
    }

    fn value(&self, pipeline: &Pipeline) -> Result<Value, String> {
        let mut last = None;
        for command in pipeline {
            last = Some(self.value_of_command(command, last)?);
        }
        Ok(last.unwrap_or_default())
    }

    fn value_of_command(&self, terms: &[Term], last: Option<Value>) -> Result<Value, String> {
        match terms {
            [Term::Call(function), arguments @ ..] => {
                let arguments = arguments.iter().map(|term| self.value_of_term(term));
                let mut arguments: Vec<Value> = arguments.collect::<Result<_, _>>()?;
                arguments.extend(last);
                function.call(&arguments, self.surroundings)
            }
            [term, ..] => self.value_of_term(term),
            [] => Ok(Value::Null),
        }
    }

    fn value_of_term(&self, term: &Term) -> Result<Value, String> {
        match term {
            Term::Literal(value) => self.copy(value),
            Term::Call(function) => function.call(&[], self.surroundings),
            Term::Pipeline(pipeline) => self.value(pipeline),
            Term::Field(root, names) => {
                let root = match root {
                    Root::Current => &self.current,
                    Root::Object => self.object,
                    Root::Variable(name) => {
                        let mut variables = self.variables.iter().rev();
                        let found = variables.find(|(known, _)| known == name);
                        let unset = || format!("the variable ${name} is not set");
                        &found.ok_or_else(unset)?.1
                    }
                };
                let found = names.iter().try_fold(root, |value, name| value.get(name));
                found.map_or(Ok(Value::Null), |found| self.copy(found))
            }
        }
    }

    fn copy(&self, value: &Value) -> Result<Value, String> {
        let copied = self.copied.get().saturating_add(footprint(value));
        self.copied.set(copied);
        match copied > MAX_COPIED {
            true => Err("too much is read".to_owned()),
            false => Ok(value.clone()),
        }
    }
}
