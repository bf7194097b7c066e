//! Starts a roadmap loop: control plane, trust and agents are looked at before the first fact, so that a refusal leaves
//! nothing behind.

use super::{earlier, last_good, left_behind, overtake};
use crate::context::RunContext;
use crate::control::start::{begin, chosen, may_wait, new_run_id};
use crate::control::task_spec::{Agents, caps, chosen_agents, fence, gate_rules, patience};
use crate::control::{agents, disk_budget, trust};
use crate::control_plane::{self, Looked, Trouble, TroubleKind, kept_out};
use crate::fault::git_fault;
use crate::holder::{HeldRepository, IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::settings::Settings;
use std::collections::BTreeMap;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::roadmap_loop::StartRoadmap;
use windlass_control_api::views::RunOutcome;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, Repository};
use windlass_protocols::kernel::place::Place;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::roadmap_rounds::outlook::outlook_of;
use windlass_protocols::protocol::roadmap_rounds::progress;
use windlass_protocols::protocol::roadmap_rounds::spec::{LeftBehind, RoadmapSpec, RoundLimits};
use windlass_protocols::{CommitId, Role, RunId, TaskId};

/// Where runs keep their files; never a part of what a run looks at.
const RUNS: &str = ".orchestrator/roadmap";

pub(crate) async fn start(
    host: &Host,
    command: StartRoadmap,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &command.settings)?;
    let repository = host.repository(checkout.clone())?;
    let wanted =
        Wanted { host, command: &command, settings: &settings, checkout: &checkout, repository: &repository };
    let looked = wanted.first_look().await?;
    let spec = wanted.spec(&looked, wanted.left_behind(&looked).await?)?;
    for text in settings.warnings.iter().chain(&looked.plane.oddities) {
        watcher.hear(&Event::Notice { text: text.clone() });
    }
    if command.dry_run {
        return Ok(wanted.dry_run(&looked, &spec));
    }
    trust::require(host, &checkout, &settings, command.yes)?;
    for text in agents::require(host, chosen(&spec.place)).await? {
        watcher.hear(&Event::Notice { text });
    }
    disk_budget::hold_before_a_run(host, &settings, watcher).await;
    let run = new_run_id()?;
    let owner = Owner::this_process(run.as_str(), &format!("windlass roadmap run {}", spec.task))?;
    let if_held = IfHeld::waiting(command.wait);
    let held = hold_repository(host, &spec.place.common_dir, &owner, if_held, watcher);
    let held = held.await.map_err(may_wait)?;
    let outcome = begin_alone(&wanted, run, &held, watcher).await;
    held.release(host, outcome).await
}

/// Begins when nobody of an earlier run is left who could write into the rounds' worktrees.
async fn begin_alone(
    wanted: &Wanted<'_>,
    run: RunId,
    held: &HeldRepository,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let top = wanted.checkout.work_tree().to_string_lossy();
    overtake::stop_the_others(wanted.host, (&top, &run), held, watcher).await?;
    begin(wanted.host, wanted.placed(run).await?, held, watcher).await
}

struct Wanted<'a> {
    host: &'a Host,
    command: &'a StartRoadmap,
    settings: &'a Settings,
    checkout: &'a Checkout,
    repository: &'a Repository,
}

impl Wanted<'_> {
    async fn left_behind(&self, looked: &Looked) -> Result<Vec<LeftBehind>, Fault> {
        left_behind::of(self.host, self.checkout.work_tree(), &looked.plane).await
    }

    fn look(&self) -> Result<Looked, Fault> {
        control_plane::look(self.repository)?.map_err(|trouble| refusal(&trouble))
    }

    /// With what need not be asked again: whether git takes what rounds write, and what helps a state that cannot be read.
    async fn first_look(&self) -> Result<Looked, Fault> {
        let looked = match control_plane::look(self.repository)? {
            Ok(looked) => looked,
            Err(mut trouble) => {
                if trouble.kind == TroubleKind::Uncommitted
                    && let Some(earlier) = earlier::newest(self.host, self.checkout.work_tree()).await?
                    && let Some(words) = earlier.of_uncommitted()
                {
                    trouble.hint = words;
                }
                let fault = refusal(&trouble);
                let unreadable = trouble.kind == TroubleKind::Unreadable;
                let back =
                    if unreadable { last_good::way_back(self.host, self.repository).await? } else { None };
                return Err(match back {
                    Some(back) => fault.hint(format!("`{}` goes back to {}", back.command, back.to)),
                    None => fault,
                });
            }
        };
        match kept_out(self.repository, looked.generation, &looked.plane.roadmap_id)? {
            Some(trouble) => Err(refusal(&trouble)),
            None => Ok(looked),
        }
    }

    /// Looks at everything once more, now that no other run of this repository can begin.
    async fn placed(&self, run: RunId) -> Result<RunContext, Fault> {
        let looked = self.look()?;
        trust::require(self.host, self.checkout, self.settings, self.command.yes)?;
        let mut spec = self.spec(&looked, self.left_behind(&looked).await?)?;
        let run_dir = self.checkout.work_tree().join(RUNS).join(run.as_str());
        spec.place.run_dir = run_dir.to_string_lossy().into_owned();
        let whole = Spec::RoadmapRounds(Box::new(spec));
        self.host.run_context(run, whole, self.repository.clone(), self.settings)
    }

    fn spec(&self, looked: &Looked, left_behind: Vec<LeftBehind>) -> Result<RoadmapSpec, Fault> {
        let settings = self.settings;
        let text = |path: &std::path::Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| {
                Fault::new(Code::BadArgument, format!("the path {} is not valid UTF-8", path.display()))
            })
        };
        let (agents, fallbacks) = self.agents()?;
        let number = |key: &str| settings.number(key).and_then(|number| u32::try_from(number).ok());
        let usual = RoundLimits::default();
        let rounds = if self.command.once { 1 } else { number("roadmap.rounds").unwrap_or(u32::MAX) };
        Ok(RoadmapSpec {
            task: TaskId::new(looked.plane.roadmap_id.clone()),
            text: looked.goal.clone(),
            caps: windlass_protocols::kernel::budget::Caps { rounds, ..caps(settings) },
            limits: RoundLimits {
                same_mechanism: number("roadmap.same-mechanism-retries").unwrap_or(usual.same_mechanism),
                review_cycles: number("roadmap.review-cycles").unwrap_or(usual.review_cycles),
                update_rejections: number("roadmap.update-rejections").unwrap_or(usual.update_rejections),
            },
            parallel: number("roadmap.parallel"),
            checks: settings.list("checks"),
            patience: patience(settings),
            place: Place {
                repository: text(self.checkout.work_tree())?,
                common_dir: text(self.checkout.common_dir())?,
                run_dir: String::new(),
                base_ref: looked.plane.base_branch.clone(),
                base: CommitId::new(looked.base.id.as_str()),
                doer_branch: looked.plane.base_branch.clone(),
                judge_branch: String::new(),
                agents,
                fallbacks,
                prompts: BTreeMap::new(),
                author: settings.text("author").map(str::to_owned),
                fence: fence(settings, &self.command.directory),
                gate: gate_rules(settings),
            },
            left_behind,
        })
    }

    /// Whoever reviews also investigates, where nobody else is named for it.
    fn agents(&self) -> Result<Agents, Fault> {
        let settings = self.settings;
        let mut roles = vec![Role::Planner, Role::Implementer, Role::Reviewer];
        let named = settings.text(Role::Investigator.word()).or(settings.text("agent")).is_some();
        if named {
            roles.push(Role::Investigator);
        }
        let (mut agents, mut fallbacks) = chosen_agents(settings, &self.command.directory, &roles)?;
        if !named {
            let reviewer = agents.get(&Role::Reviewer).cloned();
            agents.extend(reviewer.map(|reviewer| (Role::Investigator, reviewer)));
            let chain = fallbacks.get(&Role::Reviewer).cloned();
            fallbacks.extend(chain.map(|chain| (Role::Investigator, chain)));
        }
        Ok((agents, fallbacks))
    }

    fn dry_run(&self, looked: &Looked, spec: &RoadmapSpec) -> RunOutcome {
        let plane = &looked.plane;
        let live = spec.parallel.map_or(plane.max_parallel, |fewer| plane.max_parallel.min(fewer));
        let mut because = vec![
            progress(plane),
            format!("first it would {}", outlook_of(spec, plane)),
            format!("at most {live} live at once, merged into {}", plane.base_branch),
        ];
        because.extend(
            plane.unfinished().map(|milestone| format!("open: {} {}", milestone.id, milestone.title)),
        );
        if trust::require(self.host, self.checkout, self.settings, self.command.yes).is_err() {
            because.push("its commands are not trusted yet: `windlass trust`".to_owned());
        }
        let agents = spec.place.agents.iter().map(|(role, agent)| format!("{role}: {agent}"));
        RunOutcome::dry_run(because, agents.collect())
    }
}

fn refusal(trouble: &Trouble) -> Fault {
    let fault = Fault::new(trouble.kind.code(), trouble.sentences.join("\n"))
        .kept("nothing was begun and nothing was written")
        .hint(trouble.hint.clone());
    match trouble.kind {
        TroubleKind::Absent | TroubleKind::WrongBranch | TroubleKind::Uncommitted | TroubleKind::Outdated => {
            fault
        }
        _ => fault.hint("`windlass roadmap inspect` shows all of it"),
    }
}
