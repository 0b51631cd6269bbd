//! Minor versions and their texts.

use billhook_apimachinery::KubernetesVersion;

#[test]
fn versions_are_ordered_and_read_back() {
    assert!(KubernetesVersion::ALL.is_sorted());
    assert_eq!(KubernetesVersion::ALL.last(), Some(&KubernetesVersion::default()));
    for version in KubernetesVersion::ALL {
        for text in ["", "v"].map(|prefix| format!("{prefix}{version}")) {
            for end in ["", ".0", ".12", ".2-gke.100", ".4+k3s1"] {
                assert_eq!(format!("{text}{end}").parse(), Ok(version), "{text}{end}");
            }
        }
    }
}

#[test]
fn unknown_versions_are_refused() {
    for text in
        ["", "1", "1.3", "1.31", "1.37", "1.360", "1.36.", "1.36.x", "1.36-1", "vv1.36", " 1.36"]
    {
        let error = text.parse::<KubernetesVersion>().unwrap_err();
        let known = "expected one of 1.32, 1.33, 1.34, 1.35, 1.36";
        assert_eq!(error.to_string(), format!("unknown Kubernetes version `{text}`: {known}"));
    }
}
