//! The defaults of configurations, which differ by version (WCF-10 to WCF-14).

use super::configuration::{ConfigurationKind, ConfigurationVersion, WebhookConfiguration};

impl WebhookConfiguration {
    /// Sets the defaults of the version it was written in. Only what is absent is set: an empty
    /// text is there, and is refused by validation (WCF-10).
    pub fn set_defaults(&mut self) {
        let is_old = self.version == ConfigurationVersion::V1beta1;
        let set = |field: &mut Option<String>, value: &str| {
            field.get_or_insert_with(|| value.to_owned());
        };
        for webhook in &mut self.webhooks {
            set(&mut webhook.failure_policy, if is_old { "Ignore" } else { "Fail" });
            set(&mut webhook.match_policy, if is_old { "Exact" } else { "Equivalent" });
            webhook.namespace_selector.get_or_insert_default();
            webhook.object_selector.get_or_insert_default();
            webhook.timeout_seconds.get_or_insert(if is_old { 30 } else { 10 });
            if self.kind == ConfigurationKind::Mutating {
                set(&mut webhook.reinvocation_policy, "Never");
            }
            if is_old {
                set(&mut webhook.side_effects, "Unknown");
                let versions = webhook.admission_review_versions.get_or_insert_default();
                if versions.is_empty() {
                    versions.push("v1beta1".to_owned());
                }
            }
            for rule in &mut webhook.rules {
                set(&mut rule.scope, "*");
            }
            if let Some(service) = &mut webhook.client_config.service {
                service.port.get_or_insert(443);
            }
        }
    }
}
