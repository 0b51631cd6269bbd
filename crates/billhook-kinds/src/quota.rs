//! The usage of objects that counts for the ResourceQuotas of their namespace (BK-562).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::{Quantity, message_error};
use serde_json::{Map, Value};

use crate::core::pod::{Amounts, class_of_service, pod_requests, total};
use crate::limits::amounts;
use crate::rules::quantity;
use crate::values::{integer, items, text, value_at};

message_error! {
    /// The reason why a quota refuses an object, in the server's words.
    pub struct QuotaError;
}

const HUGE_PAGES: &str = "hugepages-";
const REQUESTS: &str = "requests.";
const CLASS: &str = ".storageclass.storage.k8s.io/";

/// The resources that quotas count under a name of their own, beside `count/<resource>`.
const NAMED: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];

/// The amounts that each container must have if a quota limits them.
const DEMANDED: [&str; 6] =
    ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];

/// An object that is written, as the quotas of its namespace see it.
#[derive(Clone, Copy, Debug)]
pub struct QuotaSubject<'o> {
    group: &'o str,
    resource: &'o str,
    object: &'o Value,
    old: Option<&'o Value>,
}

impl<'o> QuotaSubject<'o> {
    /// Creates the subject of the write of an object of a resource, such as `deployments` in `apps`,
    /// which replaces another one or none.
    pub fn new(
        group: &'o str,
        resource: &'o str,
        object: &'o Value,
        old: Option<&'o Value>,
    ) -> Self {
        QuotaSubject { group, resource, object, old }
    }

    /// Whether updates count for something, too.
    pub fn counts_updates(group: &str, resource: &str) -> bool {
        group.is_empty() && matches!(resource, "persistentvolumeclaims" | "services")
    }

    fn is_of(&self, resource: &str) -> bool {
        self.group.is_empty() && self.resource == resource
    }

    fn count_name(&self) -> String {
        match self.group {
            "" => format!("count/{}", self.resource),
            group => format!("count/{}.{group}", self.resource),
        }
    }

    /// Whether the objects of the resource count for what a quota limits by a name.
    fn concerns(&self, name: &str) -> bool {
        if name == self.count_name() {
            return true;
        }
        if self.is_of("pods") {
            let requested = name.strip_prefix(REQUESTS);
            return matches!(name, "pods" | "ephemeral-storage")
                || DEMANDED.contains(&name)
                || matches!(name, "requests.ephemeral-storage" | "limits.ephemeral-storage")
                || requested.unwrap_or(name).starts_with(HUGE_PAGES)
                || requested.is_some_and(is_extended);
        }
        if self.is_of("services") {
            return matches!(name, "services" | "services.loadbalancers" | "services.nodeports");
        }
        if self.is_of("persistentvolumeclaims") {
            let of_class = name.split_once(CLASS).map_or(name, |(_, of_class)| of_class);
            return matches!(of_class, "persistentvolumeclaims" | "requests.storage");
        }
        self.group.is_empty() && self.resource == name && NAMED.contains(&name)
    }

    /// Whether a quota is for the object: it limits something that the object counts for, and has
    /// its scopes.
    ///
    /// # Errors
    ///
    /// If the object does not say what the quota demands, or if the quota does not know yet what is
    /// used.
    pub fn is_covered_by(&self, quota: &Value) -> Result<bool, QuotaError> {
        let hard = amounts(quota, "/status/hard");
        let limited: Vec<&str> =
            hard.keys().map(String::as_str).filter(|name| self.concerns(name)).collect();
        if limited.is_empty() || !self.is_in_scopes(quota) {
            return Ok(false);
        }
        let name = text(quota, "/metadata/name");
        if let Some(missing) = self.missing(&limited) {
            return Err(format!("failed quota: {name}: must specify {missing}").into());
        }
        let used = amounts(quota, "/status/used");
        if limited.iter().any(|name| !used.contains_key(*name)) {
            let limited = limited.join(",");
            let error = format!("status unknown for quota: {name}, resources: {limited}");
            return Err(error.into());
        }
        Ok(true)
    }

    /// The amounts that containers of a pod leave out although they are limited.
    fn missing(&self, limited: &[&str]) -> Option<String> {
        if !self.is_of("pods") || has_own(self.object) {
            return None;
        }
        let containers = items(self.object, "/spec/containers").iter();
        let containers = containers.chain(items(self.object, "/spec/initContainers"));
        let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for container in containers {
            let of = |name| amounts(container, &format!("/resources/{name}"));
            let given = compute_usage(&of("requests"), &of("limits"));
            let demanded = limited.iter().filter(|name| DEMANDED.contains(name));
            for name in demanded.filter(|name| !given.contains_key(**name)) {
                missing.entry(name).or_default().insert(text(container, "/name"));
            }
        }
        let lists = missing.iter().map(|(name, containers)| {
            let containers: Vec<&str> = containers.iter().copied().collect();
            format!("{name} for: {}", containers.join(","))
        });
        let lists: Vec<String> = lists.collect();
        (!lists.is_empty()).then(|| lists.join("; "))
    }

    fn is_in_scopes(&self, quota: &Value) -> bool {
        let mut scopes = items(quota, "/spec/scopes").iter();
        let mut selected = items(quota, "/spec/scopeSelector/matchExpressions").iter();
        scopes.all(|scope| self.is_in_scope(text(scope, ""), &Value::Null))
            && selected.all(|term| self.is_in_scope(text(term, "/scopeName"), term))
    }

    fn is_in_scope(&self, scope: &str, term: &Value) -> bool {
        let pod = self.object;
        if self.is_of("persistentvolumeclaims") && scope == "VolumeAttributesClass" {
            return is_selected(term, text(pod, "/spec/volumeAttributesClassName"));
        }
        if !self.is_of("pods") {
            return false;
        }
        let spec = pod.get("spec").unwrap_or(&Value::Null);
        let terminates = || integer(pod, "/spec/activeDeadlineSeconds").is_some_and(|it| it >= 0);
        match scope {
            "Terminating" => terminates(),
            "NotTerminating" => !terminates(),
            "BestEffort" => class_of_service(spec) == "BestEffort",
            "NotBestEffort" => class_of_service(spec) != "BestEffort",
            "PriorityClass" => is_selected(term, text(pod, "/spec/priorityClassName")),
            "CrossNamespacePodAffinity" => crosses_namespaces(spec),
            _ => false,
        }
    }

    /// Returns what the write adds to what is used.
    ///
    /// # Errors
    ///
    /// If the object counts for less than nothing.
    pub fn added(&self) -> Result<BTreeMap<String, Quantity>, QuotaError> {
        let mut usage = self.usage(self.object);
        let negative: Vec<&str> = usage
            .iter()
            .filter(|(_, amount)| amount.signum() < 0)
            .map(|(name, _)| name.as_str())
            .collect();
        if !negative.is_empty() {
            let names = negative.join(",");
            return Err(format!("quota usage is negative for resource(s): {names}").into());
        }
        if let Some(old) = self.old {
            for (name, before) in self.usage(old) {
                if let Some(amount) = usage.get_mut(&name)
                    && let Some(rest) = amount.plus(&before.negated())
                {
                    *amount = rest;
                }
            }
        }
        usage.retain(|_, amount| amount.signum() > 0);
        Ok(usage)
    }

    /// Returns how much the object counts of each resource that a quota limits by its spec: nothing
    /// if the object is not in the scopes of the quota.
    pub fn counted_by(&self, quota: &Value) -> BTreeMap<String, Quantity> {
        if !self.is_in_scopes(quota) {
            return Amounts::new();
        }
        let limited = amounts(quota, "/spec/hard");
        let mut usage = self.usage(self.object);
        usage.retain(|name, _| limited.contains_key(name));
        usage
    }

    fn usage(&self, object: &Value) -> Amounts {
        let mut usage = Amounts::from([(self.count_name(), 1.into())]);
        if self.is_of("pods") {
            if !matches!(text(object, "/status/phase"), "Failed" | "Succeeded") {
                let spec = object.get("spec").unwrap_or(&Value::Null);
                usage.extend(compute_usage(&pod_requests(spec), &total(spec, "limits")));
                usage.insert("pods".to_owned(), 1.into());
            }
        } else if self.is_of("services") {
            usage.extend(service_usage(object));
        } else if self.is_of("persistentvolumeclaims") {
            usage.extend(claim_usage(object));
        } else if self.group.is_empty() && NAMED.contains(&self.resource) {
            usage.insert(self.resource.to_owned(), 1.into());
        }
        usage
    }
}

/// Returns whether a name in a quota is one of a resource whose usage is counted.
pub fn is_quota_resource(name: &str) -> bool {
    let is_of = |resource| QuotaSubject::new("", resource, &Value::Null, None).concerns(name);
    let named = NAMED.into_iter().chain(["pods", "persistentvolumeclaims", "services"]);
    name.starts_with("count/") || named.into_iter().any(is_of)
}

/// Returns what is used of a quota that covers an object after an addition; none if that changes
/// nothing.
///
/// # Errors
///
/// If the quota does not allow it.
pub fn charge(
    quota: &Value,
    added: &BTreeMap<String, Quantity>,
) -> Result<Option<Map<String, Value>>, QuotaError> {
    let (hard, used) = (amounts(quota, "/status/hard"), amounts(quota, "/status/used"));
    let requested: Vec<(&String, &Quantity)> =
        added.iter().filter(|(name, _)| hard.contains_key(*name)).collect();
    let mut sums = used.clone();
    let mut exceeded = Vec::new();
    for (name, amount) in &requested {
        let sum = used.get(*name).map_or_else(|| Some((*amount).clone()), |it| it.plus(amount));
        match sum.filter(|sum| hard.get(*name).is_none_or(|hard| sum <= hard)) {
            Some(sum) => drop(sums.insert((*name).clone(), sum)),
            None => exceeded.push(*name),
        }
    }
    if !exceeded.is_empty() {
        let listed = |of: &Amounts| {
            let known =
                exceeded.iter().filter_map(|name| Some(format!("{name}={}", of.get(*name)?)));
            known.collect::<Vec<_>>().join(",")
        };
        return Err(QuotaError::new(format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            text(quota, "/metadata/name"),
            listed(added),
            listed(&used),
            listed(&hard),
        )));
    }
    let printed = |(name, amount): (String, Quantity)| (name, amount.to_string().into());
    Ok((!requested.is_empty()).then(|| sums.into_iter().map(printed).collect()))
}

/// Whether a pod says what it needs as a whole.
fn has_own(pod: &Value) -> bool {
    let is_given = |name: &&str| !amounts(pod, &format!("/spec/resources/{name}")).is_empty();
    ["requests", "limits"].iter().any(is_given)
}

/// Whether a resource is one of others than Kubernetes.
fn is_extended(name: &str) -> bool {
    name.split_once('/').is_some_and(|(domain, _)| {
        domain != "kubernetes.io"
            && !domain.ends_with(".kubernetes.io")
            && !name.starts_with(REQUESTS)
    })
}

/// Whether a term of a scope selector selects a name, which may be empty.
fn is_selected(term: &Value, name: &str) -> bool {
    let is_listed = || items(term, "/values").iter().any(|value| value == name);
    match text(term, "/operator") {
        "In" => !name.is_empty() && is_listed(),
        "NotIn" => name.is_empty() || !is_listed(),
        "DoesNotExist" => name.is_empty(),
        _ => !name.is_empty(),
    }
}

/// Whether the pods that a pod must or must not be beside may be in other namespaces.
fn crosses_namespaces(spec: &Value) -> bool {
    let crosses = |term: &Value| {
        !items(term, "/namespaces").is_empty()
            || term.get("namespaceSelector").is_some_and(|selector| !selector.is_null())
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
        let required = format!("/affinity/{kind}/requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = format!("/affinity/{kind}/preferredDuringSchedulingIgnoredDuringExecution");
        items(spec, &required).iter().any(crosses)
            || items(spec, &preferred)
                .iter()
                .any(|term| term.get("podAffinityTerm").is_some_and(crosses))
    })
}

/// The usage of requests and limits.
fn compute_usage(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut usage = Amounts::new();
    for (name, amount) in requests {
        let is_standard = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        if is_standard || name.starts_with(HUGE_PAGES) {
            usage.insert(name.clone(), amount.clone());
            usage.insert(format!("{REQUESTS}{name}"), amount.clone());
        } else if is_extended(name) {
            usage.insert(format!("{REQUESTS}{name}"), amount.clone());
        }
    }
    for (name, amount) in limits {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            usage.insert(format!("limits.{name}"), amount.clone());
        }
    }
    usage
}

fn service_usage(service: &Value) -> Amounts {
    let ports = items(service, "/spec/ports");
    let count = |ports: usize| Quantity::from(i64::try_from(ports).unwrap_or(i64::MAX));
    let allocates = value_at(service, "/spec/allocateLoadBalancerNodePorts") != Some(&false.into());
    let with_node_port =
        || ports.iter().filter(|port| integer(port, "/nodePort") > Some(0)).count();
    let (node_ports, balancers) = match text(service, "/spec/type") {
        "NodePort" => (ports.len(), 0),
        "LoadBalancer" if allocates => (ports.len(), 1),
        "LoadBalancer" => (with_node_port(), 1),
        _ => (0, 0),
    };
    Amounts::from([
        ("services".to_owned(), 1.into()),
        ("services.loadbalancers".to_owned(), balancers.into()),
        ("services.nodeports".to_owned(), count(node_ports)),
    ])
}

fn claim_usage(claim: &Value) -> Amounts {
    let mut usage = Amounts::from([("persistentvolumeclaims".to_owned(), 1.into())]);
    let annotations = value_at(claim, "/metadata/annotations");
    let annotated = annotations.and_then(|all| all.get("volume.beta.kubernetes.io/storage-class"));
    let class = annotated.or_else(|| value_at(claim, "/spec/storageClassName"));
    let class = class.and_then(Value::as_str).filter(|class| !class.is_empty());
    let storage = value_at(claim, "/spec/resources/requests/storage").and_then(quantity);
    if let Some(class) = class {
        usage.insert(format!("{class}{CLASS}persistentvolumeclaims"), 1.into());
    }
    if let Some(storage) = storage {
        if let Some(class) = class {
            usage.insert(format!("{class}{CLASS}requests.storage"), storage.clone());
        }
        usage.insert("requests.storage".to_owned(), storage);
    }
    usage
}
