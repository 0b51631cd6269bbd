//! Runs the controller in the cluster of the current kubeconfig, as one of several instances.

use billhook_example_controller::{Leadership, run};
use kube::Client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::try_default().await?;
    let identity = format!("site-controller-{}", std::process::id());
    let leadership = Leadership::new(client.clone(), "site-controller", &identity, 15);
    leadership.acquire().await?;
    tokio::select! {
        () = run(client) => {}
        kept = leadership.keep() => kept?,
    }
    Ok(())
}
