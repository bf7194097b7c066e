//! The files of the goal loop (contract, queue, budget, ledger, reports) under `docs/`, what its engine reads off test
//! output and changes, and the prompts of its roles. It knows formats and rules about content; it selects no item,
//! decides no iteration and touches no disk.

mod features;
mod item_id;

pub use features::{
    DefinitionChanges, EditFault, FEATURES_FILE, Feature, FeatureList, FieldChange, FieldOwner, ItemChange,
    ItemContract, ItemStatus, NewItem, Priority, Recognised,
};
pub use item_id::ItemId;

pub use crate::faults::{Faults, Parsed};
