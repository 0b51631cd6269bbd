//! The query of a request: flags and numbers as the server reads them (RE-04).

use billhook_apimachinery::Status;
use billhook_apimachinery::net::{UrlPart, unescape_text};
use billhook_apimachinery::print::quote;

/// The parameters of a query, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    parameters: Vec<(String, String)>,
}

impl Query {
    /// Reads a query. Parts that cannot be read are left out, as a server does.
    pub(crate) fn parse(text: &str) -> Self {
        let parts = text.split('&').filter(|part| !part.is_empty() && !part.contains(';'));
        let parameters = parts.filter_map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let unescaped = |text| unescape_text(text, UrlPart::Query).ok();
            Some((unescaped(name)?, unescaped(value)?))
        });
        Query { parameters: parameters.collect() }
    }

    /// Returns the first value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first value of a parameter; the empty text if it is absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Returns all values of a parameter.
    pub(crate) fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let named = self.parameters.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Reads a flag: everything but `0` and `false` is true (RE-04).
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(is_true)
    }

    /// Reads a number; 0 if it is absent (RE-04).
    pub(crate) fn integer(&self, name: &str) -> Result<i64, Status> {
        let Some(text) = self.get(name) else { return Ok(0) };
        text.parse().map_err(|error| {
            Status::bad_request(format!(
                "strconv.ParseInt: parsing {}: {}",
                quote(text),
                why(&error)
            ))
        })
    }
}

/// Whether a flag of a query is true (RE-04).
pub(crate) fn is_true(value: &str) -> bool {
    value != "0" && !value.eq_ignore_ascii_case("false")
}

/// Says why a text is not a number.
pub(crate) fn why(error: &std::num::ParseIntError) -> &'static str {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match error.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_numbers() {
        let query = Query::parse("a&b=0&c=FALSE&d=no&e=+1&limit=x&g=%41%zz&h;i=1");
        assert!(query.flag("a") && query.flag("d") && !query.flag("b") && !query.flag("c"));
        assert_eq!(query.text("e"), " 1");
        assert_eq!(
            query.integer("limit").unwrap_err().to_string(),
            "strconv.ParseInt: parsing \"x\": invalid syntax",
        );
        assert_eq!([query.get("g"), query.get("h"), query.get("i")], [None; 3]);
    }
}
