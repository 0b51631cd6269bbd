//! Label selectors in texts for people.

use serde_json::Value;

use crate::values::text;

/// Prints a label selector as servers and controllers print it in texts; `nil` for null.
///
/// ```
/// let selector = serde_json::json!({"matchLabels": {"app": "web"}});
/// let text = billhook_kinds::selector_text(&selector);
/// let labels = "MatchLabels:map[string]string{app: web,}";
/// let expected = format!("&LabelSelector{{{labels},MatchExpressions:[]LabelSelectorRequirement{{}},}}");
/// assert_eq!(text, expected);
/// ```
pub fn selector_text(selector: &Value) -> String {
    if selector.is_null() {
        return "nil".to_owned();
    }
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    let labels = labels.map(|(name, value)| format!("{name}: {},", text(value, "")));
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let expressions = expressions.into_iter().flatten().map(|expression| {
        let values = expression.get("values").and_then(Value::as_array);
        let values: Vec<_> = values.into_iter().flatten().map(|value| text(value, "")).collect();
        format!(
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
            text(expression, "/key"),
            text(expression, "/operator"),
            values.join(" "),
        )
    });
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:\
         []LabelSelectorRequirement{{{}}},}}",
        labels.collect::<String>(),
        expressions.collect::<String>(),
    )
}
