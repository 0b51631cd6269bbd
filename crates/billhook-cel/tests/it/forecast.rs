//! The forecast for expressions: their costs and results before they are evaluated.

use billhook_apimachinery::KubernetesVersion;
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, Forecast, Type};
use billhook_schema::JsonSchemaProps;
use serde_json::json;

fn forecast(expression: &str) -> Forecast {
    let schema = json!({"type": "object", "properties": {
        "port": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 65535},
        "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
        "maybe": {"type": "integer", "minimum": 1, "nullable": true},
        "huge": {"type": "integer", "minimum": 9_007_199_254_740_992_i64},
        "mode": {"type": "string", "enum": ["slow", "fast"]},
        "fixed": {"type": "string", "enum": ["only"]},
        "name": {"type": "string", "minLength": 1, "maxLength": 10},
        "bytes": {"type": "string", "format": "byte", "maxLength": 10},
        "names": {"type": "array", "minItems": 2, "maxItems": 5, "items":
            {"type": "string", "maxLength": 10}},
        "labels": {"type": "object", "maxProperties": 3, "additionalProperties":
            {"type": "integer", "maximum": 7}},
        "other": {"type": "integer"},
    }});
    let schema = JsonSchemaProps::from_value(&schema).unwrap();
    let schema = SchemaType::of(&schema, false, KubernetesVersion::default()).unwrap();
    let environment = Environment::default().variable("self", schema.to_type());
    let environment = environment.variable("unknown", Type::Dyn);
    environment.compile(expression).unwrap().forecast(&[("self", &schema)])
}

#[test]
fn results_that_the_schema_decides() {
    for (expression, expected) in [
        ("true", Some(true)),
        ("self.port > 0", Some(true)),
        ("self.port < 1", Some(false)),
        ("self.port <= 65535", Some(true)),
        ("65536 > self.port", Some(true)),
        ("self.port != 0", Some(true)),
        ("self.port == 1", None),
        ("self.port < 65535", None),
        // The smallest number above zero is not known.
        ("self.ratio > 0.0", None),
        ("self.ratio >= 0.0", Some(true)),
        // What may be null is not compared.
        ("self.maybe >= 1", None),
        // Floats do not tell these two apart.
        ("self.huge > 9007199254740993", None),
        ("self.mode in ['fast', 'slow', 'other']", Some(true)),
        ("self.mode in ['fast', self.name]", None),
        ("self.mode in ['none']", Some(false)),
        ("self.mode == 'none'", Some(false)),
        ("self.mode != 'fast'", None),
        ("self.fixed == 'only'", Some(true)),
        ("size(self.name) > 0 && self.name.size() <= 10", Some(true)),
        ("size(self.bytes) <= 10", None),
        ("size(self.bytes) >= 0", Some(true)),
        ("size(self.names) >= 2 && size(self.labels) < 4", Some(true)),
        ("self.names.all(n, size(n) < 11)", Some(true)),
        ("self.names.exists(n, size(n) > 10)", Some(false)),
        ("self.names.exists(n, size(n) < 11)", None),
        ("self.names.all(n, size(n) > 10)", None),
        ("self.labels.all(k, self.labels[k] <= 7)", Some(true)),
        ("self.other > 1 || self.port > 0", Some(true)),
        ("self.other > 1 && self.port > 0", None),
        ("!(self.port < 1)", Some(true)),
        ("self.other > 1 ? self.port > 0 : self.port < 65536", Some(true)),
        ("self.other > 1 ? self.port > 0 : self.port < 1", None),
        ("(has(self.port) ? self.port : 1) > 0", Some(true)),
        ("(has(self.port) ? self.port : 0) > 0", None),
        ("self.other >= self.port", None),
        ("unknown > 3", None),
        ("size(unknown) >= 0", Some(true)),
    ] {
        assert_eq!(forecast(expression).result, expected, "{expression}");
    }
}

/// CE-25: costs grow with what the schema allows; what has no schema counts as empty.
#[test]
fn costs_that_the_schema_allows() {
    let cost = |expression: &str| forecast(expression).cost;
    // Four names and fields; of 10 characters each up to four bytes are compared, ten for one.
    assert_eq!(cost("self.name == self.name"), 8);
    assert_eq!(cost("unknown == unknown"), 2);
    // Another comparison costs two in each of five rounds.
    let more =
        cost("self.names.all(n, n == 'x' || n == 'y')") - cost("self.names.all(n, n == 'x')");
    assert_eq!(more, 10);
    // The range and the result, without rounds.
    assert_eq!(cost("unknown.all(n, n == 'x')"), 2);
}
