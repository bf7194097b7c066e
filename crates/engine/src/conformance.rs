//! What every journal must do, as checks that any implementation can be put through. Each one starts from an empty
//! journal and panics with a sentence when the journal is wrong; they are meant to be called from tests.

use crate::chain;
use crate::ports::{Append, Holder, Journal, JournalError, Lease, LeaseAnswer};
use std::future::Future;
use windlass_protocols::{Actor, Fact, Millis, RunId};

/// Runs the whole suite; `fresh` makes an empty journal, `run` waits for a future in the caller's own way.
pub fn check_all<J: Journal>(fresh: impl Fn() -> J, wait: impl Waits) {
    wait.on(appended_facts_come_back_in_order(&fresh()));
    wait.on(a_wrong_version_is_refused_and_changes_nothing(&fresh()));
    wait.on(a_fenced_writer_is_refused(&fresh()));
    wait.on(an_append_without_a_lease_is_refused(&fresh()));
    wait.on(runs_do_not_disturb_each_other(&fresh()));
    wait.on(the_chain_holds_over_several_appends(&fresh()));
    wait.on(a_lease_has_one_holder_and_a_rising_fence(&fresh()));
    wait.on(only_one_of_two_takes_over(&fresh()));
    wait.on(giving_back_a_lost_lease_changes_nothing(&fresh()));
    wait.on(messages_wait_until_they_are_acknowledged(&fresh()));
    wait.on(the_list_shows_the_newest_first(&fresh()));
}

/// How a test waits for a future: a runtime, or nothing for journals that never wait.
pub trait Waits {
    fn on<F: Future<Output = ()>>(&self, future: F);
}

fn fact(text: &str) -> Fact {
    Fact::StopAsked { by: Actor::Human("conformance".to_owned()), reason: text.to_owned() }
}

async fn lease<J: Journal>(journal: &J, run: &RunId) -> Lease {
    match journal.acquire(run.as_str(), "somebody", Millis(1)).await {
        Ok(LeaseAnswer::Granted(lease)) => lease,
        other => unreachable!("a free lease must be granted, got {other:?}"),
    }
}

fn append(lease: &Lease, run: &RunId, expected_version: u64, texts: &[&str]) -> Append {
    Append {
        lease: lease.clone(),
        run: run.clone(),
        expected_version,
        at: Millis(1_000 + expected_version),
        facts: texts.iter().map(|text| fact(text)).collect(),
        headline: format!("{{\"texts\":{}}}", texts.len()),
    }
}

async fn texts<J: Journal>(journal: &J, run: &RunId, from: u64) -> Vec<String> {
    let stored = journal.read(run, from).await.expect("reading works");
    stored
        .iter()
        .map(|row| match row.fact(run).expect("the fact can be read") {
            Fact::StopAsked { reason, .. } => reason,
            other => unreachable!("another fact came back: {other:?}"),
        })
        .collect()
}

async fn appended_facts_come_back_in_order<J: Journal>(journal: &J) {
    let run = RunId::new("a");
    assert!(texts(journal, &run, 0).await.is_empty(), "an unknown run has no facts");
    let lease = lease(journal, &run).await;
    journal.append(append(&lease, &run, 0, &["one", "two"])).await.expect("the first append works");
    journal.append(append(&lease, &run, 2, &["three"])).await.expect("the second append works");
    assert_eq!(texts(journal, &run, 0).await, ["one", "two", "three"]);
    assert_eq!(texts(journal, &run, 2).await, ["three"]);
    assert!(texts(journal, &run, 3).await.is_empty());
    assert!(texts(journal, &run, 99).await.is_empty());
}

async fn a_wrong_version_is_refused_and_changes_nothing<J: Journal>(journal: &J) {
    let run = RunId::new("a");
    let lease = lease(journal, &run).await;
    journal.append(append(&lease, &run, 0, &["one"])).await.expect("the append works");
    for wrong in [0, 2] {
        match journal.append(append(&lease, &run, wrong, &["doubled"])).await {
            Err(JournalError::VersionConflict { actual: 1, expected, .. }) => assert_eq!(expected, wrong),
            other => unreachable!("version {wrong} must be refused, got {other:?}"),
        }
    }
    assert_eq!(texts(journal, &run, 0).await, ["one"]);
}

async fn a_fenced_writer_is_refused<J: Journal>(journal: &J) {
    let run = RunId::new("a");
    let old = lease(journal, &run).await;
    journal.append(append(&old, &run, 0, &["one"])).await.expect("the append works");
    let holder =
        Holder { key: old.key.clone(), owner: "somebody".to_owned(), fence: old.fence, since: Millis(1) };
    let new = match journal.take_over(&holder, "another", Millis(2)).await {
        Ok(LeaseAnswer::Granted(lease)) => lease,
        other => unreachable!("the lease can be taken over, got {other:?}"),
    };
    assert!(
        matches!(journal.append(append(&old, &run, 1, &["late"])).await, Err(JournalError::Fenced { .. })),
        "a writer whose lease was taken over is refused"
    );
    journal.append(append(&new, &run, 1, &["two"])).await.expect("the new holder may write");
    assert_eq!(texts(journal, &run, 0).await, ["one", "two"]);
}

async fn an_append_without_a_lease_is_refused<J: Journal>(journal: &J) {
    let run = RunId::new("a");
    let never = Lease { key: run.as_str().to_owned(), fence: 1 };
    assert!(matches!(
        journal.append(append(&never, &run, 0, &["one"])).await,
        Err(JournalError::Fenced { .. })
    ));
    let lease = lease(journal, &run).await;
    journal.release(&lease).await.expect("giving back works");
    assert!(
        matches!(journal.append(append(&lease, &run, 0, &["one"])).await, Err(JournalError::Fenced { .. })),
        "a lease that was given back is no lease"
    );
    assert!(texts(journal, &run, 0).await.is_empty());
}

async fn runs_do_not_disturb_each_other<J: Journal>(journal: &J) {
    let (a, b) = (RunId::new("a"), RunId::new("b"));
    let (lease_a, lease_b) = (lease(journal, &a).await, lease(journal, &b).await);
    journal.append(append(&lease_a, &a, 0, &["a1"])).await.expect("a is appended");
    journal.append(append(&lease_b, &b, 0, &["b1", "b2"])).await.expect("b is appended");
    journal.append(append(&lease_a, &a, 1, &["a2"])).await.expect("a is appended again");
    assert_eq!(texts(journal, &a, 0).await, ["a1", "a2"]);
    assert_eq!(texts(journal, &b, 0).await, ["b1", "b2"]);
}

async fn the_chain_holds_over_several_appends<J: Journal>(journal: &J) {
    let run = RunId::new("a");
    let lease = lease(journal, &run).await;
    journal.append(append(&lease, &run, 0, &["one", "two"])).await.expect("the append works");
    journal.append(append(&lease, &run, 2, &["three"])).await.expect("the append works");
    let mut stored = journal.read(&run, 0).await.expect("reading works");
    chain::verify(&run, &stored).expect("what was stored verifies");
    assert!(chain::verify(&RunId::new("b"), &stored).is_err(), "rows cannot be moved to another run");
    stored[1].payload = stored[1].payload.replace("two", "2wo");
    assert!(chain::verify(&run, &stored).is_err(), "a changed row is noticed");
}

async fn a_lease_has_one_holder_and_a_rising_fence<J: Journal>(journal: &J) {
    assert_eq!(journal.holder("key").await.expect("looking works"), None, "nobody holds it yet");
    let first = lease(journal, &RunId::new("key")).await;
    let seen = journal.holder("key").await.expect("looking works").expect("somebody holds it");
    assert_eq!((seen.owner.as_str(), seen.fence), ("somebody", first.fence));
    match journal.acquire("key", "another", Millis(5)).await.expect("asking works") {
        LeaseAnswer::Held(holder) => {
            assert_eq!(
                (holder.owner.as_str(), holder.fence, holder.since),
                ("somebody", first.fence, Millis(1))
            );
        }
        LeaseAnswer::Granted(lease) => unreachable!("a held lease was granted again: {lease:?}"),
    }
    journal.release(&first).await.expect("giving back works");
    assert_eq!(journal.holder("key").await.expect("looking works"), None, "it was given back");
    let second = lease(journal, &RunId::new("key")).await;
    assert!(second.fence > first.fence, "a later holder has a higher fence");
}

async fn only_one_of_two_takes_over<J: Journal>(journal: &J) {
    let first = lease(journal, &RunId::new("key")).await;
    let seen = Holder { key: first.key, owner: "somebody".to_owned(), fence: first.fence, since: Millis(1) };
    let taken = journal.take_over(&seen, "fast", Millis(2)).await.expect("taking over works");
    assert!(matches!(taken, LeaseAnswer::Granted(_)));
    match journal.take_over(&seen, "slow", Millis(3)).await.expect("taking over works") {
        LeaseAnswer::Held(holder) => assert_eq!(holder.owner, "fast"),
        LeaseAnswer::Granted(lease) => unreachable!("two took over from the same holder: {lease:?}"),
    }
}

async fn giving_back_a_lost_lease_changes_nothing<J: Journal>(journal: &J) {
    let old = lease(journal, &RunId::new("key")).await;
    let seen =
        Holder { key: old.key.clone(), owner: "somebody".to_owned(), fence: old.fence, since: Millis(1) };
    journal.take_over(&seen, "new", Millis(2)).await.expect("taking over works");
    journal.release(&old).await.expect("giving back is harmless");
    let answer = journal.acquire("key", "third", Millis(3)).await.expect("asking works");
    assert!(matches!(answer, LeaseAnswer::Held(holder) if holder.owner == "new"));
}

async fn messages_wait_until_they_are_acknowledged<J: Journal>(journal: &J) {
    let (a, b) = (RunId::new("a"), RunId::new("b"));
    journal.post(&a, "first", Millis(1)).await.expect("posting works");
    journal.post(&b, "other", Millis(2)).await.expect("posting works");
    journal.post(&a, "second", Millis(3)).await.expect("posting works");
    let waiting = journal.messages(&a).await.expect("reading works");
    let bodies: Vec<&str> = waiting.iter().map(|message| message.body.as_str()).collect();
    assert_eq!(bodies, ["first", "second"]);
    journal.acknowledge(&waiting[0]).await.expect("acknowledging works");
    journal.acknowledge(&waiting[0]).await.expect("twice is harmless");
    let left = journal.messages(&a).await.expect("reading works");
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].body, "second");
    assert_eq!(journal.messages(&b).await.expect("reading works").len(), 1);
}

async fn the_list_shows_the_newest_first<J: Journal>(journal: &J) {
    for (name, at) in [("old", 10), ("new", 30), ("middle", 20)] {
        let run = RunId::new(name);
        let lease = lease(journal, &run).await;
        let mut append = append(&lease, &run, 0, &["one"]);
        append.at = Millis(at);
        append.headline = format!("\"{name}\"");
        journal.append(append).await.expect("the append works");
    }
    let old = RunId::new("old");
    let lease = match journal.acquire("old", "x", Millis(1)).await.expect("asking works") {
        LeaseAnswer::Held(holder) => Lease { key: holder.key, fence: holder.fence },
        LeaseAnswer::Granted(lease) => lease,
    };
    journal.append(append(&lease, &old, 1, &["two"])).await.expect("the append works");
    let heads = journal.runs().await.expect("listing works");
    let names: Vec<&str> = heads.iter().map(|head| head.run.as_str()).collect();
    assert_eq!(names, ["new", "middle", "old"]);
    assert_eq!((heads[2].version, heads[2].started_at), (2, Millis(10)));
    assert_eq!(heads[2].updated_at, Millis(1_001));
    assert_eq!(heads[2].headline, "{\"texts\":1}");
}

#[cfg(test)]
mod tests {
    use super::{Waits, check_all};
    use crate::MemoryJournal;
    use std::future::Future;

    struct Never;

    impl Waits for Never {
        fn on<F: Future<Output = ()>>(&self, future: F) {
            crate::ready::block_on(future);
        }
    }

    #[test]
    fn the_memory_journal_conforms() {
        check_all(MemoryJournal::default, Never);
    }
}
