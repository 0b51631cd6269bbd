//! A suite made of a definition: the smallest valid object, and a case that fails for each
//! constraint.

mod broken;
mod constraints;
mod rules;
mod write;

use billhook::{CrdError, CrdVersion, CustomResourceDefinition};
use billhook_generation::{Oracle, sample_object};

use crate::files::FoundDefinition;
use constraints::Constraints;
use write::Writer;

/// A definition that no suite can be made of.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The definition cannot be served.
    #[error(transparent)]
    Definition(#[from] CrdError),
    /// No version is served, or none has a schema.
    #[error("the definition serves no version with a schema")]
    NoVersion,
    /// The search has found no object that a server accepts.
    #[error("found no valid object; an example: {0}")]
    NoValidObject(String),
}

/// A suite made of a definition.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GeneratedSuite {
    /// The text of the suite.
    pub text: String,
    /// How many constraints have a case that fails.
    pub tested: usize,
    /// The constraints for which no case was found, in the order of the schema.
    pub untested: Vec<UntestedConstraint>,
}

/// A constraint of a schema for which no case was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntestedConstraint {
    /// The keyword of the schema, such as `pattern`.
    pub keyword: &'static str,
    /// The field of objects.
    pub field: String,
    /// The constraint in words; the message of a rule or the rule.
    pub words: String,
    /// Why it has none.
    pub reason: UntestedReason,
}

/// Why a constraint of a schema has no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UntestedReason {
    /// No value breaks it: there are not as many properties as it allows.
    NeverFails,
    /// A value that breaks it is too large to be edited.
    TooLarge,
    /// The search has found no valid object with a value for it.
    NoValue,
    /// The search has found no object that breaks it.
    NotFound,
    /// The suite has as many cases as one may have.
    Full,
}

/// Returns a suite for the stored version of a definition or, if that is not served, the first
/// served one. `file` is the file of the definition as seen from the suite.
///
/// The cases are found by search: the suite ends with the constraints for which none was found.
///
/// # Errors
///
/// If no suite can be made of the definition.
pub fn generate(definition: &FoundDefinition, file: &str) -> Result<GeneratedSuite, GenerateError> {
    let crd = CustomResourceDefinition::from_value(&definition.value)?;
    let served = |version: &CrdVersion| version.is_served();
    let stored = crd.versions().filter(served).find(|version| version.is_storage());
    let version = stored.or_else(|| crd.versions().find(served));
    let version = version.ok_or(GenerateError::NoVersion)?;
    let schema = definition.schema(version.name()).ok_or(GenerateError::NoVersion)?;
    let oracle = Oracle::new(version.clone(), schema.written());
    let object = sample_object(&version, schema.written());
    let valid = oracle.valid_near(&object, &|_| true).ok_or_else(|| {
        let errors = oracle.errors(&object, None);
        GenerateError::NoValidObject(errors.first().map(ToString::to_string).unwrap_or_default())
    })?;
    let mut writer = Writer::new(crd.name(), file, &valid);
    let mut constraints = Constraints::new(&oracle, schema, &valid);
    constraints.search();
    for broken in &constraints.found {
        writer.case(broken, &valid);
    }
    let (tested, untested) = (constraints.found.len(), constraints.untested);
    Ok(GeneratedSuite { text: writer.finish(&untested), tested, untested })
}
