//! What a face asks about notifications: try the channels, send again what was given up, let it be, and how things
//! stand. Sends nothing itself.

use super::trust;
use crate::clock::SystemClock;
use crate::fault::{git_fault, no_thread};
use crate::host::Host;
use crate::notify::{Channel, Deliveries, Failed, Message, Patience, Plan, desktop_is_there, send};
use crate::settings::Environment;
use std::path::Path;
use windlass_control_api::notify::{DeliveryState, DeliveryView, NotifyReport};
use windlass_control_api::views::{DiagnosisLine, Health};
use windlass_control_api::{Code, Fault};
use windlass_engine::Clock;
use windlass_git_workspaces::Checkout;
use windlass_process_supervisor::aside;

/// One try through every channel at once, beside what is on its way.
pub(crate) async fn test(host: &Host, repository: Option<&Path>) -> Result<NotifyReport, Fault> {
    let checkout = repository.map(Checkout::discover).transpose().map_err(git_fault)?;
    let settings = host.settings_for(checkout.as_ref().map(Checkout::work_tree), &[])?;
    if let Some(checkout) = checkout.as_ref().filter(|_| Plan::is_of_the_repository(&settings)) {
        trust::require(host, checkout, &settings, false).map_err(|mut fault| {
            fault.hints.pop();
            fault.hint("agree with `windlass trust`")
        })?;
    }
    let plan = Plan::of(&settings);
    if plan.channels.is_empty() {
        return Err(Fault::new(Code::BadSettings, "no channel for notifications is set").hint(
            "put `[notify]` with `desktop = true`, `command = \"…\"` or `webhook = { url = \"…\" }` into your settings",
        ));
    }
    let place = checkout.map_or_else(|| "/".into(), |checkout| checkout.work_tree().to_owned());
    let message = Message::test(test_id()?, SystemClock.now(), &place.to_string_lossy());
    let mut tries = Vec::new();
    for channel in plan.channels {
        let (kit, message) = (host.courier.kit().clone(), message.clone());
        let own = host.courier.deliveries().place(&format!("{}.{}", message.id, channel.word()));
        let attempt = aside(move || {
            let view = |state, why: &str| view(&message, &channel, (state, 1, why));
            if channel == Channel::Desktop
                && let Err(why) = desktop_is_there(&kit.environment)
            {
                return view(DeliveryState::Unavailable, why);
            }
            match send(&kit, &channel, &message, &own) {
                Ok(()) => view(DeliveryState::Sent, ""),
                Err(trouble) => view(DeliveryState::Failed, trouble.words()),
            }
        });
        tries.push(attempt.map_err(|error| no_thread("a channel", &error))?);
    }
    let mut deliveries = Vec::new();
    for tried in tries {
        deliveries.push(tried.done().await);
    }
    Ok(NotifyReport { deliveries })
}

/// Sends what was given up once more, and waits a while for it.
pub(crate) async fn retry(host: &Host) -> Result<NotifyReport, Fault> {
    let deliveries = host.courier.deliveries().clone();
    let taken = deliveries.take_back()?;
    if !taken.is_empty() {
        host.courier.wake();
    }
    let courier = host.courier.clone();
    let waited = aside(move || courier.finish(Patience::Long));
    waited.map_err(|error| no_thread("the courier", &error))?.done().await;
    let still = standing(&deliveries, None);
    let views = taken.iter().map(|one| {
        let sent = view(&one.message, &one.channel, (DeliveryState::Sent, 1, ""));
        still
            .iter()
            .find(|other| other.id == sent.id && other.channel == sent.channel)
            .cloned()
            .unwrap_or(sent)
    });
    Ok(NotifyReport { deliveries: views.collect() })
}

pub(crate) fn forget(host: &Host) -> Result<NotifyReport, Fault> {
    let forgotten = host.courier.deliveries().forget()?;
    let deliveries = forgotten.iter().map(|failed| failed_view(failed, DeliveryState::Forgotten)).collect();
    Ok(NotifyReport { deliveries })
}

/// What has not arrived: of one run, or of all.
pub(crate) fn standing(deliveries: &Deliveries, run: Option<&str>) -> Vec<DeliveryView> {
    let pending = deliveries.pending().into_iter().map(|(delivery, tries)| {
        view(&delivery.message, &delivery.channel, (DeliveryState::Pending, tries.count, &tries.last))
    });
    let failed = deliveries.failed();
    let failed = failed.iter().map(|failed| failed_view(failed, DeliveryState::Failed));
    pending.chain(failed).filter(|view| run.is_none_or(|run| view.run == run)).collect()
}

/// The lines of `windlass doctor`.
pub(crate) fn lines(host: &Host, plan: &Plan) -> Vec<DiagnosisLine> {
    let mut lines: Vec<DiagnosisLine> =
        plan.channels.iter().map(|channel| channel_line(&host.environment, channel)).collect();
    let standing = standing(host.courier.deliveries(), None);
    let count = |state| standing.iter().filter(|view| view.state == state).count();
    let last = |state| standing.iter().rfind(|view| view.state == state).map_or("", |view| view.why.as_str());
    let (pending, failed) = (count(DeliveryState::Pending), count(DeliveryState::Failed));
    if failed > 0 {
        let details = format!("{failed} never arrived, the last because: {}", last(DeliveryState::Failed));
        let fix = "`windlass notify retry` sends them again, `windlass notify forget` lets them be";
        lines.push(line(Health::Warning, details, fix));
    }
    if pending > 0 {
        let why = last(DeliveryState::Pending);
        let why = if why.is_empty() { String::new() } else { format!(", so far: {why}") };
        let fix = "the next run sends them, and so does `windlass notify retry`";
        lines.push(line(Health::Warning, format!("{pending} are still to be sent{why}"), fix));
    }
    if lines.is_empty() {
        lines.push(line(Health::Good, "no channel is set".to_owned(), ""));
    }
    lines
}

fn channel_line(environment: &Environment, channel: &Channel) -> DiagnosisLine {
    let to = format!("{}: {}", channel.word(), channel.to());
    match channel {
        Channel::Desktop => match desktop_is_there(environment) {
            Ok(_) => line(Health::Good, to, ""),
            Err(why) => line(
                Health::Warning,
                format!("desktop: not available: {why}"),
                "install notify-send (libnotify), or set `desktop = false`",
            ),
        },
        Channel::Command { .. } | Channel::Webhook { secret_env: None, .. } => line(Health::Good, to, ""),
        Channel::Webhook { secret_env: Some(name), .. } if environment.get(name).is_none() => line(
            Health::Warning,
            format!("{to}: cannot be signed, ${name} is not set"),
            &format!("set {name} to the secret that its receiver knows"),
        ),
        Channel::Webhook { secret_env: Some(_), .. } => line(Health::Good, format!("{to}, signed"), ""),
    }
}

fn line(state: Health, details: String, fix: &str) -> DiagnosisLine {
    DiagnosisLine { what: "notifications".to_owned(), state, details, fix: fix.to_owned() }
}

fn failed_view(failed: &Failed, state: DeliveryState) -> DeliveryView {
    view(&failed.delivery.message, &failed.delivery.channel, (state, failed.tries, &failed.why))
}

fn view(
    message: &Message,
    channel: &Channel,
    (state, tries, why): (DeliveryState, u32, &str),
) -> DeliveryView {
    DeliveryView {
        id: message.id.clone(),
        event: message.event.word().to_owned(),
        run: message.run.clone(),
        channel: channel.word().to_owned(),
        to: channel.to(),
        state,
        tries,
        why: why.to_owned(),
    }
}

fn test_id() -> Result<String, Fault> {
    Ok(format!("test-{}", super::start::new_run_id()?))
}
