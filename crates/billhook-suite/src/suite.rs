//! The documents.

use billhook::{DeepValue, ManifestError, RecordError};
use billhook_apimachinery::record;
use billhook_apimachinery::record::TypedRecord;

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
        /// The cases.
        pub tests: Tests = "tests",
    }
}

record! {
    /// The cases of a suite.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct Tests = "Tests" {
        /// Creations.
        pub on_create: Vec<CreateCase> = "onCreate",
        /// Updates.
        pub on_update: Vec<UpdateCase> = "onUpdate",
    }
}

record! {
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
}

record! {
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

/// A text that is not a suite.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The text is neither YAML nor JSON.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The text holds no suite, or more than one.
    #[error("expected one suite, found {0} documents")]
    Count(usize),
    /// A field has the wrong type.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The suite does not name its definition.
    #[error("`crdName` is missing")]
    NoDefinition,
}

impl Suite {
    /// Reads a suite from YAML or JSON text. Fields that suites do not have are ignored.
    ///
    /// # Errors
    ///
    /// If the text is not a suite.
    pub fn read(text: &[u8]) -> Result<Self, SuiteError> {
        let documents = billhook::read_manifests(text)?;
        let [document] = documents.as_slice() else {
            return Err(SuiteError::Count(documents.len()));
        };
        let (suite, _) = <Suite as TypedRecord>::read(document.value())?;
        if suite.crd_name.is_empty() {
            return Err(SuiteError::NoDefinition);
        }
        Ok(suite)
    }

    /// Returns the cases: the creations, then the updates.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        let create = self.tests.on_create.iter().map(Case::Create);
        create.chain(self.tests.on_update.iter().map(Case::Update))
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
}

impl<'s> Case<'s> {
    /// Returns the name.
    pub fn name(self) -> &'s str {
        match self {
            Case::Create(case) => &case.name,
            Case::Update(case) => &case.name,
        }
    }

    /// Returns the list of the suite that holds the case: `onCreate` or `onUpdate`.
    pub fn list(self) -> &'static str {
        match self {
            Case::Create(_) => "onCreate",
            Case::Update(_) => "onUpdate",
        }
    }
}
