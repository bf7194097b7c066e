//! One tenant with people, orchestrators and agents, made through the same commands as in real life.

use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{self, OpenDispatch};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::facts::Entry;
use windlass_protocols::protocol::story_queue::invariants::broken;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::plan::{
    self, AddEpic, AddStory, CreateProject, Criterion, CriterionStatus, Edge,
};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::tenancy::{
    self, AgentKind, FoundTenant, MakeKey, NewKey, RegisterAgent, SettingValue, TenantEdit,
};
use windlass_protocols::protocol::story_queue::vocabulary::{
    AgentId, DispatchId, EpicId, Ids, JsonText, KeyId, KeyRole, Micros, ProjectId, StoryId, TenantId, Uuid,
};
use windlass_protocols::protocol::story_queue::work::{
    self, AgentStatus, CompleteReview, ContractEcho, Judge, ReportDone, Track, VerifiedStatus,
};

pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) entries: Vec<Entry>,
    pub(crate) now: Micros,
    asked: u64,
    pub(crate) project: ProjectId,
    /// A person.
    pub(crate) user: Caller,
    pub(crate) superadmin: Caller,
    /// Orchestrators with agents of their own: one reports, one reviews, one verifies.
    pub(crate) reporter: Caller,
    pub(crate) reviewer: Caller,
    pub(crate) verifier: Caller,
    /// Agents.
    pub(crate) ann: Caller,
    pub(crate) bob: Caller,
}

pub(crate) fn caller(role: KeyRole, key: KeyId) -> Caller {
    let label = role.name().to_owned();
    Caller { key, role, agent: None, lineage: Vec::new(), label, impersonating: false }
}

impl World {
    /// With a project and no epics.
    pub(crate) fn new() -> Self {
        let operator = caller(KeyRole::Superadmin, KeyId::default());
        let mut world = Self {
            ledger: Ledger::default(),
            entries: Vec::new(),
            now: Micros::seconds(1_800_000_000),
            asked: 0,
            project: ProjectId::default(),
            user: operator.clone(),
            superadmin: operator.clone(),
            reporter: operator.clone(),
            reviewer: operator.clone(),
            verifier: operator.clone(),
            ann: operator.clone(),
            bob: operator.clone(),
        };
        let tenant = FoundTenant {
            id: TenantId(Uuid([7; 16])),
            name: "Works".to_owned(),
            slug: "works".to_owned(),
            email: None,
        };
        world.must(&operator, |draft| tenancy::found(draft, tenant));
        let key = world.secret();
        let key = world.must(&operator, |draft| tenancy::first_key(draft, "first".to_owned(), key));
        world.user = caller(KeyRole::User, key.id);
        world.ann = world.agent("ann", KeyRole::Agent);
        world.bob = world.agent("bob", KeyRole::Agent);
        world.reporter = world.agent("reporter", KeyRole::Orchestrator);
        world.reviewer = world.agent("reviewer", KeyRole::Orchestrator);
        world.verifier = world.agent("verifier", KeyRole::Orchestrator);
        let user = world.user.clone();
        let create =
            CreateProject { name: "Yard".to_owned(), slug: "yard".to_owned(), ..CreateProject::default() };
        world.project = world.must(&user, |draft| plan::create_project(draft, create)).id;
        world
    }

    pub(crate) fn secret(&mut self) -> NewKey {
        self.asked += 1;
        NewKey { hash: format!("{:064x}", self.asked), prefix: "lc_abcde".to_owned() }
    }

    /// Registers with an agent's key; an orchestrator then gets a key bound to that agent by the user.
    pub(crate) fn agent(&mut self, name: &str, role: KeyRole) -> Caller {
        let user = self.user.clone();
        let key = self.secret();
        let make = MakeKey { name: name.to_owned(), role: KeyRole::Agent, agent: None, expires: None, key };
        let key = self.must(&user, |draft| tenancy::make_key(draft, make));
        let mut asking = caller(KeyRole::Agent, key.id);
        let kind = if role == KeyRole::Agent { AgentKind::Implementer } else { AgentKind::Orchestrator };
        let register = RegisterAgent { name: name.to_owned(), kind, metadata: JsonText::empty_object() };
        let agent = self.must(&asking, |draft| tenancy::register_agent(draft, register)).id;
        asking.agent = Some(agent);
        if role == KeyRole::Agent {
            return asking;
        }
        let key = self.secret();
        let make = MakeKey { name: name.to_owned(), role, agent: Some(agent), expires: None, key };
        let key = self.must(&user, |draft| tenancy::make_key(draft, make));
        Caller { agent: Some(agent), ..caller(role, key.id) }
    }

    /// A person, or an agent with a person's key.
    pub(crate) fn user_key(&mut self, agent: Option<AgentId>) -> Caller {
        let user = self.user.clone();
        let key = self.secret();
        let make =
            MakeKey { name: "another user".to_owned(), role: KeyRole::User, agent, expires: None, key };
        let key = self.must(&user, |draft| tenancy::make_key(draft, make));
        Caller { agent, ..caller(KeyRole::User, key.id) }
    }

    /// A dispatch for this agent, and the caller its key makes.
    pub(crate) fn dispatched(
        &mut self,
        by: &Caller,
        role: KeyRole,
        agent: &Caller,
        parent: Option<DispatchId>,
    ) -> Caller {
        let ask = OpenDispatch {
            role,
            agent: agent.agent.expect("the cast has agents"),
            parent,
            story: None,
            expires_in_seconds: None,
            key: self.secret(),
        };
        let opened = self.must(by, |draft| custody::open(draft, ask));
        Caller { agent: agent.agent, lineage: opened.dispatch.lineage, ..caller(role, opened.key.id) }
    }

    /// A moment later, by this caller. What was recorded stays, also beside a refusal.
    pub(crate) fn ask<T>(
        &mut self,
        by: &Caller,
        command: impl FnOnce(&mut Draft) -> Decided<T>,
    ) -> Decided<T> {
        self.now = self.now.plus(Micros(1000));
        self.asked += 1;
        let mut seed = [0; 16];
        seed[4..12].copy_from_slice(&self.asked.to_be_bytes());
        let mut draft = Draft::new(&mut self.ledger, by, Ids::new(self.now, Uuid(seed)));
        let answer = command(&mut draft);
        let entries = draft.into_entries();
        self.entries.extend(entries);
        answer
    }

    #[track_caller]
    pub(crate) fn must<T>(&mut self, by: &Caller, command: impl FnOnce(&mut Draft) -> Decided<T>) -> T {
        match self.ask(by, command) {
            Ok(answer) => answer,
            Err(refusal) => panic!("refused: {refusal:?}"),
        }
    }

    /// The refusal, which left no entry behind.
    #[track_caller]
    pub(crate) fn refused<T>(
        &mut self,
        by: &Caller,
        command: impl FnOnce(&mut Draft) -> Decided<T>,
    ) -> Refusal {
        let before = self.entries.len();
        let Err(refusal) = self.ask(by, command) else { panic!("this was to be refused") };
        assert_eq!(self.entries.len(), before, "a refusal records nothing: {refusal:?}");
        refusal
    }

    /// The refusal of a try at custody, which is on record.
    #[track_caller]
    pub(crate) fn caught<T>(
        &mut self,
        by: &Caller,
        command: impl FnOnce(&mut Draft) -> Decided<T>,
    ) -> Refusal {
        let before = self.ledger.custody.violations().count();
        let Err(refusal) = self.ask(by, command) else { panic!("this was to be refused") };
        assert_eq!(
            self.ledger.custody.violations().count(),
            before + 1,
            "the attempt is recorded: {refusal:?}"
        );
        refusal
    }

    pub(crate) fn epic(&mut self, number: u32) -> EpicId {
        if let Some(epic) = self.ledger.plan.epic_by_number(self.project, number) {
            return epic.id;
        }
        let (user, project) = (self.user.clone(), self.project);
        let add = AddEpic { project, number, title: format!("Epic {number}"), ..AddEpic::default() };
        self.must(&user, |draft| plan::add_epic(draft, add)).id
    }

    /// With one criterion, in the epic of its major number.
    pub(crate) fn story(&mut self, number: &str) -> StoryId {
        let number = number.parse().expect("a number");
        if let Some(story) = self.ledger.plan.story_by_number(self.project, number) {
            return story.id;
        }
        let epic = self.epic(u32::from(number.major));
        let add = AddStory {
            epic,
            number,
            title: format!("Story {number}"),
            description: None,
            criteria: vec![criterion("AC-1", "it works")],
            estimated_hours: None,
            metadata: JsonText::empty_object(),
        };
        let user = self.user.clone();
        self.must(&user, |draft| plan::add_story(draft, add)).id
    }

    pub(crate) fn depend(&mut self, from: &str, on: &str) -> Decided<()> {
        let edge = Edge::Story { from: self.story(from), on: self.story(on) };
        let user = self.user.clone();
        self.ask(&user, |draft| plan::depend(draft, edge)).map(|_| ())
    }

    pub(crate) fn depend_epics(&mut self, from: u32, on: u32) -> Decided<()> {
        let edge = Edge::Epic { from: self.epic(from), on: self.epic(on) };
        let user = self.user.clone();
        self.ask(&user, |draft| plan::depend(draft, edge)).map(|_| ())
    }

    pub(crate) fn set(&mut self, setting: &str, value: bool) {
        let user = self.user.clone();
        let settings = [(setting.to_owned(), SettingValue::Flag(value))].into();
        self.must(&user, |draft| tenancy::update(draft, TenantEdit { settings, ..TenantEdit::default() }));
    }

    pub(crate) fn echo(&self, story: StoryId) -> ContractEcho {
        let story = self.ledger.plan.story(story).expect("the story exists");
        ContractEcho {
            story_title: Some(story.title.clone()),
            ac_count: Some(u64::try_from(story.criteria.len()).expect("few criteria")),
        }
    }

    pub(crate) fn contract(&mut self, by: &Caller, story: StoryId) {
        let echo = self.echo(story);
        self.must(by, |draft| work::contract(draft, story, echo));
    }

    /// Up to implementing.
    pub(crate) fn start(&mut self, by: &Caller, story: StoryId) {
        self.contract(by, story);
        self.must(by, |draft| work::claim(draft, story));
        self.must(by, |draft| work::start(draft, story, None));
    }

    /// Up to reported, by ann and the reporter.
    pub(crate) fn report(&mut self, story: StoryId) {
        let (ann, reporter) = (self.ann.clone(), self.reporter.clone());
        self.start(&ann, story);
        self.must(&reporter, |draft| work::report(draft, story, ReportDone::default()));
    }

    pub(crate) fn review(&mut self, story: StoryId) {
        let reviewer = self.reviewer.clone();
        self.must(&reviewer, |draft| work::complete_review(draft, story, a_review()));
    }

    pub(crate) fn verify(&mut self, story: StoryId) {
        let verifier = self.verifier.clone();
        self.must(&verifier, |draft| work::verify(draft, story, Judge::default()));
    }

    /// The whole way.
    pub(crate) fn finish(&mut self, story: StoryId) {
        self.report(story);
        self.review(story);
        self.verify(story);
    }

    pub(crate) fn track(&self, story: StoryId) -> &Track {
        self.ledger.work.track(story).expect("the story exists")
    }

    pub(crate) fn standing(&self, story: StoryId) -> (AgentStatus, VerifiedStatus) {
        let standing = self.track(story).standing;
        (standing.agent, standing.verified)
    }

    pub(crate) fn ready(&self) -> Vec<String> {
        self.ledger.work.ready(Some(self.project)).iter().map(|(_, number, _)| number.to_string()).collect()
    }

    pub(crate) fn blocked(&self) -> Vec<String> {
        self.ledger.work.blocked(Some(self.project)).iter().map(|(_, number, _)| number.to_string()).collect()
    }

    /// The history breaks no rule, and reading it back from text gives the same ledger.
    pub(crate) fn hold(&self) {
        assert_eq!(broken(&self.entries), None);
        let mut again = Ledger::default();
        for entry in &self.entries {
            let text = serde_json::to_string(entry).expect("entries are text and back");
            let read: Entry = serde_json::from_str(&text).expect("entries are text and back");
            assert_eq!(read, *entry);
            again.evolve(&read);
        }
        assert_eq!(format!("{again:?}"), format!("{:?}", self.ledger), "replay gives the same ledger");
    }
}

pub(crate) fn criterion(id: &str, text: &str) -> Criterion {
    Criterion {
        ac_id: id.to_owned(),
        criterion: text.to_owned(),
        verification: None,
        extra: JsonText::empty_object(),
        status: CriterionStatus::Pending,
    }
}

pub(crate) fn a_review() -> CompleteReview {
    CompleteReview { review_type: "enhanced".to_owned(), ..CompleteReview::default() }
}
