//! The parts that benchmarks share: inputs, made from the fixtures, and contestants.
//!
//! [`sources`] gives clean objects of several sizes and kinds; each is an [`Input`] in four
//! [`Variant`]s. A [`Contestant`] is one way to read or clean an input. All of it is the same in
//! every run, and inputs are checked to be what they claim.

pub mod apply;
pub mod callgrind;
mod contestant;
mod corpus;
mod edit;
mod input;
mod node;
pub mod paths;
#[cfg(feature = "peers")]
pub mod peers;
pub mod policies;
mod rng;
pub mod server;
pub mod shapes;
mod source;
mod sources;
mod store;
pub mod webhooks;

pub use contestant::Contestant;
pub use corpus::{Definition, corpus_definitions, fixture_definitions};
pub use input::{Document, Input, Kind, Variant};
pub use node::Node;
pub use rng::Rng;
pub use source::{Source, backup, fixture_sources, stack};
pub use sources::sources;
