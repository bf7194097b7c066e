//! Times two ways of doing the same work side by side.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::stopwatch::Stopwatch;

/// The middle values of two ways to do the same work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Medians {
    pub ours: Duration,
    pub floor: Duration,
}

/// Times `ours` and `floor` in turns, `rounds` times each after one unmeasured turn, and takes the medians.
/// In turns, so that a busy moment of the machine hits both; which goes first alternates for the same reason.
pub fn interleaved(
    rounds: usize,
    mut ours: impl FnMut() -> Result<()>,
    mut floor: impl FnMut() -> Result<()>,
) -> Result<Medians> {
    if rounds == 0 {
        bail!("a median needs at least one round");
    }
    ours()?;
    floor()?;
    let (mut our_times, mut floor_times) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            our_times.push(timed(&mut ours)?);
            floor_times.push(timed(&mut floor)?);
        } else {
            floor_times.push(timed(&mut floor)?);
            our_times.push(timed(&mut ours)?);
        }
    }
    Ok(Medians { ours: median(our_times), floor: median(floor_times) })
}

fn timed(work: &mut impl FnMut() -> Result<()>) -> Result<Duration> {
    let stopwatch = Stopwatch::start();
    work()?;
    Ok(stopwatch.elapsed())
}

/// The middle one, or the mean of the two in the middle; of nothing, nothing.
pub fn median(mut times: Vec<Duration>) -> Duration {
    if times.is_empty() {
        return Duration::ZERO;
    }
    times.sort_unstable();
    let middle = times.len() / 2;
    if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2 }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn both_ways_take_turns_and_who_goes_first_alternates() {
        let log = RefCell::new(String::new());
        let note = |letter| {
            log.borrow_mut().push(letter);
            Ok(())
        };
        interleaved(3, || note('o'), || note('f')).unwrap();
        assert_eq!(*log.borrow(), "of".to_owned() + "of" + "fo" + "of");
    }

    #[test]
    fn work_that_fails_is_no_measurement() {
        assert!(interleaved(3, || bail!("broken"), || Ok(())).is_err());
        assert!(interleaved(0, || Ok(()), || Ok(())).is_err());
    }

    #[test]
    fn the_median_ignores_one_wild_value() {
        let millis = |values: &[u64]| median(values.iter().copied().map(Duration::from_millis).collect());
        assert_eq!(millis(&[3, 9_000, 1]), Duration::from_millis(3));
        assert_eq!(millis(&[4, 2]), Duration::from_millis(3));
    }
}
