//! Clean objects of several sizes and kinds, made from the fixtures.

use crate::edit::{Edit, Task};
use crate::input::{Document, Input, Kind, Variant};
use crate::node::Node;
use crate::rng::Rng;

/// Clean objects, before they become an input.
pub struct Source {
    /// The name of its inputs.
    pub name: String,
    objects: Vec<(Kind, Node)>,
    /// Whether its variants have unknown fields in metadata too.
    edits_metadata: bool,
}

impl Source {
    pub(crate) fn new(name: &str, objects: Vec<(Kind, Node)>) -> Self {
        Source { name: name.to_owned(), objects, edits_metadata: false }
    }

    /// The objects in a variant, checked.
    pub fn input(&self, variant: Variant) -> Input {
        let mut documents = Vec::new();
        for (index, (kind, object)) in self.objects.iter().enumerate() {
            let mut object = object.clone();
            // One object alone must have something to do; of many, some.
            let is_alone = self.objects.len() == 1;
            if is_alone || variant != Variant::Few || index % 10 == 0 {
                self.vary(&mut object, kind, variant, index as u64);
            }
            documents.push(Document::new(kind.clone(), object.print()));
        }
        let input = Input { name: self.name.clone(), variant, documents };
        input.check();
        input
    }

    fn vary(&self, object: &mut Node, kind: &Kind, variant: Variant, seed: u64) {
        let (schema, in_metadata) = (kind.schema.root(), self.edits_metadata);
        let task = |edit| Task { schema, edit, in_metadata, seed };
        let (add, drop) = (task(Edit::AddUnknown), task(Edit::DropDefaulted));
        let share = match variant {
            Variant::Clean => return,
            Variant::Few => {
                add.edit_one(object);
                drop.edit_one(object);
                return;
            }
            Variant::Unknown => add,
            Variant::Missing => drop,
        };
        let before = object.print();
        share.edit_share(object, 10);
        if self.objects.len() == 1 && object.print() == before {
            assert!(share.edit_one(object), "no place for {:?}", share.edit);
        }
    }
}

/// The sources made from the fixtures.
pub fn fixture_sources() -> Vec<Source> {
    let single = |name: &str, object| Source::new(name, vec![(stack_kind(), object)]);
    let metadata = single("metadata", with_metadata(64_000));
    vec![
        backup(),
        stack("12 KB", 12_000),
        stack("250 KB", 250_000),
        stack("1 MB", 1_000_000),
        single("strings", with_strings(128_000)),
        Source { edits_metadata: true, ..metadata },
    ]
}

/// The backup resource, the smallest of all.
pub fn backup() -> Source {
    let object = Node::parse(include_bytes!("../../fixtures/objects/backup-clean.json"));
    Source::new("1 KB", vec![(backup_kind(), object)])
}

/// The stack resource with more components and templates, up to a size; it is 12 KB itself.
pub fn stack(name: &str, size: usize) -> Source {
    let mut object = stack_object();
    let kind = stack_kind();
    let mut left = size.saturating_sub(object.print().len());
    let model = object.clone();
    for copy in 1_u64.. {
        if left == 0 {
            break;
        }
        let mut more = model.clone();
        // Copies differ, as the parts of real objects do.
        let schema = kind.schema.root();
        let task = Task { schema, edit: Edit::DropOptional, in_metadata: false, seed: copy };
        task.edit_share(&mut more, 15);
        for (list, name_at) in [("components", &["name"][..]), ("templates", &["metadata", "name"])]
        {
            for mut item in std::mem::take(more.at(&["spec", list]).items()) {
                item.at(name_at).append(&format!("-{copy}"));
                left = left.saturating_sub(item.print().len() + 1);
                object.at(&["spec", list]).items().push(item);
            }
        }
    }
    Source::new(name, vec![(kind, object)])
}

/// The stack resource with long strings in its free part.
fn with_strings(size: usize) -> Node {
    const WORDS: [&str; 12] = [
        "set -euo pipefail",
        "apiVersion: v1",
        "größer",
        "値を設定",
        "server_name _;",
        "# note",
        "export PATH",
        "naïve",
        "return 0",
        "location /healthz",
        "кэш",
        "timeout 30s",
    ];
    let mut rng = Rng::new(7);
    let mut object = stack_object();
    let mut left = size.saturating_sub(object.print().len());
    let mut files = Vec::new();
    while left > 0 {
        let length = (1_000 + rng.below(7_000)).min(left);
        // A third of the strings is plain, a third has line breaks, a third all there is.
        let style = files.len() % 3;
        let mut text = String::new();
        while text.len() < length {
            let word = WORDS[rng.below(WORDS.len())];
            text.push_str(if word.is_ascii() || style == 2 { word } else { "word" });
            text.push(if style > 0 && rng.percent(20) { '\n' } else { ' ' });
            if style == 2 && rng.percent(3) {
                text.push_str("\"quoted\\path\" \u{1f600} \u{1}");
            }
        }
        left -= length;
        files.push((format!("file-{}.conf", files.len()), Node::string(&text)));
    }
    object.at(&["spec", "values"]).set("files", Node::Object(files));
    object
}

/// The stack resource with many embedded resources that have much metadata.
fn with_metadata(size: usize) -> Node {
    let mut object = stack_object();
    let mut left = size.saturating_sub(object.print().len());
    let models = object.at(&["spec", "templates"]).items().clone();
    let metadata = object.at(&["metadata"]).clone();
    for copy in 0.. {
        if left == 0 {
            break;
        }
        let mut resource = models[copy % models.len()].clone();
        let mut metadata = metadata.clone();
        metadata.at(&["name"]).append(&format!("-{copy}"));
        metadata.at(&["labels"]).set("copy", Node::string(&copy.to_string()));
        resource.set("metadata", metadata);
        left = left.saturating_sub(resource.print().len() + 1);
        object.at(&["spec", "templates"]).items().push(resource);
    }
    object
}

fn stack_object() -> Node {
    Node::parse(include_bytes!("../../fixtures/objects/stack-clean.json"))
}

fn stack_kind() -> Kind {
    let definition = include_str!("../../fixtures/crds/stacks.platform.example.com.yaml");
    Kind::new(&crate::corpus::yaml_to_json(definition), "v1")
}

fn backup_kind() -> Kind {
    let definition = include_str!("../../fixtures/crds/backups.data.example.com.yaml");
    Kind::new(&crate::corpus::yaml_to_json(definition), "v1")
}
