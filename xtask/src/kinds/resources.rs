//! The table of resources.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fields::{Types, version_of};

type Error = Box<dyn std::error::Error>;

const HEADING: &str = "\
//! The resources, made by `cargo xtask kinds`.

use billhook_apimachinery::KubernetesVersion;

use crate::kind::{CREATED, NAME};
use crate::{BodyKind, ColumnHeading, Deprecation, Generation, Kind, NameRule, Subresource};

/// All resources, as discovery lists them.
pub(crate) static KINDS: &[Kind] = &[
";

/// Groups whose types other crates describe.
const OTHERS: [(&str, &str); 2] =
    [("admissionregistration.k8s.io", ""), ("apiextensions.k8s.io", "")];

/// Makes the table; adds the types of the kinds to the roots.
pub(super) fn table<'d>(
    resources: &[Value],
    descriptions: &Value,
    types: &Types<'d>,
    roots: &mut BTreeSet<&'d str>,
) -> Result<String, Error> {
    let mut text = HEADING.to_owned();
    for resource in resources {
        text.push_str(&kind(resource, descriptions, types, roots)?);
    }
    text.push_str("];\n");
    Ok(text)
}

fn kind<'d>(
    resource: &Value,
    descriptions: &Value,
    types: &Types<'d>,
    roots: &mut BTreeSet<&'d str>,
) -> Result<String, Error> {
    let text = |name: &str| resource[name].as_str().unwrap_or_default();
    let flag = |name: &str| resource[name].as_bool().unwrap_or_default();
    let (group, version, kind) = (text("group"), text("version"), text("kind"));
    let is_other = OTHERS.iter().any(|(other, kinds)| {
        *other == group && (kinds.is_empty() || kinds.split(' ').any(|known| known == kind))
    });
    let record = if is_other {
        "None".to_owned()
    } else {
        let name = types.of_kind(group, version, kind);
        let name = name.ok_or_else(|| format!("no type of {group}/{version} {kind}"))?;
        roots.insert(name);
        format!("Some({})", Types::table(name))
    };
    let subresources = resource["subresources"].as_array().into_iter().flatten();
    let subresources: Result<Vec<String>, Error> =
        subresources.map(|subresource| self::subresource(subresource, types, roots)).collect();
    let columns = resource["columns"].as_array().into_iter().flatten();
    let api_version =
        if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let described = &descriptions[format!("{api_version} {kind}")];
    let columns = columns.map(|it| column(it, described));
    Ok(format!(
        "    Kind {{
        group: {group:?},
        version: {version:?},
        kind: {kind:?},
        plural: {:?},
        singular: {:?},
        short_names: &{},
        categories: &{},
        is_namespaced: {},
        verbs: &{},
        storage_version: {:?},
        since: {},
        name_rule: NameRule::{},
        creates_on_update: {},
        updates_unconditionally: {},
        orphans_by_default: {},
        returns_deleted: {},
        generation: Generation::{},
        field_selectors: &{},
        subresources: &[{}],
        columns: &[{}],
        deprecation: {},
        record: {record},
    }},
",
        text("plural"),
        text("singular"),
        list(&resource["shortNames"]),
        list(&resource["categories"]),
        flag("namespaced"),
        list(&resource["verbs"]),
        // What comes after a blank is a note.
        text("storageVersion").split(' ').next().unwrap_or_default(),
        version_of(resource["since"].as_str().unwrap_or("1.32")),
        name_rule(text("name")),
        flag("allowCreateOnUpdate"),
        flag("allowUnconditionalUpdate"),
        text("defaultPropagation") == "orphan",
        text("deleteReturns").starts_with("object"),
        generation(text("generation"))?,
        list(&resource["fieldSelectors"]),
        subresources?.concat(),
        columns.collect::<String>(),
        deprecation(text("deprecatedWarning")),
    ))
}

fn list(values: &Value) -> String {
    if values.is_array() { values.to_string() } else { "[]".to_owned() }
}

/// The first version with a warning is in its text, unless it is older than all that are known.
fn deprecation(warning: &str) -> String {
    if warning.is_empty() {
        return "None".to_owned();
    }
    let since = warning.split("deprecated in v").nth(1).and_then(|rest| rest.split('+').next());
    let minor = since.and_then(|since| since.strip_prefix("1.")?.parse::<u32>().ok());
    let since = version_of(&format!("1.{}", minor.unwrap_or_default().max(32)));
    format!("Some(Deprecation {{ since: {since}, warning: {warning:?} }})")
}

fn name_rule(text: &str) -> &'static str {
    match text {
        text if text.starts_with("path segment") => "PathSegment",
        text if text.starts_with("dns1123label (gate") => "ServiceName",
        text if text.starts_with("dns1123label") => "Label",
        text if text.starts_with("an IP address") => "Address",
        _ => "Subdomain",
    }
}

fn generation(text: &str) -> Result<&'static str, Error> {
    Ok(match text {
        "" | "none" | "none (never set)" => "None",
        "1 on create; +1 when template changed" => "Template",
        "1 on create; +1 when spec or annotations changed" => "SpecOrAnnotations",
        "1 on create; +1 when labels or anything outside metadata changed" => "LabelsOrContent",
        "none on create; +1 when spec changed" => "SpecOnUpdate",
        "1 on create; never increased" => "Once",
        text if text.starts_with("1 on create; +1 when spec changed") => "Spec",
        // As for custom resources.
        text if text.starts_with("served by billhook already") || text == "see 19" => "Spec",
        other => return Err(format!("no such generation: {other}").into()),
    })
}

fn subresource<'d>(
    subresource: &Value,
    types: &Types<'d>,
    roots: &mut BTreeSet<&'d str>,
) -> Result<String, Error> {
    let text = |name: &str| subresource[name].as_str().unwrap_or_default();
    let (group, version, kind) = (text("group"), text("version"), text("kind"));
    let is_other = OTHERS.iter().any(|(other, kinds)| *other == group && kinds.is_empty());
    let record = match types.of_kind(group, version, kind).filter(|_| !is_other) {
        Some(name) => {
            roots.insert(name);
            format!("Some({})", Types::table(name))
        }
        None => "None".to_owned(),
    };
    Ok(format!(
        "
            Subresource {{
                name: {:?},
                since: {},
                verbs: &{},
                body: BodyKind {{ group: {group:?}, version: {version:?}, kind: {kind:?}, record: {record} }},
            }},",
        text("name"),
        // Data has no versions of subresources; one came after 1.32 (BK-770).
        version_of(if text("name") == "resize" { "1.33" } else { "1.32" }),
        list(&subresource["verbs"]),
    ))
}

fn column(column: &Value, described: &Value) -> String {
    let text = |name: &str| column[name].as_str().unwrap_or_default();
    let name = described.get("Name").and_then(Value::as_str);
    let described = described.get(text("name")).and_then(Value::as_str);
    let description = match text("name") {
        "Name" if described.is_none() || described == name => "NAME".to_owned(),
        "Age" | "Created At"
            if described.is_none_or(|text| text.starts_with("CreationTimestamp is")) =>
        {
            "CREATED".to_owned()
        }
        _ => format!("{:?}", described.unwrap_or_default()),
    };
    format!(
        "
            ColumnHeading {{ name: {:?}, type_: {:?}, format: {:?}, description: {description}, priority: {} }},",
        text("name"),
        text("type"),
        text("format"),
        column["priority"].as_i64().unwrap_or_default(),
    )
}
