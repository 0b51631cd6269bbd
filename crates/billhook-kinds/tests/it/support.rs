//! Objects of kinds as a server reads, prepares and validates them.

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::complete;
use billhook_apimachinery::{KubernetesVersion, UserInfo};
use billhook_kinds::{Findings, Kind, WriteContext};
use serde_json::Value;

const NOW: &str = "2026-11-22T12:00:00Z";

/// A kind whose rules are tested, and a request.
pub(crate) struct Subject {
    kind: &'static Kind,
    kubernetes: KubernetesVersion,
    subresource: &'static str,
}

impl Subject {
    pub(crate) fn new(api_version: &str, kind: &str) -> Self {
        let kind = Kind::named(api_version, kind).unwrap();
        Subject { kind, kubernetes: KubernetesVersion::V1_36, subresource: "" }
    }

    pub(crate) fn on(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }

    pub(crate) fn subresource(mut self, subresource: &'static str) -> Self {
        self.subresource = subresource;
        self
    }

    /// Reads an object as its type.
    pub(crate) fn read(&self, mut object: Value) -> Value {
        let record = self.kind.record().unwrap();
        self.kind.behavior().read(&mut object, record, self.kubernetes).unwrap();
        object
    }

    /// Reads an object and prepares it for a write.
    pub(crate) fn prepared(&self, object: Value, old: Option<&Value>) -> Value {
        let mut object = self.read(object);
        let user = UserInfo::named("alice").group("devs");
        self.kind.behavior().prepare(&mut object, old, &self.context(&user));
        complete(&mut object, self.kind.record().unwrap(), self.kubernetes);
        object
    }

    fn findings(&self, object: Value, old: Option<Value>) -> Findings {
        let (object, old) = (self.read(object), old.map(|old| self.read(old)));
        let user = UserInfo::named("alice");
        let mut found = Findings::default();
        let context = self.context(&user);
        self.kind.behavior().validate(&object, old.as_ref(), &context, &mut found);
        found
    }

    /// Returns the errors in an object that replaces another one, if there is one.
    pub(crate) fn errors(&self, object: Value, old: Option<Value>) -> Vec<String> {
        self.findings(object, old).errors.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn warnings(&self, object: Value, old: Option<Value>) -> Vec<String> {
        self.findings(object, old).warnings
    }

    pub(crate) fn cells(&self, object: Value) -> Vec<Value> {
        self.kind.behavior().cells(&self.read(object), Time::parse(NOW).unwrap())
    }

    fn context<'c>(&self, user: &'c UserInfo) -> WriteContext<'c> {
        WriteContext::new(self.kubernetes, user, NOW).subresource(self.subresource)
    }
}
