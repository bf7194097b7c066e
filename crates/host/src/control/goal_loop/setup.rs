//! The goal loop's files as they lie in the user's checkout: whose they are, what is wrong with them, and the queue they
//! make together. All that is wrong is said at once; nothing is written here.

use crate::goal_queue::{item, queue};
use std::collections::BTreeMap;
use std::path::Path;
use windlass_artifact_formats::control_loop::RepoPath;
use windlass_artifact_formats::goal_loop::{
    BUDGET_FILE, Budget, CONTRACT_FILE, Caps, Contract, DesignDocument, FEATURES_FILE, Feature, FeatureList,
    ItemId, RUN_LOG_FILE, Recognised, RunLog,
};
use windlass_protocols::protocol::goal_contract::queue::Queue;

/// No honest file of a set-up is larger; what is larger is not read.
const MAX_BYTES: u64 = 1024 * 1024;

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
    designs: BTreeMap<ItemId, DesignDocument>,
}

/// A set-up that a run can begin with.
pub(crate) struct Setup {
    pub(crate) features: FeatureList,
    pub(crate) contract: Contract,
    pub(crate) queue: Queue,
}

impl Files {
    pub(crate) fn read(top: &Path) -> Self {
        let features = Found::read(top, FEATURES_FILE, FeatureList::recognise);
        Self {
            designs: features.ours().map(|features| designs(top, features)).unwrap_or_default(),
            features,
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
        let log = self.run_log.ours();
        let item = |feature| item(feature, log, self.designs.get(&feature.id));
        let items = features.items().map(item).collect();
        let mut queue = queue(contract, features, &caps, items);
        match &self.budget {
            Found::Ours(budget) => queue.notices.extend(budget.notices.iter().cloned()),
            _ => queue.notices.push(format!("there is no {BUDGET_FILE}, so the default caps hold")),
        }
        Some(Setup { features: features.clone(), contract: contract.clone(), queue })
    }
}

/// Only documents inside the repository are looked at.
fn designs(top: &Path, features: &FeatureList) -> BTreeMap<ItemId, DesignDocument> {
    let read = |feature: &Feature| {
        let path = RepoPath::parse(feature.design_doc.as_deref()?).ok()?;
        let text = text(top, path.as_str()).ok().flatten()?;
        Some((feature.id.clone(), DesignDocument::parse(&text)))
    };
    features.items().filter_map(read).collect()
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
