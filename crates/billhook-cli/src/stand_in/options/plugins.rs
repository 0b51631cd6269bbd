//! Admission plugins that are switched on and off, and their configuration.

use std::path::Path;

use billhook_apiserver::SecurityDefaults;
use billhook_webhook_client::AdmissionConfiguration;

use crate::stand_in::flags::Flags;

/// The plugins that are on by default and that a server here has, which switching on leaves on.
const ON: [&str; 27] = [
    "NamespaceLifecycle",
    "LimitRanger",
    "ServiceAccount",
    "TaintNodesByCondition",
    "PodSecurity",
    "Priority",
    "DefaultTolerationSeconds",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PodGroupProtection",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "PodTopologyLabels",
    "PodGroupWorkloadExists",
    "NodeDeclaredFeatureValidator",
    "JobValidation",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
];
/// The plugin that asks for levels of security.
const SECURITY: &str = "PodSecurity";
/// The plugins that are off by default; a server here has none of them.
const OFF: [&str; 14] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "NodeRestriction",
    "OwnerReferencesPermissionEnforcement",
    "PodNodeSelector",
    "PodTolerationRestriction",
];

/// Returns the plugins that are switched off.
pub(super) fn disabled(
    flags: &Flags,
    errors: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let (enable, disable) = ("enable-admission-plugins", "disable-admission-plugins");
    let (enabled, disabled) = (flags.all(enable), flags.all(disable));
    let is_known = |name: &&str| ON.contains(name) || OFF.contains(name);
    for (flag, names) in [(enable, enabled), (disable, disabled)] {
        let unknown = names.iter().filter(|name| !is_known(&name.as_str()));
        errors.extend(unknown.map(|name| format!("{flag} plugin {name:?} is unknown")));
    }
    let both: Vec<&str> =
        enabled.iter().filter(|name| disabled.contains(name)).map(String::as_str).collect();
    if !both.is_empty() {
        errors.push(format!("[{}] in {enable} and {disable} overlapped", both.join(" ")));
    }
    for name in enabled.iter().filter(|name| OFF.contains(&name.as_str())) {
        warnings.push(format!(
            "--{enable}={name} is accepted and has no effect: the plugin is not implemented"
        ));
    }
    disabled.to_vec()
}

/// Reads the configuration of plugins (ET-61), of which the credentials for webhooks and the levels of
/// security have an effect.
pub(super) fn configuration(
    flags: &Flags,
    errors: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> (AdmissionConfiguration, SecurityDefaults) {
    let name = "admission-control-config-file";
    let file = flags.text(name).map(Path::new);
    let read = file
        .map_or_else(|| Ok(AdmissionConfiguration::default()), AdmissionConfiguration::from_file);
    let configuration = read.unwrap_or_else(|error| {
        let (error, file) = (error.to_string(), file.map(|file| file.display().to_string()));
        // Servers do not always name the file.
        let file = file.filter(|file| !error.contains(file));
        let file = file.map(|file| format!(" ({file})")).unwrap_or_default();
        errors.push(format!("failed to read plugin config: {error}{file}"));
        AdmissionConfiguration::default()
    });
    let (own, others): (Vec<_>, Vec<_>) =
        configuration.other_plugins().partition(|(plugin, _)| *plugin == SECURITY);
    warnings.extend(others.into_iter().map(|(plugin, _)| {
        format!("--{name} is accepted and has no effect on {plugin}: the plugin has its defaults")
    }));
    // The first of several entries counts.
    let own = own.first().map(|(_, document)| *document).filter(|document| !document.is_null());
    let levels = own.map_or_else(|| Ok(SecurityDefaults::default()), SecurityDefaults::read);
    let levels = levels.unwrap_or_else(|error| {
        errors.push(format!("failed to read plugin config: {SECURITY}: {error}"));
        SecurityDefaults::default()
    });
    (configuration, levels)
}
