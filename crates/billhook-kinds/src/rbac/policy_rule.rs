//! The rules of roles: what they allow, and which rules are held with others (BK-650, BK-652).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use billhook::webhook::{AuthorizationRequest, AuthorizationTarget, ResourceTarget};
use billhook_apimachinery::print::quote;
use serde_json::Value;

use crate::values::items;

/// The item of a list that stands for everything.
const ALL: &str = "*";

/// How many rights are distinguished, each of them one verb for one thing.
const MAX_RIGHTS: usize = 1 << 16;
/// How many texts are compared to find out which rights are held.
const MAX_COMPARED: usize = 1 << 25;

/// A rule of a Role or a ClusterRole: verbs, and what they may be done to.
///
/// ```
/// use billhook_kinds::PolicyRule;
/// use serde_json::json;
///
/// let rule = |resources: &[&str]| {
///     PolicyRule::read(&json!({"apiGroups": [""], "resources": resources, "verbs": ["get"]}))
/// };
/// assert!(rule(&["*"]).covers(&rule(&["pods/log"])));
/// assert!(!rule(&["pods"]).covers(&rule(&["pods/log"])));
/// assert_eq!(rule(&["pods"]).to_string(), r#"{APIGroups:[""], Resources:["pods"], Verbs:["get"]}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyRule {
    /// The verbs, such as `get`; `*` for all.
    pub verbs: Vec<String>,
    /// The API groups; `*` for all.
    pub api_groups: Vec<String>,
    /// The resources: `pods`, `pods/log`, `*/log`; `*` for all.
    pub resources: Vec<String>,
    /// The names of objects; empty for all.
    pub resource_names: Vec<String>,
    /// Paths that are not those of resources; an asterisk at the end stands for any rest.
    pub non_resource_urls: Vec<String>,
}

impl PolicyRule {
    /// Reads a rule. What is not a text is left out.
    pub fn read(rule: &Value) -> Self {
        let texts = |name: &str| {
            let texts = items(rule, name).iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        };
        PolicyRule {
            verbs: texts("verbs"),
            api_groups: texts("apiGroups"),
            resources: texts("resources"),
            resource_names: texts("resourceNames"),
            non_resource_urls: texts("nonResourceURLs"),
        }
    }

    /// Reads the rules of a Role or a ClusterRole.
    pub fn read_all(role: &Value) -> Vec<Self> {
        items(role, "/rules").iter().map(PolicyRule::read).collect()
    }

    /// Whether the rule allows a request (BK-650).
    pub fn allows(&self, request: &AuthorizationRequest) -> bool {
        contains(&self.verbs, &request.verb)
            && match &request.target {
                AuthorizationTarget::Resource(target) => self.has_resource(target),
                AuthorizationTarget::Path(path) => has_path(&self.non_resource_urls, path),
                _ => false,
            }
    }

    fn has_resource(&self, target: &ResourceTarget) -> bool {
        let ResourceTarget { group, resource, subresource, name, .. } = target;
        let resource = match subresource.as_str() {
            "" => resource.clone(),
            subresource => format!("{resource}/{subresource}"),
        };
        contains(&self.api_groups, group)
            && has_resource(&self.resources, &resource)
            && (self.resource_names.is_empty() || self.resource_names.contains(name))
    }

    /// Whether the rule alone allows all that another one allows.
    pub fn covers(&self, other: &PolicyRule) -> bool {
        let has_names = match (self.resource_names.as_slice(), other.resource_names.as_slice()) {
            ([], _) => true,
            (_, []) => false,
            (own, names) => names.iter().all(|name| own.contains(name)),
        };
        has_names
            && other.verbs.iter().all(|verb| contains(&self.verbs, verb))
            && other.api_groups.iter().all(|group| contains(&self.api_groups, group))
            && other.resources.iter().all(|resource| has_resource(&self.resources, resource))
            && other.non_resource_urls.iter().all(|path| has_path(&self.non_resource_urls, path))
    }

    /// Returns the parts of the rule that none of these permissions needs; none of rules that are too many to
    /// be compared.
    ///
    /// ```
    /// use billhook_kinds::PolicyRule;
    /// use serde_json::json;
    ///
    /// let rule = |verbs: &[&str]| {
    ///     PolicyRule::read(&json!({"apiGroups": [""], "resources": ["pods"], "verbs": verbs}))
    /// };
    /// let unused = rule(&["get", "list", "watch"]).unused(&[rule(&["list"])]);
    /// assert_eq!(unused, [rule(&["get", "watch"])]);
    /// assert_eq!(rule(&["*"]).unused(&[rule(&["list"])]), []);
    /// ```
    pub fn unused(&self, used: &[PolicyRule]) -> Vec<PolicyRule> {
        let used: Vec<PolicyRule> = used.iter().flat_map(PolicyRule::split).collect();
        if !may_compare(std::slice::from_ref(self), &used) {
            return Vec::new();
        }
        let unnamed =
            |right: &PolicyRule| PolicyRule { resource_names: Vec::new(), ..right.clone() };
        let is_used =
            |right: &PolicyRule| used.iter().any(|used| unnamed(right).covers(&unnamed(used)));
        PolicyRule::join(self.split().into_iter().filter(|right| !is_used(right)))
    }

    /// Returns how many rights it allows, each of them one verb for one thing.
    fn count(&self) -> usize {
        let resources = self.api_groups.len().saturating_mul(self.resources.len());
        let objects = resources.saturating_mul(self.resource_names.len().max(1));
        self.verbs.len().saturating_mul(objects.saturating_add(self.non_resource_urls.len()))
    }

    /// Returns the rule as rules of one verb for one thing each; none if they are more than 65,536.
    pub fn split(&self) -> Vec<PolicyRule> {
        let mut split = Vec::new();
        if self.count() > MAX_RIGHTS {
            return split;
        }
        let one = |text: &String| vec![text.clone()];
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    let rule = PolicyRule {
                        verbs: one(verb),
                        api_groups: one(group),
                        resources: one(resource),
                        ..PolicyRule::default()
                    };
                    if self.resource_names.is_empty() {
                        split.push(rule.clone());
                    }
                    split.extend(
                        self.resource_names
                            .iter()
                            .map(|name| PolicyRule { resource_names: one(name), ..rule.clone() }),
                    );
                }
            }
        }
        for path in &self.non_resource_urls {
            split.extend(self.verbs.iter().map(|verb| PolicyRule {
                verbs: one(verb),
                non_resource_urls: one(path),
                ..PolicyRule::default()
            }));
        }
        split
    }

    /// Returns what some rules allow and others do not, with the verbs for a thing in one rule, in
    /// the order in which servers list them (BK-652); `None` if there are too many to be compared.
    pub fn not_held(wanted: &[PolicyRule], held: &[PolicyRule]) -> Option<Vec<PolicyRule>> {
        if !may_compare(wanted, held) {
            return None;
        }
        let wanted = wanted.iter().flat_map(PolicyRule::split);
        let missing = wanted.filter(|right| !held.iter().any(|rule| rule.covers(right)));
        let mut missing = PolicyRule::join_verbs(missing);
        missing.sort_by_cached_key(ToString::to_string);
        Some(missing)
    }

    /// Joins rules: the verbs for the same things, then the resources and the paths with the same verbs,
    /// each sorted.
    ///
    /// ```
    /// use billhook_kinds::PolicyRule;
    /// use serde_json::json;
    ///
    /// let rule = |resource: &str, verb: &str| {
    ///     PolicyRule::read(&json!({"apiGroups": [""], "resources": [resource], "verbs": [verb]}))
    /// };
    /// let joined = PolicyRule::join([rule("pods", "list"), rule("nodes", "get"), rule("pods", "get"),
    ///     rule("nodes", "list")]);
    /// assert_eq!(
    ///     joined[0].to_string(),
    ///     r#"{APIGroups:[""], Resources:["nodes" "pods"], Verbs:["get" "list"]}"#
    /// );
    /// assert_eq!(joined.len(), 1);
    /// ```
    pub fn join(rules: impl IntoIterator<Item = PolicyRule>) -> Vec<PolicyRule> {
        let mut joined = BTreeMap::<PolicyRule, [BTreeSet<String>; 2]>::new();
        for mut rule in PolicyRule::join_verbs(rules) {
            rule.verbs.sort();
            let resources = std::mem::take(&mut rule.resources);
            let paths = std::mem::take(&mut rule.non_resource_urls);
            // Rules of paths and of resources are not joined.
            let key = PolicyRule {
                non_resource_urls: vec![String::new(); usize::from(!paths.is_empty())],
                ..rule
            };
            let [all_resources, all_paths] = joined.entry(key).or_default();
            all_resources.extend(resources);
            all_paths.extend(paths);
        }
        let joined = joined.into_iter().map(|(rule, [resources, paths])| PolicyRule {
            resources: resources.into_iter().collect(),
            non_resource_urls: paths.into_iter().collect(),
            ..rule
        });
        joined.collect()
    }

    /// Returns the rule as documents have it.
    pub fn to_value(&self) -> Value {
        let mut rule = serde_json::Map::new();
        for (name, list) in [
            ("apiGroups", &self.api_groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.non_resource_urls),
            ("verbs", &self.verbs),
        ] {
            if !list.is_empty() {
                rule.insert(name.to_owned(), list.clone().into());
            }
        }
        Value::Object(rule)
    }

    /// Joins rules about the same things, with the verbs of all of them in their order.
    fn join_verbs(rules: impl IntoIterator<Item = PolicyRule>) -> Vec<PolicyRule> {
        let mut joined: Vec<PolicyRule> = Vec::new();
        let (mut places, mut known) = (BTreeMap::new(), BTreeSet::new());
        for mut rule in rules {
            let verbs = std::mem::take(&mut rule.verbs);
            let place = *places.entry(rule.clone()).or_insert_with(|| {
                joined.push(rule);
                joined.len() - 1
            });
            let Some(found) = joined.get_mut(place) else { continue };
            for verb in verbs {
                if known.insert((place, verb.clone())) {
                    found.verbs.push(verb);
                }
            }
        }
        joined
    }
}

/// Whether it is bounded work to compare each right of some rules with other rules.
fn may_compare(rules: &[PolicyRule], others: &[PolicyRule]) -> bool {
    let rights = rules.iter().map(PolicyRule::count).fold(0, usize::saturating_add);
    let texts = |rule: &PolicyRule| {
        let PolicyRule { verbs, api_groups, resources, resource_names, non_resource_urls } = rule;
        let lists = [verbs, api_groups, resources, resource_names, non_resource_urls];
        lists.iter().map(|list| list.len()).sum::<usize>()
    };
    let texts = others.iter().map(texts).fold(0, usize::saturating_add);
    rights <= MAX_RIGHTS && rights.saturating_mul(texts) <= MAX_COMPARED
}

/// As servers print rules in refusals.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
        let parts = parts.map(|(name, list)| {
            let list: Vec<String> = list.iter().map(|text| quote(text)).collect();
            format!("{name}:[{}]", list.join(" "))
        });
        write!(f, "{{{}}}", parts.collect::<Vec<_>>().join(", "))
    }
}

fn contains(list: &[String], text: &str) -> bool {
    list.iter().any(|item| item == ALL || item == text)
}

/// A subresource is named with its resource, or for all resources: `*/scale`.
fn has_resource(list: &[String], resource: &str) -> bool {
    let subresource = resource.split_once('/').map(|(_, subresource)| subresource);
    contains(list, resource)
        || list.iter().any(|item| {
            let of_all = item.strip_prefix("*/");
            of_all.is_some() && of_all == subresource
        })
}

/// Returns whether paths name a path: itself, `*`, or its beginning with a `*` (BK-650).
pub fn has_path(list: &[String], path: &str) -> bool {
    list.iter().any(|item| match item.strip_suffix(ALL) {
        Some(prefix) => path.starts_with(prefix),
        None => item == path,
    })
}
