//! `billhook serve`: an API server for other programs.

mod args;
mod kubeconfig;
mod listener;
mod tls;

use std::path::Path;

use billhook_apimachinery::UserInfo;
use billhook_apiserver::Server;
use billhook_webhook_client::HttpsCaller;
use tokio::net::TcpListener;

use crate::allow::authorizer;
use crate::input::{Document, read_file, readable_documents};
use crate::problem::{Place, Problem, RunError, Status};
use crate::report;
pub(crate) use args::{HELP, Serve};
use listener::Listener;
use tls::Identity;

/// Runs the command until a signal ends it.
pub(crate) fn run(command: &Serve) -> Result<Status, RunError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(command));
    // Watches do not end by themselves.
    runtime.shutdown_background();
    served?;
    Ok(Status::Fine)
}

async fn serve(command: &Serve) -> Result<(), Box<Problem>> {
    let token = match (&command.token_file, &command.write_kubeconfig) {
        (Some(file), _) => Some(read_token(file)?),
        // Without a token kubectl asks for a password.
        (None, Some(_)) => Some(uuid::Uuid::new_v4().simple().to_string()),
        (None, None) => None,
    };
    check_address(command, token.as_deref())?;
    let (server, objects) = server(command).await?;
    let address = Place::file(&command.listen.to_string());
    let listener = TcpListener::bind(command.listen).await;
    let listener = listener.map_err(|error| Problem::io(address.clone(), &error))?;
    let local = listener.local_addr().map_err(|error| Problem::io(address.clone(), &error))?;
    let identity = if command.http { None } else { Some(Identity::new(local.ip())) };
    let identity = identity
        .transpose()
        .map_err(|error| Problem::unusable(address, format!("no certificate: {error}")))?;
    let url = kubeconfig::url(local, identity.is_some());
    if let Some(file) = &command.write_kubeconfig {
        let authority = identity.as_ref().map(|identity| identity.authority.as_str());
        kubeconfig::write(file, &url, authority, token.as_deref())?;
    }
    let listener = Listener::new(listener, identity, token, command.max_connections);
    let ready = format!("ready: {url} ({objects} objects)\n");
    report::write(&ready).map_err(|error| Problem::io(Place::file("standard output"), &error))?;
    listener.run(server).await;
    Ok(())
}

/// Whoever reaches the server may do everything, so that others must not reach it.
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
    let place = Place::file(&file.to_string_lossy());
    let text = read_file(file).map_err(|error| Problem::io(place.clone(), &error))?;
    let token = String::from_utf8_lossy(&text).trim().to_owned();
    let is_usable = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let message = "a token is one line of visible ASCII characters, without spaces";
    if is_usable { Ok(token) } else { Err(Problem::unusable(place, message)) }
}

/// The server with its definitions and objects, and the number of the objects.
async fn server(command: &Serve) -> Result<(Server, usize), Box<Problem>> {
    let mut problems = Vec::new();
    let definitions = readable_documents(&command.crd, &mut problems);
    let objects = readable_documents(&command.load, &mut problems);
    if let Some(problem) = problems.into_iter().next() {
        return Err(Box::new(problem));
    }
    let is_definition =
        |document: &Document| billhook::CustomResourceDefinition::is_definition(&document.value);
    let user = UserInfo::named(&command.user);
    let user = command.group.iter().fold(user, |user, group| user.group(group));
    let inputs: Vec<_> = command.crd.iter().chain(&command.load).cloned().collect();
    let kubernetes = command.server.kubernetes(&command.server.config(&inputs)?);
    let mut builder =
        Server::builder().kubernetes(kubernetes).user(user).webhooks(HttpsCaller::default());
    if command.any_namespace {
        builder = builder.any_namespace();
    }
    if command.collect_garbage {
        builder = builder.collect_garbage();
    }
    if let Some(allowed) = authorizer(&command.allow) {
        builder = builder.authorizer(move |user, request| allowed.authorize(user, request));
    }
    for Document { place, value, .. } in definitions.into_iter().filter(is_definition) {
        builder = builder
            .definition(&value)
            .map_err(|error| Problem::unusable(place, error.to_string()))?;
    }
    let server = builder.build();
    let created = server.create_all(objects.iter().map(|object| &*object.value)).await;
    let created = created.map_err(|error| {
        let place = objects.get(error.index()).map(|object| object.place.clone());
        let place = place.unwrap_or_else(|| Place::file("--load"));
        match error.status() {
            Some(status) => Problem::answered(place, status.clone()),
            None => Problem::unusable(place, error.to_string())
                .help("give its CRD with --crd or --load"),
        }
    })?;
    Ok((server, created))
}
