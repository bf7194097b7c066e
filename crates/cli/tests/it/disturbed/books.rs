//! What the journal says of every run, and what the agents say themselves: which were asked, which were lost, what was used.

use super::Steps;
use super::escaping::{STARTED, TOKENS_OF_EACH};
use super::landed;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use windlass_test_support::World;

/// A run and the number of an effect of it.
type Step = (String, u64);

#[derive(Default)]
pub(crate) struct Books {
    runs: BTreeMap<String, RunBook>,
    /// Every start of an agent, as the agents themselves wrote it down.
    started: Vec<Step>,
}

#[derive(Default)]
struct RunBook {
    facts: Vec<Value>,
    round: u64,
    spent: BTreeMap<String, u64>,
}

impl Books {
    pub(crate) fn read(world: &World) -> Self {
        let list = world.windlass(&["ls", "--json"]).exits_with(0).json();
        let lines = list.as_array().unwrap();
        let runs = lines.iter().map(|line| {
            let run = line["run"].as_str().unwrap();
            (run.to_owned(), RunBook::read(world, run, line))
        });
        let started = std::fs::read_to_string(world.shared(STARTED)).unwrap_or_default();
        Self { runs: runs.collect(), started: started.lines().map(step_of).collect() }
    }

    pub(crate) fn runs(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(String::as_str)
    }

    /// What is wrong with these books if those were read before: a fact that is gone, or a cap of which less is used.
    pub(crate) fn since(&self, before: &Self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (run, old) in &before.runs {
            let Some(new) = self.runs.get(run) else {
                wrong.push(format!("run {run} is gone"));
                continue;
            };
            if !new.facts.starts_with(&old.facts) {
                wrong.push(format!(
                    "facts of run {run} were lost or changed: {:#?}\nnow {:#?}",
                    old.facts, new.facts
                ));
            }
            if new.round < old.round {
                wrong.push(format!("run {run} was in round {} and is in {}", old.round, new.round));
            }
            let less = |(what, used): &(&String, &u64)| new.spent.get(*what).is_none_or(|now| now < *used);
            for (what, used) in old.spent.iter().filter(less) {
                wrong.push(format!("{used} {what} of run {run} were used, now {:?}", new.spent.get(what)));
            }
        }
        wrong
    }

    /// What is wrong at the end, against an undisturbed run: an agent that was started twice or unasked, or once more than
    /// steps were lost.
    pub(crate) fn beyond(&self, undisturbed: &Self, steps: Steps) -> Vec<String> {
        let mut wrong = Vec::new();
        let asked: BTreeSet<Step> = self.steps(|_| true);
        let lost = self.steps(|outcome| outcome.is_some_and(|outcome| outcome["lost"].is_object()));
        let mut seen = BTreeSet::new();
        for step in &self.started {
            if !seen.insert(step) {
                wrong.push(format!("the agent of step {step:?} was started twice"));
            }
            if !asked.contains(step) {
                wrong.push(format!("the agent of step {step:?} was started unasked"));
            }
        }
        if self.started.len() > undisturbed.started.len() + lost.len() {
            let (started, wanted) = (self.started.len(), undisturbed.started.len());
            wrong.push(format!("{started} agents were started, {wanted} undisturbed, and lost are {lost:?}"));
        }
        if steps == Steps::AllKnown && !lost.is_empty() {
            wrong.push(format!("no keeper was killed, and lost are {lost:?}"));
        }
        let (told, least) = (
            self.tokens(),
            TOKENS_OF_EACH * (self.started.len() - lost.len().min(self.started.len())) as u64,
        );
        if told < least {
            wrong.push(format!("agents that ended used {least} tokens, and the books say {told}"));
        }
        wrong
    }

    /// What landed and was not what those who look at it passed last.
    pub(crate) fn landed_unseen(&self) -> Vec<String> {
        let of_run = |(run, book): (&String, &RunBook)| -> Vec<String> {
            landed::unseen(&book.facts).into_iter().map(|wrong| format!("{run}: {wrong}")).collect()
        };
        self.runs.iter().flat_map(of_run).collect()
    }

    fn tokens(&self) -> u64 {
        self.runs.values().filter_map(|book| book.spent.get("tokens")).sum()
    }

    /// The agent steps of all runs whose outcome, if there is one yet, is such.
    fn steps(&self, such: impl Fn(Option<&Value>) -> bool) -> BTreeSet<Step> {
        let of_run = |(run, book): (&String, &RunBook)| -> Vec<Step> {
            let asked = book.data("effect-requested").filter(|data| data["request"]["run-agent"].is_object());
            let asked = asked.map(|data| data["effect"].as_u64().unwrap());
            let outcome = |effect: u64| {
                book.data("effect-settled").find(|data| data["effect"] == effect).map(|data| &data["outcome"])
            };
            asked.filter(|effect| such(outcome(*effect))).map(|effect| (run.clone(), effect)).collect()
        };
        self.runs.iter().flat_map(of_run).collect()
    }
}

impl RunBook {
    fn read(world: &World, run: &str, line: &Value) -> Self {
        let log = world.windlass(&["log", run, "--json"]).exits_with(0).json();
        let shown = world.windlass(&["show", run, "--json"]).exits_with(0).json();
        let facts = log["entries"].as_array().unwrap().iter().map(|entry| entry["fact"].clone()).collect();
        let spent = shown["spent"].as_object().unwrap();
        let spent = spent.iter().filter_map(|(what, used)| Some((what.clone(), used.as_u64()?))).collect();
        Self { facts, round: line["round"].as_u64().unwrap_or_default(), spent }
    }

    fn data<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.facts.iter().filter(move |fact| fact["fact"] == kind).map(|fact| &fact["data"])
    }
}

/// From `…/runs/RUN/effects/NUMBER/outbox`.
fn step_of(outbox: &str) -> Step {
    let mut parts = outbox.rsplit('/').skip(1);
    let effect = parts.next().and_then(|number| number.parse().ok());
    let run = parts.nth(1).expect("an outbox lies in its run");
    (run.to_owned(), effect.unwrap_or_else(|| panic!("no outbox of an effect: {outbox}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fact(kind: &str, data: &Value) -> Value {
        json!({ "fact": kind, "data": data })
    }

    /// One run in which these steps were asked and ended so, and these agents say they were started.
    fn books(steps: &[(u64, Value)], started: &[u64]) -> Books {
        let facts = steps.iter().flat_map(|(effect, outcome)| {
            [
                fact("effect-requested", &json!({ "effect": effect, "request": { "run-agent": {} } })),
                fact("effect-settled", &json!({ "effect": effect, "outcome": outcome })),
            ]
        });
        let spent = BTreeMap::from([("tokens".to_owned(), TOKENS_OF_EACH * started.len() as u64)]);
        let book = RunBook { facts: facts.collect(), round: 1, spent };
        let started = started.iter().map(|effect| ("r".to_owned(), *effect)).collect();
        Books { runs: BTreeMap::from([("r".to_owned(), book)]), started }
    }

    fn ended() -> Value {
        json!({ "agent-ended": {} })
    }

    fn lost() -> Value {
        json!({ "lost": { "reason": "its keeper was killed" } })
    }

    #[test]
    fn an_agent_that_was_started_twice_or_unasked_or_too_often_is_found() {
        let undisturbed = books(&[(1, ended())], &[1]);
        let wrong = |books: &Books, steps| books.beyond(&undisturbed, steps).join("; ");
        assert_eq!(wrong(&undisturbed, Steps::AllKnown), "");
        assert_eq!(wrong(&books(&[(1, lost()), (2, ended())], &[1, 2]), Steps::MayBeLost), "");
        let unlost = wrong(&books(&[(1, lost()), (2, ended())], &[1, 2]), Steps::AllKnown);
        assert!(unlost.contains("no keeper was killed"), "{unlost}");
        let twice = wrong(&books(&[(1, ended())], &[1, 1]), Steps::MayBeLost);
        assert!(twice.contains("started twice") && twice.contains("2 agents were started"), "{twice}");
        let unasked = wrong(&books(&[(1, ended())], &[7]), Steps::AllKnown);
        assert!(unasked.contains("unasked"), "{unasked}");
        let mut free = books(&[(1, ended())], &[1]);
        free.runs.get_mut("r").unwrap().spent.insert("tokens".to_owned(), 0);
        assert!(wrong(&free, Steps::AllKnown).contains("the books say 0"));
    }

    #[test]
    fn a_fact_that_is_gone_and_a_cap_of_which_less_is_used_are_found() {
        let before = books(&[(1, ended()), (2, ended())], &[1, 2]);
        assert_eq!(before.since(&Books::default()), Vec::<String>::new());
        let wrong = books(&[(1, ended())], &[1]).since(&before).join("; ");
        assert!(
            wrong.contains("facts of run r were lost") && wrong.contains("14 tokens of run r"),
            "{wrong}"
        );
        assert_eq!(Books::default().since(&before), ["run r is gone"]);
    }
}
