//! The trace that a call belongs to, for webhooks that take part in it (OB-50, CL-51).

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

/// Where in which trace a call is made: what the W3C headers `traceparent` and `tracestate` say.
///
/// ```
/// use billhook_webhook_client::TraceContext;
///
/// let context = TraceContext::new([1; 16], [2; 8], true);
/// assert_eq!(
///     context.traceparent(),
///     "00-01010101010101010101010101010101-0202020202020202-01",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    is_sampled: bool,
    state: String,
}

impl TraceContext {
    /// A span of a trace, and whether it is recorded.
    pub fn new(trace_id: [u8; 16], span_id: [u8; 8], is_sampled: bool) -> Self {
        TraceContext { trace_id, span_id, is_sampled, state: String::new() }
    }

    /// The context with what the systems on the way added, as `tracestate` has it.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = state.into();
        self
    }

    /// The value of the header `traceparent`.
    pub fn traceparent(&self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let flags = u8::from(self.is_sampled);
        format!("00-{}-{}-{flags:02x}", hex(&self.trace_id), hex(&self.span_id))
    }

    /// Adds the headers. A trace or span of zeros counts as none, and text that no header can hold is
    /// left out.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        if self.trace_id == [0; 16] || self.span_id == [0; 8] {
            return;
        }
        let mut add = |name, text: &str| {
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        add("traceparent", &self.traceparent());
        if !self.state.is_empty() {
            add("tracestate", &self.state);
        }
    }
}
