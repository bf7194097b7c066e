//! The goal loop's files as they lie in the user's checkout: whose they are, what is wrong with them, and the queue they
//! make together. All that is wrong is said at once; nothing is written here.

use std::path::Path;
use windlass_artifact_formats::goal_loop::{
    Autonomy as Level, BUDGET_FILE, Budget, CONTRACT_FILE, Caps, Contract, FEATURES_FILE, Feature,
    FeatureList, ItemStatus, OnBlocked, Priority, RUN_LOG_FILE, Recognised, RunLog,
};
use windlass_protocols::Millis;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Design, Item, Limits, Queue, Status};

/// No honest file of a set-up is larger; what is larger is not read.
const MAX_BYTES: u64 = 1024 * 1024;
/// The loop's own files, which may be uncommitted when it begins.
pub(crate) const OWN_FILES: [&str; 6] =
    [FEATURES_FILE, CONTRACT_FILE, BUDGET_FILE, RUN_LOG_FILE, "docs/PROGRESS.md", "docs/EVALUATION.md"];

pub(crate) const OWN_DIRECTORIES: [&str; 2] = ["docs/evaluations/", "docs/designs/"];

/// What was found under one of the names.
#[derive(Clone, Debug)]
pub(crate) enum Found<T> {
    Missing,
    Ours(T),
    /// Another tool's; says what is different.
    Foreign(String),
    /// Meant to be ours and unusable.
    Invalid(Vec<String>),
}

impl<T> Found<T> {
    fn read(top: &Path, path: &str, recognise: impl FnOnce(&str) -> Recognised<T>) -> Self {
        match text(top, path) {
            Ok(None) => Self::Missing,
            Ok(Some(text)) => match recognise(&text) {
                Recognised::Ours(value) => Self::Ours(value),
                Recognised::Foreign(why) => Self::Foreign(why),
                Recognised::Invalid(faults) => Self::Invalid(faults.sentences().to_vec()),
            },
            Err(why) => Self::Invalid(vec![why]),
        }
    }

    pub(crate) fn ours(&self) -> Option<&T> {
        match self {
            Self::Ours(value) => Some(value),
            Self::Missing | Self::Foreign(_) | Self::Invalid(_) => None,
        }
    }

    /// Sentences about a file that is there and cannot be used.
    fn problems(&self, path: &str) -> Vec<String> {
        match self {
            Self::Missing | Self::Ours(_) => Vec::new(),
            Self::Foreign(why) => {
                vec![format!("{path} belongs to another tool and is left alone: {why}")]
            }
            Self::Invalid(sentences) => {
                sentences.iter().map(|sentence| format!("{path}: {sentence}")).collect()
            }
        }
    }
}

/// Everything that is there.
pub(crate) struct Files {
    pub(crate) features: Found<FeatureList>,
    pub(crate) contract: Found<Contract>,
    pub(crate) budget: Found<Budget>,
    pub(crate) run_log: Found<RunLog>,
}

/// A set-up that a run can begin with.
pub(crate) struct Setup {
    pub(crate) features: FeatureList,
    pub(crate) contract: Contract,
    pub(crate) queue: Queue,
}

impl Files {
    pub(crate) fn read(top: &Path) -> Self {
        Self {
            features: Found::read(top, FEATURES_FILE, FeatureList::recognise),
            contract: Found::read(top, CONTRACT_FILE, Contract::recognise),
            budget: Found::read(top, BUDGET_FILE, Budget::recognise),
            run_log: Found::read(top, RUN_LOG_FILE, RunLog::recognise),
        }
    }

    /// What is there and cannot be used.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.features.problems(FEATURES_FILE);
        problems.extend(self.contract.problems(CONTRACT_FILE));
        problems.extend(self.budget.problems(BUDGET_FILE));
        problems.extend(self.run_log.problems(RUN_LOG_FILE));
        problems
    }

    /// The set-up, where nothing is wrong and nothing is missing but what a run writes itself.
    pub(crate) fn setup(&self) -> Option<Setup> {
        if !self.problems().is_empty() {
            return None;
        }
        let (contract, features) = (self.contract.ours()?, self.features.ours()?);
        let caps = self.budget.ours().map_or_else(Caps::default, |budget| budget.caps);
        let mut queue = queue(contract, features, &caps, self.run_log.ours());
        match &self.budget {
            Found::Ours(budget) => queue.notices.extend(budget.notices.iter().cloned()),
            _ => queue.notices.push(format!("there is no {BUDGET_FILE}, so the default caps hold")),
        }
        Some(Setup { features: features.clone(), contract: contract.clone(), queue })
    }
}

fn text(top: &Path, path: &str) -> Result<Option<String>, String> {
    let path = top.join(path);
    let Ok(found) = path.symlink_metadata() else { return Ok(None) };
    if !found.is_file() {
        return Err("it is no plain file".to_owned());
    }
    if found.len() > MAX_BYTES {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    let bytes = std::fs::read(&path).map_err(|error| format!("it cannot be read: {error}"))?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        format!("it is not UTF-8: invalid byte at offset {}", error.utf8_error().valid_up_to())
    })
}

fn queue(contract: &Contract, features: &FeatureList, caps: &Caps, log: Option<&RunLog>) -> Queue {
    let items: Vec<Item> = features.items().map(|feature| item(feature, log)).collect();
    let in_scope = features.items().filter(|feature| contract.scope.contains(&feature.id));
    let mut notices = contract.notes.clone();
    notices.extend(contract.not_enforced().iter().map(|sentence| format!("not enforced: {sentence}")));
    Queue {
        scope: in_scope.map(|feature| feature.id.to_string()).collect(),
        items,
        autonomy: match contract.autonomy {
            Level::L1 => Autonomy::L1,
            Level::L2 => Autonomy::L2,
            Level::L3 => Autonomy::L3,
        },
        limits: Limits {
            iterations: caps.iterations,
            commits: caps.commits,
            rework: caps.rework_per_item,
            time: Some(Millis::minutes(u64::from(caps.wall_clock_minutes))),
            tokens: caps.tokens,
            cost_micros: caps.cost_micros.and_then(|cost| u64::try_from(cost).ok()),
        },
        parks: contract.on_blocked == OnBlocked::GoOn,
        sources: Vec::new(),
        notices,
    }
}

fn item(feature: &Feature, log: Option<&RunLog>) -> Item {
    Item {
        id: feature.id.to_string(),
        name: feature.name.clone(),
        priority: match feature.priority {
            Priority::Given(value) => Some(thousandths(value)),
            Priority::Unstated => None,
        },
        status: status(feature.status),
        dependencies: feature.dependencies.iter().map(ToString::to_string).collect(),
        criteria: u32::try_from(feature.acceptance_criteria.len()).unwrap_or(u32::MAX),
        paths_stated: !feature.affected_files.is_empty() || !feature.location.is_empty(),
        risky: feature.risk.as_deref() == Some("high"),
        design: match (&feature.design_status, &feature.design_doc) {
            (Some(word), _) if word == "approved" => Design::Approved,
            (_, Some(_)) => Design::Draft,
            (_, None) => Design::None,
        },
        passed_before: log.is_some_and(|log| log.passes(&feature.id).next().is_some()),
    }
}

pub(super) const fn status(status: ItemStatus) -> Status {
    match status {
        ItemStatus::NotStarted => Status::NotStarted,
        ItemStatus::InProgress => Status::InProgress,
        ItemStatus::Complete => Status::Complete,
        ItemStatus::NeedsRework => Status::NeedsRework,
        ItemStatus::Blocked => Status::Blocked,
        ItemStatus::Existing => Status::Existing,
        ItemStatus::Cancelled => Status::Cancelled,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a priority beyond the range is as good as its end")]
fn thousandths(value: f64) -> i64 {
    (value * 1000.0).round() as i64
}
