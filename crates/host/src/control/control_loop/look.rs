//! Looking without changing: how a repository is set up, where a loop stands, what was measured.

use super::ground::{self, Uncommitted};
use super::{InCommit, InWorkTree, own_runs, report, setup};
use crate::control::{find, trust};
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::host::Host;
use std::path::Path;
use windlass_artifact_formats::control_loop::{DEFAULT_TARGET, NodePaths};
use windlass_control_api::control_loop::{
    ControlStatus, Measurements, Series, SeriesPoint, SetupNode, SetupReport,
};
use windlass_control_api::{Code, Fault};
use windlass_engine::Journal;
use windlass_git_workspaces::{Checkout, Repository};
use windlass_protocols::outcome::{Better, Reading, ReadingStatus};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::spec::{Actuator, Dialect, Sensor, Workplace};
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::{Fact, Run};

/// The original shows so many commits.
const RECENT_COMMITS: usize = 20;

pub(crate) async fn setup(host: &Host, repository: &Path) -> Result<SetupReport, Fault> {
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let trust = trust::state(host, repository)?;
    let mut report = SetupReport {
        repository: checkout.work_tree().to_string_lossy().into_owned(),
        dialect: None,
        nodes: Vec::new(),
        problems: Vec::new(),
        warnings: Vec::new(),
        commands: Vec::new(),
        trusted: trust.trusted,
    };
    match setup::read(&InWorkTree(checkout.work_tree())) {
        Err(problems) => {
            report.problems = problems;
            // What is there and broken is mended by hand; `init` would not touch it.
            report.dialect =
                setup::begun(&InWorkTree(checkout.work_tree())).map(|one| dialect(one).to_owned());
        }
        Ok(found) => {
            report.dialect = Some(dialect(found.dialect).to_owned());
            report.nodes = nodes(&found);
            report.commands = found.commands();
            report.warnings.clone_from(&found.warnings);
            let common_dir = checkout.common_dir().to_string_lossy().into_owned();
            report.warnings.extend(own_runs::told(host, &common_dir, &found.left_open).await?);
            let repository = host.repository(checkout)?;
            match committed(&repository, &found)? {
                Committed::AsItIs => {}
                Committed::Otherwise => report.warnings.push(
                    "this set-up is not committed as it is; a run works with the committed one".to_owned(),
                ),
                Committed::Not(why) => {
                    report.problems.push(why);
                    return Ok(report);
                }
            }
            let head = repository.head().map_err(git_fault)?;
            report.warnings.extend(crate::submodules::in_words(&repository, &head.tree));
            let base =
                ground::base(&repository, &host.environment, (Uncommitted::Refused, Workplace::OwnWorktree));
            let grounds = [base.map(drop), ground::room(&repository, None)];
            let wrong = grounds.into_iter().filter_map(Result::err);
            report.problems.extend(wrong.map(|fault| ground::in_words(&fault)));
        }
    }
    Ok(report)
}

const fn dialect(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Flat => "flat",
        Dialect::Hierarchical => "hierarchical",
    }
}

fn nodes(setup: &setup::Setup) -> Vec<SetupNode> {
    let mut path = String::new();
    setup
        .root
        .chain()
        .map(|node| {
            path = if path.is_empty() { node.id.clone() } else { format!("{path}/{}", node.id) };
            let measured_by =
                |command: &Option<String>| command.clone().unwrap_or_else(|| "an agent".to_owned());
            SetupNode {
                path: path.clone(),
                max_iterations: node.max_iterations,
                sensors: node
                    .sensors
                    .iter()
                    .map(|sensor| (sensor.name.clone(), measured_by(&sensor.command), target(sensor)))
                    .collect(),
                optional: node
                    .sensors
                    .iter()
                    .filter(|sensor| !sensor.required)
                    .map(|sensor| sensor.name.clone())
                    .collect(),
                actuator: match &node.actuator {
                    Actuator::Direct(file) => file.path.clone(),
                    Actuator::Cascade(child) => format!("the loop {}", child.id),
                },
            }
        })
        .collect()
}

/// An agent has no exit code that the usual target could speak of.
fn target(sensor: &Sensor) -> String {
    if sensor.command.is_none() && sensor.target == DEFAULT_TARGET {
        return "none stated".to_owned();
    }
    sensor.target.clone()
}

/// A run works with what is committed.
enum Committed {
    AsItIs,
    Otherwise,
    /// And why nothing could be run.
    Not(String),
}

fn committed(repository: &Repository, found: &setup::Setup) -> Result<Committed, Fault> {
    let Ok(head) = repository.head() else {
        return Ok(Committed::Not("the repository has no commit yet; a run begins at one".to_owned()));
    };
    repository.import(&head).map_err(git_fault)?;
    Ok(match setup::read(&InCommit(repository, &head.tree)) {
        Ok(committed) if committed.root == found.root => Committed::AsItIs,
        Ok(_) => Committed::Otherwise,
        Err(_) => Committed::Not(
            "the set-up is in your checkout only: commit it, for a run works with committed files".to_owned(),
        ),
    })
}

fn control_loop(run: &Run) -> Result<&State, Fault> {
    match find::protocol(run)? {
        Protocol::FeedbackControl(state) => Ok(state),
        Protocol::JudgedTask(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => {
            Err(Fault::new(Code::BadArgument, "this run is no control loop").hint("`windlass show` shows it"))
        }
    }
}

pub(crate) async fn status(
    host: &Host,
    name: Option<&str>,
    repository: &Path,
) -> Result<ControlStatus, Fault> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => newest(host, repository).await?,
    };
    let (head, _, run) = find::run(host, &name).await?;
    let state = control_loop(&run)?;
    let line = find::line(host, &head).await?;
    let (outputs, recent) = match find::context(host, &head.run, find::protocol(&run)?) {
        Ok(context) => {
            let repository = &context.repository;
            let recent = match (&state.head, &state.base) {
                (Some(last), Some((base, _))) if last != base => {
                    repository.subjects(last.as_str(), base.as_str(), RECENT_COMMITS).map_err(git_fault)?
                }
                _ => Vec::new(),
            };
            (outputs(repository, state)?, recent)
        }
        // What the facts say is worth showing without the repository.
        Err(_) => (Vec::new(), Vec::new()),
    };
    Ok(ControlStatus {
        run: head.run.to_string(),
        task: state.spec.text.clone(),
        status: line.status,
        now: line.now,
        report: report::of(host, &run, state, report::Branch::now(host, state)),
        outputs,
        recent,
    })
}

/// The newest control loop of the repository.
async fn newest(host: &Host, repository: &Path) -> Result<String, Fault> {
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let wanted = checkout.common_dir().to_string_lossy().into_owned();
    for head in host.journal.runs().await.map_err(journal_fault)? {
        if headline::common_dir(&head).as_deref() != Some(wanted.as_str()) {
            continue;
        }
        let (_, _, run) = find::run(host, head.run.as_str()).await?;
        if control_loop(&run).is_ok() {
            return Ok(head.run.to_string());
        }
    }
    Err(Fault::new(Code::UnknownRun, "no control loop was ever run in this repository")
        .hint("`windlass control run \"TASK\"` runs one"))
}

/// The files of the node at work, as they were last committed.
fn outputs(repository: &Repository, state: &State) -> Result<Vec<(String, String)>, Fault> {
    let (Some(frame), Some(last)) = (state.frame(), &state.head) else { return Ok(Vec::new()) };
    let paths = match state.spec.dialect {
        Dialect::Flat => NodePaths::flat(),
        Dialect::Hierarchical => {
            let Some(run) = windlass_artifact_formats::control_loop::RunId::parse(&state.spec.run_name)
            else {
                return Ok(Vec::new());
            };
            NodePaths::nested(&run, &state.spec.node_path(frame.depth as usize).join("/"))
        }
    };
    let tree = repository.resolve_commit(last.as_str()).map_err(git_fault)?.tree;
    let node = state.spec.node(frame.depth as usize);
    let wanted = node
        .sensors
        .iter()
        .map(|sensor| paths.sensor_output(&sensor.name))
        .chain([paths.controller_output(), paths.actuator_output()])
        .chain(paths.result_output());
    let mut found = Vec::new();
    for path in wanted {
        if let Some(bytes) = repository.file_at(&tree, &path).map_err(git_fault)? {
            found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(found)
}

pub(crate) async fn measurements(host: &Host, name: &str) -> Result<Measurements, Fault> {
    let (head, stored, run) = find::run(host, name).await?;
    let state = control_loop(&run)?;
    let mut so_far = Run::default();
    let mut series: Vec<Series> = Vec::new();
    for row in &stored {
        let fact = row.fact(&head.run).map_err(journal_fault)?;
        so_far.evolve(&fact);
        if let (Fact::FeedbackControl(ControlFact::ReadingsTaken { depth, readings, .. }), Ok(now)) =
            (&fact, control_loop(&so_far))
        {
            let node = now.spec.node_path(*depth as usize).join("/");
            let iteration = now.frame().map(Frame::label).unwrap_or_default();
            for reading in readings {
                add(&mut series, &node, &iteration, reading);
            }
        }
    }
    Ok(Measurements {
        run: head.run.to_string(),
        task: state.spec.text.clone(),
        series,
        best: state.best().map(|best| best.label.clone()),
    })
}

fn add(series: &mut Vec<Series>, node: &str, iteration: &str, reading: &Reading) {
    let passed = reading.status == ReadingStatus::Pass;
    let point =
        |thousandths| SeriesPoint { iteration: iteration.to_owned(), thousandths, finer: None, passed };
    let own = find_or_add(series, (node, &reading.sensor, None), || (String::new(), true));
    own.points.push(point(Some(if passed { 1000 } else { 0 })));
    for metric in &reading.metrics {
        let told = || (metric.unit.clone(), metric.better == Better::Higher);
        let one = find_or_add(series, (node, &reading.sensor, Some(&metric.name)), told);
        let finer = Some(metric.finer).filter(|finer| *finer != 0);
        one.points.push(SeriesPoint { finer, ..point(Some(metric.thousandths)) });
    }
    // A figure that a passing tool no longer prints has gone to nothing.
    let missing = series.iter_mut().filter(|one| {
        one.node == node
            && one.sensor == reading.sensor
            && one
                .metric
                .as_ref()
                .is_some_and(|name| !reading.metrics.iter().any(|metric| metric.name == *name))
    });
    for one in missing {
        let gone = (passed && !one.higher_is_better).then_some(0);
        one.points.push(point(gone));
    }
}

fn find_or_add<'a>(
    series: &'a mut Vec<Series>,
    (node, sensor, metric): (&str, &str, Option<&str>),
    about: impl FnOnce() -> (String, bool),
) -> &'a mut Series {
    let at = series
        .iter()
        .position(|one| one.node == node && one.sensor == sensor && one.metric.as_deref() == metric);
    let at = at.unwrap_or_else(|| {
        let (unit, higher_is_better) = about();
        series.push(Series {
            node: node.to_owned(),
            sensor: sensor.to_owned(),
            metric: metric.map(str::to_owned),
            unit,
            higher_is_better,
            points: Vec::new(),
        });
        series.len() - 1
    });
    &mut series[at]
}
