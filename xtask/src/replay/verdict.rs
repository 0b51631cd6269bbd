//! How playing a recording ends.

/// How a scenario went.
#[derive(Debug)]
pub enum Verdict {
    /// As recorded.
    Passed,
    /// As recorded, except for what only the build of the recorded server explains.
    Explained,
    /// Otherwise.
    Failed {
        /// Where, what was recorded there, and what happened here.
        differences: Vec<String>,
    },
    /// It needs a part of a server that does not exist yet.
    Waiting(&'static str),
}
