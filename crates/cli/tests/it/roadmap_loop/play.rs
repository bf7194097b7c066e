//! What scripted agents of a roadmap loop do: the artifacts of planners, implementers, workers, reviewers and investigators
//! in both styles, well made unless a test says otherwise. Steps are found by the work, the round and the attempt.

use super::plane::{Milestone, Style, bundle};
use serde_json::{Value, json};
use std::fmt::Write as _;
use windlass_test_support::Script;

/// Which work a step is for: what it is called, the number in the round's name, and the attempt if it matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a>(pub(crate) &'a str, pub(crate) u32, pub(crate) Option<u32>);

/// What a planner cut out of the roadmap.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) style: Style,
    pub(crate) round: String,
    pub(crate) revision: &'static str,
    pub(crate) milestone: &'static str,
    pub(crate) item: String,
    pub(crate) after_rounds: Vec<&'static str>,
    pub(crate) after_items: Vec<&'static str>,
    /// Worker and the folder it may write in.
    pub(crate) workers: Vec<(&'static str, &'static str)>,
    pub(crate) complexity: &'static str,
}

impl Cut {
    pub(crate) fn of(style: Style, round: &str, milestone: &'static str) -> Self {
        Self {
            style,
            round: round.to_owned(),
            revision: "rev-001",
            milestone,
            item: format!("item-of-{round}"),
            after_rounds: Vec::new(),
            after_items: Vec::new(),
            workers: Vec::new(),
            complexity: "standard",
        }
    }

    pub(crate) fn with_workers(self, workers: &[(&'static str, &'static str)]) -> Self {
        Self { workers: workers.to_vec(), ..self }
    }

    pub(crate) fn in_revision(self, revision: &'static str) -> Self {
        Self { revision, ..self }
    }

    pub(crate) fn named(self, item: &str) -> Self {
        Self { item: item.to_owned(), ..self }
    }

    pub(crate) fn file(&self, name: &str) -> String {
        format!("orchestrator/rounds/{}/{name}", self.round)
    }

    fn record(&self, version: &str, own: Value) -> String {
        let mut record = json!({
            "schema_version": version, "round_id": self.round, "roadmap_id": self.style.family(),
            "roadmap_revision": self.revision, "roadmap_dir": self.style.dir(self.revision),
            "milestone_id": self.milestone, "direction_id": format!("{}-a", self.milestone),
            "extracted_item_id": self.item,
        });
        for (key, value) in own.as_object().expect("an object") {
            record[key] = value.clone();
        }
        format!("{record:#}\n")
    }

    /// The files of a planner, with their paths.
    pub(crate) fn plan(&self) -> Vec<(String, String)> {
        let mut files = vec![(self.file("plan.md"), self.plan_text())];
        if self.style == Style::Records {
            let scheduler = json!({ "depends_on_round_ids": self.after_rounds,
                "merge_after_item_ids": self.after_items, "parallel_group": null });
            let selection = json!({ "summary": format!("Reach {}", self.milestone), "scheduler": scheduler });
            files.push((self.file("selection-record.json"), self.record("selection-record-v1", selection)));
            files.push((
                self.file("round-plan-record.json"),
                self.record("round-plan-record-v1", self.fan_out()),
            ));
        }
        for (worker, scope) in &self.workers {
            let path = self.file(&format!("workers/{worker}/assignment.md"));
            files.push((path, format!("# {worker}\n\nWrite what belongs into {scope}.\n")));
        }
        files
    }

    fn plan_text(&self) -> String {
        let Self { milestone, item, revision, .. } = self;
        let mut text = format!(
            "### Selected Extraction\n- Milestone: Reach {milestone}\n- Milestone id: {milestone}\n\
             - Direction id: {milestone}-a\n- Extracted item id: {item}\n- Roadmap id: {family}\n\
             - Roadmap revision: {revision}\n- Roadmap dir: {dir}\n\n### Goal\nReach {milestone}.\n\n\
             ### Approach\nIn one step.\n\n",
            family = self.style.family(),
            dir = self.style.dir(revision),
        );
        let steps = "### Steps\n1. Write the file.\n\n### Verification\n`make test`\n\n";
        if self.style == Style::Records {
            let _ = write!(text, "{steps}### Round Plan Record\nSee round-plan-record.json.\n");
            return text;
        }
        let names = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let _ = write!(
            text,
            "### Execution Profile\n- Complexity: {}\n- Verification profile: focused\n- Reason: small\n\n{steps}\
             ### Scheduler\n- Depends on round ids: {}\n- Merge after item ids: {}\n- Parallel group: none\n\n\
             ### Worker Fan-Out\n",
            self.complexity,
            names(&self.after_rounds),
            names(&self.after_items),
        );
        if self.workers.is_empty() {
            text.push_str("- Worker mode: none\n- Workers: none\n- Integration: none\n");
            return text;
        }
        text.push_str("- Worker mode: fanout\n- Workers:\n");
        for (worker, scope) in &self.workers {
            let _ = writeln!(text, "  - `{worker}`: `{scope}`");
        }
        text.push_str("- Integration: the round's implementer joins them\n");
        text
    }

    fn fan_out(&self) -> Value {
        let round = &self.round;
        let plan = self.file("plan.md");
        if self.workers.is_empty() {
            return json!({ "plan_path": plan, "worker_mode": "none", "workers": [], "integration": null });
        }
        let workers: Vec<Value> = self
            .workers
            .iter()
            .map(|(id, scope)| {
                let own = |name: &str| self.file(&format!("workers/{id}/{name}"));
                json!({
                    "worker_id": id, "summary": format!("the part {id}"), "assignment_path": own("assignment.md"),
                    "implementation_notes_path": own("implementation-notes.md"), "handoff_path": own("handoff.md"),
                    "branch": format!("orchestrator/{round}-{id}"),
                    "worktree_path": format!("orchestrator/worktrees/{round}-{id}"), "write_scope": [scope],
                    "depends_on_worker_ids": [], "blocks_integration": true, "verification_commands": ["make test"],
                })
            })
            .collect();
        let ids: Vec<&str> = self.workers.iter().map(|(id, _)| *id).collect();
        json!({
            "plan_path": plan, "worker_mode": "fanout", "workers": workers,
            "integration": { "summary": "join them", "depends_on_worker_ids": ids,
                "verification_commands": ["make test"], "integration_notes_path": self.file("implementation-notes.md") },
        })
    }

    /// The files of a reviewer.
    pub(crate) fn review(&self, decision: &Decision) -> Vec<(String, String)> {
        let (word, retry) = match decision {
            Decision::Approved(_) => {
                ("**APPROVED**", "- Retry target: none\n- Required changes: none".to_owned())
            }
            Decision::Rejected(target) => (
                "**REJECTED: the file says the wrong thing**",
                format!("- Retry target: {target}\n- Required changes:\n  - Say the right thing."),
            ),
        };
        let closeout = match decision {
            Decision::Approved(closeout) => closeout.labels(self.milestone, &self.round),
            Decision::Rejected(_) => Closeout::Nothing.labels(self.milestone, &self.round),
        };
        let text = format!(
            "### Checks Run\n- Command: `make test`\n  Result: pass\n\n### Plan Compliance\n- Step 1: met\n\n\
             ### Findings\n- Blocking: no\n  Problem: none\n  Evidence: the diff\n  Suggested fix: none\n\n\
             ### Decision\n{word}\n\n### Retry\n{retry}\n\n### Roadmap Closeout\n{closeout}\n### Evidence\nThe diff.\n"
        );
        let mut files = vec![(self.file("review.md"), text)];
        if self.style == Style::Records {
            let own = match decision {
                Decision::Approved(closeout) => {
                    json!({ "decision": "approved", "evidence_summary": "all green",
                    "roadmap_closeout": closeout.record(self.milestone, &self.round) })
                }
                Decision::Rejected(target) => {
                    json!({ "decision": "rejected", "evidence_summary": "one thing is wrong",
                    "retry_target": target, "required_changes": ["Say the right thing."], "roadmap_closeout": null })
                }
            };
            files.push((self.file("review-record.json"), self.record("review-record-v3", own)));
        }
        files
    }
}

pub(crate) enum Decision {
    Approved(Closeout),
    Rejected(&'static str),
}

/// What a round does to its milestone.
#[derive(Clone, Copy)]
pub(crate) enum Closeout {
    /// The milestone is done; it was in this state before.
    Done {
        from: &'static str,
    },
    Semantic(&'static str),
    Nothing,
}

impl Closeout {
    pub(crate) fn labels(self, milestone: &str, round: &str) -> String {
        let (mode, change, pointer, history, reason) = match self {
            Self::Done { from } => (
                "status-only",
                format!("{milestone}: {from} -> done"),
                format!("{round}: {milestone} works"),
                format!("{round} reached {milestone}"),
                "none",
            ),
            Self::Semantic(reason) => {
                ("semantic-update-required", "none".to_owned(), "none".to_owned(), "none".to_owned(), reason)
            }
            Self::Nothing => ("none", "none".to_owned(), "none".to_owned(), "none".to_owned(), "none"),
        };
        format!(
            "- Mode: {mode}\n- Status changes: {change}\n- Completion pointers: {pointer}\n\
             - History entries: {history}\n- Semantic update reason: {reason}\n"
        )
    }

    fn record(self, milestone: &str, round: &str) -> Value {
        let (mut changes, mut pointers, mut history) = (Vec::new(), Vec::new(), Vec::new());
        if let Self::Done { from } = self {
            changes.push(json!({ "milestone_id": milestone, "expected_current_status": from,
                "target_status": "done", "roadmap_view_anchor": format!("{milestone}-status") }));
            pointers.push(json!({ "anchor_id": format!("{milestone}-pointers"),
                "text": format!("{round}: {milestone} works") }));
            history.push(json!({ "anchor_id": "roadmap-history-completed-rounds",
                "text": format!("{round} reached {milestone}") }));
        }
        let (mode, reason) = match self {
            Self::Semantic(reason) => ("semantic-update-required", Some(reason)),
            Self::Done { .. } | Self::Nothing => ("status-only", None),
        };
        json!({ "mode": mode, "status_changes": changes, "completion_pointers": pointers,
            "history_entries": history, "semantic_update_required_reason": reason })
    }
}

/// What agents do, step by step. Each step is counted and its prompt is kept.
#[derive(Clone, Default)]
pub(crate) struct Play(pub(crate) String);

impl Play {
    /// A step made of actions in TOML.
    pub(crate) fn step(mut self, Work(label, round, attempt): Work<'_>, actions: &[String]) -> Self {
        let role = match label {
            "plan" | "author-update" => "planner",
            "review" | "review-update" => "reviewer",
            "investigate" => "recovery-investigator",
            _ => "implementer",
        };
        let attempt = attempt.map(|attempt| format!("attempt = {attempt}\n")).unwrap_or_default();
        let _ = write!(
            self.0,
            "[[step]]\nrole = \"{role}\"\nlabel = \"{label}\"\nround = {round}\n{attempt}do = [\n  \
             {{ run = [\"sh\", \"-c\", \"echo {label} {round} {{attempt}} >> {{script_dir}}/works.txt\"] }},\n  \
             {{ count = \"{steps}\" }},\n  {{ save_prompt = \"{label}-{{round}}-{{attempt}}.md\" }},\n",
            steps = Script::STEPS,
        );
        for action in actions {
            let _ = writeln!(self.0, "  {action},");
        }
        self.0.push_str("]\n\n");
        self
    }

    pub(crate) fn plans(self, cut: &Cut) -> Self {
        let number = number(&cut.round);
        self.step(Work("plan", number, None), &said_anew(&cut.file("plan.md"), writes(&cut.plan())))
    }

    /// An implementer that writes `src/<round>.txt` and its notes.
    pub(crate) fn implements(self, cut: &Cut) -> Self {
        let number = number(&cut.round);
        let code = write(&format!("src/{}.txt", cut.round), &format!("{} works\n", cut.milestone));
        let notes = cut.file("implementation-notes.md");
        let made = vec![code, write(&notes, NOTES)];
        self.step(Work("implement", number, None), &said_anew(&notes, made))
    }

    /// Asked again, it writes the same to the byte: what lies in its place is its answer all the same.
    pub(crate) fn reviews(self, cut: &Cut, attempt: Option<u32>, decision: &Decision) -> Self {
        self.step(Work("review", number(&cut.round), attempt), &writes(&cut.review(decision)))
    }

    /// A whole round that is made well and finishes its milestone.
    pub(crate) fn well(self, cut: &Cut) -> Self {
        let done = Decision::Approved(Closeout::Done { from: "pending" });
        self.plans(cut).implements(cut).reviews(cut, None, &done)
    }

    /// A worker that writes one file into its scope and hands it over.
    pub(crate) fn shares(self, cut: &Cut, (worker, scope): (&str, &str)) -> Self {
        let made = [
            write(&format!("{scope}/{worker}.txt"), &format!("{worker} was here\n")),
            write(&cut.file(&format!("workers/{worker}/implementation-notes.md")), NOTES),
            write(&cut.file(&format!("workers/{worker}/handoff.md")), HANDOFF),
        ];
        self.step(Work(worker, number(&cut.round), None), &made)
    }

    pub(crate) fn integrates(self, cut: &Cut) -> Self {
        let mut notes = format!("{NOTES}\n### Integrated Workers\n");
        for (worker, _) in &cut.workers {
            let _ = writeln!(notes, "- {worker}");
        }
        let notes = write(&cut.file("implementation-notes.md"), &notes);
        self.step(Work("integrate", number(&cut.round), None), &[notes])
    }

    /// A planner that asks for another roadmap.
    pub(crate) fn requests(self, cut: &Cut) -> Self {
        self.step(
            Work("plan", number(&cut.round), None),
            &[write(&cut.file("roadmap-update-request.md"), &request(cut))],
        )
    }

    /// An author of the next revision with these milestones.
    pub(crate) fn revises(
        self,
        style: Style,
        (source, trigger): (&str, &str),
        (attempt, milestones): (Option<u32>, &[Milestone]),
    ) -> Self {
        let mut files = bundle(style, "rev-002", milestones);
        let path = format!("orchestrator/roadmap-updates/{source}-roadmap-update.md");
        files.push((path.clone(), update(style, source, trigger)));
        self.step(Work("author-update", number(source), attempt), &said_anew(&path, writes(&files)))
    }

    /// The decision line of the review of a roadmap update.
    pub(crate) fn reviews_update(self, source: &str, attempt: Option<u32>, decision: &str) -> Self {
        let path = format!("orchestrator/roadmap-updates/{source}-roadmap-update-review.md");
        let text = format!(
            "### Checks Run\n- Command: `make test`\n  Result: pass\n\n### Roadmap Compliance\n- It is whole.\n\n\
             ### Decision\n{decision}\n"
        );
        self.step(Work("review-update", number(source), attempt), &[write(&path, &text)])
    }

    pub(crate) fn investigates(self, round: &str, action: &str) -> Self {
        let report = json!({
            "subject_id": round, "failure_summary": "the file is missing", "diagnosis": "it was forgotten",
            "salvageable_outputs": [], "proven_stage": "plan", "recommended_action": action,
            "action_details": "tell the next one to write every file", "controller_continuation": "yes",
            "recovery_note": "",
        });
        let report = format!("{{ artifact = \"recovery.json\", text = '''\n{report}\n''' }}");
        self.step(Work("investigate", number(round), None), &[report])
    }
}

pub(crate) const NOTES: &str =
    "### Changes Made\n- src: as planned\n\n### Tests\n- make test: it works\n\n### Notes\n- none\n";
pub(crate) const HANDOFF: &str = "### Handoff\n- Status: ready\n- Blocker: none\n\n### What To Integrate\n\
    - everything in the scope\n\n### Verification\n- Command: `make test`\n  Result: pass\n";

/// Evidence of a planner that did a simple task itself.
pub(crate) fn direct_notes(cut: &Cut, closeout: Closeout) -> String {
    format!(
        "### Changes Made\n- src/{}.txt: new\n\n### Direct Verification\n- Command: `make test`\n  Result: pass, 3 of 3\n\n\
         ### Direct Closeout\n{}",
        cut.round,
        closeout.labels(cut.milestone, &cut.round)
    )
}

pub(crate) fn request(cut: &Cut) -> String {
    let (family, dir) = (cut.style.family(), cut.style.dir(cut.revision));
    format!(
        "### Roadmap Update Required\n- Round id: {}\n- Roadmap id: {family}\n- Roadmap revision: {}\n- Roadmap dir: {dir}\n\
         - Reason: the milestone is too big\n\n### Current Evidence\n- Docs/ADRs/context/code inspected: README.md\n\
         - Codebase or test boundaries inspected: all\n- Why current milestone/direction is too coarse: two things\n\n\
         ### Requested Split\nOne milestone each.\n\n### Non-Goals\nNothing else.\n",
        cut.round, cut.revision
    )
}

pub(crate) fn update(style: Style, source: &str, trigger: &str) -> String {
    let dir = style.dir("rev-002");
    let commit = if trigger == "merged-round" { "0123abc" } else { "none" };
    format!(
        "### Source Round\n- Round id: {source}\n- Trigger: {trigger}\n- Merged commit: {commit}\n- Evidence: what it left\n\n\
         ### Roadmap Change\n- Roadmap id: {}\n- Prior revision: rev-001\n- Proposed revision: rev-002\n- Files changed:\n  \
         - {dir}/roadmap.md\n  - {dir}/verification.md\n\n### Rationale\nIt was too coarse.\n\n### State Activation\n\
         - Requires state.json roadmap metadata update: yes\n- New roadmap_dir when applicable: {dir}\n",
        style.family()
    )
}

pub(crate) fn write(path: &str, text: &str) -> String {
    format!("{{ write = \"{path}\", text = '''\n{text}''' }}")
}

/// Whoever makes something says something new when it is asked again.
fn said_anew(path: &str, mut actions: Vec<String>) -> Vec<String> {
    actions.push(shell(&format!("echo '<!-- attempt {{attempt}} -->' >> {path}")));
    actions
}

pub(crate) fn writes(files: &[(String, String)]) -> Vec<String> {
    files.iter().map(|(path, text)| write(path, text)).collect()
}

/// A command of the agent's shell.
pub(crate) fn shell(line: &str) -> String {
    format!("{{ run = [\"sh\", \"-c\", '''{line}'''] }}")
}

fn number(round: &str) -> u32 {
    let digits = round.split(|letter: char| !letter.is_ascii_digit()).find(|part| !part.is_empty());
    digits.expect("a round of a test has a number").parse().unwrap()
}
