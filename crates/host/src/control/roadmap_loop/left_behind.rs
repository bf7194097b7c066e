//! What earlier runs of a checkout knew of the rounds and the update that are live: who was at work when they ended is told by
//! no file, and a review that lies there may be the draft of whoever was stopped over it.

use super::superseded::replayed;
use crate::control::find;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use std::path::Path;
use windlass_control_api::Fault;
use windlass_control_api::views::LoopKind;
use windlass_engine::Journal;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::book::Book;
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::spec::LeftBehind;

/// By the newest run that knew each; nothing of what only another controller knew.
pub(super) async fn of(host: &Host, top: &Path, plane: &Plane) -> Result<Vec<LeftBehind>, Fault> {
    let rounds = plane.rounds.iter().map(|round| (round.id.as_str(), false));
    let update = plane.update.iter().map(|update| (update.source_round.as_str(), true));
    let mut wanted: Vec<(&str, bool)> = rounds.chain(update).collect();
    let mut known = Vec::new();
    if wanted.is_empty() {
        return Ok(known);
    }
    for head in host.journal.runs().await.map_err(journal_fault)? {
        let line = headline::line(&head, false);
        if line.kind != LoopKind::Roadmap || Path::new(&line.repository) != top {
            continue;
        }
        let run = replayed(host, &head).await?;
        if let Ok(Protocol::RoadmapRounds(state)) = find::protocol(&run) {
            let found = wanted.iter().filter_map(|(round, update)| left(&state.book, round, *update));
            known.extend(found.collect::<Vec<_>>());
            wanted.retain(|(round, update)| {
                !known.iter().any(|left| left.round == *round && left.update == *update)
            });
        }
        if wanted.is_empty() {
            break;
        }
    }
    Ok(known)
}

fn left(book: &Book, round: &str, update: bool) -> Option<LeftBehind> {
    let approval = if update {
        let (source, known) = book.update.as_ref()?;
        (source == round).then_some(&known.approval)?
    } else {
        &book.rounds.get(round)?.approval
    };
    let approved = approval.as_ref().map(|(artifact, _)| artifact.clone());
    Some(LeftBehind { round: round.to_owned(), update, approved })
}
