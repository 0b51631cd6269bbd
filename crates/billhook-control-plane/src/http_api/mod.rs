//! The paths by which other programs steer the control plane.

mod activity;
mod api;
mod clock;
mod members;
mod query;
mod requests;
mod service;
mod settling;

pub use self::api::HttpApi;
