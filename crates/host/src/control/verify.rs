//! Checks a record against itself and against the world: the chain of facts, what the facts may say, every sealed
//! artifact and its copy, and that the landed tree is the judged tree.

use super::{find, queries};
use crate::context::RunContext;
use crate::evidence::file_digest;
use crate::fault::{git_fault, journal_fault};
use crate::host::Host;
use crate::projection::is_round_file;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_control_api::Fault;
use windlass_control_api::views::{Verification, VerificationCheck};
use windlass_engine::{Journal, RunHead, Stored, chain, engine};
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::protocol::judged_task::state::State;
use windlass_protocols::{ArtifactRef, Fact, Run};

pub(crate) async fn verify(host: &Host, name: &str) -> Result<Verification, Fault> {
    let head = find::head(host, name).await?;
    let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
    let mut checks = vec![check_chain(&head, &stored)];
    // Later checks read the facts; they are only worth anything while the chain holds.
    if checks[0].holds {
        match engine::replay(&head.run, &stored) {
            Ok(run) => check_rest(host, &head, &stored, &run, &mut checks)?,
            Err(error) => checks.push(failed("facts can be read", error.to_string())),
        }
    }
    let holds = checks.iter().all(|check| check.holds);
    Ok(Verification { run: head.run.to_string(), holds, checks })
}

fn check_rest(
    host: &Host,
    head: &RunHead,
    stored: &[Stored],
    run: &Run,
    checks: &mut Vec<VerificationCheck>,
) -> Result<(), Fault> {
    let facts: Vec<Fact> =
        stored.iter().map(|row| row.fact(&head.run)).collect::<Result<_, _>>().map_err(journal_fault)?;
    let state = find::task(run)?;
    checks.push(check_rules(&facts));
    checks.push(check_list(head, run));
    let sealed = queries::sealed(&head.run, stored)?;
    checks.push(check_sealed(host, &sealed));
    checks.push(check_copies(state, &facts, &sealed));
    if let Some(check) = check_landing(&find::context(host, &head.run, state)?, state) {
        checks.push(check);
    }
    Ok(())
}

fn passed(what: &str, details: String) -> VerificationCheck {
    VerificationCheck { what: what.to_owned(), holds: true, details }
}

fn failed(what: &str, details: String) -> VerificationCheck {
    VerificationCheck { what: what.to_owned(), holds: false, details }
}

fn judged(what: &str, wrong: &[String], good: String) -> VerificationCheck {
    if wrong.is_empty() { passed(what, good) } else { failed(what, wrong.join("; ")) }
}

fn check_chain(head: &RunHead, stored: &[Stored]) -> VerificationCheck {
    const WHAT: &str = "the chain of facts";
    match chain::verify(&head.run, stored) {
        Ok(last) => {
            passed(WHAT, format!("{} facts, last hash {}", stored.len(), crate::narrate::short(&last)))
        }
        Err(error) => failed(WHAT, error.to_string()),
    }
}

fn check_rules(facts: &[Fact]) -> VerificationCheck {
    let wrong = windlass_protocols::invariants::violations(facts);
    judged("the rules of the loop", &wrong, "nothing was accepted or landed that was not earned".to_owned())
}

/// The line that lists show is a copy; it must say what the facts say.
fn check_list(head: &RunHead, run: &Run) -> VerificationCheck {
    let mut wrong = Vec::new();
    if head.version != run.version {
        wrong.push(format!("the list says {} facts, the journal has {}", head.version, run.version));
    }
    if head.headline != crate::headline::of(run) {
        wrong.push("the line in the list is not what the facts say".to_owned());
    }
    judged("the line in the list", &wrong, "it says what the facts say".to_owned())
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

/// The copies in the run directory that speak for a round, as the last fact about them says.
fn check_copies(state: &State, facts: &[Fact], sealed: &[(u32, ArtifactRef)]) -> VerificationCheck {
    const WHAT: &str = "copies in the run directory";
    let run_dir = PathBuf::from(&state.spec.place.run_dir);
    if !run_dir.is_dir() {
        return passed(WHAT, "the run directory was removed; the sealed artifacts stand alone".to_owned());
    }
    let wrong: Vec<String> = expected_copies(facts, sealed)
        .into_iter()
        .filter(|((round, name), artifact)| {
            let path = run_dir.join("rounds").join(format!("round-{round}")).join(name);
            !file_digest(&path).is_ok_and(|found| found == artifact.digest)
        })
        .map(|((round, name), _)| format!("{name} of round {round} is not what was sealed"))
        .chain(summary_is_wrong(&run_dir, state))
        .collect();
    judged(WHAT, &wrong, "they are what was sealed".to_owned())
}

fn expected_copies(facts: &[Fact], sealed: &[(u32, ArtifactRef)]) -> BTreeMap<(u32, String), ArtifactRef> {
    use windlass_protocols::protocol::judged_task::facts::Source;
    let mut expected = BTreeMap::new();
    let mut round = 0;
    for fact in facts {
        match fact {
            Fact::JudgedTask(TaskFact::RoundOpened { round: opened }) => round = *opened,
            Fact::JudgedTask(TaskFact::HandoffTaken { handoff }) => {
                expected.insert((round, handoff.artifact.name.clone()), handoff.artifact.clone());
            }
            Fact::JudgedTask(TaskFact::ChangeTaken { change }) => {
                expected.insert((round, change.patch.name.clone()), change.patch.clone());
            }
            Fact::JudgedTask(TaskFact::VerdictTaken { source: Source::Agent { artifact }, .. }) => {
                expected.insert((round, artifact.name.clone()), artifact.clone());
            }
            _ => {}
        }
    }
    // Results, prompts, last messages and logs have no later say: the last sealed one of a round is the copy.
    for (round, artifact) in sealed {
        let name = artifact.name.as_str();
        let shown = (is_round_file(name) && name.ends_with("-results.json"))
            || name == "audit-results.json"
            || name.ends_with(".prompt.md")
            || name.ends_with(".last.md")
            || name.starts_with("logs/");
        if shown && *round > 0 {
            expected.insert((*round, artifact.name.clone()), artifact.clone());
        }
    }
    expected
}

fn summary_is_wrong(run_dir: &std::path::Path, state: &State) -> Option<String> {
    let end = state.end.as_ref()?;
    let text = std::fs::read(run_dir.join("summary.json")).ok();
    let file = text.as_deref().and_then(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).ok());
    let says = file.as_ref().and_then(|file| file.get("final_verdict")).and_then(serde_json::Value::as_str);
    (says != Some(end.legacy_word())).then(|| "summary.json does not say how the run ended".to_owned())
}

fn check_landing(context: &RunContext, state: &State) -> Option<VerificationCheck> {
    const WHAT: &str = "the landed tree";
    let (commit, reference) = state.landed.as_ref()?;
    let judged = state.change.as_ref().map(|change| change.tree.to_string());
    let found = context.repository.resolve_commit(commit.as_str()).map_err(git_fault);
    Some(match found {
        Ok(found) if Some(found.tree.to_string()) == judged => {
            passed(WHAT, format!("{commit} on {reference} holds exactly the judged tree {}", found.tree))
        }
        Ok(found) => {
            failed(WHAT, format!("{commit} holds tree {}, the judged one is {judged:?}", found.tree))
        }
        Err(fault) => failed(WHAT, format!("the landed commit is not in the repository: {}", fault.message)),
    })
}
