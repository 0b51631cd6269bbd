//! The paths of the product about which claims are made, each as one piece of work that can be timed
//! or counted, some beside a peer that does the same.

mod engine;
mod server;

/// A piece of work. What it needs is made before.
pub type Run = Box<dyn FnMut()>;

/// A path.
pub struct Path {
    /// Its name, under which its figures are recorded.
    pub name: &'static str,
    /// Makes the work ready.
    pub prepare: fn() -> Run,
    /// The work that it is compared with.
    pub peer: Option<Peer>,
}

/// Other work on the same input.
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// Makes the work ready.
    pub prepare: fn() -> Run,
    /// The limit of the cost of the path in units of this one.
    pub limit: Option<f64>,
}

/// All paths. Peers that are libraries of their own are there with the feature `peers`.
pub fn paths() -> Vec<Path> {
    engine::paths().into_iter().chain(server::paths()).collect()
}

const fn alone(name: &'static str, prepare: fn() -> Run) -> Path {
    Path { name, prepare, peer: None }
}

const fn beside(name: &'static str, prepare: fn() -> Run, peer: Peer) -> Path {
    Path { name, prepare, peer: Some(peer) }
}

const fn peer(name: &'static str, prepare: fn() -> Run, limit: Option<f64>) -> Peer {
    Peer { name, prepare, limit }
}
