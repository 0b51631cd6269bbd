//! ResourceQuotas: what a write adds to them, and whether they allow it (BK-562).

use std::sync::Arc;

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook::{DeepValue, Scope};
use billhook_admission::{Chain, ObjectRequest, Plugin, Stage, Subresource};
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::deep_clone;
use billhook_kinds::{QuotaError, QuotaSubject, charge};
use serde_json::{Map, Value};

use super::forbidden;
use crate::future::BoxFuture;
use crate::resources::Resource;
use crate::shared::{Controller, Shared};
use crate::write_path::{admit_own, object_key};

const NAME: &str = "ResourceQuota";
const QUOTAS: &str = "resourcequotas.";

/// How often a quota is charged that others change at the same time.
const MAX_ATTEMPTS: usize = 5;

/// Charges the quotas of a namespace for clients' writes, after everything else has agreed to them.
#[derive(Debug)]
pub(crate) struct Quotas;

impl Controller for Quotas {
    fn watches(&self, _: &str, plural: &str) -> bool {
        plural != "events"
    }

    fn guard(&self, server: &Arc<Shared>, resource: &Resource, chain: Chain) -> Chain {
        let is_off = server.settings.disabled_plugins.iter().any(|name| name == NAME);
        let definition = &resource.definition;
        if is_off || definition.scope() != Scope::Namespaced {
            return chain;
        }
        let (group, plural) = (definition.group(), &definition.names().plural);
        let counts_updates = QuotaSubject::counts_updates(group, plural);
        chain.late_plugin(Quota { server: Arc::clone(server), counts_updates })
    }
}

/// The quotas of a server.
struct Quota {
    server: Arc<Shared>,
    counts_updates: bool,
}

impl Plugin for Quota {
    fn name(&self) -> &str {
        NAME
    }

    fn has_stage(&self, stage: Stage) -> bool {
        stage == Stage::Validating
    }

    fn handles(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn sees_owners(&self) -> bool {
        false
    }

    fn reserve<'a>(
        &'a self,
        attributes: &'a AdmissionAttributes,
    ) -> Option<BoxFuture<'a, Result<(), Status>>> {
        if !self.counts(attributes) {
            return None;
        }
        let prefix = object_key(&attributes.namespace, "");
        let quotas = self.quotas(&prefix);
        if quotas.is_empty() {
            return None;
        }
        Some(Box::pin(self.charge(attributes, prefix, quotas)))
    }
}

/// A quota, and what is used of it after a request.
type Charged<'q> = (&'q DeepValue, Map<String, Value>);

/// The quotas that a request changes, with what is used of them afterwards.
fn charged<'q>(
    attributes: &AdmissionAttributes,
    quotas: &'q [DeepValue],
) -> Result<Vec<Charged<'q>>, QuotaError> {
    let Some(object) = attributes.object.as_deref() else { return Ok(Vec::new()) };
    let resource = &attributes.resource;
    let old = attributes.old_object.as_deref();
    let subject = QuotaSubject::new(&resource.group, &resource.resource, object, old);
    let mut covering = Vec::new();
    for quota in quotas {
        if subject.is_covered_by(quota)? {
            covering.push(quota);
        }
    }
    if covering.is_empty() {
        return Ok(Vec::new());
    }
    let added = subject.added()?;
    let mut charged = Vec::new();
    for quota in covering {
        if let Some(used) = charge(quota, &added)? {
            charged.push((quota, used));
        }
    }
    Ok(charged)
}

impl Quota {
    /// Whether a write can change what is used.
    fn counts(&self, attributes: &AdmissionAttributes) -> bool {
        match (attributes.operation, attributes.subresource.as_str()) {
            (Operation::Create, "") => true,
            (Operation::Update, "") => self.counts_updates,
            (Operation::Update, "resize") => true,
            _ => false,
        }
    }

    fn quotas(&self, prefix: &str) -> Vec<DeepValue> {
        self.server.read_objects("", "resourcequotas", prefix)
    }

    /// Charges the quotas, and those that took their place if others changed them meanwhile.
    async fn charge(
        &self,
        attributes: &AdmissionAttributes,
        prefix: String,
        mut quotas: Vec<DeepValue>,
    ) -> Result<(), Status> {
        for _ in 0..MAX_ATTEMPTS {
            let charged = charged(attributes, &quotas)
                .map_err(|why| forbidden(attributes, &why.to_string()))?;
            if attributes.dry_run || self.write(&prefix, charged).await {
                return Ok(());
            }
            quotas = self.quotas(&prefix);
        }
        Err(Status::internal_error("resource quota evaluation timed out"))
    }

    /// Writes what is used; false if a quota was changed meanwhile.
    async fn write(&self, prefix: &str, charged: Vec<Charged<'_>>) -> bool {
        let Some(resource) = self.server.catalog().native(QUOTAS) else { return true };
        for (quota, used) in charged {
            let metadata = quota.get("metadata").unwrap_or(&Value::Null);
            let name = text(metadata, "name");
            let key = format!("{prefix}{name}");
            let Some(stored) = self.server.storage.get(&resource.collection, &key) else {
                return false;
            };
            let mut object = DeepValue::from(deep_clone(quota));
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.insert("resourceVersion".to_owned(), stored.modified.to_string().into());
            }
            if let Some(Value::Object(status)) = object.get_mut("status") {
                status.insert("used".to_owned(), used.into());
            }
            let request = ObjectRequest::replace_object("v1", object, resource.stored(&stored))
                .name(name)
                .namespace(text(metadata, "namespace"))
                .subresource(Subresource::Status)
                .field_manager("kube-apiserver");
            // The write of a quota is not charged itself.
            let written: BoxFuture<'_, _> = Box::pin(admit_own(&self.server, &resource, request));
            if written.await.result.is_err() {
                return false;
            }
        }
        true
    }
}
