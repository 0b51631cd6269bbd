//! From a path to a verb (RE-05).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use billhook::Scope;
use billhook_admission::deprecation_warning;
use billhook_apimachinery::Status;
use http::HeaderValue;

use super::context::Context;
use super::{actions, connections, delete, list, read, watch, write};
use crate::failures::{not_allowed, not_served, with_details};
use crate::request::{
    Accepted, NOT_ACCEPTABLE, Request, ResourcePath, Verb, names_media_type, negotiate,
    negotiate_own,
};
use crate::resources::Served;
use crate::response::{Form, Response, plain_not_found};
use crate::shared::Shared;
use crate::storage::Revision;
use crate::table::Columns;
use crate::view::View;

/// Answers a request for objects.
pub(crate) async fn serve(server: &Arc<Shared>, request: &Request) -> Response {
    let (Some(path), Some(verb)) = (&request.objects, request.verb()) else {
        return plain_not_found();
    };
    let sent_to = actions::path_of(request, path, verb);
    serve_path(server, request, sent_to.as_ref().unwrap_or(path), verb).await
}

async fn serve_path(
    server: &Arc<Shared>,
    request: &Request,
    path: &ResourcePath,
    verb: Verb,
) -> Response {
    let failure = |status: &Status| Form::of_failures(request).status(status);
    let not_found = || match server.catalog().is_own(&path.group) {
        true if actions::is_collection(path) => failure(&not_allowed()),
        true => failure(&not_served()),
        false => plain_not_found(),
    };
    let Some(Served { resource, cache }) = server.find(&path.group, &path.resource, &path.version)
    else {
        return not_found();
    };
    let is_namespaced = resource.definition.scope() == Scope::Namespaced;
    let fits = match path.namespace {
        Some(_) => is_namespaced,
        None => !is_namespaced || matches!(verb, Verb::List | Verb::Watch),
    };
    let version = resource.definition.version(&path.version).filter(|version| version.is_served());
    let Some(version) = version else { return not_found() };
    if !fits {
        let is_listed =
            resource.style.declares_methods && path.namespace.is_none() && path.name.is_none();
        return if is_listed { failure(&not_allowed()) } else { not_found() };
    }

    let accept = request.header("accept");
    let style = resource.style;
    let accepted = if style.has_protobuf { negotiate_own(accept) } else { negotiate(accept) };
    let columns = || match path.subresource.as_str() {
        "scale" => Columns::of_scale(resource.kind),
        _ => match resource.kind {
            Some(kind) => Columns::of_kind(kind),
            None => Columns::of_version(&version),
        },
    };
    let transform = accepted.as_ref().and_then(|accepted| accepted.transform);
    let (include, clock) = (request.query.text("includeObject"), &server.settings.clock);
    let view = View::new(resource.record, transform, include, columns, clock);
    let form = accepted.as_ref();
    let form = form.map_or_else(Form::fallback, |accepted| Form::of(request, accepted));
    let user = server.user_of(request);
    let is_unwritten = AtomicBool::default();
    let context =
        Context { server, request, user, path, resource, cache, version, form, view, is_unwritten };
    let warning = deprecation_warning(&context.version);
    let answered = up_to_date(&context, verb, accepted.as_ref()).await;
    // Writes that came so far warn by themselves, before their other warnings.
    let has_warned = answered.is_ok() && is_write(verb);
    let mut response = answered.unwrap_or_else(|status| failure(&status));
    if let Some(text) = warning.filter(|_| !has_warned)
        && let Ok(header) = HeaderValue::from_bytes(crate::response::warning(&text).as_bytes())
    {
        response.headers_mut().append(http::header::WARNING, header);
    }
    response
}

fn is_write(verb: Verb) -> bool {
    use Verb::{Create, Delete, DeleteCollection, Patch, Update};
    matches!(verb, Create | Update | Patch | Delete | DeleteCollection)
}

/// Answers by all that was written before, by other servers too.
async fn up_to_date(
    context: &Context<'_>,
    verb: Verb,
    accepted: Option<&Accepted>,
) -> Result<Response, Status> {
    let begun = context.storage().revision();
    match needed(context, verb) {
        Needed::Anything => {}
        Needed::Newest => drop(context.catch_up().await?),
        Needed::AtLeast(wanted) => context.reach(wanted).await?,
    }
    let answered = verbs(context, verb, accepted).await;
    let code = answered.as_ref().map_or_else(|it| it.code, |it| it.status().as_u16().into());
    // What is refused may have been decided by what another server has changed (ES-21), and so may what is
    // accepted and not written (ES-24).
    let is_refused = (400..500).contains(&code);
    let is_unwritten =
        verb != Verb::DeleteCollection && context.is_unwritten.load(Ordering::Relaxed);
    let is_in_doubt = is_write(verb) && (is_refused || is_unwritten);
    if is_in_doubt && context.catch_up().await? && context.storage().revision() > begun {
        return verbs(context, verb, accepted).await;
    }
    answered
}

/// The state that a request needs to see (ES-33).
enum Needed {
    Anything,
    Newest,
    AtLeast(Revision),
}

fn needed(context: &Context<'_>, verb: Verb) -> Needed {
    let query = &context.request.query;
    let begins_with_state = match verb {
        Verb::DeleteCollection => return Needed::Newest,
        Verb::Get | Verb::List => true,
        Verb::Watch => query.flag("sendInitialEvents"),
        _ => return Needed::Anything,
    };
    let wanted = match (query.text("continue"), query.text("resourceVersion")) {
        _ if !context.resource.is_cached() => return Needed::Newest,
        ("", "") => return Needed::Newest,
        ("", wanted) => read::revision(wanted).ok(),
        (token, _) => list::revision_of_page(token),
    };
    let newest = context.storage().revision();
    match wanted.filter(|wanted| begins_with_state && *wanted > newest) {
        Some(wanted) => Needed::AtLeast(wanted),
        None => Needed::Anything,
    }
}

async fn verbs(
    context: &Context<'_>,
    verb: Verb,
    accepted: Option<&Accepted>,
) -> Result<Response, Status> {
    context.resource.admission.check_conversion()?;
    if verb == Verb::Create && context.path.name.is_some() && actions::is_action(context) {
        if accepted.is_none() {
            return Err(not_acceptable(context));
        }
        return Box::pin(actions::create(context)).await;
    }
    if connections::is_connection(context) {
        return Box::pin(connections::connect(context, verb)).await;
    }
    check_offered(context, verb)?;
    if matches!(verb, Verb::Get | Verb::Update | Verb::Patch | Verb::Delete) {
        // A patch says first that its type is unknown (RE-80).
        if verb == Verb::Patch {
            write::check_patch_type(context)?;
        }
        context.name()?;
    }
    if accepted.is_none() {
        return Err(not_acceptable(context));
    }
    // The work of writes is large: reads do not carry the room for it.
    match verb {
        Verb::Get => read::get(context).await,
        Verb::List => list::list(context).await,
        Verb::Watch => Box::pin(watch::watch(context)).await,
        Verb::Create => Box::pin(write::create(context)).await,
        Verb::Update => Box::pin(write::update(context)).await,
        Verb::Patch => Box::pin(write::patch(context)).await,
        Verb::Delete => Box::pin(delete::delete(context)).await,
        Verb::DeleteCollection => Box::pin(delete::delete_collection(context)).await,
        Verb::Proxy | Verb::Unknown => Err(Status::resource_not_found()),
    }
}

/// The subresources of built-in kinds whose bodies are the objects themselves (BK-112, BK-113,
/// BK-254).
const OF_KINDS: [&str; 4] = ["approval", "ephemeralcontainers", "finalize", "resize"];

/// The verbs of the subresource that a request of a built-in kind is for.
fn own_verbs(context: &Context<'_>) -> Option<&'static [&'static str]> {
    let kind = context.resource.kind?;
    let found = kind.subresource(&context.path.subresource)?;
    Some(found.verbs).filter(|_| found.since <= context.server.settings.kubernetes)
}

/// Whether objects of the kind of a request have a verb, if it is a built-in one.
fn has_verb(context: &Context<'_>, verb: Verb) -> bool {
    context.resource.kind.is_none_or(|kind| kind.verbs.contains(&verb.name()))
}

/// Refuses what the resource does not have.
fn check_offered(context: &Context<'_>, verb: Verb) -> Result<(), Status> {
    let style = context.resource.style;
    let has_subresource = match context.path.subresource.as_str() {
        "" => true,
        "status" => context.version.has_status_subresource(),
        "scale" => context.version.has_scale_subresource(),
        name => OF_KINDS.contains(&name) && own_verbs(context).is_some(),
    };
    if !has_subresource && actions::is_action(context) {
        return Err(not_allowed());
    }
    if !has_subresource {
        let name = context.path.name.as_deref().unwrap_or_default();
        return Err((style.missing_subresource)(&context.resource_name(), name));
    }
    let is_main = context.path.subresource.is_empty();
    let is_offered = match verb {
        Verb::Proxy | Verb::Unknown => false,
        _ if is_main && !has_verb(context, verb) => false,
        Verb::Get | Verb::Update | Verb::Patch if !is_main => {
            own_verbs(context).is_none_or(|verbs| verbs.contains(&verb.name()))
        }
        // Where paths are declared with their methods, a name belongs to some of them.
        Verb::Update | Verb::Patch if style.declares_methods => context.path.name.is_some(),
        Verb::Create if style.declares_methods => context.path.name.is_none(),
        Verb::Get | Verb::Update | Verb::Patch => true,
        _ => is_main,
    };
    if is_offered {
        return Ok(());
    }
    Err((style.unsupported_verb)(verb.name(), &context.resource_name()))
}

/// The failure of a client that accepts no form of the answer (RE-11, LC-02).
fn not_acceptable(context: &Context<'_>) -> Status {
    match context.resource.style.representations {
        Some(types) if !names_media_type(context.request.header("accept")) => {
            let message = format!("406: Not Acceptable\n\nAvailable representations: {types}");
            with_details(Status::failure(406, "NotAcceptable", message))
        }
        _ => Status::failure(406, "NotAcceptable", NOT_ACCEPTABLE),
    }
}
