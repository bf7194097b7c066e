//! `windlass demo stories`: an epic of five stories, two implementers at a time and a reviewer, one story sent back, and an
//! agent that would like to verify its own work.

use super::Stage;
use super::narration::{say, show_list, step};
use super::stories_scripts::{CHECK, PROJECT, WANTED, plan};
use crate::commands::orchestrate;
use crate::commands::shell_words::quoted;
use crate::commands::work_flags::{list, text};
use crate::output::{LiveView, Output, Story, printable};
use crate::stories::{Desk, Local, Speaker, found};
use crate::wiring;
use serde_json::{Value, json};
use windlass_control_api::commands::SettingValue;
use windlass_control_api::orchestration::{Orchestrated, StartOrchestration};
use windlass_control_api::views::Status;
use windlass_control_api::{Code, Control, Fault, exit_codes};

pub(super) async fn play(stage: &Stage, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    say(output, &format!("A small repository in {}", stage.repository().display()));
    say(output, "  the plan   one epic of five stories, each with two acceptance criteria");
    say(output, &format!("  the check  {CHECK}   (run by the engine, before and after a story lands)"));
    let refused = {
        // Closed before the orchestrator begins: one process at a time has the queue.
        let local = wiring::local_stories(stage.environment()).await?;
        set_up(&local).await?;
        closes_its_own_work(&local, output).await?
    };
    step(
        output,
        "The orchestrator: two implementers at a time, a reviewer, and an identity of its own for each part",
    );
    let config = crate::stories::Config::read(stage.environment())?;
    let local = crate::commands::story::WhoArgs { local: true, ..Default::default() };
    let (queue, _, key) =
        wiring::queue_for_orchestrator(stage.environment(), &config, &local, |_| {}).await?;
    let view = LiveView::new(output, Story::Data);
    let ended = control.orchestrate(command(stage, key), &*queue, &view).await;
    drop(view);
    let ended = ended?;
    went_as_told(&ended, stage)?;
    let audit = wiring::local_stories(stage.environment()).await?;
    let audit = user(&audit).await?.get("/audit/verify", &[]).await?;
    if audit["verification"]["holds"] != true {
        return Err(not_as_told(stage, &format!("the audit chain should hold: {audit}")));
    }
    if output.is_json() {
        output.json_line(&json!({ "orchestrated": ended, "refused": refused, "audit": audit }));
    } else {
        tell(&ended, output);
        show_commands(stage, output);
    }
    Ok(exit_codes::ACCEPTED)
}

async fn user(local: &Local) -> Result<Desk, Fault> {
    Ok(Desk::new(local.api(), Some(local.key_of(&Speaker::user()).await?)))
}

async fn set_up(local: &Local) -> Result<(), Fault> {
    let user = user(local).await?;
    let project = user.post("/projects", json!({ "name": "Notes", "slug": PROJECT })).await?;
    let id = found(&project)["id"].as_str().unwrap_or_default().to_owned();
    user.post(&format!("/projects/{id}/import"), plan()).await.map(drop)
}

/// An agent with two keys, one for each role, tries to be both implementer and verifier.
async fn closes_its_own_work(local: &Local, output: &mut Output) -> Result<Value, Fault> {
    step(output, "First an agent that implements a story and would like to verify it itself");
    let speaking = async |name: &str| -> Result<Desk, Fault> {
        let speaker = Speaker::chosen(Some(name), crate::commands::story::Usual::MustSay)?;
        Ok(Desk::new(local.api(), Some(local.key_of(&speaker).await?)))
    };
    let eager = speaking("agent:eager").await?;
    let both = speaking("orchestrator:eager").await?;
    let other = speaking("agent:helper").await?;
    let owner = speaking("orchestrator:owner").await?;
    let path = |verb: &str| format!("/stories/US-{WANTED}/{verb}");
    eager.post(&path("contract"), json!({ "story_title": "Count words", "ac_count": 2 })).await?;
    for verb in ["claim", "start", "request-review"] {
        eager.post(&path(verb), json!({})).await?;
    }
    other.post(&path("report"), json!({})).await?;
    let Err(refusal) = both.post(&path("verify"), json!({ "result": "pass", "summary": "trust me" })).await
    else {
        return Err(Fault::new(Code::Bug, "the demo did not go as told: an agent verified its own work"));
    };
    let code = refusal.case.clone().unwrap_or_default();
    say(output, "  contract, claim, start   by eager; reported by helper");
    say(
        output,
        &format!(
            "  verify                   by eager again, with another key: refused, {}",
            printable(&code)
        ),
    );
    say(output, &format!("                           {}", printable(&refusal.message)));
    say(
        output,
        "  The story is quarantined, and nothing else. A person releases it, and it goes back into the queue.",
    );
    user(local)
        .await?
        .post(&path("release"), json!({ "note": "seen; nobody verifies their own work" }))
        .await?;
    owner.post(&path("force-unclaim"), json!({})).await?;
    Ok(json!({ "story": WANTED, "step": "verify", "code": code, "message": refusal.message }))
}

fn command(stage: &Stage, user_key: String) -> StartOrchestration {
    let mut settings = vec![("audit".to_owned(), SettingValue::Switch(false))];
    list(&mut settings, "checks", &[CHECK.to_owned()]);
    text(&mut settings, "agent", &stage.agent());
    StartOrchestration {
        repository: stage.repository(),
        directory: stage.root().to_owned(),
        project: PROJECT.to_owned(),
        user_key,
        parallel: Some(2),
        settings,
        ..StartOrchestration::default()
    }
}

fn went_as_told(ended: &Orchestrated, stage: &Stage) -> Result<(), Fault> {
    let twice = ended.verified.iter().filter(|story| story.cycles == 2).count();
    if ended.status == Status::Accepted && ended.verified.len() == 5 && twice == 1 {
        return Ok(());
    }
    Err(not_as_told(
        stage,
        &format!("five stories, one of them in two cycles, but it came to: {}", ended.now),
    ))
}

fn not_as_told(stage: &Stage, expected: &str) -> Fault {
    Fault::new(Code::Bug, format!("the demo did not go as told: {expected}"))
        .kept(format!("everything it did is in {}", stage.root().display()))
}

fn tell(ended: &Orchestrated, output: &mut Output) {
    step(output, "What happened");
    let lines = [
        "Every story was implemented by a fresh agent in a copy of the repository, reported by another identity, judged",
        "criterion by criterion by a reviewer, looked at by the engine, and landed. US-1.3 was sent back once: its test",
        "tested nothing. The audit chain of all of it holds.",
    ];
    for line in lines {
        say(output, line);
    }
    if output.tells_stories() {
        orchestrate::show(ended, output);
    }
}

fn show_commands(stage: &Stage, output: &mut Output) {
    let windlass = stage.windlass();
    let place = quoted(&stage.repository().to_string_lossy());
    let commands = vec![
        (format!("{windlass} story status --project {PROJECT}"), "how far the project is"),
        (format!("{windlass} story history US-1.3"), "who moved the story that was sent back"),
        (format!("{windlass} story audit verify"), "does the chain hold?"),
        (format!("{windlass} ls"), "the run of each attempt"),
        (format!("git -C {place} log --oneline windlass/{PROJECT}"), "one commit for each story"),
    ];
    show_list(commands, output);
}
