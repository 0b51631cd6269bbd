//! The choice of a media type by the header `Accept` (RE-10, RE-11).

/// The media type of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MediaType {
    #[default]
    Json,
    Yaml,
}

impl MediaType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            MediaType::Json => "application/json",
            MediaType::Yaml => "application/yaml",
        }
    }
}

/// The answer that a client likes best.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) media_type: MediaType,
    /// Whether the clause asks for indentation.
    pub(crate) is_pretty: bool,
}

struct Clause<'a> {
    type_: &'a str,
    subtype: &'a str,
    quality: f64,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next()?;
        let (type_, subtype) = match media {
            "*" => ("*", "*"),
            media => media.split_once('/')?,
        };
        let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters.iter().find(|(name, _)| *name == "q");
        let quality = quality.and_then(|(_, value)| value.parse().ok()).unwrap_or(1.0);
        Some(Clause { type_, subtype, quality, parameters })
    }

    /// Whether this clause comes before a neighbour on its left.
    fn precedes(&self, left: &Clause<'_>) -> bool {
        let is_more_specific = |mine: &str, other: &str| mine != "*" && other == "*";
        self.quality > left.quality
            || is_more_specific(self.type_, left.type_)
            || is_more_specific(self.subtype, left.subtype)
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn media_type(&self) -> Option<MediaType> {
        let offered = match (self.type_, self.subtype) {
            ("*" | "application", "*") | ("application", "json") => MediaType::Json,
            ("application", "yaml") => MediaType::Yaml,
            _ => return None,
        };
        let is_plain = self.parameter("as").is_none()
            && self.parameter("stream").is_none_or(|stream| stream == "watch");
        is_plain.then_some(offered)
    }
}

/// Chooses the type of an answer; `None` if nothing that is offered is accepted.
pub(crate) fn negotiate(header: &str) -> Option<Accepted> {
    if header.trim().is_empty() {
        return Some(Accepted::default());
    }
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    for clause in header.split(',').map(str::trim).filter_map(Clause::parse) {
        let place = clauses.iter().rposition(|left| !clause.precedes(left));
        clauses.insert(place.map_or(0, |place| place + 1), clause);
    }
    clauses.iter().find_map(|clause| {
        let media_type = clause.media_type()?;
        let is_pretty = clause.parameter("pretty") == Some("1");
        Some(Accepted { media_type, is_pretty })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_clause_wins() {
        for (header, expected) in [
            ("", Some(MediaType::Json)),
            ("*/*, application/yaml;q=0.5", Some(MediaType::Yaml)),
            ("application/yaml;q=0.5, */*", Some(MediaType::Json)),
            ("*/*;q=0.9, application/yaml", Some(MediaType::Yaml)),
            ("application/*, application/yaml", Some(MediaType::Yaml)),
            ("text/html, application/json", Some(MediaType::Json)),
            ("text/html", None),
            ("application/vnd.kubernetes.protobuf", None),
        ] {
            let found = negotiate(header).map(|accepted| accepted.media_type);
            assert_eq!(found, expected, "{header}");
        }
    }
}
