//! One attempt at one story, from contract to verdict. Where it stands is asked of the queue and of the journal each time, so
//! that an attempt that was cut off goes on at the step nobody has done yet.

use super::alarm::Alarm;
use super::checkpoint::Hand;
use super::evidence;
use super::identities::{Claim, Identity, Part};
use super::landing::{Judged, Landed};
use super::office::Office;
use super::plan::{Standing, Story, standing};
use super::queue::{Refused, inner, story_path};
use super::work::{Made, Worked};
use serde_json::{Value, json};
use windlass_artifact_formats::story_queue::StoryReview;
use windlass_control_api::Fault;
use windlass_control_api::events::Tone;
use windlass_control_api::orchestration::VerifiedStory;

const REVIEW_TYPE: &str = "windlass-criteria";
const BY_A_PERSON: &str = "it was taken back by a person";
const OTHER_WORDS: &str = "its words were changed after it was begun";

/// How an attempt ended.
pub(super) enum Ended {
    Verified(VerifiedStory),
    /// Sent back, or given back without a review; counts as one cycle.
    Failed {
        why: String,
        run: Option<String>,
    },
    /// Somebody else decided otherwise; counts as nothing.
    LetGo(String),
    /// Somebody else said that it is done.
    Alarm {
        alarm: Alarm,
        run: Option<String>,
    },
    /// It is no longer the claim it was; the story may begin anew.
    TakenBack(&'static str),
    /// Only a person can go on.
    Waits {
        why: String,
        run: Option<String>,
    },
    Interrupted,
}

/// Leaves the attempt where a refusal of the queue says that it is no longer ours to move.
macro_rules! granted {
    ($said:expr, $attempt:expr) => {
        match $said {
            Ok(value) => value,
            Err(refused) => return $attempt.turned_down(&refused).await,
        }
    };
}

pub(super) struct Attempt<'a> {
    pub(super) office: &'a Office<'a>,
    pub(super) story: Story,
    pub(super) hand: Hand,
}

impl Attempt<'_> {
    pub(super) async fn go(mut self) -> Result<Ended, Fault> {
        let part = self.part();
        let known = self.office.identities.known(&part);
        self.story = self.office.story(&self.story.id).await?;
        if let Some(ended) = self.is_alarming(None).await? {
            return Ok(ended);
        }
        if let Some(verified) = self.verified_before(known.as_ref()).await? {
            return Ok(Ended::Verified(verified));
        }
        let ours = known.as_ref().map(|identity| identity.agent.as_str());
        if let Standing::LetGo(why) = standing(&self.story, &self.hand, ours) {
            self.abandon().await?;
            return Ok(Ended::LetGo(why));
        }
        let claim = self.claim();
        if !self.story.is_worded(&claim.wording)
            || known.is_some_and(|one| one.claim.as_ref() != Some(&claim))
        {
            return self.begin_anew().await;
        }
        let implementer = self.office.identities.of_claim(&part, claim).await?;
        if let Some(ended) = self.take(&implementer).await? {
            return Ok(ended);
        }
        // Deeds that were done before are answered, not done again: only the queue knows whether they still hold.
        self.story = self.office.story(&self.story.id).await?;
        if self.story.assigned_agent.as_deref() != Some(implementer.agent.as_str()) {
            if let Some(ended) = self.is_alarming(None).await? {
                return Ok(ended);
            }
            self.abandon().await?;
            return self.taken_back().await;
        }
        windlass_crash_points::reach("story.taken");
        let worked = self.work(&implementer).await?;
        windlass_crash_points::reach("story.worked");
        match worked {
            Worked::Made(made) => self.settle(&implementer, *made).await,
            Worked::Failed { why, run } => self.give_back(&implementer, why, run).await,
            Worked::Waits { why, run } => {
                let alarming = self.is_alarming(Some(&run)).await?;
                Ok(alarming.unwrap_or(Ended::Waits { why, run: Some(run) }))
            }
            Worked::Interrupted => Ok(Ended::Interrupted),
        }
    }

    /// Looks at the story once more. Whoever still works on it is told to end where somebody else said that it is done.
    async fn is_alarming(&self, run: Option<&str>) -> Result<Option<Ended>, Fault> {
        let story = self.office.story(&self.story.id).await?;
        let Some(alarm) = self.alarm(&story).await? else { return Ok(None) };
        self.abandon().await?;
        Ok(Some(Ended::Alarm { alarm, run: run.map(str::to_owned) }))
    }

    /// A conflict means that the story moved without us; anything else is for a person.
    async fn turned_down(&self, refused: &Refused) -> Result<Ended, Fault> {
        if let Some(ended) = self.is_alarming(None).await? {
            return Ok(ended);
        }
        let why = format!("the queue refused: {}", refused.message);
        if refused.code == "idempotency_conflict" {
            // What was asked in this attempt before was something else: the story is not what it was.
            self.abandon().await?;
            return Ok(Ended::TakenBack(OTHER_WORDS));
        }
        if refused.status == 409 {
            return Ok(Ended::LetGo(why));
        }
        Ok(Ended::Waits { why, run: None })
    }

    /// By ourselves, with a verdict that was not noted any more, or by somebody else.
    async fn taken_back(&self) -> Result<Ended, Fault> {
        let mut said = self.office.sent_back(&self.story.id).await?;
        let noted = self.office.notes.read(|note| note.cycles(&self.story.id)) as usize;
        if said.len() <= noted {
            return Ok(Ended::TakenBack(BY_A_PERSON));
        }
        Ok(Ended::Failed { why: said.pop().unwrap_or_default(), run: None })
    }

    pub(super) fn part(&self) -> Part {
        Part::Implementer { story: self.story.id.clone(), attempt: self.hand.attempt }
    }

    fn claim(&self) -> Claim {
        Claim { base: self.hand.base.clone(), wording: self.hand.wording.clone() }
    }

    /// What was made so far is of other words: nobody judges the new ones by it. The story goes back where it is still ours.
    async fn begin_anew(&self) -> Result<Ended, Fault> {
        self.abandon().await?;
        let known = self.office.identities.known(&self.part());
        let ours = known.filter(|one| self.story.assigned_agent.as_deref() == Some(one.agent.as_str()));
        if ours.is_some() && !matches!(self.story.agent_status.as_str(), "pending" | "contracted") {
            let implementer = self.office.identities.of(&self.part()).await?;
            let _given = granted!(self.step(&implementer, &implementer, "unclaim", json!({})).await?, self);
        }
        Ok(Ended::TakenBack(OTHER_WORDS))
    }

    /// Names the deeds of this attempt; a fresh agent makes them different from those of a forgotten one.
    fn deeds(&self, implementer: &Identity) -> String {
        format!("{} {}", self.hand.attempt, implementer.agent)
    }

    async fn step(
        &self,
        who: &Identity,
        implementer: &Identity,
        step: &str,
        body: Value,
    ) -> Result<Result<Value, Refused>, Fault> {
        let deeds = self.deeds(implementer);
        let said = self.office.step(who, (&self.story.id, &deeds), step, body).await?;
        windlass_crash_points::reach("story.moved");
        Ok(said)
    }

    /// Contract, claim, start: as far as the queue does not have them yet.
    async fn take(&self, implementer: &Identity) -> Result<Option<Ended>, Fault> {
        let steps = match self.story.agent_status.as_str() {
            "pending" => &["contract", "claim", "start"][..],
            "contracted" => &["claim", "start"],
            "assigned" => &["start"],
            _ => &[],
        };
        for step in steps {
            let body = match *step {
                "contract" => {
                    json!({ "story_title": self.story.title, "ac_count": self.story.criteria.len() })
                }
                _ => json!({}),
            };
            if let Err(refused) = self.step(implementer, implementer, step, body).await? {
                // Who cannot say the story back does not work on it.
                return Ok(Some(if *step == "contract" && refused.status == 422 {
                    Ended::Waits { why: format!("the contract failed: {}", refused.message), run: None }
                } else {
                    self.turned_down(&refused).await?
                }));
            }
        }
        if !steps.is_empty() {
            let name = self.story.name();
            let by = &implementer.name;
            self.office.say(Tone::Plain, format!("{name} begun by {by} (attempt {})", self.hand.attempt));
        }
        Ok(None)
    }

    /// Reported by one, reviewed by another, landed, and verified by a third.
    async fn settle(&self, implementer: &Identity, made: Made) -> Result<Ended, Fault> {
        let office = self.office;
        if let Some(ended) = self.is_alarming(Some(&made.run)).await? {
            return Ok(ended);
        }
        let story = office.story(&self.story.id).await?;
        if !story.is_worded(&self.hand.wording) {
            return Attempt { office, story, hand: self.hand.clone() }.begin_anew().await;
        }
        let base = made.base.clone();
        let judged = Judged {
            story: &story,
            attempt: self.hand.attempt,
            run: &made.run,
            base: &base,
            commit: &made.commit,
            review: &made.review.summary,
        };
        // Whoever reported it: what we judge is what was made here.
        let name = office.keep(&made.copy, &judged)?;
        if story.agent_status == "implementing" {
            let _asked =
                granted!(self.step(implementer, implementer, "request-review", json!({})).await?, self);
            let reporter = office.identities.of(&Part::Reporter).await?;
            let artifact = json!({
                "artifact_type": evidence::COMMIT,
                "path": name,
                "exists": true,
                "details": {
                    "commit": made.commit.id.as_str(),
                    "tree": made.commit.tree.as_str(),
                    "base": base.id.as_str(),
                    "run": made.run,
                    "attempt": self.hand.attempt,
                },
            });
            let _reported = granted!(
                self.step(&reporter, implementer, "report", json!({ "artifact": artifact })).await?,
                self
            );
            let number = story.number.clone();
            office.notes.write(|note| note.pending_review.push(number)).await?;
        }
        if !made.review.passed() {
            return self.send_back(implementer, &made.review, &made.run).await;
        }
        self.confirm(implementer, &made, &judged).await
    }

    async fn confirm(
        &self,
        implementer: &Identity,
        made: &Made,
        judged: &Judged<'_>,
    ) -> Result<Ended, Fault> {
        let office = self.office;
        let reports = self.reports().await?;
        let looked = evidence::look(&office.repository, judged.commit, judged.story, &reports)?;
        if !looked.missing.is_empty() {
            let found = self.by_engine(&looked.missing.join("; "));
            return self.send_back(implementer, &found, &made.run).await;
        }
        let seen = looked.words();
        if !seen.is_empty() {
            office.say(Tone::Plain, format!("{}: {seen}", self.story.name()));
        }
        let reviewer = office.identities.of(&Part::Reviewer).await?;
        let review = json!({
            "review_type": REVIEW_TYPE,
            "findings_count": made.fixed,
            "fixes_count": made.fixed,
            "disproved_count": 0,
            "summary": made.review.summary,
        });
        let _reviewed = granted!(self.step(&reviewer, implementer, "review-complete", review).await?, self);
        // Before anything lands: what others said meanwhile is not what it lands on.
        if let Some(ended) = self.is_alarming(Some(&made.run)).await? {
            return Ok(ended);
        }
        let commit = match office.land(judged).await? {
            Landed::At(commit) => {
                // The checks passed on the judged tree, and on a merged one before it landed.
                office.notes.remember(|note| note.note_green(commit.tree.as_str()));
                commit
            }
            Landed::SentBack(why) => {
                return self.send_back(implementer, &self.by_engine(&why), &made.run).await;
            }
            Landed::InTheWay(why) => {
                return Ok(Ended::Waits {
                    why: format!("it cannot land: {why}"),
                    run: Some(made.run.clone()),
                });
            }
            Landed::Interrupted => return Ok(Ended::Interrupted),
        };
        let verifier = office.identities.of(&Part::Verifier).await?;
        let verdict = json!({
            "result": "pass",
            "summary": with_what_was_seen(&made.review.summary, &seen),
            "review_type": REVIEW_TYPE,
            "findings": made.review,
            "commit_sha": commit.id.as_str(),
        });
        match self.step(&verifier, implementer, "verify", verdict).await? {
            Ok(_) => {}
            Err(refused) => {
                if let Some(ended) = self.is_alarming(Some(&made.run)).await? {
                    return Ok(ended);
                }
                let why = format!("it landed as {}, but was not verified: {}", commit.id, refused.message);
                return Ok(Ended::Waits { why, run: Some(made.run.clone()) });
            }
        }
        Ok(Ended::Verified(VerifiedStory {
            number: judged.story.number.clone(),
            title: judged.story.title.clone(),
            commit: commit.id.to_string(),
            run: made.run.clone(),
            cycles: office.notes.read(|note| note.cycles(&judged.story.id)) + 1,
        }))
    }

    /// By our own verifier, in a process that did not live to note it. Where others said so, the story is let go.
    async fn verified_before(&self, known: Option<&Identity>) -> Result<Option<VerifiedStory>, Fault> {
        let office = self.office;
        if !self.story.is_verified() {
            return Ok(None);
        }
        let verifier = office.identities.of(&Part::Verifier).await?;
        let path = story_path(&self.story.id, "/verifications");
        let answer = office.queue.get(&verifier.key, &path, &[("page_size", "100")]).await?;
        let all = inner(&answer, "verifications").as_array().into_iter().flatten();
        let ours = all
            .filter(|one| one["result"] == "pass" && one["orchestrator_agent_id"] == verifier.agent.as_str());
        let last = ours.max_by_key(|one| one["iteration"].as_u64());
        let Some(commit) = last.and_then(|one| one["commit_sha"].as_str()) else { return Ok(None) };
        let run = match known {
            Some(implementer) => self.run_of(implementer).await?,
            None => None,
        };
        Ok(Some(VerifiedStory {
            number: self.story.number.clone(),
            title: self.story.title.clone(),
            commit: commit.to_owned(),
            run: run.unwrap_or_default(),
            cycles: office.notes.read(|note| note.cycles(&self.story.id)) + 1,
        }))
    }

    fn by_engine(&self, found: &str) -> StoryReview {
        StoryReview::by_engine(&self.story.name(), self.hand.attempt, found)
    }

    async fn reports(&self) -> Result<Vec<Value>, Fault> {
        let path = story_path(&self.story.id, "/artifacts");
        let answer =
            self.office.queue.get(self.office.identities.user_key(), &path, &[("page_size", "100")]).await?;
        Ok(inner(&answer, "artifacts").as_array().cloned().unwrap_or_default())
    }

    async fn send_back(
        &self,
        implementer: &Identity,
        review: &StoryReview,
        run: &str,
    ) -> Result<Ended, Fault> {
        let verifier = self.office.identities.of(&Part::Verifier).await?;
        let body = json!({ "reason": review.summary, "review_type": REVIEW_TYPE, "findings": review });
        let _rejected = granted!(self.step(&verifier, implementer, "reject", body).await?, self);
        // A tenant that resets nothing by itself leaves the story with whoever made it, and they are done.
        let story = self.office.story(&self.story.id).await?;
        let ours = story.assigned_agent.as_deref() == Some(implementer.agent.as_str());
        if ours && story.agent_status == "reported_done" {
            let _given = granted!(self.step(implementer, implementer, "unclaim", json!({})).await?, self);
        }
        Ok(Ended::Failed { why: review.summary.clone(), run: Some(run.to_owned()) })
    }

    /// Nothing came of it that anybody could look at.
    async fn give_back(&self, implementer: &Identity, why: String, run: String) -> Result<Ended, Fault> {
        let _given = granted!(self.step(implementer, implementer, "unclaim", json!({})).await?, self);
        Ok(Ended::Failed { why, run: Some(run) })
    }
}

/// What a verification says: what the reviewer found, and what the engine looked at itself.
fn with_what_was_seen(review: &str, seen: &str) -> String {
    if seen.is_empty() { review.to_owned() } else { format!("{review}; {seen}") }
}
