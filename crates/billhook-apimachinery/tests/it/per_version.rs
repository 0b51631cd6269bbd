//! One value for each version.

use billhook_apimachinery::{KubernetesVersion, PerVersion};

#[test]
fn each_version_has_its_own_value() {
    let written =
        PerVersion { v1_32: "1.32", v1_33: "1.33", v1_34: "1.34", v1_35: "1.35", v1_36: "1.36" };
    for version in KubernetesVersion::ALL {
        assert_eq!(*written.of(version), version.as_str());
    }
    assert_eq!(PerVersion::from_fn(KubernetesVersion::as_str), written);
}
