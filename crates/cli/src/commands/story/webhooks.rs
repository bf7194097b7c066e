//! Where the queue sends its events.

use super::shown::{Columns, Shown};
use super::{InProject, PageArgs};
use crate::stories::Desk;
use clap::{Args, Subcommand};
use serde_json::json;
use windlass_control_api::Fault;
use windlass_control_api::stories::{Method, escaped};

const WEBHOOKS: Columns = &[("ID", "id"), ("ACTIVE", "active"), ("EVENTS", "events"), ("URL", "url")];

#[derive(Debug, Subcommand)]
pub(crate) enum Webhook {
    Create(CreateArgs),
    /// List the webhooks
    List(PageArgs),
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
    /// Send to a webhook again that was switched off, beginning with what waits
    Activate {
        /// Its id
        id: String,
    },
    /// List what was sent, and how that went, the newest first
    Deliveries {
        /// Its id
        id: String,
        #[command(flatten)]
        page: PageArgs,
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
            Self::List(page) => Ok(Shown::rows(desk.get("/webhooks", &page.query()).await?, WEBHOOKS)),
            Self::Delete { id } => {
                let answer = desk.delete(&format!("/webhooks/{}", escaped(&id))).await?;
                Ok(Shown::said(answer, format!("{id} is removed")))
            }
            Self::Test { id } => {
                let answer = desk.post(&format!("/webhooks/{}/test", escaped(&id)), json!({})).await?;
                Ok(Shown::said(answer, "a test event is on its way; `webhook deliveries` shows how it went"))
            }
            Self::Activate { id } => {
                let path = format!("/webhooks/{}", escaped(&id));
                let answer = desk.send(Method::Patch, &path, &[], json!({ "active": true })).await?;
                Ok(Shown::said(answer, format!("{id} is switched on; what waits for it is sent")))
            }
            Self::Deliveries { id, page } => {
                let answer =
                    desk.get(&format!("/webhooks/{}/deliveries", escaped(&id)), &page.query()).await?;
                Ok(Shown::rows(
                    answer,
                    &[
                        ("WHEN", "inserted_at"),
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
