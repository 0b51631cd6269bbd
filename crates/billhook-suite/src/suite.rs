//! The documents.

use std::collections::BTreeMap;

use billhook::{DeepValue, FieldPath, KubernetesVersion, UserInfo};
use billhook_apimachinery::record;
use billhook_apimachinery::record::TypedRecord;
use serde_json::Value;

use crate::object_case::{Allowed, Answer, ConversionAnswer, ObjectCase, Row};
use crate::strict::{self, Mistake};
use crate::suite_error::SuiteError;

record! {
    /// A suite: cases for the definitions of a name.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct Suite = "Suite" {
        /// Its name.
        pub name: String = "name",
        /// The name of the definitions, `plural.group`.
        pub crd_name: String = "crdName",
        /// The version of the definitions; may be empty if they have only one.
        pub version: String = "version",
        /// The feature gates that a definition must be for; with `-` before it, one that must be
        /// off.
        pub feature_gates: Vec<String> = "featureGates",
        /// Cases in OpenShift's format.
        pub tests: Tests = "tests",
        /// Files and directories with definitions, as seen from the suite.
        pub crds: Vec<String> = "crds",
        /// The Kubernetes versions to run against.
        pub kubernetes: Vec<String> = "kubernetes",
        /// The namespaces and their labels. Without any, all namespaces have the labels that every
        /// namespace has.
        pub namespaces: BTreeMap<String, BTreeMap<String, String>> = "namespaces",
        /// The user who makes the requests.
        pub user: Option<UserInfo> = "user",
        /// Files with webhook configurations, as seen from the suite.
        pub webhooks: Vec<String> = "webhooks",
        /// The answers of webhooks by name. A webhook without one cannot be reached.
        pub answers: BTreeMap<String, Answer> = "answers",
        /// Where Services are, as `HOST:PORT` by `SERVICE.NAMESPACE`, for webhooks that are called.
        pub services: BTreeMap<String, String> = "services",
        /// How conversion webhooks convert, by the names of definitions. One that is not here cannot be
        /// reached.
        pub conversions: BTreeMap<String, ConversionAnswer> = "conversions",
        /// Files with admission policies, their bindings and the objects that they see, as seen
        /// from the suite.
        pub policies: Vec<String> = "policies",
        /// The permissions that an authorizer knows. Without any, policies cannot ask for permissions.
        pub allow: Vec<Allowed> = "allow",
        /// Cases in our own format.
        pub cases: Vec<ObjectCase> = "cases",
    }
}

/// The fields that OpenShift's format has; all others are only in our own.
const SHARED_FIELDS: [&str; 5] = ["name", "crdName", "version", "featureGates", "tests"];

record! {
    /// The cases of a suite in OpenShift's format.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct Tests = "Tests" {
        /// Creations.
        pub on_create: Vec<CreateCase> = "onCreate",
        /// Updates.
        pub on_update: Vec<UpdateCase> = "onUpdate",
    }

    /// The creation of an object.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct CreateCase = "OnCreateTest" {
        /// Its name.
        pub name: String = "name",
        /// The object in YAML.
        pub initial: String = "initial",
        /// The stored object in YAML; if empty, any will do.
        pub expected: String = "expected",
        /// A part of the error; empty if the object is to be accepted.
        pub expected_error: String = "expectedError",
    }

    /// The update of an object.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct UpdateCase = "OnUpdateTest" {
        /// Its name.
        pub name: String = "name",
        /// Operations of a JSON patch: the object is created under the patched definition.
        pub initial_crd_patches: Vec<DeepValue> = "initialCRDPatches",
        /// The object that is created first, in YAML.
        pub initial: String = "initial",
        /// The object that is sent as the update, in YAML.
        pub updated: String = "updated",
        /// The stored object in YAML; if empty, any will do.
        pub expected: String = "expected",
        /// A part of the error; empty if the update is to be accepted.
        pub expected_error: String = "expectedError",
        /// A part of the error of the status update; empty if it is to be accepted.
        pub expected_status_error: String = "expectedStatusError",
    }
}

impl Suite {
    /// Reads a suite from YAML or JSON text. In a suite that has fields of our own format, unknown
    /// fields are errors; in others they are ignored, as OpenShift's runner does.
    ///
    /// # Errors
    ///
    /// If the text is not a suite.
    pub fn read(text: &[u8]) -> Result<Self, SuiteError> {
        Self::read_with_unknown(text).map(|(suite, _)| suite)
    }

    /// Reads a suite; also returns the fields that are ignored.
    pub(crate) fn read_with_unknown(text: &[u8]) -> Result<(Self, Vec<Mistake>), SuiteError> {
        let documents = billhook::read_manifests(text)?;
        let [document] = documents.as_slice() else {
            return Err(SuiteError::Count(documents.len()));
        };
        let value = document.value();
        let mut own = Suite::FIELDS.iter().filter(|field| !SHARED_FIELDS.contains(&field.name));
        if own.any(|field| value.get(field.name).is_some()) {
            let repeated = document.duplicates().first().map(|path| Mistake::repeated(path));
            let suite = repeated.map_or_else(|| Self::read_own(value), Err);
            let suite = suite.map_err(|mistake| mistake.in_text(text))?;
            return Ok((suite, Vec::new()));
        }
        let (checked, mut unknown) = strict::check(value, Suite::record());
        // A generator of that repository wants it there.
        unknown.retain(|mistake| !mistake.is_at(&FieldPath::default().name("apiVersion")));
        checked.map_err(|mistake| mistake.in_text(text))?;
        let (suite, _) = <Suite as TypedRecord>::read(value)?;
        if suite.crd_name.is_empty() {
            return Err(SuiteError::NoDefinition);
        }
        Ok((suite, unknown))
    }

    fn read_own(value: &Value) -> Result<Self, Mistake> {
        let (checked, unknown) = strict::check(value, Suite::record());
        unknown.into_iter().next().map_or(Ok(()), Err)?;
        checked?;
        let suite = <Suite as record::FieldValue>::of(value);
        suite.versions()?;
        suite.check_webhooks()?;
        let cases = FieldPath::default().name("cases");
        let is_any_called = suite.answers.values().any(|answer| answer.call);
        for (index, case) in suite.cases.iter().enumerate() {
            let path = cases.clone().index(index);
            case.check(&path)?;
            let error = case.expect.as_ref().and_then(|expect| expect.error.as_ref());
            if let Some(error) = error.filter(|_| !is_any_called) {
                error.check(path.name("expect").name("error"))?;
            }
        }
        let has_tests = suite.tests.on_create.len() + suite.tests.on_update.len() > 0;
        match has_tests && suite.crd_name.is_empty() {
            true => Err(Mistake::missing(FieldPath::default().name("crdName"))),
            false => Ok(suite),
        }
    }

    /// The versions to run against.
    pub(crate) fn versions(&self) -> Result<Vec<KubernetesVersion>, Mistake> {
        let path = FieldPath::default().name("kubernetes");
        let version = |(index, text): (usize, &String)| {
            let version = text.parse::<KubernetesVersion>();
            version.map_err(|error| Mistake::new(path.clone().index(index), error.to_string()))
        };
        self.kubernetes.iter().enumerate().map(version).collect()
    }

    /// Checks where webhooks are, and how they answer.
    fn check_webhooks(&self) -> Result<(), Mistake> {
        let top = FieldPath::default();
        for (name, address) in &self.services {
            let path = top.clone().name("services").name(name);
            if name.split_once('.').is_none_or(|(service, namespace)| {
                service.is_empty() || namespace.is_empty() || namespace.contains('.')
            }) {
                return Err(Mistake::new(path, "expected SERVICE.NAMESPACE"));
            }
            let (host, port) = address.rsplit_once(':').unwrap_or_default();
            if host.is_empty() || port.parse::<u16>().is_err() {
                return Err(Mistake::new(path, format!("expected HOST:PORT, found `{address}`")));
            }
        }
        let answers = top.name("answers");
        let mut answers = self.answers.iter().map(|(name, it)| (answers.clone().name(name), it));
        answers.try_for_each(|(path, answer)| answer.check(path))?;
        let top = FieldPath::default().name("conversions");
        let mut conversions = self.conversions.iter();
        conversions.try_for_each(|(name, it)| it.check(top.clone().name(name)))
    }

    /// Returns the Services and where they are: service, namespace and address.
    pub fn services(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let services = self.services.iter();
        services.filter_map(|(name, address)| {
            let (service, namespace) = name.split_once('.')?;
            Some((service, namespace, address.as_str()))
        })
    }

    /// Returns the cases: the creations, the updates, then those of our own format, a table as a
    /// case for each value.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        let create = self.tests.on_create.iter().map(Case::Create);
        let update = self.tests.on_update.iter().map(Case::Update);
        let own = self.cases.iter().flat_map(|case| {
            let rows = case.table.iter().flat_map(|table| table.rows().map(Some));
            let alone = case.table.is_none().then_some(None);
            rows.chain(alone).map(move |row| Case::Object { case, row })
        });
        create.chain(update).chain(own)
    }
}

/// A case of a suite.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Case<'s> {
    /// A creation.
    Create(&'s CreateCase),
    /// An update.
    Update(&'s UpdateCase),
    /// A request in our own format.
    #[non_exhaustive]
    Object {
        /// The request.
        case: &'s ObjectCase,
        /// The value of its table, if it has one.
        row: Option<Row<'s>>,
    },
}

impl<'s> Case<'s> {
    /// Returns the name.
    pub fn name(self) -> &'s str {
        match self {
            Case::Create(case) => &case.name,
            Case::Update(case) => &case.name,
            Case::Object { case, .. } => &case.name,
        }
    }

    /// Returns the list of the suite that holds the case: `onCreate`, `onUpdate` or `cases`.
    pub fn list(self) -> &'static str {
        match self {
            Case::Create(_) => "onCreate",
            Case::Update(_) => "onUpdate",
            Case::Object { .. } => "cases",
        }
    }
}
