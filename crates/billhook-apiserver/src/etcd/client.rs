//! Calls of etcd, repeated where they may be.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use http::uri::PathAndQuery;
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use super::failure::{is_passing, is_unauthenticated, is_unavailable};
use super::messages::{
    AuthenticateRequest, AuthenticateResponse, CompactionRequest, Empty, LeaseGrantRequest,
    LeaseGrantResponse, RangeRequest, RangeResponse, StatusResponse, TxnRequest, TxnResponse,
    WatchRequest, WatchResponse,
};

/// How often a call is made, and how long before it is made for the second time; each pause is twice
/// the one before (ES-60).
const TRIES: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(300);

/// How many requests of a watch wait to be sent.
const WATCH_REQUESTS: usize = 16;

/// Which failed calls are made again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// All that may succeed soon.
    Reads,
    /// Those that have had no effect.
    Writes,
}

/// A connection to the members of a cluster, for a user.
#[derive(Debug)]
pub(super) struct Client {
    channel: Channel,
    user: Option<(String, String)>,
    token: RwLock<Option<MetadataValue<Ascii>>>,
    /// How many calls were made again.
    retries: AtomicU64,
}

impl Client {
    pub(super) fn new(channel: Channel, user: Option<(String, String)>) -> Self {
        Client { channel, user, token: RwLock::default(), retries: AtomicU64::default() }
    }

    pub(super) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    pub(super) async fn range(&self, request: &RangeRequest) -> Result<RangeResponse, Status> {
        self.call("/etcdserverpb.KV/Range", request, Repeat::Reads).await
    }

    pub(super) async fn transaction(&self, request: &TxnRequest) -> Result<TxnResponse, Status> {
        self.call("/etcdserverpb.KV/Txn", request, Repeat::Writes).await
    }

    pub(super) async fn compact(&self, request: &CompactionRequest) -> Result<(), Status> {
        let compacted = self.call("/etcdserverpb.KV/Compact", request, Repeat::Writes).await;
        compacted.map(|Empty {}| ())
    }

    pub(super) async fn grant(
        &self,
        request: &LeaseGrantRequest,
    ) -> Result<LeaseGrantResponse, Status> {
        self.call("/etcdserverpb.Lease/LeaseGrant", request, Repeat::Writes).await
    }

    pub(super) async fn status(&self) -> Result<StatusResponse, Status> {
        self.call("/etcdserverpb.Maintenance/Status", &Empty {}, Repeat::Reads).await
    }

    /// [`Client::status`], without another try.
    pub(super) async fn status_at_once(&self) -> Result<StatusResponse, Status> {
        self.call_as_user("/etcdserverpb.Maintenance/Status", &Empty {}).await
    }

    /// Opens a stream of watches; requests are sent by the sender.
    pub(super) async fn watch(
        &self,
        first: WatchRequest,
    ) -> Result<(mpsc::Sender<WatchRequest>, Streaming<WatchResponse>), Status> {
        if self.user.is_some() && self.token().is_none() {
            self.authenticate().await?;
        }
        let (sender, requests) = mpsc::channel(WATCH_REQUESTS);
        let closed = |_| Status::unavailable("the watch is closed");
        sender.send(first).await.map_err(closed)?;
        let mut request = self.request(ReceiverStream::new(requests));
        // A member without a leader ends the stream (ES-40).
        request.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
        let path = PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
        let mut grpc = self.ready().await?;
        let opened = grpc.streaming(request, path, ProstCodec::default()).await;
        if opened.as_ref().is_err_and(is_unauthenticated) {
            self.forget_token();
        }
        opened.map(|opened| (sender, opened.into_inner()))
    }

    /// Makes a call, again if it has failed so that it may be.
    async fn call<Q, A>(&self, path: &'static str, request: &Q, repeat: Repeat) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let mut pause = FIRST_PAUSE;
        let mut tries = 1;
        loop {
            let status = match self.call_as_user(path, request).await {
                Ok(answer) => return Ok(answer),
                Err(status) => status,
            };
            let may_repeat =
                is_passing(&status) || (repeat == Repeat::Reads && is_unavailable(&status));
            if !may_repeat || tries == TRIES {
                return Err(status);
            }
            tokio::time::sleep(pause).await;
            self.retries.fetch_add(1, Ordering::Relaxed);
            pause *= 2;
            tries += 1;
        }
    }

    /// Makes a call as the user, with a new token if it has ended.
    async fn call_as_user<Q, A>(&self, path: &'static str, request: &Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        if self.user.is_none() {
            return self.call_once(path, request).await;
        }
        if self.token().is_none() {
            self.authenticate().await?;
        }
        let answer = self.call_once(path, request).await;
        if !answer.as_ref().is_err_and(is_unauthenticated) {
            return answer;
        }
        // A call with a token that has ended had no effect.
        self.authenticate().await?;
        self.call_once(path, request).await
    }

    async fn call_once<Q, A>(&self, path: &'static str, request: &Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let request = self.request(request.clone());
        let mut grpc = self.ready().await?;
        let codec = ProstCodec::<Q, A>::default();
        Ok(grpc.unary(request, PathAndQuery::from_static(path), codec).await?.into_inner())
    }

    async fn authenticate(&self) -> Result<(), Status> {
        let Some((name, password)) = self.user.clone() else { return Ok(()) };
        self.forget_token();
        let request = AuthenticateRequest { name, password };
        let answer: AuthenticateResponse =
            self.call_once("/etcdserverpb.Auth/Authenticate", &request).await?;
        let token = answer.token.parse();
        let token = token.map_err(|_| Status::internal("the token of etcd is not a header"))?;
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok(())
    }

    fn token(&self) -> Option<MetadataValue<Ascii>> {
        self.token.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn forget_token(&self) {
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn request<Q>(&self, message: Q) -> Request<Q> {
        let mut request = Request::new(message);
        if let Some(token) = self.token() {
            request.metadata_mut().insert("token", token);
        }
        request
    }

    async fn ready(&self) -> Result<Grpc<Channel>, Status> {
        // A list has objects of any size.
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX);
        grpc.ready().await.map_err(|error| Status::from_error(error.into()))?;
        Ok(grpc)
    }
}
