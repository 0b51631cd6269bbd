//! Schema paths for reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook_apimachinery::FieldPath;

use crate::compiled::{NodeId, NodeRef};

/// The schema paths of the nodes of one schema, each made once, so that many changes at the same
/// place of a schema share one.
#[derive(Debug, Default)]
pub struct SchemaPaths(BTreeMap<NodeId, Arc<FieldPath>>);

impl SchemaPaths {
    /// Returns the path of a node.
    pub fn of(&mut self, node: NodeRef<'_>) -> Arc<FieldPath> {
        node.kept_schema_path().unwrap_or_else(|| {
            Arc::clone(self.0.entry(node.id()).or_insert_with(|| Arc::new(node.schema_path())))
        })
    }
}
