//! The tables of types.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names;

/// Types that other crates describe, by their names, with the functions that return their tables.
const OTHERS: [(&str, &str); 5] = [
    ("ObjectMeta", "ObjectMeta::record"),
    ("OwnerReference", "OwnerReference::record"),
    ("ManagedFieldsEntry", "ManagedFieldsEntry::record"),
    ("LabelSelector", "LabelSelector::record"),
    ("LabelSelectorRequirement", "LabelSelectorRequirement::record"),
];

const HEADING: &str = "\
//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::record::{Field, Record, Type};

";

type Error = Box<dyn std::error::Error>;

/// All types, by their names in OpenAPI.
pub(super) struct Types<'d>(BTreeMap<&'d str, &'d Value>);

/// A field of a type or of one that is embedded in it.
struct Member<'d> {
    field: &'d Value,
    numbers: Vec<u64>,
    embedded: &'d str,
}

impl<'d> Types<'d> {
    pub(super) fn new(data: &'d Value) -> Self {
        let types = data["types"].as_object().into_iter().flatten();
        Types(types.map(|(name, type_)| (name.as_str(), type_)).collect())
    }

    /// The name of a kind's type.
    pub(super) fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<&'d str> {
        let is_kind = |type_: &Value| {
            type_["groupVersionKinds"].as_array().into_iter().flatten().any(|known| {
                known["group"] == group && known["version"] == version && known["kind"] == kind
            })
        };
        // Options of requests are kinds of all groups.
        let own = |name: &&str| names::parts(name).2 == kind && names::parts(name).1 == version;
        let mut found = self.0.iter().filter(|(name, type_)| own(name) && is_kind(type_));
        found.next().map(|(name, _)| *name)
    }

    /// Returns the path of a type's table, a function in other crates.
    pub(super) fn table(name: &str) -> String {
        let own = names::parts(name).2;
        match OTHERS.iter().find(|(other, _)| name.contains(".meta.v1.") && *other == own) {
            Some((_, function)) => (*function).to_owned(),
            None => format!("|| &super::{}::{}", names::module(name), names::table(name)),
        }
    }

    /// Makes the files of the types that the roots need.
    pub(super) fn files(
        &self,
        roots: BTreeSet<&'d str>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let mut wanted: Vec<&str> = roots.into_iter().collect();
        let mut tables = BTreeMap::new();
        while let Some(name) = wanted.pop() {
            let is_other = Self::table(name).ends_with("::record");
            if is_other || tables.contains_key(&(names::module(name), name)) {
                continue;
            }
            let text = self.record(name, &mut wanted)?;
            tables.insert((names::module(name), name), text);
        }
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for ((module, _), text) in tables {
            files.entry(module).or_default().push_str(&text);
        }
        Ok(files.into_iter().map(|(module, text)| (module, with_heading(&text))).collect())
    }

    fn type_(&self, name: &str) -> Result<&'d Value, Error> {
        self.0.get(name).copied().ok_or_else(|| format!("no type {name}").into())
    }

    /// The table of a type; adds the types of its fields to those that are wanted.
    fn record(&self, name: &'d str, wanted: &mut Vec<&'d str>) -> Result<String, Error> {
        let (_, version, own) = names::parts(name);
        let mut members = Vec::new();
        self.members(name, &[], "", &mut members)?;
        let mut text = format!(
            "pub(crate) static {}: Record = Record::new(\n    \"{own}\",\n    &[\n",
            names::table(name)
        );
        for member in &members {
            text.push_str(&format!("        {},\n", field(member, own, version, wanted)?));
        }
        text.push_str("    ],\n)");
        if version != "v1" {
            text.push_str(&format!(".in_package(\"{version}\")"));
        }
        if self.type_(name)?["mapType"] == "atomic" {
            text.push_str(".atomic()");
        }
        let home = name.rsplit_once('.').map_or("", |(home, _)| home);
        text.push_str(&format!("\n.at_home({home:?})"));
        text.push_str(";\n\n");
        Ok(text)
    }

    fn members(
        &self,
        name: &str,
        numbers: &[u64],
        embedded: &'d str,
        members: &mut Vec<Member<'d>>,
    ) -> Result<(), Error> {
        for field in self.type_(name)?["fields"].as_array().into_iter().flatten() {
            let mut numbers = numbers.to_vec();
            numbers.extend(field["proto"]["n"].as_u64());
            if field["inline"] == true {
                let inner = field["ref"].as_str().unwrap_or_default();
                let own = names::parts(inner).2;
                let embedded = if own == "TypeMeta" { "" } else { own };
                // What an object is stands in its envelope.
                let numbers = if own == "TypeMeta" { &[][..] } else { &numbers };
                self.members(inner, numbers, embedded, members)?;
            } else {
                let has_number = field.get("proto").is_some()
                    && !matches!(field["name"].as_str(), Some("kind" | "apiVersion") if name.ends_with(".TypeMeta"));
                let numbers = if has_number { numbers } else { Vec::new() };
                members.push(Member { field, numbers, embedded });
            }
        }
        Ok(())
    }
}

fn with_heading(tables: &str) -> String {
    let mut uses = String::new();
    for (path, names) in [
        ("billhook_apimachinery::KubernetesVersion", &["KubernetesVersion::"][..]),
        ("billhook_apimachinery::label_selector::LabelSelector", &["LabelSelector::record"]),
        (
            "billhook_apimachinery::label_selector::LabelSelectorRequirement",
            &["LabelSelectorRequirement::record"],
        ),
        ("billhook_apimachinery::metadata::ObjectMeta", &["ObjectMeta::record"]),
        ("billhook_apimachinery::metadata::OwnerReference", &["OwnerReference::record"]),
        ("billhook_apimachinery::record::ListType", &["ListType::"]),
        ("billhook_apimachinery::record::TypedRecord as _", &["::record)"]),
    ] {
        if names.iter().any(|name| tables.contains(name)) {
            uses.push_str(&format!("use {path};\n"));
        }
    }
    let (comment, record) = HEADING.split_once("use ").unwrap_or((HEADING, ""));
    format!("{comment}{uses}use {}\n\n{}\n", record.trim_end(), tables.trim_end())
}

/// The types whose UIDs are those of users, and texts like any other.
const OF_USERS: [&str; 3] =
    ["CertificateSigningRequestSpec", "SubjectAccessReviewSpec", "UserInfo"];

/// A field of a type as Rust.
fn field<'d>(
    member: &Member<'d>,
    of: &str,
    version: &str,
    wanted: &mut Vec<&'d str>,
) -> Result<String, Error> {
    let Member { field, numbers, embedded } = member;
    let name = field["name"].as_str().ok_or("a field without a name")?;
    let mut type_ = type_of(field, version, wanted)?;
    if name == "uid" && type_ == "Type::Text" && !OF_USERS.contains(&of) {
        type_ = "Type::Named(\"types.UID\", &Type::Text)".to_owned();
    }
    if field["pointer"] == true {
        type_ = format!("Type::Optional(&{type_})");
    }
    let mut text = format!("Field::new({name:?}, {type_})");
    if !numbers.is_empty() {
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        text.push_str(&format!(".numbered(&[{}])", numbers.join(", ")));
    }
    if field["print"] == "always" {
        text.push_str(".required()");
    }
    if field["required"] == true {
        text.push_str(".needed()");
    }
    if let Some(choices) = field.get("enum") {
        text.push_str(&format!(".one_of(&{choices})"));
    }
    if !embedded.is_empty() {
        text.push_str(&format!(".embedded({embedded:?})"));
    }
    if let Some(since) = field["since"].as_str() {
        text.push_str(&format!(".since({})", version_of(since)));
    }
    match field.get("default") {
        // An empty text stands for no value where it is left out.
        None => {}
        Some(default) => text.push_str(&format!(".default({:?})", default.to_string())),
    }
    text.push_str(&merge(field));
    Ok(text)
}

fn merge(field: &Value) -> String {
    let mut text = String::new();
    match field["listType"].as_str() {
        Some("set") => text.push_str(".list(ListType::Set)"),
        Some("map") => {
            text.push_str(&format!(".list(ListType::Map(&{}))", field["listMapKeys"]));
        }
        _ => {}
    }
    if field["mapType"] == "atomic" {
        text.push_str(".atomic()");
    }
    if field["mapType"] == "granular" && field["type"] == "object" {
        text.push_str(".granular()");
    }
    let strategy = field["patchStrategy"].as_str().unwrap_or_default();
    if strategy.contains("merge") {
        let key = field["patchMergeKey"].as_str().unwrap_or_default();
        text.push_str(&format!(".patched_by({key:?})"));
    }
    if strategy.contains("retainKeys") {
        text.push_str(".retaining_keys()");
    }
    if strategy == "replace" {
        text.push_str(".replaced()");
    }
    text
}

/// A version as Rust: `KubernetesVersion::V1_34` for `1.34`.
pub(super) fn version_of(since: &str) -> String {
    format!("KubernetesVersion::V{}", since.replace('.', "_"))
}

fn type_of<'d>(of: &'d Value, version: &str, wanted: &mut Vec<&'d str>) -> Result<String, Error> {
    let name = of["type"].as_str().ok_or("a field without a type")?;
    let type_ = match name {
        "string" => "Type::Text".to_owned(),
        "int32" => "Type::Int32".to_owned(),
        "int64" => "Type::Int64".to_owned(),
        "number" => "Type::Float".to_owned(),
        "bool" => "Type::Flag".to_owned(),
        "bytes" => "Type::Bytes".to_owned(),
        "time" => "Type::Time".to_owned(),
        "microTime" => "Type::MicroTime".to_owned(),
        "quantity" => "Type::Quantity".to_owned(),
        "intOrString" => "Type::IntOrString".to_owned(),
        "rawExtension" | "fieldsV1" => "Type::Any".to_owned(),
        "object" => {
            let name = of["ref"].as_str().ok_or("an object without a type")?;
            wanted.push(name);
            format!("Type::Record({})", Types::table(name))
        }
        "array" => format!("Type::List(&{})", type_of(&of["items"], version, wanted)?),
        "map" => format!("Type::Map(&{})", type_of(&of["values"], version, wanted)?),
        other => return Err(format!("no type {other} is known").into()),
    };
    Ok(match of["named"].as_str() {
        Some(named) => {
            let package = match named {
                "UID" => "types",
                // Types of the core group that others use, too.
                "ConditionStatus" | "ResourceName" => "v1",
                _ => version,
            };
            format!("Type::Named(\"{package}.{named}\", &{type_})")
        }
        None => type_,
    })
}
