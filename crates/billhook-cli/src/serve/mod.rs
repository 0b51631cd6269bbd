//! `billhook serve`: an API server for other programs.

mod admitted;
mod args;
mod control_plane;
mod hosts;
mod kubeconfig;
mod log;
mod roles;

use std::error::Error;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use billhook::{CrdError, Definition, KubernetesVersion};
use billhook_apimachinery::UserInfo;
use billhook_apiserver::etcd::Etcd;
use billhook_apiserver::storage::Redb;
use billhook_apiserver::{Presence, Server, ServerBuilder};
use billhook_control_plane::Clock;
use billhook_findings::Finding;
use billhook_webhook_client::HttpsCaller;
use tokio_rustls::TlsAcceptor;

use crate::allow::authorizer;
use crate::cluster_view;
use crate::controllers::{self, Authorities};
use crate::etcd::EtcdArgs;
use crate::findings::{self, About};
use crate::front::Front;
use crate::identity::Identity;
use crate::input::{Document, read_file, readable_documents};
use crate::listening::{
    self, Authority, ClientAuthorities, Issued, Listener, REQUEST_TIME, ServingPair, Signals,
    acceptor,
};
use crate::problem::{Place, Problem, RunError, Status};
use crate::report;
use crate::resolving::resolver;
use admitted::{Admitted, IsPublic};
pub(crate) use args::{HELP, Serve, Settle};
use control_plane::Controllers;
use hosts::Hosts;
use kubeconfig::Credentials;

/// Runs the command until a signal ends it.
pub(crate) fn run(command: &Serve) -> Result<Status, RunError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = match runtime.block_on(serve(command)) {
        Ok(()) => Status::Fine,
        Err(failure) => {
            if failure.findings.is_empty() {
                report::problem(&failure.problem);
            }
            report::to_stderr(&findings::text(&failure.findings));
            failure.problem.status
        }
    };
    // Watches do not end by themselves.
    runtime.shutdown_background();
    Ok(status)
}

/// A problem, and where it lies in a document that was read.
struct Failure {
    problem: Box<Problem>,
    findings: Vec<Finding>,
}

impl From<Box<Problem>> for Failure {
    fn from(problem: Box<Problem>) -> Self {
        Failure { problem, findings: Vec::new() }
    }
}

impl Failure {
    /// The failure of a document for which a server would answer with a problem.
    fn of_document(document: &Document, problem: Box<Problem>) -> Self {
        let identity = Identity::of(&document.value);
        let findings = About::new(&document.place, &identity).answered(&problem);
        Failure { problem, findings }
    }
}

/// The group of all users who have said who they are.
const AUTHENTICATED: &str = "system:authenticated";

async fn serve(command: &Serve) -> Result<(), Failure> {
    // Over plain HTTP kubectl sends no token.
    let is_open = command.http && command.listen.ip().is_loopback();
    let token = match (&command.token_file, &command.write_kubeconfig) {
        (Some(file), _) => Some(read_token(file)?),
        // Over HTTPS kubectl asks for a password if it has no token.
        (None, Some(_)) if !is_open => Some(uuid::Uuid::new_v4().simple().to_string()),
        (None, _) => None,
    };
    check_address(command, token.as_deref())?;
    let controllers = Controllers::read(command)?;
    let clock = command.clock();
    let address = Place::file(&command.listen.to_string());
    let listener =
        listening::listen(command.listen).map_err(|error| Problem::io(address.clone(), &error))?;
    let local = listener.local_addr().map_err(|error| Problem::io(address.clone(), &error))?;
    let identity = if command.http { None } else { Some(TlsIdentity::new(local.ip(), command)) };
    let identity = identity
        .transpose()
        .map_err(|error| Problem::unusable(address, format!("no certificate: {error}")))?;
    let authority = identity.as_ref().map(|identity| Arc::clone(&identity.authority));
    let presence = Presence::at(local);
    let certificate = authority.as_ref().map(|authority| authority.pem());
    let presence = match &certificate {
        Some(pem) => presence.client_authorities(pem),
        None => presence,
    };
    let (server, objects) =
        server(command, &controllers, token.as_deref(), &clock, presence).await?;
    let url = kubeconfig::url(local, identity.is_some());
    if let Some(file) = &command.write_kubeconfig {
        let credentials = Credentials {
            authority: certificate.as_deref(),
            client: identity.as_ref().map(|identity| &identity.client),
            token: token.as_deref(),
        };
        kubeconfig::write(file, &url, &credentials)?;
    }
    if identity.is_none() && !local.ip().is_loopback() {
        report::warning(
            "the token is sent without encryption: others may read it on its way; leave out --http",
        );
    }
    let admitted = match token {
        Some(_) => {
            let is_public: IsPublic = cluster_view::is_file;
            Admitted::Known(server.clone(), command.has_page().then_some(is_public))
        }
        None => Admitted::Hosts(Hosts::new(local.ip(), &command.allow_host)),
    };
    let (tls, clients) = identity.map(|it| (it.acceptor, it.clients)).unzip();
    let most = command.max_connections;
    let listener = Listener::new(listener, tls, clients, admitted, most, REQUEST_TIME);
    let mut signals =
        Signals::new().map_err(|error| Problem::io(Place::file("signals"), &error))?;
    let ready = format!("ready: {url} ({objects} objects)\n");
    report::write(&ready).map_err(|error| Problem::io(Place::file("standard output"), &error))?;
    let Controllers { selection, simulation } = controllers;
    let mut front = Front::of(server.clone());
    if command.has_test_api() || !selection.is_empty() {
        let authorities = Authorities { root: certificate, signer: authority };
        let running = controllers::run(server.clone(), &selection, simulation, authorities, clock);
        let plane = running.await;
        if command.has_test_api() {
            front = front.with_test_api(&plane);
        }
    }
    if command.has_page() {
        front = front.with_view();
    }
    if command.open {
        cluster_view::open(&url);
    }
    listener.run(front, &mut signals).await;
    if let Some(file) = &command.record_rbac {
        let roles = roles::of(&server.used_permissions());
        std::fs::write(file, roles).map_err(|error| Problem::io(Place::path(file), &error))?;
    }
    server.close().await.map_err(|error| unusable_data(command, &error.to_string()))?;
    Ok(())
}

/// The certificates of a run: that of the server, and that of the user who makes requests.
struct TlsIdentity {
    acceptor: TlsAcceptor,
    clients: Arc<ClientAuthorities>,
    /// The authority that signed both.
    authority: Arc<Authority>,
    client: Issued,
}

impl TlsIdentity {
    /// Makes an authority, and certificates for this machine and an address, and for the user.
    fn new(address: IpAddr, command: &Serve) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let authority = Authority::new("billhook authority")?;
        let mut hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        let own = address.to_string();
        if !hosts.contains(&own) {
            hosts.push(own);
        }
        let serving = authority.serving("billhook", hosts)?;
        let serving =
            ServingPair::from_pem(serving.certificate.as_bytes(), serving.key.as_bytes())?;
        let clients = Arc::new(ClientAuthorities::new(vec![authority.der()]));
        Ok(TlsIdentity {
            acceptor: acceptor(vec![serving], Some(Arc::clone(&clients)))?,
            clients,
            client: authority.client(&command.user)?,
            authority: Arc::new(authority),
        })
    }
}

/// Refuses addresses that other machines reach without a token: a client may do everything.
fn check_address(command: &Serve, token: Option<&str>) -> Result<(), Box<Problem>> {
    if command.listen.ip().is_loopback() || token.is_some() {
        return Ok(());
    }
    let place = Place::file(&command.listen.to_string());
    let message = "other machines can reach this address, and every request may do everything";
    let help = "give a token with --token-file or --write-kubeconfig, or listen on 127.0.0.1";
    Err(Problem::unusable(place, message).help(help))
}

fn read_token(file: &Path) -> Result<String, Box<Problem>> {
    let place = Place::path(file);
    let text = read_file(file).map_err(|error| Problem::io(place.clone(), &error))?;
    let token = String::from_utf8_lossy(&text).trim().to_owned();
    let is_usable = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let message = "a token is one line of visible ASCII characters, without spaces";
    if is_usable { Ok(token) } else { Err(Problem::unusable(place, message)) }
}

/// The server with its definitions and objects, and the number of the objects.
async fn server(
    command: &Serve,
    controllers: &Controllers,
    token: Option<&str>,
    clock: &Clock,
    presence: Presence,
) -> Result<(Server, usize), Failure> {
    let mut problems = Vec::new();
    let definitions = readable_documents(&command.crd, &mut problems);
    let objects = readable_documents(&command.load, &mut problems);
    if let Some(problem) = problems.into_iter().next() {
        return Err(Box::new(problem).into());
    }
    let is_definition =
        |document: &Document| billhook::CustomResourceDefinition::is_definition(&document.value);
    let user = UserInfo::named(&command.user);
    let user = command.group.iter().fold(user, |user, group| user.group(group));
    let is_authenticated = command.user != "system:anonymous"
        && command.group.iter().all(|group| group != AUTHENTICATED);
    let user = if is_authenticated { user.group(AUTHENTICATED) } else { user };
    let inputs: Vec<_> = command.crd.iter().chain(&command.load).cloned().collect();
    let kubernetes = command.server.kubernetes(&command.server.config(&inputs)?);
    let mut builder = Server::builder()
        .kubernetes(kubernetes)
        .user(user.clone())
        .authorization_mode(command.authorization_mode.into())
        .metrics()
        .webhooks(HttpsCaller::default().resolver(resolver(&command.resolve)));
    builder = match command.any_namespace {
        true => builder.any_namespace(),
        false => builder.bootstrap().presence(presence),
    };
    if let Some(token) = token {
        builder = builder.token(token, user);
    }
    if clock.is_virtual() {
        let clock = clock.clone();
        builder = builder.clock(move || clock.now().to_time());
    }
    if command.has_test_api() {
        builder = builder.log_requests();
    }
    if let Some(file) = &command.log {
        builder = builder.on_request(log::to_file(file)?);
    }
    if let Some(file) = &command.audit_log {
        let policy = log::audit_policy(command.audit_policy.as_deref())?;
        builder = builder.audit(policy, log::to_file(file)?);
    }
    if command.record_rbac.is_some() {
        builder = builder.record_permissions();
    }
    if controllers.selection.has_namespace_controller() {
        builder = builder.without_namespace_controller();
    }
    if controllers.selection.has_service_accounts() {
        builder = builder.give_service_accounts();
    }
    if command.collect_garbage || controllers.selection.collects_garbage() {
        builder = builder.collect_garbage();
    }
    builder = match command.settle {
        Settle::AtOnce => builder,
        Settle::DeleteLater => builder.finalize_definitions_in_background(),
        Settle::LikeAServer => builder.settle_like_a_server(),
    };
    if let Some(allowed) = authorizer(&command.allow) {
        builder = builder.review_authorizer(move |user, request| allowed.authorize(user, request));
    }
    for document in definitions.iter().filter(|document| is_definition(document)) {
        builder = builder
            .definition(&document.value)
            .map_err(|error| unusable(document, kubernetes, &error))?;
    }
    let server = build(builder, command).await?;
    let created = server.create_all(objects.iter().map(|object| &*object.value)).await;
    let created = created.map_err(|error| {
        let Some(document) = objects.get(error.index()) else {
            return Problem::unusable(Place::file("--load"), error.to_string()).into();
        };
        let place = document.place.clone();
        let problem = match error.status() {
            Some(status) => Problem::answered(place, status.clone()),
            None => Problem::unusable(place, error.to_string())
                .field("kind")
                .help("give its CRD with --crd or --load"),
        };
        Failure::of_document(document, problem)
    })?;
    Ok((server, created))
}

/// Builds the server: in memory, in etcd, or over its file.
async fn build(builder: ServerBuilder, command: &Serve) -> Result<Server, Box<Problem>> {
    if let Some(options) = command.etcd.options()? {
        let unusable =
            |error: &dyn std::fmt::Display| Problem::unusable(EtcdArgs::place(), error.to_string());
        let etcd = Etcd::open(options).await.map_err(|error| unusable(&error))?;
        return builder.backend(etcd).build().await.map_err(|error| unusable(&error));
    }
    let Some(file) = &command.data else { return Ok(builder.build()) };
    let is_new = std::fs::metadata(file).map_or(true, |found| found.len() == 0);
    if !is_new && !command.load.is_empty() {
        let place = Place::path(file);
        let message = "the file has objects already, and --load is for a new one";
        return Err(Problem::unusable(place, message).help("leave out --load"));
    }
    let backend = Redb::open(file).map_err(|error| unusable_data(command, &error.to_string()))?;
    let built = builder.backend(backend).build().await;
    built.map_err(|error| unusable_data(command, &error.to_string()))
}

fn unusable_data(command: &Serve, message: &str) -> Box<Problem> {
    let place = command.data.as_deref().map_or_else(|| Place::file("--data"), Place::path);
    Problem::system(place, message)
}

/// The failure of a definition that a server would refuse, with all its errors.
fn unusable(document: &Document, kubernetes: KubernetesVersion, error: &CrdError) -> Failure {
    let problem = Problem::unusable(document.place.clone(), error.to_string());
    match Definition::new(document.value.clone(), kubernetes) {
        Err(_) => Failure::of_document(document, problem),
        Ok(definition) => {
            let identity = Identity::of(&document.value);
            let about = About::new(&document.place, &identity);
            let validation = definition.validate_create();
            let errors = validation.errors().iter();
            let findings: Vec<Finding> =
                errors.map(|error| about.definition_error(error)).collect();
            match findings.is_empty() {
                true => Failure::of_document(document, problem),
                false => Failure { problem, findings },
            }
        }
    }
}
