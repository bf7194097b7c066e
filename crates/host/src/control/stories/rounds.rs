//! Round after round: what was in hand first, then what is ready, until everything is verified, something waits for a
//! person, or a limit is reached.

use super::alarm::Alarm;
use super::attempt::{Attempt, Ended};
use super::checkpoint::{Escalation, Hand};
use super::ending::{end, interrupted, nothing_more, nothing_to_do, one_round_done, stands_in_alarm};
use super::identities::Part;
use super::landing::Colour;
use super::office::Office;
use super::persons_word::heard;
use super::plan::{AfterFailure, Story, after_failure, choose};
use super::queue::inner;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use windlass_control_api::Fault;
use windlass_control_api::events::Tone;
use windlass_control_api::orchestration::Orchestrated;
use windlass_control_api::views::Status;

pub(super) async fn work_through(office: &Office<'_>, room: usize) -> Result<Orchestrated, Fault> {
    catch_up(office).await?;
    if stands_in_alarm(office) {
        return nothing_more(office).await;
    }
    let unfinished: Vec<(String, Hand)> =
        office.notes.read(|note| note.in_hand.iter().map(|(id, hand)| (id.clone(), hand.clone())).collect());
    let mut begun = 0;
    let mut hands = Vec::new();
    for (id, hand) in unfinished {
        hands.push((office.story(&id).await?, hand));
    }
    for several in hands.chunks(room) {
        if batch(office, several.to_vec()).await? == Went::Interrupted {
            return interrupted(office).await;
        }
    }
    loop {
        if office.host.shutdown.borrow()?.waiting().await.is_some() {
            return interrupted(office).await;
        }
        if stands_in_alarm(office) {
            return nothing_more(office).await;
        }
        if let Some(why) = used_up(office, begun) {
            return end(office, Status::Exhausted, why).await;
        }
        let ready = ready(office).await?;
        let left = office.command.max_stories.map_or(room, |most| room.min((most - begun) as usize));
        let chosen = office.notes.read(|note| choose(&ready, note, left));
        if chosen.is_empty() {
            return nothing_to_do(office).await;
        }
        if let Some(ended) = red_base(office).await? {
            return Ok(ended);
        }
        let hands = take_in_hand(office, chosen).await?;
        if hands.is_empty() {
            continue;
        }
        begun += u32::try_from(hands.len()).unwrap_or(u32::MAX);
        if batch(office, hands).await? == Went::Interrupted {
            return interrupted(office).await;
        }
        if office.command.once {
            return one_round_done(office, begun).await;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Went {
    On,
    Interrupted,
}

/// What a person said with this command, and how far the feed has come since the last one.
async fn catch_up(office: &Office<'_>) -> Result<(), Fault> {
    let word = heard(office).await?;
    let since = office.notes.read(|note| note.last_seq);
    let seq = latest(office, since).await?;
    if !word.is_silent() || seq != since {
        office
            .notes
            .write(|note| {
                note.escalated.retain(|id, _| !word.is_about(id));
                note.by_others.extend(word.accepted.iter().cloned());
                note.last_seq = seq;
            })
            .await?;
    }
    Ok(())
}

/// Reads the feed to its end; what happened is asked of each story, the number says only that everything was seen.
async fn latest(office: &Office<'_>, since: u64) -> Result<u64, Fault> {
    let mut seen = since;
    loop {
        let from = seen.to_string();
        let query = [("since", from.as_str()), ("project_id", office.project.id.as_str()), ("limit", "1000")];
        let answer = office.queue.get(office.identities.user_key(), "/changes", &query).await?;
        seen = answer["sequence"].as_u64().unwrap_or(seen).max(seen);
        if answer["has_more"] != true {
            return Ok(seen);
        }
    }
}

pub(super) async fn ready(office: &Office<'_>) -> Result<Vec<Story>, Fault> {
    let query = [("project_id", office.project.id.as_str()), ("page_size", "500")];
    let answer = office.queue.get(office.identities.user_key(), "/stories/ready", &query).await?;
    let stories = inner(&answer, "stories").as_array().into_iter().flatten().map(Story::read);
    Ok(stories.filter(|story| !office.let_go.borrow().contains(&story.id)).collect())
}

async fn take_in_hand(office: &Office<'_>, chosen: Vec<Story>) -> Result<Vec<(Story, Hand)>, Fault> {
    let base = office.tip()?;
    let (mut hands, mut waiting) = (Vec::new(), Vec::new());
    for story in chosen {
        let past = office.past(&story.id).await?;
        let mut waits = None;
        office.notes.remember(|note| waits = past.correct(note, &story));
        if let Some(waits) = waits {
            waiting.push((story, waits));
            continue;
        }
        let (number, attempt) = (story.number.clone(), office.next_attempt(&story.id, &past)?);
        let (base, wording) = (base.id.to_string(), story.wording());
        hands.push((story, Hand { number, attempt, base, wording }));
    }
    for (story, waits) in &waiting {
        office.say(Tone::Attention, format!("{} waits for a person: {}", story.name(), waits.why));
    }
    office
        .notes
        .write(|note| {
            "working".clone_into(&mut note.phase);
            for (story, hand) in &hands {
                note.attempts.insert(story.id.clone(), hand.attempt);
                note.in_hand.insert(story.id.clone(), hand.clone());
            }
            note.escalated.extend(waiting.iter().map(|(story, waits)| (story.id.clone(), waits.clone())));
        })
        .await?;
    if !waiting.is_empty() {
        office.tell_people().await?;
    }
    windlass_crash_points::reach("story.in-hand");
    Ok(hands)
}

/// Side by side; each is noted as it ends.
async fn batch(office: &Office<'_>, hands: Vec<(Story, Hand)>) -> Result<Went, Fault> {
    let attempts = hands.into_iter().map(|(story, hand)| {
        Box::pin(async move {
            let attempt = Attempt { office, story: story.clone(), hand: hand.clone() };
            let part = attempt.part();
            let ended = attempt.go().await?;
            note(office, (&story, &hand), &part, ended).await
        }) as Pin<Box<dyn Future<Output = Result<Went, Fault>> + '_>>
    });
    let went = side_by_side(attempts.collect()).await;
    let mut all = Went::On;
    for one in went {
        if one? == Went::Interrupted {
            all = Went::Interrupted;
        }
    }
    Ok(all)
}

async fn side_by_side<T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

async fn note(
    office: &Office<'_>,
    (story, hand): (&Story, &Hand),
    part: &Part,
    ended: Ended,
) -> Result<Went, Fault> {
    let id = story.id.as_str();
    let name = story.name();
    let done = |note: &mut super::checkpoint::Checkpoint| {
        note.in_hand.remove(id);
        note.escalated.remove(id);
        note.pending_review.retain(|number| *number != hand.number);
    };
    match ended {
        Ended::Interrupted => return Ok(Went::Interrupted),
        Ended::Verified(verified) => {
            let commit = short(&verified.commit);
            office.say(Tone::Good, format!("{name} is verified and landed as {commit} on {}", office.place));
            office
                .notes
                .write(|note| {
                    done(note);
                    note.by_others.remove(id);
                    note.last_verified = Some(hand.number.clone());
                })
                .await?;
            office.verified.borrow_mut().push(verified);
        }
        Ended::TakenBack(why) => {
            office.say(Tone::Attention, format!("{name}: {why}; the attempt is given up"));
            office.notes.write(done).await?;
        }
        Ended::LetGo(why) => {
            office.say(Tone::Attention, format!("{name} is let go: {why}"));
            office.let_go.borrow_mut().insert(id.to_owned());
            office.notes.write(done).await?;
        }
        Ended::Alarm { alarm, run } => {
            let why = raise(office, &name, &alarm);
            let waits = Escalation { alarm: true, ..escalation(story, why, run, false) };
            office
                .notes
                .write(|note| {
                    done(note);
                    note.escalated.insert(id.to_owned(), waits);
                })
                .await?;
            office.tell_people().await?;
        }
        Ended::Failed { why, run } => {
            let cycles = office
                .notes
                .write(|note| {
                    done(note);
                    let cycles = note.cycle_counts.entry(id.to_owned()).or_default();
                    *cycles += 1;
                    let cycles = *cycles;
                    let waits = after_failure(cycles);
                    if waits != AfterFailure::Again {
                        let why = format!("sent back {cycles} times; the last time: {why}");
                        let for_good = waits == AfterFailure::Stop;
                        note.escalated.insert(id.to_owned(), escalation(story, why, run, for_good));
                    }
                    cycles
                })
                .await?;
            office.say(Tone::Bad, format!("{name} was sent back ({cycles}): {why}"));
            if after_failure(cycles) != AfterFailure::Again {
                office.tell_people().await?;
            }
        }
        // It stays in hand: a person's answer may be all it needs.
        Ended::Waits { why, run } => {
            office.say(Tone::Attention, format!("{name} waits for a person: {why}"));
            let waits = escalation(story, why, run, false);
            office.notes.write(|note| note.escalated.insert(id.to_owned(), waits)).await?;
            office.tell_people().await?;
            return Ok(Went::On);
        }
    }
    windlass_crash_points::reach("story.noted");
    office.identities.retire(part).await?;
    Ok(Went::On)
}

fn escalation(story: &Story, why: String, run: Option<String>, for_good: bool) -> Escalation {
    let (number, title) = (story.number.clone(), story.title.clone());
    Escalation { number, title, why, run, for_good, alarm: false }
}

fn used_up(office: &Office<'_>, begun: u32) -> Option<String> {
    if office.command.max_stories.is_some_and(|most| begun >= most) {
        return Some(format!("{begun} stories were begun, as many as were asked for"));
    }
    office.until.filter(|until| until.left().is_zero()).map(|_| "the minutes are used up".to_owned())
}

/// Says who did what, and gives it back for those who read it later.
pub(super) fn raise(office: &Office<'_>, name: &str, alarm: &Alarm) -> String {
    office.say(Tone::Bad, format!("ALARM: {name}: {}", alarm.why));
    for line in &alarm.evidence {
        office.say(Tone::Bad, format!("{name}: {line}"));
    }
    [&[format!("ALARM: {}", alarm.why)], &alarm.evidence[..]].concat().join("\n")
}

/// No story begins on a base that is red: it would be blamed for what others did.
async fn red_base(office: &Office<'_>) -> Result<Option<Orchestrated>, Fault> {
    let tip = office.tip()?;
    match office.colour(&tip.tree).await? {
        Colour::Green => Ok(None),
        Colour::Interrupted => interrupted(office).await.map(Some),
        Colour::Red(why) => {
            let now = format!("the base {} is red, so no story begins: {why}", short(tip.id.as_str()));
            end(office, Status::NeedsHuman, now).await.map(Some)
        }
    }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
