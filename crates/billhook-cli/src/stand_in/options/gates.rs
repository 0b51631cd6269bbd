//! Feature gates (ET-61) that are known (24, section K).

use billhook::KubernetesVersion;
use billhook_apimachinery::PerVersion;

use crate::stand_in::flags::{Flags, parse_bool};

const FLAG: &str = "feature-gates";

const LISTS: &str = "WatchList";
const MUTATING: &str = "MutatingAdmissionPolicy";
/// Switches the beta gates that are not named themselves, such as `WatchList`.
const BETA: &str = "AllBeta";

/// The gates that are switched.
#[derive(Debug, Default)]
pub(super) struct Switched {
    /// Whether watches may ask for the existing objects.
    pub(super) streams_lists: Option<bool>,
    /// The admission plugin that is not there without its gate.
    pub(super) disabled_plugin: Option<&'static str>,
}

/// How a gate is by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The version does not have the gate.
    Unknown,
    Off,
    On,
    /// It is on, and cannot be switched off.
    Locked,
}

use State::{Locked, Off, On, Unknown};

/// A gate in the versions from 1.32 on.
type Gate = (&'static str, PerVersion<State>);

const fn gate(name: &'static str, [v1_32, v1_33, v1_34, v1_35, v1_36]: [State; 5]) -> Gate {
    (name, PerVersion { v1_32, v1_33, v1_34, v1_35, v1_36 })
}

static GATES: [Gate; 17] = [
    gate("AdmissionWebhookMatchConditions", [Locked, Unknown, Unknown, Unknown, Unknown]),
    gate("AuthorizeWithSelectors", [On, On, Locked, Locked, Locked]),
    gate("CBORServingAndStorage", [Off; 5]),
    gate("CRDObservedGenerationTracking", [Unknown, Unknown, Unknown, Off, On]),
    gate("CRDValidationRatcheting", [On, Locked, Locked, Locked, Locked]),
    gate("ConsistentListFromCache", [On, On, Locked, Locked, Locked]),
    gate("CustomResourceFieldSelectors", [Locked; 5]),
    gate("ListFromCacheSnapshot", [Unknown, Off, On, On, On]),
    gate("ManifestBasedAdmissionControlConfig", [Unknown, Unknown, Unknown, Unknown, Off]),
    gate("MutatingAdmissionPolicy", [Off, Off, Off, Off, On]),
    gate("ResilientWatchCacheInitialization", [On, On, Locked, Locked, Locked]),
    gate("ShardedListAndWatch", [Unknown, Unknown, Unknown, Unknown, Off]),
    gate("StreamingCollectionEncodingToJSON", [Unknown, On, Locked, Locked, Locked]),
    gate("StreamingCollectionEncodingToProtobuf", [Unknown, On, Locked, Locked, Locked]),
    gate("StrictCostEnforcementForVAP", [Locked, Locked, Locked, Unknown, Unknown]),
    gate("StrictCostEnforcementForWebhooks", [Locked, Locked, Locked, Unknown, Unknown]),
    gate("WatchList", [On, Off, On, On, On]),
];

/// Returns what is switched. Refuses what a server of a version refuses, and warns of what is not
/// switched.
pub(super) fn switched(
    flags: &Flags,
    version: KubernetesVersion,
    errors: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Switched {
    let (mut switched, mut all_beta) = (Switched::default(), None);
    for item in flags.all(FLAG) {
        let Some((name, value)) = item.split_once('=') else {
            errors.push(format!("missing bool value for {item}"));
            continue;
        };
        let Some(value) = parse_bool(value) else {
            errors.push(format!(
                "invalid value of {item}, err: strconv.ParseBool: parsing {value:?}: invalid syntax"
            ));
            continue;
        };
        let known = GATES.iter().find(|(known, _)| *known == name);
        match known.map(|(_, states)| states.of(version)) {
            Some(Unknown) => errors.push(format!("unrecognized feature gate: {name}")),
            Some(Locked) if !value => errors.push(format!(
                "cannot set feature gate {name} to false, feature is locked to true"
            )),
            Some(_) if name == LISTS => switched.streams_lists = Some(value),
            Some(On) if name == MUTATING => {
                switched.disabled_plugin = (!value).then_some(MUTATING);
            }
            Some(On) if !value => warnings.push(idle(item, "it stays on")),
            Some(Off) if value => warnings.push(idle(item, "it stays off")),
            Some(_) => {}
            None if name == BETA => all_beta = Some(value),
            None => warnings.push(idle(item, "the feature is as by default")),
        }
    }
    switched.streams_lists = switched.streams_lists.or(all_beta);
    switched
}

fn idle(item: &str, why: &str) -> String {
    format!("--{FLAG}={item} is accepted and has no effect: {why}")
}
