//! The definition itself: what a server refuses when it is updated, and what clients look for
//! (CC-22).

use billhook::{
    CrdVersion, CustomResourceDefinition, DeepValue, Definition, FieldPath, KubernetesVersion,
    Scope,
};
use billhook_apimachinery::value::deep_clone;
use serde_json::{Value, json};

use crate::answer::{Answer, Question, Verdict};
use crate::search::build::Builder;

/// The answers about the definition as a whole.
pub(crate) fn answers(
    old: &Value,
    new: &Value,
    (old_crd, new_crd): (&CustomResourceDefinition, &CustomResourceDefinition),
    is_same: bool,
    kubernetes: KubernetesVersion,
) -> Vec<Answer> {
    let mut found = Found { old: old_crd, answers: Vec::new() };
    if is_same {
        found.add(Verdict::Safe, "", FieldPath::default(), "", "nothing changed", None);
        return found.answers;
    }
    found.refusals(old, new, kubernetes);
    found.names(new_crd);
    for (index, version) in old_crd.versions().enumerate() {
        let place = FieldPath::default().name("spec").name("versions").index(index);
        match new_crd.version(version.name()) {
            None => found.gone(&version, place, "version removed"),
            Some(after) if version.is_served() && !after.is_served() => {
                found.gone(&version, place.name("served"), "version no longer served");
            }
            Some(after) => found.version(&version, &after, &place),
        }
    }
    found.conversion(new_crd);
    if found.answers.is_empty() {
        let reason = "a server accepts the definition, and clients find what they know";
        found.add(Verdict::Safe, "", FieldPath::default(), "", reason, None);
    }
    found.answers
}

struct Found<'d> {
    old: &'d CustomResourceDefinition,
    answers: Vec<Answer>,
}

impl Found<'_> {
    fn add(
        &mut self,
        verdict: Verdict,
        version: &str,
        path: FieldPath,
        change: &str,
        reason: &str,
        witness: Option<Value>,
    ) {
        self.answers.push(Answer {
            definition: self.old.name().to_owned(),
            version: version.to_owned(),
            question: Question::Definition,
            verdict,
            path: FieldPath::default(),
            change: change.to_owned(),
            reason: reason.to_owned(),
            witness: witness.map(DeepValue::from),
            old_place: path.clone(),
            new_place: path,
        });
    }

    fn breaks(
        &mut self,
        version: &str,
        path: FieldPath,
        change: &str,
        reason: &str,
        request: &str,
    ) {
        let witness = json!({"request": request});
        self.add(Verdict::Breaks, version, path, change, reason, Some(witness));
    }

    /// The errors of a server about the update.
    fn refusals(&mut self, old: &Value, new: &Value, kubernetes: KubernetesVersion) {
        let request = format!(
            "PUT /apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}",
            self.old.name()
        );
        let name = |value: &Value| value.pointer("/metadata/name").map(deep_clone);
        if name(old) != name(new) {
            let path = FieldPath::default().name("metadata").name("name");
            let reason = "it is another definition";
            self.breaks("", path, "name changed", reason, &request);
            return;
        }
        match refused(old, new, kubernetes) {
            Ok(errors) => {
                for error in errors {
                    let path = error.field().clone();
                    let change = format!("{path} is refused");
                    self.breaks("", path, &change, &error.to_string(), &request);
                }
            }
            Err(error) => {
                let reason = error.to_string();
                self.breaks("", FieldPath::default(), "definition changed", &reason, &request);
            }
        }
    }

    /// Names that clients use and that a server lets go.
    fn names(&mut self, new: &CustomResourceDefinition) {
        let path = |name: &str| FieldPath::default().name("spec").name("names").name(name);
        let (old_names, names) = (self.old.names().with_defaults(), new.names().with_defaults());
        let is_told = |found: &Self, place: &FieldPath| {
            found.answers.iter().any(|answer| answer.new_place == *place)
        };
        for (field, before, after) in [
            ("plural", &old_names.plural, &names.plural),
            ("kind", &old_names.kind, &names.kind),
            ("listKind", &old_names.list_kind, &names.list_kind),
            ("singular", &old_names.singular, &names.singular),
        ] {
            if before != after && !is_told(self, &path(field)) {
                let change = format!("{field} changed from {before} to {after}");
                let request = format!("kubectl get {before}.{}", self.old.group());
                self.breaks("", path(field), &change, "clients look for the old name", &request);
            }
        }
        for (field, before, after) in [
            ("shortNames", &old_names.short_names, &names.short_names),
            ("categories", &old_names.categories, &names.categories),
        ] {
            for gone in before.iter().filter(|name| !after.contains(name)) {
                let change = format!("{field}: {gone} removed");
                let request = format!("kubectl get {gone}");
                self.breaks("", path(field), &change, "clients look for the name", &request);
            }
        }
        let scope = FieldPath::default().name("spec").name("scope");
        if self.old.scope() != new.scope() && !is_told(self, &scope) {
            let request = self.url_of_any();
            self.breaks("", scope, "scope changed", "objects are at other URLs", &request);
        }
    }

    fn url_of_any(&self) -> String {
        let version = self.old.versions().next();
        version.map(|version| self.url(&version, "")).unwrap_or_default()
    }

    /// The request for an object, or for what is below it.
    fn url(&self, version: &CrdVersion, below: &str) -> String {
        let namespace = match self.old.scope() {
            Scope::Namespaced => "namespaces/default/",
            Scope::Cluster => "",
        };
        let plural = &self.old.names().plural;
        format!("GET /apis/{}/{namespace}{plural}{below}", version.api_version())
    }

    /// A version that takes no requests any more.
    fn gone(&mut self, version: &CrdVersion, place: FieldPath, change: &str) {
        if !version.is_served() {
            return;
        }
        let reason = format!("`{}` is not served any more", version.api_version());
        let document = version.open_api_v3_schema().unwrap_or_default();
        let builder = Builder::new(version.clone(), &document);
        match builder.base() {
            Some(object) => {
                let object = deep_clone(object);
                self.add(Verdict::Breaks, version.name(), place, change, &reason, Some(object));
            }
            None => self.breaks(version.name(), place, change, &reason, &self.url(version, "")),
        }
    }

    fn version(&mut self, old: &CrdVersion, new: &CrdVersion, place: &FieldPath) {
        if !old.is_served() {
            return;
        }
        let name = old.name();
        let below = |part: &str| place.clone().name(part);
        let subresources = below("subresources");
        if old.has_status_subresource() && !new.has_status_subresource() {
            let request = self.url(old, "/example/status");
            let path = subresources.clone().name("status");
            self.breaks(
                name,
                path,
                "subresource status removed",
                "there is none any more",
                &request,
            );
        }
        if let Some(before) = old.scale() {
            let request = self.url(old, "/example/scale");
            let path = subresources.name("scale");
            match new.scale() {
                None => {
                    let reason = "there is none any more";
                    self.breaks(name, path, "subresource scale removed", reason, &request);
                }
                Some(after) if before != after => {
                    let reason = "the scale is in other fields";
                    self.breaks(name, path, "subresource scale changed", reason, &request);
                }
                Some(_) => {}
            }
        }
        for field in old.selectable_fields() {
            if !new.selectable_fields().contains(field) {
                let selector = field.trim_start_matches('.');
                let request = format!("{}?fieldSelector={selector}%3Da", self.url(old, ""));
                let change = format!("selectable field {field} removed");
                let reason = "lists cannot be selected by it any more";
                self.breaks(name, below("selectableFields"), &change, reason, &request);
            }
        }
        self.columns(old, new, &below("additionalPrinterColumns"));
    }

    /// The columns of tables; without any, there is one for the age.
    fn columns(&mut self, old: &CrdVersion, new: &CrdVersion, place: &FieldPath) {
        let columns = |version: &CrdVersion| -> Vec<(String, String)> {
            let columns = version.additional_printer_columns().iter();
            let columns: Vec<_> = columns
                .map(|column| {
                    (column.name.clone(), format!("{} {}", column.type_, column.json_path))
                })
                .collect();
            match columns.is_empty() {
                true => vec![("Age".to_owned(), "date .metadata.creationTimestamp".to_owned())],
                false => columns,
            }
        };
        let after = columns(new);
        for (name, what) in columns(old) {
            let change = match after.iter().find(|(other, _)| *other == name) {
                None => format!("column {name} removed"),
                Some((_, other)) if *other != what => format!("column {name} changed"),
                Some(_) => continue,
            };
            let request = format!(
                "{} (Accept: application/json;as=Table;v=v1;g=meta.k8s.io)",
                self.url(old, "")
            );
            self.breaks(old.name(), place.clone(), &change, "tables show it otherwise", &request);
        }
    }

    fn conversion(&mut self, new: &CustomResourceDefinition) {
        let (before, after) = (self.old.is_converted_by_webhook(), new.is_converted_by_webhook());
        let several = self.old.versions().count() > 1 || new.versions().count() > 1;
        let webhook = |crd: &CustomResourceDefinition| crd.conversion_webhook().cloned();
        if several && (before != after || webhook(self.old) != webhook(new)) {
            let path = FieldPath::default().name("spec").name("conversion");
            let change = if before == after {
                "conversion webhook changed"
            } else {
                "conversion strategy changed"
            };
            let reason = "what a webhook does is not in the definition";
            self.add(Verdict::Undecided, "", path, change, reason, None);
        }
    }
}

/// The errors with which a server refuses the update of a definition that it has established.
fn refused(
    old: &Value,
    new: &Value,
    kubernetes: KubernetesVersion,
) -> Result<Vec<billhook::FieldError>, billhook::DefinitionError> {
    let mut old = deep_clone(old);
    let mut new = deep_clone(new);
    let status = status(&old);
    for document in [&mut old, &mut new] {
        billhook_generation::set_metadata(document, "resourceVersion", Some("1"));
        if let Some(members) = document.as_object_mut() {
            members.insert("status".to_owned(), deep_clone(&status));
        }
    }
    let read = |value: Value| Definition::new(value, kubernetes);
    Ok(read(new)?.validate_update(&read(old)?).errors().to_vec())
}

/// The status of a definition; if it has none, that of one that was established as it is.
fn status(definition: &Value) -> Value {
    if let Some(status) = definition.get("status").filter(|status| {
        status.get("storedVersions").and_then(Value::as_array).is_some_and(|all| !all.is_empty())
    }) {
        return deep_clone(status);
    }
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let is_stored = |version: &&Value| version.get("storage") == Some(&Value::Bool(true));
    let stored = versions.into_iter().flatten().filter(is_stored);
    let stored: Vec<Value> = stored.filter_map(|version| version.get("name").cloned()).collect();
    let condition = |type_: &str| {
        json!({"type": type_, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
            "reason": "NoConflicts", "message": "no conflicts found"})
    };
    json!({
        "acceptedNames": definition.pointer("/spec/names"),
        "conditions": [condition("NamesAccepted"), condition("Established")],
        "storedVersions": stored,
    })
}
