//! `kube-apiserver`: the server with its flags, certificates and users.

use std::fmt::Display;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use billhook::KubernetesVersion;
use billhook_apimachinery::names::dns1123_label;
use billhook_apiserver::{
    Presence, Server, ServerBuilder, ServiceAccountTokens, TokenKeyError, git_version,
};
use billhook_control_plane::Clock;
use billhook_definition::ca_bundle::certificates;
use billhook_webhook_client::HttpsCaller;
use tokio::time::sleep;
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::backend;
use super::flags::{self, Flags};
use super::options::{Options, TokenOptions};
use super::users::{Users, tokens};
use super::{log, runtime};
use crate::controllers::{self, Authorities};
use crate::files::{write_private, write_public};
use crate::front::Front;
use crate::listening::{
    Authority, ClientAuthorities, Issued, Listener, ServingPair, Signals, acceptor, listen,
};
use crate::program::Release;

/// How many connections are served at the same time.
const MAX_CONNECTIONS: usize = 4096;

/// Runs until a signal comes. It follows the version that the directory of the program is named after.
pub(super) fn run(program: &Path, arguments: &[String]) -> ExitCode {
    let flags = match flags::parse(arguments) {
        Ok(flags) => flags,
        Err(why) => {
            log::line(&format!("Error: {why}"));
            return ExitCode::FAILURE;
        }
    };
    let kubernetes = Release::of_program(program).map(|release| release.kubernetes);
    let kubernetes = kubernetes.unwrap_or_default();
    if let Some(answer) = answer(&flags, kubernetes) {
        // Whoever asked has seen enough.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), answer.as_bytes());
        return ExitCode::SUCCESS;
    }
    let options = match Options::new(&flags, kubernetes) {
        Ok(options) => options,
        Err(errors) => {
            match errors.as_slice() {
                [only] => log::failed(only),
                _ => log::failed(&format!("[{}]", errors.join(", "))),
            }
            return ExitCode::FAILURE;
        }
    };
    for warning in &options.warnings {
        log::line(&format!("billhook: {warning}"));
    }
    let runtime = runtime().map_err(|error| error.to_string());
    let ran = runtime.and_then(|runtime| {
        let ran = runtime.block_on(serve(&options));
        // What goes on need not: what was answered is kept.
        runtime.shutdown_background();
        ran
    });
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            log::failed(&why);
            ExitCode::FAILURE
        }
    }
}

/// The answer to a question about the program.
fn answer(flags: &Flags, kubernetes: KubernetesVersion) -> Option<String> {
    if flags.bool("help", false) {
        return Some(flags::help());
    }
    let version = git_version(kubernetes);
    match flags.text("version")? {
        "raw" => Some(format!("version.Info{{GitVersion:\"{version}\", Compiler:\"rustc\"}}\n")),
        text => flags::parse_bool(text)?.then(|| format!("Kubernetes {version}\n")),
    }
}

async fn serve(options: &Options) -> Result<(), String> {
    let mut signals = Signals::new().map_err(|error| error.to_string())?;
    let signer =
        options.controllers.signs_certificates().then(|| Authority::new("billhook signer"));
    let signer =
        signer.transpose().map_err(|error| format!("no authority of requests: {error}"))?;
    let clients = options.client_authorities.as_deref();
    let clients = clients.map(|file| client_authorities(file, signer.as_ref())).transpose()?;
    let pairs = serving_pairs(options)?;
    let tls = acceptor(pairs, clients.clone()).map_err(|error| error.to_string())?;
    // Nobody is accepted before everything is there (ET-16, ET-70).
    let of_accounts = service_account_tokens(&options.service_accounts)?;
    let mut builder =
        builder(options).presence(presence(options)?).service_account_tokens(of_accounts);
    if let Some(audit) = &options.audit {
        builder = builder.audit(audit.policy.clone(), audit.open()?);
    }
    let known = options.tokens.as_deref().map(tokens).transpose()?;
    for (token, user) in known.unwrap_or_default() {
        builder = builder.token(token, user);
    }
    let server = backend::build(builder, &options.etcd).await?;
    let users = Users::new(server.clone(), options.allows_anonymous);
    let address = SocketAddr::new(options.bind, options.port);
    let listener = listen(address).map_err(|error| {
        format!("failed to create listener: failed to listen on {address}: {error}")
    })?;
    if !options.controllers.is_empty() {
        let (selection, clock) = (&options.controllers, Clock::real());
        let simulation = controllers::Simulation::default();
        // Who signed the certificate of the server is not known.
        let authorities = Authorities { root: None, signer: signer.map(Arc::new) };
        controllers::run(server.clone(), selection, simulation, authorities, clock).await;
    }
    tokio::spawn(stay_alive(server.clone()));
    log::line(&format!("billhook: serving Kubernetes {} on {address}", options.kubernetes));
    let (most, time) = (MAX_CONNECTIONS, options.request_time);
    let listener = Listener::new(listener, Some(tls), clients, users, most, time);
    listener.run(Front::of(server), &mut signals).await;
    Ok(())
}

/// The server as the objects of its cluster show it (BK-680).
fn presence(options: &Options) -> Result<Presence, String> {
    let presence = Presence::at(SocketAddr::new(options.advertised, options.port)).host(&host());
    let Some(file) = &options.client_authorities else { return Ok(presence) };
    let pem = fs::read(file)
        .map_err(|error| format!("unable to load client CA file {}: {error}", file.display()))?;
    Ok(presence.client_authorities(&String::from_utf8_lossy(&pem)))
}

/// The name of this machine, if it may be that of an object and the value of a label.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if dns1123_label(name).is_empty() { name.to_owned() } else { "localhost".to_owned() }
}

/// Says every 10 seconds that the server is alive.
async fn stay_alive(server: Server) {
    loop {
        sleep(Duration::from_secs(10)).await;
        if let Err(status) = server.renew().await {
            log::line(&format!("billhook: the lease is not renewed: {}", status.message));
        }
    }
}

/// A server as its flags want it: alone, without a controller manager, unless a part of one is asked
/// for (ET-81).
fn builder(options: &Options) -> ServerBuilder {
    let mut builder = Server::builder()
        .kubernetes(options.kubernetes)
        .metrics()
        .request_time(options.request_time)
        .webhooks(HttpsCaller::default().admission_configuration(options.admission.clone()))
        .pod_security(options.pod_security.clone())
        .service_ranges(options.ranges.clone())
        .bootstrap()
        .authorization_mode(options.mode)
        .finalize_definitions_in_background();
    if let Some(time) = options.watch_time {
        builder = builder.watch_time(time);
    }
    if !options.controllers.ends_namespaces() {
        builder = builder.without_controllers();
    }
    if options.controllers.has_namespace_controller() {
        builder = builder.without_namespace_controller();
    }
    if options.controllers.collects_garbage() {
        builder = builder.collect_garbage();
    }
    if let Some(allowed) = options.streams_lists {
        builder = builder.stream_lists(allowed);
    }
    for version in &options.disabled_versions {
        builder = builder.without_api_version(version);
    }
    if !options.allows_privileged {
        builder = builder.refuse_privileged();
    }
    for plugin in &options.disabled_plugins {
        builder = match plugin.as_str() {
            "NamespaceLifecycle" => builder.any_namespace(),
            plugin => builder.without_admission_plugin(plugin),
        };
    }
    builder
}

/// Reads the keys of tokens of service accounts (ET-34).
fn service_account_tokens(options: &TokenOptions) -> Result<ServiceAccountTokens, String> {
    let read = |file: &Path| {
        fs::read(file).map_err(|error| format!("error reading {}: {error}", file.display()))
    };
    let unusable =
        |file: &Path, error: &TokenKeyError| format!("failed to parse {}: {error}", file.display());
    let mut tokens = ServiceAccountTokens::default()
        .issuers(options.issuers.iter().cloned())
        .audiences(options.audiences.iter().cloned());
    if let Some(file) = &options.signing_key {
        tokens = tokens.signing_key(&read(file)?).map_err(|error| unusable(file, &error))?;
    }
    for file in &options.verifying_keys {
        tokens = tokens.verifying_keys(&read(file)?).map_err(|error| unusable(file, &error))?;
    }
    if let Some(max) = options.max_expiration {
        tokens = tokens.max_expiration(max);
    }
    if let Some(url) = &options.key_set_url {
        tokens = tokens.key_set_url(url);
    }
    Ok(tokens)
}

/// Reads the certificates that vouch for clients, beside that of the authority which signs requests.
fn client_authorities(
    file: &Path,
    signer: Option<&Authority>,
) -> Result<Arc<ClientAuthorities>, String> {
    let failed =
        |why: &dyn Display| format!("unable to load client CA file {}: {why}", file.display());
    let text = fs::read(file).map_err(|error| failed(&error))?;
    let pool = certificates(&text).map_err(|error| failed(&error))?;
    let pool = pool.into_iter().map(CertificateDer::from);
    let pool = pool.chain(signer.map(Authority::der)).collect();
    Ok(Arc::new(ClientAuthorities::new(pool)))
}

/// The certificates of the server (ET-30): those of flags, or those of its directory, where new ones
/// are written if there are none.
fn serving_pairs(options: &Options) -> Result<Vec<ServingPair>, String> {
    let mut pairs = Vec::new();
    let (certificate, key) = match &options.tls {
        Some(files) => files.clone(),
        None => {
            let directory = &options.certificates;
            let files = (directory.join("apiserver.crt"), directory.join("apiserver.key"));
            if !(files.0.exists() && files.1.exists()) {
                let made = make_pair(options, &files.0, &files.1);
                made.map_err(|why| format!("error creating self-signed certificates: {why}"))?;
            }
            files
        }
    };
    pairs.push(read_pair(&certificate, &key)?);
    for pair in &options.sni {
        pairs.push(read_pair(&pair.certificate, &pair.key)?.names(pair.names.clone()));
    }
    Ok(pairs)
}

fn read_pair(certificate: &Path, key: &Path) -> Result<ServingPair, String> {
    ServingPair::read(certificate, key).map_err(|error| {
        format!("failed to load {} and {}: {error}", certificate.display(), key.display())
    })
}

fn make_pair(
    options: &Options,
    certificate: &Path,
    key: &Path,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut hosts: Vec<String> = [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "127.0.0.1",
        "::1",
    ]
    .map(str::to_owned)
    .to_vec();
    for host in [options.bind.to_string(), options.ranges.first_address()] {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    fs::create_dir_all(&options.certificates)?;
    let authority = Authority::new("billhook authority")?;
    let issued: Issued = authority.serving("kube-apiserver", hosts)?;
    write_private(key, issued.key.as_bytes())?;
    // Clients that trust this file trust the server: who signed it need not be known.
    write_public(certificate, (issued.certificate + &authority.pem()).as_bytes())?;
    Ok(())
}
