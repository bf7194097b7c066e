//! The goal loop's files held against their specification, through the public interface only.

mod budget;
mod contract;
mod design;
mod evaluation;
mod feature_edits;
mod features;
mod guards;
mod ledgers;
mod prompts;
mod secrets;
mod test_runs;

use windlass_artifact_formats::goal_loop::ItemId;

fn id(text: &str) -> ItemId {
    ItemId::parse(text).expect("an id")
}
