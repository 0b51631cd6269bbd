//! The events of nodes about the containers of a pod (CP-111, CP-113, CP-114).

use super::container::{Container, State};
use super::needs::Needs;
use super::pod::Pod;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::resource::PODS;

/// Tells what has become of containers.
pub(super) fn tell<'c>(
    pod: &Object,
    before: impl Iterator<Item = &'c Container>,
    after: impl Iterator<Item = &'c Container>,
) -> Plan {
    before.zip(after).fold(Plan::nothing(), |plan, (before, after)| match &after.state {
        state if *state == before.state => plan,
        State::Running { .. } => started(pod, after, plan),
        State::Waiting { reason, message } => waits(pod, after, [reason, message], plan),
        State::Terminated(_) => plan,
    })
}

/// Tells that a container is stopped because its pod is deleted.
pub(super) fn stops(pod: &Object, container: &Container) -> Event {
    normal(pod, "Killing", format!("Stopping container {}", container.name))
}

/// Tells why the containers of a pod do not start, if they wait for a volume.
pub(super) fn lacks_volume(pod: &Pod<'_>, needs: &Needs) -> Option<Event> {
    let why = needs.volume.clone().filter(|_| pod.all().all(Container::is_new))?;
    Some(warning(pod.object, "FailedMount", why))
}

/// Images that are not always pulled are on simulated nodes already.
fn started(pod: &Object, container: &Container, plan: Plan) -> Plan {
    let (name, image) = (&container.name, &container.image);
    let pulled = match container.is_always_pulled {
        true => plan
            .event(normal(pod, "Pulling", format!("Pulling image \"{image}\"")))
            .event(normal(pod, "Pulled", format!("Successfully pulled image \"{image}\""))),
        false => {
            let message = format!("Container image \"{image}\" already present on machine");
            plan.event(normal(pod, "Pulled", message))
        }
    };
    pulled.event(normal(pod, "Created", format!("Created container: {name}"))).event(normal(
        pod,
        "Started",
        format!("Started container {name}"),
    ))
}

fn waits(pod: &Object, container: &Container, [reason, message]: [&str; 2], plan: Plan) -> Plan {
    match reason {
        "CrashLoopBackOff" | "ImagePullBackOff" => {
            plan.event(warning(pod, "BackOff", message.to_owned()))
        }
        "ErrImagePull" => {
            let pulling = format!("Pulling image \"{}\"", container.image);
            plan.event(normal(pod, "Pulling", pulling)).event(warning(
                pod,
                "Failed",
                message.to_owned(),
            ))
        }
        "CreateContainerConfigError" => {
            plan.event(warning(pod, "Failed", format!("Error: {message}")))
        }
        _ => plan,
    }
}

fn normal(pod: &Object, reason: &str, message: String) -> Event {
    Event::normal(&PODS, pod, reason, message)
}

fn warning(pod: &Object, reason: &str, message: String) -> Event {
    Event::warning(&PODS, pod, reason, message)
}
