//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static EVENT: Record = Record::new(
    "Event",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("eventTime", Type::MicroTime).numbered(&[2]).required().needed(),
        Field::new("series", Type::Optional(&Type::Record(|| &super::events_v1::EVENT_SERIES))).numbered(&[3]),
        Field::new("reportingController", Type::Text).numbered(&[4]),
        Field::new("reportingInstance", Type::Text).numbered(&[5]),
        Field::new("action", Type::Text).numbered(&[6]),
        Field::new("reason", Type::Text).numbered(&[7]),
        Field::new("regarding", Type::Record(|| &super::core_v1::OBJECT_REFERENCE)).numbered(&[8]).required(),
        Field::new("related", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[9]),
        Field::new("note", Type::Text).numbered(&[10]),
        Field::new("type", Type::Text).numbered(&[11]),
        Field::new("deprecatedSource", Type::Record(|| &super::core_v1::EVENT_SOURCE)).numbered(&[12]).required(),
        Field::new("deprecatedFirstTimestamp", Type::Time).numbered(&[13]).required(),
        Field::new("deprecatedLastTimestamp", Type::Time).numbered(&[14]).required(),
        Field::new("deprecatedCount", Type::Int32).numbered(&[15]),
    ],
)
.at_home("io.k8s.api.events.v1");

pub(crate) static EVENT_SERIES: Record = Record::new(
    "EventSeries",
    &[
        Field::new("count", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("lastObservedTime", Type::MicroTime).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.events.v1");
