//! `windlass roadmap init`: a control plane, or the next roadmap of a finished one, from answers.

use super::ask;
use crate::commands::absolute;
use crate::output::{Output, Paint, Table, printable};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::events::Tone;
use windlass_control_api::roadmap_setup::{AnswersFormat, AnswersText, InitRoadmap, RoadmapInitReport};
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// Set a control plane up, or begin the next roadmap of a finished one
///
/// Which of the two is read off the repository. At a terminal it asks one question at a time; elsewhere it takes a file.
/// What was agreed on is written into the roadmap and the project's contract. Files that are there stay as they are. Makes
/// exactly one commit, with files of the control plane only, and starts no round.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap init
  windlass roadmap init --print-answers > answers.toml
  windlass roadmap init --answers answers.toml --dry-run
  windlass roadmap init --answers answers.json --records")]
pub(super) struct InitArgs {
    /// The repository, or any directory inside it; one that is no repository becomes one
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Take the answers from this file, TOML or JSON by its ending, `-` for TOML from standard input
    #[arg(long, value_name = "FILE", conflicts_with = "print_answers")]
    answers: Option<PathBuf>,
    /// Print an answers file with everything in it, and do nothing else
    #[arg(long)]
    print_answers: bool,
    /// Keep JSON records and a machine view beside the prose, instead of labels in Markdown only
    #[arg(long)]
    records: bool,
    /// Say what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(args: InitArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    if args.print_answers {
        for line in control.roadmap_answers().lines() {
            output.line(line);
        }
        return Ok(exit_codes::ACCEPTED);
    }
    let mut command = InitRoadmap {
        repository: absolute(&args.repo)?,
        answers: args.answers.as_deref().map(read).transpose()?,
        records: args.records,
        dry_run: args.dry_run,
    };
    if command.answers.is_none() && ask::can_ask(output) {
        let ahead = control.init_roadmap(InitRoadmap { dry_run: true, ..command.clone() }).await?;
        command.answers = Some(ask::answers(&ahead)?);
        let planned = control.init_roadmap(InitRoadmap { dry_run: true, ..command.clone() }).await?;
        show_agreement(&planned, output);
        if !command.dry_run && !ask::agreed()? {
            return Err(Fault::new(Code::NotAllowedNow, "nobody agreed to this").kept("nothing was written"));
        }
    }
    let report = control.init_roadmap(command).await?;
    if output.is_json() {
        output.document(&report);
    } else if output.is_quiet() && !report.dry_run {
        for notice in &report.notices {
            output.warn(printable(notice));
        }
    } else {
        show(&report, output);
    }
    Ok(exit_codes::ACCEPTED)
}

fn read(path: &Path) -> Result<AnswersText, Fault> {
    let failed = |error: std::io::Error| {
        Fault::new(Code::BadArgument, format!("{} cannot be read: {error}", path.display()))
            .kept("nothing was written")
            .hint("`windlass roadmap init --print-answers > answers.toml` writes one to begin with")
    };
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).map_err(failed)?
    } else {
        std::fs::read_to_string(path).map_err(failed)?
    };
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let format = if is_json { AnswersFormat::Json } else { AnswersFormat::Toml };
    Ok(AnswersText { name: path.display().to_string(), text, format })
}

/// What a person agrees to: the ledger and the milestones.
fn show_agreement(report: &RoadmapInitReport, output: &mut Output) {
    let look = output.look();
    for (name, words) in &report.ledger {
        output.line(format!("  {} {}", look.paint(Paint::Faint, &format!("{name}:")), printable(words)));
    }
    let mut table = Table::new(look, &["MILESTONE", "LANE", "AFTER", "TITLE"]);
    for milestone in &report.milestones {
        table.row(vec![
            look.paint(Paint::Name, &printable(&milestone.id)),
            printable(&milestone.lane),
            printable(&milestone.depends_on.join(", ")),
            printable(&milestone.title),
        ]);
    }
    for line in table.lines() {
        output.line(line);
    }
}

fn show(report: &RoadmapInitReport, output: &mut Output) {
    let look = output.look();
    if let Some(id) = &report.roadmap_id {
        let form = report.generation.replace('-', " ");
        let words = format!("{}, {}: {}", report.mode.replace('-', " "), form, printable(id));
        output.line(format!("{} {words}", look.mark(Tone::Plain)));
    }
    if report.dry_run && report.roadmap_id.is_some() {
        show_agreement(report, output);
    }
    if report.begins_repository {
        let verb = if report.dry_run { "would become" } else { "became" };
        output.line(format!(
            "{} {} {verb} a repository",
            look.mark(Tone::Good),
            printable(&report.repository)
        ));
    }
    let verb = if report.dry_run { "would write" } else { "wrote" };
    for file in &report.written {
        output.line(format!("{} {verb} {}", look.mark(Tone::Good), printable(file)));
    }
    for file in &report.unchanged {
        output.line(format!("{} {} is there and stays", look.mark(Tone::Quiet), printable(file)));
    }
    for question in &report.questions {
        output.line(format!("{} {} ({})", look.mark(Tone::Plain), printable(&question.words), question.key));
    }
    for notice in &report.notices {
        output.line(format!("{} {}", look.mark(Tone::Attention), printable(notice)));
    }
    if let Some(commit) = &report.commit {
        let short = commit.get(..10).unwrap_or(commit);
        output.line(format!("{} committed as {short}; no round was started", look.mark(Tone::Good)));
        for step in &report.next_steps {
            output.line(format!("  {} {}", look.paint(Paint::Faint, "next:"), look.paint(Paint::Name, step)));
        }
    }
}
