//! The maximum cost of a call, and the size of its result (CE-25).

use super::estimator::Estimator;
use super::size::{Entries, Size, scale};
use crate::language::ast::{Expr, Kind, Literal};
use crate::language::functions::Overload;
use crate::language::functions::price::{NEW_LIST, PATTERN, TRAVERSAL};
use crate::language::types::Type;

/// The longest pattern of a format with a name, and the longest such name.
const FORMAT_PATTERN: u64 = 128;
const FORMAT_NAME: u64 = 64;
/// The bytes of an IP address.
const ADDRESS: Size = Size { min: 4, max: 16 };

/// A call of one overload.
pub(super) struct Call<'c, 'e> {
    pub(super) overload: &'static Overload,
    pub(super) target: Option<&'e Expr>,
    pub(super) arguments: &'e [Expr],
    /// The costs of the arguments.
    pub(super) costs: &'c [u64],
}

/// The estimate of a call; the cost excludes that of the target.
pub(super) struct Estimate {
    pub(super) cost: u64,
    pub(super) size: Option<Size>,
    pub(super) entries: Option<Entries>,
}

impl Estimate {
    fn of(cost: u64) -> Self {
        Estimate { cost, size: None, entries: None }
    }

    fn sized(cost: u64, size: Size) -> Self {
        Estimate { cost, size: Some(size), entries: None }
    }
}

impl<'e> Estimator<'e> {
    pub(super) fn call_cost(&self, call: &Call<'_, 'e>) -> Estimate {
        if let Some(short) = self.logic(call) {
            return short;
        }
        let own = self
            .list_call(call)
            .or_else(|| self.library_call(call))
            .or_else(|| self.standard_call(call))
            .unwrap_or(Estimate::of(1));
        let cost = call.costs.iter().fold(own.cost, |cost, part| cost.saturating_add(*part));
        Estimate { cost, ..own }
    }

    /// Estimates operators that do not evaluate all their arguments, or cost nothing themselves.
    fn logic(&self, call: &Call<'_, 'e>) -> Option<Estimate> {
        match (call.overload.function, call.arguments, call.costs) {
            ("_&&_" | "_||_", _, [left, right]) => Some(Estimate::of(left.saturating_add(*right))),
            ("_?_:_", [_, yes, no], [condition, yes_cost, no_cost]) => {
                let cost = condition.saturating_add(*yes_cost.max(no_cost));
                let size = self.size(yes).union(self.size(no));
                let entries = match (self.entries(yes), self.entries(no)) {
                    (Some(yes), Some(no)) => Some(yes.union(no)),
                    _ => None,
                };
                Some(Estimate { cost, size: Some(size), entries })
            }
            _ => None,
        }
    }

    /// The functions of sets, and those on lists that make lists.
    fn list_call(&self, call: &Call<'_, 'e>) -> Option<Estimate> {
        let makes =
            |each: f64, size: Size| Estimate::sized(size.cost(each).saturating_add(NEW_LIST), size);
        let sorts = |list: Size, factor: f64| {
            let type_ = call.overload.parameters.last();
            let is_text = matches!(
                type_,
                Some(Type::List(of)) if matches!(**of, Type::String | Type::Bytes)
            );
            makes(if is_text { factor + TRAVERSAL } else { factor }, list.times(list))
        };
        let estimate = match (call.overload.function, call.target, call.arguments) {
            ("sets.contains" | "sets.intersects", None, [left, right]) => {
                let pairs = self.size(left).times(self.size(right));
                Estimate::of(pairs.max.saturating_add(1))
            }
            ("sets.equivalent", None, [left, right]) => {
                let pairs = self.size(left).times(self.size(right));
                Estimate::of(pairs.cost(2.0).saturating_add(1))
            }
            ("lists.range", None, [end]) => {
                let end = int(end).map_or(u64::MAX, i64::cast_unsigned);
                makes(1.0, Size::fixed(end))
            }
            ("slice", Some(list), [start, end]) => {
                let end = int(end).map_or(self.size(list).max, i64::cast_unsigned);
                let start = int(start).map_or(0, i64::cast_unsigned);
                makes(1.0, Size::fixed(end.wrapping_sub(start)))
            }
            ("flatten", Some(list), depth) => {
                let depth = match depth {
                    [] => 1,
                    [depth, ..] => int(depth).map_or(u64::MAX, i64::cast_unsigned),
                };
                makes(depth as f64, self.size(list))
            }
            ("reverse", Some(list), []) if is_list(call) => makes(1.0, self.size(list)),
            ("distinct", Some(list), []) => {
                let size = self.size(list);
                makes(2.0, size.times(size))
            }
            ("sort", Some(list), []) => sorts(self.size(list), 2.0),
            ("@sortByAssociatedKeys", Some(_), [keys]) => sorts(self.size(keys), 2.0),
            _ => return None,
        };
        Some(estimate)
    }

    /// The other functions of Kubernetes' libraries.
    fn library_call(&self, call: &Call<'_, 'e>) -> Option<Estimate> {
        let estimate = match (call.overload.function, call.target, call.arguments) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(list), _) => {
                let size = self.size(list);
                match self.type_of(list) {
                    Type::List(of) => {
                        let each = match **of {
                            Type::String | Type::Bytes => {
                                1_u64.saturating_add(self.element_size(list).cost(TRAVERSAL))
                            }
                            _ => 1,
                        };
                        Estimate::of(size.max.saturating_mul(each))
                    }
                    _ => Estimate::of(size.cost(TRAVERSAL)),
                }
            }
            ("url", None, [text]) => {
                let size = self.size(text);
                Estimate::sized(size.cost(TRAVERSAL), size)
            }
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(text), _) => {
                let size = self.size(text);
                Estimate::sized(size.cost(TRAVERSAL), size)
            }
            ("replace", Some(text), [old, new, ..]) => {
                let size = self.size(text);
                let result = replaced(size, self.size(old), self.size(new));
                Estimate::sized(size.cost(2.0 * TRAVERSAL), result)
            }
            ("split", Some(text), arguments) => {
                let size = self.size(text);
                let most = arguments.get(1).and_then(int).map(i64::cast_unsigned);
                let parts = Size { min: 0, max: most.unwrap_or(size.max) };
                Estimate::sized(size.cost(2.0 * TRAVERSAL), parts)
            }
            ("join", Some(list), arguments) => {
                let count = self.size(list);
                let mut size = count.times(self.element_size(list));
                if let [separator, ..] = arguments {
                    let gaps =
                        Size { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
                    size = size.plus(self.size(separator).times(gaps));
                }
                Estimate::sized(size.cost(TRAVERSAL), size)
            }
            ("find" | "findAll", Some(text), [pattern, ..]) => {
                let found = Size { min: 0, max: self.size(text).max };
                Estimate::sized(self.matching(text, pattern), found)
            }
            ("isIP" | "isCIDR" | "ip" | "cidr", None, [text])
            | ("quantity" | "isQuantity" | "semver" | "isSemver", None, [text, ..]) => {
                Estimate::of(self.size(text).cost(TRAVERSAL))
            }
            ("ip.isCanonical", None, [text]) => Estimate::of(self.size(text).cost(2.0 * TRAVERSAL)),
            ("containsIP", Some(_), [inner]) => Estimate::of(self.compared_addresses(inner, 0)),
            ("containsCIDR", Some(_), [inner]) => {
                // The address is masked and compared once more.
                Estimate::of(self.compared_addresses(inner, ADDRESS.cost(TRAVERSAL) + 1))
            }
            ("validate", Some(_), [text]) => {
                let each = FORMAT_PATTERN as f64 * PATTERN;
                Estimate::of(scale(self.size(text).cost(TRAVERSAL), each))
            }
            ("_==_", None, [left, right]) => return self.equal_opaque(left, right),
            _ => return None,
        };
        Some(estimate)
    }

    /// Values of libraries are compared by their own rules.
    fn equal_opaque(&self, left: &Expr, right: &Expr) -> Option<Estimate> {
        let (Type::Opaque(left_name), Type::Opaque(right_name)) =
            (self.type_of(left), self.type_of(right))
        else {
            return None;
        };
        let cost = match (*left_name, *right_name) {
            (left, right) if left != right => return None,
            ("net.IP" | "net.CIDR", _) => ADDRESS.plus(ADDRESS).cost(TRAVERSAL),
            ("kubernetes.NamedFormat", _) => Size::fixed(FORMAT_NAME).cost(TRAVERSAL),
            ("kubernetes.URL", _) => {
                let sizes = self.known_size(left).zip(self.known_size(right));
                let size = sizes.map_or(Size::fixed(1), |(left, right)| left.union(right));
                size.cost(TRAVERSAL)
            }
            _ => 1,
        };
        Some(Estimate::of(cost))
    }

    /// Estimates the functions of CEL itself.
    fn standard_call(&self, call: &Call<'_, 'e>) -> Option<Estimate> {
        let parameters = call.overload.parameters.as_slice();
        let estimate = match (call.overload.function, call.target, call.arguments) {
            ("format", Some(text), _) => Estimate::of(self.size(text).cost(TRAVERSAL)),
            ("bytes", None, [text]) if parameters == [Type::String] => {
                let size = self.size(text);
                let bytes = Size { min: size.min, max: size.max.saturating_mul(4) };
                Estimate::sized(size.cost(TRAVERSAL), bytes)
            }
            ("string", None, [bytes]) if parameters == [Type::Bytes] => {
                let size = self.size(bytes);
                let text = Size { min: size.min / 4, max: size.max };
                Estimate::sized(size.cost(TRAVERSAL), text)
            }
            ("strings.quote", None, [text]) => {
                let size = self.size(text);
                let quotes = Size::fixed(2);
                let quoted = Size { max: size.max.saturating_mul(2), ..size }.plus(quotes);
                Estimate::sized(size.cost(TRAVERSAL), quoted)
            }
            ("startsWith" | "endsWith", Some(_), [part]) => {
                Estimate::of(self.size(part).cost(TRAVERSAL))
            }
            ("@in", None, [_, list]) if matches!(parameters, [_, Type::List(_)]) => {
                Estimate::of(self.size(list).max)
            }
            ("matches", Some(text), [pattern]) => Estimate::of(self.matching(text, pattern)),
            ("contains", Some(text), [part]) => {
                let (text, part) = (self.size(text), self.size(part));
                Estimate::of(text.cost(TRAVERSAL).saturating_mul(part.cost(TRAVERSAL)))
            }
            ("_+_", None, [left, right]) => {
                let size = self.size(left).plus(self.size(right));
                match parameters {
                    [Type::String | Type::Bytes, _] => Estimate::sized(size.cost(TRAVERSAL), size),
                    [Type::List(_), _] => {
                        let entries = match (self.entries(left), self.entries(right)) {
                            (Some(left), Some(right)) => Some(left.union(right)),
                            _ => None,
                        };
                        Estimate { cost: 1, size: Some(size), entries }
                    }
                    _ => return None,
                }
            }
            ("_<_" | "_<=_" | "_>_" | "_>=_", None, [left, right])
                if matches!(parameters, [Type::String | Type::Bytes, _]) =>
            {
                Estimate::of(self.compared(left, right))
            }
            ("_==_" | "_!=_", None, [left, right]) => Estimate::of(self.compared(left, right)),
            _ => return None,
        };
        Some(estimate)
    }

    /// Two values are compared until the shorter one ends.
    fn compared(&self, left: &Expr, right: &Expr) -> u64 {
        Size::fixed(self.size(left).max.min(self.size(right).max)).cost(TRAVERSAL)
    }

    /// Matching is never free, not even an empty text.
    fn matching(&self, text: &Expr, pattern: &Expr) -> u64 {
        let text = self.size(text).plus(Size::fixed(1)).cost(TRAVERSAL);
        text.saturating_mul(self.size(pattern).cost(PATTERN))
    }

    /// Addresses are compared; one that is text is read first.
    fn compared_addresses(&self, inner: &Expr, more: u64) -> u64 {
        let mut cost = ADDRESS.plus(ADDRESS).cost(TRAVERSAL) + more;
        if *self.type_of(inner).unwrapped() == Type::String {
            cost = cost.saturating_add(self.size(inner).cost(TRAVERSAL));
        }
        cost
    }
}

fn is_list(call: &Call<'_, '_>) -> bool {
    matches!(call.overload.parameters.first(), Some(Type::List(_)))
}

fn int(expr: &Expr) -> Option<i64> {
    match expr.kind {
        Kind::Literal(Literal::Int(int)) => Some(int),
        _ => None,
    }
}

/// The size of a text with parts of it replaced.
fn replaced(text: Size, old: Size, new: Size) -> Size {
    // The maximum number of replacements, and the size of the kept text.
    let (most, kept_at_most) = if old.min == 0 {
        // Something stands around each character.
        (text.max.saturating_add(1), text.max)
    } else if new.max <= old.min {
        (0, text.max)
    } else {
        (ratio(text.max, old.min), 0)
    };
    let (fewest, kept_at_least) = if old.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if old.max <= new.min {
        (0, text.min)
    } else {
        (ratio(text.min, old.max), 0)
    };
    let times = Size { min: fewest, max: most };
    times.times(new).plus(Size { min: kept_at_least, max: kept_at_most })
}

fn ratio(dividend: u64, divisor: u64) -> u64 {
    (dividend as f64 / divisor as f64).ceil() as u64
}
