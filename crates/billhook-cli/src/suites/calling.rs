//! The webhooks of suites that are called over HTTPS.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use billhook_admission::{
    BoxFuture, CallerError, ConversionCall, WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook_suite::Suite;
use billhook_webhook_client::{HttpsCaller, StaticResolver};
use tokio::runtime::{Builder, Runtime};

/// Calls webhooks for blocking callers, on a runtime of its own.
struct Calling {
    caller: HttpsCaller,
    runtime: Runtime,
}

/// Makes a caller for the webhooks of a suite.
pub(super) fn caller(suite: &Suite) -> io::Result<Arc<dyn WebhookCaller>> {
    let known = StaticResolver::default();
    let resolver = suite.services().fold(known, |resolver, (service, namespace, address)| {
        resolver.with(namespace, service, address)
    });
    let caller = HttpsCaller::default().resolver(resolver);
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    Ok(Arc::new(Calling { caller, runtime }))
}

impl WebhookCaller for Calling {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        self.on_runtime(self.caller.call(call))
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        self.on_runtime(self.caller.convert(call))
    }
}

impl Calling {
    /// Waits for an answer, whose connections and timers belong to the runtime.
    fn on_runtime<'a, T: 'a>(&'a self, mut answer: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        Box::pin(poll_fn(move |context| {
            let _runtime = self.runtime.enter();
            answer.as_mut().poll(context)
        }))
    }
}
