//! Stops the runs of a control plane that nobody drives any more, before another run works on it. Rounds live in worktrees
//! that all runs of a plane share, and agents outlive the process that asked them: two of them must not write into one.

use crate::control::resume::stop_undriven;
use crate::control::{find, people};
use crate::fault::journal_fault;
use crate::headline;
use crate::holder::{HeldRepository, Owner};
use crate::host::Host;
use windlass_control_api::Fault;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::views::{LoopKind, Status};
use windlass_engine::{Journal, RunHead};
use windlass_protocols::{Effect, Run, RunId};

/// Whoever holds the repository may do this: no other process drives a run in it. `checkout` is the top of the work tree.
pub(crate) async fn stop_the_others(
    host: &Host,
    (checkout, run): (&str, &RunId),
    held: &HeldRepository,
    watcher: &dyn Watcher,
) -> Result<(), Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    for head in heads.iter().filter(|head| head.run != *run && is_cut_off(head, checkout)) {
        let other = super::superseded::replayed(host, head).await?;
        watcher.hear(&Event::Notice { text: notice(&head.run, &other) });
        let context = find::context(host, &head.run, find::protocol(&other)?)?;
        let owner = Owner::this_process(head.run.as_str(), &format!("windlass stop {}", head.run))?;
        let wish = (people::person(host), format!("run {run} goes on with its roadmap"));
        Box::pin(stop_undriven(host, context, (&owner, Some(held)), wish)).await?;
    }
    Ok(())
}

/// Begun and never ended; while the repository is in our hands, nobody drives it.
fn is_cut_off(head: &RunHead, checkout: &str) -> bool {
    let line = headline::line(head, false);
    line.status == Status::Interrupted && line.kind == LoopKind::Roadmap && line.repository == checkout
}

fn notice(run: &RunId, other: &Run) -> String {
    let at_work: Vec<String> = other
        .unsettled
        .values()
        .filter_map(|effect| match effect {
            Effect::RunAgent(asked) => {
                let round = asked.work.as_ref().map(|place| format!(" of {}", place.work.round));
                Some(format!("the {}{}", asked.role, round.unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    let who = if at_work.is_empty() {
        String::new()
    } else {
        format!(", and with it {}, should it still be at work", at_work.join(" and "))
    };
    format!(
        "run {run} of this roadmap was cut off. It is stopped now{who}: two agents must not write into one worktree. What \
         was made so far is kept. `windlass resume {run}` instead of a new run would have gone on with it"
    )
}
