//! What the queue's own history says of a story: how often it was claimed, and how often it failed. Notes can be lost and written
//! by others; the history cannot, so numbers and limits follow from it.

use super::checkpoint::{Checkpoint, Escalation};
use super::office::Office;
use super::plan::{AfterFailure, Story, after_failure};
use super::queue::{inner, story_path, text_of};
use serde_json::Value;
use windlass_control_api::Fault;

const PAGE: usize = 500;
/// How an implementer of any orchestration is called.
const IMPLEMENTER: &str = "agent:windlass-implementer-";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Past {
    /// By implementers of an orchestration; others have no attempts.
    pub(super) claims: u32,
    /// Sent back by whoever may, or given back by an implementer of an orchestration without a result.
    pub(super) failures: u32,
    last: String,
}

impl Past {
    fn hear(&mut self, row: &Value) {
        let to = row["new_state"]["agent_status"].as_str().unwrap_or_default();
        let from = row["old_state"]["agent_status"].as_str().unwrap_or_default();
        let by_an_implementer = || text_of(row, "actor_label").starts_with(IMPLEMENTER);
        match row["action"].as_str().unwrap_or_default() {
            "rejected" => {
                self.failures += 1;
                self.last = text_of(&row["new_state"], "reason");
            }
            "status_changed" if to == "assigned" => {
                self.claims += u32::from(by_an_implementer());
            }
            "status_changed" if to == "pending" && from == "implementing" && by_an_implementer() => {
                self.failures += 1;
                "it was given back without a result".clone_into(&mut self.last);
            }
            _ => {}
        }
    }

    /// Where more failed than was noted: the count is taken over, and what it comes to is given back.
    pub(super) fn correct(&self, note: &mut Checkpoint, story: &Story) -> Option<Escalation> {
        let noted = note.cycle_counts.entry(story.id.clone()).or_default();
        if self.failures <= *noted {
            return None;
        }
        *noted = self.failures;
        let after = after_failure(self.failures);
        (after != AfterFailure::Again).then(|| Escalation {
            number: story.number.clone(),
            title: story.title.clone(),
            why: format!("sent back {} times; the last time: {}", self.failures, self.last),
            run: None,
            for_good: after == AfterFailure::Stop,
            alarm: false,
        })
    }
}

impl Office<'_> {
    pub(super) async fn past(&self, story: &str) -> Result<Past, Fault> {
        let mut past = Past::default();
        for page in 1_u32.. {
            let (page, size) = (page.to_string(), PAGE.to_string());
            let query = [("page", page.as_str()), ("page_size", size.as_str())];
            let path = story_path(story, "/history");
            let answer = self.queue.get(self.identities.user_key(), &path, &query).await?;
            let rows = inner(&answer, "history").as_array().map_or(&[][..], Vec::as_slice);
            for row in rows {
                past.hear(row);
            }
            if rows.len() < PAGE {
                break;
            }
        }
        Ok(past)
    }

    /// An attempt that nobody made before, by the notes, by the queue, and by what lies on this machine.
    pub(super) fn next_attempt(&self, story: &str, past: &Past) -> Result<u32, Fault> {
        let noted = self.notes.read(|note| note.attempts.get(story).copied().unwrap_or(0));
        let played = self.identities.implementers().into_iter().filter(|one| one.story == story);
        let played = played.map(|one| one.attempt).max().unwrap_or(0);
        let mut next = noted.max(past.claims).max(played).max(self.copies_of(story)) + 1;
        while self.is_kept(story, next)? {
            next += 1;
        }
        Ok(next)
    }

    /// The highest attempt whose copy of the repository is still there.
    fn copies_of(&self, story: &str) -> u32 {
        let found = std::fs::read_dir(self.copies()).into_iter().flatten().flatten();
        let attempt = |name: String| {
            let rest = name.strip_prefix(story)?.strip_prefix('-')?.to_owned();
            rest.split('-').next()?.parse::<u32>().ok()
        };
        let attempts = found.filter_map(|entry| attempt(entry.file_name().to_string_lossy().into_owned()));
        attempts.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn moved(by: &str, from: &str, to: &str) -> Value {
        json!({ "action": "status_changed", "actor_label": by,
                "old_state": { "agent_status": from }, "new_state": { "agent_status": to } })
    }

    fn heard(rows: &[Value]) -> Past {
        let mut past = Past::default();
        for row in rows {
            past.hear(row);
        }
        past
    }

    #[test]
    fn rejections_and_work_that_was_given_back_are_failures() {
        let ours = "agent:windlass-implementer-x";
        let rejected = json!({ "action": "rejected", "new_state": { "reason": "no tests" } });
        let past = heard(&[
            moved(ours, "contracted", "assigned"),
            moved(ours, "implementing", "pending"),
            moved("agent:bob", "contracted", "assigned"),
            moved("agent:bob", "implementing", "pending"),
            rejected,
        ]);
        assert_eq!((past.claims, past.failures, past.last.as_str()), (1, 2, "no tests"));
    }

    #[test]
    fn what_was_noted_holds_unless_the_history_knows_more() {
        let story = Story { id: "s".into(), number: "1.1".into(), ..Story::default() };
        let mut note = Checkpoint::default();
        let three = Past { failures: 3, ..Past::default() };
        let waits = three.correct(&mut note, &story).unwrap();
        assert!(waits.why.starts_with("sent back 3 times") && !waits.for_good);
        assert_eq!(three.correct(&mut note, &story), None, "a person may have said that it is tried again");
        assert!(Past { failures: 5, ..three }.correct(&mut note, &story).unwrap().for_good);
    }
}
