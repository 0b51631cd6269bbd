//! The compiled validator and its verbs.

use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::FieldError;
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, NodeId};
use serde_json::Value;

use crate::check::Check;
use crate::compile::{Arena, SchemaForm};
use crate::correlate::{Correlation, OldElements};
use crate::lists::ListWalk;
use crate::report::{Errors, Silent};

/// A schema compiled for validation. Immutable, cheap to clone, and free to share between threads.
#[derive(Clone)]
pub struct Validator {
    pub(crate) arena: Arc<Arena>,
    pub(crate) root: NodeId,
}

impl Validator {
    /// Compiles a schema as it is written, for the validation of objects (VV-02). An invalid
    /// pattern is not an error here; it matches nothing (VV-22).
    pub fn new(schema: &JsonSchemaProps) -> Self {
        let mut options = CompileOptions::default();
        options.resource_root = false;
        Self::of(&CompiledSchema::of_part(schema, options), schema)
    }

    /// [`Validator::new`] for a schema that is compiled already; `compiled` was made from `schema`.
    pub fn of(compiled: &CompiledSchema, schema: &JsonSchemaProps) -> Self {
        Self::with_form(compiled, schema, SchemaForm::Written)
    }

    /// Compiles the structural form of a schema, which applies to its defaults (DF-44).
    pub fn structural(compiled: &CompiledSchema, schema: &JsonSchemaProps) -> Self {
        Self::with_form(compiled, schema, SchemaForm::Structural)
    }

    fn with_form(compiled: &CompiledSchema, schema: &JsonSchemaProps, form: SchemaForm) -> Self {
        let arena = Arena::new(compiled, schema, form);
        Validator { root: arena.root(), arena: Arc::new(arena) }
    }

    /// Returns the compiled schema, on whose nodes the validator's own data hang.
    pub fn schema(&self) -> &CompiledSchema {
        self.arena.schema()
    }

    /// Returns the validator of the listed member `name` on its own, as a status update uses it
    /// (RP-70).
    pub fn property(&self, name: &str) -> Option<Validator> {
        self.arena.property(self.arena.node(self.root), name).map(|id| self.at(id))
    }

    /// Returns whether a value at a node equals the old value that it replaces (VV-85).
    pub fn is_unchanged(&self, id: NodeId, value: &Value, old: &Value) -> bool {
        Correlation::new(&self.arena).is_unchanged(id, value, old)
    }

    /// Returns the elements of an old list at a node, to find those that new ones replace; none unless it
    /// is a list map (VV-81).
    pub fn old_elements<'v>(&'v self, id: NodeId, old: &'v Value) -> Option<OldElements<'v>> {
        OldElements::new(self.arena.node(id), old)
    }

    /// Returns the validator of a node on its own.
    pub fn at(&self, root: NodeId) -> Validator {
        Validator { arena: Arc::clone(&self.arena), root }
    }

    /// Prepares the check of a value, so that the old value and the place can be set.
    pub fn check<'c>(&'c self, value: &'c Value) -> Check<'c> {
        Check::new(&self.arena, self.root, value)
    }

    /// Returns whether a value is valid (VV-03).
    pub fn is_valid(&self, value: &Value) -> bool {
        self.check(value).is_valid()
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// Returns the first error of the value.
    pub fn validate(&self, value: &Value) -> Result<(), FieldError> {
        self.check(value).validate()
    }

    /// Returns all that is wrong with a value, in the server's order (VV-03); members of one
    /// object, which a server visits in random order, are sorted by their keys (VV-07).
    pub fn errors(&self, value: &Value) -> Vec<FieldError> {
        self.check(value).errors()
    }

    /// Returns the repeated elements of list sets and list maps in an object (VV-40 to VV-45).
    pub fn list_errors(&self, object: &Value) -> Vec<FieldError> {
        if self.has_valid_lists(object) {
            return Vec::new();
        }
        let mut errors = Errors::up_to(usize::MAX);
        ListWalk { arena: &self.arena }.root(self.root, object, &mut errors);
        let wording = self.arena.wording();
        errors.into_vec().into_iter().map(|error| error.worded(wording)).collect()
    }

    /// Returns whether no list set or list map in an object has a repeated element.
    pub fn has_valid_lists(&self, object: &Value) -> bool {
        let mut silent = Silent::default();
        ListWalk { arena: &self.arena }.root(self.root, object, &mut silent);
        !silent.has_failed()
    }

    /// Returns whether the schema has rules in CEL, which are not evaluated here.
    pub fn has_rules(&self) -> bool {
        self.arena.node(self.root).has_rules
    }

    /// Returns the number of nodes of the compiled schema.
    pub fn node_count(&self) -> usize {
        self.schema().node_count()
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").field("nodes", &self.node_count()).finish_non_exhaustive()
    }
}
