//! The options of commands that keep objects in etcd.

use std::path::{Path, PathBuf};

use billhook_apiserver::etcd::EtcdOptions;
use clap::Args;

use crate::input::read_file;
use crate::problem::{Place, Problem};

#[derive(Debug, Args)]
pub(crate) struct EtcdArgs {
    /// URLs of an etcd that has all objects, as that of kube-apiserver has them, with commas;
    /// several servers over one etcd are one API
    #[arg(long, value_name = "URLS", value_delimiter = ',')]
    etcd_servers: Vec<String>,
    /// Beginning of the keys in etcd
    #[arg(long, value_name = "PREFIX", default_value = "/registry", requires = "etcd_servers")]
    etcd_prefix: String,
    /// File with the certificates of the authority of etcd [default: those that the machine trusts]
    #[arg(long, value_name = "FILE", requires = "etcd_servers")]
    etcd_cafile: Option<PathBuf>,
    /// File with the certificate to show to etcd
    #[arg(long, value_name = "FILE", requires = "etcd_keyfile")]
    etcd_certfile: Option<PathBuf>,
    /// File with the key of the certificate
    #[arg(long, value_name = "FILE", requires = "etcd_certfile")]
    etcd_keyfile: Option<PathBuf>,
    /// Name of the user of etcd
    #[arg(long, value_name = "NAME", requires = "etcd_password_file")]
    etcd_user: Option<String>,
    /// File with the password of the user
    #[arg(long, value_name = "FILE", requires = "etcd_user")]
    etcd_password_file: Option<PathBuf>,
}

impl EtcdArgs {
    /// Returns where a problem with etcd is.
    pub(crate) fn place() -> Place {
        Place::file("--etcd-servers")
    }

    /// Returns the etcd to use, if there is one. Fails if a file cannot be read.
    pub(crate) fn options(&self) -> Result<Option<EtcdOptions>, Box<Problem>> {
        if self.etcd_servers.is_empty() {
            return Ok(None);
        }
        let mut options = EtcdOptions::new(&self.etcd_servers).prefix(&self.etcd_prefix);
        if let Some(file) = &self.etcd_cafile {
            options = options.authority(read(file)?);
        }
        if let (Some(certificate), Some(key)) = (&self.etcd_certfile, &self.etcd_keyfile) {
            options = options.identity(read(certificate)?, read(key)?);
        }
        if let (Some(name), Some(file)) = (&self.etcd_user, &self.etcd_password_file) {
            let password = String::from_utf8_lossy(&read(file)?).trim_end().to_owned();
            options = options.user(name, password);
        }
        Ok(Some(options))
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Box<Problem>> {
    read_file(file).map_err(|error| Problem::io(Place::path(file), &error))
}
