//! Pods (BK-100 to BK-113), and what templates of pods share with them.

mod behavior;
pub(crate) mod defaults;
mod image;
mod prepare;
mod resources;
mod table;

pub(super) use self::behavior::Pod;
