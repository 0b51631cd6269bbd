//! The paths of a resource, and what can be done there (DT-46 to DT-48).

use billhook::{CrdVersion, Scope};
use serde_json::{Map, Value, json};

use super::{META, SCALE, common, reference, root, schema_name};

const LIST: [&str; 11] = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];
const DELETE: [&str; 5] = [
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
];
const WRITE: [&str; 3] = ["dryRun", "fieldManager", "fieldValidation"];
const PATCH: [&str; 4] = ["dryRun", "fieldManager of a patch", "fieldValidation", "force"];
const PATCHES: [&str; 3] =
    ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
const BOTH: [&str; 2] = ["application/json", "application/yaml"];

/// Adds the paths of a resource in a version.
pub(super) fn add(version: &CrdVersion, paths: &mut Map<String, Value>) {
    let resource =
        Resource { version, is_namespaced: version.definition().scope() == Scope::Namespaced };
    let names = version.definition().names();
    let root = format!("/{}", root(version));
    let collection = if resource.is_namespaced {
        paths.insert(format!("{root}/{}", names.plural), resource.everywhere());
        format!("{root}/namespaces/{{namespace}}/{}", names.plural)
    } else {
        format!("{root}/{}", names.plural)
    };
    let one = format!("{collection}/{{name}}");
    paths.insert(collection, resource.collection());
    if version.has_scale_subresource() {
        paths.insert(format!("{one}/scale"), resource.subresource("scale"));
    }
    if version.has_status_subresource() {
        paths.insert(format!("{one}/status"), resource.subresource("status"));
    }
    paths.insert(one, resource.one());
}

struct Resource<'r> {
    version: &'r CrdVersion,
    is_namespaced: bool,
}

/// An operation, except for what all operations of a resource have in common.
struct Operation<'o> {
    action: &'o str,
    /// The verb of its id.
    verb: &'o str,
    /// A word before the kind, in its id.
    set: &'o str,
    /// The end of its id.
    part: &'o str,
    description: String,
    parameters: &'o [&'o str],
    body: Option<Value>,
    /// The codes of success, and what is answered.
    codes: &'o [(&'o str, &'o str)],
    answer: &'o str,
}

impl Resource<'_> {
    /// Those of the parameters that the server has.
    fn parameters(&self, names: &[&str]) -> Vec<Value> {
        let known = common(self.version.definition().kubernetes()).get("parameters");
        names.iter().filter_map(|name| known?.get(name).cloned()).collect()
    }

    fn kind(&self) -> &str {
        self.version.definition().kind()
    }

    fn everywhere(&self) -> Value {
        let id = self.id("list", "", "", "ForAllNamespaces", false);
        let mut list = self.list();
        list.insert("operationId".to_owned(), id.into());
        list.remove("parameters");
        let mut names: Vec<&str> = LIST.into_iter().chain(["pretty"]).collect();
        names.sort_unstable();
        json!({"get": list, "parameters": self.parameters(&names)})
    }

    fn collection(&self) -> Value {
        let kind = self.kind();
        let own = schema_name(self.version, kind);
        let post = self.operation(&Operation {
            action: "post",
            verb: "create",
            set: "",
            part: "",
            description: format!("create a {kind}"),
            parameters: &WRITE,
            body: Some(body(&BOTH, &own, true)),
            codes: &[("200", "OK"), ("201", "Created"), ("202", "Accepted")],
            answer: &own,
        });
        let delete = self.operation(&Operation {
            action: "deletecollection",
            verb: "delete",
            set: "Collection",
            part: "",
            description: format!("delete collection of {kind}"),
            parameters: &LIST,
            body: None,
            codes: &[("200", "OK")],
            answer: &format!("{META}Status"),
        });
        let common = self.common(&["pretty"]);
        json!({"get": self.list(), "post": post, "delete": delete, "parameters": common})
    }

    fn list(&self) -> Map<String, Value> {
        let definition = self.version.definition();
        self.operation(&Operation {
            action: "list",
            verb: "list",
            set: "",
            part: "",
            description: format!("list objects of kind {}", definition.kind()),
            parameters: &LIST,
            body: None,
            codes: &[("200", "OK")],
            answer: &schema_name(self.version, &definition.names().list_kind),
        })
    }

    fn one(&self) -> Value {
        let mut item = self.changes("", "");
        let delete = self.operation(&Operation {
            action: "delete",
            verb: "delete",
            set: "",
            part: "",
            description: format!("delete a {}", self.kind()),
            parameters: &DELETE,
            body: Some(body(&BOTH, &format!("{META}DeleteOptions"), false)),
            codes: &[("200", "OK"), ("202", "Accepted")],
            answer: &format!("{META}Status"),
        });
        item.insert("delete".to_owned(), delete.into());
        item.into()
    }

    fn subresource(&self, name: &str) -> Value {
        let part = if name == "scale" { "Scale" } else { "Status" };
        self.changes(&format!("{name} of "), part).into()
    }

    /// The operations that an object, its status and its scale have.
    fn changes(&self, of: &str, part: &str) -> Map<String, Value> {
        let kind = self.kind();
        let own = match part {
            "Scale" => format!("{SCALE}Scale"),
            _ => schema_name(self.version, kind),
        };
        let operation = |action, verb, description, parameters, body, codes| {
            let operation = Operation {
                action,
                verb,
                set: "",
                part,
                description,
                parameters,
                body,
                codes,
                answer: &own,
            };
            Value::from(self.operation(&operation))
        };
        let ok: &[_] = &[("200", "OK")];
        let created: &[_] = &[("200", "OK"), ("201", "Created")];
        let the = format!("{of}the specified {kind}");
        let get = operation("get", "read", format!("read {the}"), &["resourceVersion"], None, ok);
        let sent = Some(body(&BOTH, &own, true));
        let put = operation("put", "replace", format!("replace {the}"), &WRITE, sent, created);
        let sent = Some(body(&PATCHES, &format!("{META}Patch"), true));
        let patch =
            operation("patch", "patch", format!("partially update {the}"), &PATCH, sent, ok);
        let name = json!({"name": "name", "in": "path", "description": format!("name of the {kind}"),
            "required": true, "schema": {"type": "string", "uniqueItems": true}});
        let mut common = self.common(&["pretty"]);
        common.insert(0, name);
        let mut item = Map::new();
        for (method, value) in
            [("get", get), ("put", put), ("patch", patch), ("parameters", common.into())]
        {
            item.insert(method.to_owned(), value);
        }
        item
    }

    /// The parameters that all operations of a path have.
    fn common(&self, names: &[&str]) -> Vec<Value> {
        let namespace = ["namespace"].into_iter().filter(|_| self.is_namespaced);
        let names: Vec<&str> = namespace.chain(names.iter().copied()).collect();
        self.parameters(&names)
    }

    fn operation(&self, operation: &Operation<'_>) -> Map<String, Value> {
        let definition = self.version.definition();
        let (group, version, kind) = (definition.group(), self.version.name(), definition.kind());
        let id = self.id(operation.verb, operation.set, operation.part, "", self.is_namespaced);
        let mut responses = Map::new();
        for (code, description) in operation.codes {
            let content = content(&BOTH, operation.answer);
            responses.insert(
                (*code).to_owned(),
                json!({"description": description, "content": content}),
            );
        }
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        let mut out = Map::new();
        for (name, value) in [
            ("tags", json!([format!("{}_{version}", lower_first(&identifier(group)))])),
            ("description", operation.description.as_str().into()),
            ("operationId", id.into()),
            ("parameters", self.parameters(operation.parameters).into()),
            ("responses", responses.into()),
            ("x-kubernetes-action", operation.action.into()),
            (
                "x-kubernetes-group-version-kind",
                json!({"group": group, "version": version, "kind": kind}),
            ),
        ] {
            out.insert(name.to_owned(), value);
        }
        if let Some(body) = &operation.body {
            out.insert("requestBody".to_owned(), body.clone());
        }
        out
    }

    /// The id of an operation, such as `readExampleComV1NamespacedFooStatus`.
    fn id(&self, verb: &str, set: &str, part: &str, end: &str, is_namespaced: bool) -> String {
        let definition = self.version.definition();
        let (group, version) = (identifier(definition.group()), identifier(self.version.name()));
        let namespaced = if is_namespaced { "Namespaced" } else { "" };
        format!("{verb}{group}{version}{set}{namespaced}{}{part}{end}", definition.kind())
    }
}

/// A name as a part of identifiers: letters and digits; what follows anything else is capital.
fn identifier(name: &str) -> String {
    let name = if name.is_empty() { "core" } else { name };
    let name = name.strip_suffix(".k8s.io").unwrap_or(name);
    let (mut out, mut is_first) = (String::new(), true);
    for c in name.chars() {
        let is_kept = c.is_alphabetic() || c == '_' || (c.is_numeric() && !out.is_empty());
        if !is_kept {
            is_first = true;
        } else if std::mem::take(&mut is_first) {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
    }
    out
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
}

fn content(types: &[&str], schema: &str) -> Value {
    let schema = json!({"schema": reference(schema)});
    types.iter().map(|type_| ((*type_).to_owned(), schema.clone())).collect::<Map<_, _>>().into()
}

fn body(types: &[&str], schema: &str, is_required: bool) -> Value {
    let content = content(types, schema);
    if is_required {
        json!({"content": content, "required": true})
    } else {
        json!({"content": content})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DT-46.
    #[test]
    fn names_become_identifiers() {
        for (name, expected) in [
            ("example.com", "ExampleCom"),
            ("v1", "V1"),
            ("a-b2.example.com", "AB2ExampleCom"),
            ("apps.k8s.io", "Apps"),
        ] {
            assert_eq!(identifier(name), expected);
        }
        assert_eq!(lower_first("ExampleCom"), "exampleCom");
    }
}
