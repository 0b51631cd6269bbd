//! Placeholders: parts of recorded texts that differ from run to run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds =
        "uid|rv|lrv|continue|hash|suffix|time|microtime|age|address|ip|nodeport|token|diff|any";
    Regex::new(&format!("<(?:{kinds})(?::[0-9]+)?>")).ok()
});

/// The values of the placeholders of one scenario.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    bound: BTreeMap<String, String>,
}

impl Bindings {
    /// Whether a text is the recorded one. Placeholders that are met for the first time are bound.
    pub(super) fn matches(&mut self, recorded: &str, actual: &str) -> bool {
        if recorded == actual {
            return true;
        }
        let mut pattern = String::from("(?s)^");
        let mut free: Vec<&str> = Vec::new();
        let mut is_repeated = false;
        let mut end = 0;
        for (start, placeholder) in placeholders(recorded) {
            pattern.push_str(&regex::escape(recorded.get(end..start).unwrap_or_default()));
            end = start + placeholder.len();
            match self.bound.get(placeholder) {
                Some(value) => pattern.push_str(&regex::escape(value)),
                // One that is met again in the same text is compared after its binding.
                None if free.contains(&placeholder) && placeholder.contains(':') => {
                    is_repeated = true;
                    pattern.push_str("(?:.*)");
                }
                None => {
                    free.push(placeholder);
                    pattern.push_str(&format!("({})", shape(kind(placeholder))));
                }
            }
        }
        if end == 0 {
            return false;
        }
        pattern.push_str(&regex::escape(recorded.get(end..).unwrap_or_default()));
        pattern.push('$');
        let captures = Regex::new(&pattern).ok().and_then(|pattern| pattern.captures(actual));
        let Some(captures) = captures else { return false };
        let mut found = free.iter().zip(captures.iter().skip(1).flatten());
        let fits = found.all(|(name, value)| self.bind(name, value.as_str()));
        fits && (!is_repeated || self.matches(recorded, actual))
    }

    /// Binds a placeholder; false if its value is that of another one from which it must differ.
    fn bind(&mut self, placeholder: &str, value: &str) -> bool {
        if !placeholder.contains(':') {
            return true;
        }
        let kind = kind(placeholder);
        let is_distinct = matches!(kind, "uid" | "rv" | "hash" | "ip" | "nodeport");
        let of_kind = format!("<{kind}:");
        let is_taken =
            self.bound.iter().any(|(name, other)| name.starts_with(&of_kind) && other == value);
        if is_distinct && is_taken {
            return false;
        }
        self.bound.insert(placeholder.to_owned(), value.to_owned());
        true
    }

    /// Puts what is bound into a text.
    fn fill_in<'t>(&self, text: &'t str, encode: impl Fn(&str) -> String) -> Cow<'t, str> {
        let mut out = String::new();
        let mut end = 0;
        for (start, placeholder) in placeholders(text) {
            let Some(value) = self.bound.get(placeholder) else { continue };
            out.push_str(text.get(end..start).unwrap_or_default());
            out.push_str(&encode(value));
            end = start + placeholder.len();
        }
        if end == 0 {
            return text.into();
        }
        out.push_str(text.get(end..).unwrap_or_default());
        out.into()
    }

    /// Puts what is bound into the target of a request.
    pub(super) fn in_path(&self, path: &str) -> String {
        self.fill_in(path, percent_encode).into_owned()
    }

    /// Puts what is bound into a text that is sent.
    pub(super) fn in_text(&self, text: &str) -> String {
        self.fill_in(text, str::to_owned).into_owned()
    }

    /// Puts what is bound into all texts of a value that is sent.
    pub(super) fn in_value(&self, value: &mut Value) {
        match value {
            // Ports are numbers.
            Value::String(text) if text.starts_with("<nodeport") => {
                let port = self.in_text(text);
                *value = port.parse::<i64>().map_or(port.into(), Value::from);
            }
            Value::String(text) => *text = self.in_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.in_value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.in_value(member)),
            _ => {}
        }
    }
}

fn placeholders(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let found = PLACEHOLDER.as_ref().into_iter().flat_map(move |pattern| pattern.find_iter(text));
    found.map(|found| (found.start(), found.as_str()))
}

fn kind(placeholder: &str) -> &str {
    let inner = placeholder.trim_start_matches('<').trim_end_matches('>');
    inner.split_once(':').map_or(inner, |(kind, _)| kind)
}

fn shape(kind: &str) -> &'static str {
    match kind {
        "uid" => "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "rv" | "lrv" => "[1-9][0-9]*",
        "continue" => r"[A-Za-z0-9_\-+/=.]+",
        "hash" => "[A-Za-z0-9+/=_-]+",
        "suffix" => "[bcdfghjklmnpqrstvwxz2456789]{5}",
        "time" => "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z",
        "microtime" => r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z",
        "ip" => r"10\.\d+\.\d+\.\d+",
        "nodeport" => "[0-9]{5}",
        "token" => r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+",
        "age" => "(?:[0-9]+[smhdy]){1,2}",
        _ => ".*",
    }
}

fn percent_encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_bound_once() {
        let mut bindings = Bindings::default();
        assert!(bindings.matches("version <rv:1>", "version 12"));
        assert!(bindings.matches("<rv:1>", "12") && !bindings.matches("<rv:1>", "13"));
        assert!(!bindings.matches("<rv:2>", "12"), "another resource version is another number");
        assert!(bindings.matches("<lrv:2>", "12"));
        assert!(bindings.matches("at <time>", "at 2026-01-02T03:04:05Z"));
        assert!(!bindings.matches("<time>", "2026-01-02T03:04:05.000000Z"));
        assert!(!bindings.matches("a", "b"));
        assert_eq!(bindings.in_path("/x?rv=<rv:1>&u=<uid:1>"), "/x?rv=12&u=<uid:1>");
    }

    #[test]
    fn one_that_is_met_twice_in_a_text_is_the_same() {
        assert!(Bindings::default().matches("<rv:1> <rv:1>", "7 7"));
        assert!(Bindings::default().matches("<age> <age>", "7s 8m"));
        assert!(!Bindings::default().matches("<rv:1> <rv:1>", "7 8"));
    }
}
