//! How connections to webhooks are opened, before TLS (CL-52).

use billhook_admission::BoxFuture;
use billhook_apimachinery::message_error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::error::connection_error;

message_error! {
    /// A connection that cannot be opened.
    pub struct ConnectError;
}

/// An open connection.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<C: AsyncRead + AsyncWrite + Send + Unpin> Connection for C {}

/// Opens connections. [`Direct`] and [`Proxies`](super::Proxies) are the ones there are; a server
/// with an egress network of its own brings another.
pub trait Connector: Send + Sync {
    /// Connects to `host:port`.
    fn connect<'a>(
        &'a self,
        address: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, ConnectError>>;
}

/// Connects over TCP, with nothing in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Connector for Direct {
    fn connect<'a>(
        &'a self,
        address: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, ConnectError>> {
        Box::pin(async move { Ok(Box::new(dial(address).await?) as Box<dyn Connection>) })
    }
}

pub(super) async fn dial(address: &str) -> Result<TcpStream, String> {
    let open = async {
        let stream = TcpStream::connect(address).await?;
        // A call is one small write; waiting for more to send would only delay it.
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    open.await.map_err(|error| format!("dial tcp {address}: {}", connection_error(&error)))
}
