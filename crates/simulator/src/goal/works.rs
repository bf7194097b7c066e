//! Content as trees: which tests each tree has and which of them are green. Builders and people change it in good and bad
//! ways; the suite is run on it truthfully. What anybody reports about it is not known here.

use crate::answers::artifact;
use crate::choices::Choices;
use std::collections::{BTreeMap, BTreeSet};
use windlass_protocols::effect::{RunSuite, SuitePurpose};
use windlass_protocols::outcome::{StepEnd, SuiteReport, Usage};
use windlass_protocols::{Digest, EffectId, TreeId};

/// What the builders of one seed do, mostly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Building {
    Mixed,
    Done,
    Half,
    Breaking,
    Nothing,
    /// Leaves what is not the item's or nobody may have.
    Creeping,
}

/// What one builder did to the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Done,
    Half,
    Breaks,
    DeletesTests,
    Nothing,
}

impl Building {
    pub(crate) fn draw(choices: &mut Choices) -> Self {
        choices.weighted(&[
            (6, Self::Mixed),
            (4, Self::Done),
            (1, Self::Half),
            (1, Self::Breaking),
            (1, Self::Nothing),
            (1, Self::Creeping),
        ])
    }

    pub(crate) fn act(self, choices: &mut Choices) -> Deed {
        let much = |kind: Self, usual: u32| if self == kind { 80 } else { usual };
        choices.weighted(&[
            (much(Self::Done, 30), Deed::Done),
            (much(Self::Half, 6), Deed::Half),
            (much(Self::Breaking, 4), Deed::Breaks),
            (2, Deed::DeletesTests),
            (much(Self::Nothing, 3), Deed::Nothing),
        ])
    }
}

#[derive(Clone, Debug, Default)]
struct Content {
    /// By name, and whether it is green.
    tests: BTreeMap<String, bool>,
}

#[derive(Default)]
pub(crate) struct Works {
    contents: BTreeMap<TreeId, Content>,
    /// Which tests were green, by the digest of the sealed list.
    lists: BTreeMap<Digest, BTreeSet<String>>,
    /// Trees on which a run of the whole suite was green.
    green: BTreeSet<TreeId>,
}

const FLAKY: &str = "t::flaky";
const ITEMS: [&str; 5] = ["F001", "R002", "B003", "E004", "F005"];

fn test_of(item: &str) -> String {
    format!("t::{item}")
}

impl Works {
    /// A tree that nobody made yet is the base.
    fn content(&mut self, tree: &TreeId, choices: &mut Choices) -> &mut Content {
        self.contents.entry(tree.clone()).or_insert_with(|| base(choices))
    }

    /// What somebody makes of a tree for an item.
    pub(crate) fn made(&mut self, from: &TreeId, item: &str, deed: Deed, choices: &mut Choices) -> TreeId {
        let mut content = self.content(from, choices).clone();
        match deed {
            Deed::Nothing => return from.clone(),
            Deed::Done => drop(content.tests.insert(test_of(item), true)),
            Deed::Half => drop(content.tests.insert(test_of(item), false)),
            Deed::Breaks => {
                content.tests.insert(test_of(item), true);
                if let Some(green) = content.tests.values_mut().find(|green| **green) {
                    *green = false;
                }
            }
            Deed::DeletesTests => drop(content.tests.pop_first()),
        }
        let tree = TreeId::new(format!("tree-{}", self.contents.len()));
        self.contents.insert(tree.clone(), content);
        tree
    }

    /// Whether the item is really done there.
    pub(crate) fn is_done(&self, tree: &TreeId, item: &str) -> bool {
        self.contents.get(tree).is_some_and(|content| content.tests.get(&test_of(item)) == Some(&true))
    }

    pub(crate) fn was_green(&self, tree: &TreeId) -> bool {
        self.green.contains(tree)
    }

    pub(crate) fn run(
        &mut self,
        effect: EffectId,
        asked: &RunSuite,
        usage: Usage,
        choices: &mut Choices,
    ) -> SuiteReport {
        let mut tests = self.content(&asked.tree, choices).tests.clone();
        if let Some(green) = tests.get_mut(FLAKY) {
            *green = !choices.once_in(3);
        }
        let end = choices.weighted(&[(100, 0), (1, 1), (1, 2)]);
        let of = |wanted: bool| tests.iter().filter(move |(_, green)| **green == wanted);
        let (passing, failing): (BTreeSet<String>, Vec<String>) = (
            of(true).map(|(name, _)| name.clone()).collect(),
            of(false).map(|(name, _)| name.clone()).collect(),
        );
        let before = asked.baseline.as_ref().and_then(|list| self.lists.get(&list.digest));
        let regressions = before
            .into_iter()
            .flatten()
            .filter(|name| !passing.contains(*name) && !asked.flaky.contains(name))
            .cloned()
            .collect();
        let list = artifact("tests.json", effect);
        self.lists.insert(list.digest.clone(), passing.clone());
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut report = SuiteReport {
            purpose: asked.purpose,
            tree: asked.tree.clone(),
            end: StepEnd::Exited { code: i32::from(!failing.is_empty()) },
            passed: count(passing.len()),
            total: count(tests.len()),
            failing,
            regressions,
            list: Some(list),
            log: artifact("tests.log", effect),
            usage,
            gate: Vec::new(),
        };
        // A suite that did not come to its end has no list of tests.
        if end > 0 {
            report.end = if end == 1 && asked.purpose == SuitePurpose::Baseline {
                StepEnd::NotStarted { reason: "no such program".to_owned() }
            } else {
                StepEnd::TotalLimit
            };
            (report.passed, report.total, report.list) = (0, 0, None);
            (report.failing, report.regressions) = (Vec::new(), Vec::new());
        }
        if report.is_green() {
            self.green.insert(asked.tree.clone());
        }
        report
    }
}

/// Green as a rule, with some items done already and now and then a test that nobody can rely on.
fn base(choices: &mut Choices) -> Content {
    let mut tests = BTreeMap::new();
    tests.insert("t::a".to_owned(), !choices.once_in(25));
    tests.insert("t::b".to_owned(), true);
    if choices.once_in(6) {
        tests.insert(FLAKY.to_owned(), true);
    }
    for item in ITEMS {
        if choices.once_in(3) {
            tests.insert(test_of(item), true);
        }
    }
    Content { tests }
}
