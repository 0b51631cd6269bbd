//! The admission plugins that change or refuse objects of built-in kinds (BK-560).

mod accounts;
mod certificates;
mod classes;
mod limits;
mod objects;
mod pods;
mod quota;
mod security;

use std::sync::Arc;

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_admission::{Chain, Plugin, PluginRequest, Stage};
use billhook_apimachinery::Status;

use crate::resources::Resource;
use crate::shared::{Controller, Shared};

pub(crate) use self::quota::Quotas;

/// Changes or refuses the object of a request.
type Act = fn(&Shared, &mut PluginRequest<'_>) -> Result<(), Status>;

/// A plugin for objects of one resource.
struct KindPlugin {
    name: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
    operations: &'static [Operation],
    mutate: Option<Act>,
    validate: Option<Act>,
}

/// The plugin that is off unless it is switched on (BK-565).
pub(crate) const SERVICE_ACCOUNT: &str = "ServiceAccount";

const CREATE: &[Operation] = &[Operation::Create];
const WRITE: &[Operation] = &[Operation::Create, Operation::Update];

const fn plugin(name: &'static str, group: &'static str, resource: &'static str) -> KindPlugin {
    let (mutate, validate) = (None, None);
    KindPlugin { name, group, resource, subresource: "", operations: CREATE, mutate, validate }
}

const fn security(group: &'static str, resource: &'static str, check: Act) -> KindPlugin {
    KindPlugin {
        operations: WRITE,
        validate: Some(check),
        ..plugin("PodSecurity", group, resource)
    }
}

const fn of_requests(name: &'static str) -> KindPlugin {
    plugin(name, "certificates.k8s.io", "certificatesigningrequests")
}

/// The plugins in the order in which they are run.
static PLUGINS: [KindPlugin; 31] = [
    KindPlugin {
        mutate: Some(limits::set_defaults),
        validate: Some(limits::check_pod),
        ..plugin("LimitRanger", "", "pods")
    },
    KindPlugin {
        subresource: "resize",
        operations: &[Operation::Update],
        validate: Some(limits::check_pod),
        ..plugin("LimitRanger", "", "pods")
    },
    KindPlugin {
        operations: WRITE,
        validate: Some(limits::check_claim),
        ..plugin("LimitRanger", "", "persistentvolumeclaims")
    },
    KindPlugin { mutate: Some(accounts::set_account), ..plugin(SERVICE_ACCOUNT, "", "pods") },
    security("", "namespaces", security::check_namespace),
    security("", "pods", security::check_pod),
    KindPlugin { subresource: "ephemeralcontainers", ..security("", "pods", security::check_pod) },
    security("", "podtemplates", security::check_template),
    security("", "replicationcontrollers", security::check_template),
    security("apps", "daemonsets", security::check_template),
    security("apps", "deployments", security::check_template),
    security("apps", "replicasets", security::check_template),
    security("apps", "statefulsets", security::check_template),
    security("batch", "cronjobs", security::check_template),
    security("batch", "jobs", security::check_template),
    KindPlugin { mutate: Some(objects::add_taint), ..plugin("TaintNodesByCondition", "", "nodes") },
    KindPlugin {
        operations: WRITE,
        mutate: Some(pods::set_priority),
        ..plugin("Priority", "", "pods")
    },
    KindPlugin {
        operations: WRITE,
        validate: Some(classes::check_priority_class),
        ..plugin("Priority", "scheduling.k8s.io", "priorityclasses")
    },
    KindPlugin {
        operations: WRITE,
        mutate: Some(pods::add_tolerations),
        ..plugin("DefaultTolerationSeconds", "", "pods")
    },
    KindPlugin {
        mutate: Some(classes::set_storage_class),
        ..plugin("DefaultStorageClass", "", "persistentvolumeclaims")
    },
    KindPlugin {
        mutate: Some(objects::protect_claim),
        ..plugin("StorageObjectInUseProtection", "", "persistentvolumeclaims")
    },
    KindPlugin {
        mutate: Some(objects::protect_volume),
        ..plugin("StorageObjectInUseProtection", "", "persistentvolumes")
    },
    KindPlugin {
        mutate: Some(objects::protect_attributes_class),
        ..plugin("StorageObjectInUseProtection", "storage.k8s.io", "volumeattributesclasses")
    },
    KindPlugin {
        operations: &[Operation::Update],
        validate: Some(objects::check_growth),
        ..plugin("PersistentVolumeClaimResize", "", "persistentvolumeclaims")
    },
    KindPlugin {
        mutate: Some(pods::apply_runtime_class),
        validate: Some(pods::check_runtime_class),
        ..plugin("RuntimeClass", "", "pods")
    },
    KindPlugin {
        subresource: "approval",
        operations: &[Operation::Update],
        validate: Some(certificates::check_approval),
        ..of_requests("CertificateApproval")
    },
    KindPlugin {
        subresource: "status",
        operations: &[Operation::Update],
        validate: Some(certificates::check_signing),
        ..of_requests("CertificateSigning")
    },
    KindPlugin {
        validate: Some(certificates::check_subject),
        ..of_requests("CertificateSubjectRestriction")
    },
    KindPlugin {
        mutate: Some(classes::set_ingress_class),
        ..plugin("DefaultIngressClass", "networking.k8s.io", "ingresses")
    },
    KindPlugin {
        mutate: Some(pods::add_topology_labels),
        ..plugin("PodTopologyLabels", "", "pods")
    },
    KindPlugin {
        subresource: "binding",
        mutate: Some(pods::add_topology_labels),
        ..plugin("PodTopologyLabels", "", "pods")
    },
];

/// Adds the plugins for the objects of a resource to the chain of a client's write, in the order in
/// which they are run.
#[derive(Debug)]
pub(crate) struct Plugins;

impl Controller for Plugins {
    fn watches(&self, group: &str, plural: &str) -> bool {
        PLUGINS.iter().any(|plugin| plugin.is_for(group, plural))
    }

    fn guard(&self, server: &Arc<Shared>, resource: &Resource, chain: Chain) -> Chain {
        let (group, plural) = (resource.definition.group(), &resource.definition.names().plural);
        let disabled = &server.settings.disabled_plugins;
        let plugins = PLUGINS.iter().filter(|plugin| {
            plugin.is_for(group, plural) && !disabled.iter().any(|name| name == plugin.name)
        });
        plugins
            .fold(chain, |chain, plugin| chain.plugin(Bound { plugin, server: Arc::clone(server) }))
    }

    fn guard_unstored(&self, server: &Arc<Shared>, resource: &Resource, chain: Chain) -> Chain {
        self.guard(server, resource, chain)
    }
}

impl KindPlugin {
    fn is_for(&self, group: &str, resource: &str) -> bool {
        self.group == group && self.resource == resource
    }
}

/// A plugin in a server.
struct Bound {
    plugin: &'static KindPlugin,
    server: Arc<Shared>,
}

impl Plugin for Bound {
    fn name(&self) -> &str {
        self.plugin.name
    }

    fn has_stage(&self, stage: Stage) -> bool {
        match stage {
            Stage::Mutating => self.plugin.mutate.is_some(),
            _ => self.plugin.validate.is_some(),
        }
    }

    fn handles(&self, operation: Operation) -> bool {
        self.plugin.operations.contains(&operation)
    }

    fn sees_owners(&self) -> bool {
        false
    }

    fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        self.act(self.plugin.mutate, request)
    }

    fn validate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        self.act(self.plugin.validate, request)
    }
}

impl Bound {
    fn act(&self, act: Option<Act>, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let is_for = request.attributes().subresource == self.plugin.subresource;
        act.filter(|_| is_for).map_or(Ok(()), |act| act(&self.server, request))
    }
}

/// The refusal of a request.
fn forbidden(attributes: &AdmissionAttributes, why: &str) -> Status {
    Status::forbidden(&attributes.resource, &attributes.name, why)
}
