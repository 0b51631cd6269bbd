//! IP families, cluster IPs and ports of the nodes, which a server gives to services (BK-201 to
//! BK-204).
//!
//! On each create and update of a service itself, not of its status, a server calls
//! [`ServiceAllocator::allocate`] after it has prepared the service and before it validates it, and
//! keeps what stored services have in an [`AllocatedByServices`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;

use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use super::addresses::{self, FAMILIES, family_of};
use super::{shape, texts};
use crate::edition::EDITIONS;
use crate::ip::{Range, parse_address};
use crate::values::{items, items_mut, path, section, text};

/// The longest prefix of a range that has addresses for services.
const LONGEST_PREFIX: u8 = 30;

/// The ranges that a server allocates from.
///
/// ```
/// use billhook_kinds::ServiceRanges;
/// let ranges = ServiceRanges::new("10.96.0.0/16", 30_000..=32_767).ok_or("no such range")?;
/// assert_eq!(ranges.addresses(), "10.96.0.0/16");
/// assert_eq!(ServiceRanges::default().addresses(), "10.0.0.0/24");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceRanges {
    /// The first address, which no service gets.
    base: u32,
    length: u8,
    ports: RangeInclusive<u16>,
}

impl ServiceRanges {
    /// Creates the ranges; `None` if the addresses are not a range of IPv4 with room for services.
    pub fn new(addresses: &str, ports: RangeInclusive<u16>) -> Option<Self> {
        let range = Range::parse(addresses)?;
        let IpAddr::V4(address) = range.address else { return None };
        let mask = u32::MAX.checked_shl(32 - u32::from(range.length)).unwrap_or(0);
        let base = u32::from(address) & mask;
        (range.length <= LONGEST_PREFIX).then_some(ServiceRanges {
            base,
            length: range.length,
            ports,
        })
    }

    /// Returns the range of addresses in CIDR notation.
    pub fn addresses(&self) -> String {
        format!("{}/{}", Ipv4Addr::from(self.base), self.length)
    }

    /// Returns the first address that services have: that of the API server itself (BK-680).
    pub fn first_address(&self) -> String {
        Ipv4Addr::from(self.base.saturating_add(1)).to_string()
    }

    /// Returns the range of ports.
    pub fn ports(&self) -> RangeInclusive<u16> {
        self.ports.clone()
    }

    /// How many addresses there are, without the first and the last one.
    fn size(&self) -> u32 {
        let all = 1_u64.checked_shl(32 - u32::from(self.length)).unwrap_or(u64::MAX);
        u32::try_from(all.saturating_sub(2)).unwrap_or(u32::MAX)
    }

    fn has(&self, address: Ipv4Addr) -> bool {
        let offset = u32::from(address).checked_sub(self.base);
        offset.is_some_and(|offset| (1..=self.size()).contains(&offset))
    }
}

impl Default for ServiceRanges {
    fn default() -> Self {
        let base = u32::from(Ipv4Addr::new(10, 0, 0, 0));
        ServiceRanges { base, length: 24, ports: 30_000..=32_767 }
    }
}

/// The addresses and ports that stored services have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatedByServices {
    addresses: BTreeSet<Ipv4Addr>,
    ports: BTreeSet<u16>,
}

impl AllocatedByServices {
    /// Adds what a service has.
    pub fn add(&mut self, service: &Value) {
        self.addresses.extend(addresses_of(service));
        self.ports.extend(node_ports_of(service));
    }

    /// Removes what a service had.
    pub fn remove(&mut self, service: &Value) {
        for address in addresses_of(service) {
            self.addresses.remove(&address);
        }
        for port in node_ports_of(service) {
            self.ports.remove(&port);
        }
    }
}

fn addresses_of(service: &Value) -> impl Iterator<Item = Ipv4Addr> {
    let parse = |address: &str| match parse_address(address)? {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    };
    texts(service, "/spec/clusterIPs").into_iter().filter_map(parse)
}

fn node_ports_of(service: &Value) -> impl Iterator<Item = u16> {
    let ports = items(service, "/spec/ports").iter().map(shape::node_port);
    let ports = ports.chain([shape::health_check_port(service)]);
    ports.filter_map(|port| u16::try_from(port).ok()).filter(|port| *port != 0)
}

/// Why a service did not get what it needs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AllocationError {
    /// The service asks for what it cannot have: a server answers 422 with these errors alone.
    Invalid(Vec<FieldError>),
    /// Nothing is left: a server answers 500 with this text after `Internal error occurred: `.
    Internal(String),
}

impl fmt::Display for AllocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocationError::Invalid(errors) => {
                f.write_str(&billhook_apimachinery::aggregate(errors))
            }
            AllocationError::Internal(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for AllocationError {}

/// Chooses what services need from what is free.
///
/// A server allocates on each create and update of a service itself, after mutating admission and
/// [`Behavior::prepare`](crate::Behavior::prepare) and before
/// [`Behavior::validate`](crate::Behavior::validate); it keeps what stored services have in an
/// [`AllocatedByServices`].
///
/// ```
/// use billhook_kinds::{AllocatedByServices, ServiceAllocator, ServiceRanges};
/// let (ranges, mut allocated) = (ServiceRanges::default(), AllocatedByServices::default());
/// let mut service = serde_json::json!({"spec": {"type": "ClusterIP", "ports": [{"port": 80}]}});
/// ServiceAllocator::new(&ranges, &allocated).allocate(&mut service, None)?;
/// assert_eq!(service["spec"]["clusterIP"], "10.0.0.17");
/// // Once it is stored:
/// allocated.add(&service);
/// # Ok::<(), billhook_kinds::AllocationError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ServiceAllocator<'a> {
    ranges: &'a ServiceRanges,
    allocated: &'a AllocatedByServices,
    seed: u64,
    kubernetes: KubernetesVersion,
}

impl<'a> ServiceAllocator<'a> {
    /// Creates an allocator for a server of the newest version, which gives the first that is free.
    pub fn new(ranges: &'a ServiceRanges, allocated: &'a AllocatedByServices) -> Self {
        let kubernetes = KubernetesVersion::default();
        ServiceAllocator { ranges, allocated, seed: 0, kubernetes }
    }

    /// Allocates as a server of another version.
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }

    /// Begins the search for what is free at a place that depends on a number. Servers choose at
    /// random, so with another number for each request an address that was given back is not given
    /// again at once. Dry runs are all answered alike, as with 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the IP families, the cluster IPs and the ports of the nodes of a service that is
    /// created, or that replaces another one. The service has its defaults and was prepared. Writes
    /// of its status allocate nothing.
    ///
    /// # Errors
    ///
    /// If the service asks for what it cannot have, or nothing is left.
    pub fn allocate(
        &self,
        service: &mut Value,
        old: Option<&Value>,
    ) -> Result<(), AllocationError> {
        let mut errors = Vec::new();
        addresses::validate(service, old, self.kubernetes, &mut errors);
        if errors.is_empty() && shape::has_addresses(service) {
            set_families(service, old, &mut errors);
        }
        if !errors.is_empty() {
            return Err(AllocationError::Invalid(errors));
        }
        self.set_address(service, old)?;
        let mut ports = Ports { allocator: self, taken: BTreeSet::new() };
        ports.set_node_ports(service, old)?;
        ports.set_health_check_port(service, old)
    }

    fn set_address(&self, service: &mut Value, old: Option<&Value>) -> Result<(), AllocationError> {
        if !shape::has_addresses(service)
            || shape::is_headless(service)
            || old.is_some_and(shape::has_addresses)
        {
            return Ok(());
        }
        if let Some(address) = texts(service, "/spec/clusterIPs").first() {
            return self.check_address(service, address);
        }
        let name = text(service, "/metadata/name");
        let error = || {
            let text =
                format!("failed to allocate a serviceIP for Service \"{name}\": range is full");
            AllocationError::Internal(text)
        };
        let address = self.free_address().ok_or_else(error)?.to_string();
        if let Some(spec) = section(service, "spec") {
            spec.insert("clusterIPs".to_owned(), vec![address.as_str()].into());
            spec.insert("clusterIP".to_owned(), address.into());
        }
        Ok(())
    }

    /// Checks an address that the client chose.
    fn check_address(&self, service: &Value, address: &str) -> Result<(), AllocationError> {
        let Some(IpAddr::V4(parsed)) = parse_address(address) else { return Ok(()) };
        let problem = if !self.ranges.has(parsed) {
            self.not_in_range(address)
        } else if self.allocated.addresses.contains(&parsed) {
            "provided IP is already allocated".to_owned()
        } else {
            return Ok(());
        };
        let detail = format!("failed to allocate IP {address}: {problem}");
        let path = path(&["spec", "clusterIPs"]);
        let addresses = texts(service, "/spec/clusterIPs");
        Err(AllocationError::Invalid(vec![FieldError::invalid(path, addresses, &detail)]))
    }

    fn not_in_range(&self, address: &str) -> String {
        if EDITIONS.of(self.kubernetes).has_service_ranges {
            return "the provided network does not match the current range".to_owned();
        }
        format!(
            "the provided IP ({address}) is not in the valid range. The range of valid IPs is {}",
            self.ranges.addresses()
        )
    }

    /// Chooses a free address, in the upper part of the range as long as there is one.
    fn free_address(&self) -> Option<Ipv4Addr> {
        let size = self.ranges.size();
        let lower = (size.saturating_add(2) / 16).clamp(16, 256);
        let at = |offset: u32| Ipv4Addr::from(self.ranges.base.saturating_add(offset));
        let is_free = |offset: &u32| !self.allocated.addresses.contains(&at(*offset));
        self.choose(size, lower).map(|index| index + 1).find(is_free).map(at)
    }

    /// Returns the numbers below a size, first those from a bound on; each part begins at the place
    /// of the seed.
    fn choose(&self, size: u32, bound: u32) -> impl Iterator<Item = u32> {
        let bound = if bound < size { bound } else { 0 };
        let turned = |begin: u32, end: u32| {
            let length = u64::from(end - begin).max(1);
            let middle = begin + u32::try_from(self.seed % length).unwrap_or(0);
            (middle..end).chain(begin..middle)
        };
        turned(bound, size).chain(turned(0, bound))
    }
}

/// Sets the policy and the families of a service of a server that has IPv4 alone.
fn set_families(service: &mut Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let old = old.filter(|old| shape::has_addresses(old));
    let is_free = shape::is_headless(service) && !shape::has_selector(service);
    let stored = old.map(|old| text(old, "/spec/ipFamilyPolicy")).unwrap_or_default();
    let policy = match (text(service, "/spec/ipFamilyPolicy"), stored) {
        ("", "") if is_free => "RequireDualStack",
        ("", "") => "SingleStack",
        ("", stored) => stored,
        (given, _) => given,
    }
    .to_owned();
    let mut families = texts(service, "/spec/ipFamilies");
    if families.is_empty() {
        families = old.map(|old| texts(old, "/spec/ipFamilies")).unwrap_or_default();
    }
    if families.is_empty() {
        families = texts(service, "/spec/clusterIPs").into_iter().filter_map(family_of).collect();
    }
    if families.is_empty() {
        families.push("IPv4");
    }
    if let ([first], true) = (families.as_slice(), is_free && policy != "SingleStack") {
        let first = *first;
        families.extend(FAMILIES.into_iter().filter(|family| *family != first));
    }
    if !is_free {
        validate_families(&policy, &families, errors);
    }
    let families: Vec<String> = families.into_iter().map(str::to_owned).collect();
    if let Some(spec) = section(service, "spec") {
        spec.insert("ipFamilyPolicy".to_owned(), policy.into());
        spec.insert("ipFamilies".to_owned(), families.into());
    }
}

fn validate_families(policy: &str, families: &[&str], errors: &mut Vec<FieldError>) {
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid(path(&["spec", "ipFamilyPolicy"]), policy, detail));
    }
    for (index, family) in families.iter().enumerate().filter(|(_, family)| **family != "IPv4") {
        let path = path(&["spec", "ipFamilies"]).index(index);
        errors.push(FieldError::invalid(path, *family, "not configured on this cluster"));
    }
}

/// The ports of the nodes during the allocation for a service.
struct Ports<'a> {
    allocator: &'a ServiceAllocator<'a>,
    /// The ports that the service took so far.
    taken: BTreeSet<u16>,
}

impl Ports<'_> {
    fn set_node_ports(
        &mut self,
        service: &mut Value,
        old: Option<&Value>,
    ) -> Result<(), AllocationError> {
        if !shape::allocates_node_ports(service) {
            return Ok(());
        }
        let had: BTreeSet<u16> = old.into_iter().flat_map(node_ports_of).collect();
        let shared = if old.is_some() { BTreeMap::new() } else { wanted(service) };
        let mut by_port: BTreeMap<i64, i64> = BTreeMap::new();
        for (index, port) in items_mut(service, "/spec/ports").iter_mut().enumerate() {
            let number = port.get("port").and_then(Value::as_i64).unwrap_or_default();
            // Ports of several protocols with the same number share the port of the nodes.
            let known = by_port.get(&number).or_else(|| shared.get(&number)).copied();
            let asked = match shape::node_port(port) {
                0 => known.unwrap_or_default(),
                asked => asked,
            };
            // An update can give several protocols the same port, if they differ.
            let is_mine = |asked: i64| {
                let port = u16::try_from(asked).unwrap_or_default();
                had.contains(&port) || old.is_some() && self.taken.contains(&port)
            };
            let given = if asked != 0 && (by_port.get(&number) == Some(&asked) || is_mine(asked)) {
                asked
            } else if asked == 0 {
                self.take_any()?.into()
            } else {
                self.take(asked).map_err(|problem| {
                    let path = path(&["spec", "ports"]).index(index).name("nodePort");
                    AllocationError::Invalid(vec![FieldError::invalid(path, asked, &problem)])
                })?
            };
            if old.is_none() {
                by_port.entry(number).or_insert(given);
            }
            if let Value::Object(members) = port {
                members.insert("nodePort".to_owned(), given.into());
            }
        }
        Ok(())
    }

    fn set_health_check_port(
        &mut self,
        service: &mut Value,
        old: Option<&Value>,
    ) -> Result<(), AllocationError> {
        let had = old.is_some_and(shape::has_health_check_port);
        if had || !shape::has_health_check_port(service) {
            return Ok(());
        }
        let given = match shape::health_check_port(service) {
            0 => self.take_any()?.into(),
            asked => self.take(asked).map_err(|problem| {
                AllocationError::Internal(format!(
                    "failed to allocate requested HealthCheck NodePort {asked}: {problem}"
                ))
            })?,
        };
        if let Some(spec) = section(service, "spec") {
            spec.insert("healthCheckNodePort".to_owned(), given.into());
        }
        Ok(())
    }

    /// Takes a port that the client chose.
    fn take(&mut self, asked: i64) -> Result<i64, String> {
        let range = self.allocator.ranges.ports();
        let Some(port) = u16::try_from(asked).ok().filter(|port| range.contains(port)) else {
            return Err(format!(
                "provided port is not in the valid range. The range of valid ports is {}-{}",
                range.start(),
                range.end()
            ));
        };
        if self.allocator.allocated.ports.contains(&port) || !self.taken.insert(port) {
            return Err("provided port is already allocated".to_owned());
        }
        Ok(asked)
    }

    /// Takes a free port, above the first ones as long as there is one.
    fn take_any(&mut self) -> Result<u16, AllocationError> {
        let range = self.allocator.ranges.ports();
        let size = u32::from(range.end().saturating_sub(*range.start())) + 1;
        let at = |offset: u32| u16::try_from(u32::from(*range.start()) + offset).ok();
        let is_free = |port: &u16| {
            !self.taken.contains(port) && !self.allocator.allocated.ports.contains(port)
        };
        let bound = (size / 32).clamp(16, 128);
        let port = self.allocator.choose(size, bound).filter_map(at).find(is_free);
        let error =
            || AllocationError::Internal("failed to allocate a nodePort: range is full".to_owned());
        let port = port.ok_or_else(error)?;
        self.taken.insert(port);
        Ok(port)
    }
}

/// The ports of the nodes that the client chose, by the number of the port.
fn wanted(service: &Value) -> BTreeMap<i64, i64> {
    let ports = items(service, "/spec/ports").iter().rev();
    let chosen = ports.filter(|port| shape::node_port(port) != 0);
    let number = |port: &Value| port.get("port").and_then(Value::as_i64).unwrap_or_default();
    chosen.map(|port| (number(port), shape::node_port(port))).collect()
}
