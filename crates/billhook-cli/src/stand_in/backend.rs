//! Where `kube-apiserver` keeps its objects: in the etcd that it is given, or in memory where that is
//! billhook's own, which keeps nothing (ET-12).

use std::fs;
use std::path::Path;

use billhook_apiserver::etcd::{Etcd, EtcdOptions};
use billhook_apiserver::{Server, ServerBuilder};

use super::log;
use super::options::EtcdSettings;

/// Builds the server.
pub(super) async fn build(
    builder: ServerBuilder,
    settings: &EtcdSettings,
) -> Result<Server, String> {
    let options = options(settings)?;
    let servers = settings.servers.join(",");
    if let Err(error) = Etcd::probe(&options).await {
        log::line(&format!("billhook: objects are kept in memory: {servers}: {error}"));
        return Ok(builder.build());
    }
    if settings.encrypts {
        let why = "objects are written into etcd without encryption";
        return Err(format!("--encryption-provider-config is not supported: {why}"));
    }
    log::line(&format!("billhook: objects are kept in etcd at {servers}"));
    let etcd = Etcd::open(options).await.map_err(|error| error.to_string())?;
    builder.backend(etcd).build().await.map_err(|error| error.to_string())
}

fn options(settings: &EtcdSettings) -> Result<EtcdOptions, String> {
    let read = |file: &Path| {
        fs::read(file).map_err(|error| format!("error reading {}: {error}", file.display()))
    };
    let mut options = EtcdOptions::new(&settings.servers);
    if let Some(prefix) = &settings.prefix {
        options = options.prefix(prefix);
    }
    if let Some(file) = &settings.authority {
        options = options.authority(read(file)?);
    }
    if let (Some(certificate), Some(key)) = (&settings.certificate, &settings.key) {
        options = options.identity(read(certificate)?, read(key)?);
    }
    if let Some(interval) = settings.compaction_interval {
        options = options.compaction_interval(interval);
    }
    if let Some(ttl) = settings.event_ttl {
        options = options.event_ttl(ttl);
    }
    Ok(options)
}
