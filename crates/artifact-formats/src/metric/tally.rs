//! Adds up what the lines of a log say. Where a tool prints both single lines and a summary, the summary counts.

use super::{Better, Metric};

/// Who said a number; later ones outweigh earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Lines,
    /// Somebody's own script, in plain words.
    Words,
    Tap,
    Go,
    CargoTest,
    Summary,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    passed: Figure,
    failed: Figure,
    coverage: Figure,
    errors: Figure,
    warnings: Figure,
    /// How many tests were run, by a tool that says on another line how they went.
    ran: Option<u32>,
}

impl Tally {
    pub(super) fn ran(&mut self, tests: u32) {
        self.ran = Some(tests);
    }

    /// The verdict on the tests that were run.
    pub(super) fn of_those_ran(&mut self, failed: u32, skipped: u32) {
        if let Some(ran) = self.ran {
            let passed = ran.saturating_sub(failed).saturating_sub(skipped);
            self.set_tests(Source::Summary, Some(passed), Some(failed));
        }
    }

    pub(super) fn set_problems(&mut self, source: Source, errors: Option<u32>, warnings: Option<u32>) {
        if let Some(errors) = errors {
            self.errors.set(source, thousands(errors));
        }
        if let Some(warnings) = warnings {
            self.warnings.set(source, thousands(warnings));
        }
    }

    pub(super) fn add_tests(&mut self, source: Source, passed: Option<u32>, failed: Option<u32>) {
        // A log that counts one of the two counts the other as well, if only to nothing.
        self.passed.add(source, thousands(passed.unwrap_or(0)));
        self.failed.add(source, thousands(failed.unwrap_or(0)));
    }

    pub(super) fn set_tests(&mut self, source: Source, passed: Option<u32>, failed: Option<u32>) {
        self.set_passed(source, passed.unwrap_or(0));
        self.set_failed(source, failed.unwrap_or(0));
    }

    pub(super) fn set_passed(&mut self, source: Source, passed: u32) {
        self.passed.set(source, thousands(passed));
        self.failed.start(source);
    }

    pub(super) fn set_failed(&mut self, source: Source, failed: u32) {
        self.failed.set(source, thousands(failed));
        self.passed.start(source);
    }

    pub(super) fn set_coverage(&mut self, source: Source, percent: Option<i64>) {
        if let Some(percent) = percent {
            self.coverage.set(source, percent);
        }
    }

    pub(super) fn add_problems(&mut self, source: Source, errors: Option<u32>, warnings: Option<u32>) {
        if let Some(errors) = errors {
            self.errors.add(source, thousands(errors));
        }
        if let Some(warnings) = warnings {
            self.warnings.add(source, thousands(warnings));
        }
    }

    pub(super) fn metrics(self) -> Vec<Metric> {
        let untold = self.ran.filter(|_| self.passed.0.is_none());
        let all = [
            ("tests-run", Figure(untold.map(|ran| (Source::Words, thousands(ran)))), "tests", Better::Higher),
            ("tests-passed", self.passed, "tests", Better::Higher),
            ("tests-failed", self.failed, "tests", Better::Lower),
            ("coverage", self.coverage, "percent", Better::Higher),
            ("errors", self.errors, "errors", Better::Lower),
            ("warnings", self.warnings, "warnings", Better::Lower),
        ];
        let metric = |(name, figure, unit, better): (&str, Figure, &str, Better)| {
            Some(Metric {
                name: name.to_owned(),
                value: figure.0?.1,
                finer: 0,
                unit: unit.to_owned(),
                better,
            })
        };
        all.into_iter().filter_map(metric).collect()
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Figure(Option<(Source, i64)>);

impl Figure {
    fn set(&mut self, source: Source, value: i64) {
        if self.0.is_none_or(|(known, _)| known <= source) {
            self.0 = Some((source, value));
        }
    }

    fn add(&mut self, source: Source, value: i64) {
        match self.0 {
            Some((known, sum)) if known == source => self.0 = Some((source, sum.saturating_add(value))),
            _ => self.set(source, value),
        }
    }

    /// Nothing said yet by this source or a better one means none.
    fn start(&mut self, source: Source) {
        if self.0.is_none_or(|(known, _)| known < source) {
            self.0 = Some((source, 0));
        }
    }
}

fn thousands(count: u32) -> i64 {
    i64::from(count) * 1000
}
