//! The events of nodes about the containers of a pod (CP-111, CP-113, CP-114).

use super::container::{Container, State};
use super::needs::Needs;
use super::pod::Pod;
use super::rules::annotation_error;
use crate::event::Event;
use crate::object::Object;
use crate::resource::PODS;

/// Returns the events about what has become of containers.
pub(super) fn changes<'c>(
    pod: &Object,
    before: impl Iterator<Item = &'c Container>,
    after: impl Iterator<Item = &'c Container>,
) -> Vec<Event> {
    let changed = before.zip(after).filter(|(before, after)| before.state != after.state);
    let of_container = |(_, after): (_, &Container)| match &after.state {
        State::Running { .. } => starts(pod, after),
        State::Waiting { reason, message } => waits(pod, after, [reason, message]),
        State::Terminated(_) if after.has_failed_liveness => dies(pod, after),
        State::Terminated(_) => Vec::new(),
    };
    changed.flat_map(of_container).collect()
}

fn dies(pod: &Object, container: &Container) -> Vec<Event> {
    let killing = format!("Container {} failed liveness probe, will be restarted", container.name);
    vec![
        warning(pod, "Unhealthy", "Liveness probe failed".to_owned()),
        normal(pod, "Killing", killing),
    ]
}

/// Returns the event that a container is stopped because its pod is deleted.
pub(super) fn stops(pod: &Object, container: &Container) -> Event {
    normal(pod, "Killing", format!("Stopping container {}", container.name))
}

/// Returns the event that the containers of a pod do not start, if they wait for a volume.
pub(super) fn lacks_volume(pod: &Pod<'_>, needs: &Needs) -> Option<Event> {
    let why = needs.volume.clone().filter(|_| pod.all().all(Container::is_new))?;
    Some(warning(pod.object, "FailedMount", why))
}

/// Returns the event that the rules of a new pod are not understood, if it has such.
pub(super) fn misreads(pod: &Pod<'_>) -> Option<Event> {
    let why = annotation_error(pod.object).filter(|_| pod.all().all(Container::is_new))?;
    Some(warning(pod.object, "InvalidSimulation", why))
}

/// Images that are not always pulled are on simulated nodes already.
fn starts(pod: &Object, container: &Container) -> Vec<Event> {
    let (name, image) = (&container.name, &container.image);
    let mut events = match container.is_always_pulled {
        true => vec![
            normal(pod, "Pulling", format!("Pulling image \"{image}\"")),
            normal(pod, "Pulled", format!("Successfully pulled image \"{image}\"")),
        ],
        false => {
            let message = format!("Container image \"{image}\" already present on machine");
            vec![normal(pod, "Pulled", message)]
        }
    };
    events.push(normal(pod, "Created", format!("Created container: {name}")));
    events.push(normal(pod, "Started", format!("Started container {name}")));
    events
}

fn waits(pod: &Object, container: &Container, [reason, message]: [&str; 2]) -> Vec<Event> {
    match reason {
        "CrashLoopBackOff" | "ImagePullBackOff" => {
            vec![warning(pod, "BackOff", message.to_owned())]
        }
        "ErrImagePull" => {
            let pulling = format!("Pulling image \"{}\"", container.image);
            vec![normal(pod, "Pulling", pulling), warning(pod, "Failed", message.to_owned())]
        }
        "CreateContainerConfigError" => vec![warning(pod, "Failed", format!("Error: {message}"))],
        _ => Vec::new(),
    }
}

fn normal(pod: &Object, reason: &str, message: String) -> Event {
    Event::normal(&PODS, pod, reason, message)
}

fn warning(pod: &Object, reason: &str, message: String) -> Event {
    Event::warning(&PODS, pod, reason, message)
}
