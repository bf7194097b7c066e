//! `windlass orchestrate`: the loop over a story queue, by program. It drives; who may close what is the queue's to decide.

use super::absolute;
use super::shell_words::quoted;
use super::story::WhoArgs;
use super::work_flags::{WorkFlags, number, texts};
use crate::output::{LiveView, Output, Paint, Story, printable};
use crate::stories::Config;
use crate::wiring::{self, Environment};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::events::{Event, Tone, Watcher};
use windlass_control_api::orchestration::{Orchestrated, StartOrchestration};
use windlass_control_api::stories::{BASE, Call, Method, StoryApi};
use windlass_control_api::views::Status;
use windlass_control_api::{Code, Control, Fault};

/// Work through the stories of a project until everything is verified
///
/// Takes what is ready, lets a fresh agent implement each story in a copy of the repository, has another identity report it,
/// another agent review it criterion by criterion, looks itself for the files that criteria name (in backquotes, or as
/// `verification_criterion` in the plan; it says which criteria it could not look at), and lands what holds. A story that is
/// sent back three times waits for a person. Stop it whenever you like: the same command goes on.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass orchestrate --project my-app --agent codex --check \"cargo test\"
  windlass orchestrate --project my-app --implementer codex --reviewer claude --parallel 3
  windlass orchestrate --project my-app --agent claude --once --max-stories 2
  windlass orchestrate --project my-app --agent claude --retry US-1.4")]
pub(crate) struct OrchestrateArgs {
    /// The project, by slug, name or id
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// How many stories at once; the tenant's `max_concurrent_agents`, else 2
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,
    /// The agent that implements; the same as `--doer`
    #[arg(long, value_name = "AGENT", conflicts_with = "doer")]
    implementer: Option<String>,
    /// The agent that reviews; the same as `--judge`
    #[arg(long, value_name = "AGENT", conflicts_with = "judge")]
    reviewer: Option<String>,
    /// How often an implementer may do better before the story is sent back; 1 if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Where stories land; `windlass/PROJECT` if not given
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Work on what is ready now, and end
    #[arg(long)]
    once: bool,
    /// Begin so many stories at the most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_stories: Option<u32>,
    /// Begin nothing after so many minutes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    minutes: Option<u64>,
    /// Try a story again that waits for a person; may be repeated
    #[arg(long, value_name = "STORY")]
    retry: Vec<String>,
    /// Let stand what others did for a story that is in alarm; nothing of it lands here; may be repeated
    #[arg(long, value_name = "STORY")]
    accept: Vec<String>,
    #[command(flatten)]
    work: WorkFlags,
    #[command(flatten)]
    who: WhoArgs,
    /// Trust the commands in this repository's own settings file
    #[arg(long)]
    yes: bool,
    /// Go on although the login file holds a user's key, which the agents could read and verify stories with
    #[arg(long)]
    allow_readable_key: bool,
}

/// Words that are not said again by whoever goes on.
const ONE_TIME: [&str; 4] = ["--once", "--json", "--quiet", "-q"];
/// The same, with the word after them.
const ONE_TIME_VALUES: [&str; 4] = ["--retry", "--accept", "--max-stories", "--minutes"];

pub(crate) async fn run(
    args: OrchestrateArgs,
    environment: &Environment,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let config = Config::read(environment)?;
    let waiting = |who: &str| output.warn(who);
    let (queue, notices, key) =
        wiring::queue_for_orchestrator(environment, &config, &args.who, waiting).await?;
    let at_server = args.who.server.is_some() || config.get("server").is_some();
    if at_server && !args.who.local && !args.allow_readable_key {
        require_hidden_key(&config, &*queue, output).await?;
    }
    let command = meant(args, key)?;
    let view = LiveView::new(output, Story::Talk);
    let tell = |text: &str| view.hear(&Event::Notice { text: text.to_owned() });
    let ended = notices.during(control.orchestrate(command, &*queue, &view), tell).await;
    drop(view);
    let ended = ended?;
    show(&ended, output);
    Ok(ended.status.exit_code())
}

/// The agents run as the user and read what the user reads. With a user's key one of them could make itself everybody that
/// custody keeps apart.
async fn require_hidden_key(config: &Config, queue: &dyn StoryApi, output: &mut Output) -> Result<(), Fault> {
    let Some((key, file)) = config.kept_key() else { return Ok(()) };
    let call = Call::new(Method::Get, format!("{BASE}/tenants/me")).with_key(key);
    // A server that does not answer is told of by the first call that matters.
    let Ok(answer) = queue.call(call).await else { return Ok(()) };
    if answer.status == 401 {
        return Ok(());
    }
    let told = answer.value();
    match told["tenant"]["api_key"]["role"].as_str() {
        Some("agent") => Ok(()),
        Some("orchestrator") => {
            let file = file.display();
            output.warn(format!(
                "{file} holds an orchestrator's key, which the agents can read and judge with"
            ));
            Ok(())
        }
        _ => {
            let message =
                format!("the agents could read a user's key in {} and verify their own work", file.display());
            Err(Fault::new(Code::StoryKeyExposed, message)
                .kept("nothing was started and nothing was claimed")
                .hint("`windlass story logout`, then `LOOPCTL_SERVER=URL LOOPCTL_API_KEY=KEY windlass orchestrate …`")
                .hint("`--allow-readable-key` if you trust the agents with it"))
        }
    }
}

fn meant(args: OrchestrateArgs, user_key: String) -> Result<StartOrchestration, Fault> {
    let mut settings = args.work.given();
    number(&mut settings, "rounds", args.rounds);
    texts(&mut settings, &[("doer", &args.implementer), ("judge", &args.reviewer)]);
    Ok(StartOrchestration {
        repository: absolute(&args.repo)?,
        directory: absolute(Path::new("."))?,
        project: args.project,
        user_key,
        parallel: args.parallel,
        once: args.once,
        max_stories: args.max_stories,
        max_minutes: args.minutes,
        retry: args.retry,
        accept: args.accept,
        branch: args.branch,
        settings,
        again: Some(again(std::env::args().skip(1))),
        yes: args.yes,
    })
}

/// The words of this command without what was meant for one time, as a shell takes them.
fn again(words: impl Iterator<Item = String>) -> String {
    let mut kept = vec!["windlass".to_owned()];
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
        if ONE_TIME_VALUES.contains(&flag) {
            if flag == word {
                let _its_value = words.next();
            }
        } else if !ONE_TIME.contains(&flag) {
            kept.push(quoted(&word));
        }
    }
    kept.join(" ")
}

pub(super) fn show(ended: &Orchestrated, output: &mut Output) {
    if output.is_json() {
        output.json_line(ended);
        return;
    }
    let look = output.look();
    for story in &ended.verified {
        let commit = look.paint(Paint::Name, story.commit.get(..12).unwrap_or(&story.commit));
        let cycles =
            if story.cycles == 1 { String::new() } else { format!(", after {} cycles", story.cycles) };
        let line =
            format!("{} US-{} {} {commit}{cycles}", look.tick(), story.number, printable(&story.title));
        output.line(line);
    }
    for story in &ended.waiting {
        let mut why = story.why.lines();
        let first = why.next().unwrap_or_default();
        output.line(format!("  US-{} {}: {}", story.number, printable(&story.title), printable(first)));
        for line in why {
            output.line(format!("    {}", printable(line)));
        }
        for command in &story.commands {
            output.line(format!("    {}", look.paint(Paint::Name, &printable(command))));
        }
    }
    let tone = match ended.status {
        Status::Accepted => Tone::Good,
        _ if !ended.alarms.is_empty() => Tone::Bad,
        _ => Tone::Attention,
    };
    let now = look.tone(tone, &printable(&ended.now));
    output.line(format!("{} {now}; {}", look.mark(tone), landed(ended)));
}

/// What this command itself brought home. What others verified meanwhile is not its work.
fn landed(ended: &Orchestrated) -> String {
    match ended.verified.len() {
        0 => "nothing landed".to_owned(),
        1 => format!("1 story landed on {}", ended.branch),
        many => format!("{many} stories landed on {}", ended.branch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_goes_on_is_the_one_that_was_typed_without_what_was_meant_once() {
        let typed = "orchestrate --project app --once --max-stories 1 --retry=US-1.1 --retry 1.2 --accept 1.3 --json --repo /a";
        let words =
            typed.split(' ').map(str::to_owned).chain(["--check".to_owned(), "it's sh -c x".to_owned()]);
        let expected = r"windlass orchestrate --project app --repo /a --check 'it'\''s sh -c x'";
        assert_eq!(again(words), expected);
    }
}
