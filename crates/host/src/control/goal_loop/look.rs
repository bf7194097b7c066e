//! Looking without changing: what a goal loop would work on here, and where one stands.

use super::commands::Commands;
use super::ground::Ground;
use super::open_runs::{goal_state, of_repository, open_run, unmerged};
use super::setup::{Files, Found, Setup};
use super::{confirm, report, same_agent, tighten};
use crate::control::{find, queries, task_spec, trust};
use crate::fault::git_fault;
use crate::goal_queue::NOT_ENFORCED;
use crate::host::Host;
use crate::settings::Settings;
use std::path::Path;
use windlass_artifact_formats::goal_loop::{
    CONTRACT_FILE, FEATURES_FILE, Feature, FeatureList, ItemId, Priority,
};
use windlass_control_api::commands::SettingValue;
use windlass_control_api::goal_setup::{
    FoundCommand, GoalSetup, GoalStatus, ItemStanding, NextItem, SetupItem, StatusCount,
};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, Commit, Repository};
use windlass_protocols::Role;
use windlass_protocols::protocol::goal_contract::queue::{
    Autonomy, Item, Limits, Queue, Selection, Standing, Status, Work,
};
use windlass_protocols::protocol::goal_contract::spec::{Claimed, Home};

pub(crate) async fn setup(
    host: &Host,
    repository: &Path,
    given: &[(String, SettingValue)],
) -> Result<GoalSetup, Fault> {
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), given)?;
    let files = Files::read(checkout.work_tree());
    let commands = Commands::of(&settings, files.contract.ours(), checkout.work_tree());
    let mut view = GoalSetup {
        repository: checkout.work_tree().to_string_lossy().into_owned(),
        problems: problems(&files),
        notices: settings.warnings.iter().chain(&commands.notices).cloned().collect(),
        trusted: trust::agreed(host, &checkout, &settings, &commands.foreign)?,
        open_run: open_run(host, &checkout).await?.map(|(run, _)| run),
        ..GoalSetup::default()
    };
    let stands = stand(&mut view, host, &checkout);
    view.notices
        .extend(same_agent::notice(agent(&settings, Role::Builder), agent(&settings, Role::Evaluator)));
    if let Found::Ours(features) = &files.features {
        view.counts = counts(features);
    }
    if let Some(contract) = files.contract.ours() {
        view.goal.clone_from(&contract.goal);
        view.autonomy = Some(contract.autonomy.to_string());
        view.not_enforced = contract.not_enforced();
        view.contract = Some(confirm::view(host, &checkout, contract)?);
    }
    if let Some(setup) = files.setup() {
        if let Some((repository, base)) = stands {
            let scope = tighten::tightened(&setup, &settings).ok().and_then(|tightened| tightened.scope);
            let scope = scope.as_ref().unwrap_or(&setup.queue.scope);
            let known = (&setup.queue, scope.as_slice(), claimed(&settings));
            let unmerged = unmerged(host, &repository, &base, known).await?;
            view.in_the_way.extend(unmerged.map(|unmerged| unmerged.words()));
        }
        fill(&mut view, setup, &settings, &commands);
    }
    (view.test_command, view.pre_commit) = (commands.test, commands.pre_commit);
    Ok(view)
}

/// What of the checkout would keep a run from beginning, by the run's own judgement; and what it would begin at.
fn stand(view: &mut GoalSetup, host: &Host, checkout: &Checkout) -> Option<(Repository, Commit)> {
    let found = host.repository(checkout.clone()).and_then(|repository| {
        let ground = Ground::of(&repository, &host.environment, Home::OwnBranch)?;
        Ok((repository, ground))
    });
    match found {
        Ok((repository, ground)) => {
            view.notices.extend(ground.notice());
            return Some((repository, ground.base));
        }
        Err(fault) if matches!(fault.code, Code::NotAllowedNow | Code::BadRevision) => {
            view.in_the_way.push(fault.message);
        }
        // Looking is allowed where nothing can be written; what could not be looked at is said.
        Err(fault) => {
            view.notices.push(format!("your checkout could not be looked at: {}", fault.message));
        }
    }
    None
}

fn agent(settings: &Settings, role: Role) -> Option<&str> {
    settings.text(role.word()).or(settings.text("agent"))
}

/// What is wrong with the files, and what is missing.
pub(super) fn problems(files: &Files) -> Vec<String> {
    let mut problems = files.problems();
    if matches!(files.features, Found::Missing) {
        problems.push(format!(
            "{FEATURES_FILE} is not there; `windlass goal init --feature \"NAME: criterion; criterion\"` begins one"
        ));
    }
    if matches!(files.contract, Found::Missing) {
        problems.push(format!("{CONTRACT_FILE} is not there; `windlass goal init` writes it"));
    }
    if files.contract.ours().is_some_and(|contract| contract.goal.trim().is_empty()) {
        problems.push(format!("{CONTRACT_FILE}: the section `## Goal` says nothing"));
    }
    problems
}

fn fill(view: &mut GoalSetup, mut setup: Setup, settings: &Settings, commands: &Commands) {
    let tightened = tighten::tightened(&setup, settings);
    let given = tighten::caps(&setup, settings, false, task_spec::caps(settings));
    let queue = &mut setup.queue;
    view.notices.extend(queue.notices.iter().filter(|notice| !notice.starts_with(NOT_ENFORCED)).cloned());
    view.caps = match (&tightened, &given) {
        (Ok(tightened), Ok(given)) => caps(&tighten::limits(&queue.limits, tightened, given)),
        _ => caps(&queue.limits),
    };
    view.problems.extend(given.err().map(|fault| fault.message));
    match tightened {
        Ok(tightened) => {
            if let Some(scope) = tightened.scope {
                queue.scope.retain(|id| scope.contains(id));
            }
            let level = tightened.autonomy.unwrap_or(queue.autonomy);
            view.autonomy = Some(level.word().to_owned());
            if commands.test.is_none() && level != Autonomy::L1 {
                view.problems.push(no_tests(level));
            }
        }
        Err(fault) => view.problems.push(fault.message),
    }
    if queue.scope.is_empty() {
        view.problems.push(format!("{CONTRACT_FILE}: the scope names no item of {FEATURES_FILE}"));
    }
    let claimed = claimed(settings);
    view.items = queue.in_scope().map(|item| shown(queue, item, claimed)).collect();
    view.next = next(&setup.features, queue, claimed);
}

pub(super) fn no_tests(level: Autonomy) -> String {
    format!("no test command is known, and {} needs one: only L1 may do without", level.word())
}

pub(super) fn claimed(settings: &Settings) -> Claimed {
    if settings.switch("goal.trust-complete") { Claimed::Trust } else { Claimed::Recheck }
}

fn counts(features: &FeatureList) -> Vec<StatusCount> {
    let mut counts: Vec<StatusCount> = Vec::new();
    for item in features.items() {
        let status = item.status.as_str();
        match counts.iter_mut().find(|count| count.status == status) {
            Some(count) => count.items += 1,
            None => counts.push(StatusCount { status: status.to_owned(), items: 1 }),
        }
    }
    counts
}

fn caps(limits: &Limits) -> Vec<(String, String)> {
    let mut caps = vec![
        ("iterations".to_owned(), limits.iterations.to_string()),
        ("commits".to_owned(), limits.commits.to_string()),
        ("rework per item".to_owned(), limits.rework.to_string()),
    ];
    caps.extend(limits.time.map(|time| ("minutes".to_owned(), (time.0 / 60_000).to_string())));
    caps.extend(limits.tokens.map(|tokens| ("tokens".to_owned(), tokens.to_string())));
    let money = |micros: u64| format!("{}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000);
    caps.extend(limits.cost_micros.map(|cost| ("cost".to_owned(), money(cost))));
    caps
}

fn shown(queue: &Queue, item: &Item, claimed: Claimed) -> SetupItem {
    let unmet: Vec<String> = item
        .dependencies
        .iter()
        .filter_map(|id| queue.item(id))
        .filter(|needed| {
            needed.status != Status::Existing && queue.standing_in_file(needed, claimed) != Standing::Accepted
        })
        .map(|needed| format!("{} ({})", needed.id, needed.status.word()))
        .collect();
    let (standing, why) = match queue.standing_in_file(item, claimed) {
        Standing::Accepted => (ItemStanding::Accepted, String::new()),
        Standing::Open(Work::Recheck) => {
            (ItemStanding::Claimed, "no verdict is on record, so it is checked before it counts".to_owned())
        }
        Standing::Open(_) if !unmet.is_empty() => {
            (ItemStanding::Waiting, format!("waits for {}", unmet.join(", ")))
        }
        Standing::Open(_) => (ItemStanding::Ready, String::new()),
        Standing::Aside => (ItemStanding::Aside, String::new()),
    };
    SetupItem {
        id: item.id.clone(),
        name: item.name.clone(),
        status: item.status.word().to_owned(),
        standing,
        why,
    }
}

/// By the same selection as a run.
fn next(features: &FeatureList, queue: &Queue, claimed: Claimed) -> Option<NextItem> {
    let selection = queue.select(None, |item| queue.standing_in_file(item, claimed));
    let Selection::Next(item, work) = selection else { return None };
    let feature = features.get(&ItemId::parse(&item.id)?)?;
    Some(in_full(features, feature, work))
}

fn in_full(features: &FeatureList, feature: &Feature, work: Work) -> NextItem {
    let status_of = |id: &ItemId| features.get(id).map_or("missing", |item| item.status.as_str()).to_owned();
    NextItem {
        id: feature.id.to_string(),
        name: feature.name.clone(),
        status: feature.status.as_str().to_owned(),
        work: match work {
            Work::Recheck => "recheck",
            Work::Rework => "rework",
            Work::Build => "build",
        }
        .to_owned(),
        priority: match feature.priority {
            Priority::Given(value) => Some(value.to_string()),
            Priority::Unstated => None,
        },
        description: feature.description.clone(),
        acceptance_criteria: feature.acceptance_criteria.clone(),
        deliverable: feature.contract.deliverable.clone(),
        verification: feature.contract.verification.clone(),
        dependencies: feature.dependencies.iter().map(|id| (id.to_string(), status_of(id))).collect(),
        design_doc: feature.design_doc.clone(),
        affected_files: feature.affected_files.clone(),
    }
}

pub(super) fn command_words(found: &FoundCommand) -> String {
    format!("`{}` ({})", found.command, found.from)
}

pub(crate) async fn status(host: &Host, name: Option<&str>, repository: &Path) -> Result<GoalStatus, Fault> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => newest(host, repository).await?,
    };
    let (head, _, run) = find::run(host, &name).await?;
    let Some(state) = goal_state(&run) else {
        return Err(Fault::new(Code::NotAllowedNow, format!("{name} is not a goal loop"))
            .hint(format!("`windlass show {name}` shows any run")));
    };
    Ok(GoalStatus {
        run: head.run.to_string(),
        status: find::line(host, &head).await?.status,
        goal: state.spec.text.clone(),
        report: report::of(&run, state),
        explanation: queries::explain(host, head.run.as_str()).await?,
    })
}

/// The newest goal loop of the repository.
async fn newest(host: &Host, repository: &Path) -> Result<String, Fault> {
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let of_here = of_repository(host, &checkout).await?.into_iter().next();
    of_here.map(|head| head.run.to_string()).ok_or_else(|| {
        Fault::new(Code::UnknownRun, "no goal loop was ever run in this repository")
            .hint("`windlass goal run` runs one; `windlass goal check` looks at the set-up")
    })
}
