//! The fields of messages by their numbers, as records tell them.

use billhook_apimachinery::record::{self, Record};

/// A message: the fields of a record, or those of them that are in a message of their own, which
/// are members of the object around it in JSON.
#[derive(Clone, Copy)]
pub(super) struct Message<'m> {
    record: &'static Record,
    /// The numbers of the messages around the fields.
    around: &'m [u32],
}

/// A field of a message.
pub(super) enum Field {
    /// A field of the record.
    Member(&'static record::Field),
    /// A message whose fields are fields of the record.
    Inline,
}

impl<'m> Message<'m> {
    /// Returns the message of a record.
    pub(super) fn of(record: &'static Record) -> Self {
        Message { record, around: &[] }
    }

    /// Returns the numbers of the fields, the last one first.
    pub(super) fn numbers_backwards(self) -> Vec<u32> {
        let numbers = self.record.fields.iter().filter_map(|field| self.number(field));
        let mut numbers: Vec<u32> = numbers.map(|(number, _)| number).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers.dedup();
        numbers
    }

    /// Returns the field of a number.
    pub(super) fn field(self, number: u32) -> Option<Field> {
        self.record.fields.iter().find_map(|field| match self.number(field)? {
            (found, []) if found == number => Some(Field::Member(field)),
            (found, [_, ..]) if found == number => Some(Field::Inline),
            _ => None,
        })
    }

    /// Does something with the message in this one that has a number, whose fields are fields of the
    /// record.
    pub(super) fn inside<T>(self, number: u32, then: impl FnOnce(Message<'_>) -> T) -> T {
        let around = [self.around, &[number]].concat();
        then(Message { around: &around, ..self })
    }

    /// The number of a field of the message or of the message in it that has the field, and the
    /// numbers after that.
    fn number(self, field: &'static record::Field) -> Option<(u32, &'static [u32])> {
        let (number, rest) = field.numbers.strip_prefix(self.around)?.split_first()?;
        Some((*number, rest))
    }
}
