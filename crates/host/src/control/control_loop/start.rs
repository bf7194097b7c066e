//! Starts a control loop: the set-up is read from the commit it begins at and pinned, everything is checked before the
//! first fact, so that a refusal leaves nothing behind.

use super::ground::{self, RUNS, Uncommitted};
use super::setup::{self, Setup};
use super::{InCommit, own_runs};
use crate::context::RunContext;
use crate::control::start::{begin, chosen, may_wait, new_run_id};
use crate::control::task_spec::{caps, chosen_agents, fence, gate_rules, patience};
use crate::control::{agents, disk_budget, trust};
use crate::effect_runner::author;
use crate::fault::git_fault;
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::settings::Settings;
use std::collections::BTreeMap;
use windlass_artifact_formats::control_loop::{BRANCH_PREFIX, RunId as RunName, branch_for, slug};
use windlass_control_api::control_loop::{KeepChoice, StartControl};
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::views::RunOutcome;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, Commit, CommitRequest, Moment, Repository};
use windlass_protocols::kernel::gate::GateRules;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::spec::{
    Actuator, CapRule, ControlSpec, Dialect, Keep, Node, Workplace,
};
use windlass_protocols::protocol::judged_task::spec::Place;
use windlass_protocols::{CommitId, Role, RunId, TaskId};

/// So many iterations without progress are enough, unless the user says otherwise.
const STEADY_LIMIT: u32 = 3;

pub(crate) async fn start(
    host: &Host,
    command: StartControl,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    if command.task.trim().is_empty() {
        return Err(Fault::new(Code::BadArgument, "the task text is empty").hint("say what is to be done"));
    }
    if command.in_place && command.allow_dirty {
        return Err(Fault::new(Code::BadArgument, "`--in-place` and `--allow-dirty` cannot go together")
            .hint("commit or stash your changes, or let the loop work in its own worktree"));
    }
    if let Some(name) = command.branch.as_deref().and_then(|branch| branch.strip_prefix("refs/heads/")) {
        return Err(Fault::new(Code::BadArgument, "`--branch` takes the name of a branch, not a reference")
            .kept("nothing was begun")
            .hint(format!("`--branch {name}`")));
    }
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &command.settings)?;
    for warning in &settings.warnings {
        watcher.hear(&Event::Notice { text: warning.clone() });
    }
    let repository = host.repository(checkout.clone())?;
    let wanted =
        Wanted { host, command: &command, settings: &settings, checkout: &checkout, repository: &repository };
    let (head, dirty) = wanted.base()?;
    ground::room(&repository, command.branch.as_deref())?;
    // Set-up files that are not committed yet are taken along with everything else.
    let base = Commit { tree: dirty.unwrap_or(head.tree), id: head.id };
    let setup = wanted.setup(&base)?;
    let common_dir = checkout.common_dir().to_string_lossy().into_owned();
    let open = own_runs::told(host, &common_dir, &setup.left_open).await?;
    for warning in setup.warnings.iter().chain(&open) {
        watcher.hear(&Event::Notice { text: warning.clone() });
    }
    trust::require_all(host, &checkout, (&settings, &setup.commands()), command.yes)?;
    let spec = wanted.spec(&base, setup)?;
    if command.dry_run {
        return Ok(dry_run(&spec));
    }
    for text in agents::require(host, chosen(&spec.place)).await? {
        watcher.hear(&Event::Notice { text });
    }
    disk_budget::hold_before_a_run(host, &settings, watcher).await;
    let run = new_run_id()?;
    let owner = Owner::this_process(run.as_str(), &format!("windlass control run {}", spec.task))?;
    let if_held = IfHeld::waiting(command.wait);
    let repository_lock = hold_repository(host, &spec.place.common_dir, &owner, if_held, watcher);
    let repository_lock = repository_lock.await.map_err(may_wait)?;
    let now = windlass_engine::Clock::now(&crate::clock::SystemClock);
    // Only whoever holds the repository sees all names that are taken.
    let placed = match own_runs::names_of_late(host, &common_dir, now).await {
        Ok(taken) => wanted.placed(run, taken),
        Err(fault) => Err(fault),
    };
    let outcome = match placed {
        Ok(context) => begin(host, context, &repository_lock, watcher).await,
        Err(fault) => Err(fault),
    };
    repository_lock.release(host, outcome).await
}

struct Wanted<'a> {
    host: &'a Host,
    command: &'a StartControl,
    settings: &'a Settings,
    checkout: &'a Checkout,
    repository: &'a Repository,
}

impl Wanted<'_> {
    fn base(&self) -> Result<(Commit, Option<windlass_git_workspaces::TreeId>), Fault> {
        let uncommitted =
            if self.command.allow_dirty { Uncommitted::TakenAlong } else { Uncommitted::Refused };
        let place = if self.command.in_place { Workplace::InPlace } else { Workplace::OwnWorktree };
        let (head, dirty) = ground::base(self.repository, &self.host.environment, (uncommitted, place))?;
        if self.command.in_place {
            ground::hold_to_the_bytes(self.repository, &head)?;
        }
        Ok((head, dirty))
    }

    fn setup(&self, base: &Commit) -> Result<Setup, Fault> {
        let mut setup = setup::read(&InCommit(self.repository, &base.tree)).map_err(|problems| {
            let uncommitted = setup::read(&super::InWorkTree(self.checkout.work_tree())).is_ok();
            let mut fault = Fault::new(Code::BadSettings, problems.join("\n")).kept("nothing was begun");
            if uncommitted {
                fault = fault.hint("the files are in your checkout, but not committed: commit them first");
            }
            fault.hint("`windlass control init` sets a repository up; `windlass control check` looks at it")
        })?;
        for (id, most) in &self.command.max_iterations {
            let nodes = setup.root.chain().map(|node| node.id.clone()).collect::<Vec<_>>();
            let Some(node) = node_named(&mut setup.root, id.as_deref()) else {
                let id = id.as_deref().unwrap_or_default();
                return Err(Fault::new(Code::BadArgument, format!("there is no node `{id}`"))
                    .hint(format!("the nodes are: {}", nodes.join(", "))));
            };
            node.max_iterations = *most;
        }
        Ok(setup)
    }

    fn spec(&self, base: &Commit, setup: Setup) -> Result<ControlSpec, Fault> {
        let (command, settings) = (self.command, self.settings);
        let mut roles = vec![Role::Controller, Role::Actuator];
        if setup.has_agent_sensors() {
            roles.push(Role::Sensor);
        }
        let (agents, fallbacks) = chosen_agents(settings, &command.directory, &roles)?;
        let text = |path: &std::path::Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| {
                Fault::new(Code::BadArgument, format!("the path {} is not valid UTF-8", path.display()))
            })
        };
        let branch = self.repository.current_branch().map_err(git_fault)?;
        let base_branch = match branch {
            Some(name) => name.trim_start_matches("refs/heads/").to_owned(),
            None => base.id.to_string(),
        };
        let mut caps = caps(settings);
        caps.rounds = setup.root.max_iterations;
        Ok(ControlSpec {
            task: TaskId::new(slug(&command.task)),
            text: command.task.clone(),
            caps,
            dialect: setup.dialect,
            run_name: String::new(),
            root: setup.root,
            cap_rule: if command.strict_original { CapRule::StrictOriginal } else { CapRule::JudgeTheLast },
            keep: match command.keep {
                Some(KeepChoice::Last) => Keep::Last,
                None if command.strict_original => Keep::Last,
                Some(KeepChoice::Best) | None => Keep::Best,
            },
            steady_limit: match command.steady_limit {
                Some(limit) => limit,
                None if command.strict_original => 0,
                None => STEADY_LIMIT,
            },
            patience: patience(settings),
            base_branch,
            workplace: if command.in_place { Workplace::InPlace } else { Workplace::OwnWorktree },
            taken_along: false,
            place: Place {
                repository: text(self.checkout.work_tree())?,
                common_dir: text(self.checkout.common_dir())?,
                run_dir: String::new(),
                base_ref: "HEAD".to_owned(),
                base: CommitId::new(base.id.as_str()),
                doer_branch: String::new(),
                judge_branch: String::new(),
                agents,
                fallbacks,
                prompts: BTreeMap::new(),
                author: settings.text("author").map(str::to_owned),
                fence: fence(settings, &self.command.directory),
                // The original looks at nothing of the kind.
                gate: if command.strict_original { GateRules::default() } else { gate_rules(settings) },
            },
        })
    }

    /// Resolves everything once more, now that no other run of this repository can move a branch or choose a name.
    fn placed(&self, run: RunId, taken: Vec<String>) -> Result<RunContext, Fault> {
        let (head, dirty) = self.base()?;
        let base = match &dirty {
            Some(tree) => self.take_along(&head, tree)?,
            None => head,
        };
        let setup = self.setup(&base)?;
        trust::require_all(self.host, self.checkout, (self.settings, &setup.commands()), self.command.yes)?;
        let mut spec = self.spec(&base, setup)?;
        if spec.dialect == Dialect::Hierarchical {
            spec.run_name = self.run_name(&base, taken)?;
        }
        spec.place.doer_branch = self.branch()?;
        spec.taken_along = dirty.is_some();
        let run_dir = self.checkout.work_tree().join(RUNS).join("control").join(run.as_str());
        spec.place.run_dir = run_dir.to_string_lossy().into_owned();
        let whole = Spec::FeedbackControl(Box::new(spec));
        self.host.run_context(run, whole, self.repository.clone(), self.settings)
    }

    fn branch(&self) -> Result<String, Fault> {
        if let Some(branch) = &self.command.branch {
            if self.repository.is_taken(&format!("refs/heads/{branch}")).map_err(git_fault)? {
                return Err(Fault::new(Code::BadArgument, format!("the branch {branch} is there already")));
            }
            ground::room(self.repository, Some(branch))?;
            return Ok(branch.clone());
        }
        // Whatever name is free, there is none where git has no room for any.
        ground::room(self.repository, None)?;
        let failed = std::cell::Cell::new(None);
        let branch = branch_for(&self.command.task, |branch| {
            self.repository.is_taken(&format!("refs/heads/{branch}")).unwrap_or_else(|error| {
                failed.set(Some(error));
                false
            })
        });
        match failed.into_inner() {
            Some(error) => Err(git_fault(error)),
            None => Ok(branch),
        }
    }

    /// The next free name of the day, over all branches of loops and all runs that are known: those from the same base must not
    /// share one.
    fn run_name(&self, base: &Commit, mut taken: Vec<String>) -> Result<String, Fault> {
        let directory = ".ai-loop/runs";
        taken.extend(self.repository.names_at(&base.tree, directory).map_err(git_fault)?);
        for branch in self.repository.branches_under(BRANCH_PREFIX).map_err(git_fault)? {
            let Ok(commit) = self.repository.resolve_commit(&format!("refs/heads/{branch}")) else {
                continue;
            };
            self.repository.import(&commit).map_err(git_fault)?;
            taken.extend(self.repository.names_at(&commit.tree, directory).map_err(git_fault)?);
        }
        let today = crate::clock::zoned().date();
        let part = |value: i8| u8::try_from(value).unwrap_or(1);
        let year = u16::try_from(today.year()).unwrap_or(1970);
        let name =
            RunName::next(year, part(today.month()), part(today.day()), taken.iter().map(String::as_str));
        Ok(name.to_string())
    }

    /// The user's uncommitted changes as a commit of their own, before the first iteration.
    fn take_along(&self, head: &Commit, tree: &windlass_git_workspaces::TreeId) -> Result<Commit, Fault> {
        let who = author(self.settings.text("author").unwrap_or("Windlass <windlass@localhost>"))
            .map_err(git_fault)?;
        let seconds =
            i64::try_from(windlass_engine::Clock::now(&crate::clock::SystemClock).0 / 1000).unwrap_or(0);
        let request = CommitRequest {
            tree,
            parents: std::slice::from_ref(&head.id),
            message: "Take uncommitted changes along\n\nThey were in the checkout when the loop began.",
            author: &who,
            committer: &who,
            time: Moment { seconds, offset_minutes: 0 },
        };
        let commit = Commit { id: self.repository.commit(&request).map_err(git_fault)?, tree: tree.clone() };
        self.repository.publish(&commit, &head.tree).map_err(git_fault)?;
        Ok(commit)
    }
}

fn node_named<'a>(root: &'a mut Node, id: Option<&str>) -> Option<&'a mut Node> {
    match id {
        None => Some(root),
        Some(id) if root.id == id => Some(root),
        Some(_) => match &mut root.actuator {
            Actuator::Direct(_) => None,
            Actuator::Cascade(child) => node_named(child, id),
        },
    }
}

fn dry_run(spec: &ControlSpec) -> RunOutcome {
    let agents = spec.place.agents.iter().map(|(role, agent)| format!("{role}: {agent}"));
    let sensors = spec.root.chain().flat_map(|node| {
        node.sensors.iter().map(|sensor| {
            let by = sensor.command.as_deref().unwrap_or("an agent");
            format!("{}: sensor {}: {by}", node.id, sensor.name)
        })
    });
    let less = u32::from(spec.cap_rule == CapRule::StrictOriginal);
    let nodes = spec
        .root
        .chain()
        .map(|node| format!("{}: up to {} actuations", node.id, node.max_iterations.saturating_sub(less)));
    RunOutcome::dry_run(nodes.collect(), agents.chain(sensors).collect())
}
