//! Connections: who may have one, what they may ask for, and how they end.

mod answers;
mod authority;
mod certificates;
mod connection;
mod gate;
mod patience;
mod requests;
mod websocket;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, watch};

pub(crate) use authority::{Authority, Issued, ServingPair, acceptor};
pub(crate) use certificates::ClientAuthorities;
pub(crate) use gate::{Gate, Peer, bearer_token};
pub(crate) use requests::CertificateRequest;

use crate::front::Front;
use connection::{Client, Settings, serve};

/// How many bytes the system keeps of what a client does not read, or the server has not read yet;
/// Linux takes twice as much.
const SOCKET_BUFFER: u32 = 128 << 10;
/// How long a request may take, unless it is said (RE-22).
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(60);
/// How long requests may go on when the server ends.
const GRACE: Duration = Duration::from_secs(1);

/// Listens on an address.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Connections have the buffers of the socket that they come from.
    socket.set_send_buffer_size(SOCKET_BUFFER)?;
    socket.set_recv_buffer_size(SOCKET_BUFFER)?;
    socket.bind(address)?;
    socket.listen(1024)
}

/// A listening server.
pub(crate) struct Listener {
    listener: TcpListener,
    settings: Arc<Settings>,
    connections: Arc<Semaphore>,
}

impl Listener {
    /// Serves over TLS if there are certificates of the server.
    pub(crate) fn new(
        listener: TcpListener,
        tls: Option<tokio_rustls::TlsAcceptor>,
        clients: Option<Arc<ClientAuthorities>>,
        gate: impl Gate,
        max_connections: usize,
        request_time: Duration,
    ) -> Self {
        let connections = max_connections.clamp(1, Semaphore::MAX_PERMITS);
        let settings = Settings { tls, clients, gate: Box::new(gate), request_time };
        Listener {
            listener,
            settings: Arc::new(settings),
            connections: Arc::new(Semaphore::new(connections)),
        }
    }

    /// Serves until a signal comes. Then watches end, and other requests have a second; a further
    /// signal ends them at once (ET-22).
    pub(crate) async fn run(self, front: Front, signals: &mut Signals) {
        let (close, closing) = watch::channel(false);
        let closing = Closing(closing);
        loop {
            let accept = async {
                // Others wait in the queue of the system.
                let permit = Arc::clone(&self.connections).acquire_owned().await;
                (self.listener.accept().await, permit)
            };
            let (accepted, permit) = tokio::select! {
                () = signals.next() => break,
                accepted = accept => accepted,
            };
            let Ok((stream, address)) = accepted else {
                // There are no file descriptors left at the moment.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let client = Client::new(front.clone(), address.ip(), &self.settings);
            let closing = closing.clone();
            tokio::spawn(async move {
                let _permit = permit;
                serve(stream, client, closing).await;
            });
        }
        drop(self.listener);
        front.server().end_watches();
        drop(closing);
        close.send_replace(true);
        tokio::select! {
            () = signals.next() => {}
            _ = tokio::time::timeout(GRACE, close.closed()) => {}
        }
    }
}

/// Says to a connection that the server ends. The server waits until all of them are dropped.
#[derive(Clone)]
struct Closing(watch::Receiver<bool>);

impl Closing {
    /// Waits until the server ends.
    async fn begins(&mut self) {
        // The sender is there as long as the server serves.
        let _ = self.0.wait_for(|is_closing| *is_closing).await;
    }
}

/// The signals that end programs. While this is there, none ends this one by itself.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (terminate, interrupt) = (SignalKind::terminate(), SignalKind::interrupt());
        Ok(Signals { terminate: signal(terminate)?, interrupt: signal(interrupt)? })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Signals {})
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
