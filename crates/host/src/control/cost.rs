//! Answers what agents cost: chooses the runs and steps that are meant and adds them up under the names asked for.

use super::find;
use crate::fault::git_fault;
use crate::host::Host;
use crate::narrate::local_time;
use crate::spending::{self, SpentRun, SpentStep};
use std::collections::BTreeMap;
use windlass_agent_drivers::AgentChoice;
use windlass_control_api::Fault;
use windlass_control_api::money::{AskCost, CostBy, CostReport, CostRow, Spent};
use windlass_git_workspaces::Checkout;
use windlass_protocols::{Millis, RunId};

pub(crate) async fn cost(host: &Host, question: AskCost) -> Result<CostReport, Fault> {
    let since = Millis(question.since_ms);
    let mut runs = match &question.run {
        Some(name) => {
            let head = find::head(host, name).await?;
            spending::of_run(&host.journal, &head.run).await?.into_iter().collect()
        }
        None => spending::since(&host.journal, since).await?,
    };
    if let Some(path) = question.repository.as_ref().filter(|_| question.run.is_none()) {
        let checkout = Checkout::discover(path).map_err(git_fault)?;
        let here = checkout.common_dir().to_string_lossy().into_owned();
        runs.retain(|run| run.common_dir == here);
    }
    for run in &mut runs {
        run.steps.retain(|step| step.at >= since);
    }
    runs.retain(|run| !run.steps.is_empty());
    Ok(report(&runs, question.by))
}

fn report(runs: &[SpentRun], by: CostBy) -> CostReport {
    let total = spending::sum(runs.iter().map(SpentRun::spent));
    let accepted = count(runs.iter().filter(|run| run.accepted));
    CostReport {
        by,
        rows: rows(runs, by),
        total,
        runs: count(runs.iter()),
        accepted,
        per_accepted: total.shared_by(accepted),
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.map(|_| 1).sum()
}

/// Runs as the journal lists them, the newest first; everything else by its name.
fn rows(runs: &[SpentRun], by: CostBy) -> Vec<CostRow> {
    if by == CostBy::Run {
        let row = |run: &SpentRun| CostRow {
            name: run.run.to_string(),
            task: run.task.clone(),
            spent: run.spent(),
            runs: 1,
            accepted: u64::from(run.accepted),
        };
        return runs.iter().map(row).collect();
    }
    let mut named: BTreeMap<String, (CostRow, Option<&RunId>)> = BTreeMap::new();
    for run in runs {
        for step in &run.steps {
            let name = name(step, by);
            let empty = || CostRow {
                name: name.clone(),
                task: String::new(),
                spent: Spent::default(),
                runs: 0,
                accepted: 0,
            };
            let (row, last) = named.entry(name.clone()).or_insert_with(|| (empty(), None));
            row.spent = row.spent.plus(step.spent());
            // Steps of one run follow each other, so a run is counted once.
            if *last != Some(&run.run) {
                *last = Some(&run.run);
                row.runs += 1;
                row.accepted += u64::from(run.accepted);
            }
        }
    }
    named.into_values().map(|(row, _)| row).collect()
}

fn name(step: &SpentStep, by: CostBy) -> String {
    match by {
        CostBy::Run => String::new(),
        CostBy::Role => step.role.to_string(),
        CostBy::Agent => step.agent.clone(),
        CostBy::Model => step.model.clone().unwrap_or_else(|| {
            let kind = AgentChoice::parse(&step.agent).map_or("agent", |choice| choice.kind());
            format!("not told ({kind})")
        }),
        CostBy::Day => local_time(step.at.0).chars().take_while(|letter| *letter != ' ').collect(),
    }
}
