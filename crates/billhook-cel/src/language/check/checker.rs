//! The walk that finds the type of each node.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::checked::Reference;
use super::shown::Shown;
use super::solver::{BOOL, DYN, Parameters, Solver, Ty};
use crate::language::ast::{Comprehension, Entry, Expr, Field, Kind, Literal};
use crate::language::availability::Language;
use crate::language::functions::{self, Functions, Overload};
use crate::language::messages::{self, Message};
use crate::language::objects;
use crate::language::schema::names;
use crate::language::source::{CompileError, Issues, Source};
use crate::language::types::{ObjectType, Type};

pub(super) struct Checker<'c> {
    variables: &'c BTreeMap<Arc<str>, Type>,
    functions: Functions,
    language: Language,
    shown: Shown<'c>,
    /// The variables of comprehensions, the innermost last.
    scope: Vec<(Arc<str>, Ty)>,
    solver: Solver,
    issues: Issues,
    /// By the numbers of the nodes.
    types: Vec<Ty>,
    references: Vec<Reference>,
    /// The parameters of an overload; empty between calls.
    expected: Vec<Ty>,
}

/// The meaning of a name.
enum Named {
    Variable(Ty),
    Type(Type),
    Constant(i64),
}

impl<'c> Checker<'c> {
    /// Returns a checker of an expression with so many nodes.
    pub(super) fn new(
        variables: &'c BTreeMap<Arc<str>, Type>,
        language: Language,
        shown: Shown<'c>,
        nodes: usize,
    ) -> Self {
        Checker {
            variables,
            functions: Functions::of(language),
            language,
            shown,
            scope: Vec::new(),
            solver: Solver::new(),
            issues: Issues::default(),
            types: vec![DYN; nodes],
            references: vec![Reference::None; nodes],
            expected: Vec::new(),
        }
    }

    /// The types and references of all nodes, if nothing is wrong.
    pub(super) fn finish(
        mut self,
        source: &Source<'_>,
    ) -> Result<(Vec<Type>, Vec<Reference>), CompileError> {
        let mut types = Vec::with_capacity(self.types.len());
        for of in &self.types {
            types.push(self.solver.known(of));
        }
        if self.solver.is_exhausted() {
            self.issues.report_whole("expression is too complex to be checked");
        }
        self.issues.into_result(source)?;
        Ok((types, self.references))
    }

    fn set_type(&mut self, expr: &Expr, of: Ty) {
        if let Some(place) = self.types.get_mut(expr.id) {
            *place = of;
        }
    }

    fn type_of(&self, expr: &Expr) -> Ty {
        self.types.get(expr.id).cloned().unwrap_or(DYN)
    }

    fn refer(&mut self, id: usize, to: Reference) {
        if let Some(place) = self.references.get_mut(id) {
            *place = to;
        }
    }

    fn mismatch(&mut self, at: usize, expected: &Ty, found: &Ty) {
        let expected = self.solver.resolve(expected);
        let found = self.solver.resolve(found);
        let (expected, found) = (self.shown.print(&expected), self.shown.print(&found));
        self.issues.report(at, format!("expected type '{expected}' but found '{found}'"));
    }

    fn undeclared(&mut self, at: usize, name: &str) -> Ty {
        self.issues.report(at, format!("undeclared reference to '{name}' (in container '')"));
        Ty::Error
    }

    /// Checks a node and everything below it.
    pub(super) fn check(&mut self, expr: &mut Expr) {
        if self.solver.is_exhausted() {
            return;
        }
        let of = grow(|| self.check_kind(expr));
        self.set_type(expr, of);
    }

    fn checked(&mut self, expr: &mut Expr) -> Ty {
        self.check(expr);
        self.type_of(expr)
    }

    fn check_kind(&mut self, expr: &mut Expr) -> Ty {
        match &mut expr.kind {
            Kind::Literal(value) => Ty::Simple(literal_type(value)),
            Kind::Ident(name) => {
                let name = Arc::clone(name);
                self.name(expr, &name).unwrap_or_else(|| self.undeclared(expr.at, &name))
            }
            Kind::Select { operand, field, test } => {
                let (field, test) = (Arc::clone(field), *test);
                if !test
                    && self.may_spell_name(operand)
                    && let Some(qualified) = qualified(operand)
                {
                    let name = format!("{qualified}.{field}").into();
                    if let Some(of) = self.name(expr, &name) {
                        return of;
                    }
                }
                let Kind::Select { operand, .. } = &mut expr.kind else { return Ty::Error };
                let of = self.field(expr.at, operand, &field, false);
                if test { BOOL } else { of }
            }
            Kind::Call { .. } => self.call(expr),
            Kind::List(elements) => {
                let mut of = None;
                for (element, optional) in elements {
                    of = Some(self.item(of, element, *optional));
                }
                of.unwrap_or_else(|| self.solver.unknown()).list()
            }
            Kind::Map(entries) => {
                let (mut keys, mut values) = (None, None);
                for Entry { key, value, optional } in entries {
                    keys = Some(self.item(keys, key, false));
                    values = Some(self.item(values, value, *optional));
                }
                let keys = keys.unwrap_or_else(|| self.solver.unknown());
                let values = values.unwrap_or_else(|| self.solver.unknown());
                Ty::Map(keys.into(), values.into())
            }
            Kind::Struct { name, fields } => {
                let full_name = without_dot(name);
                let of = self.message(expr.at, name, &full_name);
                let made = objects::type_named(&full_name, self.language);
                for field in fields {
                    match &made {
                        Some(Type::Object(object)) => self.object_field(object, field),
                        _ => self.message_field(Message::named(&full_name), field),
                    }
                }
                *name = full_name;
                of
            }
            Kind::Comprehension(folded) => self.comprehension(folded),
        }
    }

    /// The type of a name, which the node then refers to.
    fn name(&mut self, expr: &Expr, name: &Arc<str>) -> Option<Ty> {
        let name = without_dot(name);
        Some(match self.named(&name)? {
            Named::Variable(of) => {
                self.refer(expr.id, Reference::Variable(name));
                of
            }
            Named::Type(of) => {
                self.refer(expr.id, Reference::Type(name));
                Ty::Type(self.solver.instance(&of, &mut Parameters::new()).into())
            }
            Named::Constant(value) => {
                self.refer(expr.id, Reference::Constant(value));
                Ty::Simple(Type::Int)
            }
        })
    }

    /// Returns the meaning of a name. Inner variables hide outer ones.
    fn named(&mut self, name: &str) -> Option<Named> {
        if let Some((_, of)) = self.scope.iter().rev().find(|(known, _)| **known == *name) {
            return Some(Named::Variable(of.clone()));
        }
        if let Some(of) = self.variables.get(name) {
            return Some(Named::Variable(self.solver.instance(of, &mut Parameters::new())));
        }
        if let Some(value) = messages::constant(name) {
            return Some(Named::Constant(value));
        }
        type_named(name)
            .or_else(|| objects::type_named(name, self.language))
            .or_else(|| self.functions.opaque_named(name))
            .map(Named::Type)
    }

    /// Returns whether a chain of selections may be the name of something: whether there are names
    /// with dots that begin as it does.
    fn may_spell_name(&self, chain: &Expr) -> bool {
        let Some(root) = root(chain) else { return false };
        let begins_so =
            |name: &Arc<str>| name.strip_prefix(root).is_some_and(|rest| rest.starts_with('.'));
        functions::is_namespace(root)
            || matches!(root, messages::NAMESPACE | objects::OBJECT)
            || self.variables.keys().any(begins_so)
    }

    /// The type of a field of an operand.
    fn field(&mut self, at: usize, operand: &mut Expr, field: &str, optional: bool) -> Ty {
        let of = self.checked(operand);
        let of = self.solver.resolve(&of);
        let (of, was_optional) = match of {
            Ty::Optional(of) => ((*of).clone(), true),
            of => (of, false),
        };
        let result = match &of {
            Ty::Map(_, value) => (**value).clone(),
            Ty::Simple(Type::Object(object)) => match names::field_type(object, field) {
                Some(of) => self.solver.instance(of, &mut Parameters::new()),
                None => {
                    self.issues.report(at, format!("undefined field '{field}'"));
                    Ty::Error
                }
            },
            Ty::Unknown(_) => {
                self.solver.assignable(&DYN, &of);
                DYN
            }
            of => {
                if !of.is_dyn_or_error() {
                    let of = self.shown.print(of);
                    let text = format!("type '{of}' does not support field selection");
                    self.issues.report(at, text);
                }
                DYN
            }
        };
        if optional || was_optional { result.optional() } else { result }
    }

    /// The type of a message that is made.
    fn message(&mut self, at: usize, name: &str, full_name: &str) -> Ty {
        let wanted = match self.named(full_name) {
            None => return self.undeclared(at, name),
            Some(Named::Variable(_) | Named::Constant(_)) => "type",
            Some(Named::Type(of))
                if Message::named(full_name).is_some() || matches!(of, Type::Object(_)) =>
            {
                return self.solver.instance(&of, &mut Parameters::new());
            }
            Some(Named::Type(_)) => "message type",
        };
        self.issues.report(at, format!("'{full_name}' is not a {wanted}"));
        Ty::Error
    }

    fn message_field(&mut self, message: Option<Message>, field: &mut Field) {
        let found = self.checked_item(&mut field.value, field.optional);
        let Some(message) = message else { return };
        match message.field(&field.name) {
            Some(expected) => self.expect_field(field, Some(&expected), &found),
            None => self.issues.report(field.at, format!("undefined field '{}'", field.name)),
        }
    }

    /// A field that the type does not have is one without a type (PO-12).
    fn object_field(&mut self, object: &ObjectType, field: &mut Field) {
        let found = self.checked_item(&mut field.value, field.optional);
        self.expect_field(field, names::field_type(object, &field.name), &found);
    }

    fn expect_field(&mut self, field: &Field, expected: Option<&Type>, found: &Ty) {
        let expected = expected.map(|of| self.solver.instance(of, &mut Parameters::new()));
        let fits = match &expected {
            Some(expected) => self.solver.assignable(expected, found),
            None => self.solver.resolve(found).is_dyn_or_error(),
        };
        if !fits {
            let found = self.shown.print(&self.solver.resolve(found));
            let expected = expected.map(|expected| self.shown.print(&expected)).unwrap_or_default();
            let text = format!(
                "expected type of field '{}' is '{expected}' but provided type is '{found}'",
                field.name
            );
            self.issues.report(field.at, text);
        }
    }

    /// Returns the type of an element or a field; of the value in it if it is optional.
    fn checked_item(&mut self, item: &mut Expr, optional: bool) -> Ty {
        let of = self.checked(item);
        if optional {
            match self.solver.resolve(&of) {
                Ty::Optional(inner) => return (*inner).clone(),
                other if other.is_dyn_or_error() => {}
                other => self.mismatch(item.at, &other.clone().optional(), &other),
            }
        }
        of
    }

    /// The type of the elements of a literal so far, with one more.
    fn item(&mut self, before: Option<Ty>, item: &mut Expr, optional: bool) -> Ty {
        let of = self.checked_item(item, optional);
        match before {
            None => of,
            Some(before) if self.solver.assignable(&before, &of) => {
                self.solver.most_general(&before, &of)
            }
            Some(_) => DYN,
        }
    }

    fn call(&mut self, expr: &mut Expr) -> Ty {
        let (id, at) = (expr.id, expr.at);
        let Kind::Call { function, target, arguments } = &mut expr.kind else { return Ty::Error };
        if **function == *"_?._"
            && let [operand, Expr { kind: Kind::Literal(Literal::String(field)), .. }] =
                arguments.as_mut_slice()
        {
            let field = Arc::clone(field);
            let of = self.field(at, operand, &field, true);
            let overloads = self.functions.named("_?._").collect();
            self.refer(id, Reference::Overloads(overloads));
            return self.solver.resolve(&of);
        }
        let mut types = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments.iter_mut() {
            types.push(self.checked(argument));
        }
        if let Some(receiver) = target {
            let full_name = (self.may_spell_name(receiver))
                .then(|| qualified(receiver))
                .flatten()
                .map(|prefix| without_dot(&format!("{prefix}.{function}").into()))
                .filter(|name| self.functions.has_any(name));
            match full_name {
                Some(name) => {
                    *function = name;
                    *target = None;
                }
                None => types.insert(0, self.checked(receiver)),
            }
        } else {
            *function = without_dot(function);
        }
        if matches!(&**function, "_&&_" | "_||_") {
            for (argument, of) in arguments.iter().zip(&types) {
                if !self.solver.assignable(of, &BOOL) {
                    self.mismatch(argument.at, &BOOL, of);
                }
            }
            types = vec![BOOL; types.len()];
        }
        let (function, is_method) = (Arc::clone(function), target.is_some());
        match self.overloads(&function, is_method, &types) {
            Some((overloads, result)) => {
                self.refer(id, Reference::Overloads(overloads));
                result
            }
            None if !self.functions.has_any(&function) => self.undeclared(at, &function),
            None => {
                let text = self.no_overload(&function, is_method, &types);
                self.issues.report(at, text);
                Ty::Error
            }
        }
    }

    /// The overloads that take arguments of some types, and the type of their result.
    fn overloads(
        &mut self,
        function: &str,
        is_method: bool,
        types: &[Ty],
    ) -> Option<(Arc<[&'static Overload]>, Ty)> {
        let mut fitting = Vec::new();
        let mut result: Option<Ty> = None;
        for overload in self.functions.named(function) {
            if overload.is_method != is_method
                || overload.parameters.len() != types.len()
                || overload.parameters.iter().zip(types).any(|(of, found)| is_apart(of, found))
            {
                continue;
            }
            let mut parameters = Parameters::new();
            for of in &overload.parameters {
                self.expected.push(self.solver.instance(of, &mut parameters));
            }
            let fits = self.solver.all_assignable(types, &self.expected);
            self.expected.clear();
            if !fits {
                continue;
            }
            fitting.push(overload);
            let of = self.solver.instance(&overload.result, &mut parameters);
            let of = self.solver.resolve(&of);
            result = Some(match result {
                None => of,
                Some(before) if before.is_dyn() || self.solver.is_same(&of, &before) => before,
                Some(_) => DYN,
            });
        }
        result.map(|result| (fitting.into(), result))
    }

    fn no_overload(&mut self, function: &str, is_method: bool, types: &[Ty]) -> String {
        let types = types.iter().map(|of| self.shown.print(&self.solver.resolve_to_dyn(of)));
        let types: Vec<String> = types.collect();
        let mut text = format!("found no matching overload for '{function}' applied to '");
        let arguments = match types.split_first().filter(|_| is_method) {
            Some((receiver, arguments)) => {
                text += &format!("{receiver}.");
                arguments
            }
            None => &types,
        };
        for (index, of) in arguments.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}{of}", if index == 0 { "(" } else { ", " });
        }
        text + if arguments.is_empty() { "()'" } else { ")'" }
    }

    fn comprehension(&mut self, folded: &mut Comprehension) -> Ty {
        let range = self.checked(&mut folded.range);
        let range = self.solver.resolve(&range);
        let accumulated = self.checked(&mut folded.start);
        let outer = self.scope.len();
        self.scope.push((Arc::clone(&folded.accumulator), accumulated.clone()));
        let has_second = folded.second.is_some();
        let (first, second) = match &range {
            Ty::List(of) if has_second => (Ty::Simple(Type::Int), (**of).clone()),
            Ty::List(of) => ((**of).clone(), DYN),
            Ty::Map(key, value) => ((**key).clone(), (**value).clone()),
            Ty::Simple(Type::Dyn) | Ty::Error | Ty::Unknown(_) => {
                self.solver.assignable(&DYN, &range);
                (DYN, DYN)
            }
            other => {
                let of = self.shown.print(other);
                let text = format!(
                    "expression of type '{of}' cannot be range of a comprehension (must be \
                     list, map, or dynamic)"
                );
                self.issues.report(folded.range.at, text);
                (Ty::Error, Ty::Error)
            }
        };
        let inner = self.scope.len();
        self.scope.push((Arc::clone(&folded.variable), first));
        if let Some(name) = &folded.second {
            self.scope.push((Arc::clone(name), second));
        }
        self.expect(&mut folded.condition, &BOOL);
        self.expect(&mut folded.step, &accumulated);
        self.scope.truncate(inner);
        let result = self.checked(&mut folded.result);
        self.scope.truncate(outer);
        self.solver.resolve(&result)
    }

    /// Checks an expression that has to be of a type.
    fn expect(&mut self, expr: &mut Expr, expected: &Ty) {
        let found = self.checked(expr);
        if !self.solver.assignable(expected, &found) {
            self.mismatch(expr.at, expected, &found);
        }
    }
}

/// Returns whether it needs no solver to see that a value of a type is not one of another: both are
/// plain and differ.
fn is_apart(expected: &Type, found: &Ty) -> bool {
    use Type::{Bool, Bytes, Double, Int, String, Uint};
    let is_plain = |of: &Type| matches!(of, Bool | Bytes | Double | Int | String | Uint);
    match found {
        Ty::Simple(found) => is_plain(expected) && is_plain(found) && expected != found,
        Ty::List(_) | Ty::Map(..) => is_plain(expected),
        _ => false,
    }
}

/// The name that a chain of selections begins with.
fn root(mut operand: &Expr) -> Option<&str> {
    loop {
        match &operand.kind {
            Kind::Ident(name) => return Some(name.strip_prefix('.').unwrap_or(name)),
            Kind::Select { operand: inner, test: false, .. } => operand = inner,
            _ => return None,
        }
    }
}

/// The name that a chain of selections spells.
fn qualified(expr: &Expr) -> Option<String> {
    let mut fields = Vec::new();
    let mut operand = expr;
    loop {
        match &operand.kind {
            Kind::Ident(name) => {
                fields.push(&**name);
                fields.reverse();
                return Some(fields.join("."));
            }
            Kind::Select { operand: inner, field, test: false } => {
                fields.push(field);
                operand = inner;
            }
            _ => return None,
        }
    }
}

/// Returns a name without the leading dot that marks a full name.
fn without_dot(name: &Arc<str>) -> Arc<str> {
    match name.strip_prefix('.') {
        Some(rest) => rest.into(),
        None => Arc::clone(name),
    }
}

fn literal_type(value: &Literal) -> Type {
    match value {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

/// The types whose names can be used as values.
fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "string" => Type::String,
        "null_type" => Type::Null,
        "list" => Type::Dyn.list(),
        "map" => Type::Map(Type::Dyn.into(), Type::Dyn.into()),
        "type" => Type::Type(Type::Dyn.into()),
        "optional_type" => Type::Dyn.optional(),
        _ => return Message::named(name).map(Message::type_),
    })
}
