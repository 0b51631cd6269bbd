//! `billhook match`: which webhooks and policies a request goes to, and why it does not go to the
//! others.

pub(crate) mod args;
mod policies;
mod report;
mod request;
mod subject;

use std::path::PathBuf;

use billhook::KubernetesVersion;
use billhook::webhook::{
    AdmissionAttributes, CompiledWebhook, ConfigurationKind, MatchContext, WebhookConfiguration,
    WebhookSet,
};
use billhook_kinds::equivalent_resources;
use billhook_policy::{MemoryCluster, PolicySet};

use crate::admission_policies;
use crate::allow;
use crate::crds::{Crds, list};
use crate::input::{Document, documents};
use crate::namespaces;
use crate::policy::{Config, Policy};
use crate::problem::{Place, Problem, RunError, Status, nothing};
use crate::setup::Setup;
use args::Match;
use policies::Matcher;
use report::Printer;
use request::Requests;
use subject::{Decided, is_named};

/// Runs the command.
pub(crate) fn run(command: &Match) -> Result<Status, RunError> {
    let config = command.server.config(&command.objects)?;
    let mut policy = Policy::new(&config, &command.known)?;
    let mut setup = Setup::default();
    let cluster = Cluster::read(command, &config, &mut setup);
    let mut printer = Printer::new(command);
    let mut status = setup.tell(&mut policy, printer.form.collector())?;
    if status == Status::Unusable {
        printer.form.finish()?;
        return Ok(status);
    }
    let Cluster { crds, world, sets, policies, kubernetes } = &cluster;
    let mut registry = equivalent_resources(*kubernetes);
    for definition in crds.iter().flat_map(Crds::definitions) {
        registry.register_definition(definition);
    }
    let crds = crds.as_ref();
    let matcher = Matcher { policies, world, registry: &registry, crds };
    let conditions =
        allow::conditions(&command.allow).kubernetes(*kubernetes).leave_authorization_open();
    let requests = Requests { command, crds, registry: &registry, kubernetes: *kubernetes };
    for subject in requests.read() {
        let context = MatchContext::new(world, &registry).conditions(&conditions);
        let (mut decided, mut explained) = match &subject.request {
            Ok(request) => {
                let decided = context.for_request(|context| decide(sets, request, context));
                (decided, matcher.explain(request))
            }
            Err(problem) => {
                status = status.max(problem.status);
                Default::default()
            }
        };
        if let Some(name) = &command.explain {
            decided.retain(|decided| is_named(decided.hook, name));
            explained.retain(|explained| policies::is_named(explained, name));
        }
        let mut found = report::found(&subject, &decided, &setup.origins);
        found.extend(policies::findings(&subject, &explained));
        let found = policy.apply(found);
        if subject.request.is_ok() {
            status = status.max(Status::of(&found));
        }
        printer.add(&subject, &decided, &explained, found)?;
    }
    let mut remarks = policy.apply(namespaces::assumed(world).into_iter().collect());
    policy.read_below(command.paths());
    let (gone, written) = policy.finish();
    remarks.extend(gone);
    status = status.max(Status::of(&remarks)).max(written);
    printer.form.remarks(remarks)?;
    printer.form.finish()?;
    Ok(status)
}

/// Everything that requests are matched with.
struct Cluster {
    kubernetes: KubernetesVersion,
    /// `None` if there are no definitions and none were asked for.
    crds: Option<Crds>,
    /// Namespaces, parameters and permissions.
    world: MemoryCluster,
    sets: [WebhookSet; 2],
    policies: PolicySet,
}

impl Cluster {
    fn read(command: &Match, config: &Config, setup: &mut Setup) -> Self {
        let kubernetes = command.server.kubernetes(config);
        let mut world = allow::world(&command.allow, kubernetes);
        let configurations = configurations(&command.webhooks, kubernetes, &mut world, setup);
        namespaces::read(&mut world, &command.namespace_labels, &mut setup.problems);
        let options = command.server.crd_options(config);
        let inputs = [command.objects.as_slice(), &command.policies].concat();
        let (crds, found) = Crds::read(&command.crd.paths, config, &inputs, options);
        let are_given = !command.crd.paths.is_empty() || !config.crds().is_empty();
        let crds = Some(crds).filter(|crds| !crds.is_empty() || are_given);
        if crds.is_some() {
            setup.problems.extend(found);
        }
        let policies = policies_of(command, crds.as_ref(), &mut world, kubernetes, setup);
        let kinds = [ConfigurationKind::Mutating, ConfigurationKind::Validating];
        let sets = kinds.map(|kind| WebhookSet::new(kind, configurations.iter().cloned()));
        if let Some(name) = &command.explain
            && !sets.iter().flat_map(WebhookSet::hooks).any(|hook| is_named(hook, name))
            && !policies::has(&policies, name)
        {
            setup.problems.push(unknown_name(command, &sets, &policies, name));
        }
        Cluster { kubernetes, crds, world, sets, policies }
    }
}

/// Reads the policies that are given, with what they see of the cluster.
fn policies_of(
    command: &Match,
    crds: Option<&Crds>,
    cluster: &mut MemoryCluster,
    kubernetes: KubernetesVersion,
    setup: &mut Setup,
) -> PolicySet {
    if command.policies.is_empty() {
        return PolicySet::default();
    }
    let (paths, namespace) = (&command.policies, &command.namespace);
    admission_policies::read(paths, crds, cluster, namespace, kubernetes, setup)
}

fn decide<'h>(
    sets: &'h [WebhookSet],
    request: &AdmissionAttributes,
    context: &MatchContext<'_>,
) -> Vec<Decided<'h>> {
    let of_set = |set: &'h WebhookSet| {
        let hooks = set.hooks().iter().enumerate();
        hooks.filter_map(move |(position, hook)| {
            Some(Decided { hook, trace: set.explain(position, request, context)? })
        })
    };
    sets.iter().flat_map(of_set).collect()
}

/// Reads the configurations; what a server would refuse is used all the same, with a remark.
/// Namespaces may stand beside them.
pub(crate) fn configurations(
    paths: &[PathBuf],
    kubernetes: KubernetesVersion,
    cluster: &mut MemoryCluster,
    setup: &mut Setup,
) -> Vec<WebhookConfiguration> {
    let mut found = Vec::new();
    let mut add = |document: &Document, setup: &mut Setup| {
        if WebhookConfiguration::kind_of(&document.value).is_none() {
            return namespaces::add_object(cluster, document).map(|_| ());
        }
        let read = WebhookConfiguration::from_value_reporting(&document.value);
        let (configuration, unknown) =
            read.map_err(|error| Problem::unusable(document.place.clone(), error.to_string()))?;
        let configuration = configuration.kubernetes(kubernetes);
        setup.add_webhooks(document, &configuration, &unknown);
        found.push(configuration);
        Ok(())
    };
    for document in documents(paths) {
        if let Err(problem) = document.and_then(|document| add(&document, setup)) {
            setup.problems.push(*problem);
        }
    }
    if found.is_empty() && setup.problems.is_empty() && !paths.is_empty() {
        setup.problems.push(*nothing(paths, "no webhook configuration here"));
    }
    found
}

fn unknown_name(command: &Match, sets: &[WebhookSet], policies: &PolicySet, name: &str) -> Problem {
    let paths = command.webhooks.iter().chain(&command.policies);
    let names: Vec<_> = paths.map(|path| path.to_string_lossy()).collect();
    let hooks = sets.iter().flat_map(WebhookSet::hooks).map(CompiledWebhook::name);
    let mut known: Vec<&str> = hooks.chain(policies.names().map(|(policy, _)| policy)).collect();
    known.dedup();
    let what = match (command.webhooks.is_empty(), command.policies.is_empty()) {
        (false, true) => "webhook",
        (true, false) => "policy",
        _ => "webhook or policy",
    };
    let place = Place::file(&names.join(", "));
    let problem = Problem::unusable(place, format!("no {what} `{name}` here"));
    if known.is_empty() { *problem } else { *problem.help(format!("there are {}", list(&known))) }
}
