//! Decoding over a tree, in place: pruning, null removal, coercion of embedded resources and
//! defaulting in one walk.

use billhook_apimachinery::FieldError;
use billhook_apimachinery::metadata::Invalid;
use billhook_defaulting::{Defaulting, LimitError, NullRemoval};
use billhook_pruning::{Coercion, Pruning};
use billhook_schema::walk::{At, Cause, Located, Places, Report, Rules, walk};
use billhook_schema::{CompiledSchema, Edge, Effects, NodeRef};
use serde_json::{Map, Value};

use crate::report::sort_by_step;

/// Removes unknown fields and nulls that are not allowed, and applies defaults. Equals the three
/// steps one after the other, in one walk that touches nothing that stays and allocates nothing if
/// nothing changes. Changes are reported in the order of the steps.
///
/// # Errors
///
/// If the defaults exceed the limit of [`billhook_defaulting::MAX_DEFAULTED_BYTES`]; the value then
/// has some of its defaults.
pub fn prune_and_default<R: Report>(
    schema: &CompiledSchema,
    value: &mut Value,
    report: &mut R,
) -> Result<(), LimitError> {
    let mut cleaning = Cleaning::new(schema, Steps { cleans: true, defaults: true });
    let root = schema.root();
    let from = report.changes().len();
    // Without coercion nothing is refused.
    let _ = walk(&mut cleaning, root, value, R::Places::top(root), report);
    cleaning.finish(from, report)
}

/// The steps to take.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Pruning and null removal.
    pub cleans: bool,
    /// Defaulting.
    pub defaults: bool,
}

/// Some steps over one object of a kind.
#[derive(Debug)]
pub struct Cleaning<'s> {
    schema: &'s CompiledSchema,
    effects: Effects,
    cleans: bool,
    pruning: Pruning,
    nulls: NullRemoval,
    coercion: Option<Coercion>,
    defaulting: Option<Defaulting>,
    /// Whether some nulls were removed before their turn.
    nulls_were_ahead: bool,
}

impl<'s> Cleaning<'s> {
    /// Returns the steps over an object that a schema is for.
    pub fn new(schema: &'s CompiledSchema, steps: Steps) -> Self {
        let nulls = NullRemoval::of(schema.root().dialect());
        let mut effects = Effects::NONE;
        if steps.cleans {
            effects = effects.and(Effects::PRUNE).and(nulls.effects());
        }
        if steps.defaults {
            effects = effects.and(Effects::DEFAULT);
        }
        Cleaning {
            schema,
            effects,
            cleans: steps.cleans,
            pruning: Pruning::default(),
            nulls,
            coercion: None,
            defaulting: steps.defaults.then(|| Defaulting::of(schema.root().dialect())),
            nulls_were_ahead: false,
        }
    }

    /// Takes the steps over an object whose metadata was taken out and normalized (RP-12, RP-13);
    /// a scalar is in its place. Embedded resources are coerced.
    ///
    /// # Errors
    ///
    /// When a field of an embedded resource is invalid and that is refused.
    pub fn run(
        &mut self,
        object: &mut Value,
        invalid: Invalid,
        report: &mut impl Report,
    ) -> Result<(), FieldError> {
        let root = self.schema.root();
        if !root.can(Effects::COERCE) {
            return self.walk(object, report);
        }
        self.coercion = Some(Coercion::new(invalid));
        self.effects = self.effects.and(Effects::COERCE);
        self.walk(object, &mut Located(report))
    }

    fn walk<R: Report>(&mut self, object: &mut Value, report: &mut R) -> Result<(), FieldError> {
        let root = self.schema.root();
        walk(self, root, object, R::Places::top(root), report).map_err(|error| *error)
    }

    /// Applies defaults to the metadata that was taken out.
    pub fn default_metadata<R: Report>(&mut self, metadata: &mut Value, report: &mut R) {
        let root = self.schema.root();
        if let (Some(defaulting), Some(edge)) = (&mut self.defaulting, root.member(METADATA)) {
            let top = R::Places::top(root);
            let at = R::Places::member(&top, METADATA, true, edge.node());
            let Ok(()) = walk(defaulting, edge.node(), metadata, at, report);
        }
    }

    /// Puts the changes that were reported, from a position on, into the order of the steps.
    ///
    /// # Errors
    ///
    /// When the defaults exceed the limit.
    pub fn finish(self, from: usize, report: &mut impl Report) -> Result<(), LimitError> {
        let changes = report.changes().get_mut(from..).unwrap_or_default();
        sort_by_step(changes, self.nulls_were_ahead);
        self.defaulting.map_or(Ok(()), Defaulting::finish)
    }

    /// Returns whether null removal takes the member of an embedded resource.
    fn loses(&self, node: NodeRef<'s>, name: &str, member: &Value) -> bool {
        member.is_null() && node.member(name).is_some_and(|edge| self.removes_null(edge))
    }
}

const METADATA: &str = "metadata";

impl<'s> Rules<'s> for Cleaning<'s> {
    type Refusal = Box<FieldError>;
    const INSERTS: bool = true;

    #[inline]
    fn effects(&self) -> Effects {
        self.effects
    }

    /// Nulls are removed before coercion: it does not see them, and those in metadata go first.
    fn resource<R: Report>(
        &mut self,
        node: NodeRef<'s>,
        members: &mut Map<String, Value>,
        at: At<'_, 's, R>,
        report: &mut R,
    ) -> Result<(), Self::Refusal> {
        let (Some(coercion), Some(place)) = (self.coercion, R::Places::place(at)) else {
            return Ok(());
        };
        for name in ["apiVersion", "kind"] {
            if members.get(name).is_some_and(|member| !self.loses(node, name, member)) {
                coercion.type_field(name, node, members, place, report)?;
            }
        }
        let is_root = node.id() == self.schema.root().id();
        let Some(metadata) = members.get_mut(METADATA).filter(|_| !is_root) else { return Ok(()) };
        if self.loses(node, METADATA, metadata) {
            return Ok(());
        }
        let is_walked = |edge: &Edge<'_>| {
            self.effects.include(Effects::REMOVE_NULL) && edge.node().can(Effects::REMOVE_NULL)
        };
        if let Some(edge) = node.member(METADATA).filter(is_walked) {
            let is_listed = node.property(METADATA).is_some_and(|property| property.is_listed());
            let at = R::Places::member(&at, METADATA, is_listed, edge.node());
            self.nulls_were_ahead = true;
            let Ok(()) = walk(&mut self.nulls, edge.node(), metadata, at, report);
        }
        coercion.metadata(node, metadata, place, report)
    }

    #[inline]
    fn prunes(&self) -> bool {
        self.cleans
    }

    fn pruned<R: Report>(
        &mut self,
        node: NodeRef<'s>,
        value: Value,
        at: At<'_, 's, R>,
        report: &mut R,
    ) {
        self.pruning.pruned(node, value, at, report);
    }

    #[inline]
    fn removes_null(&self, edge: Edge<'s>) -> bool {
        self.cleans && self.nulls.removes_null(edge)
    }

    fn null_removed<R: Report>(&mut self, edge: Edge<'s>, at: At<'_, 's, R>, report: &mut R) {
        self.nulls.null_removed(edge, at, report);
    }

    fn default_value<R: Report>(
        &mut self,
        edge: Edge<'s>,
        cause: Cause,
        at: At<'_, 's, R>,
        report: &mut R,
    ) -> Option<Value> {
        self.defaulting.as_mut()?.default_value(edge, cause, at, report)
    }
}
