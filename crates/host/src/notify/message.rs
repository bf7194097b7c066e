//! What is told: one notification as the channels send it. Made from a run and one of its facts alone, under an id that
//! follows from both, so that making it twice makes the same one.

use super::plan::{EventKind, Plan};
use crate::headline;
use serde::{Deserialize, Serialize};
use windlass_control_api::views::{LoopKind, Status};
use windlass_protocols::explain::explain;
use windlass_protocols::kernel::budget::{Budget, Dimension};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{Fact, Millis, Run};

/// A budget is told of when this much of it is used.
const WARN_AT_PERCENT: u64 = 80;

/// The body of a webhook and the input of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// The same however often and through whatever channel it is sent.
    pub(crate) id: String,
    pub(crate) event: EventKind,
    /// Milliseconds since 1970.
    pub(crate) at_ms: u64,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) because: Vec<String>,
    /// What can be typed now.
    pub(crate) commands: Vec<String>,
    /// How the run stands, in the words of `windlass ls`.
    pub(crate) status: String,
    pub(crate) run: String,
    pub(crate) task: String,
    pub(crate) kind: LoopKind,
    pub(crate) repository: String,
    pub(crate) run_dir: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<BudgetUse>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BudgetUse {
    pub(crate) what: String,
    /// Milliseconds, tokens, millionths of the currency's unit, or bytes.
    pub(crate) used: u64,
    pub(crate) cap: u64,
    pub(crate) percent: u64,
}

impl Message {
    /// For trying the channels.
    pub(crate) fn test(id: String, at: Millis, repository: &str) -> Self {
        Self {
            id,
            event: EventKind::Test,
            at_ms: at.0,
            title: "Windlass: a test".to_owned(),
            text: "notifications arrive here".to_owned(),
            because: Vec::new(),
            commands: Vec::new(),
            status: String::new(),
            run: String::new(),
            task: String::new(),
            kind: LoopKind::default(),
            repository: repository.to_owned(),
            run_dir: String::new(),
            budget: None,
        }
    }
}

/// What is to be told of this fact, which the run has taken in already; `before` is the budget it found.
pub(super) fn of_fact(
    plan: &Plan,
    run: &Run,
    before: Option<&Budget>,
    fact: &Fact,
    at: Millis,
) -> Vec<Message> {
    match fact {
        Fact::RunEnded => {
            headline::status_of(run).and_then(|status| ended(plan, run, status, at)).into_iter().collect()
        }
        Fact::EffectSettled { .. } if plan.wants(EventKind::Budget) => {
            let after = run.started.as_ref().map(|started| started.budget);
            let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
            passed(before, &after).into_iter().filter_map(|used| nearly_used(run, used, at)).collect()
        }
        _ => Vec::new(),
    }
}

/// A run that waits for a person has ended too: who asked for one of the two is told once.
fn ended(plan: &Plan, run: &Run, status: Status, at: Millis) -> Option<Message> {
    let waits = status == Status::NeedsHuman;
    let event =
        if waits && plan.wants(EventKind::NeedsPerson) { EventKind::NeedsPerson } else { EventKind::Ended };
    if !plan.wants(event) {
        return None;
    }
    let mut message = about(run, event, event.word(), at)?;
    let end = if waits { "waits for a person" } else { status.word() };
    message.title = format!("{}: {end}", message.task);
    status.word().clone_into(&mut message.status);
    Some(message)
}

fn nearly_used(run: &Run, (dimension, used): (Dimension, BudgetUse), at: Millis) -> Option<Message> {
    let which = format!("budget-{}", dimension.word().replace(' ', "-"));
    let mut message = about(run, EventKind::Budget, &which, at)?;
    message.title = format!("{}: {} % of its {} are used", message.task, used.percent, used.what);
    Status::Running.word().clone_into(&mut message.status);
    message.budget = Some(used);
    Some(message)
}

fn about(run: &Run, event: EventKind, which: &str, at: Millis) -> Option<Message> {
    let started = run.started.as_ref()?;
    let place = started.protocol.place();
    let explained = explain(run);
    Some(Message {
        id: format!("{}-{}-{which}", started.id, run.version),
        event,
        at_ms: at.0,
        title: String::new(),
        text: explained.now,
        because: explained.because,
        commands: explained.commands,
        status: String::new(),
        run: started.id.to_string(),
        task: started.protocol.task().to_string(),
        kind: match started.protocol {
            Protocol::JudgedTask(_) => LoopKind::Task,
            Protocol::FeedbackControl(_) => LoopKind::Control,
            Protocol::GoalContract(_) => LoopKind::Goal,
            Protocol::RoadmapRounds(_) => LoopKind::Roadmap,
        },
        repository: place.repository.clone(),
        run_dir: place.run_dir.clone(),
        budget: None,
    })
}

/// The budgets that were below the mark and no longer are. Rounds are not among them: of three, the last is always near
/// the end, and each is shown as it begins.
fn passed(before: &Budget, after: &Budget) -> Vec<(Dimension, BudgetUse)> {
    let amounts = |budget: &Budget| {
        let (used, caps) = (budget.used, budget.caps);
        [
            (Dimension::Minutes, used.duration.0, caps.time.map(|time| time.0)),
            (Dimension::Tokens, used.tokens, caps.tokens),
            (Dimension::Money, used.cost_micros, caps.cost_micros),
            (Dimension::OutputBytes, used.output_bytes, caps.output_bytes),
        ]
    };
    let mut found = Vec::new();
    for ((_, used_before, cap_before), (dimension, used, cap)) in
        amounts(before).into_iter().zip(amounts(after))
    {
        let (Some(cap_before), Some(cap)) = (cap_before, cap) else { continue };
        if percent(used_before, cap_before) < WARN_AT_PERCENT && percent(used, cap) >= WARN_AT_PERCENT {
            let what = dimension.word().to_owned();
            found.push((dimension, BudgetUse { what, used, cap, percent: percent(used, cap) }));
        }
    }
    found
}

fn percent(used: u64, cap: u64) -> u64 {
    let share = u128::from(used) * 100 / u128::from(cap.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}
