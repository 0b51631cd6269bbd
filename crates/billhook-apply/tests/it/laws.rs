//! Laws of field sets and typed values.

use billhook_apply::FieldSet;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{live, object, schema};

fn field_set() -> impl Strategy<Value = FieldSet> {
    object().prop_map(|object| live(&schema(), &object).field_set())
}

proptest! {
    #[test]
    fn operations_obey_the_laws_of_sets(a in field_set(), b in field_set()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert!(a.difference(&b).intersection(&b).is_empty());
        prop_assert_eq!(a.union(&a), a.clone());
        let less = a.recursive_difference(&b);
        prop_assert!(less.difference(&a.difference(&b)).is_empty());
    }

    #[test]
    fn a_set_is_what_is_read_from_its_written_form(set in field_set()) {
        prop_assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()), Ok(set.clone()));
        prop_assert_eq!(set.paths().into_iter().collect::<FieldSet>(), set);
    }

    #[test]
    fn comparison_is_symmetric(old in object(), new in object()) {
        let schema = schema();
        let there = live(&schema, &old).compare(live(&schema, &new));
        let back = live(&schema, &new).compare(live(&schema, &old));
        prop_assert_eq!(&there.added, &back.removed);
        prop_assert_eq!(&there.removed, &back.added);
        prop_assert_eq!(&there.modified, &back.modified);
        prop_assert!(live(&schema, &old).compare(live(&schema, &old)).is_same());
    }

    #[test]
    fn merge_is_idempotent(object in object(), config in object()) {
        let schema = schema();
        let (object, config) = (live(&schema, &object), live(&schema, &config));
        let merged = object.merge(config);
        prop_assert_eq!(&*live(&schema, &merged).merge(config), &*merged);
        prop_assert_eq!(&*object.merge(object), object.value());
    }

    #[test]
    fn removing_all_fields_leaves_nothing_but_the_ways_to_them(object in object()) {
        let schema = schema();
        let value = live(&schema, &object);
        let all = live(&schema, &json!({})).compare(value).added;
        prop_assert_eq!(&*value.remove(&all), &json!(null));
        prop_assert_eq!(&*value.remove(&FieldSet::default()), value.value());
    }
}
