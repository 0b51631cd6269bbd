//! Two or three changes at once: each proof is attacked with objects of either schema, each witness is
//! confirmed.

use billhook::FieldValidation::{Ignore, Strict};
use billhook::{
    CrdVersion, CustomResourceDefinition, DecodeOptions, DeepValue, Definition, ErrorType,
    FieldError, FieldPath, KubernetesVersion, Segment, ValidateOptions,
};
use billhook_compat::{Question, Verdict, compare};
use billhook_generation::schema_at;
use serde_json::{Value, json};

use crate::checks::{Tally, check, stays, survives};
use crate::corpus::nodes;
use crate::maintained::{changed, parts};
use crate::operators::Random;
use crate::requests::{read, updated, written};
use crate::support::{definition, object};
use crate::values::value;

/// How many objects are kept to be updated.
const KEPT: usize = 6;

/// A definition with a part in its `spec` and its `status`.
fn defined(part: &Value, has_status: bool) -> Value {
    let fields = object(json!({"a": part, "b": {"type": "string"}}));
    let mut crd = definition(fields.clone());
    let version = &mut crd["spec"]["versions"][0];
    if has_status {
        version["subresources"] = json!({"status": {}});
    }
    let is_status = part["properties"].get("kind").is_some();
    let status = if is_status { part.clone() } else { fields };
    version["schema"]["openAPIV3Schema"]["properties"]["status"] = status;
    crd
}

fn object_of(version: &CrdVersion, random: &mut Random) -> Value {
    let schema = version.open_api_v3_schema().unwrap();
    let mut object =
        json!({"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "a"}});
    for part in ["spec", "status"] {
        if random.below(5) > 0 {
            object[part] = value(&schema["properties"][part], random);
        }
    }
    object
}

/// The two versions that are compared.
struct Versions {
    before: CrdVersion,
    after: CrdVersion,
    label: String,
}

impl Versions {
    fn new(old: &Value, new: &Value, label: &str) -> Self {
        let of =
            |it: &Value| CustomResourceDefinition::from_value(it).unwrap().version("v1").unwrap();
        Versions { before: of(old), after: of(new), label: label.to_owned() }
    }

    /// Attacks what is proved with objects that the old version accepts.
    fn attack(&self, proved: &[Question], objects: usize, random: &mut Random) -> usize {
        let mut kept: Vec<(Value, DeepValue)> = Vec::new();
        let mut accepted = 0;
        for number in 0..objects {
            let version = if number % 2 == 0 { &self.before } else { &self.after };
            let made = object_of(version, random);
            let Some(stored) = written(&self.before, &made, Strict) else { continue };
            accepted += 1;
            if proved.contains(&Question::Writers) {
                self.is_written(&made, &stored, &kept);
            }
            if proved.contains(&Question::Stored) {
                self.is_kept(&stored, random);
            }
            if kept.len() < KEPT {
                kept.push((made, stored));
            }
        }
        accepted
    }

    /// A manifest is stored alike, where nothing is and in place of others.
    fn is_written(&self, made: &Value, stored: &DeepValue, kept: &[(Value, DeepValue)]) {
        let Versions { before, after, label } = self;
        let new = written(after, made, Ignore);
        assert_eq!(new.as_ref(), Some(stored), "{label}: not safe: {made}");
        for (first, known) in kept {
            for is_status in [false, true] {
                let Some(old) = updated(before, known, made, is_status, Strict) else { continue };
                let known = written(after, first, Ignore).unwrap();
                let new = updated(after, &known, made, is_status, Ignore);
                let context = || format!("{label}: {first} to {made} {is_status}");
                assert_eq!(new, Some(old), "{}", context());
            }
        }
    }

    /// A stored object is read as it is, and can be updated at each of its places.
    fn is_kept(&self, stored: &DeepValue, random: &mut Random) {
        let Versions { before, after, label } = self;
        stays(before, after, stored, label);
        let known = read(after, stored).unwrap();
        let schemas = [before, after].map(|version| version.open_api_v3_schema().unwrap());
        for place in places(stored) {
            let Some(part) = schema_at(&schemas[random.below(2)], &place) else { continue };
            let mut other = stored.clone();
            *other.pointer_mut(&place.to_json_pointer()).unwrap() = value(part, random);
            for is_status in
                [false, true].into_iter().take(1 + usize::from(after.has_status_subresource()))
            {
                if updated(before, stored, &other, is_status, Strict).is_some() {
                    let errors = update_errors(after, &known, &other, is_status);
                    let is_stuck = !errors.is_empty()
                        && errors.iter().all(|error| is_old(error, stored, &other));
                    assert!(!is_stuck, "{label}: stuck: {stored:?} to {other:?}: {errors:?}");
                }
            }
        }
    }
}

/// The places in an object that an update may change.
fn places(object: &Value) -> Vec<FieldPath> {
    fn collect(value: &Value, at: FieldPath, found: &mut Vec<FieldPath>) {
        match value {
            Value::Object(members) => {
                let below = |name: &String| at.clone().name(name.as_str());
                members.iter().for_each(|(name, part)| collect(part, below(name), found));
            }
            Value::Array(items) => {
                let below = |index| FieldPath::index(at.clone(), index);
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, part)| collect(part, below(index), found));
            }
            _ => {}
        }
        found.push(at);
    }
    let mut found = Vec::new();
    for part in ["spec", "status"] {
        if let Some(value) = object.get(part) {
            collect(value, FieldPath::default().name(part), &mut found);
        }
    }
    found
}

/// Whether an error is about what an update leaves alone, in elements that have the same keys.
fn is_old(error: &FieldError, stored: &Value, object: &Value) -> bool {
    let pointer = error.field().to_json_pointer();
    let path: Vec<Segment<'_>> = error.field().segments().collect();
    let indexes = (0..path.len()).filter(|at| matches!(path[*at], Segment::Index(_)));
    let elements: Vec<String> = indexes
        .map(|at| error.field().segments().take(at + 1).collect::<FieldPath>().to_json_pointer())
        .collect();
    let keys = |object: &Value| -> Vec<Option<Value>> {
        let elements = elements.iter().map(|element| object.pointer(element));
        let keys =
            elements.flat_map(|element| ["k", "n", "p"].map(|key| element?.get(key).cloned()));
        keys.collect()
    };
    // What occurs twice is wrong together.
    error.error_type() != ErrorType::Duplicate
        && stored.pointer(&pointer).is_some()
        && stored.pointer(&pointer) == object.pointer(&pointer)
        && keys(stored) == keys(object)
}

fn update_errors(
    version: &CrdVersion,
    stored: &DeepValue,
    object: &Value,
    is_status: bool,
) -> Vec<FieldError> {
    let options = DecodeOptions::default().field_validation(Ignore);
    let Ok(decoded) = version.decode(billhook::to_json(object).as_bytes(), &options) else {
        return Vec::new();
    };
    let (mut stored, mut object) = (stored.clone(), decoded.into_object());
    stored["metadata"]["resourceVersion"] = "1".into();
    object["metadata"]["resourceVersion"] = "1".into();
    object["metadata"]["namespace"] = stored["metadata"]["namespace"].clone();
    let options = ValidateOptions::default().generic_checks(false);
    if is_status {
        version.prepare_status_update(&mut object, &stored);
        return version.validate_status_update(&object, &stored, &options).errors().to_vec();
    }
    version.prepare_update(&mut object, &stored);
    version.validate_update(&object, &stored, &options).errors().to_vec()
}

/// Whether a server takes both definitions.
fn are_accepted(old: &Value, new: &Value) -> bool {
    [old, new].into_iter().all(|it| {
        Definition::new(it.clone(), KubernetesVersion::default())
            .is_ok_and(|it| it.validate_create().errors().is_empty())
    })
}

/// The nodes of which the members are not listed, or which may be null: there, other managers own what
/// is below (CC-24).
fn opens(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    nodes(schema, "", &mut found);
    found.retain(|pointer| {
        let node = schema.pointer(pointer).unwrap();
        ["nullable", "additionalProperties", "x-kubernetes-preserve-unknown-fields"]
            .into_iter()
            .any(|keyword| node.get(keyword).is_some())
    });
    found.sort();
    found
}

/// How many changes of each part, how many objects for each proof, and where chance begins.
fn wanted() -> Option<[usize; 3]> {
    let wanted = std::env::var("BILLHOOK_COMPAT_COMBINATIONS").unwrap_or_default();
    let numbers: Vec<usize> = wanted.split('/').filter_map(|it| it.parse().ok()).collect();
    numbers.try_into().ok()
}

#[test]
fn combinations_hold() {
    let [rounds, objects, seed] = wanted().unwrap_or([2, 60, 1]);
    let (mut random, mut tally) = (Random(seed as u64 * 7919), Tally::default());
    let (mut proofs, mut accepted) = (0, 0);
    for part in parts().iter().cycle().take(rounds * parts().len()) {
        // The first change is of the part itself.
        let count = random.below(2);
        let base = changed(part, count, &mut random);
        let count = 1 + random.below(3);
        let other = changed(&base, count, &mut random);
        let has_status = random.below(3) > 0;
        let is_moved = random.below(12) == 0;
        let (one, other_one) =
            (defined(&base, has_status), defined(&other, has_status != is_moved));
        if !are_accepted(&one, &other_one) {
            continue;
        }
        let is_open_alike = opens(&base) == opens(&other);
        for (old, new) in [(&one, &other_one), (&other_one, &one)] {
            let label = format!("{} to {}", old["spec"]["versions"][0], new["spec"]["versions"][0]);
            let Ok(comparison) = compare(old, new) else { continue };
            // Where the status is written in another way, manifests mean something else.
            let asked = [Question::Stored, Question::Writers];
            let mut proved: Vec<Question> =
                asked.into_iter().take(2 - usize::from(is_moved)).collect();
            proved.retain(|question| {
                let mut about = comparison.answers.iter().filter(|it| it.question == *question);
                about.all(|it| it.verdict == Verdict::Safe)
            });
            if !is_moved {
                check(&label, old, new, if is_open_alike { objects / 2 } else { 0 }, &mut tally);
            }
            proofs += proved.len();
            accepted += Versions::new(old, new, &label).attack(&proved, objects, &mut random);
        }
    }
    if wanted().is_some() {
        println!("{}\n{proofs} proofs, {accepted} objects", tally.report());
    }
    assert!(proofs > 0 && accepted > 10 * proofs, "{proofs} proofs, {accepted} objects");
}

/// A second version is changed: objects of each survive in the other one where that is proved.
#[test]
fn versions_hold() {
    let [rounds, objects, seed] = wanted().unwrap_or([2, 60, 1]);
    let (mut random, mut tally) = (Random(seed as u64 * 104_729), Tally::default());
    let (mut proofs, mut accepted) = (0, 0);
    for part in parts().iter().cycle().take(rounds * parts().len()) {
        let count = 1 + random.below(3);
        let other = changed(part, count, &mut random);
        let (old, mut new) = (defined(part, true), defined(part, true));
        let mut second = defined(&other, true)["spec"]["versions"][0].take();
        second["name"] = "v2".into();
        second["storage"] = false.into();
        new["spec"]["versions"].as_array_mut().unwrap().push(second);
        if !are_accepted(&old, &new) {
            continue;
        }
        let label = format!("versions {part} and {other}");
        check(&label, &old, &new, objects / 2, &mut tally);
        let crd = CustomResourceDefinition::from_value(&new).unwrap();
        for answer in compare(&old, &new).unwrap().answers {
            let Some((from, to)) = answer.version.split_once("->") else { continue };
            if answer.verdict != Verdict::Safe {
                continue;
            }
            proofs += 1;
            let [from, to] = [from, to].map(|name| crd.version(name).unwrap());
            for _ in 0..objects {
                let mut made = object_of(&from, &mut random);
                made["apiVersion"] = from.api_version().into();
                let Some(stored) = written(&from, &made, Strict) else { continue };
                accepted += 1;
                assert!(survives(&from, &to, &stored), "{label}: {}: {made}", answer.version);
            }
        }
    }
    if wanted().is_some() {
        println!("{proofs} proofs, {accepted} objects");
    }
    assert!(proofs > 0 && accepted > 5 * proofs, "{proofs} proofs, {accepted} objects");
}
