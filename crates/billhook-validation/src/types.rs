//! The `type` and `format` of a node and the check of a value's kind (VV-02, VV-10 to VV-14).

use billhook_apimachinery::value::Num;
use serde_json::{Map, Value};

/// The types that a node names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum TypeList {
    /// Any type.
    #[default]
    Empty,
    /// The single type that is written.
    One(Box<str>),
    /// `x-kubernetes-int-or-string` (VV-02).
    IntegerOrString,
}

impl TypeList {
    pub(crate) fn is_empty(&self) -> bool {
        *self == TypeList::Empty
    }

    /// The type, if there is exactly one.
    pub(crate) fn single(&self) -> Option<&str> {
        match self {
            TypeList::One(name) => Some(name),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn contains(&self, kind: &str) -> bool {
        match self {
            TypeList::Empty => false,
            TypeList::One(name) => **name == *kind,
            TypeList::IntegerOrString => kind == "integer" || kind == "string",
        }
    }

    /// The types as error texts list them.
    pub(crate) fn names(&self) -> &str {
        match self {
            TypeList::Empty => "",
            TypeList::One(name) => name,
            TypeList::IntegerOrString => "integer,string",
        }
    }
}

/// A set of kinds of values; here integers are a kind and all other numbers another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const INT: Kinds = Kinds(1 << 2);
    pub(crate) const STRING: Kinds = Kinds(1 << 3);
    pub(crate) const ARRAY: Kinds = Kinds(1 << 4);
    pub(crate) const OBJECT: Kinds = Kinds(1 << 5);
    pub(crate) const FLOAT: Kinds = Kinds(1 << 6);

    pub(crate) const ALL: Kinds = Kinds(u8::MAX);

    /// Returns the kinds of which every value except null passes [`check`].
    pub(crate) fn accepted(types: &TypeList, format: &str) -> Self {
        // Where only whole numbers have the right type, this one does not.
        let fraction = Value::from(0.5);
        let values = [
            Value::Bool(false),
            Value::from(0),
            fraction,
            Value::from(""),
            Value::Array(Vec::new()),
            Value::Object(Map::new()),
        ];
        let accepted = values.iter().filter(|value| check(types, format, value).is_ok());
        Kinds(accepted.fold(0, |kinds, value| kinds | Kinds::of(value).0))
    }

    /// The kind of a value.
    #[inline(always)]
    pub(crate) fn of(value: &Value) -> Self {
        // Numbered in the order of the variants, which takes no jump.
        let number = match value {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            Value::String(_) => 3,
            Value::Array(_) => 4,
            Value::Object(_) => 5,
        };
        match value {
            Value::Number(number) if !number.is_i64() => Kinds::FLOAT,
            _ => Kinds(1 << number),
        }
    }

    /// Returns whether the sets have a kind in common.
    #[inline(always)]
    pub(crate) fn include(self, kinds: Kinds) -> bool {
        self.0 & kinds.0 != 0
    }

    /// The kinds in both sets.
    #[must_use]
    pub(crate) fn and(self, others: Kinds) -> Self {
        Kinds(self.0 & others.0)
    }

    /// The kinds in either set.
    #[must_use]
    pub(crate) fn or(self, others: Kinds) -> Self {
        Kinds(self.0 | others.0)
    }

    /// These kinds without others.
    #[must_use]
    pub(crate) fn without(self, others: Kinds) -> Self {
        Kinds(self.0 & !others.0)
    }
}

/// The JSON kind of a value, as schemas name it (VV-10).
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(number) => match Num::of(number) {
            Num::Int(_) => "integer",
            Num::Float(_) => "number",
        },
    }
}

/// The message about a value of the wrong type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// The expected format is named, and the kind of a number as the server stores it (VV-13).
    Format(&'static str),
    /// The expected types are named, and the kind of the value.
    Type(&'static str),
}

/// Checks the kind of a value that is not null (VV-10).
#[inline]
pub(crate) fn check(types: &TypeList, format: &str, value: &Value) -> Result<(), Mismatch> {
    if types.is_empty() && format.is_empty() {
        return Ok(());
    }
    let kind = kind(value);
    let fits = types.contains(kind) || number_fits(types, value);
    let is_text_or_list = matches!(value, Value::String(_) | Value::Array(_));
    if !format.is_empty() {
        let stored = stored_kind(value);
        if !is_text_or_list && !fits && stored != format {
            return Err(Mismatch::Format(stored));
        }
        if is_text_or_list && !types.contains("number") && !types.contains("integer") {
            return Ok(());
        }
    }
    if fits { Ok(()) } else { Err(Mismatch::Type(kind)) }
}

/// Whether a number is of a type that has another name than its kind.
fn number_fits(types: &TypeList, value: &Value) -> bool {
    let Value::Number(number) = value else { return false };
    match Num::of(number) {
        Num::Int(_) => types.contains("number"),
        Num::Float(float) => types.contains("integer") && is_whole(float),
    }
}

/// Returns the name of a value's kind beside a format (VV-13).
fn stored_kind(value: &Value) -> &'static str {
    match value {
        Value::Number(number) => match Num::of(number) {
            Num::Int(_) => "int64",
            Num::Float(_) => "float64",
        },
        _ => "",
    }
}

/// The largest double up to which all whole numbers are exact.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// Whether a double counts as an integer (VV-14): whole, or positive and next to nothing above
/// a whole number.
pub(crate) fn is_whole(float: f64) -> bool {
    if !float.is_finite() || float.abs() > MAX_EXACT {
        return false;
    }
    let whole = float.trunc();
    float == whole || (whole > 0.0 && (float - whole) / (float + whole) < 1e-9)
}
