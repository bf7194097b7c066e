//! Checks a record against itself and against the world: the chain of facts, what the facts may say, every sealed
//! artifact and its copy, and that the landed tree is the judged tree.

use super::{find, queries};
use crate::context::RunContext;
use crate::effect_runner::goal_plant;
use crate::evidence::file_digest;
use crate::fault::{git_fault, journal_fault};
use crate::host::Host;
use crate::projection::Projector;
use std::path::{Path, PathBuf};
use windlass_control_api::views::{Verification, VerificationCheck};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Journal, JournalError, RunHead, Stored, chain, engine};
use windlass_git_workspaces::{Commit, Repository};
use windlass_protocols::kernel::place::Place;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::goal_contract::facts::Fact as GoalFact;
use windlass_protocols::protocol::judged_task::state::State;
use windlass_protocols::{ArtifactRef, CommitId, Fact, Run, RunId, TreeId};

pub(crate) async fn verify(host: &Host, name: &str, moved_to: Option<&Path>) -> Result<Verification, Fault> {
    let (id, head) = match find::head(host, name).await {
        Ok(head) => (head.run.clone(), Some(head)),
        // A run whose line was taken out of the list can still be named by its id.
        Err(fault) if fault.code == Code::UnknownRun => (RunId::new(name), None),
        Err(fault) => return Err(fault),
    };
    let mut checks = Vec::new();
    match host.journal.read(&id, 0).await {
        Ok(stored) if stored.is_empty() && head.is_none() => return Err(find::unknown(name)),
        Ok(stored) => check_all(host, (&id, head.as_ref(), moved_to), &stored, &mut checks)?,
        Err(error @ JournalError::Corrupt { .. }) => checks.push(failed(CHAIN, error.to_string())),
        Err(error) => return Err(journal_fault(error)),
    }
    let holds = checks.iter().all(|check| check.holds);
    Ok(Verification { run: id.to_string(), holds, checks })
}

/// Later checks read the facts; they are only worth anything while the chain holds.
fn check_all(
    host: &Host,
    (id, head, moved_to): (&RunId, Option<&RunHead>, Option<&Path>),
    stored: &[Stored],
    checks: &mut Vec<VerificationCheck>,
) -> Result<(), Fault> {
    let chain = check_chain(id, stored);
    let broken = !chain.holds;
    checks.push(chain);
    if broken {
        return Ok(());
    }
    match engine::replay(id, stored) {
        Ok(run) => check_rest(host, (id, head, moved_to), stored, &run, checks),
        Err(error) => {
            checks.push(failed("facts can be read", error.to_string()));
            Ok(())
        }
    }
}

fn check_rest(
    host: &Host,
    (id, head, moved_to): (&RunId, Option<&RunHead>, Option<&Path>),
    stored: &[Stored],
    run: &Run,
    checks: &mut Vec<VerificationCheck>,
) -> Result<(), Fault> {
    let facts: Vec<Fact> =
        stored.iter().map(|row| row.fact(id)).collect::<Result<_, _>>().map_err(journal_fault)?;
    checks.push(check_rules(&facts));
    checks.push(check_list(head, stored, run));
    let Ok(protocol) = find::protocol(run) else { return Ok(()) };
    checks.push(check_sealed(host, &queries::sealed(id, stored)?));
    let context = match moved_to {
        Some(place) => find::context_at(host, id, protocol, place),
        None => find::context(host, id, protocol).map_err(|fault| how_to_point_at_it(fault, id, protocol)),
    };
    checks.push(check_copies(context.as_ref(), run, protocol, (stored, &facts)));
    checks.extend(check_items(context.as_ref(), &facts));
    checks.extend(match protocol {
        Protocol::JudgedTask(state) => check_landing(context.as_ref(), state),
        Protocol::FeedbackControl(state) => {
            let base = state.base.as_ref().map(|(base, _)| base);
            check_commits(context.as_ref(), base, &state.spec.place, &facts)
        }
        Protocol::GoalContract(state) => {
            let base = state.base.as_ref().map(|(base, _)| base);
            check_commits(context.as_ref(), base, &state.spec.place, &facts)
        }
        Protocol::RoadmapRounds(_) => super::roadmap_loop::verify::check(context.as_ref(), &facts),
    });
    Ok(())
}

/// A repository that is not where it was is no fault of the record.
fn how_to_point_at_it(fault: Fault, id: &RunId, protocol: &Protocol) -> Fault {
    if fault.code != Code::NotARepository && Path::new(&protocol.place().repository).exists() {
        return fault;
    }
    let message = format!(
        "the repository of the run was {}, and it is not there now: `windlass verify {id} --repo DIR` says where it is",
        protocol.place().repository
    );
    Fault { message, ..fault }
}

/// Where a file of the run directory is today, when the repository it lay in was moved.
fn today(context: &RunContext, protocol: &Protocol, path: &Path) -> PathBuf {
    match path.strip_prefix(&protocol.place().repository) {
        Ok(inside) => context.repository.checkout().work_tree().join(inside),
        Err(_) => path.to_owned(),
    }
}

pub(crate) fn passed(what: &str, details: String) -> VerificationCheck {
    VerificationCheck { what: what.to_owned(), holds: true, details, attention: false }
}

pub(crate) fn failed(what: &str, details: String) -> VerificationCheck {
    VerificationCheck { what: what.to_owned(), holds: false, details, attention: false }
}

pub(crate) fn judged(what: &str, wrong: &[String], good: String) -> VerificationCheck {
    if wrong.is_empty() { passed(what, good) } else { failed(what, wrong.join("; ")) }
}

const CHAIN: &str = "the chain of facts";

pub(crate) fn check_chain(id: &RunId, stored: &[Stored]) -> VerificationCheck {
    match chain::verify(id, stored) {
        Ok(_) if stored.is_empty() => failed(CHAIN, "there is not a single fact".to_owned()),
        Ok(last) => {
            passed(CHAIN, format!("{} facts, last hash {}", stored.len(), crate::narrate::short(&last)))
        }
        Err(error) => failed(CHAIN, error.to_string()),
    }
}

pub(crate) fn check_rules(facts: &[Fact]) -> VerificationCheck {
    let wrong = windlass_protocols::invariants::violations(facts);
    judged("the rules of the loop", &wrong, "nothing was accepted or landed that was not earned".to_owned())
}

/// The line that lists show is a copy; it must say what the facts say. It also knows how many facts there were, which
/// the chain alone cannot: a chain without its last links is a chain.
fn check_list(head: Option<&RunHead>, stored: &[Stored], run: &Run) -> VerificationCheck {
    const WHAT: &str = "the line in the list";
    let Some(head) = head else {
        return failed(WHAT, "the run is missing in the list".to_owned());
    };
    let mut wrong = Vec::new();
    if head.version != stored.len() as u64 {
        wrong.push(format!("the list says {} facts, the journal has {}", head.version, stored.len()));
    }
    let times = (stored.first().map(|row| row.at), stored.last().map(|row| row.at));
    if times != (Some(head.started_at), Some(head.updated_at)) {
        wrong.push("the times in the list are not those of the first and the last fact".to_owned());
    }
    if !crate::headline::agrees(&head.headline, run) {
        wrong.push("the line in the list is not what the facts say".to_owned());
    }
    judged(WHAT, &wrong, "it says what the facts say".to_owned())
}

fn check_sealed(host: &Host, sealed: &[(u32, ArtifactRef)]) -> VerificationCheck {
    let mut wrong = Vec::new();
    for (round, artifact) in sealed {
        let path = host.evidence.path_of(&artifact.digest);
        match file_digest(&path) {
            Ok(found) if found == artifact.digest => {}
            Ok(_) => {
                wrong.push(format!("{} of round {round} was changed: {}", artifact.name, path.display()));
            }
            Err(error) => wrong.push(format!("{} of round {round} cannot be read: {error}", artifact.name)),
        }
    }
    judged("sealed artifacts", &wrong, format!("{} are what they were", sealed.len()))
}

/// Every file of the run directory that the engine wrote.
///
/// What the facts of the last append ask for may not have been written yet: whoever was killed in between had no time.
/// So those files may also still be what they were before.
fn check_copies(
    context: Result<&RunContext, &Fault>,
    run: &Run,
    protocol: &Protocol,
    (stored, facts): (&[Stored], &[Fact]),
) -> VerificationCheck {
    const WHAT: &str = "copies in the run directory";
    let run_dir = match context {
        Ok(context) => today(context, protocol, context.run_dir()),
        Err(_) => PathBuf::from(&protocol.place().run_dir),
    };
    if !run_dir.is_dir() && context.is_ok() {
        return passed(WHAT, "the run directory was removed; the sealed artifacts stand alone".to_owned());
    }
    let context = match context {
        Ok(context) => context,
        Err(fault) => return failed(WHAT, format!("they cannot be compared: {}", fault.message)),
    };
    let expected = Projector::expected_files(context, facts);
    let before = Projector::expected_files(context, &facts[..before_last_append(stored)]);
    // The last append of a run that has ended only replaces files; those of a run that was taken over are new then.
    let may_be_missing = !run.ended || context.adopted().is_some();
    let wrong: Vec<String> = expected
        .iter()
        .filter(|(path, digest)| match (file_digest(&today(context, protocol, path)), before.get(*path)) {
            (Ok(found), before) => found != **digest && before != Some(&found),
            (Err(error), None) => error.kind() != std::io::ErrorKind::NotFound || !may_be_missing,
            (Err(_), Some(_)) => true,
        })
        .map(|(path, _)| {
            let shown = path.strip_prefix(context.run_dir()).unwrap_or(path);
            format!("{} is not what was written", shown.display())
        })
        .collect();
    judged(WHAT, &wrong, format!("{} are what was written", expected.len()))
}

/// The facts of one append share their moment.
fn before_last_append(stored: &[Stored]) -> usize {
    let Some(last) = stored.last() else { return 0 };
    stored.iter().rposition(|row| row.at != last.at).map_or(0, |position| position + 1)
}

/// Where the landed commit can be found today, and whether somebody should look at that. Branches are the user's: to move
/// one is no fault of the record, but a commit on none is one that git may drop.
fn whereabouts(repository: &Repository, commit: &Commit, reference: &str) -> (String, bool) {
    let full = format!("refs/heads/{reference}");
    let standing = || match repository.read_reference(&full) {
        Ok(Some(_)) => format!("{reference} no longer has it"),
        Ok(None) => format!("{reference} is gone"),
        Err(error) => format!("{reference} cannot be read: {error}"),
    };
    match repository.branches_with(&commit.id) {
        Ok(branches) if branches.iter().any(|branch| branch == reference) => {
            (format!("{reference} has it"), false)
        }
        Ok(branches) => match branches.first() {
            Some(other) => (format!("{}, {other} has it", standing()), false),
            None => (format!("{} and no branch has it, so git may drop it one day", standing()), true),
        },
        Err(error) => (format!("whether {reference} still has it cannot be told: {error}"), true),
    }
}

fn check_landing(context: Result<&RunContext, &Fault>, state: &State) -> Option<VerificationCheck> {
    const WHAT: &str = "the landed tree";
    let (commit, reference) = state.landed.as_ref()?;
    let judged = state.change.as_ref().map(|change| change.tree.to_string());
    let found = context.map_err(|fault| fault.message.clone()).and_then(|context| {
        let found = context.repository.resolve_commit(commit.as_str());
        found.map(|found| (context, found)).map_err(|error| git_fault(error).message)
    });
    Some(match found {
        Ok((context, found)) if Some(found.tree.to_string()) == judged => {
            let (whereabouts, attention) = whereabouts(&context.repository, &found, reference);
            let details = format!("{commit} holds exactly the judged tree {}; {whereabouts}", found.tree);
            VerificationCheck { attention, ..passed(WHAT, details) }
        }
        Ok((_, found)) => {
            failed(WHAT, format!("{commit} holds tree {}, the judged one is {judged:?}", found.tree))
        }
        Err(why) => failed(WHAT, format!("the landed commit is not in the repository: {why}")),
    })
}

/// Every iteration's commit, in the order in which they were made, each with the one before it as its parent.
fn check_commits(
    context: Result<&RunContext, &Fault>,
    base: Option<&CommitId>,
    place: &Place,
    facts: &[Fact],
) -> Option<VerificationCheck> {
    const WHAT: &str = "the commits of the iterations";
    let commits: Vec<&str> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::FeedbackControl(ControlFact::IterationCommitted { commit, .. })
            | Fact::GoalContract(
                GoalFact::ItemCommitted { commit, .. }
                | GoalFact::SummaryCommitted { commit: Some(commit), .. },
            ) => Some(commit.as_str()),
            _ => None,
        })
        .collect();
    let last = commits.last()?;
    let context = match context {
        Ok(context) => context,
        Err(fault) => return Some(failed(WHAT, format!("they cannot be looked at: {}", fault.message))),
    };
    let base = base.map(ToString::to_string).unwrap_or_default();
    let expected: Vec<&str> = commits.iter().rev().copied().collect();
    Some(match context.repository.first_parents(last, &base) {
        Ok(found) if found.iter().map(String::as_str).eq(expected.iter().copied()) => {
            let branch = &place.doer_branch;
            let standing = match context.repository.read_reference(&format!("refs/heads/{branch}")) {
                Ok(Some(found)) if found.as_str() == *last => format!("{branch} ends on them"),
                Ok(Some(_)) => format!("{branch} stands elsewhere now"),
                Ok(None) | Err(_) => format!("{branch} is gone"),
            };
            passed(WHAT, format!("{} follow each other from the base; {standing}", commits.len()))
        }
        Ok(_) => {
            failed(WHAT, "the repository has other commits between the base and the last one".to_owned())
        }
        Err(error) => failed(WHAT, format!("they are not in the repository: {}", git_fault(error).message)),
    })
}

/// Each item's commit holds exactly the content that was judged, beside the loop's own files.
fn check_items(context: Result<&RunContext, &Fault>, facts: &[Fact]) -> Option<VerificationCheck> {
    const WHAT: &str = "what was committed for each item";
    let committed: Vec<_> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::GoalContract(GoalFact::ItemCommitted { item, commit, tree }) => Some((item, commit, tree)),
            _ => None,
        })
        .collect();
    // Where the commits cannot be looked at, the check of their order says so.
    let context = context.ok().filter(|_| !committed.is_empty())?;
    let holds = |commit: &CommitId, tree: &TreeId| {
        let commit = context.repository.resolve_commit(commit.as_str()).map_err(git_fault)?;
        context.repository.import(&commit).map_err(git_fault)?;
        Ok::<_, Fault>(goal_plant(context, &commit.tree)?.as_str() == tree.as_str())
    };
    let wrong: Vec<String> = committed
        .iter()
        .filter_map(|(item, commit, tree)| match holds(commit, tree) {
            Ok(true) => None,
            Ok(false) => Some(format!("{commit} of {item} holds something else than tree {tree}")),
            Err(fault) => Some(format!("{commit} of {item} cannot be looked at: {}", fault.message)),
        })
        .collect();
    let good = format!("{} are the judged content and the loop's own files", committed.len());
    Some(judged(WHAT, &wrong, good))
}
