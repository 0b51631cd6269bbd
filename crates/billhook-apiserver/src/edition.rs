//! The facts about the API server itself that depend on its version. Those of definitions, policies
//! and the write path are in their crates.

use billhook_apimachinery::{PerVersion, Status};

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// The number of the patch release that is followed.
    pub(crate) patch: u8,
    /// Whether the server says which version it is compatible with, which is the one before (DT-30).
    pub(crate) tells_compatibility: bool,
    /// Whether watches may ask for the existing objects: the gate `WatchList` (WA-10).
    pub(crate) streams_lists: bool,
    /// Whether it is the client's mistake that the options of a deletion cannot be read (KV-87).
    blames_options: bool,
    /// Whether the generation that the status of a definition is about is kept (KV-02).
    pub(crate) keeps_observed_generations: bool,
    /// Whether connections to pods over WebSockets need the permission to create (BK-114).
    pub(crate) upgrades_need_create: bool,
    /// Whether pods have the labels of the zone of their node, and bindings give labels to pods: the gate
    /// `PodTopologyLabelsAdmission` (BK-110, BK-564).
    pub(crate) labels_pods_by_topology: bool,
    /// Whether a pod that is bound is nominated no more: the gate `ClearingNominatedNodeNameAfterBinding`
    /// (BK-110).
    pub(crate) clears_nominations: bool,
    /// The fields that a write to the status of a definition leaves to their owners: on older servers
    /// those of the metadata too, although it takes them over (KV-83).
    pub(crate) definition_status_resets: &'static [&'static str],
    /// Whether OpenAPI documents have the documentation in schemas (KV-75).
    pub(crate) publishes_documentation: bool,
    /// Whether OpenAPI documents know of shards (DT-43).
    pub(crate) publishes_shards: bool,
}

const V1_32: Edition = Edition {
    patch: 13,
    tells_compatibility: false,
    streams_lists: true,
    blames_options: false,
    keeps_observed_generations: false,
    upgrades_need_create: false,
    labels_pods_by_topology: false,
    clears_nominations: false,
    definition_status_resets: &["metadata", "spec"],
    publishes_documentation: false,
    publishes_shards: false,
};

const V1_33: Edition =
    Edition { patch: 13, tells_compatibility: true, streams_lists: false, ..V1_32 };

const V1_34: Edition = Edition { patch: 10, streams_lists: true, ..V1_33 };

const V1_35: Edition = Edition {
    patch: 7,
    blames_options: true,
    upgrades_need_create: true,
    labels_pods_by_topology: true,
    clears_nominations: true,
    ..V1_34
};

const V1_36: Edition = Edition {
    patch: 3,
    keeps_observed_generations: true,
    definition_status_resets: &["spec"],
    publishes_documentation: true,
    publishes_shards: true,
    ..V1_35
};

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_33, v1_34: V1_34, v1_35: V1_35, v1_36: V1_36 };

impl Edition {
    /// The facts with a gate that is switched, if it is.
    pub(crate) fn switched(self, streams_lists: Option<bool>) -> Self {
        Edition { streams_lists: streams_lists.unwrap_or(self.streams_lists), ..self }
    }

    /// The failure of a deletion whose options cannot be read.
    pub(crate) fn unreadable_options(&self, why: String) -> Status {
        if self.blames_options { Status::bad_request(why) } else { Status::failure(500, "", why) }
    }
}
