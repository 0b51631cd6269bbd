//! Which objects a stage is for.

use serde_json::Value;

use super::StageError;
use super::fields::Fields;
use super::path::{Path, text_of};

/// The conditions that an object meets.
#[derive(Clone, Debug, Default)]
pub(super) struct Selector {
    /// Texts at paths.
    texts: Vec<(Path, String)>,
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug)]
struct Requirement {
    path: Path,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Selector {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, StageError> {
        let mut selector = Selector::default();
        for (name, members) in [("matchLabels", "labels"), ("matchAnnotations", "annotations")] {
            for (key, text) in fields.texts(name)? {
                let path = Path::parse(&format!(".metadata.{members}.[{key:?}]"));
                let path = path.map_err(|why| StageError::new(&fields.at(name), &why))?;
                selector.texts.push((path, text));
            }
        }
        let known = ["key", "operator", "values"];
        for requirement in fields.objects("matchExpressions", &known)? {
            selector.requirements.push(Requirement::read(&requirement)?);
        }
        Ok(selector)
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        let has = |(path, text): &(Path, String)| path.find(object).iter().any(|it| *it == text);
        self.texts.iter().all(has) && self.requirements.iter().all(|it| it.holds(object))
    }
}

impl Requirement {
    fn read(fields: &Fields<'_>) -> Result<Self, StageError> {
        let key = fields.text("key")?.ok_or_else(|| fields.missing("key"))?;
        let path = Path::parse(key).map_err(|why| StageError::new(&fields.at("key"), &why))?;
        let operator = match fields.text("operator")?.unwrap_or_default() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => {
                let why = "is not In, NotIn, Exists or DoesNotExist";
                return Err(StageError::new(&fields.at("operator"), why));
            }
        };
        let values = fields.get("values").and_then(Value::as_array).into_iter().flatten();
        Ok(Requirement { path, operator, values: values.map(text_of).collect() })
    }

    fn holds(&self, object: &Value) -> bool {
        let found = self.path.find(object);
        let is_among = || found.iter().any(|value| self.values.contains(&text_of(value)));
        match self.operator {
            Operator::In => is_among(),
            Operator::NotIn => !is_among(),
            Operator::Exists => !found.is_empty(),
            Operator::DoesNotExist => found.is_empty(),
        }
    }
}
