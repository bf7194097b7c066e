//! What a test command's output says: which tests passed and failed where names can be read, else how many, else only
//! how it exited; and what became of a baseline. A model's word about tests counts nowhere.

mod go;
mod listing;
mod suites;

use std::collections::BTreeSet;

use crate::metric::MetricRule;
use crate::output_text::clean_output;
use listing::Listing;

/// One run of the whole suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestsRun {
    pub passed: BTreeSet<String>,
    pub failed: BTreeSet<String>,
    /// Passed and failed, as the tool counted them.
    pub counts: Option<(u32, u32)>,
    /// Whether the command reported success.
    pub exit: TestsExit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TestsExit {
    Success,
    Failure,
}

/// What two runs can be compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComparedBy {
    Names,
    Counts,
    ExitOnly,
}

/// What became of a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestsComparison {
    pub by: ComparedBy,
    /// Were green and are red or gone now. Without names, one sentence that says how many.
    pub regressions: Vec<String>,
    /// Are red and were not in the baseline at all.
    pub new_failures: Vec<String>,
    /// Were in the baseline and are gone: deleted, renamed or switched off.
    pub removed: Vec<String>,
}

impl TestsRun {
    /// Reads the output of cargo test, nextest, pytest, go, vitest, jest, mocha, TAP or gradle.
    pub fn read(output: &str, exit: TestsExit) -> Self {
        let output = clean_output(output);
        let Listing { passed, failed } = Listing::read(&output);
        let figures = MetricRule::Auto.read(&output);
        let figure = |name: &str| {
            let found = figures.iter().find(|metric| metric.name == name)?;
            u32::try_from(found.value / 1000).ok()
        };
        let counts = figure("tests-passed").zip(figure("tests-failed"));
        Self { passed, failed, counts, exit }
    }

    /// Green means that the command says so and no test in its output says otherwise.
    pub fn is_green(&self) -> bool {
        self.exit == TestsExit::Success
            && self.failed.is_empty()
            && self.counts.is_none_or(|(_, failed)| failed == 0)
    }

    /// Passed and total, for people.
    pub fn tally(&self) -> Option<(u32, u32)> {
        if let Some((passed, failed)) = self.counts {
            return Some((passed, passed.saturating_add(failed)));
        }
        let (passed, failed) = (count(&self.passed), count(&self.failed));
        (passed + failed > 0).then(|| (passed, passed + failed))
    }

    /// Names of passing tests were printed. Quiet runners name only the failures.
    fn names_passing(&self) -> bool {
        !self.passed.is_empty()
    }

    /// What became of `self`, the baseline, in a later run.
    pub fn compared_with(&self, now: &Self) -> TestsComparison {
        let now_is_listed = now.names_passing() || !now.failed.is_empty() || now.exit == TestsExit::Failure;
        if self.names_passing() && now_is_listed {
            // The same command names its passing tests again, so one that is not named did not pass.
            let gone = |name: &&String| !now.passed.contains(*name) && !now.failed.contains(*name);
            let regressions =
                self.passed.iter().filter(|name| now.failed.contains(*name) || gone(name)).cloned().collect();
            let known = |name: &&String| self.passed.contains(*name) || self.failed.contains(*name);
            let new_failures = now.failed.iter().filter(|name| !known(name)).cloned().collect();
            let removed = self.passed.iter().chain(&self.failed).filter(gone).cloned().collect();
            return TestsComparison { by: ComparedBy::Names, regressions, new_failures, removed };
        }
        let (by, lost) = match (self.tally(), now.tally()) {
            (Some((before, before_all)), Some((after, after_all))) => {
                let lost = before.saturating_sub(after);
                let sentence = format!(
                    "{lost} fewer tests pass than at the baseline ({after} of {after_all}, {before} of {before_all} before)"
                );
                (ComparedBy::Counts, (lost > 0).then_some(sentence))
            }
            (Some((before, _)), None) => {
                let sentence = format!(
                    "{before} tests passed at the baseline, and the test command names and counts none now"
                );
                (ComparedBy::Counts, Some(sentence))
            }
            (None, _) => {
                let broke = self.exit == TestsExit::Success && now.exit == TestsExit::Failure;
                let sentence = "the test command succeeded at the baseline and fails now";
                (ComparedBy::ExitOnly, broke.then(|| sentence.to_owned()))
            }
        };
        let new_failures = now.failed.difference(&self.failed).cloned().collect();
        TestsComparison { by, regressions: lost.into_iter().collect(), new_failures, removed: Vec::new() }
    }

    /// Tests that two runs of the same tree disagree about, by name where names can be read.
    pub fn flaky(&self, again: &Self) -> Vec<String> {
        let one_way = self.passed.intersection(&again.failed);
        let mut names: BTreeSet<String> =
            one_way.chain(self.failed.intersection(&again.passed)).cloned().collect();
        if self.names_passing() && again.names_passing() {
            let all = |run: &Self| run.passed.union(&run.failed).cloned().collect::<BTreeSet<String>>();
            names.extend(all(self).symmetric_difference(&all(again)).cloned());
        } else if names.is_empty() {
            names.extend(self.failed.symmetric_difference(&again.failed).cloned());
        }
        if names.is_empty() && (self.exit != again.exit || self.counts != again.counts) {
            names.insert("two runs of the same tree disagree, and no test can be named".to_owned());
        }
        names.into_iter().collect()
    }
}

impl TestsComparison {
    pub fn is_sound(&self) -> bool {
        self.regressions.is_empty() && self.new_failures.is_empty()
    }
}

fn count(names: &BTreeSet<String>) -> u32 {
    u32::try_from(names.len()).unwrap_or(u32::MAX)
}
