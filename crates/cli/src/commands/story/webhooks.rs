//! Where the queue sends its events.

use super::InProject;
use super::shown::{Columns, Shown};
use crate::stories::Desk;
use clap::{Args, Subcommand};
use serde_json::json;
use windlass_control_api::Fault;
use windlass_control_api::stories::escaped;

const WEBHOOKS: Columns = &[("ID", "id"), ("ACTIVE", "active"), ("EVENTS", "events"), ("URL", "url")];

#[derive(Debug, Subcommand)]
pub(crate) enum Webhook {
    Create(CreateArgs),
    /// List the webhooks
    List,
    /// Remove a webhook
    Delete {
        /// Its id
        id: String,
    },
    /// Send a test event
    Test {
        /// Its id
        id: String,
    },
    /// List what was sent, and how that went
    Deliveries {
        /// Its id
        id: String,
    },
}

/// Send events to an address; its signing secret is shown once
#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// Where to
    #[arg(long)]
    url: String,
    /// Which events, with commas between them
    #[arg(long, value_delimiter = ',', required = true)]
    events: Vec<String>,
    #[command(flatten)]
    place: InProject,
}

impl Webhook {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Create(args) => {
                let project = match args.place.named() {
                    Some(named) => Some(desk.project(Some(named)).await?),
                    None => None,
                };
                let body = json!({ "url": args.url, "events": args.events, "project_id": project });
                desk.post("/webhooks", body).await.map(Shown::thing)
            }
            Self::List => Ok(Shown::rows(desk.get("/webhooks", &[]).await?, WEBHOOKS)),
            Self::Delete { id } => {
                let answer = desk.delete(&format!("/webhooks/{}", escaped(&id))).await?;
                Ok(Shown::said(answer, format!("{id} is removed")))
            }
            Self::Test { id } => {
                let answer = desk.post(&format!("/webhooks/{}/test", escaped(&id)), json!({})).await?;
                Ok(Shown::said(answer, "a test event is on its way; `webhook deliveries` shows how it went"))
            }
            Self::Deliveries { id } => {
                let answer = desk.get(&format!("/webhooks/{}/deliveries", escaped(&id)), &[]).await?;
                Ok(Shown::rows(
                    answer,
                    &[
                        ("EVENT", "event_type"),
                        ("STATUS", "status"),
                        ("TRIES", "attempts"),
                        ("ERROR", "error"),
                    ],
                ))
            }
        }
    }
}
