//! `windlass story`, and `loopctl`, which is the same under the original's name: verbs about the story queue. A verb asks
//! at a `Desk` and gives back what it found; how that is printed is decided once, here.

mod account;
mod admin;
mod custody;
mod knowledge;
mod looking;
mod money;
mod plan;
mod planning_files;
mod removing;
mod several;
mod shown;
mod skills;
mod state;
mod token;
mod webhooks;
mod work;

pub(crate) use shown::StoryFormat;

use crate::output::Output;
use crate::stories::{Config, Desk};
use crate::wiring::{self, Environment};
use clap::{Args, Subcommand};
use shown::Shown;
use windlass_control_api::{Code, Fault, exit_codes};

/// Stories of a project: what is ready, who works on it, what was proven
///
/// A story goes pending, contracted, assigned, implementing, reported done; whether it is verified is a second track, written
/// by others than who did the work. Without a server the queue on this machine is used; `windlass serve` shares one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass story project create \"My app\"
  windlass story import plan.json --project my-app
  windlass story next
  windlass story contract US-1.1 --as agent:alice
  windlass story claim US-1.1 --as agent:alice
  windlass story verify US-1.1 --as orchestrator:olga --summary \"all criteria met\"")]
pub(crate) struct StoryArgs {
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    #[command(subcommand)]
    pub(crate) command: StoryCommand,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which queue, and who asks")]
pub(crate) struct WhoArgs {
    /// Who speaks, at the queue on this machine: user, agent:NAME or orchestrator:NAME
    #[arg(long = "as", global = true, value_name = "ROLE[:AGENT]")]
    pub(crate) speaker: Option<String>,
    /// Use the queue on this machine even where a server is configured
    #[arg(long, global = true, conflicts_with = "server")]
    pub(crate) local: bool,
    /// The server to ask, instead of the configured one
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StoryCommand {
    #[command(flatten)]
    Looking(looking::Looking),
    #[command(flatten)]
    Work(work::Work),
    #[command(flatten)]
    Several(several::Several),
    #[command(flatten)]
    Plan(plan::Plan),
    #[command(flatten)]
    Removing(removing::Removing),
    #[command(flatten)]
    Custody(custody::Custody),
    #[command(flatten)]
    Money(money::Money),
    #[command(flatten)]
    Account(account::Account),
    /// Save or load the checkpoint of an orchestrator
    #[command(subcommand)]
    State(state::State),
    /// Capability tokens: narrow one, or check it, without a server
    #[command(subcommand)]
    Token(token::Token),
    /// Prompts with versions
    #[command(subcommand)]
    Skill(skills::Skill),
    /// Where events are sent
    #[command(subcommand)]
    Webhook(webhooks::Webhook),
    /// Articles: what was learned
    #[command(subcommand)]
    Knowledge(knowledge::Knowledge),
    /// The whole server, with a superadmin key
    #[command(subcommand)]
    Admin(admin::Admin),
}

/// Who speaks at the local queue where nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    User,
    Orchestrator,
    /// A step that is somebody's work: the queue must know whose.
    MustSay,
}

impl StoryCommand {
    fn usual(&self) -> Usual {
        match self {
            Self::Work(work) => work.usual(),
            Self::Several(_) => several::Several::usual(),
            Self::State(_) => Usual::Orchestrator,
            _ => Usual::User,
        }
    }
}

pub(crate) async fn run(
    args: StoryArgs,
    environment: &Environment,
    format: StoryFormat,
    output: &mut Output,
) -> Result<u8, Fault> {
    if let StoryCommand::Looking(looking) = &args.command
        && let Some(shown) = looking.alone()
    {
        shown?.print(format, output);
        return Ok(exit_codes::ACCEPTED);
    }
    if let StoryCommand::Token(token) = &args.command {
        token.play()?.print(format, output);
        return Ok(exit_codes::ACCEPTED);
    }
    let mut config = Config::read(environment)?;
    let usual = args.command.usual();
    let command = match args.command {
        StoryCommand::Account(account) if account.is_about_this_machine() => {
            account.at_home(&mut config, &args.who).await?.print(format, output);
            return Ok(exit_codes::ACCEPTED);
        }
        command => command,
    };
    let (desk, local) =
        wiring::stories(environment, &config, &args.who, usual, |who| output.warn(who)).await?;
    if let (StoryCommand::Money(money), Some(local)) = (&command, &local)
        && money.needs_a_look_at_costs()
    {
        local.look_after_costs().await?;
    }
    let played = command.play(&desk).await.map(|shown| shown.print(format, output));
    if let Some(local) = local {
        local.leave().await;
    }
    played.map(|()| exit_codes::ACCEPTED)
}

impl StoryCommand {
    async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Looking(verb) => verb.play(desk).await,
            Self::Work(verb) => verb.play(desk).await,
            Self::Several(verb) => verb.play(desk).await,
            Self::Plan(verb) => verb.play(desk).await,
            Self::Removing(verb) => verb.play(desk).await,
            Self::Custody(verb) => verb.play(desk).await,
            Self::Money(verb) => verb.play(desk).await,
            Self::Account(verb) => verb.play(desk).await,
            Self::State(verb) => verb.play(desk).await,
            Self::Token(verb) => verb.play(),
            Self::Skill(verb) => verb.play(desk).await,
            Self::Webhook(verb) => verb.play(desk).await,
            Self::Knowledge(verb) => verb.play(desk).await,
            Self::Admin(verb) => verb.play(desk).await,
        }
    }
}

/// JSON as it was typed. What cannot be understood is refused, never dropped.
fn json_object(flag: &str, text: &str) -> Result<serde_json::Value, Fault> {
    let wrong = |why: String| {
        Fault::new(Code::BadArgument, format!("{flag} is no JSON object: {why}"))
            .kept("nothing was sent")
            .hint(format!("quote it for the shell: {flag} '{{\"name\": \"value\"}}'"))
    };
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if value.is_object() { Ok(value) } else { Err(wrong(format!("it is {value}"))) }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct InProject {
    /// The project: id, slug or name; the only one there is if not given
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct OneStory {
    /// The story: number (US-3.1 or 3.1) or id
    #[arg(value_name = "STORY")]
    story: String,
    #[command(flatten)]
    place: InProject,
}

impl InProject {
    fn named(&self) -> Option<&str> {
        self.project.as_deref()
    }
}

/// A part of a list. `MOST` is what the queue gives at once.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct PageArgs<const MOST: i64 = 100> {
    /// Which page of the list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    page: Option<u32>,
    /// Rows on a page
    #[arg(long, visible_alias = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST))]
    page_size: Option<u32>,
}

impl<const MOST: i64> PageArgs<MOST> {
    fn query(self) -> [(&'static str, Option<String>); 2] {
        [("page", self.page.map(|n| n.to_string())), ("page_size", self.page_size.map(|n| n.to_string()))]
    }

    fn with<const N: usize>(
        self,
        query: [(&'static str, Option<String>); N],
    ) -> Vec<(&'static str, Option<String>)> {
        query.into_iter().chain(self.query()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::arguments::Arguments;
    use clap::Parser as _;

    /// `Shown` tells people to go on with `--page` under every list.
    #[test]
    fn every_list_takes_a_page_and_refuses_what_is_none() {
        for words in [
            "keys list",
            "agent list",
            "epic list",
            "project list",
            "budget list",
            "webhook list",
            "webhook deliveries ID",
            "skill list",
            "skill history NAME",
            "cost-summary --by-epic",
            "anomalies",
            "artifacts 1.1",
            "verifications 1.1",
            "violations",
            "state history",
            "knowledge index",
            "knowledge drafts",
            "knowledge search words",
            "admin tenants",
            "next",
            "blocked",
            "list",
            "history 1.1",
            "audit",
        ] {
            let parsed = |more: &str| {
                let line = format!("windlass story {words} {more}");
                Arguments::try_parse_from(line.split_whitespace()).map(|_| ())
            };
            assert!(parsed("--page 2").is_ok(), "{words}: {}", parsed("--page 2").unwrap_err());
            assert!(parsed("--page 2 --limit 7").is_ok(), "{words}: {}", parsed("--limit 7").unwrap_err());
            for wrong in ["--page 0", "--limit 0", "--limit 100000"] {
                let told = parsed(wrong).unwrap_err().to_string();
                assert!(told.contains("is not in 1.."), "{words} {wrong}: {told}");
            }
        }
    }
}
