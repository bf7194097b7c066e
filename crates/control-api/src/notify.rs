//! Notifications as a face shows them: what came of sending one, and what is still to be sent.

use serde::Serialize;

/// What became of notifications that somebody asked for.
#[derive(Clone, Debug, Serialize)]
pub struct NotifyReport {
    pub deliveries: Vec<DeliveryView>,
}

/// One notification through one channel.
#[derive(Clone, Debug, Serialize)]
pub struct DeliveryView {
    /// The same over all tries.
    pub id: String,
    /// `needs-person`, `ended`, `budget` or `test`.
    pub event: String,
    /// Empty for a test.
    pub run: String,
    /// `desktop`, `command` or `webhook`.
    pub channel: String,
    /// Where it goes; an address without its path, which may be secret.
    pub to: String,
    pub state: DeliveryState,
    pub tries: u32,
    /// What stood in the way last; empty where nothing did.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryState {
    Sent,
    /// It will be tried again.
    Pending,
    /// It was given up.
    Failed,
    /// The channel is not there on this machine.
    Unavailable,
    /// Somebody let it be.
    Forgotten,
}

impl DeliveryState {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::Unavailable => "unavailable",
            Self::Forgotten => "forgotten",
        }
    }
}
