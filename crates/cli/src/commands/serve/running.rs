//! The server from its first line to its last: bind, tell where, serve until a signal, answer what is in flight.

use super::{ServeArgs, hold, refused, tell_key, unusable};
use crate::output::Output;
use crate::wiring::{self, Environment};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use windlass_control_api::stories::StoryApi;
use windlass_control_api::{Code, Fault, exit_codes};
use windlass_http_server::{ListenError, Listener, Reach, Tls};
use windlass_story_service::{OperatorName, Service, WebhookReach};

const MINUTE: Duration = Duration::from_mins(1);
const MINUTES_OF_AN_HOUR: u64 = 60;
const BREATH: Duration = Duration::from_secs(1);

pub(super) fn operator() -> OperatorName {
    OperatorName("operator".to_owned())
}

pub(super) async fn serve(
    args: ServeArgs,
    environment: &Environment,
    output: &mut Output,
) -> Result<u8, Fault> {
    let path = match args.data {
        Some(path) => path,
        None => wiring::state_directory(environment)?.join("story-server"),
    };
    let reach = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            Reach::Encrypted(Tls::read(certificate, key).map_err(|error| cannot_listen(&error))?)
        }
        _ if args.behind_proxy => Reach::BehindProxy,
        _ => Reach::ThisMachine,
    };
    let listener = Listener::bind(args.listen, reach).await.map_err(|error| cannot_listen(&error))?;
    let mut stop = Stop::listen()?;
    let held = hold(&path)?;
    let webhook_reach = if args.private_webhooks { WebhookReach::Anywhere } else { WebhookReach::PublicOnly };
    let service = held.open().map_err(|error| unusable(&error))?.with_webhook_reach(webhook_reach);
    let service = Arc::new(service);
    service.require_keys().await.map_err(|error| refused(&error))?;
    if service.tenants().await.map_err(|error| refused(&error))?.is_empty() {
        let founded =
            service.found("Default", "default", None, operator()).await.map_err(|error| refused(&error))?;
        tell_key(output, "default", &founded.raw_key);
    }
    for (tenant, why) in service.halted().await.map_err(|error| refused(&error))? {
        output.warn(format!("custody of {tenant} stands still: {why}"));
    }
    if output.is_json() {
        output.json_line(&serde_json::json!({ "event": "listening", "url": listener.url() }));
    } else {
        output.line(format!("listening on {}", listener.url()));
    }
    let mut jobs = tokio::task::JoinSet::new();
    jobs.spawn(look_after(Arc::clone(&service)));
    jobs.spawn(deliver(Arc::clone(&service)));
    let api: Arc<dyn StoryApi> = Arc::clone(&service) as Arc<dyn StoryApi>;
    listener.serve(api, stop.come()).await;
    jobs.shutdown().await;
    // What was answered since the last minute is signed as well; if not now, then when the server is started again.
    let _ = service.sign_heads().await;
    output.talk("stopped; everything that was answered is kept");
    Ok(exit_codes::ACCEPTED)
}

async fn look_after<J: windlass_story_service::Journal + Send + Sync>(service: Arc<Service<J>>) {
    for minute in 0_u64.. {
        // What a round could not do, the next one finds due again.
        let _ = service.end_expired().await;
        let _ = service.sign_heads().await;
        if minute % MINUTES_OF_AN_HOUR == 0 {
            let _ = service.look_after_costs().await;
        }
        tokio::time::sleep(MINUTE).await;
    }
}

/// What was being sent when the server stops is sent again by the next one, under the same id.
async fn deliver<J: windlass_story_service::Journal + Send + Sync>(service: Arc<Service<J>>) {
    loop {
        // The journal failed; what is due stays due.
        let _ = service.keep_delivering().await;
        tokio::time::sleep(BREATH).await;
    }
}

struct Stop {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Stop {
    fn listen() -> Result<Self, Fault> {
        let hear = |kind| {
            signal(kind)
                .map_err(|error| Fault::new(Code::Supervisor, format!("cannot listen for signals: {error}")))
        };
        Ok(Self { terminate: hear(SignalKind::terminate())?, interrupt: hear(SignalKind::interrupt())? })
    }

    async fn come(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

fn cannot_listen(error: &ListenError) -> Fault {
    let fault = Fault::new(Code::BadArgument, error.to_string());
    match error {
        ListenError::InTheClear(_) => fault.hint("give --tls-cert and --tls-key, or say --behind-proxy"),
        ListenError::Address { .. } => {
            fault.hint("another program may listen there; --listen names another address")
        }
        ListenError::Certificate { .. } => {
            fault.hint("both files are PEM; the key belongs to the first certificate")
        }
    }
}
