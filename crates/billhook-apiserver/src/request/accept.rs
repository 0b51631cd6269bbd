//! The choice of a media type by the header `Accept` (RE-10, RE-11, DT-60).

use crate::protobuf::PROTOBUF;

/// The text of a 406 (RE-11).
pub(crate) const NOT_ACCEPTABLE: &str = "only the following media types are accepted: \
    application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The media type of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MediaType {
    #[default]
    Json,
    Yaml,
    /// Of the server's own kinds only.
    Protobuf,
}

impl MediaType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            MediaType::Json => "application/json",
            MediaType::Yaml => "application/yaml",
            MediaType::Protobuf => PROTOBUF,
        }
    }
}

/// The answer that a client likes best.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) media_type: MediaType,
    /// Whether the clause asks for indentation.
    pub(crate) is_pretty: bool,
    /// The other form that objects are wanted in.
    pub(crate) transform: Option<Transform>,
}

/// Another form of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transform {
    pub(crate) shape: Shape,
    /// The version of `meta.k8s.io`.
    pub(crate) version: &'static str,
}

/// The kind that shows objects in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Table,
    Metadata,
    MetadataList,
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
        // YAML is not streamed (WA-04).
        let streams = |stream| stream == "watch" && offered == MediaType::Json;
        self.parameter("stream").is_none_or(streams).then_some(offered)
    }

    fn is_protobuf(&self) -> bool {
        PROTOBUF.split_once('/') == Some((self.type_, self.subtype))
    }

    /// Returns the form that is asked for; `None` if there is no such form.
    fn transform(&self) -> Option<Option<Transform>> {
        let [shape, group, version] = ["as", "g", "v"].map(|name| self.parameter(name));
        if [shape, group, version] == [None; 3] {
            return Some(None);
        }
        let shape = match shape? {
            "Table" => Shape::Table,
            "PartialObjectMetadata" => Shape::Metadata,
            "PartialObjectMetadataList" => Shape::MetadataList,
            _ => return None,
        };
        let version = ["v1", "v1beta1"].into_iter().find(|known| version == Some(*known))?;
        (group? == "meta.k8s.io").then_some(Some(Transform { shape, version }))
    }
}

/// The clauses of the header, the best one first.
fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    for clause in header.split(',').map(str::trim).filter_map(Clause::parse) {
        let place = clauses.iter().rposition(|left| !clause.precedes(left));
        clauses.insert(place.map_or(0, |place| place + 1), clause);
    }
    clauses
}

/// Chooses the type of an answer; `None` if nothing that is offered is accepted.
pub(crate) fn negotiate(header: &str) -> Option<Accepted> {
    choose(header, |clause| Some((clause.media_type()?, clause.transform()?)))
}

/// Chooses the type of an answer about the server's own kinds, whose objects are sent in protobuf, too.
pub(crate) fn negotiate_own(header: &str) -> Option<Accepted> {
    choose(header, |clause| match (clause.media_type(), clause.transform()?) {
        (Some(media_type), transform) => Some((media_type, transform)),
        (None, None) if clause.is_protobuf() => Some((MediaType::Protobuf, None)),
        (None, _) => None,
    })
}

/// Chooses the type of a document that has no other form.
pub(crate) fn negotiate_plain(header: &str) -> Option<Accepted> {
    choose(header, |clause| {
        Some((clause.media_type()?, clause.transform().filter(Option::is_none)?))
    })
}

/// Whether the best clause for a failure, which has no other form (RE-17), is that for protobuf
/// (RE-11).
pub(crate) fn prefers_protobuf(header: &str) -> bool {
    let clauses = clauses(header);
    let mut plain = clauses.iter().filter(|clause| clause.transform() == Some(None));
    plain
        .find(|clause| clause.is_protobuf() || clause.media_type().is_some())
        .is_some_and(Clause::is_protobuf)
}

/// Whether a clause names an existing type, in any form.
pub(crate) fn names_media_type(header: &str) -> bool {
    clauses(header).iter().any(|clause| clause.is_protobuf() || clause.media_type().is_some())
}

/// Chooses the type of aggregated discovery; `None` if no clause asks for it (DT-20).
pub(crate) fn aggregated_discovery(header: &str) -> Option<Accepted> {
    let wanted = [("as", "APIGroupDiscoveryList"), ("g", "apidiscovery.k8s.io"), ("v", "v2")];
    clauses(header).iter().find_map(|clause| {
        let is_wanted = wanted.iter().all(|(name, value)| clause.parameter(name) == Some(*value));
        let media_type = clause.media_type().filter(|_| is_wanted)?;
        Some(Accepted { media_type, ..Accepted::default() })
    })
}

fn choose(
    header: &str,
    offered: impl Fn(&Clause<'_>) -> Option<(MediaType, Option<Transform>)>,
) -> Option<Accepted> {
    if header.trim().is_empty() {
        return Some(Accepted::default());
    }
    clauses(header).iter().find_map(|clause| {
        let (media_type, transform) = offered(clause)?;
        let is_pretty = clause.parameter("pretty") == Some("1");
        Some(Accepted { media_type, is_pretty, transform })
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
            ("application/json;stream=watch", Some(MediaType::Json)),
            ("application/yaml;stream=watch, */*", Some(MediaType::Json)),
            ("application/json;stream=foo", None),
            ("application/vnd.kubernetes.protobuf", None),
        ] {
            let found = negotiate(header).map(|accepted| accepted.media_type);
            assert_eq!(found, expected, "{header}");
        }
    }

    /// RE-11.
    #[test]
    fn failures_are_told_in_protobuf() {
        let protobuf = "application/vnd.kubernetes.protobuf";
        for (header, expected) in [
            (protobuf.to_owned(), true),
            (format!("text/html, {protobuf}"), true),
            (format!("{protobuf}, application/json"), true),
            (format!("application/json, {protobuf}"), false),
            (format!("{protobuf};q=0.5, application/json"), false),
            (format!("{protobuf};as=Table;v=v1;g=meta.k8s.io"), false),
            ("text/html".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(prefers_protobuf(&header), expected, "{header}");
        }
    }

    /// DT-60.
    #[test]
    fn forms_are_asked_for_by_kind() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let form = |shape, version| Some(Some(Transform { shape, version }));
        for (header, expected) in [
            (table, form(Shape::Table, "v1")),
            ("application/json", Some(None)),
            ("application/json;g=meta.k8s.io;v=v1beta1;as=Table", form(Shape::Table, "v1beta1")),
            (
                "application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
                form(Shape::Metadata, "v1"),
            ),
            ("application/json;as=Table;v=v2;g=meta.k8s.io, application/json", Some(None)),
            ("application/json;as=Table;v=v1", None),
            ("application/json;as=Chair;v=v1;g=meta.k8s.io", None),
        ] {
            let found = negotiate(header).map(|accepted| accepted.transform);
            assert_eq!(found, expected, "{header}");
        }
        assert_eq!(negotiate_plain(table), None);
        assert!(!prefers_protobuf(table));
        assert!(negotiate_plain(&format!("{table},application/json")).is_some());
    }
}
