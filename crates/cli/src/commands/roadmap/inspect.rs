//! `windlass roadmap inspect`: what the control plane is, what is wrong with it, and what a run would do first.

use crate::commands::absolute;
use crate::output::{Fields, Output, Paint, Table, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::roadmap_setup::{PlaneKindView, PlaneProblem, RoadmapInspection};
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// Say what the control plane is, what is wrong with it, and what a run would do next
///
/// Never writes into the repository. Exits with 0 when `windlass roadmap run` could begin or everything is done, with 14
/// when it would be refused as things stand (a migration, a commit or another branch is needed first), and with 2 when
/// something cannot be understood, or nothing is here that it could run.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap inspect
  windlass roadmap inspect ../other --json | jq -r '.problems[] | .file + \": \" + .message'")]
pub(super) struct InspectArgs {
    /// The repository, or any directory inside it
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
}

pub(super) async fn run(args: InspectArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let found = control.inspect_roadmap(&absolute(&args.path)?).await.map_err(|mut fault| {
        // Other commands take the place with a flag.
        if fault.code == Code::NotARepository {
            fault.hints =
                vec!["name a checkout as PATH, or make one with `git init` or `git clone`".to_owned()];
        }
        fault
    })?;
    if output.is_json() {
        output.document(&found);
    } else {
        show(&found, output);
    }
    Ok(match found.kind {
        PlaneKindView::Runs if found.valid => exit_codes::ACCEPTED,
        PlaneKindView::Legacy | PlaneKindView::MigrationNeeded => exit_codes::REFUSED,
        PlaneKindView::Runs if found.not_now => exit_codes::REFUSED,
        _ => exit_codes::USAGE,
    })
}

fn show(found: &RoadmapInspection, output: &mut Output) {
    let look = output.look();
    let name = look.paint(Paint::Name, &printable(&found.repository));
    let (tone, words) = headline(found);
    output.line(format!("{} {name} {words}", look.mark(tone)));
    for why in found.why.iter().flat_map(|why| why.lines()) {
        output.line(format!("  {} {}", look.mark(tone), printable(why)));
    }
    // Without a rule it is one of the reasons above.
    for problem in found.problems.iter().filter(|problem| !problem.rule.is_empty()) {
        let tone = if problem.severity == "fatal" { Tone::Bad } else { Tone::Attention };
        output.line(format!("  {} {}", look.mark(tone), printable(&sentence(problem))));
    }
    for hint in &found.hints {
        let word = look.paint(Paint::Attention, "hint:");
        output.line(format!("  {word} {}", printable(hint)));
    }
    show_fields(found, output);
    show_milestones(found, output);
    show_rounds(found, output);
    for oddity in &found.oddities {
        output.line(format!("{} {}", look.mark(Tone::Quiet), printable(oddity)));
    }
    if let Some(next) = &found.next {
        output.line(format!("{} a run would {}", look.mark(Tone::Plain), printable(next)));
    }
    for step in &found.next_steps {
        output.line(format!("  {} {}", look.paint(Paint::Faint, "next:"), look.paint(Paint::Name, step)));
    }
}

fn headline(found: &RoadmapInspection) -> (Tone, String) {
    let form = found.generation.as_deref().unwrap_or_default().replace('-', " ");
    match found.kind {
        PlaneKindView::Absent => (Tone::Attention, "has no control plane".to_owned()),
        PlaneKindView::NotAnOrchestrator => {
            (Tone::Bad, "has a folder that is not an orchestrator loop".to_owned())
        }
        PlaneKindView::Unreadable => (Tone::Bad, "has a control plane that cannot be read".to_owned()),
        PlaneKindView::Legacy => (Tone::Attention, "has a control plane of the older contract".to_owned()),
        PlaneKindView::MigrationNeeded => {
            (Tone::Attention, "has a control plane that needs a migration".to_owned())
        }
        PlaneKindView::Runs if !found.valid => {
            (Tone::Bad, format!("has a control plane ({form}) that cannot be run"))
        }
        PlaneKindView::Runs if found.complete && !says_done(found) => (
            Tone::Good,
            format!("has a roadmap with every milestone done, which its state does not say yet ({form})"),
        ),
        PlaneKindView::Runs if found.complete => (Tone::Good, format!("has a finished roadmap ({form})")),
        PlaneKindView::Runs => (Tone::Good, format!("has a control plane ({form})")),
    }
}

/// On the base branch the state is at rest: in a fresh clone a finished roadmap is still to be noted as one.
fn says_done(found: &RoadmapInspection) -> bool {
    found.roadmap.as_ref().is_some_and(|roadmap| roadmap.controller_stage == "done")
}

/// File, place, rule and what is wrong.
fn sentence(problem: &PlaneProblem) -> String {
    let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
    let pointer = if problem.pointer.is_empty() { String::new() } else { format!(" {}", problem.pointer) };
    format!("{}{line}{pointer}: {} (rule {})", problem.file, problem.message, problem.rule)
}

fn show_fields(found: &RoadmapInspection, output: &mut Output) {
    let Some(roadmap) = &found.roadmap else { return };
    let mut fields = Fields::new(output.look());
    fields.add("roadmap", printable(&format!("{} {}", roadmap.roadmap_id, roadmap.revision)));
    fields.add("base", printable(&roadmap.base_branch));
    fields.add("stage", roadmap.controller_stage.clone());
    fields.add("rounds at once", roadmap.max_parallel_rounds.to_string());
    if let Some(update) = &found.update {
        let words = format!("{} is {}, attempt {}", update.proposed_revision, update.status, update.attempt);
        fields.add("update", printable(&words));
    }
    fields.add_all("error", found.errors.iter().map(|(key, words)| printable(&format!("{key}: {words}"))));
    for line in fields.lines() {
        output.line(line);
    }
}

fn show_milestones(found: &RoadmapInspection, output: &mut Output) {
    if found.milestones.is_empty() {
        return;
    }
    let look = output.look();
    let mut table = Table::new(look, &["MILESTONE", "STATUS", "LANE", "TITLE"]);
    for milestone in &found.milestones {
        let waits = milestone.status != "done" && !milestone.ready;
        let after =
            if waits { format!(" (after {})", milestone.depends_on.join(", ")) } else { String::new() };
        table.row(vec![
            look.paint(Paint::Name, &printable(&milestone.id)),
            milestone.status.clone(),
            printable(&milestone.lane),
            printable(&format!("{}{after}", milestone.title)),
        ]);
    }
    for line in table.lines() {
        output.line(line);
    }
}

fn show_rounds(found: &RoadmapInspection, output: &mut Output) {
    if found.rounds.is_empty() {
        return;
    }
    let look = output.look();
    let mut table = Table::new(look, &["ROUND", "STAGE", "ITS FILES PROVE", "BRANCH"]);
    for round in &found.rounds {
        let branch = if round.worktree_stands {
            round.branch.clone()
        } else {
            format!("{} (no worktree)", round.branch)
        };
        table.row(vec![
            look.paint(Paint::Name, &printable(&round.id)),
            round.stage.clone(),
            round.proves.clone(),
            printable(&branch),
        ]);
    }
    for line in table.lines() {
        output.line(line);
    }
    for round in &found.rounds {
        for words in round.resume_error.iter().chain(&round.faults) {
            output.line(format!(
                "{} {}: {}",
                look.mark(Tone::Attention),
                printable(&round.id),
                printable(words)
            ));
        }
    }
}
