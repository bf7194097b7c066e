//! What a face talks to in this process: the journal, the evidence and git of this machine behind the `Control` trait.

use crate::context::RunContext;
use crate::control;
use crate::control_plane::Memory;
use crate::evidence::EvidenceStore;
use crate::fault::{MAKE_ROOM, file_fault, git_fault, lacks_room, with_causes};
use crate::notify::{Channel, Courier, Deliveries, Kit, Patience, Plan, desktop_is_there};
use crate::prices::Prices;
use crate::settings::{self, Environment, Settings};
use crate::shutdown::ShutdownListener;
use crate::state_dir::StateDir;
use std::path::{Path, PathBuf};
use windlass_control_api::agents::AgentView;
use windlass_control_api::commands::{Clean, LandRun, Pass, ResumeRun, SettingValue, StartRun, StopRun};
use windlass_control_api::compat::{Compat, MakeWorktrees};
use windlass_control_api::control_loop::{
    ControlStatus, InitControl, InitReport, Measurements, SetupReport, StartControl,
};
use windlass_control_api::events::Watcher;
use windlass_control_api::goal_setup::{
    AddItem, AddedItem, GoalInitReport, GoalSetup, GoalStatus, InitGoal, StartGoal,
};
use windlass_control_api::inbox::{
    ApproveRun, HandBackRun, InboxEntry, RejectRun, SkipRun, TakeOverRun, TakenOver, WaiveRun,
};
use windlass_control_api::keeping::{
    CheckedOut, CheckoutRun, ExportRun, Exported, KeptView, Undo, UndoReport,
};
use windlass_control_api::money::{AskCost, CostReport};
use windlass_control_api::notify::NotifyReport;
use windlass_control_api::orchestration::{Orchestrated, StartOrchestration};
use windlass_control_api::roadmap_loop::{RoadmapStatus, StartRoadmap};
use windlass_control_api::roadmap_setup::{
    AppliedCloseout, CloseoutRoadmap, InitRoadmap, MigrateRoadmap, RoadmapInitReport, RoadmapInspection,
    RoadmapMigration,
};
use windlass_control_api::stories::StoryApi;
use windlass_control_api::views::{
    CleanReport, Diagnosis, Diff, ExplanationView, Log, RunLine, RunOutcome, RunView, SettingsView,
    TrustView, Verification, VerificationCheck,
};
use windlass_control_api::{Code, Control, Fault, Reply};
use windlass_git_workspaces::{Checkout, Git, Repository};
use windlass_journal::{OpenError, SqliteJournal};
use windlass_process_supervisor::side_by_side;
use windlass_protocols::RunId;
use windlass_protocols::protocol::Spec;

/// What a command wants of the state directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It records something.
    Change,
    /// It only looks: a directory that cannot be written is good enough.
    Look,
}

pub struct Host {
    pub(crate) environment: Environment,
    pub(crate) program: PathBuf,
    pub(crate) state: StateDir,
    pub(crate) evidence: EvidenceStore,
    pub(crate) journal: SqliteJournal,
    pub(crate) shutdown: ShutdownListener,
    /// Looked for already, where a command is likely to need it.
    git: Option<Result<Git, Fault>>,
    pub(crate) courier: Courier,
}

impl Drop for Host {
    /// The threads that send notifications are ours: they get a moment for what is still to be sent.
    fn drop(&mut self) {
        self.courier.finish(Patience::Usual);
    }
}

impl Host {
    /// Opens the state directory and the journal in it, making both if they are not there.
    ///
    /// `program` is this program's own file: it keeps children and plays scripts under hidden commands.
    pub fn open(environment: Environment, program: PathBuf, access: Access) -> Result<Self, Fault> {
        let path = environment.state_directory().ok_or_else(|| {
            Fault::new(
                Code::FileSystem,
                "there is no place for the journal: neither HOME nor WINDLASS_STATE_DIR is set",
            )
            .hint("set WINDLASS_STATE_DIR to a directory of your own")
        })?;
        // Agents are started elsewhere and are told paths in it: a relative one would mean another place to each.
        let path = std::path::absolute(&path).map_err(|error| file_fault("find", &path, &error))?;
        let state = StateDir::open(path)?;
        let open_journal = || match SqliteJournal::open(state.journal()) {
            Err(OpenError::NotWritable { .. }) if access == Access::Look && state.journal().is_file() => {
                SqliteJournal::open_read_only(state.journal())
            }
            opened => opened,
        };
        let (journal, git) = match access {
            Access::Look => (open_journal(), None),
            // Git takes as long to say its version as the journal takes to open.
            Access::Change => {
                let (journal, git) = side_by_side(open_journal, || locate_git(&environment));
                (journal, Some(git))
            }
        };
        let journal = journal.map_err(|error| open_fault(error, &state))?;
        let evidence = EvidenceStore::new(state.evidence());
        let shutdown = ShutdownListener::default();
        let kit = Kit { environment: environment.clone(), program: program.clone() };
        let courier = Courier::new(Deliveries::at(state.notify()), kit, journal.clone());
        if access == Access::Change {
            courier.look_for_leftovers();
        }
        Ok(Self { environment, program, state, evidence, journal, shutdown, git, courier })
    }

    pub(crate) fn git(&self) -> Result<Git, Fault> {
        self.git.clone().unwrap_or_else(|| locate_git(&self.environment))
    }

    pub(crate) fn repository(&self, checkout: Checkout) -> Result<Repository, Fault> {
        let control = self.state.control(&checkout.repository_key());
        Repository::open(self.git()?, checkout, &control).map_err(git_fault)
    }

    pub(crate) fn settings_for(
        &self,
        work_tree: Option<&Path>,
        given: &[(String, SettingValue)],
    ) -> Result<Settings, Fault> {
        settings::resolve(&self.environment, work_tree, given)
    }

    /// What the handlers of a run's effects share.
    pub(crate) fn run_context(
        &self,
        run: RunId,
        spec: Spec,
        repository: Repository,
        settings: &Settings,
    ) -> Result<RunContext, Fault> {
        // Only runs of older versions do not know their author.
        let author = spec.place().author.clone().or_else(|| settings.text("author").map(str::to_owned));
        let prices = Prices::parse(&settings.list("prices"))
            .map_err(|error| Fault::new(Code::BadArgument, format!("the setting `prices`: {error}")))?;
        Ok(RunContext {
            run,
            spec,
            state: self.state.clone(),
            evidence: self.evidence.clone(),
            repository,
            planes: Memory::default(),
            environment: self.environment.clone(),
            program: self.program.clone(),
            author: author.unwrap_or_default(),
            journal: self.journal.clone(),
            prices,
            most_repeats: settings.number("max-repeats").unwrap_or(0),
            notify: self.notify_plan(Plan::of(settings)),
        })
    }

    /// Where there is no desktop, there is no such channel.
    pub(crate) fn notify_plan(&self, mut plan: Plan) -> Plan {
        let shown = desktop_is_there(&self.environment).is_ok();
        plan.channels.retain(|channel| shown || *channel != Channel::Desktop);
        plan
    }

    /// Who asks, for the record.
    pub(crate) fn person(&self) -> String {
        let names = ["USER", "LOGNAME"];
        names.iter().find_map(|name| self.environment.get(name)).unwrap_or("somebody").to_owned()
    }
}

pub(crate) fn locate_git(environment: &Environment) -> Result<Git, Fault> {
    let path = environment.get("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    Git::locate(path.as_ref()).map_err(git_fault)
}

fn open_fault(error: OpenError, state: &StateDir) -> Fault {
    if let OpenError::NotWritable { why, .. } = &error {
        return state.unusable(why);
    }
    let hint = match error {
        _ if lacks_room(&error) => MAKE_ROOM,
        OpenError::Full { .. } => "free space there; WINDLASS_STATE_DIR chooses another place",
        _ => "`windlass doctor` names the file; WINDLASS_STATE_DIR chooses another place",
    };
    Fault::new(Code::JournalUnavailable, with_causes(&error))
        .kept("the journal file is left as it was found")
        .hint(hint)
}

/// Whatever goes wrong with a run that was named is told with that name.
fn about<'a, T: 'a>(run: &str, asked: impl Future<Output = Result<T, Fault>> + 'a) -> Reply<'a, T> {
    let (run, asked) = (run.to_owned(), Box::pin(asked));
    Box::pin(async move { asked.await.map_err(|fault| fault.about(&run)) })
}

impl Compat for Host {
    fn make_worktrees(&self, command: MakeWorktrees) -> Reply<'_, PathBuf> {
        Box::pin(async move { control::compat::make_worktrees(self, &command).await })
    }
}

impl Control for Host {
    fn start<'a>(&'a self, command: StartRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        Box::pin(control::start::start(self, command, watcher))
    }

    fn start_control<'a>(&'a self, command: StartControl, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        Box::pin(control::control_loop::start::start(self, command, watcher))
    }

    fn init_control(&self, command: InitControl) -> Reply<'_, InitReport> {
        Box::pin(async move { control::control_loop::init::init(&command) })
    }

    fn control_setup<'a>(&'a self, repository: &'a Path) -> Reply<'a, SetupReport> {
        Box::pin(async { control::control_loop::look::setup(self, repository).await })
    }

    fn control_status<'a>(&'a self, run: Option<&'a str>, repository: &'a Path) -> Reply<'a, ControlStatus> {
        Box::pin(control::control_loop::look::status(self, run, repository))
    }

    fn measurements<'a>(&'a self, run: &'a str) -> Reply<'a, Measurements> {
        Box::pin(control::control_loop::look::measurements(self, run))
    }

    fn start_goal<'a>(&'a self, command: StartGoal, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        Box::pin(control::goal_loop::start::start(self, command, watcher))
    }

    fn init_goal(&self, command: InitGoal) -> Reply<'_, GoalInitReport> {
        Box::pin(async move { control::goal_loop::init::init(&command) })
    }

    fn goal_setup<'a>(
        &'a self,
        repository: &'a Path,
        given: Vec<(String, SettingValue)>,
    ) -> Reply<'a, GoalSetup> {
        Box::pin(async move { control::goal_loop::look::setup(self, repository, &given).await })
    }

    fn add_item(&self, command: AddItem) -> Reply<'_, AddedItem> {
        Box::pin(async move { control::goal_loop::add::add(&command) })
    }

    fn goal_status<'a>(&'a self, run: Option<&'a str>, repository: &'a Path) -> Reply<'a, GoalStatus> {
        Box::pin(control::goal_loop::look::status(self, run, repository))
    }

    fn start_roadmap<'a>(&'a self, command: StartRoadmap, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        Box::pin(control::roadmap_loop::start::start(self, command, watcher))
    }

    fn roadmap_status<'a>(&'a self, run: Option<&'a str>, repository: &'a Path) -> Reply<'a, RoadmapStatus> {
        Box::pin(control::roadmap_loop::look::status(self, run, repository))
    }

    fn init_roadmap(&self, command: InitRoadmap) -> Reply<'_, RoadmapInitReport> {
        Box::pin(async move { control::roadmap_loop::init::init(self, &command).await })
    }

    fn roadmap_answers(&self) -> &'static str {
        control::roadmap_loop::init::example()
    }

    fn inspect_roadmap<'a>(&'a self, directory: &'a Path) -> Reply<'a, RoadmapInspection> {
        Box::pin(async move { control::roadmap_loop::inspect::inspect(self, directory).await })
    }

    fn migrate_roadmap(&self, command: MigrateRoadmap) -> Reply<'_, RoadmapMigration> {
        Box::pin(async move { control::roadmap_loop::migrate::migrate(self, &command).await })
    }

    fn closeout_roadmap(&self, command: CloseoutRoadmap) -> Reply<'_, AppliedCloseout> {
        Box::pin(async move { control::roadmap_loop::closeout::closeout(&command) })
    }

    fn orchestrate<'a>(
        &'a self,
        command: StartOrchestration,
        queue: &'a dyn StoryApi,
        watcher: &'a dyn Watcher,
    ) -> Reply<'a, Orchestrated> {
        Box::pin(control::stories::orchestrate(self, command, queue, watcher))
    }

    fn resume<'a>(&'a self, command: ResumeRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        about(&command.run.clone(), control::resume::resume(self, command, watcher))
    }

    fn interrupted(&self) -> Reply<'_, Vec<RunLine>> {
        Box::pin(control::queries::interrupted(self))
    }

    fn stop(&self, command: StopRun) -> Reply<'_, RunLine> {
        about(&command.run.clone(), control::resume::stop(self, command))
    }

    fn land<'a>(&'a self, command: LandRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        about(&command.run.clone(), control::resume::land(self, command, watcher))
    }

    fn inbox<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Vec<InboxEntry>> {
        Box::pin(control::inbox::inbox(self, repository))
    }

    fn leave_answer(&self, command: ResumeRun) -> Reply<'_, RunLine> {
        about(&command.run.clone(), control::people::leave_answer(self, command))
    }

    fn approve<'a>(&'a self, command: ApproveRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        about(&command.run.clone(), control::people::approve(self, command, watcher))
    }

    fn reject<'a>(&'a self, command: RejectRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        about(&command.run.clone(), control::people::reject(self, command, watcher))
    }

    fn waive<'a>(&'a self, command: WaiveRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        about(&command.run.clone(), control::people::waive(self, command, watcher))
    }

    fn skip(&self, command: SkipRun) -> Reply<'_, RunLine> {
        about(&command.run.clone(), control::people::skip(self, command))
    }

    fn take_over<'a>(&'a self, command: TakeOverRun, watcher: &'a dyn Watcher) -> Reply<'a, TakenOver> {
        about(&command.run.clone(), control::take_over::take_over(self, command, watcher))
    }

    fn hand_back<'a>(&'a self, command: HandBackRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome> {
        about(&command.run.clone(), control::take_over::hand_back(self, command, watcher))
    }

    fn let_go<'a>(&'a self, run: &'a str) -> Reply<'a, RunLine> {
        about(run, control::people::let_go(self, run))
    }

    fn list<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Vec<RunLine>> {
        Box::pin(control::queries::list(self, repository))
    }

    fn show<'a>(&'a self, run: &'a str, iteration: Option<&'a str>) -> Reply<'a, RunView> {
        about(run, control::queries::show(self, run, iteration))
    }

    fn log<'a>(&'a self, run: &'a str, from_version: u64) -> Reply<'a, Log> {
        about(run, control::queries::log(self, run, from_version))
    }

    fn log_changed<'a>(&'a self, run: &'a str, from_version: u64) -> Reply<'a, ()> {
        about(run, control::queries::log_changed(self, run, from_version))
    }

    fn diff<'a>(&'a self, run: &'a str, pass: Option<Pass>) -> Reply<'a, Diff> {
        about(run, control::queries::diff(self, run, pass))
    }

    fn explain<'a>(&'a self, run: &'a str) -> Reply<'a, ExplanationView> {
        about(run, control::queries::explain(self, run))
    }

    fn verify<'a>(&'a self, run: &'a str, moved_to: Option<&'a Path>) -> Reply<'a, Verification> {
        about(run, control::verify::verify(self, run, moved_to))
    }

    fn rerun<'a>(&'a self, run: &'a str) -> Reply<'a, Vec<VerificationCheck>> {
        about(run, control::rerun::rerun(self, run))
    }

    fn verify_archive<'a>(&'a self, file: &'a Path) -> Reply<'a, Verification> {
        Box::pin(async move { control::verify_archive::verify(file) })
    }

    fn export(&self, command: ExportRun) -> Reply<'_, Exported> {
        about(&command.run.clone(), control::export::export(self, command))
    }

    fn checkout(&self, command: CheckoutRun) -> Reply<'_, CheckedOut> {
        about(&command.run.clone(), control::checkout::checkout(self, command))
    }

    fn clean(&self, command: Clean) -> Reply<'_, CleanReport> {
        Box::pin(control::clean::clean(self, command))
    }

    fn kept<'a>(&'a self, repository: &'a Path) -> Reply<'a, Vec<KeptView>> {
        Box::pin(async move { control::undo::list(self, repository) })
    }

    fn undo(&self, command: Undo) -> Reply<'_, UndoReport> {
        Box::pin(control::undo::undo(self, command))
    }

    fn trust_state<'a>(&'a self, repository: &'a Path) -> Reply<'a, TrustView> {
        Box::pin(async { control::trust::state(self, repository) })
    }

    fn trust<'a>(&'a self, repository: &'a Path) -> Reply<'a, TrustView> {
        Box::pin(async { control::trust::change(self, repository, control::trust::Decision::Trust) })
    }

    fn distrust<'a>(&'a self, repository: &'a Path) -> Reply<'a, TrustView> {
        Box::pin(async { control::trust::change(self, repository, control::trust::Decision::Distrust) })
    }

    fn diagnose<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Diagnosis> {
        Box::pin(control::diagnose::diagnose(self, repository))
    }

    fn agents<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Vec<AgentView>> {
        Box::pin(control::agents::agents(self, repository))
    }

    fn cost(&self, question: AskCost) -> Reply<'_, CostReport> {
        Box::pin(control::cost::cost(self, question))
    }

    fn notify_test<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, NotifyReport> {
        Box::pin(control::notify::test(self, repository))
    }

    fn notify_retry(&self) -> Reply<'_, NotifyReport> {
        Box::pin(control::notify::retry(self))
    }

    fn notify_forget(&self) -> Reply<'_, NotifyReport> {
        Box::pin(async { control::notify::forget(self) })
    }

    fn settings<'a>(
        &'a self,
        repository: Option<&'a Path>,
        given: Vec<(String, SettingValue)>,
    ) -> Reply<'a, SettingsView> {
        Box::pin(async move {
            let checkout = repository.and_then(|path| Checkout::discover(path).ok());
            let work_tree = checkout.as_ref().map(Checkout::work_tree);
            Ok(self.settings_for(work_tree, &given)?.view())
        })
    }
}
