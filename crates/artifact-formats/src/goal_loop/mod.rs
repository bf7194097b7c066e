//! The files of the goal loop (contract, queue, budget, ledger, reports) under `docs/`, what its engine reads off test
//! output and changes, and the prompts of its roles. It knows formats and rules about content; it selects no item,
//! decides no iteration and touches no disk.

mod budget;
mod contract;
mod features;
mod item_id;
mod progress;
mod recognised;
mod run_log;
mod text_lines;

pub use budget::{BUDGET_FILE, Budget, Caps, Control, Used};
pub use contract::{
    Autonomy, CONTRACT_FILE, Contract, InboxLine, OnBlocked, PARK_AND_GO_ON, PinnedCommands, Scope, ScopePart,
};
pub use features::{
    DefinitionChanges, EditFault, FEATURES_FILE, Feature, FeatureList, FieldChange, FieldOwner, ItemChange,
    ItemContract, ItemStatus, NewItem, Priority,
};
pub use item_id::ItemId;
pub use progress::{
    DesignApproval, DesignEntry, LoopSummary, PROGRESS_FILE, RunEnd, SessionEntry, append_progress,
    has_summary_since, progress_headings,
};
pub use recognised::Recognised;
pub use run_log::{
    FoundIteration, IterationEntry, LoggedAction, LoggedVerdict, Of, RUN_LOG_FILE, RunLog, StartSnapshot,
};

pub use crate::faults::{Faults, Parsed};
