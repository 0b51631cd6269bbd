//! The conversion of objects between versions (CV-105 to CV-107).

use std::collections::BTreeSet;

use billhook_apimachinery::names::dns1035_label;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use crate::ca_bundle::certificates;
use crate::client_config::{ClientConfig, ServiceReference};
use crate::client_config_check::validate_client_config;
use crate::model::Model;
use crate::options::Options;
use crate::spec::{one_of, spec};
use billhook_apimachinery::base64;
use billhook_apimachinery::record::{list, member, text, texts};

const KNOWN_REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

pub(crate) fn check(model: &Model<'_>, options: &Options<'_>, errors: &mut Vec<FieldError>) {
    // A missing conversion counts as `None` (CV-01).
    let Some(conversion) = model.conversion else { return };
    let path = spec("conversion");
    let strategy = text(conversion, "strategy");
    if strategy != "None" && model.preserve_unknown_fields {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(path.clone().name("strategy"), strategy, detail));
    }
    one_of(path.clone().name("strategy"), strategy, &["None", "Webhook"], errors);
    let webhook = member(conversion, "webhook");
    let config = webhook.and_then(|webhook| member(webhook, "clientConfig"));
    let review = webhook.map_or(&[][..], |webhook| list(webhook, "conversionReviewVersions"));
    let (config_path, review_path) =
        (path.clone().name("webhookClientConfig"), path.name("conversionReviewVersions"));
    if strategy != "Webhook" {
        // CV-106.
        let detail = "should not be set when strategy is not set to Webhook";
        if config.is_some() {
            errors.push(FieldError::forbidden(config_path, detail));
        }
        if !review.is_empty() {
            errors.push(FieldError::forbidden(review_path, detail));
        }
        return;
    }
    match config {
        None => {
            let detail = "required when strategy is set to Webhook";
            errors.push(FieldError::required(config_path, detail));
        }
        Some(config) => {
            validate_client_config(&client_config(config), &config_path, errors);
            let bundle = text(config, "caBundle");
            if options.ca_bundle
                && !bundle.is_empty()
                && let Err(detail) = check_bundle(bundle)
            {
                errors.push(FieldError::invalid(config_path.name("caBundle"), bundle, &detail));
            }
        }
    }
    let review = webhook.map_or(Vec::new(), review_versions);
    check_review_versions(&review, &review_path, options.known_review_version, errors);
}

fn review_versions(webhook: &Value) -> Vec<&str> {
    texts(webhook, "conversionReviewVersions")
}

fn check_review_versions(
    versions: &[&str],
    path: &FieldPath,
    known_required: bool,
    errors: &mut Vec<FieldError>,
) {
    if versions.is_empty() {
        errors.push(FieldError::required(path.clone(), ""));
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let path = path.clone().index(index);
        if !seen.insert(*version) {
            errors.push(FieldError::invalid(path, *version, "duplicate version"));
            continue;
        }
        for message in dns1035_label(version) {
            errors.push(FieldError::invalid(path.clone(), *version, &message));
        }
    }
    if known_required && !has_known_version(versions) {
        let known = KNOWN_REVIEW_VERSIONS.join(", ");
        let detail = format!("must include at least one of {known}");
        errors.push(FieldError::invalid(path.clone(), versions.to_vec(), &detail));
    }
}

fn has_known_version(versions: &[&str]) -> bool {
    versions.iter().any(|version| KNOWN_REVIEW_VERSIONS.contains(version))
}

fn client_config(config: &Value) -> ClientConfig {
    let optional =
        |value: &Value, name: &str| member(value, name).and_then(Value::as_str).map(str::to_owned);
    let service = member(config, "service").map(|service| {
        let port = member(service, "port").and_then(Value::as_f64);
        ServiceReference {
            name: text(service, "name").to_owned(),
            namespace: text(service, "namespace").to_owned(),
            path: optional(service, "path"),
            // CV-01.
            port: Some(port.map_or(443, |port| port as i32)),
        }
    });
    ClientConfig { url: optional(config, "url"), service, ..ClientConfig::default() }
}

/// Whether an update of this definition checks the certificates (CV-89).
pub(crate) fn checks_ca_bundle(old: &Model<'_>) -> bool {
    let config = old.conversion.and_then(|conversion| member(conversion, "webhook"));
    let config = config.and_then(|webhook| member(webhook, "clientConfig"));
    let bundle = config.map_or("", |config| text(config, "caBundle"));
    old.is_established && (bundle.is_empty() || check_bundle(bundle).is_ok())
}

/// Whether an update of this definition must name a known review version (CV-107).
pub(crate) fn has_no_unknown_review_versions(old: &Model<'_>) -> bool {
    let webhook = old.conversion.and_then(|conversion| member(conversion, "webhook"));
    let versions = webhook.map_or(Vec::new(), review_versions);
    versions.is_empty() || has_known_version(&versions)
}

/// Whether there are certificates in a bundle, which is base64 text.
fn check_bundle(bundle: &str) -> Result<(), String> {
    certificates(&base64::decode(bundle).unwrap_or_default()).map(|_| ())
}
