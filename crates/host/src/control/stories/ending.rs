//! How an orchestration ends: what it came to, who waits for whom, and what a person can type about it. Nothing begins here.

use super::office::Office;
use super::plan::{Story, may_begin};
use super::queue::inner;
use super::rounds::ready;
use super::waiting::{freed, ways_on, ways_to_release};
use windlass_control_api::Fault;
use windlass_control_api::orchestration::{Orchestrated, WaitingStory};
use windlass_control_api::stories::escaped;
use windlass_control_api::views::Status;

pub(super) async fn interrupted(office: &Office<'_>) -> Result<Orchestrated, Fault> {
    end(office, Status::Interrupted, "it was interrupted; the same command goes on".to_owned()).await
}

/// A story that somebody else called done says that a key may be in wrong hands: nothing begins before a person has looked.
pub(super) fn stands_in_alarm(office: &Office<'_>) -> bool {
    !alarms(office).is_empty()
}

fn alarms(office: &Office<'_>) -> Vec<String> {
    let alarming = |note: &super::checkpoint::Checkpoint| {
        note.escalated.values().filter(|one| one.alarm).map(|one| one.number.clone()).collect()
    };
    office.notes.read(alarming)
}

/// Those that a person let stand as others left them.
fn by_others(office: &Office<'_>) -> Vec<String> {
    office.notes.read(|note| note.by_others.values().cloned().collect())
}

/// A success only where everything that was begun came to its end.
pub(super) async fn one_round_done(office: &Office<'_>, begun: u32) -> Result<Orchestrated, Fault> {
    let (total, verified) = progress(office).await?;
    if total == verified {
        return nothing_to_do(office).await;
    }
    let waits = office.notes.read(|note| !note.escalated.is_empty());
    let here = office.verified.borrow().len();
    let status = match waits {
        true => Status::NeedsHuman,
        false if here < begun as usize => Status::Rejected,
        false => Status::Accepted,
    };
    let round = match (begun as usize).saturating_sub(here) {
        0 => "one round is done".to_owned(),
        unverified => {
            format!("one round is done, and {unverified} of {begun} stories in it came to nothing yet")
        }
    };
    end(office, status, format!("{round}; {verified} of {total} stories are verified")).await
}

pub(super) async fn nothing_to_do(office: &Office<'_>) -> Result<Orchestrated, Fault> {
    let (total, verified) = progress(office).await?;
    if total == verified {
        office
            .notes
            .write(|note| {
                "complete".clone_into(&mut note.phase);
                note.escalated.retain(|_, one| one.alarm);
            })
            .await?;
        let others = by_others(office);
        let by_whom = if others.is_empty() {
            String::new()
        } else {
            format!(", {} by others on a person's word", named(&others))
        };
        let all =
            if total == 1 { "the only story is".to_owned() } else { format!("all {total} stories are") };
        return end(office, Status::Accepted, format!("{all} verified{by_whom}")).await;
    }
    office.notes.write(|note| "waiting".clone_into(&mut note.phase)).await?;
    let now = format!("nothing is ready; {verified} of {total} stories are verified, the others wait");
    end(office, Status::NeedsHuman, now).await
}

/// For an orchestration that an alarm keeps from beginning anything.
pub(super) async fn nothing_more(office: &Office<'_>) -> Result<Orchestrated, Fault> {
    end(office, Status::NeedsHuman, String::new()).await
}

async fn progress(office: &Office<'_>) -> Result<(u64, u64), Fault> {
    let path = format!("/projects/{}/progress", escaped(&office.project.id));
    let answer = office.queue.get(office.identities.user_key(), &path, &[]).await?;
    let progress = inner(&answer, "progress");
    let total = progress["total_stories"].as_u64().unwrap_or(0);
    Ok((total, progress["stories_by_verified_status"]["verified"].as_u64().unwrap_or(0)))
}

pub(super) async fn end(office: &Office<'_>, status: Status, now: String) -> Result<Orchestrated, Fault> {
    let (total_stories, verified_stories) = progress(office).await?;
    office.tell_people().await?;
    let alarms = alarms(office);
    // Whatever else there is to say, this is first.
    let (status, now) =
        if alarms.is_empty() { (status, now) } else { (Status::NeedsHuman, in_alarm(&alarms)) };
    let waiting = if status == Status::NeedsHuman { waiting(office).await? } else { Vec::new() };
    Ok(Orchestrated {
        project: office.project.slug.clone(),
        status,
        now,
        branch: office.place.to_string(),
        verified: office.verified.borrow().clone(),
        alarms,
        by_others: by_others(office),
        waiting,
        total_stories,
        verified_stories,
    })
}

fn in_alarm(alarms: &[String]) -> String {
    format!(
        "ALARM: others called {} done while it was in hand here; no story begins before a person has looked",
        named(alarms)
    )
}

fn named(numbers: &[String]) -> String {
    numbers.iter().map(|number| format!("US-{number}")).collect::<Vec<_>>().join(", ")
}

/// Those that were escalated, and those that wait for others or are in somebody else's hands.
async fn waiting(office: &Office<'_>) -> Result<Vec<WaitingStory>, Fault> {
    let slug = &office.project.slug;
    let mut all: Vec<WaitingStory> = office.notes.read(|note| {
        let told = note.escalated.values().map(|one| WaitingStory {
            number: one.number.clone(),
            title: one.title.clone(),
            why: one.why.clone(),
            commands: ways_on(one, slug, &office.again()),
        });
        told.collect()
    });
    let ready = ready(office).await?;
    let ours: Vec<String> =
        office.identities.implementers().into_iter().map(|one| one.identity.agent).collect();
    for story in office.stories_that(|story| !story.is_verified()).await? {
        if all.iter().any(|known| known.number == story.number) {
            continue;
        }
        let name = story.name();
        let (why, commands) = if story.quarantined {
            ("it is quarantined".to_owned(), ways_to_release(&name, slug))
        } else if ready.iter().any(|one| one.id == story.id)
            && office.notes.read(|note| may_begin(&story, note))
        {
            ("it is ready, and was not begun by this command".to_owned(), vec![office.again()])
        } else if story.agent_status == "pending" {
            ("it waits for others".to_owned(), vec![format!("windlass story blocked --project {slug}")])
        } else {
            let history = format!("windlass story history {name} --project {slug}");
            if story.assigned_agent.as_ref().is_some_and(|agent| ours.contains(agent)) {
                let Story { agent_status, verified_status, .. } = &story;
                let why = format!(
                    "it is {agent_status} and {verified_status}, by an attempt of this orchestration that is over"
                );
                (why, vec![history, freed(&name, slug)])
            } else {
                (format!("it is {}, by somebody else", story.agent_status), vec![history])
            }
        };
        all.push(WaitingStory { number: story.number, title: story.title, why, commands });
    }
    Ok(all)
}
