//! An orchestration without notes of its own: the first one, or one whose notes are lost. What it has in hand, what waits for a
//! person and what is an alarm is found again from the queue and from who worked here. Notes of others are named, not believed.

use super::attempt::Attempt;
use super::checkpoint::{Escalation, Found, Hand};
use super::identities::Implemented;
use super::office::Office;
use super::plan::Story;
use super::queue::{Refused, inner, story_path};
use windlass_control_api::Fault;
use windlass_control_api::events::{Event, Tone};

impl Office<'_> {
    pub(super) async fn recover(&self, found: &Found) -> Result<(), Fault> {
        match found {
            Found::Own => return Ok(()),
            Found::Nothing => {}
            Found::OfOthers(name) => self.watcher.hear(&Event::Notice {
                text: format!(
                    "the checkpoint `main` was saved by {name}: it is theirs, and nothing in it counts here; what this \
                     orchestration notes is its own"
                ),
            }),
        }
        for one in self.identities.implementers() {
            self.take_up(one).await?;
        }
        for story in self.rejected().await? {
            let past = self.past(&story.id).await?;
            self.notes.remember(|note| {
                if let Some(waits) = past.correct(note, &story) {
                    note.escalated.entry(story.id.clone()).or_insert(waits);
                }
            });
        }
        Ok(())
    }

    /// What somebody of ours began: it goes on where it is still theirs, and is an alarm where others called it done.
    async fn take_up(&self, one: Implemented) -> Result<(), Fault> {
        let path = story_path(&one.story, "");
        let story = match self.queue.look(self.identities.user_key(), &path, &[]).await? {
            Ok(answer) => Story::read(inner(&answer, "story")),
            Err(Refused { status: 404, .. }) => return Ok(()),
            Err(refused) => return Err(refused.fault("read the queue")),
        };
        if story.assigned_agent.as_deref() != Some(one.identity.agent.as_str()) {
            return Ok(());
        }
        let claim = one.identity.claim.clone();
        let (base, wording) = claim.map(|claim| (claim.base, claim.wording)).unwrap_or_default();
        let hand = Hand { number: story.number.clone(), attempt: one.attempt, base, wording };
        let attempt = Attempt { office: self, story: story.clone(), hand: hand.clone() };
        if let Some(alarm) = attempt.alarm(&story).await? {
            let why = super::rounds::raise(self, &story.name(), &alarm);
            let (number, title) = (story.number.clone(), story.title.clone());
            let waits = Escalation { number, title, why, run: None, for_good: false, alarm: true };
            self.notes.remember(|note| drop(note.escalated.insert(story.id.clone(), waits)));
        } else if !story.is_verified() && self.identities.known(&attempt.part()).is_some() {
            self.say(Tone::Attention, format!("{} is still in hand here", story.name()));
            self.notes.remember(|note| drop(note.in_hand.insert(story.id.clone(), hand)));
        }
        Ok(())
    }

    async fn rejected(&self) -> Result<Vec<Story>, Fault> {
        self.stories_that(|story| story.verified_status == "rejected").await
    }
}
