//! The objects that a cluster begins with.

/// An object that a cluster begins with: a role, a binding, a flow schema, a priority level or a
/// service of the API (BK-680).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct InitialObject {
    /// The group of its resource.
    pub group: &'static str,
    /// The plural name of its resource.
    pub plural: &'static str,
    /// Its name, after its namespace and a slash if it has one.
    pub key: &'static str,
    /// The object as it is stored, with places for its UID and times.
    pub(crate) text: &'static str,
}

impl InitialObject {
    /// Returns the object as it is stored, with a UID and the time of its creation.
    pub fn text(&self, uid: &str, time: &str) -> String {
        self.text.replace("<uid>", uid).replace("<time>", time)
    }
}
