//! The cells of events (BK-722).

use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::cells;
use crate::values::{text, value_at};

/// Returns the cells of an event, whose first column is when it was seen, and not its name.
pub(super) fn of(event: &Value, now: Time) -> Vec<Value> {
    vec![
        last_seen(event, now),
        cells::at(event, "/type"),
        cells::at(event, "/reason"),
        subject(event),
        either(event, ["/involvedObject/fieldPath", "/regarding/fieldPath"]).into(),
        source(event),
        either(event, ["/message", "/note"]).trim().into(),
        first_seen(event, now),
        times(event),
        cells::name(event),
    ]
}

/// The first of several texts that is not empty.
fn either<'e, const N: usize>(event: &'e Value, places: [&str; N]) -> &'e str {
    let texts = places.map(|place| text(event, place));
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

fn first_seen(event: &Value, now: Time) -> Value {
    let time = either(event, ["/firstTimestamp", "/deprecatedFirstTimestamp", "/eventTime"]);
    cells::since(time, now)
}

fn last_seen(event: &Value, now: Time) -> Value {
    if event.get("series").is_some() {
        return cells::since(text(event, "/series/lastObservedTime"), now);
    }
    match either(event, ["/lastTimestamp", "/deprecatedLastTimestamp"]) {
        "" => first_seen(event, now),
        time => cells::since(time, now),
    }
}

/// How often the event was seen; one of the newer form does not say so of the first time.
fn times(event: &Value) -> Value {
    let count = |place| value_at(event, place).and_then(Value::as_i64).filter(|count| *count != 0);
    let count = match event.get("series") {
        Some(_) => count("/series/count").unwrap_or_default(),
        None => count("/count").or_else(|| count("/deprecatedCount")).unwrap_or(1),
    };
    count.into()
}

fn subject(event: &Value) -> Value {
    let kind = either(event, ["/involvedObject/kind", "/regarding/kind"]).to_lowercase();
    match either(event, ["/involvedObject/name", "/regarding/name"]) {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

fn source(event: &Value) -> Value {
    let component = either(
        event,
        [
            "/source/component",
            "/deprecatedSource/component",
            "/reportingComponent",
            "/reportingController",
        ],
    );
    match either(event, ["/source/host", "/deprecatedSource/host", "/reportingInstance"]) {
        "" => component.into(),
        host => format!("{component}, {host}").into(),
    }
}
