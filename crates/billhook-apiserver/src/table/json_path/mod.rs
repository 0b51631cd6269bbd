//! The JSON paths of columns (DT-70).

mod evaluate;
mod parse;

use serde_json::Value;

/// A path: steps from a value to others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JsonPath(Vec<Step>);

impl JsonPath {
    /// Parses a path; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        parse::steps(text).map(JsonPath)
    }

    /// Returns the first value that the path leads to, if it leads anywhere.
    pub(super) fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        evaluate::all(&self.0, value)?.first().copied()
    }
}

/// A step, from a list of values to a list of values.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// To a member.
    Field(String),
    /// To some items of lists.
    Items(Slice),
    /// To all members or items.
    Wildcard,
    /// To all objects and lists inside, and the values themselves.
    Descend,
    /// To all values that one of several paths leads to.
    Union(Vec<Vec<Step>>),
    /// To the items that fulfil a condition.
    Filter(Box<Filter>),
}

/// Items of a list, by number; negative numbers count from the end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    step: Option<i64>,
    /// Whether it is one item: `to` follows `from`.
    is_single: bool,
}

/// A condition for items.
#[derive(Clone, Debug, PartialEq)]
enum Filter {
    Exists(Operand),
    Comparison(Operand, Operator, Operand),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// DT-70.
    #[test]
    fn paths_lead_to_values() {
        let value = json!({
            "l": ["a", "b", "c"], "k": "kk", "a.b": 1, "null": null, "empty": [],
            "o": [{"n": 1, "v": "x", "t": {"d": 1}}, {"n": 2, "v": "y"}, {"v": "z"}],
        });
        for (path, expected) in [
            (".k", json!("kk")),
            (".k.x", json!("nothing")),
            (".null", Value::Null),
            (".null.x", json!("nothing")),
            (".null[0]", json!("nothing")),
            (".none", json!("nothing")),
            (".l[0]", json!("a")),
            (".l[-1]", json!("c")),
            (".l[3]", json!("nothing")),
            (".l[1:]", json!("b")),
            (".l[0:2]", json!("a")),
            (".l[0:9]", json!("nothing")),
            (".l[::2]", json!("a")),
            (".l[2:1]", json!("nothing")),
            (".l[*]", json!("a")),
            (".l[2,0]", json!("c")),
            (".empty[0]", json!("nothing")),
            (".empty[*]", json!("nothing")),
            (".k[0]", json!("nothing")),
            ("['k']", json!("kk")),
            (".a\\.b", json!(1)),
            (".*", json!(1)),
            ("..v", json!("x")),
            ("..d", json!(1)),
            (".o[*].v", json!("x")),
            (".o[?(@.n>1)].v", json!("y")),
            (".o[?(@.n>=1)].v", json!("x")),
            (".o[?(@.n!=1)].v", json!("y")),
            (".o[?(@.v==\"z\")].v", json!("z")),
            (".o[?(@.v=='z')].v", json!("z")),
            (".o[?(@.t)].v", json!("x")),
            (".o[?(@.n==\"1\")].v", json!("nothing")),
            (".o[?(@.n<1.5)].v", json!("nothing")),
            (".k[?(@.n)]", json!("nothing")),
            ("$.k", json!("kk")),
        ] {
            let found = JsonPath::parse(path).unwrap_or_else(|| panic!("{path} is a path"));
            let found = found.first(&value).cloned();
            assert_eq!(found.unwrap_or_else(|| json!("nothing")), expected, "{path}");
        }
    }

    #[test]
    fn what_is_not_a_path() {
        let nested = "[?(@".repeat(5_000);
        for text in [".l[", ".l[x]", ".l[?(@.n", ".a....b", "}", ".o[?(@.n~1)", &nested] {
            assert_eq!(JsonPath::parse(text), None, "{text}");
        }
    }

    /// The work that a path makes has a limit.
    #[test]
    fn paths_do_not_explode() {
        let mut value = json!(1);
        for _ in 0..200 {
            value = json!([value, 1]);
        }
        let path = JsonPath::parse(&"..[*]".repeat(20));
        assert_eq!(path.and_then(|path| path.first(&value).cloned()), None);
    }
}
