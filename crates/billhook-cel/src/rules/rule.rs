//! A rule with its programs (CE-02, CE-20).

use billhook_schema::JsonSchemaProps;
use billhook_schema::json_path::{ArrayNotation, JsonPath};
use billhook_schema::props::ValidationRule;

use super::stored::RuleOptions;
use crate::language::program::{Environment, Program};
use crate::language::types::Type;

/// A program, or the server's text about why there is none.
pub(crate) type Compiled = Result<Program, String>;

/// A rule as it is checked and evaluated.
pub(crate) struct Rule {
    pub(crate) written: ValidationRule,
    /// None if the rule is empty: then it is not run.
    pub(crate) program: Option<Compiled>,
    /// None if there is none, and none for a rule without a program.
    pub(crate) message_expression: Option<Compiled>,
    /// The field path in normal form, if it leads anywhere (CE-15).
    pub(crate) field_path: Option<Box<str>>,
    /// Whether the rule mentions the old value (CE-40).
    pub(crate) uses_old: bool,
}

impl Rule {
    /// Compiles a rule of a node with values of a type.
    pub(super) fn new(
        written: &ValidationRule,
        schema: &JsonSchemaProps,
        self_type: Option<&Type>,
        options: RuleOptions<'_>,
    ) -> Rule {
        let mut rule = Rule {
            written: written.clone(),
            program: None,
            message_expression: None,
            field_path: None,
            uses_old: false,
        };
        let Some(self_type) = self_type else {
            let error = "unable to convert structural schema to CEL declarations".to_owned();
            rule.program = Some(Err(error));
            return rule;
        };
        if written.rule.trim().is_empty() {
            return rule;
        }
        let environment = Environment::of_rule(written, self_type.clone())
            .kubernetes(options.kubernetes)
            .libraries(options.rule(&written.rule))
            .patterns(options.patterns);
        let (program, uses_old) = RULE.compile(&environment, &written.rule);
        if program.is_ok() {
            let message = Some(written.message_expression.as_str()).filter(|text| !text.is_empty());
            rule.message_expression = message.map(|text| {
                let environment = environment.libraries(options.message_expression(text));
                MESSAGE.compile(&environment, text).0
            });
            let path = Some(written.field_path.as_str()).filter(|path| !path.is_empty());
            rule.field_path = path
                .and_then(|path| JsonPath::resolve(path, schema, ArrayNotation::Allowed).ok())
                .map(|path| path.normal.strip_prefix('.').unwrap_or(&path.normal).into());
        }
        rule.program = Some(program);
        rule.uses_old = uses_old;
        rule
    }
}

/// The two kinds of expressions of a rule, with the texts of their errors (CE-20).
struct Purpose {
    result: Type,
    not_compiled: &'static str,
    other_result: &'static str,
    not_instantiated: &'static str,
}

const RULE: Purpose = Purpose {
    result: Type::Bool,
    not_compiled: "compilation failed",
    other_result: "cel expression must evaluate to a bool",
    not_instantiated: "program instantiation failed",
};

const MESSAGE: Purpose = Purpose {
    result: Type::String,
    not_compiled: "messageExpression compilation failed",
    other_result: "messageExpression must evaluate to a string",
    not_instantiated: "messageExpression instantiation failed",
};

impl Purpose {
    /// Compiles an expression; also returns whether it mentions the old value, as far as its result
    /// is right.
    fn compile(&self, environment: &Environment, text: &str) -> (Compiled, bool) {
        let checked = match environment.check(text) {
            Ok(checked) => checked,
            Err(error) => return (Err(format!("{}: {error}", self.not_compiled)), false),
        };
        if *checked.result_type() != self.result {
            return (Err(self.other_result.to_owned()), false);
        }
        let uses_old = checked.mentions("oldSelf");
        let program = environment.plan(checked);
        (program.map_err(|error| format!("{}: {error}", self.not_instantiated)), uses_old)
    }
}
