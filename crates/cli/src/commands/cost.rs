//! `windlass cost`: what agents used, and what an accepted task costs in the end.

use super::{absolute, repository_here};
use crate::output::{Output, Paint, Table, cost, fit, grouped, money, printable};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::path::PathBuf;
use windlass_control_api::money::{AskCost, CostBy, CostReport, CostRow, Spent};
use windlass_control_api::{Control, Fault, exit_codes};

/// The longest name that is shown whole on a terminal; agents may be whole command lines.
const NAME_COLUMNS: usize = 36;
const HEADINGS: [&str; 7] = ["ACCEPTED", "STEPS", "INPUT", "CACHED", "OUTPUT", "REASONING", "TOKENS"];
const MILLISECONDS_A_DAY: u64 = 24 * 60 * 60 * 1000;

/// Show what agents used: tokens and money, and what an accepted task costs
///
/// Money is what the agents told, or what your price table makes of their tokens. Where neither is known it says `price
/// not told`; such steps were not free. Runs that came to nothing are part of what an accepted task costs.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass cost
  windlass cost TASK-7-20260102-030405 --by role
  windlass cost --by agent --since 7d
  windlass cost --by day --since 2026-01-01 --all
  windlass cost --all --json | jq .per_accepted")]
pub(crate) struct CostArgs {
    /// One run, as `windlass ls` names it
    #[arg(value_name = "RUN", conflicts_with_all = ["repo", "all"])]
    run: Option<String>,
    /// What each line stands for; runs, or the roles of one run, if not given
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    /// Only what was used since then: a day such as 2026-01-31, or 7d for the last seven days
    #[arg(long, value_name = "DATE|Nd", value_parser = since)]
    since: Option<Since>,
    /// Only runs of this repository; the one the current directory is in if not given
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    repo: Option<PathBuf>,
    /// Every run of this machine
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    Run,
    Role,
    Agent,
    Model,
    Day,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    Day(Date),
    Days(u64),
}

fn since(text: &str) -> Result<Since, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok()).map(Since::Days);
    let day = || text.parse().ok().map(Since::Day);
    days.or_else(day)
        .ok_or_else(|| String::from("expected a day such as 2026-01-31, or a number of days such as 7d"))
}

impl Since {
    /// Milliseconds since 1970; a day begins at midnight where the reader is.
    fn moment(self, now: Timestamp, zone: &TimeZone) -> u64 {
        let milliseconds = |moment: Timestamp| u64::try_from(moment.as_millisecond()).unwrap_or(0);
        match self {
            Self::Days(days) => milliseconds(now).saturating_sub(days.saturating_mul(MILLISECONDS_A_DAY)),
            Self::Day(day) => {
                zone.to_zoned(day.into()).map_or(0, |midnight| milliseconds(midnight.timestamp()))
            }
        }
    }
}

pub(crate) async fn run(args: CostArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = match (&args.repo, args.all || args.run.is_some()) {
        (Some(named), _) => Some(absolute(named)?),
        (None, true) => None,
        (None, false) => repository_here(None)?,
    };
    let usual = if args.run.is_some() { CostBy::Role } else { CostBy::Run };
    let question = AskCost {
        run: args.run,
        repository,
        by: args.by.map_or(usual, meant),
        since_ms: args.since.map_or(0, |since| since.moment(Timestamp::now(), &TimeZone::system())),
    };
    let report = control.cost(question).await?;
    if output.is_json() {
        output.document(&report);
    } else if report.rows.is_empty() {
        output.talk("no agent has worked here yet; `--all` looks at every repository of this machine");
    } else {
        show(&report, output);
    }
    Ok(exit_codes::ACCEPTED)
}

const fn meant(by: By) -> CostBy {
    match by {
        By::Run => CostBy::Run,
        By::Role => CostBy::Role,
        By::Agent => CostBy::Agent,
        By::Model => CostBy::Model,
        By::Day => CostBy::Day,
    }
}

fn show(report: &CostReport, output: &mut Output) {
    let look = output.look();
    let heading = match report.by {
        CostBy::Run => "RUN",
        CostBy::Role => "ROLE",
        CostBy::Agent => "AGENT",
        CostBy::Model => "MODEL",
        CostBy::Day => "DAY",
    };
    let total = CostRow {
        name: String::from("total"),
        task: String::new(),
        spent: report.total,
        runs: report.runs,
        accepted: report.accepted,
    };
    let rows = || report.rows.iter().chain([&total]);
    let figures = aligned(std::iter::once(HEADINGS.map(str::to_owned)).chain(rows().map(figures)).collect());
    let mut figures = figures.into_iter();
    let mut headings = vec![heading.to_owned()];
    headings.extend(figures.next().into_iter().flatten());
    headings.push(String::from("COST"));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(look, &headings);
    for (row, figures) in rows().zip(figures) {
        let name = printable(&format!("{} {}", row.name, row.task));
        let name = match look.width {
            Some(_) => fit(name.trim(), NAME_COLUMNS, look.ellipsis()),
            None => name.trim().to_owned(),
        };
        let name = if row.name == total.name { name } else { look.paint(Paint::Name, &name) };
        table.row(std::iter::once(name).chain(figures).chain([told(&row.spent)]).collect());
    }
    for line in table.lines() {
        output.line(line);
    }
    output.line("");
    output.line(per_accepted(report));
    if report.total.cut_off_steps > 0 {
        output.line(cut_off(report.total.cut_off_steps));
    }
}

fn told(spent: &Spent) -> String {
    let money = money(spent);
    if money.is_empty() { String::from("-") } else { money }
}

fn figures(row: &CostRow) -> [String; 7] {
    let Spent { steps, tokens, input, cached, output, reasoning, .. } = row.spent;
    let [steps, input, cached, output, reasoning, tokens] =
        [steps, input, cached, output, reasoning, tokens].map(grouped);
    [format!("{} of {}", row.accepted, row.runs), steps, input, cached, output, reasoning, tokens]
}

/// Numbers stand under each other by their last digit, and so do their headings.
fn aligned(mut rows: Vec<[String; 7]>) -> Vec<[String; 7]> {
    for column in 0..HEADINGS.len() {
        let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        for row in &mut rows {
            row[column] = format!("{:>width$}", row[column]);
        }
    }
    rows
}

fn per_accepted(report: &CostReport) -> String {
    let runs = if report.runs == 1 { "run" } else { "runs" };
    let count = format!("{} of {} {runs} accepted", report.accepted, report.runs);
    match &report.per_accepted {
        None => format!("no accepted task to share it: {count}"),
        Some(share) => {
            let share = cost(share);
            let share = if share.is_empty() { String::from("nothing was told") } else { share };
            format!("for each accepted task: {share}; {count}")
        }
    }
}

fn cut_off(steps: u64) -> String {
    let steps =
        if steps == 1 { String::from("1 step was") } else { format!("{} steps were", grouped(steps)) };
    format!("{steps} ended before telling all tokens: the sums are the least it can have been")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    #[test]
    fn a_moment_is_a_day_or_so_many_days_ago() {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * 10 + 5);
        let hour = 60 * 60 * 1000;
        assert_eq!(since("2d").unwrap().moment(now, &TimeZone::UTC), (24 * 8 + 5) * hour);
        assert_eq!(since("1970-01-03").unwrap().moment(now, &TimeZone::UTC), 48 * hour);
        assert_eq!(since("99999d").unwrap().moment(now, &TimeZone::UTC), 0);
        for wrong in ["", "d", "-1d", "yesterday", "2026-13-01", "7"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
