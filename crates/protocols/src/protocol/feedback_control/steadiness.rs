//! What the measured history of one node says: does it get better, stand still, go in circles, or get worse? From figures
//! alone; nobody's opinion enters. Bounded, so that iteration 1,000 costs what iteration 1 cost.

use super::end::Stall;
use crate::outcome::{Better, Metric, Reading, ReadingStatus};
use crate::vocabulary::{CommitId, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use serde::{Deserialize, Serialize};

/// A state that comes back after more iterations than this is not recognised.
const REMEMBERED: usize = 64;
/// An actuator that changes nothing will not change something by being asked again.
const MAX_IDLE: u32 = 2;
/// So begin the names of the figures that count tests, and this is the one of those that pass.
const TESTS: &str = "tests-";
const TESTS_PASSED: &str = "tests-passed";

/// One measurement, as far as comparing needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub label: String,
    pub plant: TreeId,
    pub readings: Vec<Reading>,
    /// Absent until the iteration is committed.
    pub commit: Option<CommitId>,
    /// How many commits the branch had then.
    pub commits: u32,
    /// By this the change that led here is known again; absent where a deeper node or nobody made one.
    pub change: Option<String>,
    pub standing: Standing,
}

/// Whether what was measured can be believed: readings that a change made green by bending what measures it say nothing about
/// the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Sound,
    /// Findings about the gate are open, or the sensors still have to run without what the change did to them.
    Doubted,
}

impl Point {
    pub fn failing(&self) -> impl Iterator<Item = &str> {
        let failing = self.readings.iter().filter(|reading| reading.status != ReadingStatus::Pass);
        failing.map(|reading| reading.sensor.as_str())
    }

    pub fn required_failing(&self) -> usize {
        self.readings.iter().filter(|one| one.required && one.status != ReadingStatus::Pass).count()
    }

    /// Every sensor that fails prints figures now and did so then: only then does standing still say something.
    fn failing_figures_stand(&self, before: &Self) -> bool {
        let figures = |point: &Self, sensor: &str| {
            point.readings.iter().any(|one| one.sensor == sensor && !one.metrics.is_empty())
        };
        self.failing().next().is_some()
            && self.failing().all(|sensor| figures(self, sensor) && figures(before, sensor))
    }

    fn same_signature(&self, other: &Self) -> bool {
        self.failing().eq(other.failing())
            && self.readings.iter().map(|one| &one.metrics).eq(other.readings.iter().map(|one| &one.metrics))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Better,
    Same,
    Worse,
}

/// Fewer failing required sensors is better. With as many: a sensor that got as far as counting tests where it did not before;
/// then more figures that got better than got worse; then more tests that pass.
fn compare(new: &Point, old: &Point) -> Compared {
    let ahead = old
        .required_failing()
        .cmp(&new.required_failing())
        .then_with(|| got_further(new, old).cmp(&got_further(old, new)))
        .then_with(|| {
            let (better, worse) = moved_figures(new, old);
            better.cmp(&worse)
        })
        .then_with(|| {
            let (now, before) = passing_tests(new, old);
            now.cmp(&before)
        });
    match ahead {
        Ordering::Greater => Compared::Better,
        Ordering::Equal => Compared::Same,
        Ordering::Less => Compared::Worse,
    }
}

/// How many sensors of one count tests and failed in the other before they came to that: code that no longer compiles prints
/// no figure that could be held against the last ones.
fn got_further(one: &Point, other: &Point) -> usize {
    let stuck = |reading: &Reading| reading.status != ReadingStatus::Pass && !counts_tests(reading);
    pairs(one, other).filter(|(reading, against)| counts_tests(reading) && stuck(against)).count()
}

fn counts_tests(reading: &Reading) -> bool {
    let figure = |metric: &Metric| metric.name.starts_with(TESTS) && metric.billionths() > 0;
    reading.tests.is_some_and(|tests| tests > 0) || reading.metrics.iter().any(figure)
}

/// How many tests pass now and passed before, of the sensors that say so both times.
fn passing_tests(new: &Point, old: &Point) -> (i128, i128) {
    let passing = |reading: &Reading| {
        let figure = reading.metrics.iter().find(|metric| metric.name == TESTS_PASSED);
        figure.map(Metric::billionths)
    };
    let both = pairs(new, old).filter_map(|(reading, before)| Some((passing(reading)?, passing(before)?)));
    both.fold((0, 0), |(now, before), (new, old)| (now + new, before + old))
}

/// How many figures got better, and how many worse.
fn moved_figures(new: &Point, old: &Point) -> (usize, usize) {
    let (mut better, mut worse) = (0, 0);
    for (reading, before) in pairs(new, old) {
        for metric in &reading.metrics {
            let Some(was) = before.metrics.iter().find(|one| one.name == metric.name) else { continue };
            let (now, was) = (metric.billionths(), was.billionths());
            let (gain, loss) = match metric.better {
                Better::Higher => (now > was, now < was),
                Better::Lower => (now < was, now > was),
            };
            better += usize::from(gain);
            worse += usize::from(loss);
        }
    }
    (better, worse)
}

/// Whether this content takes the place of the best one so far. Where nothing that was measured tells two contents apart, the
/// later one has more of the task in it, unless it was there before or is worse than another one that was.
fn takes_over(point: &Point, best: Option<&Point>, earlier: &[Point]) -> bool {
    let later = |best: &Point| {
        let mut sound = earlier.iter().filter(|one| one.standing == Standing::Sound);
        best.plant != point.plant
            && sound.all(|one| one.plant != point.plant && compare(point, one) != Compared::Worse)
    };
    point.standing == Standing::Sound
        && best.is_none_or(|best| match compare(point, best) {
            Compared::Better => true,
            Compared::Same => later(best),
            Compared::Worse => false,
        })
}

fn pairs<'a>(new: &'a Point, old: &'a Point) -> impl Iterator<Item = (&'a Reading, &'a Reading)> {
    new.readings.iter().filter_map(|reading| {
        let before = old.readings.iter().find(|one| one.sensor == reading.sensor)?;
        Some((reading, before))
    })
}

/// Whether the iteration that a measurement ends changed the plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    Yes,
    No,
}

/// What the engine has to say about a measurement, as data for the controller and for the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remark {
    /// For so many iterations the same sensors failed and no figure of theirs got better.
    Unchanged { iterations: u32 },
    /// The state of an earlier iteration came back.
    Returned { to: String, times: u32 },
    /// Worse than the best so far, for so many iterations in a row.
    Worse { than: String, iterations: u32 },
    /// The actuator changed nothing, so many times in a row.
    NothingChanged { times: u32 },
    /// The same change was made so many times in a row, and the same sensors fail.
    Repeated { times: u32 },
}

impl Remark {
    pub fn words(&self) -> String {
        match self {
            Self::Unchanged { iterations: 1 } => {
                "the same sensors fail as before and no figure got better: try another way".to_string()
            }
            Self::Unchanged { iterations } => format!(
                "the same sensors fail as {iterations} iterations ago and no figure got better: try another way"
            ),
            Self::Returned { to, times } => format!(
                "the state of iteration {to} came back (returns so far: {times}): what was done since was undone"
            ),
            Self::Worse { than, iterations } => {
                let passes = if *iterations == 1 { "iteration" } else { "iterations" };
                format!("worse than iteration {than}, the best so far, for {iterations} {passes}")
            }
            Self::NothingChanged { times } => {
                format!(
                    "the actuator changed nothing (times in a row: {times}): the plan gave it nothing to do"
                )
            }
            Self::Repeated { times } => {
                format!(
                    "the same change was made {times} times in a row and the same sensors fail: try another way"
                )
            }
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steadiness {
    points: Vec<Point>,
    best: Option<Point>,
    /// Of the points that are no longer remembered.
    best_forgotten: Option<Point>,
    unchanged: u32,
    repeated: u32,
    returns: u32,
    worse: u32,
    idle: u32,
}

/// What a new point is against those before it.
struct Against {
    best: Compared,
    /// The same sensors fail and no figure got better.
    stands: bool,
    figures: bool,
    same_change: bool,
    is_back: bool,
}

impl Steadiness {
    pub(crate) fn take(&mut self, point: Point, moved: Moved) -> Vec<Remark> {
        let mut remarks = Vec::new();
        let idle = moved == Moved::No;
        self.idle = if idle { self.idle.saturating_add(1) } else { 0 };
        if idle {
            remarks.push(Remark::NothingChanged { times: self.idle });
        }
        if let Some(before) = self.points.last() {
            let earlier = self.points.iter().rev().skip(1);
            let back = earlier.clone().find(|one| {
                one.plant == point.plant || (one.same_signature(&point) && !before.same_signature(&point))
            });
            // Whoever leaves a state that was found out undoes no work.
            let leaves_work = !idle && before.standing == Standing::Sound;
            let back = back.filter(|_| leaves_work).map(|one| one.label.clone());
            let against = Against {
                best: self.against_best(&point),
                stands: before.failing().eq(point.failing()) && moved_figures(&point, before).0 == 0,
                figures: point.failing_figures_stand(before),
                same_change: !idle && point.change.is_some() && point.change == before.change,
                is_back: back.is_some(),
            };
            self.count(&against);
            if self.repeated > 1 {
                remarks.push(Remark::Repeated { times: self.repeated });
            }
            if self.unchanged > 0 && !idle {
                remarks.push(Remark::Unchanged { iterations: self.unchanged });
            }
            remarks.extend(back.map(|to| Remark::Returned { to, times: self.returns }));
            if let Some(best) = self.best.as_ref().filter(|_| self.worse > 0) {
                remarks.push(Remark::Worse { than: best.label.clone(), iterations: self.worse });
            }
        }
        if takes_over(&point, self.best.as_ref(), &self.points) {
            self.best = Some(point.clone());
        }
        self.points.push(point);
        if self.points.len() > REMEMBERED {
            let forgotten = self.points.remove(0);
            if takes_over(&forgotten, self.best_forgotten.as_ref(), &[]) {
                self.best_forgotten = Some(forgotten);
            }
        }
        remarks
    }

    /// What is doubted is no progress, however green it is.
    fn against_best(&self, point: &Point) -> Compared {
        match (self.best.as_ref().map_or(Compared::Better, |best| compare(point, best)), point.standing) {
            (Compared::Better, Standing::Doubted) => Compared::Same,
            (compared, _) => compared,
        }
    }

    fn count(&mut self, against: &Against) {
        match against.best {
            Compared::Better => self.made_progress(),
            Compared::Same => self.worse = 0,
            Compared::Worse => self.worse += 1,
        }
        if against.best != Compared::Better {
            self.unchanged = if against.stands && against.figures { self.unchanged + 1 } else { 0 };
            self.repeated = if against.stands && against.same_change { self.repeated.max(1) + 1 } else { 0 };
            self.returns += u32::from(against.is_back);
        }
    }

    const fn made_progress(&mut self) {
        (self.unchanged, self.repeated, self.returns, self.worse) = (0, 0, 0, 0);
    }

    /// What was found out about a content, or waived, after it was measured.
    pub(crate) fn judge(&mut self, plant: &TreeId, standing: Standing) {
        let mut other = false;
        for point in self.points.iter_mut().filter(|point| point.plant == *plant) {
            other |= point.standing != standing;
            point.standing = standing;
        }
        if !other {
            return;
        }
        let mut best = self.best_forgotten.as_ref();
        for (at, point) in self.points.iter().enumerate() {
            if takes_over(point, best, &self.points[..at]) {
                best = Some(point);
            }
        }
        let best = best.cloned();
        let is_best = |best: &Option<Point>| best.as_ref().is_some_and(|best| best.plant == *plant);
        if is_best(&best) && !is_best(&self.best) {
            self.made_progress();
        }
        self.best = best;
    }

    pub(crate) fn committed(&mut self, commit: &CommitId, label: &str, plant: &TreeId, commits: u32) {
        let of_iteration = [self.points.last_mut(), self.best.as_mut()].into_iter().flatten();
        // A claim that was tested and refused left a point of this iteration whose content is not in its commit.
        for point in of_iteration.filter(|point| point.label == label && point.plant == *plant) {
            point.commit.get_or_insert_with(|| commit.clone());
            point.commits = commits;
        }
    }

    /// Whether going on leads nowhere. `limit` is the user's patience; 0 never runs out.
    pub fn stall(&self, limit: u32) -> Option<Stall> {
        if limit == 0 {
            None
        } else if self.idle >= MAX_IDLE {
            Some(Stall::NoChange)
        } else if self.returns >= limit {
            Some(Stall::Oscillation)
        } else if self.worse >= limit {
            Some(Stall::Regression)
        } else if self.repeated >= limit.max(2) {
            Some(Stall::Stagnation)
        } else if self.unchanged >= limit {
            Some(Stall::Plateau)
        } else {
            None
        }
    }

    /// A person looked: what went on before is remembered and no longer counted.
    pub(crate) fn begin_counting_anew(&mut self) {
        self.made_progress();
        self.idle = 0;
    }

    /// Of the contents that nobody doubts.
    pub fn best(&self) -> Option<&Point> {
        self.best.as_ref()
    }

    /// The last measurements, the newest last.
    pub fn points(&self) -> &[Point] {
        &self.points
    }
}
