//! The pods of services: EndpointSlices and Endpoints (CP-70, CP-71).

mod mirroring;
mod placement;
mod ports;
mod services;
mod slices;
mod subsets;
mod trigger_times;

pub(super) use self::mirroring::Mirroring;
pub(super) use self::slices::EndpointSlices;
pub(super) use self::subsets::Endpoints;
