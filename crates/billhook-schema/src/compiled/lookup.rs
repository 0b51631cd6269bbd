//! Finding a property by name without allocating.

use billhook_apimachinery::hash_name as hash;

use super::{Arena, Property};

/// Up to this many properties are compared one by one.
const LINEAR: usize = 6;
/// A name that would need more probes than this sends its node to binary search, so that no choice
/// of names makes look-ups slow.
const MAX_PROBES: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) enum Lookup {
    Linear,
    Sorted,
    /// Open addressing; slots hold a position among the node's properties plus one.
    Hashed {
        start: u32,
        mask: u32,
    },
}

impl Lookup {
    /// Makes the look-up for names that are sorted; new slots go to the end of `slots`.
    pub(super) fn build<'n>(
        names: impl ExactSizeIterator<Item = &'n str>,
        slots: &mut Vec<u32>,
    ) -> Lookup {
        if names.len() <= LINEAR {
            return Lookup::Linear;
        }
        let size = (names.len() * 2).next_power_of_two();
        let start = slots.len();
        slots.resize(start + size, 0);
        for (position, name) in names.enumerate() {
            let free = probes(hash(name.as_bytes()), size - 1)
                .map(|slot| start + slot)
                .find(|&slot| slots.get(slot) == Some(&0));
            let Some(entry) = free.and_then(|slot| slots.get_mut(slot)) else {
                slots.truncate(start);
                return Lookup::Sorted;
            };
            *entry = position as u32 + 1;
        }
        Lookup::Hashed { start: start as u32, mask: size as u32 - 1 }
    }

    #[inline]
    pub(super) fn find<'s>(
        self,
        properties: &'s [Property],
        arena: &Arena,
        name: &[u8],
    ) -> Option<&'s Property> {
        match self {
            Lookup::Linear => {
                properties.iter().find(|property| property.is_named(name, &arena.names))
            }
            Lookup::Sorted => properties
                .binary_search_by(|property| arena.name(property).as_bytes().cmp(name))
                .ok()
                .and_then(|position| properties.get(position)),
            Lookup::Hashed { start, mask } => {
                for slot in probes(hash(name), mask as usize) {
                    let position = *arena.slots.get(start as usize + slot)?;
                    let property = properties.get((position as usize).checked_sub(1)?)?;
                    if property.is_named(name, &arena.names) {
                        return Some(property);
                    }
                }
                None
            }
        }
    }
}

fn probes(hash: u64, mask: usize) -> impl Iterator<Item = usize> {
    (0..MAX_PROBES).map(move |probe| (hash as usize).wrapping_add(probe) & mask)
}
