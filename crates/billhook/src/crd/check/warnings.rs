//! Warnings about formats that a server does not know (CV-90).

pub(super) fn unknown_formats(_: &super::model::Model<'_>) -> Vec<String> {
    Vec::new()
}
