//! The knowledge of a value: the schemas that it is valid for, those that it is not valid for, and
//! the structure that it has after pruning.

use billhook_apimachinery::KubernetesVersion;
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::SchemaOrBool;
use serde_json::Value;

use super::kinds::Kinds;

/// How many schemas are taken into account together.
const MAX_SCHEMAS: usize = 200;

/// A node of a structural schema, as pruning sees it (PR-10 to PR-23).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'s> {
    pub(crate) schema: &'s JsonSchemaProps,
    /// The same as a document.
    pub(crate) document: &'s Value,
    /// Whether the node is in a list that is preserved (PR-21).
    pub(crate) in_kept_list: bool,
    /// Whether the top of an object is here: that of a resource or an embedded one.
    pub(crate) is_resource: bool,
}

/// The schemas of what no schema describes.
#[derive(Debug)]
pub(crate) struct Bare {
    pub(crate) kubernetes: KubernetesVersion,
    nothing: (JsonSchemaProps, Value),
    anything: (JsonSchemaProps, Value),
}

impl Bare {
    /// The schemas of a server.
    pub(crate) fn new(kubernetes: KubernetesVersion) -> Self {
        let mut anything = JsonSchemaProps::default();
        anything.preserve_unknown_fields = Some(true);
        let document = serde_json::json!({"x-kubernetes-preserve-unknown-fields": true});
        Bare {
            kubernetes,
            nothing: (JsonSchemaProps::default(), serde_json::json!({})),
            anything: (anything, document),
        }
    }

    /// The shape below a boolean `additionalProperties`: objects are emptied (PR-16).
    pub(crate) fn nothing(&self) -> Shape<'_> {
        Shape::new(&self.nothing.0, &self.nothing.1)
    }

    /// The shape of values that are kept as they are.
    pub(crate) fn anything(&self) -> Shape<'_> {
        Shape::new(&self.anything.0, &self.anything.1)
    }
}

/// The fate of the members of an object that are not listed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unlisted<'s> {
    /// They are removed.
    Pruned,
    /// They are kept, with what the shape says of them.
    Kept(Shape<'s>),
}

impl<'s> Shape<'s> {
    pub(crate) fn new(schema: &'s JsonSchemaProps, document: &'s Value) -> Self {
        let is_resource = schema.embedded_resource;
        Shape { schema, document, in_kept_list: false, is_resource }
    }

    /// Whether unlisted members are kept as they are (PR-20, PR-21).
    pub(crate) fn keeps(self) -> bool {
        self.in_kept_list || self.schema.preserves_unknown_fields()
    }

    /// Whether no schema describes it.
    pub(crate) fn is_bare(self, bare: &Bare) -> bool {
        let is = |shape: Shape<'_>| std::ptr::eq(self.schema, shape.schema);
        is(bare.nothing()) || is(bare.anything())
    }

    fn part(self, schema: &'s JsonSchemaProps, pointer: &str) -> Option<Shape<'s>> {
        self.document.pointer(pointer).map(|document| Shape::new(schema, document))
    }

    pub(crate) fn listed(self, name: &str) -> Option<Shape<'s>> {
        let schema = self.schema.property(name)?;
        let document = self.document.get("properties")?.get(name)?;
        Some(Shape::new(schema, document))
    }

    /// The fate of unlisted members (PR-12, PR-20).
    pub(crate) fn unlisted(self, bare: &'s Bare) -> Unlisted<'s> {
        match &self.schema.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => {
                let part = self.part(schema, "/additionalProperties");
                Unlisted::Kept(part.unwrap_or(bare.anything()))
            }
            Some(SchemaOrBool::Bool(_)) => Unlisted::Kept(bare.nothing()),
            None if self.keeps() => Unlisted::Kept(bare.anything()),
            None => Unlisted::Pruned,
        }
    }

    /// The shape of a member; none if it is pruned.
    pub(crate) fn member(self, name: &str, bare: &'s Bare) -> Option<Shape<'s>> {
        match (self.listed(name), self.unlisted(bare)) {
            (Some(listed), _) => Some(listed),
            (None, Unlisted::Kept(shape)) => Some(shape),
            (None, Unlisted::Pruned) => None,
        }
    }

    /// The shape of elements.
    pub(crate) fn items(self, bare: &'s Bare) -> Shape<'s> {
        let listed = self.schema.items_schema().and_then(|items| self.part(items, "/items"));
        match listed {
            Some(shape) => Shape { in_kept_list: self.keeps(), ..shape },
            None if self.keeps() => bare.anything(),
            None => bare.nothing(),
        }
    }
}

/// Schemas of which a value is valid for at least one, or for exactly one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<'s> {
    pub(crate) branches: &'s [JsonSchemaProps],
    pub(crate) exactly_one: bool,
}

/// The knowledge of a value.
#[derive(Clone, Debug)]
pub(crate) struct Known<'s> {
    pub(crate) bare: &'s Bare,
    /// It is valid for each of these.
    pub(crate) holds: Vec<&'s JsonSchemaProps>,
    /// It is valid for none of these.
    pub(crate) fails: Vec<&'s JsonSchemaProps>,
    pub(crate) choices: Vec<Choice<'s>>,
    /// Its structure; none if it may have any.
    pub(crate) shape: Option<Shape<'s>>,
    /// Members that it has besides the required ones.
    pub(crate) present: Vec<&'s str>,
    pub(crate) kinds: Kinds,
}

impl<'s> Known<'s> {
    /// A value that a structural schema admits.
    pub(crate) fn of(shape: Shape<'s>, bare: &'s Bare) -> Self {
        let mut known = Known {
            bare,
            holds: Vec::new(),
            fails: Vec::new(),
            choices: Vec::new(),
            shape: Some(shape),
            present: Vec::new(),
            kinds: Kinds::ALL,
        };
        known.hold(shape.schema);
        known.note_defaults();
        known
    }

    fn note_defaults(&mut self) {
        let listed = self.shape.and_then(|shape| shape.schema.properties.as_ref());
        let defaulted = listed.into_iter().flatten().filter(|(_, part)| part.default.is_some());
        self.present.extend(defaulted.map(|(name, _)| name.as_str()));
    }

    /// Learns that the value is valid for a schema.
    pub(crate) fn hold(&mut self, schema: &'s JsonSchemaProps) {
        let mut pending = vec![schema];
        while let Some(schema) = pending.pop() {
            if self.holds.len() >= MAX_SCHEMAS {
                return;
            }
            self.holds.push(schema);
            // Schemas under junctors do not see null (VV-50).
            let kinds = Kinds::of(schema, self.bare.kubernetes);
            let is_first = self.holds.len() == 1;
            self.kinds = self.kinds.and(if is_first { kinds } else { kinds.or(Kinds::NULL) });
            self.fails.extend(schema.not.as_deref());
            pending.extend(&schema.all_of);
            for (branches, exactly_one) in [(&schema.any_of, false), (&schema.one_of, true)] {
                match branches.as_slice() {
                    [] => {}
                    [only] => pending.push(only),
                    branches => self.choices.push(Choice { branches, exactly_one }),
                }
            }
        }
    }

    /// The knowledge of a member that it has.
    pub(crate) fn member(&self, name: &str) -> Known<'s> {
        let part = |schema: &&'s JsonSchemaProps| {
            schema.property(name).or_else(|| schema.additional_schema())
        };
        let shape = self.shape.and_then(|shape| shape.member(name, self.bare));
        self.below(self.holds.iter().filter_map(part), shape)
    }

    /// The knowledge of an unlisted member.
    pub(crate) fn unlisted_member(&self) -> Known<'s> {
        let shape = self.shape.and_then(|shape| match shape.unlisted(self.bare) {
            Unlisted::Kept(shape) => Some(shape),
            Unlisted::Pruned => None,
        });
        let parts = self.holds.iter().filter(|schema| schema.properties.is_none());
        self.below(parts.filter_map(|schema| schema.additional_schema()), shape)
    }

    /// The knowledge of its elements.
    pub(crate) fn items(&self) -> Known<'s> {
        let shape = self.shape.map(|shape| shape.items(self.bare));
        self.below(self.holds.iter().filter_map(|schema| schema.items_schema()), shape)
    }

    fn below(
        &self,
        parts: impl Iterator<Item = &'s JsonSchemaProps>,
        shape: Option<Shape<'s>>,
    ) -> Known<'s> {
        let mut known = Known {
            bare: self.bare,
            holds: Vec::new(),
            fails: Vec::new(),
            choices: Vec::new(),
            shape,
            present: Vec::new(),
            kinds: Kinds::ALL,
        };
        parts.for_each(|part| known.hold(part));
        known.note_defaults();
        known
    }

    /// Whether the value may have a member.
    pub(crate) fn can_have(&self, name: &str) -> bool {
        let Some(shape) = self.shape else { return true };
        let is_fixed = shape.is_resource && ["apiVersion", "kind", "metadata"].contains(&name);
        is_fixed || shape.member(name, self.bare).is_some()
    }

    /// The only names that its members may have, if they are known.
    pub(crate) fn names(&self) -> Option<Vec<&'s str>> {
        let shape = self.shape?;
        if shape.is_resource || matches!(shape.unlisted(self.bare), Unlisted::Kept(_)) {
            return None;
        }
        Some(shape.schema.properties.iter().flatten().map(|(name, _)| name.as_str()).collect())
    }

    /// Whether it surely has a member, if it is an object.
    pub(crate) fn requires(&self, name: &str) -> bool {
        self.present.contains(&name)
            || self
                .holds
                .iter()
                .any(|schema| schema.required.iter().flatten().any(|required| required == name))
    }

    /// The number of members that it has at least, if it is an object.
    pub(crate) fn required_count(&self) -> usize {
        let required = self.holds.iter().flat_map(|schema| schema.required.iter().flatten());
        let mut names: Vec<&str> =
            required.map(String::as_str).chain(self.present.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }

    /// The greatest of the lower bounds that a keyword sets.
    pub(crate) fn at_least(&self, keyword: impl Fn(&JsonSchemaProps) -> Option<i64>) -> i64 {
        self.holds.iter().filter_map(|schema| keyword(schema)).max().unwrap_or(0).max(0)
    }

    /// The least of the upper bounds that a keyword sets.
    pub(crate) fn at_most(&self, keyword: impl Fn(&JsonSchemaProps) -> Option<i64>) -> Option<i64> {
        self.holds.iter().filter_map(|schema| keyword(schema)).min()
    }

    /// The entries of the shortest enum.
    pub(crate) fn enumeration(&self) -> Option<impl Iterator<Item = &'s Value> + use<'s>> {
        let lists = self.holds.iter().map(|schema| &schema.enum_).filter(|list| !list.is_empty());
        let shortest = lists.min_by_key(|list| list.len())?;
        Some(shortest.iter().map(|entry| &**entry))
    }
}
