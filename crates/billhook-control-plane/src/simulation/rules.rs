//! The rules that say what happens to which pods, which can be changed at any time.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::rule::Rule;
use super::script::Script;
use crate::object::Object;

/// The scripts of all pods: those of [`Script::of_pod`], changed by rules. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Simulation {
    shared: Arc<RwLock<Rules>>,
}

#[derive(Default)]
struct Rules {
    rules: Vec<Rule>,
    changes: Vec<Arc<Change>>,
}

type Change = dyn Fn(&Object, &mut Script) + Send + Sync;

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Simulation").field("rules", &rules.rules).finish_non_exhaustive()
    }
}

impl Simulation {
    /// Adds a rule. Where rules differ, the last one counts.
    pub(crate) fn add(&self, rule: Rule) {
        let mut shared = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        shared.rules.push(rule);
    }

    /// Changes the script of each pod, before the rules do.
    pub(crate) fn change(&self, change: impl Fn(&Object, &mut Script) + Send + Sync + 'static) {
        let mut shared = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        shared.changes.push(Arc::new(change));
    }

    /// Forgets all rules.
    pub(crate) fn clear(&self) {
        self.shared.write().unwrap_or_else(PoisonError::into_inner).rules.clear();
    }

    /// Returns what happens to a pod.
    pub(crate) fn script(&self, pod: &Object) -> Script {
        let shared = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        let mut script = Script::of_pod(pod);
        shared.changes.iter().for_each(|change| change(pod, &mut script));
        shared.rules.iter().for_each(|rule| rule.apply(pod, &mut script));
        let own = pod.annotation(ANNOTATION).map(Rule::of_annotation);
        own.and_then(Result::ok).iter().flatten().for_each(|rule| rule.apply(pod, &mut script));
        script
    }
}

/// The annotation of a pod that has rules about it, which count most.
const ANNOTATION: &str = "billhook.dev/simulate";

/// Returns why the annotation of a pod has no effect, if it has none though it is there.
pub(super) fn annotation_error(pod: &Object) -> Option<String> {
    let error = Rule::of_annotation(pod.annotation(ANNOTATION)?).err()?;
    Some(format!("annotation {ANNOTATION}: {error}"))
}
