//! Folds lists and maps: the loops of macros.

use std::sync::Arc;

use super::entries::insert_new;
use super::machine::{Machine, Slot, caught};
use super::node::{Fold, Node};
use crate::language::functions::arithmetic;
use crate::language::value::{EvaluationError, List, Map, Outcome, Value};

impl<'a> Machine<'a, '_, '_> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Outcome<'a> {
        let range = self.node(&fold.range)?;
        if let Some(place) = self.slots.get_mut(fold.accumulator) {
            *place = Slot::Start(&fold.start);
        }
        match range {
            Value::List(list) => self.fold_list(fold, &list)?,
            Value::Map(map) => {
                self.meter.look(map.len() as u64)?;
                for (key, value) in map.entries() {
                    if !self.turn(fold, Ok(key), value, true)? {
                        break;
                    }
                }
            }
            other => {
                let found = other.go_type();
                return Err(EvaluationError::new(match fold.second {
                    Some(_) => format!("unsupported comprehension range type: {found}"),
                    None => format!("got '{found}', expected iterable type"),
                }));
            }
        }
        self.node(&fold.result)
    }

    fn fold_list(&mut self, fold: &'a Fold, list: &List<'a>) -> Outcome<'a, ()> {
        let mut position = 0;
        for part in list.parts() {
            for index in 0..part.len() {
                let Some(element) = part.get(index) else { break };
                if !self.turn(fold, Ok(Value::Int(position)), element, false)? {
                    return Ok(());
                }
                position = position.saturating_add(1);
            }
        }
        Ok(())
    }

    /// One turn of a loop; whether another may follow. With one variable that is the key of a map
    /// or the element of a list.
    fn turn(
        &mut self,
        fold: &'a Fold,
        key: Outcome<'a>,
        value: Outcome<'a>,
        is_map: bool,
    ) -> Outcome<'a, bool> {
        match fold.second {
            Some(second) => {
                self.set(fold.variable, key);
                self.set(second, value);
            }
            None => self.set(fold.variable, if is_map { key } else { value }),
        }
        if matches!(caught(self.truth(&fold.condition))?, Ok(false)) {
            return Ok(false);
        }
        let step = caught(self.node(&fold.step))?;
        self.set(fold.accumulator, step);
        Ok(true)
    }

    /// Costs what reading the map and inserting into it costs.
    pub(super) fn insert(&mut self, slot: usize, entries: &'a [Node]) -> Outcome<'a> {
        let accumulated = caught(self.slot(slot))?;
        self.charge(1)?;
        if entries.len() > 1 && accumulated.is_err() {
            return accumulated;
        }
        let mut values = Vec::with_capacity(entries.len());
        for node in entries {
            values.push(caught(self.node(node))?);
        }
        self.charge(1)?;
        // The map is changed in place, as it is read nowhere else.
        match accumulated? {
            Value::Map(map) => drop(map),
            _ => return Err(EvaluationError::NoSuchOverload),
        }
        let values: Vec<Value<'a>> = values.into_iter().collect::<Outcome<'a, _>>()?;
        let Some(Ok(Value::Map(Map::Values(mut map)))) = self.take(slot) else {
            return Err(EvaluationError::NoSuchOverload);
        };
        let into = Arc::make_mut(&mut map);
        match values.as_slice() {
            [key, value] => insert_new(into, key.clone(), value.clone())?,
            [Value::Map(map)] => {
                for (key, value) in map.entries() {
                    insert_new(into, key, value?)?;
                }
            }
            _ => return Err(EvaluationError::NoSuchOverload),
        }
        Ok(Value::Map(Map::Values(map)))
    }

    /// Costs what reading the list and adding to it costs.
    pub(super) fn append(&mut self, slot: usize, elements: &'a Node) -> Outcome<'a> {
        let accumulated = caught(self.slot(slot))?;
        self.charge(1)?;
        let added = caught(self.node(elements))?;
        self.charge(1)?;
        // The list is changed in place, as it is read nowhere else.
        drop(accumulated?);
        let added = added?;
        match (self.take(slot), added) {
            (Some(Ok(Value::List(List::Values(mut list)))), Value::List(added)) => {
                let values = Arc::make_mut(&mut list);
                for value in added.iter() {
                    values.push(value?);
                }
                Ok(Value::List(List::Values(list)))
            }
            (Some(Ok(list)), added) => arithmetic::add(&[list, added]),
            _ => Err(EvaluationError::NoSuchOverload),
        }
    }

    /// Takes the value of a variable.
    fn take(&mut self, slot: usize) -> Option<Outcome<'a>> {
        match std::mem::replace(self.slots.get_mut(slot)?, Slot::Unset) {
            Slot::Set(outcome) => Some(outcome),
            Slot::Unset | Slot::Start(_) => None,
        }
    }
}
