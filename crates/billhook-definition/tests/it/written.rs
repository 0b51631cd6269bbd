//! Values of definitions as they are written, and as errors show them.

use billhook_apimachinery::KubernetesVersion;
use billhook_definition::Definition;
use serde_json::json;

use crate::create::changed;
use crate::support::{create, errors};

/// CV-31: the text is the value of a pointer, which errors show as JSON.
#[test]
fn a_warning_with_invisible_characters() {
    for (warning, shown) in
        [("\u{0}", r#""\u0000""#), ("\u{200b}", "\"\u{200b}\""), ("\u{a0}", "\"\u{a0}\"")]
    {
        let version = json!({"version": {"deprecated": true, "deprecationWarning": warning}});
        let expected = format!(
            "spec.versions[0].deprecationWarning: Invalid value: {shown}: must only contain \
             printable UTF-8 characters; non-printable character found at index 0"
        );
        assert_eq!(errors(&create(&changed(&version))), [expected]);
    }
}

/// SS-12: a number that is written as a float is not an integer in JSON text.
#[test]
fn whole_floats_in_fields_for_integers() {
    let types = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties";
    for (keyword, written) in [("minLength", "1.0"), ("maxItems", "1e1"), ("maxProperties", "2.50")]
    {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string", keyword: 77}}});
        let text = changed(&json!({"schema": schema})).to_string().replace("77", written);
        let error =
            Definition::from_json(text.as_bytes(), KubernetesVersion::default()).unwrap_err();
        let expected = format!(
            "json: cannot unmarshal number {written} into Go struct field {types}.{keyword} of type \
             int64"
        );
        assert_eq!(error.to_string(), expected);
    }
}

/// CV-06: bounds are doubles in the server's internal form.
#[test]
fn bounds_are_shown_as_doubles() {
    let bounds = json!({"type": "number", "minimum": 9_007_199_254_740_993_i64, "maximum": -0.0});
    let schema = json!({"type": "object", "properties": {"a": bounds}});
    let versions = json!({"versions": [
        {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}},
        {"name": "v2", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
    ]});
    let found = errors(&create(&changed(&versions))).join(" ");
    assert!(
        found.contains(r#""Maximum":-0,"#) && found.contains(r#""Minimum":9007199254740992,"#),
        "{found}"
    );
}
