//! Changes to a clean object that decoding has to undo, at random places that the schema knows.

use billhook_schema::{NodeRef, ResourceField, Unlisted};

use crate::node::Node;
use crate::rng::Rng;

/// A change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Unknown fields are added, which decoding removes.
    AddUnknown,
    /// Fields with a default are removed, which decoding adds.
    DropDefaulted,
    /// Fields without a default are removed; the object stays clean.
    DropOptional,
}

/// Where and how an object is edited.
#[derive(Clone, Copy)]
pub struct Task<'s> {
    /// The schema of the object.
    pub schema: NodeRef<'s>,
    /// The change.
    pub edit: Edit,
    /// Whether metadata is edited too.
    pub in_metadata: bool,
    /// Chooses the places.
    pub seed: u64,
}

/// The kind of an object, for the search for places.
#[derive(Clone, Copy)]
enum Place<'s> {
    Schema(NodeRef<'s>),
    /// The metadata of a resource: its fields are known without a schema.
    Metadata,
    /// Nothing is known.
    Free,
}

impl<'s> Task<'s> {
    /// Edits a share of all places.
    pub fn edit_share(self, object: &mut Node, percent: usize) {
        let mut dice = Rng::new(self.seed);
        self.run(object, || dice.percent(percent));
    }

    /// Edits one place; gives whether there is any.
    pub fn edit_one(self, object: &mut Node) -> bool {
        let mut places = 0;
        self.run(object, || {
            places += 1;
            false
        });
        if places == 0 {
            return false;
        }
        let chosen = Rng::new(self.seed).below(places);
        let mut place = 0;
        self.run(object, || {
            place += 1;
            place == chosen + 1
        });
        true
    }

    fn run(self, object: &mut Node, chosen: impl FnMut() -> bool) {
        let mut editor = Editor { task: self, rng: Rng::new(!self.seed), chosen };
        editor.walk(object, Place::Schema(self.schema));
    }
}

struct Editor<'s, C> {
    task: Task<'s>,
    rng: Rng,
    /// Whether to edit the next place.
    chosen: C,
}

impl<C: FnMut() -> bool> Editor<'_, C> {
    fn walk(&mut self, node: &mut Node, place: Place<'_>) {
        match node {
            Node::Scalar(_) => {}
            Node::Array(items) => {
                let place = match place {
                    Place::Schema(schema) => Place::Schema(schema.items().node()),
                    _ => Place::Free,
                };
                items.iter_mut().for_each(|item| self.walk(item, place));
            }
            Node::Object(members) => {
                match self.task.edit {
                    Edit::AddUnknown => self.add_unknown(members, place),
                    Edit::DropDefaulted => self.drop(members, place, true),
                    Edit::DropOptional => self.drop(members, place, false),
                }
                for (name, member) in members {
                    self.walk(member, below(place, name));
                }
            }
        }
    }

    fn add_unknown(&mut self, members: &mut Vec<(String, Node)>, place: Place<'_>) {
        let is_pruned = match place {
            Place::Schema(schema) => matches!(schema.unlisted(), Unlisted::Remove),
            Place::Metadata => self.task.in_metadata,
            Place::Free => false,
        };
        if !is_pruned {
            return;
        }
        let mut position = 0;
        while position < members.len() {
            position += 1;
            if (self.chosen)() {
                let mut name = misspelt(&members[position - 1].0, &mut self.rng);
                while is_known(&name, place) || members.iter().any(|(other, _)| *other == name) {
                    name = misspelt(&name, &mut self.rng);
                }
                members.insert(position, (name, self.unknown_value()));
                position += 1;
            }
        }
    }

    fn unknown_value(&mut self) -> Node {
        let text = match self.rng.below(10) {
            0 => r#"{"mode":"auto","size":12,"labels":{"a":"b"}}"#,
            1 => r#"{"enabled":true}"#,
            2 => r#"["first","second",3]"#,
            3 => "null",
            4 | 5 => "true",
            6 => "30",
            7 => "0.25",
            8 => r#""registry.example.com/base/image:1.2.3""#,
            _ => r#""value""#,
        };
        Node::parse(text.as_bytes())
    }

    fn drop(&mut self, members: &mut Vec<(String, Node)>, place: Place<'_>, defaulted: bool) {
        let Place::Schema(schema) = place else { return };
        members.retain(|(name, _)| {
            let Some(property) = schema.property(name) else { return true };
            let is_place = property.is_listed()
                && property.resource_field().is_none()
                && property.edge().default().is_some() == defaulted
                && (defaulted || !is_needed(name));
            !(is_place && (self.chosen)())
        });
    }
}

fn below<'s>(place: Place<'s>, name: &str) -> Place<'s> {
    let Place::Schema(schema) = place else { return Place::Free };
    match schema.property(name) {
        Some(property) if property.resource_field() == Some(ResourceField::Metadata) => {
            Place::Metadata
        }
        Some(property) => Place::Schema(property.edge().node()),
        None => match schema.unlisted() {
            Unlisted::Descend(edge) => Place::Schema(edge.node()),
            Unlisted::Keep | Unlisted::Remove => Place::Free,
        },
    }
}

fn is_known(name: &str, place: Place<'_>) -> bool {
    match place {
        Place::Schema(schema) => schema.property(name).is_some(),
        Place::Metadata | Place::Free => false,
    }
}

/// Names of fields that objects of the fixtures cannot do without.
fn is_needed(name: &str) -> bool {
    matches!(name, "name" | "key" | "image" | "spec" | "components" | "containers" | "templates")
}

/// A typo: a letter less or one twice.
fn misspelt(name: &str, rng: &mut Rng) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let position = rng.below(letters.len().max(1));
    if letters.len() > 3 && rng.percent(50) {
        letters.remove(position);
    } else {
        letters.insert(position, letters.get(position).copied().unwrap_or('x'));
    }
    letters.into_iter().collect()
}
