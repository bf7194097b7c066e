//! Runs named stages one after the other, stops at the first that fails, ends with a table.
//! It does not know what a stage does.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::console;
use crate::stopwatch::{Stopwatch, readable};

/// One part of a long command.
pub struct Stage<'a> {
    pub name: &'static str,
    /// What the contributor does when it fails.
    pub remedy: &'static str,
    pub work: Box<dyn Fn() -> Result<()> + 'a>,
}

enum Ending {
    Passed(Duration),
    Failed(Duration),
    NotReached,
}

/// Runs them all, or up to the first failure.
pub fn run(stages: &[Stage<'_>]) -> Result<()> {
    let whole = Stopwatch::start();
    let mut endings = Vec::new();
    let mut failure = None;
    for stage in stages {
        if failure.is_some() {
            endings.push((stage.name, Ending::NotReached));
            continue;
        }
        console::say(&format!("\n==> {} (at {})", stage.name, readable(whole.elapsed())));
        let stopwatch = Stopwatch::start();
        match (stage.work)() {
            Ok(()) => endings.push((stage.name, Ending::Passed(stopwatch.elapsed()))),
            Err(error) => {
                console::complain(&format!("{error:#}"));
                endings.push((stage.name, Ending::Failed(stopwatch.elapsed())));
                failure = Some(stage);
            }
        }
    }
    console::say(&format!("\n{}", summary(&endings, whole.elapsed())));
    match failure {
        Some(stage) => bail!("stage \"{}\" failed: {}", stage.name, stage.remedy),
        None => Ok(()),
    }
}

fn summary(endings: &[(&'static str, Ending)], whole: Duration) -> String {
    let mut rows = vec![vec!["stage".to_owned(), "result".to_owned(), "took".to_owned()]];
    for (name, ending) in endings {
        let (result, took) = match ending {
            Ending::Passed(time) => ("passed", readable(*time)),
            Ending::Failed(time) => ("FAILED", readable(*time)),
            Ending::NotReached => ("not run", String::new()),
        };
        rows.push(vec![(*name).to_owned(), result.to_owned(), took]);
    }
    rows.push(vec!["all".to_owned(), String::new(), readable(whole)]);
    console::table(&rows)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn stage<'a>(
        name: &'static str,
        log: &'a RefCell<Vec<&'static str>>,
        fails: Option<&'static str>,
    ) -> Stage<'a> {
        let work = move || {
            log.borrow_mut().push(name);
            fails.map_or(Ok(()), |reason| bail!(reason))
        };
        Stage { name, remedy: "mend it", work: Box::new(work) }
    }

    #[test]
    fn all_stages_run_in_their_order() {
        let log = RefCell::default();
        run(&[stage("one", &log, None), stage("two", &log, None)]).unwrap();
        assert_eq!(*log.borrow(), ["one", "two"]);
    }

    #[test]
    fn the_first_failure_stops_and_says_what_to_do() {
        let log = RefCell::default();
        let stages = [stage("one", &log, None), stage("two", &log, Some("red")), stage("three", &log, None)];
        let message = run(&stages).unwrap_err().to_string();
        assert_eq!(message, "stage \"two\" failed: mend it");
        assert_eq!(*log.borrow(), ["one", "two"]);
    }

    #[test]
    fn the_table_names_what_was_not_reached() {
        let second = Duration::from_secs(1);
        let endings =
            [("one", Ending::Passed(second)), ("two", Ending::Failed(second)), ("three", Ending::NotReached)];
        let table = summary(&endings, second * 2);
        assert!(table.contains("one    passed   1.0 s"), "{table}");
        assert!(table.contains("two    FAILED   1.0 s"), "{table}");
        assert!(table.contains("three  not run"), "{table}");
    }
}
