//! Rules as they are compiled.

use billhook_schema::JsonSchemaProps;
use billhook_schema::json_path::{ArrayNotation, JsonPath};
use billhook_schema::props::ValidationRule;

use crate::language::program::{Environment, Program};
use crate::language::schema::SchemaType;
use crate::language::types::Type;

/// A rule with its programs.
pub(super) struct Rule {
    /// None if the rule is empty: then it is not run. An error is the server's text.
    pub(super) program: Option<Result<Program, String>>,
    /// None if there is none that can be used.
    pub(super) message_expression: Option<Program>,
    pub(super) written: ValidationRule,
    /// The field path in normal form, if it leads anywhere (CE-15).
    pub(super) field_path: Option<Box<str>>,
    /// Whether the rule mentions the old value (CE-40).
    pub(super) uses_old: bool,
}

impl Rule {
    pub(super) fn compile_all(
        written: &[ValidationRule],
        schema: &JsonSchemaProps,
        schema_type: Option<&SchemaType>,
    ) -> Vec<Rule> {
        let Some(schema_type) = schema_type else {
            return written.iter().map(Rule::untyped).collect();
        };
        let self_type = schema_type.to_type();
        written.iter().map(|rule| Rule::compile(rule, schema, &self_type)).collect()
    }

    fn untyped(written: &ValidationRule) -> Rule {
        let error = "unable to convert structural schema to CEL declarations".to_owned();
        Rule {
            program: Some(Err(error)),
            message_expression: None,
            written: written.clone(),
            field_path: None,
            uses_old: false,
        }
    }

    fn compile(written: &ValidationRule, schema: &JsonSchemaProps, self_type: &Type) -> Rule {
        let environment = Environment::of_rule(written, self_type.clone());
        let compile = |text: &str| environment.compile(text).map_err(|error| error.detail());
        let is_empty = written.rule.trim().is_empty();
        let program = (!is_empty).then(|| {
            let program = compile(&written.rule)?;
            match program.result_type() {
                Type::Bool => Ok(program),
                _ => Err("cel expression must evaluate to a bool".to_owned()),
            }
        });
        let message = Some(written.message_expression.as_str()).filter(|text| !text.is_empty());
        let message_expression = message
            .and_then(|text| compile(text).ok())
            .filter(|program| *program.result_type() == Type::String);
        let uses_old = match &program {
            Some(Ok(program)) => program.uses("oldSelf"),
            _ => false,
        };
        let field_path = Some(written.field_path.as_str()).filter(|path| !path.is_empty());
        let field_path = field_path
            .and_then(|path| JsonPath::resolve(path, schema, ArrayNotation::Allowed).ok())
            .map(|path| path.normal.strip_prefix('.').unwrap_or(&path.normal).into());
        Rule { program, message_expression, written: written.clone(), field_path, uses_old }
    }
}
