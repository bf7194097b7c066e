//! Starts a goal loop: files, contract, trust and checkout are looked at before the first fact, so that a refusal leaves
//! nothing behind but, where there was no contract, one from the template.

use super::commands::Commands;
use super::ground::{Ground, RUNS};
use super::init::{put, template, unusable};
use super::look::{claimed, command_words, no_tests};
use super::open_runs::{Unmerged, open_run, refusal, unmerged};
use super::setup::{Files, Found, Setup};
use super::{confirm, same_agent, tighten};
use crate::context::RunContext;
use crate::control::start::{begin, chosen, may_wait, new_run_id};
use crate::control::task_spec::{caps, chosen_agents, fence, gate_rules, patience};
use crate::control::{agent_policy, agents, disk_budget, trust};
use crate::fault::git_fault;
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::settings::Settings;
use std::collections::BTreeMap;
use windlass_agent_drivers::AgentChoice;
use windlass_artifact_formats::goal_loop::{CONTRACT_FILE, PinnedCommands};
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::goal_setup::StartGoal;
use windlass_control_api::views::RunOutcome;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, Commit, Repository};
use windlass_protocols::kernel::place::Place;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::goal_contract::queue::Autonomy;
use windlass_protocols::protocol::goal_contract::spec::{DesignRule, GoalSpec, Home, Tightened};
use windlass_protocols::{CommitId, Role, RunId, TaskId};

pub(crate) async fn start(
    host: &Host,
    command: StartGoal,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &command.settings)?;
    let repository = host.repository(checkout.clone())?;
    let wanted =
        Wanted { host, command: &command, settings: &settings, checkout: &checkout, repository: &repository };
    let setup = wanted.setup()?;
    let commands = wanted.commands(&setup)?;
    let ground = Ground::of(&repository, &host.environment, wanted.home())?;
    let spec = wanted.spec(&ground.base, &setup, &commands)?;
    let notices = settings.warnings.iter().chain(&commands.notices).cloned().chain(ground.notice());
    let agent = |role| spec.place.agents.get(&role).map(String::as_str);
    let notices = notices.chain(same_agent::notice(agent(Role::Builder), agent(Role::Evaluator)));
    for text in notices {
        watcher.hear(&Event::Notice { text });
    }
    if command.dry_run {
        return wanted.dry_run((&ground.base, &setup), &commands, &spec).await;
    }
    wanted.agreed(&setup, &commands)?;
    wanted.no_other(&ground.base, &setup).await?;
    for text in agents::require(host, named(&spec.place)).await? {
        watcher.hear(&Event::Notice { text });
    }
    disk_budget::hold_before_a_run(host, &settings, watcher).await;
    let run = new_run_id()?;
    let owner = Owner::this_process(run.as_str(), &format!("windlass goal run {}", spec.task))?;
    let if_held = IfHeld::waiting(command.wait);
    let held = hold_repository(host, &spec.place.common_dir, &owner, if_held, watcher);
    let held = held.await.map_err(may_wait)?;
    let outcome = match wanted.placed(run).await {
        Ok(context) => begin(host, context, &held, watcher).await,
        Err(fault) => Err(fault),
    };
    held.release(host, outcome).await
}

struct Wanted<'a> {
    host: &'a Host,
    command: &'a StartGoal,
    settings: &'a Settings,
    checkout: &'a Checkout,
    repository: &'a Repository,
}

impl Wanted<'_> {
    fn setup(&self) -> Result<Setup, Fault> {
        let top = self.checkout.work_tree();
        let files = Files::read(top);
        if let (Found::Missing, Found::Ours(queue), false) =
            (&files.contract, &files.features, self.command.dry_run)
        {
            let test = Commands::of(self.settings, None, top).test.map(|found| found.command);
            let pinned = PinnedCommands { test, pre_commit: Vec::new() };
            put(top, CONTRACT_FILE, &template(queue, &pinned))?;
            return Err(Fault::new(
                Code::NotConfirmed,
                format!("there was no contract; {CONTRACT_FILE} was written from the template"),
            )
            .kept("nothing was begun")
            .hint(format!("read and edit {CONTRACT_FILE}: scope, level of autonomy, test command"))
            .hint("`windlass goal check` shows what it comes to; then `windlass goal run` again"));
        }
        let problems = super::look::problems(&files);
        match files.setup() {
            Some(setup) if problems.is_empty() => Ok(setup),
            _ => Err(unusable(&files)),
        }
    }

    fn commands(&self, setup: &Setup) -> Result<Commands, Fault> {
        let commands = Commands::of(self.settings, Some(&setup.contract), self.checkout.work_tree());
        let level = self.level(setup)?;
        if commands.test.is_none() && level != Autonomy::L1 {
            return Err(Fault::new(Code::GoalFiles, no_tests(level))
                .kept("nothing was begun")
                .hint(format!("name it in {CONTRACT_FILE} under Verification: - Test command: `…`"))
                .hint("or with `--test-cmd`"));
        }
        Ok(commands)
    }

    fn tightened(&self, setup: &Setup) -> Result<Tightened, Fault> {
        tighten::tightened(setup, self.settings)
    }

    fn level(&self, setup: &Setup) -> Result<Autonomy, Fault> {
        Ok(self.tightened(setup)?.autonomy.unwrap_or(setup.queue.autonomy))
    }

    const fn home(&self) -> Home {
        if self.command.in_place { Home::InPlace } else { Home::OwnBranch }
    }

    /// Refuses what nobody agreed to.
    fn agreed(&self, setup: &Setup, commands: &Commands) -> Result<(), Fault> {
        let (host, checkout) = (self.host, self.checkout);
        confirm::require(host, checkout, &setup.contract, self.command)?;
        trust::require_all(host, checkout, (self.settings, &commands.foreign), self.command.yes)
    }

    async fn no_other(&self, base: &Commit, setup: &Setup) -> Result<(), Fault> {
        if self.command.another {
            return Ok(());
        }
        if let Some((run, open)) = open_run(self.host, self.checkout).await? {
            return Err(refusal(&run, &open));
        }
        match self.unmerged(base, setup).await? {
            Some(unmerged) => Err(unmerged.refusal()),
            None => Ok(()),
        }
    }

    async fn unmerged(&self, base: &Commit, setup: &Setup) -> Result<Option<Unmerged>, Fault> {
        let tightened = self.tightened(setup)?;
        let scope = tightened.scope.as_ref().unwrap_or(&setup.queue.scope);
        unmerged(self.host, self.repository, base, (&setup.queue, scope, claimed(self.settings))).await
    }

    fn spec(&self, base: &Commit, setup: &Setup, commands: &Commands) -> Result<GoalSpec, Fault> {
        let (command, settings) = (self.command, self.settings);
        let tightened = self.tightened(setup)?;
        let scope = tightened.scope.as_ref().unwrap_or(&setup.queue.scope);
        if scope.is_empty() {
            return Err(Fault::new(
                Code::GoalFiles,
                format!("{CONTRACT_FILE}: the scope names no item of the queue"),
            )
            .kept("nothing was begun")
            .hint("`windlass goal check` shows the queue and the scope"));
        }
        let task = stem(scope);
        let text = |path: &std::path::Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| {
                Fault::new(Code::BadArgument, format!("the path {} is not valid UTF-8", path.display()))
            })
        };
        let branch = self.repository.current_branch().map_err(git_fault)?;
        let branch = branch.map(|name| name.trim_start_matches("refs/heads/").to_owned());
        if command.in_place && branch.is_none() {
            return Err(Fault::new(
                Code::NotAllowedNow,
                "no branch is checked out that could be committed to",
            )
            .kept("nothing was begun")
            .hint("check a branch out, or leave `--in-place` out"));
        }
        let (agents, fallbacks) = self.agents()?;
        let place = Place {
            repository: text(self.checkout.work_tree())?,
            common_dir: text(self.checkout.common_dir())?,
            run_dir: String::new(),
            base_ref: branch.unwrap_or_else(|| base.id.to_string()),
            base: CommitId::new(base.id.as_str()),
            doer_branch: String::new(),
            judge_branch: String::new(),
            agents,
            fallbacks,
            prompts: BTreeMap::new(),
            author: settings.text("author").map(str::to_owned),
            fence: fence(settings, &self.command.directory),
            gate: gate_rules(settings),
        };
        if setup.queue.limits.cost_micros.is_some() || settings.text("goal.cost").is_some() {
            agent_policy::require_prices(settings, "goal.cost", chosen(&place).map(|(_, choice)| choice))?;
        }
        Ok(GoalSpec {
            task: TaskId::new(task),
            text: setup.contract.goal.clone(),
            caps: tighten::caps(setup, settings, command.once, caps(settings))?,
            once: command.once,
            tightened,
            suite: commands.test.as_ref().map(|found| found.command.clone()),
            pre_commit: commands.pre_commit.iter().map(|found| found.command.clone()).collect(),
            claimed: claimed(settings),
            design: match settings.text("goal.design") {
                Some("always") => DesignRule::Always,
                Some("never") => DesignRule::Never,
                _ => DesignRule::Auto,
            },
            home: self.home(),
            // To the thousandth: a second run of the same second must not be taken for this one in the run log.
            began: crate::clock::timestamp().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            patience: patience(settings),
            place,
        })
    }

    /// Whoever builds also designs, where nobody else is named for it.
    fn agents(&self) -> Result<crate::control::task_spec::Agents, Fault> {
        let settings = self.settings;
        let mut roles = vec![Role::Builder, Role::Evaluator];
        let named = settings.text("planner").or(settings.text("agent")).is_some();
        if named {
            roles.push(Role::Planner);
        }
        let (mut agents, mut fallbacks) = chosen_agents(settings, &self.command.directory, &roles)?;
        if !named {
            let builder = agents.get(&Role::Builder).cloned();
            agents.extend(builder.map(|builder| (Role::Planner, builder)));
            let chain = fallbacks.get(&Role::Builder).cloned();
            fallbacks.extend(chain.map(|chain| (Role::Planner, chain)));
        }
        Ok((agents, fallbacks))
    }

    /// Looks at everything once more, now that no other run of this repository can begin or choose a name.
    async fn placed(&self, run: RunId) -> Result<RunContext, Fault> {
        let setup = self.setup()?;
        let commands = self.commands(&setup)?;
        let base = Ground::of(self.repository, &self.host.environment, self.home())?.base;
        self.agreed(&setup, &commands)?;
        self.no_other(&base, &setup).await?;
        let mut spec = self.spec(&base, &setup, &commands)?;
        spec.place.doer_branch = match spec.home {
            Home::InPlace => spec.place.base_ref.clone(),
            Home::OwnBranch => self.branch(spec.task.as_str())?,
        };
        let run_dir = self.checkout.work_tree().join(RUNS).join("goal").join(run.as_str());
        spec.place.run_dir = run_dir.to_string_lossy().into_owned();
        let whole = Spec::GoalContract(Box::new(spec));
        let context = self.host.run_context(run, whole, self.repository.clone(), self.settings)?;
        confirm::remember(self.host, self.checkout, &setup.contract)?;
        Ok(context)
    }

    /// The first free name; runs over the same items are numbered.
    fn branch(&self, task: &str) -> Result<String, Fault> {
        // A user's own branch `goal` leaves no room for `goal/…`.
        let blocked = self.repository.in_the_way_of("refs/heads/goal/any").map_err(git_fault)?.is_some();
        let separator = if blocked { "-" } else { "/" };
        for number in 1_u32.. {
            let branch = format!("goal{separator}{task}-{number}");
            if !self.repository.is_taken(&format!("refs/heads/{branch}")).map_err(git_fault)? {
                return Ok(branch);
            }
        }
        Err(Fault::new(Code::NotAllowedNow, "no name for a branch is left"))
    }

    async fn dry_run(
        &self,
        (base, setup): (&Commit, &Setup),
        commands: &Commands,
        spec: &GoalSpec,
    ) -> Result<RunOutcome, Fault> {
        let scope = spec.tightened.scope.as_ref().unwrap_or(&setup.queue.scope);
        let mut because = vec![
            format!("in scope: {}", scope.join(", ")),
            format!("autonomy: {}", self.level(setup)?.word()),
            format!("tests: {}", commands.test.as_ref().map_or("none".to_owned(), command_words)),
        ];
        because
            .extend(commands.pre_commit.iter().map(|found| format!("pre-commit: {}", command_words(found))));
        because.extend(setup.queue.notices.iter().cloned());
        if !confirm::view(self.host, self.checkout, &setup.contract)?.confirmed {
            because.push(format!("{CONTRACT_FILE} has to be confirmed before anything is built"));
        }
        if !trust::agreed(self.host, self.checkout, self.settings, &commands.foreign)? {
            because.push("its commands are not trusted yet: `windlass trust`".to_owned());
        }
        if let Some((run, open)) = open_run(self.host, self.checkout).await? {
            because.push(format!("{run} is open: {}", open.why));
        }
        because.extend(self.unmerged(base, setup).await?.map(|unmerged| unmerged.words()));
        let agents = spec.place.agents.iter().map(|(role, agent)| format!("{role}: {agent}"));
        Ok(RunOutcome::dry_run(because, agents.collect()))
    }
}

/// Whom the user named: a planner that is only the builder over again is not to blame for the builder.
fn named(place: &Place) -> impl Iterator<Item = (String, AgentChoice)> {
    let builder = place.agents.get(&Role::Builder).cloned();
    let own = move |role: &str, choice: &AgentChoice| {
        role != Role::Planner.word() || Some(choice.to_string()) != builder
    };
    chosen(place).filter(move |(role, choice)| own(role, choice))
}

/// `f001`, or `f001-f006` for everything from there to here.
fn stem(scope: &[String]) -> String {
    let name = match scope {
        [] => "goal".to_owned(),
        [one] => one.clone(),
        [first, .., last] => format!("{first}-{last}"),
    };
    name.to_ascii_lowercase()
}
