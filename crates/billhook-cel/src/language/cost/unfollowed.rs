//! The estimate of a server that does not follow sizes through the values that expressions make
//! (KV-50).

use std::sync::Arc;

use super::estimator::{Estimator, Facts, Place, Step};
use crate::language::ast::{Comprehension, Expr};
use crate::language::types::Type;

impl<'e> Estimator<'e> {
    /// Returns the cost of a comprehension. Its value is as large as its range, whatever it is, and
    /// its accumulator is a name like those of variables outside, except that of macros.
    pub(super) fn unfollowed_comprehension(
        &mut self,
        expr: &Expr,
        comprehension: &'e Comprehension,
    ) -> u64 {
        let Comprehension { range, start, variable, second, .. } = comprehension;
        let mut cost = self.cost(range).saturating_add(self.cost(start));
        let depth = self.locals.len();
        let place = self.facts(range).place;
        let first = match self.type_of(range) {
            Type::List(_) => self.step(place, Step::Elements),
            Type::Map(..) => self.step(place, Step::Keys),
            _ => Place::Nowhere,
        };
        self.declare_place(variable, first);
        if let Some(second) = second {
            self.declare_place(second, Place::Unknown);
        }
        let turn = self.cost(&comprehension.condition);
        let turn = turn.saturating_add(self.cost(&comprehension.step));
        self.locals.truncate(depth);
        cost = cost.saturating_add(self.cost(&comprehension.result));
        let rounds = self.size(range);
        self.note(expr, |facts| facts.size = Some(rounds));
        cost.saturating_add(rounds.max.saturating_mul(turn))
    }

    fn declare_place(&mut self, name: &Arc<str>, place: Place<'e>) {
        self.locals.push((Arc::clone(name), Facts { place, ..Facts::default() }));
    }
}
