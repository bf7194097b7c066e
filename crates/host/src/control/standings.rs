//! Every tree of a run that somebody may want to stand in, by what its loop calls it: rounds, iterations, items. Told by
//! the facts alone.

use crate::fault::journal_fault;
use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_control_api::{Code, Fault};
use windlass_engine::Stored;
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::goal_contract::facts::Fact as GoalFact;
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::{CommitId, Fact, RunId, TreeId};

/// What a run stood at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) label: String,
    pub(crate) at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Tree(TreeId),
    /// With its tree where the facts name it.
    Commit(CommitId, Option<TreeId>),
}

/// In the order in which they came about.
pub(crate) fn of(id: &RunId, stored: &[Stored]) -> Result<Vec<Standing>, Fault> {
    let mut standings = Vec::new();
    for row in stored {
        let standing = match row.fact(id).map_err(journal_fault)? {
            Fact::JudgedTask(TaskFact::ChangeTaken { change })
            | Fact::GoalContract(GoalFact::ChangeTaken { change }) => {
                (change.round.to_string(), At::Tree(change.tree))
            }
            Fact::FeedbackControl(ControlFact::IterationCommitted { label, commit, .. }) => {
                (label, At::Commit(commit, None))
            }
            // Its tree in the facts is what was judged; the commit has the loop's own files too.
            Fact::GoalContract(GoalFact::ItemCommitted { item, commit, .. }) => {
                (item, At::Commit(commit, None))
            }
            Fact::RoadmapRounds(RoadmapFact::WorkTaken { captured }) => {
                (captured.work.round, At::Commit(captured.commit, Some(captured.tree)))
            }
            Fact::RoadmapRounds(RoadmapFact::RoundMerged { round, commit, tree, .. }) => {
                (round, At::Commit(commit, Some(tree)))
            }
            _ => continue,
        };
        standings.push(Standing { label: standing.0, at: standing.1 });
    }
    Ok(standings)
}

/// The last one of that name, or the last of all.
pub(crate) fn find<'s>(standings: &'s [Standing], label: Option<&str>) -> Result<&'s Standing, Fault> {
    let is_meant = |standing: &&Standing| {
        label.is_none_or(|label| {
            let number = |name: &str| names::round_number(name).map(|number| number.to_string());
            standing.label == label
                || number(&standing.label)
                    .is_some_and(|found| found == label || number(label).as_deref() == Some(found.as_str()))
        })
    };
    standings.iter().rev().find(is_meant).ok_or_else(|| {
        let mut known: Vec<&str> = standings.iter().map(|standing| standing.label.as_str()).collect();
        known.dedup();
        let message = match label {
            Some(label) => format!("the run has nothing that it calls {label}"),
            None => "the run has not made anything yet".to_owned(),
        };
        let hint = if known.is_empty() {
            "`RUN:base` is what it began with".to_owned()
        } else {
            format!("it has {}, and `base`", known.join(", "))
        };
        Fault::new(Code::NotAllowedNow, message).kept("nothing was changed").hint(hint)
    })
}
