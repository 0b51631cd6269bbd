//! The functions of templates.

use serde_json::Value;

use super::Surroundings;
use super::value::{is_filled, text_of};

/// A function that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Now,
    Quote,
    NodeAddress,
    PodAddress,
    And,
    Or,
    Not,
    Equal,
    Unequal,
    Index,
    Length,
}

impl Function {
    /// Finds a function by its name.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "Now" => Function::Now,
            "Quote" => Function::Quote,
            "NodeIP" | "NodeIPWith" => Function::NodeAddress,
            "PodIP" | "PodIPWith" => Function::PodAddress,
            "and" => Function::And,
            "or" => Function::Or,
            "not" => Function::Not,
            "eq" => Function::Equal,
            "ne" => Function::Unequal,
            "index" => Function::Index,
            "len" => Function::Length,
            _ => return Err(format!("the function {name} is not understood")),
        })
    }

    /// Returns its value.
    pub(super) fn call<'a>(
        self,
        arguments: &'a [Value],
        surroundings: &Surroundings<'_>,
    ) -> Result<Value, String> {
        let first = || arguments.first().ok_or("a function misses its argument".to_owned());
        let choose = |is_wanted: fn(&Value) -> bool| {
            let chosen = arguments.iter().find(|it| is_wanted(it)).or(arguments.last());
            chosen.cloned().unwrap_or_default()
        };
        Ok(match self {
            Function::Now => surroundings.now.to_rfc3339().into(),
            Function::Quote => Value::from(text_of(first()?)).to_string().into(),
            Function::NodeAddress => surroundings.node_address.into(),
            // The second argument says whether the pod has the network of its node.
            Function::PodAddress if arguments.get(1).is_some_and(is_filled) => {
                surroundings.node_address.into()
            }
            Function::PodAddress => surroundings.pod_address.clone().into(),
            Function::And => choose(|value| !is_filled(value)),
            Function::Or => choose(is_filled),
            Function::Not => (!is_filled(first()?)).into(),
            Function::Equal => {
                arguments.iter().skip(1).any(|it| Some(it) == arguments.first()).into()
            }
            Function::Unequal => (arguments.first() != arguments.get(1)).into(),
            Function::Index => {
                let at = |value: &'a Value, key: &Value| {
                    let member = key.as_str().and_then(|name| value.get(name));
                    let index = key.as_u64().and_then(|index| usize::try_from(index).ok());
                    member.or(index.and_then(|index| value.get(index)))
                };
                let found = arguments.iter().skip(1).try_fold(first()?, at);
                found.cloned().unwrap_or_default()
            }
            Function::Length => match first()? {
                Value::Array(list) => list.len().into(),
                Value::Object(members) => members.len().into(),
                Value::String(text) => text.len().into(),
                _ => return Err("len of neither a list, an object nor a text".to_owned()),
            },
        })
    }
}
