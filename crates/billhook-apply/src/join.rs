//! Walking two sorted sequences together.

use std::cmp::Ordering;
use std::iter::Peekable;

/// An entry of one of two sequences, or one of each with the same key.
pub(crate) enum Pair<L, R> {
    Left(L),
    Right(R),
    Both(L, R),
}

impl<L, R> Pair<L, R> {
    pub(crate) fn into_sides(self) -> (Option<L>, Option<R>) {
        match self {
            Pair::Left(left) => (Some(left), None),
            Pair::Right(right) => (None, Some(right)),
            Pair::Both(left, right) => (Some(left), Some(right)),
        }
    }
}

/// Pairs the entries of two sequences that are sorted by the same keys.
pub(crate) fn join<L: Iterator, R: Iterator>(
    left: L,
    right: R,
    compare: impl Fn(&L::Item, &R::Item) -> Ordering,
) -> impl Iterator<Item = Pair<L::Item, R::Item>> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || next(&mut left, &mut right, &compare))
}

fn next<L: Iterator, R: Iterator>(
    left: &mut Peekable<L>,
    right: &mut Peekable<R>,
    compare: &impl Fn(&L::Item, &R::Item) -> Ordering,
) -> Option<Pair<L::Item, R::Item>> {
    let order = match (left.peek(), right.peek()) {
        (Some(left), Some(right)) => compare(left, right),
        (None, Some(_)) => Ordering::Greater,
        (_, None) => Ordering::Less,
    };
    let left = left.next_if(|_| order.is_le());
    let right = right.next_if(|_| order.is_ge());
    match (left, right) {
        (Some(left), Some(right)) => Some(Pair::Both(left, right)),
        (Some(left), None) => Some(Pair::Left(left)),
        (None, Some(right)) => Some(Pair::Right(right)),
        (None, None) => None,
    }
}
