#![doc = include_str!("../README.md")]

mod account;
mod builder;
mod client;
mod clock;
mod conditions;
mod control_plane;
mod controller;
pub mod controllers;
mod event;
mod identifiers;
mod namespaces;
mod object;
mod ownership;
mod plan;
mod pods;
mod queue;
mod recorder;
mod request;
mod resource;
mod runner;
mod scheduling;
pub mod simulation;
mod slow_start;
mod view;

pub use self::account::Account;
pub use self::builder::ControlPlaneBuilder;
pub use self::clock::{Clock, Timestamp};
pub use self::control_plane::ControlPlane;
pub use self::controller::{Controller, Key, Keys};
pub use self::event::Event;
pub use self::object::Object;
pub use self::plan::Plan;
pub use self::request::{Outcome, Request};
pub use self::resource::{Resource, split_key};
pub use self::runner::SettleError;
pub use self::view::{Change, View};
