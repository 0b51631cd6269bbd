//! Answers are checked against both definitions: witnesses are run, proofs attacked.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use billhook::FieldValidation::{Ignore, Strict};
use billhook::{
    CrdVersion, CustomResourceDefinition, DecodeOptions, DeepValue, Definition, KubernetesVersion,
};
use billhook_compat::{Answer, Question, Verdict, compare};
use billhook_generation::{Hints, Oracle, changes, sample_object};
use serde_json::{Value, json};

use crate::merges::attack_merges;
use crate::operators::Random;
use crate::requests::{applied, read, updated, written};
use crate::types::attack_types;

/// The answers about many changes, counted.
#[derive(Default)]
pub(crate) struct Tally {
    /// How many answers are decided, and how many are not: by question, without rules and with.
    counts: BTreeMap<(Question, bool), [usize; 2]>,
    undecided: Vec<String>,
    pub(crate) comparisons: usize,
    total: Duration,
    /// The comparisons that took longest.
    slowest: BTreeMap<Duration, String>,
}

impl Tally {
    fn note(&mut self, answer: &Answer, has_rules: bool, label: &str) {
        let is_open = answer.verdict == Verdict::Undecided;
        let counts = self.counts.entry((answer.question, has_rules)).or_default();
        counts[usize::from(is_open)] += 1;
        if is_open {
            let Answer { question, version, path, change, reason, .. } = answer;
            let line = format!("{label}: {version} {question} {path}: {change}: {reason}");
            self.undecided.push(line);
        }
    }

    fn time(&mut self, taken: Duration, label: &str) {
        const SHOWN: usize = 25;
        self.comparisons += 1;
        self.total += taken;
        self.slowest.insert(taken, label.to_owned());
        if self.slowest.len() > SHOWN {
            self.slowest.pop_first();
        }
    }

    /// Returns how many answers are decided, and how many are not.
    pub(crate) fn sums(&self) -> [usize; 2] {
        self.counts.values().fold([0, 0], |sum, counts| [sum[0] + counts[0], sum[1] + counts[1]])
    }

    /// Returns what was not decided, what took long, and how much was decided.
    pub(crate) fn report(&self) -> String {
        let mut lines = self.undecided.clone();
        for (taken, label) in self.slowest.iter().rev() {
            lines.push(format!("{taken:?} {label}"));
        }
        for ((question, has_rules), [decided, open]) in &self.counts {
            let rules = if *has_rules { "with rules" } else { "without rules" };
            let rate = *decided as f64 * 100.0 / (decided + open) as f64;
            lines.push(format!("{question} {rules}: {decided} decided, {open} not: {rate:.2} %"));
        }
        let mean = self.total / u32::try_from(self.comparisons.max(1)).unwrap();
        let [decided, open] = self.sums();
        lines.push(format!(
            "decided {decided}, undecided {open}; {} comparisons, {mean:?} each",
            self.comparisons
        ));
        lines.join("\n")
    }
}

/// The time that the thread has worked, where the system tells; otherwise the time of day.
pub(crate) fn clock() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let worked = statistics.split(' ').next().and_then(|it| it.parse().ok());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    worked.map_or_else(now, Duration::from_nanos)
}

/// Compares two definitions and checks what is answered; tries so many objects for each proof.
pub(crate) fn check(label: &str, old: &Value, new: &Value, objects: usize, tally: &mut Tally) {
    let begin = clock();
    let Ok(comparison) = compare(old, new) else { return };
    let taken = clock().saturating_sub(begin);
    tally.time(taken, label);
    let has_rules =
        [old, new].iter().any(|it| it.to_string().contains("\"x-kubernetes-validations\""));
    let (old_crd, new_crd) = (
        CustomResourceDefinition::from_value(old).unwrap(),
        CustomResourceDefinition::from_value(new).unwrap(),
    );
    for answer in &comparison.answers {
        tally.note(answer, has_rules, label);
        if answer.question == Question::Definition && answer.verdict == Verdict::Breaks {
            assert!(is_refused_or_missed(answer, old, new), "{label}: {answer:#?}");
        }
        if let Some((from, to)) = answer.version.split_once("->") {
            let versions = new_crd.version(from).zip(new_crd.version(to)).unwrap();
            check_visit(answer, &versions, objects, label);
        }
        let (Some(before), Some(after)) =
            (old_crd.version(&answer.version), new_crd.version(&answer.version))
        else {
            continue;
        };
        if let Some(witness) = &answer.witness {
            let is_confirmed = confirms(answer, witness, &before, &after);
            assert!(is_confirmed, "{label}: {answer:#?}");
        }
        let is_proved = answer.verdict == Verdict::Safe && answer.reason != "nothing changed";
        if is_proved && [Question::Writers, Question::Stored].contains(&answer.question) {
            attack_safe(answer.question, &before, &after, objects, label);
        }
        if is_proved && answer.question == Question::Readers {
            attack_types(&before, &after, objects, label);
        }
        if is_proved && answer.question == Question::Appliers {
            attack_merges(&before, &after, objects, label);
        }
    }
}

/// Whether a server refuses a definition in place of another one, or clients miss what a request
/// asks for.
fn is_refused_or_missed(answer: &Answer, old: &Value, new: &Value) -> bool {
    let [before, after] = [old, new].map(|it| CustomResourceDefinition::from_value(it).unwrap());
    let witness = answer.witness.as_ref().unwrap();
    let Some(request) = witness.get("request").and_then(Value::as_str) else {
        // An object of a version that is not served any more.
        let is_served = |crd: &CustomResourceDefinition| {
            crd.version(&answer.version).is_some_and(|version| version.is_served())
        };
        let stored = written(&before.version(&answer.version).unwrap(), witness, Strict);
        return stored.is_some() && is_served(&before) && !is_served(&after);
    };
    if request.starts_with("PUT ") {
        return old["metadata"]["name"] != new["metadata"]["name"] || !is_accepted(old, new);
    }
    let (old_version, new_version) =
        (before.version(&answer.version), after.version(&answer.version));
    let names = |crd: &CustomResourceDefinition| {
        let names = crd.names().with_defaults();
        (names.clone(), crd.scope())
    };
    let is_other = |part: fn(&CrdVersion) -> String| {
        old_version.as_ref().map(part) != new_version.as_ref().map(part)
    };
    names(&before) != names(&after)
        || is_other(|version| format!("{:?}", version.selectable_fields()))
        || is_other(|version| format!("{:?}", version.scale()))
        || is_other(|version| version.has_status_subresource().to_string())
        || is_other(|version| format!("{:?}", version.additional_printer_columns()))
}

/// Whether a server takes a definition in place of another one, which it has established.
fn is_accepted(old: &Value, new: &Value) -> bool {
    let stored: Vec<&Value> = old["spec"]["versions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|version| version["storage"] == true)
        .map(|version| &version["name"])
        .collect();
    let established = json!({"type": "Established", "status": "True"});
    let status = json!({"storedVersions": stored, "conditions": [established]});
    let read = |definition: &Value| {
        let mut definition = definition.clone();
        definition["metadata"]["resourceVersion"] = "1".into();
        definition["status"] = match old.pointer("/status/storedVersions") {
            Some(_) => old["status"].clone(),
            None => status.clone(),
        };
        Definition::new(definition, KubernetesVersion::default())
    };
    let (Ok(old), Ok(new)) = (read(old), read(new)) else { return false };
    new.validate_update(&old).errors().is_empty()
}

/// Objects of one version are read in the other one, and written back.
fn check_visit(
    answer: &Answer,
    (from, to): &(CrdVersion, CrdVersion),
    objects: usize,
    label: &str,
) {
    let survives = |stored: &DeepValue| survives(from, to, stored);
    if let Some(witness) = &answer.witness {
        let stored = written(from, witness, Strict).unwrap();
        assert!(!survives(&stored), "{label}: {answer:#?}");
    }
    if answer.verdict != Verdict::Safe || answer.reason.starts_with("nothing is lost that") {
        return;
    }
    let schema = from.open_api_v3_schema().unwrap();
    let oracle = Oracle::new(from.clone(), &schema);
    let sample = sample_object(from, &schema);
    let Some(object) = oracle.valid_near(&sample, &|_| true) else { return };
    for changed in changes(&schema, &object, &Hints::default()).iter().take(objects) {
        if let Some(stored) = written(from, changed, Strict) {
            assert!(survives(&stored), "{label}: {}: {stored:?}", answer.version);
        }
    }
}

/// Whether nothing is lost of an object of one version on the way to another one and back.
pub(crate) fn survives(from: &CrdVersion, to: &CrdVersion, stored: &DeepValue) -> bool {
    let convert = |to: &CrdVersion, object: &DeepValue| {
        let mut object = object.clone();
        to.convert_value(&mut object, &DecodeOptions::default()).unwrap();
        object
    };
    has_all(&convert(from, &convert(to, stored)), stored)
}

/// Whether a witness shows what it is said to show.
fn confirms(answer: &Answer, witness: &Value, before: &CrdVersion, after: &CrdVersion) -> bool {
    let pair = witness.get("before").zip(witness.get("after"));
    match (answer.question, pair) {
        (Question::Writers, None) => {
            let stored = written(before, witness, Strict);
            stored.is_some() && stored != written(after, witness, Ignore)
        }
        (Question::Stored, None) => {
            let Some(stored) = written(before, witness, Strict) else { return false };
            read(after, &stored).is_none_or(|read| read != stored)
        }
        (Question::Writers | Question::Stored, Some((first, second))) => {
            let Some(stored) = written(before, first, Strict) else { return false };
            let is_status = answer.path.to_string().starts_with("status");
            let known = match answer.question {
                Question::Writers => written(after, first, Ignore),
                _ => read(after, &stored),
            };
            updated(before, &stored, second, is_status, Strict).is_some()
                && known.is_some_and(|known| {
                    updated(after, &known, second, is_status, Ignore).is_none()
                })
        }
        (Question::Readers, _) => written(after, witness, Strict).is_some(),
        (Question::Appliers, Some((first, second))) => {
            let is_status = answer.path.to_string().starts_with("status")
                && before.has_status_subresource()
                && after.has_status_subresource();
            let merged = |version| applied(version, first, second, is_status);
            let (one, other) = (merged(before), merged(after));
            one.is_some() && other.is_some() && one != other
        }
        _ => true,
    }
}

/// Looks for an object that the old definition accepts and that the new one does not store alike, or
/// does not read and update alike. Returns how many objects the old definition has accepted.
pub(crate) fn attack_safe(
    question: Question,
    before: &CrdVersion,
    after: &CrdVersion,
    objects: usize,
    label: &str,
) -> usize {
    let mut accepted = 0;
    if objects == 0 {
        return accepted;
    }
    for version in [before, after] {
        let schema = version.open_api_v3_schema().unwrap();
        let oracle = Oracle::new(before.clone(), &schema);
        accepted += walk(&oracle, (version, &schema), objects, &mut |changed| {
            let Some(stored) = written(before, changed, Strict) else { return false };
            if question == Question::Writers {
                let new = written(after, changed, Ignore);
                assert_eq!(new.as_ref(), Some(&stored), "{label}: not safe: {changed}");
            } else {
                stays(before, after, &stored, label);
            }
            true
        });
    }
    accepted
}

/// Judges so many objects, each a change away from one that was accepted: from what is refused, few ways
/// lead back. Returns how many were accepted.
pub(crate) fn walk(
    oracle: &Oracle<'_>,
    (version, schema): (&CrdVersion, &Value),
    objects: usize,
    is_accepted: &mut dyn FnMut(&Value) -> bool,
) -> usize {
    let (mut accepted, mut tried) = (0, 0);
    let mut object = oracle.valid_near(&sample_object(version, schema), &|_| true);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    while let Some(last) = object.take().filter(|_| tried < objects) {
        let near = changes(schema, &last, &Hints::default());
        let begin = random.below(near.len());
        for changed in near.iter().cycle().skip(begin).take(near.len().min(objects - tried)) {
            tried += 1;
            if is_accepted(changed) {
                accepted += 1;
                object.get_or_insert_with(|| changed.clone());
            }
        }
    }
    accepted
}

/// A stored object is read without loss, and gets a label.
pub(crate) fn stays(before: &CrdVersion, after: &CrdVersion, stored: &Value, label: &str) {
    let known = read(after, stored).unwrap_or_else(|| panic!("{label}: not read: {stored}"));
    assert!(has_all(&known, stored), "{label}: lost of {stored}");
    let labeled = |object: &Value| {
        let mut object = object.clone();
        object["metadata"]["labels"] = json!({"touched": "true"});
        object
    };
    if updated(before, stored, &labeled(stored), false, Ignore).is_some() {
        let is_updated = updated(after, &known, &labeled(&known), false, Ignore);
        assert!(is_updated.is_some(), "{label}: not updated: {stored}");
    }
}

/// Whether a value has all members of another one.
fn has_all(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| value.get(name).is_some_and(|value| has_all(value, wanted))),
        (Value::Array(value), Value::Array(wanted)) => {
            value.len() == wanted.len() && value.iter().zip(wanted).all(|(a, b)| has_all(a, b))
        }
        (value, wanted) => value == wanted,
    }
}
