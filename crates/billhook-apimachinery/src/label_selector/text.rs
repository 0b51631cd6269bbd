//! Parsing the text of a selector, e.g. `app=web,env notin (dev,prod),!legacy`.

use std::str::FromStr;

use crate::KubernetesVersion;

use super::{Operator, Requirement, Selector, SelectorError};

/// Characters that end a word.
const SPECIAL: [char; 5] = ['(', ')', ',', '!', '='];

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut scanner = Scanner { rest: text.trim() };
        let mut requirements = Vec::new();
        if scanner.rest.is_empty() {
            return Ok(Selector::everything());
        }
        loop {
            requirements.push(scanner.requirement()?);
            if !scanner.take(",") {
                break;
            }
        }
        match scanner.rest.chars().next() {
            None => Ok(Selector::new(requirements)),
            Some(_) => Err(scanner.expected("`,` or the end")),
        }
    }
}

struct Scanner<'t> {
    /// The rest of the text, without leading white space.
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    /// Skips a mark, if it is next.
    fn take(&mut self, mark: &str) -> bool {
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    /// The next word; empty if a mark or nothing is next.
    fn word(&mut self) -> &'t str {
        let ends = |c: char| c.is_whitespace() || SPECIAL.contains(&c);
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest.trim_start();
        word
    }

    fn expected(&self, what: &str) -> SelectorError {
        let found = match self.rest.chars().next() {
            None => "the end".to_owned(),
            Some(c) => format!("`{c}`"),
        };
        SelectorError { message: format!("expected {what}, found {found}") }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let is_negated = self.take("!");
        let key = self.word();
        if key.is_empty() {
            return Err(self.expected("the key of a label"));
        }
        if is_negated {
            return requirement(key, Operator::DoesNotExist, &[]);
        }
        for (mark, operator) in
            [("!=", Operator::NotEquals), ("==", Operator::Equals), ("=", Operator::Equals)]
        {
            if self.take(mark) {
                return requirement(key, operator, &[self.word().to_owned()]);
            }
        }
        match self.word() {
            "" => requirement(key, Operator::Exists, &[]),
            "in" => requirement(key, Operator::In, &self.values()?),
            "notin" => requirement(key, Operator::NotIn, &self.values()?),
            other => Err(SelectorError {
                message: format!("expected an operator behind `{key}`, found `{other}`"),
            }),
        }
    }

    /// A list in parentheses; an empty place in it is an empty value.
    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        if !self.take("(") {
            return Err(self.expected("`(`"));
        }
        let mut values = vec![self.word().to_owned()];
        while self.take(",") {
            values.push(self.word().to_owned());
        }
        if !self.take(")") {
            return Err(self.expected("`,` or `)`"));
        }
        Ok(values)
    }
}

fn requirement(
    key: &str,
    operator: Operator,
    values: &[String],
) -> Result<Requirement, SelectorError> {
    Requirement::new(key, operator, values, KubernetesVersion::default().wording())
}
