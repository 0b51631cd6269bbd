//! URLs (CE-10).

use std::sync::Arc;

use billhook_apimachinery::net::{Url, UrlPart, unescape_text};
use indexmap::IndexMap;

use super::cost;
use super::declare::{Call, Cost, Overload, Result, opaque, text, wrap};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, LibraryValue, Map, Value};

const NAME: &str = "kubernetes.URL";
const URL: Type = Type::Opaque(NAME);

impl LibraryValue for Url {
    fn type_name(&self) -> &'static str {
        NAME
    }
}

pub(super) fn library() -> Vec<Overload> {
    use Type::{Bool, String};
    let get = |name: &'static str, call: Call| Overload::method(name, vec![URL], String, call);
    vec![
        Overload::function("url", vec![String], URL, |arguments| {
            parse(text(arguments, 0)?).map(wrap)
        })
        .costs(Cost::Of(cost::first)),
        Overload::function("isURL", vec![String], Bool, |arguments| {
            Ok(Value::Bool(parse(text(arguments, 0)?).is_ok()))
        }),
        get("getScheme", |arguments| Ok(Value::text(receiver(arguments)?.scheme.as_str()))),
        get("getHost", |arguments| Ok(Value::text(receiver(arguments)?.host.as_str()))),
        get("getHostname", |arguments| Ok(Value::text(receiver(arguments)?.host_and_port().0))),
        get("getPort", |arguments| Ok(Value::text(receiver(arguments)?.host_and_port().1))),
        get("getEscapedPath", |arguments| Ok(Value::text(receiver(arguments)?.escaped_path()))),
        Overload::method("getQuery", vec![URL], String.list().map(), |arguments| {
            Ok(query(&receiver(arguments)?.query))
        }),
    ]
}

fn receiver<'v>(arguments: &'v [Value<'_>]) -> Result<&'v Url> {
    opaque(arguments, 0)
}

/// An absolute URL or path. It is parsed twice: requests have no fragments.
fn parse(text: &str) -> Result<Url> {
    Url::parse_request_uri(text).and_then(|_| Url::parse(text)).map_err(|error| {
        EvaluationError::new(format!("URL parse error during conversion from string: {error}"))
    })
}

/// The values of a query by name, in the order of the names' first occurrence.
fn query<'a>(text: &str) -> Value<'a> {
    let mut entries: IndexMap<String, Vec<Value<'a>>> = IndexMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let unescaped = |text| unescape_text(text, UrlPart::Query);
        let (Ok(name), Ok(value)) = (unescaped(name), unescaped(value)) else { continue };
        entries.entry(name).or_default().push(Value::text(value));
    }
    let entries =
        entries.into_iter().map(|(name, values)| (Value::text(name), Value::list(values)));
    Value::Map(Map::Values(Arc::new(entries.collect())))
}
