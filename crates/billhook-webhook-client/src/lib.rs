#![doc = include_str!("../README.md")]
//!
//! # Crate features
//!
//! - `tracing`: log events of calls, and those of `billhook-admission`.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod certificate;
mod config;
mod connect;
mod connector;
mod credentials;
mod error;
mod exchange;
mod exec;
mod files;
mod get;
mod proxy;
mod redirect;
mod resolve;
mod target;
mod tls;
mod trace;
mod users;
mod verifier;
#[cfg(feature = "tracing")]
mod warning;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use connect::{Network, Pool};
use credentials::Credentials;
use exchange::{Endpoint, MAX_CALL};
use redirect::Elsewhere;
use target::Target;
use tokio::time::{Instant, timeout};
use users::User;

use billhook::ClientConfig;
use billhook_admission::Stage;
use billhook_admission::{
    BoxFuture, CallerError, ConversionCall, WebhookAnswer, WebhookCall, WebhookCaller,
};

pub use config::{AdmissionConfiguration, AdmissionConfigurationError};
pub use connector::{ConnectError, Connection, Connector, Direct};
pub use get::{GetError, get};
pub use proxy::Proxies;
pub use resolve::{DnsResolver, ResolveError, ServiceAddress, ServiceResolver, StaticResolver};
pub use trace::TraceContext;
pub use users::{Kubeconfig, KubeconfigError};

/// How many clients of a stage are kept (CL-70).
const MAX_CLIENTS: usize = 200;
/// The largest answer by default: what a server stores, and room for its encoding (CL-59).
const MAX_RESPONSE: usize = 4 * 1024 * 1024;

/// Calls webhooks over HTTPS, those of admission and those that convert. It must be used inside a tokio runtime with its timers and its
/// network switched on; connections are kept and belong to that runtime.
///
/// ```
/// use billhook_webhook_client::{HttpsCaller, StaticResolver};
///
/// let caller = HttpsCaller::default()
///     .resolver(StaticResolver::default().with("shop", "guard", "127.0.0.1:8443"))
///     .max_response(1024 * 1024);
/// ```
///
/// Redirects are followed as a server does, but without credentials to other hosts
/// ([`HttpsCaller::follow_redirects`]). Webhooks with a URL are reached through the proxies of the
/// environment, those of services directly ([`HttpsCaller::url_connector`]).
pub struct HttpsCaller {
    network: Network,
    mutating: Clients,
    validating: Clients,
    /// They have no credentials (CX-32).
    conversion: Clients,
    user_agent: String,
    max_response: usize,
    follows_redirects: bool,
    trace_context: Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>,
}

/// The clients of a stage, and the credentials it has (CL-11, CL-70).
#[derive(Default)]
struct Clients {
    kubeconfig: Kubeconfig,
    /// The ones used last are at the end.
    used: Mutex<Vec<(ClientConfig, Arc<Client>)>>,
}

impl Clients {
    /// The client of a webhook if there is one whose credentials are good.
    fn get(&self, config: &ClientConfig) -> Option<Arc<Client>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let position = used.iter().position(|(known, _)| known == config)?;
        let (config, client) = used.remove(position);
        if !client.credentials.are_fresh() {
            return None;
        }
        used.push((config, Arc::clone(&client)));
        Some(client)
    }

    /// Keeps a new client, in the place of another one of the same webhook or of the one that was
    /// used longest ago.
    fn put(&self, config: &ClientConfig, client: &Arc<Client>) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|(known, _)| known != config);
        if used.len() >= MAX_CLIENTS {
            used.remove(0);
        }
        used.push((config.clone(), Arc::clone(client)));
    }
}

/// The client that is kept for a webhook.
struct Client {
    pool: Pool,
    /// The way to other servers, if redirects are followed.
    elsewhere: Option<Elsewhere>,
    credentials: Credentials,
}

impl Default for HttpsCaller {
    fn default() -> Self {
        HttpsCaller {
            network: Network {
                resolver: Arc::new(DnsResolver),
                service_connector: Arc::new(Direct),
                url_connector: Arc::new(Proxies::from_environment()),
            },
            mutating: Clients::default(),
            validating: Clients::default(),
            conversion: Clients::default(),
            user_agent: concat!("billhook/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_response: MAX_RESPONSE,
            follows_redirects: true,
            trace_context: Arc::new(|| None),
        }
    }
}

impl fmt::Debug for HttpsCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpsCaller").finish_non_exhaustive()
    }
}

impl HttpsCaller {
    /// The caller with another way from services to addresses; the domain name system by default.
    #[must_use]
    pub fn resolver(mut self, resolver: impl ServiceResolver + 'static) -> Self {
        self.network.resolver = Arc::new(resolver);
        self
    }

    /// The caller that connects to webhooks with a URL in another way; by default through the
    /// proxies of the environment (CL-52).
    #[must_use]
    pub fn url_connector(mut self, connector: impl Connector + 'static) -> Self {
        self.network.url_connector = Arc::new(connector);
        self
    }

    /// The caller that connects to services in another way than directly, which is the default:
    /// they are in the network of the cluster (CL-52). The address is what the resolver knows.
    #[must_use]
    pub fn service_connector(mut self, connector: impl Connector + 'static) -> Self {
        self.network.service_connector = Arc::new(connector);
        self
    }

    /// The caller with the credentials of a stage; none by default.
    #[must_use]
    pub fn credentials(mut self, stage: Stage, kubeconfig: Kubeconfig) -> Self {
        match stage {
            Stage::Mutating => self.mutating.kubeconfig = kubeconfig,
            Stage::Validating => self.validating.kubeconfig = kubeconfig,
        }
        self
    }

    /// The caller with the credentials of both stages, as a file names them (CL-10, CL-11).
    #[must_use]
    pub fn admission_configuration(self, configuration: AdmissionConfiguration) -> Self {
        let stages = configuration.into_kubeconfigs().into_iter();
        stages.fold(self, |caller, (stage, found)| caller.credentials(stage, found))
    }

    /// The caller with another `User-Agent` (CL-33).
    #[must_use]
    pub fn user_agent(mut self, user_agent: &str) -> Self {
        user_agent.clone_into(&mut self.user_agent);
        self
    }

    /// The caller with another limit for the body of an answer, in bytes; 4 MiB by default.
    #[must_use]
    pub fn max_response(mut self, bytes: usize) -> Self {
        self.max_response = bytes;
        self
    }

    /// The caller that follows redirects of webhooks, which it does by default and a server too, or
    /// takes them as errors (CL-61). A webhook that may redirect a server can make it send requests
    /// to any other.
    #[must_use]
    pub fn follow_redirects(mut self, follow: bool) -> Self {
        self.follows_redirects = follow;
        self
    }

    /// The caller that tells webhooks which trace a call belongs to; by default it does not
    /// (CL-51). The function is asked for each call, inside the span of the call if the feature
    /// `tracing` is on, so that it can look for the context in the current span (OB-50).
    #[must_use]
    pub fn trace_context(
        mut self,
        current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.trace_context = Arc::new(current);
        self
    }

    fn clients(&self, stage: Stage) -> &Clients {
        match stage {
            Stage::Mutating => &self.mutating,
            Stage::Validating => &self.validating,
        }
    }

    /// The client of a webhook, made if it is absent or its credentials are no longer good.
    /// Failures are not kept (CL-71).
    async fn client(&self, to: Addressed<'_>) -> Result<Arc<Client>, String> {
        let Addressed { hook, config, clients } = to;
        if let Some(client) = clients.get(config) {
            return Ok(client);
        }
        let target = Target::new(hook, config)?;
        let mut user = clients.kubeconfig.user(&target.user_key());
        let mut expires = None;
        if let Some(known) = &mut user
            && let Some(program) = known.program.take()
        {
            let given = program.run().await?;
            expires = Some(given.expires.clone()).filter(|time| !time.is_empty());
            known.take(given);
        }
        self.make(to, target, user.as_ref(), expires)
    }

    /// Makes the client of a webhook.
    fn make(
        &self,
        to: Addressed<'_>,
        target: Target,
        user: Option<&User>,
        expires: Option<String>,
    ) -> Result<Arc<Client>, String> {
        let Addressed { config, clients, .. } = to;
        let credentials = Credentials::new(user, expires)?;
        let ca_bundle = &config.ca_bundle;
        let tls = tls::settings(ca_bundle, user)?;
        let elsewhere = match self.follows_redirects {
            false => None,
            true => Some(Elsewhere {
                network: self.network.clone(),
                tls: match user {
                    None => Arc::clone(&tls),
                    Some(_) => tls::settings(ca_bundle, None)?,
                },
            }),
        };
        let pool = Pool::new(target, self.network.clone(), tls)?;
        let client = Arc::new(Client { pool, elsewhere, credentials });
        clients.put(config, &client);
        Ok(client)
    }

    /// Posts a body to a webhook; preparing that is part of the time there is.
    async fn exchange(
        &self,
        to: Addressed<'_>,
        body: impl FnOnce() -> Vec<u8>,
        time: Option<Duration>,
    ) -> Result<WebhookAnswer, CallerError> {
        // A program that gives credentials may take its time, which is the call's.
        let began = Instant::now();
        let limit = time.unwrap_or(MAX_CALL).min(MAX_CALL);
        let client = timeout(limit, self.client(to))
            .await
            .unwrap_or_else(|_| Err("context deadline exceeded".to_owned()))
            .map_err(|error| CallerError::Client(error.into()))?;
        let time = time.map(|time| time.saturating_sub(began.elapsed()));
        let credentials = client.credentials.headers(&self.user_agent);
        let mut headers = credentials.map_err(|error| CallerError::Client(error.into()))?;
        if let Some(context) = (self.trace_context)() {
            context.add_to(&mut headers);
        }
        let endpoint = Endpoint {
            hook: to.hook,
            pool: &client.pool,
            headers,
            max_response: self.max_response,
            elsewhere: client.elsewhere.as_ref(),
        };
        Ok(endpoint.post(body(), time).await?)
    }
}

/// The webhook that a call is for.
#[derive(Clone, Copy)]
struct Addressed<'a> {
    /// Its name, in errors.
    hook: &'a str,
    config: &'a ClientConfig,
    /// The clients among which its own is kept.
    clients: &'a Clients,
}

impl WebhookCaller for HttpsCaller {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let WebhookCall { stage, hook, client_config: config, review, timeout, .. } = call;
        let to = Addressed { hook, config, clients: self.clients(stage) };
        Box::pin(self.exchange(to, move || review.to_json(), timeout))
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let ConversionCall { client_config, review, .. } = call;
        Box::pin(async move {
            let config = &of_conversion(client_config);
            let to = Addressed { hook: "conversion", config, clients: &self.conversion };
            self.exchange(to, move || review.to_json(), Some(MAX_CALL)).await
        })
    }

    fn check_conversion(&self, client_config: &ClientConfig) -> Result<(), CallerError> {
        let config = &of_conversion(client_config);
        let to = Addressed { hook: "conversion", config, clients: &self.conversion };
        if to.clients.get(config).is_some() {
            return Ok(());
        }
        let made =
            Target::new(to.hook, config).and_then(|target| self.make(to, target, None, None));
        made.map(drop).map_err(|error| CallerError::Client(error.into()))
    }
}

/// The configuration of a conversion webhook, in which certificates that are only white space are
/// none (CX-33).
fn of_conversion(config: &ClientConfig) -> Cow<'_, ClientConfig> {
    if config.ca_bundle.is_empty() || !config.ca_bundle.trim_ascii().is_empty() {
        return Cow::Borrowed(config);
    }
    let mut config = config.clone();
    config.ca_bundle.clear();
    Cow::Owned(config)
}
