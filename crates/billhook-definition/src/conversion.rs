//! The conversion of objects between versions (CV-105 to CV-107).

use std::collections::BTreeSet;

use billhook_apimachinery::base64;
use billhook_apimachinery::names::dns1035_label;
use billhook_apimachinery::{FieldError, FieldPath};

use crate::ca_bundle::certificates;
use crate::client_config::ClientConfig;
use crate::client_config_check::validate_client_config;
use crate::model::Model;
use crate::options::Options;
use crate::spec::{one_of, spec};
use crate::types::ConversionWebhook;

const KNOWN_REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

pub(crate) fn check(model: &Model<'_>, options: &Options<'_>, errors: &mut Vec<FieldError>) {
    // A missing conversion is none (CV-01).
    let Some(conversion) = &model.spec.conversion else { return };
    let path = spec("conversion");
    let strategy = conversion.strategy.as_str();
    if strategy != "None" && model.spec.preserve_unknown_fields {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(path.clone().name("strategy"), strategy, detail));
    }
    one_of(path.clone().name("strategy"), strategy, &["None", "Webhook"], errors);
    let webhook = conversion.webhook.as_ref();
    let config = webhook.and_then(|webhook| webhook.client_config.as_ref());
    let review = review_versions(webhook);
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
            validate_client_config(config, &config_path, options.wording(), errors);
            if options.ca_bundle
                && !config.ca_bundle.is_empty()
                && let Err(error) = certificates(&config.ca_bundle)
            {
                let bundle = base64::encode(&config.ca_bundle);
                let detail = error.to_string();
                errors.push(FieldError::invalid(config_path.name("caBundle"), bundle, &detail));
            }
        }
    }
    check_review_versions(review, &review_path, options.known_review_version, errors);
}

fn review_versions(webhook: Option<&ConversionWebhook>) -> &[String] {
    webhook.map_or(&[], |webhook| &webhook.conversion_review_versions)
}

fn check_review_versions(
    versions: &[String],
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
        if !seen.insert(version) {
            errors.push(FieldError::invalid(path, version.as_str(), "duplicate version"));
            continue;
        }
        for message in dns1035_label(version) {
            errors.push(FieldError::invalid(path.clone(), version.as_str(), &message));
        }
    }
    if known_required && !has_known_version(versions) {
        let known = KNOWN_REVIEW_VERSIONS.join(", ");
        let detail = format!("must include at least one of {known}");
        errors.push(FieldError::invalid(path.clone(), versions.to_vec(), &detail).of_strings());
    }
}

fn has_known_version(versions: &[String]) -> bool {
    versions.iter().any(|version| KNOWN_REVIEW_VERSIONS.contains(&version.as_str()))
}

/// Whether an update of this definition checks the certificates (CV-89).
pub(crate) fn checks_ca_bundle(old: &Model<'_>) -> bool {
    let config = webhook(old).and_then(|webhook| webhook.client_config.as_ref());
    let is_usable = |config: &ClientConfig| {
        config.ca_bundle.is_empty() || certificates(&config.ca_bundle).is_ok()
    };
    old.is_established && config.is_none_or(is_usable)
}

/// Whether an update of this definition must name a known review version (CV-107).
pub(crate) fn has_no_unknown_review_versions(old: &Model<'_>) -> bool {
    let versions = review_versions(webhook(old));
    versions.is_empty() || has_known_version(versions)
}

fn webhook<'v>(model: &Model<'v>) -> Option<&'v ConversionWebhook> {
    model.spec.conversion.as_ref()?.webhook.as_ref()
}
