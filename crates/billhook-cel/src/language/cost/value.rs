//! The known facts about the value of an expression as a schema.

use super::estimator::{Estimator, Place};
use super::size::Size;
use crate::language::ast::Expr;
use crate::language::schema::{Bounds, SchemaType};
use crate::language::types::Type;

impl<'e> Estimator<'e> {
    /// Returns a schema of the value of an expression, if something is known of it.
    pub(super) fn value(&self, expr: &'e Expr) -> Option<SchemaType> {
        if let Place::At(schema) = self.facts(expr).place {
            return Some(schema.clone());
        }
        let type_ = self.type_of(expr);
        let mut schema = match type_ {
            Type::Bool => {
                let result = self.verdict(expr)?;
                return Some(SchemaType::BOOL.bounded(Bounds::exactly(result.into())));
            }
            Type::Int | Type::Double => {
                let schema = of_type(type_, None);
                return Some(schema.bounded(self.values(expr)?.bounds()));
            }
            Type::List(of) => SchemaType::list(self.element(expr, of)),
            Type::Map(_, of) => SchemaType::map(self.element(expr, of)),
            other => of_type(other, None),
        };
        schema.max = Some(self.known_size(expr)?.max);
        match self.values(expr) {
            Some(values) => Some(schema.bounded(values.bounds())),
            None => Some(schema),
        }
    }

    /// A schema of the elements of a list or a map that an expression makes.
    fn element(&self, expr: &Expr, of: &Type) -> SchemaType {
        of_type(of, self.entries(expr).map(|entries| entries.value))
    }
}

fn of_type(type_: &Type, size: Option<Size>) -> SchemaType {
    let mut schema = match type_ {
        Type::String => SchemaType::STRING,
        Type::Bool => SchemaType::BOOL,
        Type::Int => SchemaType::INT,
        Type::Double => SchemaType::DOUBLE,
        _ => SchemaType::ANY,
    };
    schema.max = size.map(|size| size.max);
    schema
}
