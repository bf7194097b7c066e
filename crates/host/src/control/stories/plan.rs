//! What to do next, from how the queue stands and what was noted. Pure: nothing is asked and nothing is changed here.

use super::checkpoint::{Checkpoint, Hand};
use serde_json::Value;
use windlass_artifact_formats::story_queue::Criterion;

/// So many failed cycles, and a person is asked.
pub(super) const ESCALATE_AFTER: u32 = 3;
/// So many, and it is over whatever a person says.
pub(super) const STOP_AFTER: u32 = 5;

/// A story as the queue shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Story {
    pub(super) id: String,
    pub(super) number: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) criteria: Vec<Criterion>,
    pub(super) epic: String,
    pub(super) sort_key: u64,
    pub(super) agent_status: String,
    pub(super) verified_status: String,
    pub(super) assigned_agent: Option<String>,
    pub(super) assigned_at: String,
    pub(super) reported_by: Option<String>,
    pub(super) reported_at: String,
    pub(super) rejection_reason: Option<String>,
    pub(super) quarantined: bool,
}

impl Story {
    pub(super) fn read(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let maybe = |name: &str| value[name].as_str().map(str::to_owned);
        let criteria = value["acceptance_criteria"].as_array().into_iter().flatten();
        let criteria = (1..).zip(criteria).map(|(place, one)| criterion(place, one));
        Self {
            id: text("id"),
            number: text("number"),
            title: text("title"),
            description: text("description"),
            criteria: criteria.collect(),
            epic: text("epic_id"),
            sort_key: value["sort_key"].as_u64().unwrap_or(u64::MAX),
            agent_status: text("agent_status"),
            verified_status: text("verified_status"),
            assigned_agent: maybe("assigned_agent_id"),
            assigned_at: text("assigned_at"),
            reported_by: maybe("reported_by_agent_id"),
            reported_at: text("reported_done_at"),
            rejection_reason: maybe("rejection_reason"),
            quarantined: value["quarantined"].as_bool().unwrap_or(false),
        }
    }

    pub(super) fn name(&self) -> String {
        format!("US-{}", self.number)
    }

    /// The words that are contracted, as the queue takes them: title, criteria and description.
    pub(super) fn wording(&self) -> String {
        let words = serde_json::json!([self.title, self.criteria_as_contracted(), self.description]);
        crate::evidence::digest(words.to_string().as_bytes()).to_string()
    }

    /// Still says what was noted, also where an older version noted it, without the description.
    pub(super) fn is_worded(&self, noted: &str) -> bool {
        let before = serde_json::json!([self.title, self.criteria_as_contracted()]);
        noted == self.wording() || noted == crate::evidence::digest(before.to_string().as_bytes()).as_str()
    }

    fn criteria_as_contracted(&self) -> Vec<(&str, &str, Option<&str>, Option<&str>)> {
        let all = self.criteria.iter();
        all.map(|one| (one.id.as_str(), one.text.as_str(), one.kind.as_deref(), one.path.as_deref()))
            .collect()
    }

    pub(super) fn is_verified(&self) -> bool {
        self.verified_status == "verified"
    }
}

fn criterion(place: usize, value: &Value) -> Criterion {
    let text = |names: &[&str]| names.iter().find_map(|name| value[*name].as_str()).map(str::to_owned);
    let how = &value["verification_criterion"];
    let path = ["path", "file"].iter().find_map(|name| how[*name].as_str()).map(str::to_owned);
    Criterion {
        id: text(&["id", "ac_id"]).unwrap_or_else(|| format!("AC-{place}")),
        text: text(&["criterion", "description"]).unwrap_or_default(),
        kind: how["type"].as_str().map(str::to_owned),
        path,
    }
}

/// Up to `room` stories that may begin, those of one epic first: the epic that was worked on last, else that of the story
/// which comes first.
pub(super) fn choose(ready: &[Story], note: &Checkpoint, room: usize) -> Vec<Story> {
    let mut free: Vec<&Story> = ready.iter().filter(|story| may_begin(story, note)).collect();
    free.sort_by_key(|story| story.sort_key);
    let last = note.last_verified.as_deref().and_then(|number| number.split('.').next());
    let same_major = |story: &&&Story| last.is_some() && story.number.split('.').next() == last;
    let Some(first) = free.iter().find(same_major).or_else(|| free.first()) else { return Vec::new() };
    let epic = first.epic.clone();
    let (of_epic, others): (Vec<&Story>, Vec<&Story>) =
        free.into_iter().partition(|story| story.epic == epic);
    of_epic.into_iter().chain(others).take(room).cloned().collect()
}

pub(super) fn may_begin(story: &Story, note: &Checkpoint) -> bool {
    !story.quarantined
        && !story.is_verified()
        && !note.escalated.contains_key(&story.id)
        && !note.in_hand.contains_key(&story.id)
        && note.cycles(&story.id) < STOP_AFTER
}

/// What a note about an attempt is worth, now that the queue was asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing was claimed yet, or it is ours: go on from where the queue says it is.
    GoOn,
    /// Somebody decided otherwise meanwhile.
    LetGo(String),
}

/// `ours` is the agent of this attempt, if it was made already.
pub(super) fn standing(story: &Story, hand: &Hand, ours: Option<&str>) -> Standing {
    let name = format!("US-{}", hand.number);
    if story.is_verified() {
        return Standing::LetGo(format!("{name} is verified already"));
    }
    if story.quarantined {
        return Standing::LetGo(format!("{name} is quarantined"));
    }
    match (story.agent_status.as_str(), story.assigned_agent.as_deref()) {
        // Contracting is the first thing an attempt does, and nobody is assigned by it.
        ("pending" | "contracted", _) => Standing::GoOn,
        (_, Some(agent)) if Some(agent) == ours => Standing::GoOn,
        (status, _) => Standing::LetGo(format!("{name} is {status}, by somebody else")),
    }
}

/// What becomes of a story that was sent back so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterFailure {
    Again,
    AskAPerson,
    Stop,
}

/// A person who let it be tried again gets one try at a time.
pub(super) const fn after_failure(cycles: u32) -> AfterFailure {
    if cycles >= STOP_AFTER {
        AfterFailure::Stop
    } else if cycles >= ESCALATE_AFTER {
        AfterFailure::AskAPerson
    } else {
        AfterFailure::Again
    }
}

#[cfg(test)]
mod tests {
    use super::super::checkpoint::Escalation;
    use super::*;

    fn story(number: &str, epic: &str) -> Story {
        let (major, minor) = number.split_once('.').unwrap();
        let number_of = |text: &str| text.parse::<u64>().unwrap();
        Story {
            id: format!("id-{number}"),
            number: number.into(),
            epic: epic.into(),
            sort_key: number_of(major) * 10_000 + number_of(minor) * 10,
            agent_status: "pending".into(),
            verified_status: "unverified".into(),
            ..Story::default()
        }
    }

    fn numbers(chosen: &[Story]) -> Vec<&str> {
        chosen.iter().map(|story| story.number.as_str()).collect()
    }

    #[test]
    fn stories_of_one_epic_come_together_and_others_fill_the_room() {
        let ready = [story("2.1", "b"), story("1.2", "a"), story("3.1", "c"), story("1.10", "a")];
        let mut note = Checkpoint::default();
        assert_eq!(numbers(&choose(&ready, &note, 2)), ["1.2", "1.10"]);
        assert_eq!(numbers(&choose(&ready, &note, 3)), ["1.2", "1.10", "2.1"]);
        note.last_verified = Some("3.4".into());
        assert_eq!(numbers(&choose(&ready, &note, 2)), ["3.1", "1.2"]);
    }

    #[test]
    fn what_waits_for_a_person_is_quarantined_or_used_up_does_not_begin() {
        let held = Story { quarantined: true, ..story("1.1", "a") };
        let ready = [held, story("1.2", "a"), story("1.3", "a"), story("1.4", "a"), story("1.5", "a")];
        let mut note = Checkpoint::default();
        let waits = Escalation {
            number: "1.2".into(),
            title: String::new(),
            why: String::new(),
            run: None,
            for_good: false,
            alarm: false,
        };
        note.escalated.insert("id-1.2".into(), waits);
        note.cycle_counts.insert("id-1.3".into(), STOP_AFTER);
        let hand = Hand { number: "1.4".into(), attempt: 1, ..Hand::default() };
        note.in_hand.insert("id-1.4".into(), hand);
        assert_eq!(numbers(&choose(&ready, &note, 9)), ["1.5"]);
    }

    #[test]
    fn an_attempt_goes_on_only_while_the_story_is_ours() {
        let hand = Hand { number: "1.1".into(), attempt: 1, ..Hand::default() };
        let ours = Story {
            agent_status: "implementing".into(),
            assigned_agent: Some("me".into()),
            ..story("1.1", "a")
        };
        assert_eq!(standing(&ours, &hand, Some("me")), Standing::GoOn);
        assert!(matches!(standing(&ours, &hand, Some("other")), Standing::LetGo(_)));
        assert!(matches!(standing(&ours, &hand, None), Standing::LetGo(_)));
        let done = Story { verified_status: "verified".into(), ..ours.clone() };
        assert!(matches!(standing(&done, &hand, Some("me")), Standing::LetGo(_)));
        assert_eq!(standing(&story("1.1", "a"), &hand, None), Standing::GoOn);
        let held = Story { quarantined: true, ..ours };
        assert!(matches!(standing(&held, &hand, Some("me")), Standing::LetGo(_)));
    }

    #[test]
    fn three_failures_ask_a_person_and_five_end_it() {
        let after: Vec<AfterFailure> = (1..=6).map(after_failure).collect();
        let (again, ask, stop) = (AfterFailure::Again, AfterFailure::AskAPerson, AfterFailure::Stop);
        assert_eq!(after, [again, again, ask, ask, stop, stop]);
    }

    #[test]
    fn other_words_are_noticed_in_the_description_and_old_notes_still_hold() {
        let story = Story { title: "Feed".into(), description: "by line".into(), ..Story::default() };
        let edited = Story { description: "by page".into(), ..story.clone() };
        assert!(story.is_worded(&story.wording()) && !edited.is_worded(&story.wording()));
        let noted = crate::evidence::digest(br#"["Feed",[]]"#);
        assert!(story.is_worded(noted.as_str()), "as a version noted it that left the description out");
        assert!(!Story { title: "Fed".into(), ..story }.is_worded(noted.as_str()));
    }

    #[test]
    fn a_criterion_is_read_with_what_checks_it() {
        let value = serde_json::json!({
            "number": "1.1",
            "acceptance_criteria": [
                { "id": "AC-1", "criterion": "it runs" },
                { "criterion": "a test", "verification_criterion": { "type": "test", "path": "t.sh" } },
            ],
        });
        let story = Story::read(&value);
        assert_eq!(story.criteria[1].id, "AC-2");
        assert_eq!(story.criteria[1].path.as_deref(), Some("t.sh"));
        assert_eq!(story.criteria[0].kind, None);
    }
}
