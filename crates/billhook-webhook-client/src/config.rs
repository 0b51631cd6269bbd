//! The file that says where the credentials of the two stages are (CL-10 to CL-13).

use std::path::Path;

use billhook_admission::Stage;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::TypedRecord;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{message_error, record};
use serde_json::Value;

use super::users::Kubeconfig;

message_error! {
    /// A configuration file of admission that cannot be used.
    pub struct AdmissionConfigurationError;
}

type Result<T> = std::result::Result<T, AdmissionConfigurationError>;

fn error<T>(message: impl Into<String>) -> Result<T> {
    Err(AdmissionConfigurationError::new(message))
}

/// The form of a plugin's configuration that is read: apiVersion and kind.
type Form = (&'static str, &'static str);

const CURRENT: Form = ("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration");
/// The form that servers before 1.36 read too (CL-12).
const DEPRECATED: Form = ("apiserver.config.k8s.io/v1alpha1", "WebhookAdmission");

/// The plugins whose configuration is read.
const WEBHOOKS: [&str; 2] = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"];

record! {
    /// The file.
    #[derive(Default)]
    struct Configuration = "AdmissionConfiguration" {
        api_version: String = "apiVersion" as "APIVersion",
        kind: String = "kind",
        plugins: Vec<Plugin> = "plugins",
    }

    #[derive(Default)]
    struct Plugin = "AdmissionPluginConfiguration" {
        name: String = "name",
        path: String = "path",
        configuration: Option<DeepValue> = "configuration",
    }

    /// The configuration of a webhook plugin.
    #[derive(Default)]
    struct WebhookAdmission = "WebhookAdmission" {
        api_version: String = "apiVersion" as "APIVersion",
        kind: String = "kind",
        kubeconfig: String = "kubeConfigFile",
    }
}

/// The credentials of the two stages, as an `AdmissionConfiguration` file names them (CL-10,
/// CL-11).
///
/// ```no_run
/// use billhook_webhook_client::{AdmissionConfiguration, HttpsCaller};
/// use std::path::Path;
///
/// let configuration = AdmissionConfiguration::from_file(Path::new("/etc/admission.yaml"))?;
/// let caller = HttpsCaller::default().admission_configuration(configuration);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AdmissionConfiguration {
    mutating: Kubeconfig,
    validating: Kubeconfig,
    /// The configurations of other plugins.
    others: Vec<(String, DeepValue)>,
    warnings: Vec<String>,
}

impl AdmissionConfiguration {
    /// Reads a file and the kubeconfigs that it names.
    pub fn from_file(path: &Path) -> Result<Self> {
        read(path, &[CURRENT])
    }

    /// [`AdmissionConfiguration::from_file`] that also reads the form of version v1alpha1 in which
    /// plugins were configured before; a warning says so (CL-12).
    pub fn from_file_with_deprecated(path: &Path) -> Result<Self> {
        read(path, &[CURRENT, DEPRECATED])
    }

    /// Returns advice about forms that should be written differently.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the plugins in the file beside the two of webhooks by their names, and their
    /// configurations; null if there is none.
    pub fn other_plugins(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.others.iter().map(|(name, configuration)| (name.as_str(), &**configuration))
    }

    /// The credentials of the two stages.
    pub(super) fn into_kubeconfigs(self) -> [(Stage, Kubeconfig); 2] {
        [(Stage::Mutating, self.mutating), (Stage::Validating, self.validating)]
    }
}

fn read(path: &Path, forms: &[Form]) -> Result<AdmissionConfiguration> {
    let document = document(path)?;
    let versions = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"];
    check_type(&document, &versions.map(|version| (version, "AdmissionConfiguration")))?;
    let Configuration { mut plugins, .. } = strict(&document)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut warnings = Vec::new();
    let mut stage = |name: &str| {
        let init = |error: AdmissionConfigurationError| {
            let name = quote(name);
            AdmissionConfigurationError::new(format!(
                "couldn't init admission plugin {name}: {error}"
            ))
        };
        // The first of several entries counts.
        match plugins.iter_mut().find(|plugin| plugin.name == name) {
            Some(plugin) => {
                of_plugin(std::mem::take(plugin), directory, forms, &mut warnings).map_err(init)
            }
            None => Ok(Kubeconfig::default()),
        }
    };
    let [mutating, validating] = WEBHOOKS.map(&mut stage);
    let (mutating, validating) = (mutating?, validating?);
    warnings.dedup();
    let is_other =
        |plugin: &Plugin| !plugin.name.is_empty() && !WEBHOOKS.contains(&plugin.name.as_str());
    let others = plugins.into_iter().filter(is_other).map(|mut plugin| {
        let name = std::mem::take(&mut plugin.name);
        Ok((name, configuration(plugin, directory)?.unwrap_or_default()))
    });
    let others = others.collect::<Result<_>>()?;
    Ok(AdmissionConfiguration { mutating, validating, others, warnings })
}

/// The configuration of a plugin, if it has one; what is embedded wins (CL-10).
fn configuration(plugin: Plugin, directory: &Path) -> Result<Option<DeepValue>> {
    match plugin.configuration {
        Some(configuration) => Ok(Some(configuration)),
        None if plugin.path.is_empty() => Ok(None),
        None => document(&directory.join(plugin.path)).map(Some),
    }
}

/// The credentials that the configuration of a plugin names (CL-11).
fn of_plugin(
    plugin: Plugin,
    directory: &Path,
    forms: &[Form],
    warnings: &mut Vec<String>,
) -> Result<Kubeconfig> {
    let Some(configuration) = configuration(plugin, directory)? else {
        return Ok(Kubeconfig::default());
    };
    let form = check_type(&configuration, forms)?;
    if form == DEPRECATED {
        let ((old_version, old_kind), (version, kind)) = (form, CURRENT);
        warnings.push(format!(
            "{old_version} {old_kind} is deprecated and not read by servers since v1.36; use \
             {version} {kind}"
        ));
    }
    let WebhookAdmission { kubeconfig: file, .. } = strict(&configuration)?;
    if file.is_empty() {
        return Ok(Kubeconfig::default());
    }
    let path = Path::new(&file);
    if !path.is_absolute() {
        let file = quote(&file);
        return error(format!(
            "kubeConfigFile: Invalid value: {file}: must be an absolute file path"
        ));
    }
    Kubeconfig::from_file(path).map_err(|error| AdmissionConfigurationError::new(error.to_string()))
}

fn document(path: &Path) -> Result<DeepValue> {
    let shown = path.display();
    let failed = |error: String| AdmissionConfigurationError::new(format!("{shown}: {error}"));
    let text = crate::files::read(path).map_err(|error| failed(error.to_string()))?;
    let document = billhook_yaml::read_document(&text).map_err(|error| {
        failed(format!("line {}, column {}: {error}", error.line(), error.column()))
    })?;
    match document.duplicates().first() {
        Some(duplicate) => {
            Err(failed(format!("duplicate field {}", quote(&duplicate.path().to_dotted()))))
        }
        None => Ok(document.into_value()),
    }
}

fn check_type(document: &Value, forms: &[Form]) -> Result<Form> {
    record::expect_type(document, forms).or_else(|wrong| error(wrong.to_string()))
}

/// Decoding is strict (CL-10).
fn strict<T: TypedRecord>(document: &Value) -> Result<T> {
    match T::read(document) {
        Ok((record, unknown)) if unknown.is_empty() => Ok(record),
        Ok((_, unknown)) => error(format!("strict decoding error: {}", unknown.join(", "))),
        Err(wrong) => error(wrong.to_string()),
    }
}
