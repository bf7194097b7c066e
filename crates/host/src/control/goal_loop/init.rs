//! `windlass goal init`: the files a goal loop needs, where they are missing. What is there is never written over, whoever
//! wrote it; another tool's file of the same name is left alone. Nothing is run and nothing is committed.

use super::commands;
use super::setup::{Files, Found};
use crate::durable_file::{Flush, replace};
use crate::fault::git_fault;
use std::path::Path;
use windlass_artifact_formats::goal_loop::{
    BUDGET_FILE, Budget, CONTRACT_FILE, Caps, Contract, FEATURES_FILE, FeatureList, ItemContract, ItemId,
    ItemStatus, NewItem, PinnedCommands, RUN_LOG_FILE, RunLog, ScopePart,
};
use windlass_control_api::goal_setup::{FoundCommand, GoalInitReport, InitGoal};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;

const EMPTY_QUEUE: &str = "{\n  \"features\": []\n}\n";

pub(crate) fn init(command: &InitGoal) -> Result<GoalInitReport, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let top = checkout.work_tree();
    let files = Files::read(top);
    let mut report = GoalInitReport {
        repository: top.to_string_lossy().into_owned(),
        dry_run: command.dry_run,
        written: Vec::new(),
        unchanged: Vec::new(),
        foreign: Vec::new(),
        test_command: test_command(command, top),
        warnings: Vec::new(),
        next_steps: Vec::new(),
    };
    let mut writing = Writing { top, report: &mut report };
    let queue = writing.queue(&files, &command.features)?;
    writing.contract(&files, &queue)?;
    let began = crate::clock::timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    writing.file(BUDGET_FILE, &files.budget, || Budget::template(&Caps::default(), &began))?;
    writing.file(RUN_LOG_FILE, &files.run_log, || RunLog::new().text().to_owned())?;
    report.next_steps = next_steps(&report);
    Ok(report)
}

fn test_command(command: &InitGoal, top: &Path) -> Option<FoundCommand> {
    match &command.test_command {
        Some(given) => Some(FoundCommand { command: given.clone(), from: "given".to_owned() }),
        None => commands::detected(top),
    }
}

struct Writing<'a> {
    top: &'a Path,
    report: &'a mut GoalInitReport,
}

impl Writing<'_> {
    /// The queue as it will stand there.
    fn queue(&mut self, files: &Files, features: &[(String, Vec<String>)]) -> Result<FeatureList, Fault> {
        match &files.features {
            Found::Ours(queue) => {
                if !features.is_empty() {
                    return Err(Fault::new(
                        Code::BadArgument,
                        format!("{FEATURES_FILE} is there already, and `--feature` only begins one"),
                    )
                    .kept("nothing was written")
                    .hint("`windlass goal add \"NAME\" --criterion …` adds an item"));
                }
                self.report.unchanged.push(FEATURES_FILE.to_owned());
                Ok(queue.clone())
            }
            Found::Missing if features.is_empty() => Err(Fault::new(
                Code::GoalFiles,
                format!("{FEATURES_FILE} is not there, and nobody says what is to be built"),
            )
            .kept("nothing was written")
            .hint("begin a queue: `windlass goal init --feature \"NAME: criterion; criterion\"`")),
            Found::Missing => {
                let queue = begun(features)?;
                self.put(FEATURES_FILE, queue.text())?;
                Ok(queue)
            }
            Found::Foreign(_) | Found::Invalid(_) => Err(unusable(files)),
        }
    }

    /// Written from the template with the queue's ids in scope and the test command pinned.
    pub(super) fn contract(&mut self, files: &Files, queue: &FeatureList) -> Result<(), Fault> {
        let test = self.report.test_command.as_ref().map(|found| found.command.clone());
        let pinned = PinnedCommands { test, pre_commit: Vec::new() };
        if !pinned.can_be_pinned() {
            return Err(Fault::new(
                Code::BadArgument,
                "the test command cannot be pinned: it must be one line",
            )
            .kept("nothing was written"));
        }
        if pinned.test.is_none() {
            self.report.warnings.push(format!(
                "no test command was found; name it in {CONTRACT_FILE} under Verification: - Test command: `…`"
            ));
        }
        self.file(CONTRACT_FILE, &files.contract, || template(queue, &pinned))
    }

    fn file<T>(&mut self, path: &str, found: &Found<T>, text: impl FnOnce() -> String) -> Result<(), Fault> {
        match found {
            Found::Missing => self.put(path, &text()),
            Found::Ours(_) => {
                self.report.unchanged.push(path.to_owned());
                Ok(())
            }
            Found::Foreign(why) => {
                self.report.foreign.push((path.to_owned(), why.clone()));
                Ok(())
            }
            Found::Invalid(sentences) => {
                self.report.warnings.extend(sentences.iter().map(|sentence| format!("{path}: {sentence}")));
                self.report.unchanged.push(path.to_owned());
                Ok(())
            }
        }
    }

    fn put(&mut self, path: &str, text: &str) -> Result<(), Fault> {
        if !self.report.dry_run {
            put(self.top, path, text)?;
        }
        self.report.written.push(path.to_owned());
        Ok(())
    }
}

/// Never through a link: what is written must be in this repository.
pub(crate) fn put(top: &Path, path: &str, text: &str) -> Result<(), Fault> {
    let failed = |what: String| {
        Fault::new(Code::FileSystem, what)
            .kept("every file that was there; files before this one may have been written")
            .hint("mend that and try again")
    };
    let mut folder = top.to_path_buf();
    for part in Path::new(path).parent().into_iter().flatten() {
        folder.push(part);
        if folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(failed(format!("{} is no plain directory", folder.display())));
        }
    }
    std::fs::create_dir_all(&folder)
        .map_err(|error| failed(format!("cannot make the directory {}: {error}", folder.display())))?;
    replace(&top.join(path), text.as_bytes(), Flush::ToSystem).map_err(|fault| failed(fault.message))
}

pub(super) fn unusable(files: &Files) -> Fault {
    let mut fault = Fault::new(Code::GoalFiles, super::look::problems(files).join("\n"))
        .kept("nothing was written and nothing was begun");
    let foreign = [
        (FEATURES_FILE, matches!(files.features, Found::Foreign(_))),
        (CONTRACT_FILE, matches!(files.contract, Found::Foreign(_))),
        (BUDGET_FILE, matches!(files.budget, Found::Foreign(_))),
        (RUN_LOG_FILE, matches!(files.run_log, Found::Foreign(_))),
    ];
    for (path, _) in foreign.into_iter().filter(|(_, foreign)| *foreign) {
        fault = fault.hint(format!("make room, if you can: {}", make_room(path)));
    }
    fault.hint("`windlass goal check` lists everything at once")
}

/// The command that moves another tool's file out of the way.
fn make_room(path: &str) -> String {
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    format!("git mv {path} {stem}.other.{ending}")
}

fn begun(features: &[(String, Vec<String>)]) -> Result<FeatureList, Fault> {
    let broken = |why: String| Fault::new(Code::BadArgument, why).kept("nothing was written");
    let mut queue = FeatureList::parse(EMPTY_QUEUE).map_err(|faults| broken(faults.to_string()))?;
    for (number, (name, criteria)) in features.iter().enumerate() {
        if name.trim().is_empty() || criteria.is_empty() {
            return Err(broken(format!("the item `{name}` needs a name and at least one criterion")));
        }
        let id = queue.next_id('F').ok_or_else(|| broken("no id is left".to_owned()))?;
        let item = NewItem {
            id,
            name: name.trim().to_owned(),
            priority: i64::try_from(number + 1).unwrap_or(i64::MAX),
            status: ItemStatus::NotStarted,
            description: name.trim().to_owned(),
            acceptance_criteria: criteria.clone(),
            contract: ItemContract::default(),
            dependencies: Vec::new(),
            kind: None,
            affected_files: Vec::new(),
            risk: None,
            rollback_plan: None,
        };
        queue = queue.append(&item).map_err(|fault| broken(fault.to_string()))?;
    }
    Ok(queue)
}

/// Everything that can be worked on; what existed before is not the loop's business unless a person says so.
pub(super) fn template(queue: &FeatureList, pinned: &PinnedCommands) -> String {
    let mut ids: Vec<ItemId> =
        queue.items().map(|item| item.id.clone()).filter(|id| id.prefix() != 'E').collect();
    ids.sort();
    let mut scope: Vec<ScopePart> = Vec::new();
    for id in ids {
        let follows = |last: &ItemId| last.prefix() == id.prefix() && last.number() + 1 == id.number();
        let joined = match scope.last() {
            Some(ScopePart::One(last)) if follows(last) => {
                Some(ScopePart::Range { first: last.clone(), last: id.clone() })
            }
            Some(ScopePart::Range { first, last }) if follows(last) => {
                Some(ScopePart::Range { first: first.clone(), last: id.clone() })
            }
            _ => None,
        };
        match joined {
            Some(range) => {
                scope.pop();
                scope.push(range);
            }
            None => scope.push(ScopePart::One(id)),
        }
    }
    if scope.is_empty() {
        scope.push(ScopePart::All('F'));
    }
    Contract::template_pinning(&scope, pinned)
}

fn next_steps(report: &GoalInitReport) -> Vec<String> {
    let mut steps: Vec<String> = report.foreign.iter().map(|(path, _)| make_room(path)).collect();
    if !report.foreign.is_empty() {
        steps.push("windlass goal init".to_owned());
        return steps;
    }
    steps.push(format!("$EDITOR {CONTRACT_FILE}"));
    if !report.written.is_empty() {
        steps.push(format!("git add {} && git commit -m \"Set up the goal loop\"", report.written.join(" ")));
    }
    steps.push("windlass goal check".to_owned());
    steps.push("windlass trust".to_owned());
    steps.push("windlass goal run --agent claude".to_owned());
    steps
}
