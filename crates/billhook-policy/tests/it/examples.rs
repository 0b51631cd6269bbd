//! The policies of `fixtures/policies`: each with its bindings, its parameters and cases.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use billhook::apply::MergeSchema;
use billhook::webhook::{
    AdmissionAttributes, ApiResource, EquivalentResources, NamespaceLabels, UserAuthorizer,
};
use billhook::{
    CustomResourceDefinition, GroupVersionKind, GroupVersionResource, KubernetesVersion, Scope,
    UserInfo,
};
use billhook_apimachinery::value::DeepValue;
use billhook_cel::{AuthorizationDecision, AuthorizationRequest};
use billhook_policy::{
    ClusterObjects, PolicyContext, PolicyDocument, PolicyObjects, PolicyReinvocation, PolicySet,
    lint_policies_together,
};
use serde_json::{Value, json};

/// A directory of `fixtures/policies`.
struct Example {
    name: String,
    documents: Vec<PolicyDocument>,
    definitions: Vec<CustomResourceDefinition>,
    cluster: ClusterObjects,
    objects: Vec<DeepValue>,
    cases: Vec<Value>,
}

impl Example {
    fn read(directory: &Path) -> Self {
        let name = directory.file_name().unwrap().to_string_lossy().into_owned();
        let text = |file: &str| std::fs::read_to_string(directory.join(file)).unwrap();
        let (mut documents, mut definitions) = (Vec::new(), Vec::new());
        let (mut cluster, mut objects) = (ClusterObjects::new(), Vec::new());
        for manifest in billhook::read_manifests(text("policy.yaml").as_bytes()).unwrap() {
            let value = manifest.value();
            if PolicyDocument::kind_of(value).is_some() {
                documents.push(PolicyDocument::from_value(value).unwrap());
            } else if CustomResourceDefinition::is_definition(value) {
                let definition = CustomResourceDefinition::from_value(value).unwrap();
                cluster.register("example.com/v1", definition.kind(), definition.scope());
                definitions.push(definition);
            } else {
                cluster.insert(value.clone());
                objects.push(DeepValue::from(value.clone()));
            }
        }
        let cases = serde_yaml::from_str(&text("cases.yaml")).unwrap();
        Example { name, documents, definitions, cluster, objects, cases }
    }

    fn all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/policies");
        let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        let mut directories: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        directories.sort();
        directories.iter().map(|path| Example::read(path)).collect()
    }
}

impl PolicyObjects for Example {
    fn convert(&self, _: &Value, to: &GroupVersionKind) -> Result<DeepValue, String> {
        Err(format!("no conversion to {}", to.api_version()))
    }

    fn apply_defaults(&self, object: &mut Value, kind: &GroupVersionKind) -> Result<(), String> {
        let definition = self.definitions.iter().find(|it| it.kind() == kind.kind);
        let version = definition.and_then(|definition| definition.version(&kind.version));
        let applied = version.map(|version| version.apply_defaults(object, &mut ()));
        applied.transpose().map(drop).map_err(|error| error.to_string())
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        let definition = self.definitions.iter().find(|it| it.kind() == kind.kind);
        let version = definition.and_then(|definition| definition.version(&kind.version));
        Some(version.map_or_else(MergeSchema::deduced, |version| version.merge_schema().clone()))
    }
}

/// Only the administrator may do anything.
#[derive(Debug)]
struct Administrator;

impl UserAuthorizer for Administrator {
    fn authorize(&self, user: &UserInfo, _: &AuthorizationRequest) -> AuthorizationDecision {
        AuthorizationDecision::new(user.username == "admin")
    }
}

fn request(case: &Value) -> AdmissionAttributes {
    let any = case.get("object").or(case.get("oldObject")).unwrap();
    let text = |name: &str| any[name].as_str().unwrap();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let resource = ApiResource::built_in(api_version, kind).unwrap_or_else(|| {
        let (group, version) = api_version.split_once('/').unwrap();
        let plural = format!("{}s", kind.to_lowercase());
        ApiResource::new(
            GroupVersionResource::new(group, version, plural),
            GroupVersionKind::new(group, version, kind),
            Scope::Namespaced,
        )
    });
    let mut request = match (case.get("object"), case.get("oldObject")) {
        (Some(object), None) => resource.create(object.clone()),
        (Some(object), Some(old)) => resource.update(object.clone(), old.clone()),
        (None, old) => resource.delete(old.unwrap().clone()),
    };
    request.user = UserInfo::named(case["user"].as_str().unwrap_or("alice"));
    request
}

fn play(example: &Example, case: &Value) {
    let at = format!("{}: {}", example.name, case["name"].as_str().unwrap());
    let namespaces = BTreeMap::from(["shop", "lab"].map(|name| {
        let env = if name == "shop" { "prod" } else { "test" };
        (name.to_owned(), NamespaceLabels::from([("env".to_owned(), env.to_owned())]))
    }));
    let equivalents = EquivalentResources::new();
    let authorizer: Arc<dyn UserAuthorizer> = Arc::new(Administrator);
    let context = PolicyContext::new(&namespaces, &equivalents, example, &example.cluster)
        .authorizer(&authorizer);
    let set = PolicySet::new(example.documents.iter().cloned());
    let mut request = request(case);
    let mutated = set.mutate(&request, &context, &mut PolicyReinvocation::default());
    assert_eq!(mutated.result, Ok(()), "{at}");
    let object = mutated.object.as_deref();
    assert_eq!(object, case.get("mutated"), "{at}");
    if let Some(object) = mutated.object {
        request.object = Some(object);
    }
    let outcome = set.validate(&request, &context);
    match (&outcome.result, case.get("denied").and_then(Value::as_str)) {
        (Ok(()), None) => {}
        (Err(status), Some(expected)) => {
            let (_, message) = status.message.split_once(" denied request: ").unwrap();
            assert_eq!(message, expected, "{at}");
            assert_eq!(i64::from(status.code), case["code"].as_i64().unwrap_or(422), "{at}");
        }
        (result, expected) => panic!("{at}: {result:?}, expected {expected:?}"),
    }
    assert_eq!(json!(outcome.warnings), case.get("warnings").cloned().unwrap_or(json!([])), "{at}");
    if let Some(expected) = case.get("annotations") {
        let found: BTreeMap<_, _> = outcome.annotations.into_iter().collect();
        assert_eq!(json!(found), *expected, "{at}");
    }
}

#[test]
fn cases_of_the_examples() {
    let examples = Example::all();
    assert!(examples.len() >= 10);
    for example in &examples {
        assert!(example.cases.len() >= 2, "{}", example.name);
        example.cases.iter().for_each(|case| play(example, case));
    }
}

/// A server accepts them, and nothing is to be said against them.
#[test]
fn examples_are_valid() {
    let newest = KubernetesVersion::default();
    for example in Example::all() {
        let definitions = example.definitions.as_slice();
        for document in &example.documents {
            assert_eq!(document.validate(), [], "{}", example.name);
            assert_eq!(document.lints_for(newest, definitions), [], "{}", example.name);
        }
        assert_eq!(
            lint_policies_together(&example.documents, &example.objects),
            [],
            "{}",
            example.name
        );
    }
}

/// A mutation that is run on its own output changes nothing more.
#[test]
fn mutations_of_the_examples_are_idempotent() {
    for example in Example::all() {
        for case in example.cases.iter().filter(|case| case.get("mutated").is_some()) {
            let mut again = case.clone();
            again["object"] = case["mutated"].clone();
            play(&example, &again);
        }
    }
}
