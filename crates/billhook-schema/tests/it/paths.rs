//! Laws of field paths: they are their steps, and compare as these do.

use billhook_apimachinery::{FieldPath, Location, Segment};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Name(String),
    Key(String),
    Index(usize),
}

impl Step {
    fn segment(&self) -> Segment<'_> {
        match self {
            Step::Name(name) => Segment::Name(name),
            Step::Key(key) => Segment::Key(key),
            Step::Index(index) => Segment::Index(*index),
        }
    }
}

/// Texts and indices around the lengths at which a step is written in another way.
fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        any::<String>(),
        "[a-c]{0,2}",
        (14_usize..18).prop_map(|length| "n".repeat(length)),
        (1_022_usize..1_026).prop_map(|length| "é".repeat(length)),
    ];
    let index = prop_oneof![0_usize..20, 1_022_usize..1_026, any::<usize>(), Just(usize::MAX)];
    prop_oneof![
        text.clone().prop_map(Step::Name),
        text.prop_map(Step::Key),
        index.prop_map(Step::Index)
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..6)
}

fn segments(steps: &[Step]) -> Vec<Segment<'_>> {
    steps.iter().map(Step::segment).collect()
}

fn path(steps: &[Step]) -> FieldPath {
    steps.iter().map(Step::segment).collect()
}

proptest! {
    #[test]
    fn a_path_is_its_steps(steps in steps()) {
        let path = path(&steps);
        prop_assert_eq!(path.segments().collect::<Vec<_>>(), segments(&steps));
        prop_assert_eq!(path.is_empty(), steps.is_empty());
        let one_by_one = steps.iter().fold(FieldPath::default(), |path, step| match step {
            Step::Name(name) => path.name(name),
            Step::Key(key) => path.key(key),
            Step::Index(index) => path.index(*index),
        });
        prop_assert_eq!(one_by_one, path);
    }

    #[test]
    fn paths_compare_by_steps(one in steps(), other in steps()) {
        let (ours, theirs) = (segments(&one), segments(&other));
        prop_assert_eq!(path(&one).cmp(&path(&other)), ours.cmp(&theirs));
        prop_assert_eq!(path(&one) == path(&other), ours == theirs);
        prop_assert_eq!(path(&one).starts_with(&path(&other)), ours.starts_with(&theirs));
    }

    #[test]
    fn a_joined_path_starts_with_its_first_part(one in steps(), other in steps()) {
        let joined = path(&one).join(&path(&other));
        prop_assert_eq!(
            joined.segments().collect::<Vec<_>>(),
            [segments(&one), segments(&other)].concat()
        );
        prop_assert!(joined.starts_with(&path(&one)));
    }

    #[test]
    fn a_location_is_a_path(base in steps(), name in any::<String>(), index: usize) {
        let base = path(&base);
        let at = Location::at(&base);
        let at = at.name(&name);
        let at = at.index(index);
        prop_assert_eq!(at.key(&name).to_path(), base.name(&name).index(index).key(&name));
    }
}
