//! Limits of what rules may cost (CE-25).

use billhook_apimachinery::{FieldError, FieldPath};

/// For one expression.
pub(super) const EACH: u64 = 10_000_000;
/// For all of one schema.
const ALL: u64 = 100_000_000;
/// How many of the most expensive expressions are named when all are too expensive, and what they
/// cost at least.
const NAMED: usize = 4;
pub(super) const NAMED_FROM: u64 = ALL / 100;

/// The costs of the expressions of a schema.
#[derive(Debug, Default)]
pub(super) struct Total {
    cost: u64,
    /// The most expensive ones, beginning with the most expensive.
    largest: Vec<(u64, FieldPath)>,
}

impl Total {
    /// Adds an expression.
    pub(super) fn add(&mut self, cost: u64, path: impl FnOnce() -> FieldPath) {
        self.cost = self.cost.saturating_add(cost);
        if cost < NAMED_FROM {
            return;
        }
        let position = self.largest.partition_point(|(known, _)| *known >= cost);
        if position < NAMED {
            self.largest.insert(position, (cost, path()));
            self.largest.truncate(NAMED);
        }
    }

    /// Whether all together are too expensive.
    pub(super) fn is_too_much(&self) -> bool {
        self.cost > ALL
    }

    /// Returns the errors of all together; `base` is the path of the schema.
    pub(super) fn errors(self, base: &FieldPath) -> Vec<FieldError> {
        if !self.is_too_much() {
            return Vec::new();
        }
        let detail = "contributed to estimated rule cost total exceeding cost limit for entire \
                      OpenAPIv3 schema";
        let named = self.largest.into_iter().map(|(_, path)| FieldError::forbidden(path, detail));
        let mut errors: Vec<FieldError> = named.collect();
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(base.clone(), &excess(what, self.cost, ALL)));
        errors
    }
}

/// The text about something that is too expensive.
pub(super) fn excess(what: &str, cost: u64, limit: u64) -> String {
    let times = cost as f64 / limit as f64;
    let factor = if times > 100.0 {
        "more than 100x".to_owned()
    } else if times < 1.5 {
        format!("{times:.6}x")
    } else {
        format!("{times:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding \
         maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}
