//! ServiceCIDRs (BK-462).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::ip::{Range, canonical_range};
use crate::values::{items, path, text};
use crate::{cells, rules};

/// The rules of ranges of cluster IPs.
#[derive(Debug)]
pub(crate) struct ServiceCidr;

impl Behavior for ServiceCidr {
    fn takes_metadata(&self) -> bool {
        false
    }

    fn validate(
        &self,
        cidr: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if !context.subresource.is_empty() {
            return;
        }
        let ranges = items(cidr, "/spec/cidrs");
        match old {
            None => validate_ranges(ranges, &mut found.errors),
            Some(old) => validate_update(ranges, items(old, "/spec/cidrs"), &mut found.errors),
        }
    }

    fn cells(&self, cidr: &Value, now: Time) -> Vec<Value> {
        let ranges: Vec<&str> =
            items(cidr, "/spec/cidrs").iter().map(|range| text(range, "")).collect();
        vec![cells::name(cidr), cells::joined(&ranges, ""), cells::created(cidr, now)]
    }
}

fn validate_ranges(ranges: &[Value], errors: &mut Vec<FieldError>) {
    let path = path(&["spec", "cidrs"]);
    let mut refuse = |detail| {
        errors.push(FieldError::invalid(path.clone(), ranges.to_vec(), detail));
    };
    let is_v4 = |range: &Value| Range::parse(text(range, "")).map(|it| it.address.is_ipv4());
    match ranges {
        [] => {
            errors.push(FieldError::required(path, "at least one CIDR required"));
            return;
        }
        [_] => {}
        [first, second] => {
            if is_v4(first).is_some() && is_v4(first) == is_v4(second) {
                refuse(
                    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and \
                     2001:db8::/64",
                );
            }
        }
        _ => {
            refuse("may only hold up to 2 values");
            return;
        }
    }
    for (index, range) in ranges.iter().enumerate() {
        rules::named(errors, &path.clone().index(index), text(range, ""), canonical_range);
    }
}

/// The ranges stay, but a second one can be added.
fn validate_update(ranges: &[Value], old: &[Value], errors: &mut Vec<FieldError>) {
    let path = path(&["spec", "cidrs"]);
    let changed = ranges.iter().zip(old).enumerate().filter(|(_, (range, old))| range != old);
    for (index, (range, _)) in changed {
        let path = path.clone().index(index);
        errors.push(FieldError::invalid(path, range.clone(), rules::IMMUTABLE));
    }
    match (old.len(), ranges.len()) {
        (before, after) if before == after => {}
        (1, 2) => validate_ranges(ranges, errors),
        _ => errors.push(FieldError::invalid(path, ranges.to_vec(), rules::IMMUTABLE)),
    }
}
