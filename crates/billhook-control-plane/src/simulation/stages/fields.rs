//! The members of a document, each of which has to be known.

use serde_json::{Map, Value};

use super::StageError;

/// An object in a document, and where it is.
pub(super) struct Fields<'v> {
    members: &'v Map<String, Value>,
    path: String,
}

impl<'v> Fields<'v> {
    /// Reads an object, all of whose members have to be among some names.
    pub(super) fn read(value: &'v Value, path: &str, known: &[&str]) -> Result<Self, StageError> {
        let Some(members) = value.as_object() else {
            return Err(StageError::new(path, "is not an object"));
        };
        let fields = Fields { members, path: path.to_owned() };
        match members.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(StageError::new(&fields.at(name), "is not understood")),
            None => Ok(fields),
        }
    }

    /// Returns the path of a member.
    pub(super) fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Returns a member, unless it is absent or null.
    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Reads a member as an object.
    pub(super) fn object(&self, name: &str, known: &[&str]) -> Result<Option<Self>, StageError> {
        self.get(name).map(|value| Fields::read(value, &self.at(name), known)).transpose()
    }

    /// Reads the elements of a member, each as an object.
    pub(super) fn objects(&self, name: &str, known: &[&str]) -> Result<Vec<Self>, StageError> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let list = value.as_array();
        let list = list.ok_or_else(|| StageError::new(&self.at(name), "is not a list"))?;
        let path = |index: usize| format!("{}[{index}]", self.at(name));
        let read = |(index, value)| Fields::read(value, &path(index), known);
        list.iter().enumerate().map(read).collect()
    }

    /// Reads a member as a text.
    pub(super) fn text(&self, name: &str) -> Result<Option<&'v str>, StageError> {
        self.typed(name, "a text", Value::as_str)
    }

    /// Reads a member as a whole number that is not negative.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, StageError> {
        self.typed(name, "a whole number", Value::as_u64)
    }

    /// Reads a member as a truth value; false if it is absent.
    pub(super) fn is_set(&self, name: &str) -> Result<bool, StageError> {
        Ok(self.typed(name, "true or false", Value::as_bool)?.unwrap_or_default())
    }

    /// Reads a member as texts by name.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<(String, String)>, StageError> {
        let members = self.typed(name, "an object", Value::as_object)?.into_iter().flatten();
        let read = |(key, value): (&String, &Value)| {
            let text = value.as_str().map(|text| (key.clone(), text.to_owned()));
            text.ok_or_else(|| {
                StageError::new(&format!("{}.{key}", self.at(name)), "is not a text")
            })
        };
        members.map(read).collect()
    }

    fn typed<T>(
        &self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, StageError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let typed = read(value);
        let error = || StageError::new(&self.at(name), &format!("is not {wanted}"));
        typed.map(Some).ok_or_else(error)
    }

    /// Returns the error that a member is missing.
    pub(super) fn missing(&self, name: &str) -> StageError {
        StageError::new(&self.at(name), "is missing")
    }
}
