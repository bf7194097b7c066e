//! `windlass inbox`: everything that waits for a person, with what is needed to decide and the commands that go on.

use super::{absolute, repository_here};
use crate::output::{Fields, Output, Paint, ago, printable};
use clap::Args;
use jiff::Timestamp;
use std::path::PathBuf;
use windlass_control_api::inbox::InboxEntry;
use windlass_control_api::views::LoopKind;
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// List what waits for a person, the newest last
///
/// Of all repositories on this machine: why each run waits, what was tried, where the evidence is, and what to type.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass inbox
  windlass inbox --repo .
  windlass inbox --json | jq -r '.[] | .run + \": \" + .cause'")]
pub(crate) struct InboxArgs {
    /// Only runs of this repository
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

pub(crate) async fn run(args: InboxArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = args.repo.as_deref().map(absolute).transpose()?;
    let entries = control.inbox(repository.as_deref()).await?;
    if output.is_json() {
        output.document(&entries);
    } else if entries.is_empty() {
        output.talk("nothing waits for you");
    } else {
        show(&entries, output, Timestamp::now());
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(entries: &[InboxEntry], output: &mut Output, now: Timestamp) {
    for (number, entry) in entries.iter().enumerate() {
        if number > 0 {
            output.line("");
        }
        one(entry, output, now);
    }
    let stories = entries.iter().filter(|entry| entry.kind == LoopKind::Stories).count();
    let runs = entries.len() - stories;
    let count = |number: usize, one: &str, several: &str| match number {
        0 => None,
        1 => Some(format!("1 {one} waits for you")),
        number => Some(format!("{number} {several} wait for you")),
    };
    let counts = [count(runs, "run", "runs"), count(stories, "story", "stories")];
    output.talk(counts.into_iter().flatten().collect::<Vec<_>>().join(", "));
}

fn one(entry: &InboxEntry, output: &mut Output, now: Timestamp) {
    let look = output.look();
    let separator = look.separator();
    output.line(format!(
        "{} {}{separator}{}{separator}{}",
        look.paint(Paint::Attention, look.bullet()),
        look.paint(Paint::Heading, &printable(&entry.cause)),
        loop_word(entry.kind),
        ago(entry.waits_since_ms, now),
    ));
    let mut fields = Fields::new(look);
    if !entry.run.is_empty() {
        fields.add("run", look.paint(Paint::Name, &entry.run));
    }
    fields.add("task", format!("{}: {}", printable(&entry.task), printable(&entry.title)));
    fields.add("repository", printable(&entry.repository));
    fields.add_all("said", entry.said.iter().flat_map(|text| text.lines()).map(unbulleted));
    fields.add_all("tried", entry.tried.iter().map(|line| printable(line)));
    fields.add("tree", entry.tree.clone().unwrap_or_default());
    fields.add_all(
        "evidence",
        entry.evidence.iter().map(|one| format!("{}: {}", printable(&one.what), printable(&one.see))),
    );
    fields.add("suggestion", printable(&entry.suggestion));
    fields.add_all("next", entry.commands.iter().map(|command| look.paint(Paint::Name, command)));
    for line in fields.lines() {
        output.line(format!("  {line}"));
    }
}

/// Feedback is quoted as the doer gets it, which is a list of its own.
fn unbulleted(line: &str) -> String {
    printable(line.strip_prefix("- ").unwrap_or(line))
}

const fn loop_word(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::Task => "task loop",
        LoopKind::Control => "control loop",
        LoopKind::Goal => "goal loop",
        LoopKind::Roadmap => "roadmap loop",
        LoopKind::Stories => "story queue",
    }
}

/// The run that was named, or the only one that waits in this repository.
pub(super) async fn waiting_run(named: Option<String>, control: &dyn Control) -> Result<String, Fault> {
    if let Some(named) = named {
        return Ok(named);
    }
    let nobody = |message: String| {
        Fault::new(Code::BadArgument, message)
            .kept("nothing was changed")
            .hint("`windlass inbox` shows what waits; name one of its runs")
    };
    let Some(repository) = repository_here(None)? else {
        return Err(nobody("no run is named, and this directory is in no repository".to_owned()));
    };
    let mut entries = control.inbox(Some(&repository)).await?;
    // A story is answered at its queue.
    entries.retain(|entry| entry.kind != LoopKind::Stories);
    match entries.as_slice() {
        [only] => Ok(only.run.clone()),
        [] => Err(nobody("no run is named, and none waits in this repository".to_owned())),
        several => {
            let runs: Vec<&str> = several.iter().map(|entry| entry.run.as_str()).collect();
            Err(nobody(format!("no run is named, and several wait in this repository: {}", runs.join(", "))))
        }
    }
}
