//! Reading flags as Go programs do (ET-17).

use std::collections::BTreeMap;
use std::time::Duration;

use billhook_validation::parse_go_duration;

use super::table::{Answer, Flag, Kind, find, find_short};

/// The flags that were given.
#[derive(Debug, Default)]
pub(in super::super) struct Flags {
    given: BTreeMap<&'static str, Vec<String>>,
    /// Those that are given, in the order of their first occurrence.
    order: Vec<&'static Flag>,
}

/// Reads flags.
///
/// # Errors
///
/// If a flag is not known, or has a value that it cannot have.
pub(in super::super) fn parse(arguments: &[String]) -> Result<Flags, String> {
    let mut flags = Flags::default();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        if argument == "--" {
            return rest.next().map_or(Ok(flags), |other| Err(unexpected(other)));
        }
        match argument.strip_prefix("--") {
            Some(flag) => {
                let (name, value) = split(flag);
                let found = find(&name.replace('_', "-"));
                let found = found.ok_or_else(|| format!("unknown flag: --{name}"))?;
                let value = match value {
                    Some(value) => value,
                    None => implied(found)
                        .or_else(|| rest.next())
                        .ok_or_else(|| format!("flag needs an argument: --{}", found.name))?,
                };
                flags.add(found, value)?;
            }
            None => match argument.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                Some(letters) => flags.add_short(letters, &mut rest)?,
                None => return Err(unexpected(argument)),
            },
        }
    }
    Ok(flags)
}

fn split(flag: &str) -> (&str, Option<&str>) {
    flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)))
}

/// The value of a flag that is given without one.
fn implied(flag: &Flag) -> Option<&'static str> {
    (flag.kind == Kind::Bool || flag.name == "version").then_some("true")
}

fn unexpected(argument: &str) -> String {
    format!("\"kube-apiserver\" does not take any arguments, got [\"{argument}\"]")
}

impl Flags {
    fn add_short<'a>(
        &mut self,
        letters: &'a str,
        rest: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let mut left = letters.chars();
        while let Some(letter) = left.next() {
            let flag = find_short(letter);
            let flag =
                flag.ok_or_else(|| format!("unknown shorthand flag: '{letter}' in -{letters}"))?;
            if let Some(value) = implied(flag) {
                self.add(flag, value)?;
                continue;
            }
            let value = left.as_str();
            let value = value.strip_prefix('=').unwrap_or(value);
            let value = Some(value).filter(|value| !value.is_empty()).or_else(|| rest.next());
            let value =
                value.ok_or_else(|| format!("flag needs an argument: '{letter}' in -{letters}"))?;
            return self.add(flag, value);
        }
        Ok(())
    }

    fn add(&mut self, flag: &'static Flag, value: &str) -> Result<(), String> {
        check(flag, value).map_err(|why| {
            let name = match flag.short {
                Some(short) => format!("-{short}, --{}", flag.name),
                None => format!("--{}", flag.name),
            };
            format!("invalid argument \"{value}\" for \"{name}\" flag: {why}")
        })?;
        let values = self.given.entry(flag.name).or_insert_with(|| {
            self.order.push(flag);
            Vec::new()
        });
        match flag.kind {
            Kind::List | Kind::Pairs => {
                let items = value.split(',').map(str::trim).filter(|item| !item.is_empty());
                values.extend(items.map(str::to_owned));
            }
            _ => values.push(value.to_owned()),
        }
        Ok(())
    }

    /// The flags that were given, with their effects.
    pub(in super::super) fn answers(&self) -> impl Iterator<Item = (&'static str, Answer)> {
        self.order.iter().map(|flag| (flag.name, flag.answer))
    }

    pub(in super::super) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// All values of a flag.
    pub(in super::super) fn all(&self, name: &str) -> &[String] {
        self.given.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The last value of a flag, unless it is empty.
    pub(in super::super) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).last().map(String::as_str).filter(|text| !text.is_empty())
    }

    pub(in super::super) fn bool(&self, name: &str, default: bool) -> bool {
        self.text(name).and_then(parse_bool).unwrap_or(default)
    }

    pub(in super::super) fn number(&self, name: &str, default: i64) -> i64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// The seconds that a flag names; none if they are negative.
    pub(in super::super) fn seconds(&self, name: &str) -> Option<Duration> {
        let seconds = self.text(name)?.parse::<i64>().ok()?;
        u64::try_from(seconds).ok().map(Duration::from_secs)
    }

    /// The duration that a flag names; none if it is negative.
    pub(in super::super) fn duration(&self, name: &str) -> Option<Duration> {
        let nanoseconds = parse_go_duration(self.text(name)?)?;
        u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
    }
}

/// Reads a truth value in Go's notations.
pub(in super::super) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Checks the syntax of a value.
fn check(flag: &Flag, value: &str) -> Result<(), String> {
    let fails =
        |function: &str| Err(format!("strconv.{function}: parsing \"{value}\": invalid syntax"));
    match flag.kind {
        Kind::Bool if parse_bool(value).is_none() => fails("ParseBool"),
        Kind::Number if value.parse::<i64>().is_err() => fails("ParseInt"),
        Kind::Count if value.parse::<f64>().is_err() => fails("ParseFloat"),
        Kind::Duration if parse_go_duration(value).is_none() => {
            Err(format!("time: invalid duration \"{value}\""))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Flags, String> {
        parse(&arguments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
    }

    /// ET-17.
    #[test]
    fn flags_are_read_in_all_their_forms() {
        let flags = read(&[
            "--cert-dir",
            "/a b",
            "--allow_privileged",
            "--profiling=false",
            "--secure-port=1",
            "--secure-port=2",
            "--authorization-mode=RBAC,Node",
            "--authorization-mode=Webhook",
            "-v=4",
            "-v",
            "5",
        ]);
        let flags = flags.unwrap();
        assert_eq!(flags.text("cert-dir"), Some("/a b"));
        assert!(flags.bool("allow-privileged", false) && !flags.bool("profiling", true));
        assert_eq!(flags.number("secure-port", 0), 2);
        assert_eq!(flags.all("authorization-mode"), ["RBAC", "Node", "Webhook"]);
        assert_eq!(flags.all("v"), ["4", "5"]);
        assert_eq!(flags.answers().count(), 6);
    }

    #[test]
    fn unusable_flags_are_refused() {
        for (arguments, why) in [
            (&["--x"][..], "unknown flag: --x"),
            (&["--x=1"], "unknown flag: --x"),
            (&["-x"], "unknown shorthand flag: 'x' in -x"),
            (&["--cert-dir"], "flag needs an argument: --cert-dir"),
            (
                &["--secure-port=a"],
                "invalid argument \"a\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"a\": \
                 invalid syntax",
            ),
            (
                &["--request-timeout=1x"],
                "invalid argument \"1x\" for \"--request-timeout\" flag: time: invalid duration \"1x\"",
            ),
            (&["run"], "\"kube-apiserver\" does not take any arguments, got [\"run\"]"),
        ] {
            assert_eq!(read(arguments).unwrap_err(), why);
        }
        for text in ["1h30m", "0", "-1.5s", "60s"] {
            assert!(parse_go_duration(text).is_some(), "{text}");
        }
        for text in ["", "1", "s", "1s2"] {
            assert!(parse_go_duration(text).is_none(), "{text}");
        }
    }
}
