//! Makes a failing list of choices as short and as calm as it can be and still fail in the same check.

use crate::checks::Check;
use crate::profile::Profile;

/// Shrinking is for a person who waits; this many tries take a few seconds.
const TRIES: u32 = 1_500;

pub(crate) fn shrink(list: Vec<u32>, fails: impl Fn(&[u32]) -> bool) -> Vec<u32> {
    let mut search = Search { best: list, tries: TRIES, fails };
    while search.tries > 0 {
        let before = search.best.clone();
        search.cut_the_end();
        for size in [32, 8, 4, 2, 1] {
            search.each_block(size, |list, at, end| drop(list.drain(at..end)));
            search.each_block(size, |list, at, end| list[at..end].fill(0));
        }
        search.each_block(1, |list, at, _| list[at] /= 2);
        if search.best == before {
            break;
        }
    }
    search.best
}

struct Search<F> {
    best: Vec<u32>,
    tries: u32,
    fails: F,
}

impl<F: Fn(&[u32]) -> bool> Search<F> {
    fn keep_if_it_fails(&mut self, list: Vec<u32>) -> bool {
        if self.tries == 0 || list == self.best {
            return false;
        }
        self.tries -= 1;
        let fails = (self.fails)(&list);
        if fails {
            self.best = list;
        }
        fails
    }

    fn cut_the_end(&mut self) {
        while let Some(0) = self.best.last() {
            self.best.pop();
        }
        let mut length = self.best.len() / 2;
        while length > 0 {
            let keep = self.best.len().saturating_sub(length);
            if !self.keep_if_it_fails(self.best[..keep].to_vec()) {
                length /= 2;
            }
        }
    }

    fn each_block(&mut self, size: usize, change: impl Fn(&mut Vec<u32>, usize, usize)) {
        let mut at = self.best.len();
        while at > 0 {
            let end = at.min(self.best.len());
            let begin = end.saturating_sub(size);
            let mut list = self.best.clone();
            change(&mut list, begin, end);
            self.keep_if_it_fails(list);
            at = begin;
        }
    }
}

/// The line that tells the story again.
pub(crate) fn reproduction(profile: Profile, check: Check, shrunk: &[u32]) -> String {
    let planted = profile.planted.map_or(String::new(), |bug| format!(".with_bug(PlantedBug::{bug:?})"));
    let profile = profile.of.profile_name();
    format!(
        "windlass_simulator::reproduce(&{shrunk:?}, Profile::{profile}{planted}) // fails in Check::{check:?}"
    )
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn only_what_the_failure_needs_is_left() {
        let long: Vec<u32> = (0..200).map(|number| number % 9).collect();
        let needs_a_seven_before_a_five = |list: &[u32]| {
            list.iter().position(|value| *value == 7).is_some_and(|at| list[at..].contains(&5))
        };
        assert_eq!(shrink(long, needs_a_seven_before_a_five), [7, 5]);
    }
}
