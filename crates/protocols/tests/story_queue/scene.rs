//! One tenant on a stage: callers of each role, a clock that is set by hand, and a ledger that is replayed after each command.

use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::{Kind, Refusal};
use windlass_protocols::protocol::story_queue::vocabulary::{
    AgentId, EpicId, Ids, KeyId, KeyRole, Micros, ProjectId, StoryId, Uuid,
};

pub(crate) struct Scene {
    pub(crate) ledger: Ledger,
    pub(crate) entries: Vec<Entry>,
    pub(crate) now: Micros,
    drafts: u64,
}

pub(crate) const DAY: u64 = 86_400;

impl Scene {
    pub(crate) fn new() -> Self {
        Self { ledger: Ledger::default(), entries: Vec::new(), now: Micros::seconds(20_000 * DAY), drafts: 0 }
    }

    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now = self.now.plus(Micros::seconds(seconds));
    }

    /// Runs a command. A refusal records nothing, and what was recorded, read back from JSON, makes the same ledger.
    pub(crate) fn run<T>(
        &mut self,
        caller: &Caller,
        command: impl FnOnce(&mut Draft<'_>) -> Decided<T>,
    ) -> Decided<T> {
        self.drafts += 1;
        let mut seed = [7; 16];
        seed[6..14].copy_from_slice(&(self.drafts << 20).to_be_bytes());
        let mut draft = Draft::new(&mut self.ledger, caller, Ids::new(self.now, Uuid(seed)));
        let answer = command(&mut draft);
        let entries = draft.into_entries();
        assert!(answer.is_ok() || entries.is_empty(), "a refusal recorded {entries:?}");
        self.entries.extend(entries);
        self.assert_replays();
        answer
    }

    fn assert_replays(&self) {
        let mut again = Ledger::default();
        for entry in &self.entries {
            let text = serde_json::to_string(entry).expect("an entry goes through JSON");
            again.evolve(&serde_json::from_str(&text).expect("an entry goes through JSON"));
        }
        assert_eq!(format!("{again:?}"), format!("{:?}", self.ledger));
    }

    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.entries.iter().map(|entry| &entry.change)
    }
}

pub(crate) fn uuid(number: u8) -> Uuid {
    Uuid([number; 16])
}

pub(crate) fn project() -> ProjectId {
    ProjectId(uuid(1))
}

pub(crate) fn epic() -> EpicId {
    EpicId(uuid(2))
}

pub(crate) fn story(number: u8) -> StoryId {
    StoryId(uuid(100 + number))
}

pub(crate) fn agent(number: u8) -> AgentId {
    AgentId(uuid(50 + number))
}

/// A key of this role, bound to agent 1 unless it is a person's.
pub(crate) fn key(role: KeyRole) -> Caller {
    let person = role >= KeyRole::User;
    Caller {
        key: KeyId(uuid(30 + role as u8)),
        role,
        agent: (!person).then(|| agent(1)),
        lineage: Vec::new(),
        label: format!("key:{}", role.name()),
        impersonating: false,
    }
}

pub(crate) const ROLES: [KeyRole; 4] =
    [KeyRole::Agent, KeyRole::Orchestrator, KeyRole::User, KeyRole::Superadmin];

/// Asks every role and checks that exactly those at or above `least` are let in.
pub(crate) fn assert_least<T>(least: KeyRole, mut command: impl FnMut(&Caller) -> Decided<T>) {
    for role in ROLES {
        let refused = matches!(command(&key(role)), Err(Refusal { kind: Kind::NotAllowed, .. }));
        assert_eq!(refused, role < least, "{role:?} where {least:?} is the least");
    }
}

pub(crate) fn kind<T>(answer: Decided<T>) -> Option<Kind> {
    answer.err().map(|refusal| refusal.kind)
}
