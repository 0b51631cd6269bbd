//! Parsing the text of a selector, e.g. `app=web,env notin (dev,prod),!legacy` (WM-68, RE-53).

use std::str::FromStr;

use super::{Operator, Requirement, Selector, SelectorError};
use crate::names::qualified_name;
use crate::{FieldError, FieldPath, KubernetesVersion, Wording};

/// Marks, the longer ones first.
const MARKS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Self::parse_for(text, KubernetesVersion::default())
    }
}

impl Selector {
    /// Parses the text of a selector as a server of a version does, whose errors may have other
    /// texts (KV-14).
    ///
    /// ```
    /// use billhook_apimachinery::{KubernetesVersion, label_selector::Selector};
    ///
    /// let error = Selector::parse_for("a/b/c", KubernetesVersion::V1_34).unwrap_err();
    /// assert!(error.to_string().contains("a qualified name must consist of"));
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is malformed, or a requirement cannot be used.
    pub fn parse_for(text: &str, kubernetes: KubernetesVersion) -> Result<Self, SelectorError> {
        let mut scanner = Scanner { rest: text.trim_start(), wording: kubernetes.wording() };
        let mut requirements = Vec::new();
        if scanner.rest.is_empty() {
            return Ok(Selector::everything());
        }
        if !scanner.begins_requirement() {
            return Err(scanner.found("expected: !, identifier, or 'end of string'"));
        }
        loop {
            let requirement = scanner.requirement().map_err(|error| SelectorError {
                message: format!("unable to parse requirement: {}", error.message),
            })?;
            requirements.push(requirement);
            if scanner.rest.is_empty() {
                return Ok(Selector::new(requirements));
            }
            if !scanner.take(",") {
                return Err(scanner.found("expected: ',' or 'end of string'"));
            }
            if !scanner.begins_requirement() {
                return Err(scanner.found("expected: identifier after ','"));
            }
        }
    }
}

struct Scanner<'t> {
    /// The rest of the text, without leading white space.
    rest: &'t str,
    wording: &'static Wording,
}

impl<'t> Scanner<'t> {
    /// The next mark or word; empty at the end.
    fn next(&self) -> &'t str {
        let mark = MARKS.into_iter().find(|mark| self.rest.starts_with(mark));
        let end = mark.map_or_else(|| self.word().len(), str::len);
        self.rest.get(..end).unwrap_or_default()
    }

    /// The next word; empty if a mark or nothing is next.
    fn word(&self) -> &'t str {
        let is_special = |c: char| "=!(),><".contains(c);
        let end = self.rest.find(|c: char| c.is_whitespace() || is_special(c));
        self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default()
    }

    fn take_word(&mut self) -> &'t str {
        let word = self.word();
        self.rest = self.rest.get(word.len()..).unwrap_or_default().trim_start();
        word
    }

    /// Skips a mark, if it is next.
    fn take(&mut self, mark: &str) -> bool {
        let is_next = self.next() == mark;
        if is_next {
            self.rest = self.rest.get(mark.len()..).unwrap_or_default().trim_start();
        }
        is_next
    }

    fn begins_requirement(&self) -> bool {
        self.next() == "!" || !self.word().is_empty()
    }

    fn found(&self, expected: &str) -> SelectorError {
        SelectorError { message: format!("found '{}', {expected}", self.next()) }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let is_negated = self.take("!");
        let key = self.take_word();
        if key.is_empty() {
            return Err(self.found("expected: identifier"));
        }
        check_key(key, self.wording)?;
        let wording = self.wording;
        let requirement =
            |operator, values: &[String]| Requirement::new(key, operator, values, wording);
        if is_negated {
            return requirement(Operator::DoesNotExist, &[]);
        }
        if matches!(self.next(), "" | ",") {
            return requirement(Operator::Exists, &[]);
        }
        for (mark, operator) in [
            ("!=", Operator::NotEquals),
            ("==", Operator::Equals),
            ("=", Operator::Equals),
            (">", Operator::GreaterThan),
            ("<", Operator::LessThan),
        ] {
            if self.take(mark) {
                return requirement(operator, &[self.value()?]);
            }
        }
        let operator = match self.word() {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            _ => return Err(self.found("expected: in, notin, =, ==, !=, gt, lt")),
        };
        self.take_word();
        requirement(operator, &self.values()?)
    }

    /// The value after an operator; empty at the end.
    fn value(&mut self) -> Result<String, SelectorError> {
        match self.word() {
            "" if !matches!(self.next(), "" | ",") => Err(self.found("expected: identifier")),
            _ => Ok(self.take_word().to_owned()),
        }
    }

    /// A list in parentheses; an empty place in it is an empty value.
    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        if !self.take("(") {
            let message = format!("found '{}' expected: '('", self.next());
            return Err(SelectorError { message });
        }
        if self.word().is_empty() && !matches!(self.next(), ")" | ",") {
            return Err(self.found("expected: ',', ')' or identifier"));
        }
        let mut values = vec![self.take_word().to_owned()];
        while self.take(",") {
            if self.word().is_empty() && !matches!(self.next(), ")" | ",") {
                return Err(self.found("expected: ',', or identifier"));
            }
            values.push(self.take_word().to_owned());
        }
        if !self.take(")") {
            return Err(self.found("expected: ',' or ')'"));
        }
        Ok(values)
    }
}

/// The key is checked before anything else, and without a path.
fn check_key(key: &str, wording: &Wording) -> Result<(), SelectorError> {
    let messages = qualified_name(key, wording);
    if messages.is_empty() {
        return Ok(());
    }
    let error = FieldError::invalid(FieldPath::default(), key, &messages.join("; "));
    Err(SelectorError { message: error.to_string() })
}
