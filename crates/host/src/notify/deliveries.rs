//! The files between what is to be told and whoever sends it, under `notify/` in the state directory: one per message
//! and channel. A file is there until its message arrived or was given up; what was given up is kept and can be looked
//! at. Whoever sends one holds its lock, which the system takes from the dead.

use super::{Channel, Message, Trouble};
use crate::clock::SystemClock;
use crate::durable_file::{Flush, replace};
use crate::fault::file_fault;
use crate::state_dir::make_private;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_engine::Clock;

#[derive(Clone, Debug)]
pub(crate) struct Deliveries(PathBuf);

/// One message on its way through one channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) message: Message,
    pub(crate) channel: Channel,
    /// When it was put here, since 1970.
    pub(crate) since_ms: u64,
}

/// What came of the tries so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tries {
    pub(crate) count: u32,
    pub(crate) next_ms: u64,
    pub(crate) last: String,
}

/// What never arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub(crate) delivery: Delivery,
    pub(crate) tries: u32,
    pub(crate) why: String,
    pub(crate) at_ms: u64,
}

/// How often, and for how long, something is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) most_tries: u32,
    pub(crate) first_wait_ms: u64,
    /// Nothing is given up sooner, so that many short processes do not use its tries up in a moment.
    pub(crate) least_age_ms: u64,
}

impl Policy {
    pub(crate) const USUAL: Self = Self { most_tries: 6, first_wait_ms: 1_000, least_age_ms: 5 * 60 * 1_000 };

    /// Four times as long after each try: 1 s, 4 s, 16 s, 64 s, 256 s.
    fn wait_ms(self, tries: u32) -> u64 {
        self.first_wait_ms.saturating_mul(4_u64.saturating_pow(tries.saturating_sub(1)))
    }
}

impl Deliveries {
    pub(crate) fn at(notify: PathBuf) -> Self {
        Self(notify)
    }

    fn pending_dir(&self) -> PathBuf {
        self.0.join("pending")
    }

    fn failed_dir(&self) -> PathBuf {
        self.0.join("failed")
    }

    pub(super) fn marks(&self) -> PathBuf {
        self.0.join("marks")
    }

    /// A place for what the command of one delivery leaves.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.0.join("commands").join(name)
    }

    /// Durable when this returns. What is there already stays as it is: it may be on its way.
    pub(crate) fn put(&self, message: &Message, channel: &Channel) -> Result<(), Fault> {
        let directory = self.pending_dir();
        make_private(&directory)?;
        let path = directory.join(format!("{}.{}.json", message.id, channel.word()));
        if path.exists() {
            return Ok(());
        }
        let since_ms = SystemClock.now().0;
        let delivery = Delivery { message: message.clone(), channel: channel.clone(), since_ms };
        replace(&path, &serde_json::to_vec(&delivery).unwrap_or_default(), Flush::ToDisk)?;
        windlass_crash_points::reach("notify.offered");
        Ok(())
    }

    pub(crate) fn pending(&self) -> Vec<(Delivery, Tries)> {
        let names = names(&self.pending_dir());
        names.iter().filter_map(|name| Some((self.read(name)?, self.tries(name)))).collect()
    }

    pub(crate) fn failed(&self) -> Vec<Failed> {
        let read = |name: &String| {
            let text = std::fs::read(self.failed_dir().join(format!("{name}.json"))).ok()?;
            serde_json::from_slice(&text).ok()
        };
        names(&self.failed_dir()).iter().filter_map(read).collect()
    }

    /// Whether anything was left here for somebody to send.
    pub(crate) fn has_some(&self) -> bool {
        let some = |directory: &Path| !names(directory).is_empty();
        some(&self.pending_dir()) || some(&self.marks())
    }

    /// The names of what one channel has to send, with the time of the next try.
    pub(super) fn due(&self, channel: &str) -> Vec<(String, u64)> {
        let ending = format!(".{channel}");
        let names = names(&self.pending_dir()).into_iter().filter(|name| name.ends_with(&ending));
        names.map(|name| (name.clone(), self.tries(&name).next_ms)).collect()
    }

    /// `None` when somebody else sends it, or has sent it.
    pub(super) fn claim(&self, name: &str) -> Option<Claimed> {
        let path = self.pending_dir().join(format!("{name}.json"));
        let file = File::open(&path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        // Whoever held it before us may have taken the file away.
        let same = path.metadata().ok()?.ino() == file.metadata().ok()?.ino();
        let delivery = self.read(name).filter(|_| same)?;
        Some(Claimed {
            home: self.clone(),
            name: name.to_owned(),
            tries: self.tries(name),
            delivery,
            _lock: file,
        })
    }

    /// Everything that was given up is to be tried anew.
    pub(crate) fn take_back(&self) -> Result<Vec<Delivery>, Fault> {
        let mut taken = Vec::new();
        for failed in self.failed() {
            let Delivery { message, channel, .. } = &failed.delivery;
            self.put(message, channel)?;
            let _ = std::fs::remove_file(self.failed_dir().join(format!(
                "{}.{}.json",
                message.id,
                channel.word()
            )));
            taken.push(failed.delivery);
        }
        Ok(taken)
    }

    /// Lets be what was given up.
    pub(crate) fn forget(&self) -> Result<Vec<Failed>, Fault> {
        let failed = self.failed();
        let directory = self.failed_dir();
        match std::fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(file_fault("remove", &directory, &error))
            }
            _ => Ok(failed),
        }
    }

    fn read(&self, name: &str) -> Option<Delivery> {
        let text = std::fs::read(self.pending_dir().join(format!("{name}.json"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Lost with the power, they begin anew.
    fn tries(&self, name: &str) -> Tries {
        let text = std::fs::read(self.pending_dir().join(format!("{name}.tries")));
        text.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }
}

/// A delivery that nobody else sends as long as this lives.
pub(super) struct Claimed {
    home: Deliveries,
    pub(super) name: String,
    pub(super) delivery: Delivery,
    tries: Tries,
    _lock: File,
}

impl Claimed {
    /// Counts before anything is sent: a try that a kill cuts off was one.
    pub(super) fn try_with(
        mut self,
        policy: Policy,
        send: impl FnOnce(&Delivery, &Path) -> Result<(), Trouble>,
    ) -> Result<(), Fault> {
        self.tries.count = self.tries.count.saturating_add(1);
        self.tries.next_ms = SystemClock.now().0.saturating_add(policy.wait_ms(self.tries.count));
        "it was cut off".clone_into(&mut self.tries.last);
        self.write_tries()?;
        windlass_crash_points::reach("notify.send");
        match send(&self.delivery, &self.home.place(&self.name)) {
            Ok(()) => self.remove(),
            Err(trouble) => self.failed(policy, &trouble),
        }
    }

    fn failed(mut self, policy: Policy, trouble: &Trouble) -> Result<(), Fault> {
        let now = SystemClock.now().0;
        let worn_out = self.tries.count >= policy.most_tries
            && now.saturating_sub(self.delivery.since_ms) >= policy.least_age_ms;
        if !worn_out && matches!(trouble, Trouble::Passing(_)) {
            self.tries.next_ms = now.saturating_add(policy.wait_ms(self.tries.count));
            trouble.words().clone_into(&mut self.tries.last);
            return self.write_tries();
        }
        let record = Failed {
            delivery: self.delivery.clone(),
            tries: self.tries.count,
            why: trouble.words().to_owned(),
            at_ms: now,
        };
        let directory = self.home.failed_dir();
        make_private(&directory)?;
        let path = directory.join(format!("{}.json", self.name));
        // First the record, then the end: a kill in between makes one more try, never a silent loss.
        replace(&path, &serde_json::to_vec_pretty(&record).unwrap_or_default(), Flush::ToDisk)?;
        self.remove()
    }

    fn remove(self) -> Result<(), Fault> {
        let path = self.home.pending_dir().join(format!("{}.json", self.name));
        std::fs::remove_file(&path).map_err(|error| file_fault("remove", &path, &error))?;
        let _ = std::fs::remove_file(path.with_extension("tries"));
        Ok(())
    }

    fn write_tries(&self) -> Result<(), Fault> {
        let path = self.home.pending_dir().join(format!("{}.tries", self.name));
        replace(&path, &serde_json::to_vec(&self.tries).unwrap_or_default(), Flush::ToSystem)
    }
}

/// What the `.json` files of a directory are called, without that, in a fixed order.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok()?.strip_suffix(".json").map(str::to_owned))
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_protocols::Millis;

    fn waiting() -> (tempfile::TempDir, Deliveries) {
        let directory = tempfile::tempdir().unwrap();
        let deliveries = Deliveries::at(directory.path().join("notify"));
        deliveries.put(&Message::test("one".to_owned(), Millis(1), "/"), &Channel::Desktop).unwrap();
        (directory, deliveries)
    }

    fn fail(deliveries: &Deliveries, policy: Policy, trouble: Trouble) {
        let claimed = deliveries.claim("one.desktop").unwrap();
        claimed.try_with(policy, |_, _| Err(trouble)).unwrap();
    }

    const TWICE: Policy = Policy { most_tries: 2, first_wait_ms: 1_000, least_age_ms: 0 };

    #[test]
    fn passing_trouble_is_tried_again_and_given_up_in_the_end() {
        let (_directory, deliveries) = waiting();
        fail(&deliveries, TWICE, Trouble::Passing("refused".to_owned()));
        let (_, tries) = deliveries.pending().remove(0);
        assert_eq!((tries.count, tries.last.as_str()), (1, "refused"));
        assert_eq!(deliveries.failed(), []);
        fail(&deliveries, TWICE, Trouble::Passing("refused again".to_owned()));
        assert_eq!(deliveries.pending(), []);
        let failed = deliveries.failed().remove(0);
        assert_eq!((failed.tries, failed.why.as_str()), (2, "refused again"));
    }

    #[test]
    fn nothing_young_is_given_up_for_its_many_tries() {
        let (_directory, deliveries) = waiting();
        let patient = Policy { least_age_ms: 3_600_000, ..TWICE };
        for _ in 0..5 {
            fail(&deliveries, patient, Trouble::Passing("refused".to_owned()));
        }
        assert_eq!((deliveries.pending()[0].1.count, deliveries.failed().len()), (5, 0));
    }

    #[test]
    fn lasting_trouble_is_recorded_at_once_and_can_be_taken_back_or_forgotten() {
        let (_directory, deliveries) = waiting();
        fail(&deliveries, Policy::USUAL, Trouble::Lasting("404".to_owned()));
        assert_eq!((deliveries.pending().len(), deliveries.failed().len()), (0, 1));
        assert_eq!(deliveries.take_back().unwrap().len(), 1);
        assert_eq!((deliveries.pending().len(), deliveries.failed().len()), (1, 0));
        assert_eq!(deliveries.pending()[0].1, Tries::default());
        fail(&deliveries, Policy::USUAL, Trouble::Lasting("404".to_owned()));
        assert_eq!(deliveries.forget().unwrap().len(), 1);
        assert!(!deliveries.has_some() && deliveries.failed().is_empty());
    }

    #[test]
    fn what_one_sends_no_other_can_claim() {
        let (_directory, deliveries) = waiting();
        let first = deliveries.claim("one.desktop").unwrap();
        assert!(deliveries.claim("one.desktop").is_none());
        first.try_with(TWICE, |_, _| Ok(())).unwrap();
        assert!(deliveries.claim("one.desktop").is_none());
        assert!(!deliveries.has_some());
    }

    #[test]
    fn each_wait_is_four_times_the_one_before() {
        let waits: Vec<u64> = (1..6).map(|tries| Policy::USUAL.wait_ms(tries)).collect();
        assert_eq!(waits, [1_000, 4_000, 16_000, 64_000, 256_000]);
    }
}
