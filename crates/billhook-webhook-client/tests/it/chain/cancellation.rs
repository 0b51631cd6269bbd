//! Clients that go away while a webhook is asked (DI-13, DI-63, DI-70, OB-38).

use super::world::cluster;
use std::time::Duration;

use billhook_admission::{Cancellation, ChainOutcome, RequestOptions};

use crate::chain::world::{Act, World, allow, configuration, create};

/// Runs a create with a webhook `a` that never answers and a mutating `b` after it, and cancels it
/// as soon as `a` is asked.
async fn cancelled(kind: &str, policy: &str) -> (ChainOutcome, World) {
    let world = World::new(vec![
        ("a", Box::new(|_, _| Act::Never)),
        ("b", Box::new(|request, _| allow(request))),
    ])
    .await;
    let more = format!("failurePolicy: {policy}");
    let mut configurations = vec![configuration(kind, "a", &more)];
    if kind == "Mutating" {
        configurations.push(configuration(kind, "b", ""));
    }
    let chain = world.chain(&configurations);
    let cancellation = Cancellation::new();
    // A deadline that would be noticed: nothing here waits for it.
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    let options = RequestOptions::default().cancellation(&cancellation).deadline(deadline);
    let cancel = async {
        while world.calls("a") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancellation.cancel();
    };
    let cluster = cluster();
    let (outcome, ()) =
        tokio::join!(chain.run(create(), &cluster, &options, |_, _| Ok(())), cancel);
    assert!(std::time::Instant::now() < deadline);
    (outcome, world)
}

#[tokio::test]
async fn a_call_ends_when_the_client_goes_away() {
    let failed = "Internal error occurred: failed calling webhook \"a.example.com\": failed to \
                  call webhook: context canceled";
    let timeout = "Timeout: request did not complete within requested timeout";
    for (kind, policy, expected) in [
        ("Mutating", "Fail", Some((500, failed))),
        ("Mutating", "Ignore", Some((504, timeout))),
        ("Validating", "Fail", Some((500, failed))),
        ("Validating", "Ignore", None),
    ] {
        let (outcome, world) = cancelled(kind, policy).await;
        let found = outcome.result.as_ref().err().map(|s| (s.code, s.message.as_str()));
        assert_eq!(found, expected, "{kind} {policy}");
        assert_eq!(world.calls("b"), 0, "{kind} {policy}");
        let keys: Vec<&str> = outcome.annotations.iter().map(|(key, _)| key).collect();
        // A call is a call (OB-31), but not a failure of the webhook (OB-38).
        let mutating = ["mutation.webhook.admission.k8s.io/round_0_index_0"];
        assert_eq!(keys, if kind == "Mutating" { &mutating[..] } else { &[] });
    }
}

/// A client that is gone already: no webhook is called.
#[tokio::test]
async fn no_webhook_is_asked_for_a_client_that_is_gone() {
    for (kind, expected) in [("Mutating", 504), ("Validating", 504)] {
        let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
        let chain = world.chain(&[configuration(kind, "a", "failurePolicy: Ignore")]);
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let options = RequestOptions::default().cancellation(&cancellation);
        let outcome = chain.run(create(), &cluster(), &options, |_, _| Ok(())).await;
        assert_eq!(outcome.result.unwrap_err().code, expected);
        assert_eq!(world.calls("a"), 0);
    }
}
