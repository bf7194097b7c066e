//! `windlass show`: everything about one run on one screen.

use super::control::report;
use super::goal::report as goal_report;
use super::outcome::{explanation, short, word};
use super::roadmap::report as roadmap_report;
use crate::output::{Fields, Output, Paint, ago, cost, duration, printable};
use clap::Args;
use jiff::Timestamp;
use windlass_control_api::notify::DeliveryView;
use windlass_control_api::views::{ArtifactView, ChangeView, LoopKind, RunView, Used};
use windlass_control_api::{Control, Fault, exit_codes};

const SHOWN_FILES: usize = 12;

/// Show one run: task, state, agents, checks, evidence
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass show TASK-7-20260102-030405
  windlass show raise-the-value-20260102-030405 --iteration 2
  windlass show TASK-7-20260102-030405 --json | jq .artifacts")]
pub(crate) struct ShowArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// One iteration of a control loop, such as `2`, or `2.1` in an inner loop: its change and its evidence only
    #[arg(long, value_name = "N")]
    iteration: Option<String>,
}

pub(crate) async fn run(args: ShowArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let view = control.show(&args.run, args.iteration.as_deref()).await?;
    if output.is_json() {
        output.document(&view);
    } else {
        show(&view, output, Timestamp::now());
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(view: &RunView, output: &mut Output, now: Timestamp) {
    let look = output.look();
    let mut fields = Fields::new(look);
    fields.add("run", look.paint(Paint::Name, &view.line.run));
    fields.add("status", look.status(view.line.status));
    fields.add(
        "task",
        format!("{}: {}", view.line.task, printable(view.task_text.lines().next().unwrap_or_default())),
    );
    if view.line.kind == LoopKind::Task {
        let of = view.line.rounds.map(|rounds| format!(" of {rounds}")).unwrap_or_default();
        fields.add("round", format!("{}{of}", view.line.round));
    }
    fields.add("started", ago(view.line.started_at_ms, now));
    fields.add("updated", ago(view.line.updated_at_ms, now));
    fields.add("cost", cost(&view.spent));
    fields.add("used", used(&view.used));
    let held = view.sandbox.words();
    fields.add(
        "sandbox",
        if held.is_empty() { view.sandbox.asked.clone() } else { format!("{}: {held}", view.sandbox.asked) },
    );
    fields.add("workspaces", view.workspaces.clone());
    fields.add("repository", view.line.repository.clone());
    fields.add("files", view.line.run_dir.clone());
    fields.add("base", format!("{} ({})", short(&view.base), printable(&view.base_ref)));
    fields.add("tree", view.tree.as_deref().map(short).unwrap_or_default());
    if let Some(landed) = &view.landed {
        fields.add("landed", format!("{} on {}", short(&landed.commit), landed.reference));
    }
    if let Some(control) = &view.control {
        report::add(control, &mut fields);
        fields.add_all("change", view.change.iter().flat_map(changed));
    } else if let Some(goal) = &view.goal {
        goal_report::add(goal, &mut fields);
    } else if let Some(roadmap) = &view.roadmap {
        roadmap_report::add(roadmap, &mut fields);
    } else {
        fields.add("judge", word(&view.judge_verdict, view.said_by.judge));
        fields.add("audit", word(&view.audit_gate, view.said_by.audit));
    }
    fields.add_all("agents", view.agents.iter().map(|(role, agent)| with_stand_in(view, role, agent)));
    let checks = if view.control.is_some() { "sensors" } else { "checks" };
    fields.add_all(checks, view.checks.iter().map(|check| printable(check)));
    fields.add_all("audit checks", view.audit_checks.iter().map(|check| printable(check)));
    fields.add_all("artifacts", view.artifacts.iter().map(|one| artifact(one, view.line.kind)));
    fields.add_all("not notified", view.notifications.iter().map(delivery));
    for line in fields.lines() {
        output.line(line);
    }
    output.line("");
    explanation(&view.explanation, output);
}

/// The first line says of what; a run that changed hundreds of files is looked at with `diff`.
fn changed(change: &ChangeView) -> Vec<String> {
    let of = match &change.iteration {
        Some(label) => format!("iteration {}", printable(label)),
        None => String::from("the whole run"),
    };
    let (shown, more) = change.files.split_at(change.files.len().min(SHOWN_FILES));
    let files = if change.files.len() == 1 { "file" } else { "files" };
    let mut lines = vec![format!("{} {files} in {of}", change.files.len())];
    lines.extend(shown.iter().map(|file| format!("  {}", printable(file))));
    if !more.is_empty() {
        lines.push(format!("  … and {} more", more.len()));
    }
    lines
}

fn with_stand_in(view: &RunView, role: &str, agent: &str) -> String {
    let named = format!("{role}: {}", printable(agent));
    match view.stand_ins.iter().find(|(stood_in, _)| stood_in == role) {
        Some((_, other)) => format!("{named}; answered by its fallback {}", printable(other)),
        None => named,
    }
}

fn used(used: &Used) -> String {
    let mut parts = vec![duration(used.milliseconds)];
    parts.push(format!("{} bytes of output", used.output_bytes));
    parts.push(format!("{} facts", used.facts));
    parts.join(", ")
}

fn delivery(delivery: &DeliveryView) -> String {
    let why = if delivery.why.is_empty() { String::new() } else { format!(": {}", printable(&delivery.why)) };
    let (event, channel, state) = (&delivery.event, &delivery.channel, delivery.state.word());
    format!("{event} through {channel}: {state}{why}")
}

fn artifact(artifact: &ArtifactView, kind: LoopKind) -> String {
    let round = match (artifact.round, kind) {
        (0, LoopKind::Task | LoopKind::Roadmap) => String::from("run"),
        (round, _) => format!("{} {round}", kind.pass_word()),
    };
    format!("{round} {} ({} bytes, {})", printable(&artifact.name), artifact.bytes, short(&artifact.digest))
}
