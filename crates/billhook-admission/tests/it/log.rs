//! The events written through `tracing`.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes down spans and events.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) lines: Arc<Mutex<Vec<String>>>,
    /// How many spans are entered.
    pub(crate) entered: Arc<AtomicUsize>,
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.0.insert_str(0, &format!("{value:?}")),
            "UID" => self.0.push_str(" UID=…"),
            name => self.0.push_str(&format!(" {name}={value:?}")),
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("billhook")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        let mut log = self.lines.lock().unwrap();
        log.push(format!("span {}:{}", span.metadata().name(), fields.0));
        Id::from_u64(log.len() as u64)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.lines.lock().unwrap().push(format!("{} {}", event.metadata().level(), fields.0));
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {
        self.entered.fetch_add(1, Ordering::Relaxed);
    }

    fn exit(&self, _: &Id) {
        self.entered.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Log {
    pub(crate) fn lines(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }
}
