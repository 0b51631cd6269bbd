//! Building a server over a backend.

use std::sync::Arc;

use billhook_apimachinery::Status;
use serde_json::Value;

use crate::builder::ServerBuilder;
use crate::controllers::{create_definition, create_initial, update_definition};
use crate::server::Server;
use crate::shared::Shared;
use crate::storage::{Backend, BackendError, HistoryLimits, Storage};

/// Builds a [`Server`] whose objects are in a backend; made by [`ServerBuilder::backend`].
#[derive(Debug)]
pub struct DurableServerBuilder<B> {
    builder: ServerBuilder,
    backend: B,
}

/// Why a server cannot be built over a backend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The backend cannot be loaded.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// An object that the server begins with cannot be written.
    #[error("{name}: {}", status.message)]
    Refused {
        /// The name of the object.
        name: String,
        /// Why.
        status: Box<Status>,
    },
}

impl ServerBuilder {
    /// Keeps the objects in a backend. The definitions of the builder take the place of those that
    /// are stored by the same names.
    pub fn backend<B: Backend>(self, backend: B) -> DurableServerBuilder<B> {
        DurableServerBuilder { builder: self, backend }
    }
}

impl<B: Backend> DurableServerBuilder<B> {
    /// Builds the server: loads all that is stored, and goes on with what was left undone. To be
    /// called in a runtime of tokio with time, in which the server then does its work.
    ///
    /// # Errors
    ///
    /// If the backend cannot be loaded, or objects that the server begins with cannot be written.
    pub async fn build(self) -> Result<Server, OpenError> {
        let backend = self.builder.measured(self.backend);
        let storage = Storage::load(backend, HistoryLimits::default()).await?;
        let (server, definitions) = self.builder.assemble(storage);
        server.take_over_all();
        server.storage.start();
        create_initial(&server).await.map_err(|(name, status)| refused(&name, status))?;
        server.resume().await;
        for document in &definitions {
            let name = document.pointer("/metadata/name").and_then(Value::as_str);
            let name = name.unwrap_or_default();
            write_definition(&server, name, document)
                .await
                .map_err(|status| refused(name, status))?;
        }
        Ok(Server::of(server))
    }
}

async fn write_definition(
    server: &Arc<Shared>,
    name: &str,
    document: &Value,
) -> Result<(), Status> {
    match create_definition(server, document).await {
        Err(status) if status.reason == "AlreadyExists" => {
            update_definition(server, name, document).await
        }
        created => created,
    }
}

fn refused(name: &str, status: Status) -> OpenError {
    OpenError::Refused { name: name.to_owned(), status: Box::new(status) }
}
