//! `billhook explain`: prints rules of the rule book, which every change and finding refers to by
//! number.

mod book;
mod inline;
mod render;
mod table;
mod words;

use std::io::Write as _;

use clap::Args;

use crate::problem::{RunError, Status};
pub(crate) use book::Book;
use book::Rule;

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// List the rules whose ids start with ID, or all rules, with their titles
    #[arg(long)]
    list: bool,
    /// Ids of rules, such as `PR-12`, in upper or lower case, or words that findings have in their
    /// place, such as `FieldValueRequired`
    #[arg(value_name = "ID", required_unless_present = "list")]
    ids: Vec<String>,
}

pub(crate) const HELP: &str = "\
Exit status:
  0  all rules are printed
  2  there is no such rule

Examples:
  billhook explain PR-12
  billhook explain --list DF";

impl Explain {
    /// Says which id is not one.
    pub(crate) fn check(&self) -> Result<(), String> {
        let book = Book::read();
        match self.list {
            true => self.listed(&book).map(drop),
            false => self.texts(&book).map(drop),
        }
    }

    fn listed<'b>(&self, book: &'b Book) -> Result<Vec<&'b Rule<'static>>, String> {
        if self.ids.is_empty() {
            return Ok(book.rules().collect());
        }
        let found: Result<Vec<_>, _> = self.ids.iter().map(|id| find(book, id, true)).collect();
        Ok(found?.concat())
    }

    fn texts(&self, book: &Book) -> Result<Vec<String>, String> {
        let text = |id: &String| match words::text(id) {
            Some(text) => Ok(vec![text]),
            None => {
                let id = words::rule(id).unwrap_or(id);
                Ok(find(book, id, false)?.into_iter().map(render::rule).collect())
            }
        };
        let texts: Result<Vec<_>, String> = self.ids.iter().map(text).collect();
        Ok(texts?.concat())
    }
}

pub(crate) fn run(command: &Explain) -> Result<Status, RunError> {
    let book = Book::read();
    let mut out = anstream::stdout().lock();
    if command.list {
        let rules = command.listed(&book).unwrap_or_default();
        let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
        for rule in rules {
            writeln!(out, "{:width$}  {}", rule.id, inline::plain(rule.title))?;
        }
    } else {
        let texts = command.texts(&book).unwrap_or_default();
        out.write_all(texts.join("\n\n").as_bytes())?;
    }
    out.flush()?;
    Ok(Status::Fine)
}

/// The rule of an id, or with `list` all rules that it is a prefix of.
fn find<'b>(book: &'b Book, id: &str, list: bool) -> Result<Vec<&'b Rule<'static>>, String> {
    let wanted = id.to_ascii_uppercase();
    let fits = |rule: &&Rule<'_>| rule.id == wanted || list && rule.id.starts_with(&wanted);
    let rules: Vec<_> = book.rules().filter(fits).collect();
    if rules.is_empty() { Err(unknown(book, id, &wanted)) } else { Ok(rules) }
}

fn unknown(book: &Book, id: &str, wanted: &str) -> String {
    let near = book.near(wanted);
    let id = crate::report::visible(id);
    if near.is_empty() {
        return format!("there is no rule `{id}`; `billhook explain --list` lists all rules");
    }
    format!("there is no rule `{id}`; similar ids: {}", near.join(", "))
}
