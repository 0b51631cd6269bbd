//! A Kubernetes API server for custom resources, in process: for tests of controllers.
//!
//! - [`Server`]: a service of HTTP requests: create, get, list, update, patch, delete, watch.
//! - [`storage`]: where objects are kept, with the semantics of etcd; a
//!   [`Backend`](storage::Backend) of your own keeps them elsewhere.
//!
//! # Crate features
//!
//! - `metrics`: metrics for Prometheus at `/metrics`, with `ServerBuilder::metrics`.
//! - `tracing`: spans and log events of admission.
//! - `redb`: `storage::Redb`, objects that last in a file.
//! - `etcd`: `etcd::Etcd`, objects that last in etcd, which several servers may share.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod admission_configuration;
mod answer;
mod audit;
mod background;
mod body;
mod budget;
mod builder;
mod clock;
mod controllers;
mod definitions;
mod discovery;
mod durable;
mod edition;
#[cfg(feature = "etcd")]
#[cfg_attr(docsrs, doc(cfg(feature = "etcd")))]
pub mod etcd;
mod event_cache;
mod failures;
mod future;
mod health;
mod kinds;
mod links;
mod load;
mod measures;
#[cfg(feature = "metrics")]
mod metrics;
mod namespaces;
mod openapi;
mod other_paths;
mod own;
mod permissions;
mod plugins;
mod pod_logs;
mod presence;
mod protobuf;
mod recovery;
mod request;
mod request_log;
mod resources;
mod response;
mod rest;
mod reviews;
mod server;
mod shared;
pub mod storage;
mod table;
mod tokens;
mod users;
mod version_and_health;
mod view;
mod webhooks;
mod write_path;

pub use self::answer::Body;
pub use self::audit::{AuditEvent, AuditPolicy, AuditPolicyError, AuditedObject, AuditedStatus};
pub use self::builder::ServerBuilder;
pub use self::durable::{DurableServerBuilder, OpenError};
pub use self::future::BoxFuture;
pub use self::load::{CreateError, LoadError};
pub use self::permissions::{AuthorizationMode, UsedPermissions};
pub use self::presence::Presence;
pub use self::request_log::{RequestLog, RequestRecord};
pub use self::response::Response;
pub use self::server::Server;
pub use self::tokens::{ServiceAccountTokens, TokenKeyError};
pub use self::version_and_health::{git_version, platform};
pub use billhook_admission::AuditLevel;
pub use billhook_kinds::{SecurityDefaults, SecurityDefaultsError, ServiceRanges};
