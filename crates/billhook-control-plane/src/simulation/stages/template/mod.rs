//! Templates of stages: the part of Go's template language that prints statuses.
//!
//! Fields (`.spec.nodeName`), `$`, variables, `if`, `else`, `with`, `range`, bars, brackets and these
//! functions: `Now`, `Quote`, `NodeIP`, `NodeIPWith`, `PodIP`, `PodIPWith`, `and`, `or`, `not`, `eq`,
//! `ne`, `index`, `len`.

mod function;
mod lexer;
mod parser;
mod printer;
mod value;

use serde_json::Value;

use self::parser::Node;
use self::printer::Printer;
use crate::clock::Timestamp;

/// A template that was understood.
#[derive(Clone, Debug)]
pub(super) struct Template(Vec<Node>);

/// The values that functions return.
pub(super) struct Surroundings<'s> {
    pub(super) now: Timestamp,
    pub(super) node_address: &'s str,
    /// The address of the object, if it is a pod.
    pub(super) pod_address: String,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// If an action is not understood; the text has its line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        parser::parse(lexer::pieces(text)?).map(Template)
    }

    /// Prints an object.
    ///
    /// # Errors
    ///
    /// If a function is not for its arguments, or too much is printed.
    pub(super) fn print(
        &self,
        object: &Value,
        surroundings: &Surroundings<'_>,
    ) -> Result<String, String> {
        let Template(nodes) = self;
        let mut printer = Printer::new(object, surroundings);
        printer.print_all(nodes)?;
        Ok(printer.into_text())
    }
}
