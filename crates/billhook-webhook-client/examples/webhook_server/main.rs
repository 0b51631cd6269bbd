//! An admission webhook server to try `billhook admit` with: it prints the configurations that
//! call it, then serves until it is stopped.
//!
//! ```console
//! $ cargo run -p billhook-webhook-client --example webhook_server -- 127.0.0.1:8443 > webhooks.yaml
//! ```

#![expect(clippy::print_stdout, reason = "the configurations are its output")]

mod behavior;
mod configuration;
mod server;

use std::error::Error;

use server::Server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8443".to_owned());
    let names = ["webhooks.example.svc", "localhost", "127.0.0.1"];
    let server =
        Server::start(&address, &names, |received| Box::pin(behavior::answer(received))).await?;
    for configuration in configuration::of(&server)? {
        println!("---\n{}", billhook::to_yaml(&configuration));
    }
    std::future::pending::<()>().await;
    Ok(())
}
