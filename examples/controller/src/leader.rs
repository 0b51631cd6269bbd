//! One of several instances leads: the one that holds a Lease.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

/// The candidacy of an instance.
pub struct Leadership {
    leases: Api<Lease>,
    name: String,
    identity: String,
    /// How long a leader leads after it was last heard of.
    seconds: i32,
}

impl Leadership {
    /// Stands for a lease in the default namespace. The identity is different for each instance.
    pub fn new(client: Client, name: &str, identity: &str, seconds: i32) -> Self {
        let leases = Api::default_namespaced(client);
        Leadership { leases, name: name.to_owned(), identity: identity.to_owned(), seconds }
    }

    /// Waits until this instance leads.
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub async fn acquire(&self) -> Result<(), kube::Error> {
        while !self.try_acquire().await? {
            self.pause().await;
        }
        Ok(())
    }

    /// Stays the leader; returns when this instance leads no longer.
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub async fn keep(&self) -> Result<(), kube::Error> {
        while self.try_acquire().await? {
            self.pause().await;
        }
        Ok(())
    }

    /// Takes the lease, or renews it; false if another instance leads.
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub async fn try_acquire(&self) -> Result<bool, kube::Error> {
        let now = Timestamp::now();
        let found = self.leases.get_opt(&self.name).await?;
        let held = found.as_ref().and_then(|lease| lease.spec.clone()).unwrap_or_default();
        let is_mine = held.holder_identity.as_ref() == Some(&self.identity);
        if !is_mine && is_valid(&held, now) {
            return Ok(false);
        }
        let transitions = held.lease_transitions.unwrap_or_default();
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                // Whoever writes first wins.
                resource_version: found
                    .as_ref()
                    .and_then(|it| it.metadata.resource_version.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.identity.clone()),
                lease_duration_seconds: Some(self.seconds),
                acquire_time: held.acquire_time.filter(|_| is_mine).or(Some(MicroTime(now))),
                renew_time: Some(MicroTime(now)),
                lease_transitions: Some(if is_mine { transitions } else { transitions + 1 }),
                ..LeaseSpec::default()
            }),
        };
        let written = match found {
            Some(_) => self.leases.replace(&self.name, &PostParams::default(), &lease).await,
            None => self.leases.create(&PostParams::default(), &lease).await,
        };
        match written {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
            written => written.map(|_| true),
        }
    }

    async fn pause(&self) {
        let seconds = u64::try_from(self.seconds).unwrap_or(1);
        tokio::time::sleep(Duration::from_secs(seconds) / 3).await;
    }
}

/// Whether a lease that has not run out is held.
fn is_valid(lease: &LeaseSpec, now: Timestamp) -> bool {
    let seconds = SignedDuration::from_secs(lease.lease_duration_seconds.unwrap_or(0).into());
    let end = lease.renew_time.as_ref().map(|renewed| renewed.0 + seconds);
    lease.holder_identity.is_some() && end.is_some_and(|end| end > now)
}
