//! The answers of a comparison.

use std::fmt;

use billhook::{DeepValue, FieldPath};

/// A question about a change of a definition (CC-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Question {
    /// Whether manifests that were accepted are accepted and mean the same.
    Writers,
    /// Whether stored objects can be read, and updated elsewhere than where they offend.
    Stored,
    /// Whether clients with the old types can read what is written from now on.
    Readers,
    /// Whether server-side apply merges as before.
    Appliers,
    /// Whether a server accepts the definition, and clients find what they know of it.
    Definition,
}

impl Question {
    /// All questions, in the order of answers.
    pub const ALL: [Question; 5] = [
        Question::Writers,
        Question::Stored,
        Question::Readers,
        Question::Appliers,
        Question::Definition,
    ];

    /// Returns its name: `writers`, `stored`, `readers`, `appliers` or `definition`.
    pub fn as_str(self) -> &'static str {
        match self {
            Question::Writers => "writers",
            Question::Stored => "stored",
            Question::Readers => "readers",
            Question::Appliers => "appliers",
            Question::Definition => "definition",
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An answer in a word; the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It is proved.
    Safe,
    /// Neither a proof nor a witness was found.
    Undecided,
    /// A witness shows it; both definitions were run on it.
    Breaks,
}

impl Verdict {
    /// Returns its name: `safe`, `undecided` or `breaks`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Undecided => "undecided",
            Verdict::Breaks => "breaks",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The answer to a question about a version, or about one change in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The name of the definition.
    pub definition: String,
    /// The version; of a conversion the two, as `v1alpha1->v1`; empty if it is about all.
    pub version: String,
    /// The question.
    pub question: Question,
    /// The answer.
    pub verdict: Verdict,
    /// The field of objects that it is about; empty if it is about all of them.
    pub path: FieldPath,
    /// The change in words.
    pub change: String,
    /// Why the answer is what it is.
    pub reason: String,
    /// The witness, if it breaks: an object; or, where it takes two requests, an object with the
    /// members `before` and `after`; or the `request` that a server refuses now (CC-03).
    pub witness: Option<DeepValue>,
    /// The place of the change in the old definition, or the one nearest to it there.
    pub old_place: FieldPath,
    /// The place of the change in the new definition, or the one nearest to it there.
    pub new_place: FieldPath,
}

impl Answer {
    /// The answer about a definition that is not there any more, with the request that finds that
    /// out.
    pub fn removed(definition: &str, witness: impl Into<DeepValue>) -> Self {
        Answer {
            definition: definition.to_owned(),
            version: String::new(),
            question: Question::Definition,
            verdict: Verdict::Breaks,
            path: FieldPath::default(),
            change: "definition removed".to_owned(),
            reason: "its objects go with it".to_owned(),
            witness: Some(witness.into()),
            old_place: FieldPath::default(),
            new_place: FieldPath::default(),
        }
    }
}

/// All answers about a change.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The answers, by version and question.
    pub answers: Vec<Answer>,
}

impl Comparison {
    /// Returns the worst verdict.
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.answers.iter().map(|answer| answer.verdict);
        verdicts.max().unwrap_or(Verdict::Safe)
    }
}
