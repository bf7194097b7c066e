//! Whether somebody else did for a story in hand what only this orchestration's own identities may do for it. Whoever has a key of
//! the user can make identities that custody takes for honest; here they are known by not being ours.

use super::attempt::Attempt;
use super::identities::Part;
use super::plan::Story;
use super::queue::{inner, story_path, text_of};
use serde_json::Value;
use windlass_control_api::Fault;
use windlass_control_api::stories::escaped;

/// What a person must look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alarm {
    pub(super) why: String,
    /// Who did what and when, one line each.
    pub(super) evidence: Vec<String>,
}

/// One thing that was done to a story by an agent, or by somebody without one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Deed {
    what: &'static str,
    agent: Option<String>,
    at: String,
}

/// The agents that play or played the four parts here, as far as there are any yet.
#[derive(Debug, Default)]
struct Ours {
    implementer: Vec<String>,
    reporter: Vec<String>,
    reviewer: Vec<String>,
    verifier: Vec<String>,
}

impl Attempt<'_> {
    /// Nothing where the story is where this attempt left it, or before anybody said that it is done.
    pub(super) async fn alarm(&self, story: &Story) -> Result<Option<Alarm>, Fault> {
        let office = self.office;
        let known = |part: &Part| office.identities.ever(part);
        let implementer = known(&self.part());
        // Without an implementer of ours it never was in our hands.
        if implementer.is_empty() || !is_said_to_be_done(story) {
            return Ok(None);
        }
        let ours = Ours {
            implementer,
            reporter: known(&Part::Reporter),
            reviewer: known(&Part::Reviewer),
            verifier: known(&Part::Verifier),
        };
        let key = office.identities.user_key();
        let all = async |what: &str| -> Result<Vec<Value>, Fault> {
            let path = story_path(&story.id, &format!("/{what}"));
            let answer = office.queue.get(key, &path, &[("page_size", "100")]).await?;
            Ok(inner(&answer, what).as_array().cloned().unwrap_or_default())
        };
        let foreign = foreign(story, &all("reviews").await?, &all("verifications").await?, &ours);
        if foreign.is_empty() {
            return Ok(None);
        }
        let mut evidence = Vec::new();
        for deed in &foreign {
            evidence.push(self.in_words(deed).await?);
        }
        let what: Vec<&str> = foreign.iter().map(|deed| deed.what).collect();
        let why = format!(
            "it was {} while it was in hand here, by somebody who is not of this orchestration",
            what.join(" and ")
        );
        Ok(Some(Alarm { why, evidence }))
    }

    async fn in_words(&self, deed: &Deed) -> Result<String, Fault> {
        let Deed { what, agent, at } = deed;
        let Some(agent) = agent else { return Ok(format!("{what} {at} by a key without an agent")) };
        let path = format!("/agents/{}", escaped(agent));
        let queue = self.office.queue;
        let name = match queue.look(self.office.identities.user_key(), &path, &[]).await? {
            Ok(answer) => text_of(inner(&answer, "agent"), "name"),
            Err(_) => String::new(),
        };
        Ok(format!("{what} {at} by {name} ({agent})"))
    }
}

pub(super) fn is_said_to_be_done(story: &Story) -> bool {
    story.agent_status == "reported_done" || story.is_verified()
}

/// What was done since the story was assigned, by others than ours, in the order of a story's life.
fn foreign(story: &Story, reviews: &[Value], verifications: &[Value], ours: &Ours) -> Vec<Deed> {
    let mut deeds = vec![
        (&ours.implementer, "taken over", story.assigned_agent.clone(), story.assigned_at.clone()),
        (&ours.reporter, "reported", story.reported_by.clone(), story.reported_at.clone()),
    ];
    let agent = |row: &Value, name: &str| row[name].as_str().map(str::to_owned);
    for review in reviews.iter().filter(|review| text_of(review, "inserted_at") >= story.assigned_at) {
        let at = text_of(review, "inserted_at");
        deeds.push((&ours.reviewer, "reviewed", agent(review, "reviewer_agent_id"), at));
    }
    if story.is_verified() {
        let passed = verifications.iter().filter(|one| one["result"] == "pass");
        let last = passed.max_by_key(|one| text_of(one, "inserted_at"));
        let by = last.and_then(|one| agent(one, "orchestrator_agent_id"));
        let at = last.map(|one| text_of(one, "inserted_at")).unwrap_or_default();
        deeds.push((&ours.verifier, "verified", by, at));
    }
    let foreign = deeds
        .into_iter()
        .filter(|(own, _, agent, _)| !agent.as_ref().is_some_and(|agent| own.contains(agent)));
    foreign.map(|(_, what, agent, at)| Deed { what, agent, at }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ours() -> Ours {
        let some = |name: &str| vec![name.to_owned()];
        Ours { implementer: some("i"), reporter: some("r"), reviewer: some("q"), verifier: some("v") }
    }

    fn story(verified: &str) -> Story {
        Story {
            agent_status: "reported_done".into(),
            verified_status: verified.into(),
            assigned_agent: Some("i".into()),
            reported_by: Some("r".into()),
            assigned_at: "2026-01-02".into(),
            ..Story::default()
        }
    }

    fn review(by: &str, at: &str) -> Value {
        json!({ "reviewer_agent_id": by, "inserted_at": at })
    }

    fn verdict(by: Option<&str>, result: &str, at: &str) -> Value {
        json!({ "orchestrator_agent_id": by, "result": result, "inserted_at": at })
    }

    fn what(story: &Story, reviews: &[Value], verdicts: &[Value], ours: &Ours) -> Vec<&'static str> {
        foreign(story, reviews, verdicts, ours).iter().map(|deed| deed.what).collect()
    }

    #[test]
    fn what_our_own_identities_did_is_no_alarm() {
        let reviews = [review("x", "2026-01-01"), review("q", "2026-01-03")];
        let verdicts = [verdict(Some("x"), "fail", "2026-01-04"), verdict(Some("v"), "pass", "2026-01-05")];
        assert_eq!(what(&story("verified"), &reviews, &verdicts, &ours()), [""; 0]);
        assert_eq!(what(&story("unverified"), &[], &[], &ours()), [""; 0]);
    }

    #[test]
    fn every_deed_of_a_stranger_is_told() {
        let taken =
            Story { assigned_agent: Some("x".into()), reported_by: Some("y".into()), ..story("verified") };
        let found =
            what(&taken, &[review("z", "2026-01-03")], &[verdict(Some("w"), "pass", "2026-01-04")], &ours());
        assert_eq!(found, ["taken over", "reported", "reviewed", "verified"]);
        let nobody = what(&story("verified"), &[], &[verdict(None, "pass", "2026-01-04")], &ours());
        assert_eq!(nobody, ["verified"], "a key without an agent is not ours either");
        assert_eq!(what(&story("verified"), &[], &[], &ours()), ["verified"], "without any verdict at all");
    }

    #[test]
    fn a_part_that_nobody_plays_here_yet_was_played_by_a_stranger() {
        let before = Ours { reporter: Vec::new(), reviewer: Vec::new(), ..ours() };
        assert_eq!(what(&story("unverified"), &[], &[], &before), ["reported"]);
    }
}
