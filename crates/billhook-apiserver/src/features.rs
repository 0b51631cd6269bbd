//! The differences between versions of Kubernetes that concern the server alone. Those of definitions,
//! policies and the write path are theirs.

use billhook::KubernetesVersion;
use billhook_apimachinery::Status;

/// The features of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub(crate) kubernetes: KubernetesVersion,
    /// The release that is followed.
    pub(crate) release: &'static str,
    /// The oldest version that it is compatible with, if it tells that.
    pub(crate) compatible: Option<KubernetesVersion>,
    /// Whether watches may ask for the objects that there are: the gate `WatchList`.
    pub(crate) streams_lists: bool,
    /// Whether it is the client's mistake that the options of a deletion cannot be read (KV-87).
    blames_options: bool,
}

const V1_36: Features = Features {
    kubernetes: KubernetesVersion::V1_36,
    release: "1.36.3",
    compatible: Some(KubernetesVersion::V1_35),
    streams_lists: true,
    blames_options: true,
};

const V1_35: Features = Features {
    kubernetes: KubernetesVersion::V1_35,
    release: "1.35.7",
    compatible: Some(KubernetesVersion::V1_34),
    ..V1_36
};

const V1_34: Features = Features {
    kubernetes: KubernetesVersion::V1_34,
    release: "1.34.10",
    compatible: Some(KubernetesVersion::V1_33),
    blames_options: false,
    ..V1_35
};

const V1_33: Features = Features {
    kubernetes: KubernetesVersion::V1_33,
    release: "1.33.13",
    compatible: Some(KubernetesVersion::V1_32),
    streams_lists: false,
    ..V1_34
};

const V1_32: Features = Features {
    kubernetes: KubernetesVersion::V1_32,
    release: "1.32.13",
    compatible: None,
    streams_lists: true,
    ..V1_33
};

impl Features {
    /// Returns the features of a version.
    pub(crate) fn of(kubernetes: KubernetesVersion) -> Self {
        match kubernetes {
            KubernetesVersion::V1_32 => V1_32,
            KubernetesVersion::V1_33 => V1_33,
            KubernetesVersion::V1_34 => V1_34,
            KubernetesVersion::V1_35 => V1_35,
            _ => V1_36,
        }
    }

    /// The failure of a deletion whose options cannot be read.
    pub(crate) fn unreadable_options(&self, why: String) -> Status {
        if self.blames_options { Status::bad_request(why) } else { Status::failure(500, "", why) }
    }
}
