//! Everything the handlers of one run's effects share: where things are and what they are done with. Cheap to clone;
//! holds no state of the run, which lives in the journal.

use crate::control_plane::Memory;
use crate::evidence::EvidenceStore;
use crate::fault::bug;
use crate::notify::Plan;
use crate::prices::Prices;
use crate::settings::Environment;
use crate::state_dir::StateDir;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use windlass_agent_drivers::AgentChoice;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, CommitId, Repository, TreeId};
use windlass_journal::SqliteJournal;
use windlass_process_supervisor::{ChildSpec, ChildStdin, KeeperProgram, Limits, Redaction, Secrets};
use windlass_protocols::effect::StepLimits;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::spec::ControlSpec;
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;
use windlass_protocols::protocol::judged_task::spec::{Adopted, TaskSpec};
use windlass_protocols::protocol::roadmap_rounds::spec::RoadmapSpec;
use windlass_protocols::{EffectId, Role, RunId};

#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    pub(crate) run: RunId,
    pub(crate) spec: Spec,
    pub(crate) state: StateDir,
    pub(crate) evidence: EvidenceStore,
    pub(crate) repository: Repository,
    /// What was read of a roadmap loop's control plane and cannot have changed.
    pub(crate) planes: Memory,
    pub(crate) environment: Environment,
    /// This program, which is also the keeper of children and the player of scripts.
    pub(crate) program: PathBuf,
    /// Who landed commits are by.
    pub(crate) author: String,
    /// Where the other runs are whose spending counts against a cap of the day or the repository.
    pub(crate) journal: SqliteJournal,
    pub(crate) prices: Prices,
    /// So many equal tool calls in a row end an agent; 0 for any number.
    pub(crate) most_repeats: u64,
    /// Who is told of what becomes of the run.
    pub(crate) notify: Plan,
}

impl RunContext {
    /// For handlers that only a task loop asks for.
    pub(crate) fn task_loop(&self) -> Result<&TaskSpec, Fault> {
        match &self.spec {
            Spec::JudgedTask(spec) => Ok(spec),
            Spec::FeedbackControl(_) | Spec::GoalContract(_) | Spec::RoadmapRounds(_) => {
                Err(bug("a step of a task loop is asked for by another loop"))
            }
        }
    }

    /// For handlers that only a control loop asks for.
    pub(crate) fn control_loop(&self) -> Result<&ControlSpec, Fault> {
        match &self.spec {
            Spec::FeedbackControl(spec) => Ok(spec),
            Spec::JudgedTask(_) | Spec::GoalContract(_) | Spec::RoadmapRounds(_) => {
                Err(bug("a step of a control loop is asked for by another loop"))
            }
        }
    }

    /// For handlers that only a goal loop asks for.
    pub(crate) fn goal_loop(&self) -> Result<&GoalSpec, Fault> {
        match &self.spec {
            Spec::GoalContract(spec) => Ok(spec),
            Spec::JudgedTask(_) | Spec::FeedbackControl(_) | Spec::RoadmapRounds(_) => {
                Err(bug("a step of a goal loop is asked for by another loop"))
            }
        }
    }

    /// For handlers that only a roadmap loop asks for.
    pub(crate) fn roadmap_loop(&self) -> Result<&RoadmapSpec, Fault> {
        match &self.spec {
            Spec::RoadmapRounds(spec) => Ok(spec),
            Spec::JudgedTask(_) | Spec::FeedbackControl(_) | Spec::GoalContract(_) => {
                Err(bug("a step of a roadmap loop is asked for by another loop"))
            }
        }
    }

    /// What a run brought along that another program began.
    pub(crate) fn adopted(&self) -> Option<&Adopted> {
        match &self.spec {
            Spec::JudgedTask(spec) => spec.adopted.as_ref(),
            Spec::FeedbackControl(_) | Spec::GoalContract(_) | Spec::RoadmapRounds(_) => None,
        }
    }

    pub(crate) fn run_dir(&self) -> &Path {
        Path::new(&self.spec.place().run_dir)
    }

    pub(crate) fn round_dir(&self, round: u32) -> PathBuf {
        self.run_dir().join("rounds").join(format!("round-{round}"))
    }

    /// The maker's tree, or the one tree all checkers look at in turn.
    pub(crate) fn worktree(&self, role: Role) -> PathBuf {
        self.run_dir().join("worktrees").join(self.place_of(role))
    }

    fn place_of(&self, role: Role) -> &'static str {
        match (&self.spec, role.may_write()) {
            (Spec::JudgedTask(_), true) => "doer",
            (Spec::JudgedTask(_), false) => "judge",
            (Spec::FeedbackControl(_), true) => "actuator",
            (Spec::FeedbackControl(_), false) => "controller",
            (Spec::GoalContract(_), true) => "builder",
            (Spec::GoalContract(_), false) => "evaluator",
            // Its rounds have worktrees of their own, named in the state file.
            (Spec::RoadmapRounds(_), true) => "implementer",
            (Spec::RoadmapRounds(_), false) => "reviewer",
        }
    }

    /// Where the sensor of this number of the node at this depth measures.
    pub(crate) fn sensor_worktree(&self, depth: u32, number: usize) -> PathBuf {
        self.run_dir().join("worktrees").join(format!("sensor-{depth}-{number}"))
    }

    pub(crate) fn sensor_index_key(&self, depth: u32, number: usize) -> String {
        format!("{}-sensor-{depth}-{number}", self.run)
    }

    /// Names the private index of a worktree.
    pub(crate) fn index_key(&self, role: Role) -> String {
        format!("{}-{}", self.run, self.place_of(role))
    }

    /// Under `refs/windlass/kept/`: what a worktree held when it was taken away.
    pub(crate) fn kept_name(&self, role: Role) -> String {
        format!("{}/{}", self.run, self.place_of(role))
    }

    pub(crate) fn keeper(&self) -> KeeperProgram {
        KeeperProgram {
            program: self.program.clone(),
            args: vec![OsString::from("__keep")],
            // Empty but for a test that wants the keeper itself to crash.
            environment: windlass_crash_points::child_environment(),
        }
    }

    /// Marks every process of an effect, so that none can get away unseen.
    pub(crate) fn cookie(&self, effect: EffectId) -> String {
        format!("{}/{effect}", self.run)
    }

    /// What the user lets every child see: names on the allow list, nothing else.
    pub(crate) fn child_environment(&self) -> BTreeMap<OsString, OsString> {
        self.environment_where(windlass_agent_drivers::is_passed_through)
    }

    /// The same, and what this agent program needs of its user, all but its secrets.
    pub(crate) fn agent_environment(&self, choice: &AgentChoice) -> BTreeMap<OsString, OsString> {
        self.environment_where(|name| {
            windlass_agent_drivers::is_passed_to(choice, name) && !windlass_agent_drivers::is_secret(name)
        })
    }

    /// What of it is secret: handed to the child without being stored anywhere.
    pub(crate) fn secrets(&self, choice: &AgentChoice) -> Secrets {
        self.environment_where(|name| {
            windlass_agent_drivers::is_passed_to(choice, name) && windlass_agent_drivers::is_secret(name)
        })
    }

    /// Takes the secrets of an agent out of what it leaves.
    pub(crate) fn redaction(&self, choice: &AgentChoice) -> Redaction {
        let secrets = self.secrets(choice);
        Redaction::new(secrets.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())))
    }

    fn environment_where(&self, allowed: impl Fn(&str) -> bool) -> BTreeMap<OsString, OsString> {
        self.environment
            .0
            .iter()
            .filter(|(name, _)| allowed(name))
            .map(|(name, value)| (OsString::from(name), OsString::from(value)))
            .collect()
    }

    pub(crate) fn child(&self, effect: EffectId, limits: StepLimits) -> ChildSpec {
        ChildSpec {
            program: PathBuf::new(),
            args: Vec::new(),
            directory: PathBuf::new(),
            environment: self.child_environment(),
            secret_names: Vec::new(),
            stdin: ChildStdin::Nothing,
            limits: Limits {
                total_ms: limits.total.0.max(1),
                idle_ms: limits.idle.map(|idle| idle.0),
                output_bytes: limits.output_bytes,
                memory_bytes: self.spec.place().fence.memory_bytes,
                processes: self.spec.place().fence.processes,
                ..Limits::default()
            },
            sandbox: None,
            overlay: None,
            cookie: self.cookie(effect),
            outlasts_power_cuts: false,
        }
    }

    /// A child that measures: it finds no program in a place that a maker's tree can name.
    pub(crate) fn check(&self, effect: EffectId, limits: StepLimits) -> ChildSpec {
        let mut spec = self.child(effect, limits);
        spec.environment.insert(OsString::from("PATH"), crate::effect_runner::search_path_of_checks(self));
        spec
    }

    pub(crate) fn base(&self, tree: &windlass_protocols::TreeId) -> Result<Commit, Fault> {
        Ok(Commit { id: git_commit(&self.spec.place().base)?, tree: git_tree(tree)? })
    }
}

/// Ids cross the border between the journal's words and git's as text; a damaged one is refused here.
pub(crate) fn git_tree(tree: &windlass_protocols::TreeId) -> Result<TreeId, Fault> {
    TreeId::parse(tree.as_str()).map_err(crate::fault::git_fault)
}

pub(crate) fn git_commit(commit: &windlass_protocols::CommitId) -> Result<CommitId, Fault> {
    CommitId::parse(commit.as_str()).map_err(crate::fault::git_fault)
}
