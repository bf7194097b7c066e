//! A bundle held against what an approved closeout would make of it: not there yet, there, or there with more.
//! It knows texts; what follows from the answer is the controller's.

use serde_json::Value;

use super::anchored::plain_words;
use super::apply::apply;
use super::{Problems, Standing};
use crate::roadmap_loop::closeout::{Closeout, CloseoutMode};
use crate::roadmap_loop::plane::bundle::BundleTexts;
use crate::roadmap_loop::plane::problem::Problem;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Bytes,
    Words,
}

/// Each edit is tried alone: one that is refused as stale is there already.
pub(super) fn standing(bundle: &BundleTexts<'_>, closeout: &Closeout) -> Result<Standing, Problems> {
    let mut present = 0_usize;
    let mut missing = Vec::new();
    let roadmap = bundle.roadmap()?;
    for change in &closeout.status_changes {
        let status = roadmap.milestone(&change.milestone_id).map(|milestone| milestone.status);
        if status == Some(change.target_status) {
            present += 1;
        } else {
            missing.push(format!("status of {}", change.milestone_id));
        }
    }
    let alone = |edit: &dyn Fn(&mut Closeout)| {
        let mut single = Closeout::empty(CloseoutMode::StatusOnly);
        edit(&mut single);
        apply(bundle, &single)
    };
    let pointers = closeout.completion_pointers.iter().map(|pointer| {
        let tried = alone(&|single| single.completion_pointers.push(pointer.clone()));
        (format!("pointer at {}", pointer.anchor_or_milestone), tried)
    });
    let history = closeout.history_entries.iter().map(|entry| {
        let tried = alone(&|single| single.history_entries.push(entry.clone()));
        (format!("history entry {}", entry.text), tried)
    });
    for (name, tried) in pointers.chain(history) {
        match tried {
            Ok(_) => missing.push(name),
            Err(problems) if problems.is_recoverable() => present += 1,
            Err(problems) => return Err(problems),
        }
    }
    Ok(match (present, missing.is_empty()) {
        (0, _) => Standing::Absent,
        (_, true) => Standing::Present,
        (_, false) => Standing::Partial { missing },
    })
}

pub(super) fn matches(
    before: &BundleTexts<'_>,
    after: &BundleTexts<'_>,
    closeout: &Closeout,
    measure: Measure,
) -> Result<(), Problems> {
    let applied = apply(before, closeout)?;
    let files = [
        (before.roadmap_path(), Some(before.roadmap), Some(after.roadmap)),
        (before.view_path(), before.view, after.view),
        (before.history_path(), before.history, after.history),
    ];
    let mut found = Vec::new();
    for (path, old, new) in files {
        let expected =
            applied.files.iter().find(|(name, _)| *name == path).map(|(_, text)| text.as_str()).or(old);
        let same = match measure {
            Measure::Bytes => expected == new,
            Measure::Words if path == before.view_path() => same_view(expected, new),
            Measure::Words => {
                plain_words(expected.unwrap_or_default()) == plain_words(new.unwrap_or_default())
            }
        };
        if !same {
            let line = first_difference(expected.unwrap_or_default(), new.unwrap_or_default());
            let message = "the file differs from what the approved edits make of it";
            found.push(Problem::fatal("12", &path, message).at_line(line));
        }
    }
    Problems::check(found)
}

fn same_view(one: Option<&str>, two: Option<&str>) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).ok();
    one.and_then(value).map(unticked) == two.and_then(value).map(unticked)
}

/// Selectors repeat the narrative's words, so they may differ from it in the same ways.
fn unticked(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain_words(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(unticked).collect()),
        Value::Object(entries) => {
            Value::Object(entries.into_iter().map(|(key, value)| (key, unticked(value))).collect())
        }
        other => other,
    }
}

fn first_difference(one: &str, two: &str) -> usize {
    one.lines().zip(two.lines()).take_while(|(one, two)| one == two).count() + 1
}
