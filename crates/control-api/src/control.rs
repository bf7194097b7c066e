//! The one door from a face to the host: in this process today, over HTTP for a remote one.

use crate::agents::AgentView;
use crate::commands::{Clean, LandRun, Pass, ResumeRun, SettingValue, StartRun, StopRun};
use crate::control_loop::{ControlStatus, InitControl, InitReport, Measurements, SetupReport, StartControl};
use crate::errors::Fault;
use crate::events::Watcher;
use crate::goal_setup::{AddItem, AddedItem, GoalInitReport, GoalSetup, GoalStatus, InitGoal, StartGoal};
use crate::inbox::{
    ApproveRun, HandBackRun, InboxEntry, RejectRun, SkipRun, TakeOverRun, TakenOver, WaiveRun,
};
use crate::keeping::{CheckedOut, CheckoutRun, ExportRun, Exported, KeptView, Undo, UndoReport};
use crate::money::{AskCost, CostReport};
use crate::notify::NotifyReport;
use crate::orchestration::{Orchestrated, StartOrchestration};
use crate::roadmap_loop::{RoadmapStatus, StartRoadmap};
use crate::roadmap_setup::{
    AppliedCloseout, CloseoutRoadmap, InitRoadmap, MigrateRoadmap, RoadmapInitReport, RoadmapInspection,
    RoadmapMigration,
};
use crate::stories::StoryApi;
use crate::views::{
    CleanReport, Diagnosis, Diff, ExplanationView, Log, RunLine, RunOutcome, RunView, SettingsView,
    TrustView, Verification, VerificationCheck,
};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + 'a>>;

pub trait Control {
    /// Starts a run and drives it to its end, or until it is interrupted.
    fn start<'a>(&'a self, command: StartRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Starts a control loop and drives it to its end, or until it is interrupted.
    fn start_control<'a>(&'a self, command: StartControl, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Sets a repository up for a control loop, or refreshes what was set up.
    fn init_control(&self, command: InitControl) -> Reply<'_, InitReport>;
    /// Whether the repository is set up for a control loop.
    fn control_setup<'a>(&'a self, repository: &'a Path) -> Reply<'a, SetupReport>;
    /// One control loop, or the newest of the repository.
    fn control_status<'a>(&'a self, run: Option<&'a str>, repository: &'a Path) -> Reply<'a, ControlStatus>;
    fn measurements<'a>(&'a self, run: &'a str) -> Reply<'a, Measurements>;
    /// Starts a goal loop and drives it until it ends or waits for a person, or until it is interrupted.
    fn start_goal<'a>(&'a self, command: StartGoal, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Writes the files a goal loop needs where they are missing.
    fn init_goal(&self, command: InitGoal) -> Reply<'_, GoalInitReport>;
    /// What a goal loop would work on here; settings are as for `start_goal`.
    fn goal_setup<'a>(
        &'a self,
        repository: &'a Path,
        given: Vec<(String, SettingValue)>,
    ) -> Reply<'a, GoalSetup>;
    /// Puts a new item at the end of the queue.
    fn add_item(&self, command: AddItem) -> Reply<'_, AddedItem>;
    /// One goal loop, or the newest of the repository.
    fn goal_status<'a>(&'a self, run: Option<&'a str>, repository: &'a Path) -> Reply<'a, GoalStatus>;
    /// Starts a roadmap loop and drives it until its roadmap is complete, or something stands in the way.
    fn start_roadmap<'a>(&'a self, command: StartRoadmap, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// One roadmap loop, or the newest of the repository.
    fn roadmap_status<'a>(&'a self, run: Option<&'a str>, repository: &'a Path) -> Reply<'a, RoadmapStatus>;
    /// Sets a control plane up, or begins the next roadmap of a finished one.
    fn init_roadmap(&self, command: InitRoadmap) -> Reply<'_, RoadmapInitReport>;
    /// An answers file for `init_roadmap` with everything in it, as TOML.
    fn roadmap_answers(&self) -> &'static str;
    /// What a control plane is, whether it can be run, and what a run would do first. Writes nothing.
    fn inspect_roadmap<'a>(&'a self, directory: &'a Path) -> Reply<'a, RoadmapInspection>;
    /// Brings a control plane of an older contract into a form that can be run.
    fn migrate_roadmap(&self, command: MigrateRoadmap) -> Reply<'_, RoadmapMigration>;
    /// Applies an approved status-only closeout to a work tree.
    fn closeout_roadmap(&self, command: CloseoutRoadmap) -> Reply<'_, AppliedCloseout>;
    /// Works through the stories of a project until everything is verified or waits for a person.
    fn orchestrate<'a>(
        &'a self,
        command: StartOrchestration,
        queue: &'a dyn StoryApi,
        watcher: &'a dyn Watcher,
    ) -> Reply<'a, Orchestrated>;
    /// Takes an unfinished or ended run up again and drives it.
    fn resume<'a>(&'a self, command: ResumeRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// The unfinished runs nobody drives, as `resume` takes them.
    fn interrupted(&self) -> Reply<'_, Vec<RunLine>>;
    fn stop(&self, command: StopRun) -> Reply<'_, RunLine>;
    fn land<'a>(&'a self, command: LandRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Everything that waits for a person, the newest last; of one repository where one is given.
    fn inbox<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Vec<InboxEntry>>;
    /// Takes an ended run up again with a person's word, for the record alone.
    fn leave_answer(&self, command: ResumeRun) -> Reply<'_, RunLine>;
    /// Says yes to exactly one tree, which is then landed.
    fn approve<'a>(&'a self, command: ApproveRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Says no to what the run waits with, and lets the maker know why.
    fn reject<'a>(&'a self, command: RejectRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Lets findings about the gate be, and drives on once none is open.
    fn waive<'a>(&'a self, command: WaiveRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Lets a run be: it waits no more.
    fn skip(&self, command: SkipRun) -> Reply<'_, RunLine>;
    /// Gives a person a worktree with the maker's last content; nobody else goes on meanwhile.
    fn take_over<'a>(&'a self, command: TakeOverRun, watcher: &'a dyn Watcher) -> Reply<'a, TakenOver>;
    /// Takes the person's work as the change of a round, and drives on.
    fn hand_back<'a>(&'a self, command: HandBackRun, watcher: &'a dyn Watcher) -> Reply<'a, RunOutcome>;
    /// Gives a run back as it was taken over.
    fn let_go<'a>(&'a self, run: &'a str) -> Reply<'a, RunLine>;
    /// Every run, the newest first; of one repository where one is given.
    fn list<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Vec<RunLine>>;
    /// All of a run, or one iteration of a control loop.
    fn show<'a>(&'a self, run: &'a str, iteration: Option<&'a str>) -> Reply<'a, RunView>;
    fn log<'a>(&'a self, run: &'a str, from_version: u64) -> Reply<'a, Log>;
    /// Returns when there may be something from this version on, or nobody drives the run any more.
    fn log_changed<'a>(&'a self, run: &'a str, from_version: u64) -> Reply<'a, ()>;
    /// The change of one pass. Where none is named: of a task loop's last round, which holds all that was done, or of a
    /// whole control loop.
    fn diff<'a>(&'a self, run: &'a str, pass: Option<Pass>) -> Reply<'a, Diff>;
    fn explain<'a>(&'a self, run: &'a str) -> Reply<'a, ExplanationView>;
    /// The repository is looked for where it was, or where somebody says it is now.
    fn verify<'a>(&'a self, run: &'a str, moved_to: Option<&'a Path>) -> Reply<'a, Verification>;
    /// Runs the recorded checks once more on the tree that counts and says where they differ, one line for each.
    fn rerun<'a>(&'a self, run: &'a str) -> Reply<'a, Vec<VerificationCheck>>;
    /// The same for a run in a file, without anything else of this machine.
    fn verify_archive<'a>(&'a self, file: &'a Path) -> Reply<'a, Verification>;
    /// Writes a run into one file that proves itself elsewhere.
    fn export(&self, command: ExportRun) -> Reply<'_, Exported>;
    /// Gives a person an ordinary worktree of any tree of a run, and leaves the run alone.
    fn checkout(&self, command: CheckoutRun) -> Reply<'_, CheckedOut>;
    fn clean(&self, command: Clean) -> Reply<'_, CleanReport>;
    /// What is kept in a repository and can be given back, the newest first.
    fn kept<'a>(&'a self, repository: &'a Path) -> Reply<'a, Vec<KeptView>>;
    /// Gives back what `clean` took.
    fn undo(&self, command: Undo) -> Reply<'_, UndoReport>;
    /// What the repository's own settings would run, and whether that is trusted.
    fn trust_state<'a>(&'a self, repository: &'a Path) -> Reply<'a, TrustView>;
    fn trust<'a>(&'a self, repository: &'a Path) -> Reply<'a, TrustView>;
    fn distrust<'a>(&'a self, repository: &'a Path) -> Reply<'a, TrustView>;
    fn diagnose<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Diagnosis>;
    /// The agent programs Windlass knows, found on this machine or not.
    fn agents<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, Vec<AgentView>>;
    /// What agents used, added up as asked.
    fn cost(&self, question: AskCost) -> Reply<'_, CostReport>;
    /// Tries every channel for notifications that is set.
    fn notify_test<'a>(&'a self, repository: Option<&'a Path>) -> Reply<'a, NotifyReport>;
    /// Sends once more what was given up.
    fn notify_retry(&self) -> Reply<'_, NotifyReport>;
    /// Lets be what was given up.
    fn notify_forget(&self) -> Reply<'_, NotifyReport>;
    fn settings<'a>(
        &'a self,
        repository: Option<&'a Path>,
        given: Vec<(String, SettingValue)>,
    ) -> Reply<'a, SettingsView>;
}
