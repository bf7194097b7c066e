//! What a new control plane is made of: it must be read without a warning by the readers that will work on it.

use proptest::prelude::*;
use serde_json::json;
use windlass_artifact_formats::roadmap_loop::closeout::{
    Closeout, CloseoutMode, CompletionPointer, HistoryEntry, MilestoneStatus, StatusChange,
};
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, BundleTexts, Generation, PlaneKind, STATE_FILE, StateFile, Verification, apply_closeout,
    blank_contract_sections, names,
};
use windlass_artifact_formats::roadmap_loop::round::{
    DirectEvidence, Review, ReviewDecision, RoundPlan, handoff_faults,
};
use windlass_artifact_formats::roadmap_loop::scaffold::{
    Family, Outline, QUESTIONS, ScaffoldFile, contract_files, family_files, ignores_worktrees,
};

const BOTH: [Generation; 2] = [Generation::StructuredMarkdown, Generation::Records];

fn outline() -> Outline {
    serde_json::from_value(json!({
        "title": "Faster start",
        "outcome": "Starts in 50 ms",
        "non-goals": ["new formats"],
        "compatibility-promises": ["old settings are read"],
        "baseline-checks": ["make test"],
        "max-parallel-rounds": 2,
        "milestones": [
            {"id": "measure", "title": "Know where the time goes", "directions": [{"summary": "Time the start"}]},
            {"title": "Load lazily", "depends-on": ["1"], "lane": "loading",
             "directions": [{"summary": "Sessions", "preconditions": ["measure"], "parallel-hints": "lane-safe-only"}]},
        ],
    }))
    .expect("the scaffold has it")
}

fn bundle() -> ActiveBundle {
    let roadmap_id = names::new_roadmap_id("2026-11-16", "Faster start", ["2026-11-16-00-other"]);
    let dir = names::roadmap_dir(&roadmap_id, "rev-001");
    ActiveBundle { roadmap_id, revision: "rev-001".to_owned(), dir }
}

struct Plane {
    generation: Generation,
    bundle: ActiveBundle,
    files: Vec<ScaffoldFile>,
}

impl Plane {
    fn of(generation: Generation, family: &Family) -> Self {
        let bundle = bundle();
        let mut files = contract_files(generation, family);
        files.extend(family_files(generation, &bundle, family));
        let state =
            StateFile::scaffold("main", &bundle, family.max_parallel_rounds).expect("the scaffold has it");
        files.push(ScaffoldFile { path: STATE_FILE.to_owned(), text: state.text().to_owned() });
        Self { generation, bundle, files }
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    fn texts(&self) -> BundleTexts<'_> {
        let at = |name: &str| self.text(&format!("{}/{name}", self.bundle.dir));
        BundleTexts {
            generation: self.generation,
            bundle: &self.bundle,
            roadmap: at("roadmap.md").expect("the scaffold has it"),
            view: at("roadmap-view.json"),
            history: self.text(&names::history_file(&self.bundle.roadmap_id)),
        }
    }

    /// Everything any reader has to say against it.
    fn complaints(&self) -> Vec<String> {
        let mut found = Vec::new();
        let state = StateFile::recognise(self.text(STATE_FILE).expect("the scaffold has it"));
        let paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        match PlaneKind::of(&state, &paths, Some(self.texts().roadmap)) {
            PlaneKind::Runs(files) => {
                assert_eq!(files.generation, self.generation);
                found.extend(files.missing.iter().chain(&files.mixed).map(ToString::to_string));
            }
            other => found.push(format!("{other:?}")),
        }
        let state = StateFile::parse(self.text(STATE_FILE).expect("the scaffold has it"))
            .expect("the scaffold has it");
        found.extend(state.problems().iter().map(ToString::to_string));
        found.extend(self.texts().roadmap().err().map(|problems| problems.to_string()));
        let verification = format!("{}/verification.md", self.bundle.dir);
        let parsed =
            Verification::parse(&verification, self.text(&verification).expect("the scaffold has it"));
        match parsed {
            Ok(verification) => found.extend(verification.overrides.prose),
            Err(problems) => found.push(problems.to_string()),
        }
        let contract = "orchestrator/project-contract.md";
        let blank = blank_contract_sections(contract, self.text(contract).expect("the scaffold has it"));
        found.extend(blank.iter().map(ToString::to_string));
        found
    }
}

#[test]
fn section_21_what_is_scaffolded_is_read_without_a_warning_in_both_generations() {
    for generation in BOTH {
        let plane = Plane::of(generation, &outline().settle().expect("the scaffold has it"));
        assert_eq!(plane.complaints(), Vec::<String>::new(), "{generation:?}");
        let roadmap = plane.texts().roadmap().expect("the scaffold has it");
        let ids: Vec<&str> = roadmap.milestones.iter().map(|milestone| milestone.id.as_str()).collect();
        assert_eq!(ids, ["measure", "milestone-02-load-lazily"]);
        assert_eq!(roadmap.milestones[1].depends_on, ["measure"]);
        assert_eq!(roadmap.milestones[1].lane.as_deref(), Some("loading"));
        assert_eq!(roadmap.directions[1].preconditions, ["measure"]);
        let ready: Vec<&str> = roadmap.ready_milestones().map(|milestone| milestone.id.as_str()).collect();
        assert_eq!(ready, ["measure"]);
        assert!(!roadmap.is_terminal());
    }
}

#[test]
fn section_21_the_ledger_is_persisted_where_every_role_reads() {
    for generation in BOTH {
        let plane = Plane::of(generation, &outline().settle().expect("the scaffold has it"));
        let all = |path: &str, words: &[&str]| {
            let text = plane.text(path).expect("the scaffold has it");
            for words in words {
                assert!(text.contains(words), "{words} in {path}: {text}");
            }
        };
        let dir = &plane.bundle.dir;
        let names: Vec<&str> = QUESTIONS.iter().map(|question| question.name).collect();
        let ledger = names.iter().filter(|name| !["Title", "Baseline checks"].contains(name)).copied();
        all(&format!("{dir}/roadmap.md"), &ledger.collect::<Vec<_>>());
        all(&format!("{dir}/verification.md"), &["make test", "old settings are read", "adds the tests"]);
        all("orchestrator/project-contract.md", &["old settings are read", "Keep the present structure"]);
    }
    let mut bare = outline();
    bare.compatibility_promises.clear();
    bare.baseline_checks.clear();
    let plane = Plane::of(Generation::StructuredMarkdown, &bare.settle().expect("the scaffold has it"));
    let contract = plane.text("orchestrator/project-contract.md").expect("the scaffold has it");
    assert_eq!(contract.matches("none discovered yet").count(), 2, "{contract}");
}

#[test]
fn section_12_the_first_closeout_finds_its_places() {
    for generation in BOTH {
        let plane = Plane::of(generation, &outline().settle().expect("the scaffold has it"));
        let records = generation == Generation::Records;
        let anchor = |name: &str| records.then(|| name.to_owned());
        let closeout = Closeout {
            mode: CloseoutMode::StatusOnly,
            status_changes: vec![StatusChange {
                milestone_id: "measure".to_owned(),
                expected_current_status: Some(MilestoneStatus::Pending),
                target_status: MilestoneStatus::Done,
                anchor: anchor("measure-status"),
            }],
            completion_pointers: vec![CompletionPointer {
                anchor_or_milestone: if records { "measure-completion" } else { "measure" }.to_owned(),
                text: "round-001 wrote the table".to_owned(),
            }],
            history_entries: vec![HistoryEntry {
                anchor: anchor("roadmap-history-completed-rounds"),
                text: "round-001: measured".to_owned(),
            }],
            reason: None,
        };
        let applied = apply_closeout(&plane.texts(), &closeout).expect("the scaffold has it");
        assert_eq!(applied.files.len(), if records { 3 } else { 2 }, "{:?}", applied.summary);
        let roadmap = &applied.files[0].1;
        assert!(roadmap.contains("### [done] Know where the time goes"), "{roadmap}");
        assert!(roadmap.contains("- round-001 wrote the table"), "{roadmap}");
    }
}

/// The first block of Markdown below a heading, with the first of several alternatives.
fn example(text: &str, heading: &str) -> String {
    let below = text
        .split_once(heading)
        .expect("the scaffold has it")
        .1
        .split_once("```markdown\n")
        .expect("the scaffold has it")
        .1;
    let block = below.split_once("```").expect("the scaffold has it").0;
    let lines = block.lines().map(|line| line.split_once(" | ").map_or(line, |(first, _)| first));
    lines.collect::<Vec<_>>().join("\n").replace("<milestone-id>", "measure")
}

#[test]
fn section_25_the_forms_shown_to_the_roles_are_the_forms_that_are_read() {
    let plane = Plane::of(Generation::StructuredMarkdown, &outline().settle().expect("the scaffold has it"));
    let manifest = plane.text("orchestrator/artifact-manifest.md").expect("the scaffold has it");
    let plan =
        RoundPlan::from_plan("round-001", &example(manifest, "## `plan.md`")).expect("the scaffold has it");
    assert!(plan.is_simple());
    let direct = example(manifest, "## `implementation-notes.md`");
    let notes = format!("### Changes Made\n- a: b\n\n{direct}");
    let direct = DirectEvidence::parse(&notes, "measure").expect("the scaffold has it");
    assert_eq!(direct.closeout.status_changes[0].milestone_id, "measure");
    assert_eq!(handoff_faults("a", &example(manifest, "handoff.md`\n\n")), None);
    let review =
        Review::from_markdown(&example(manifest, "## `review.md`"), "measure").expect("the scaffold has it");
    assert!(matches!(review.decision, ReviewDecision::Approved { .. }), "{review:?}");
}

#[test]
fn answers_that_make_no_roadmap_are_refused_with_every_reason() {
    let outline: Outline = serde_json::from_value(json!({
        "title": " ",
        "max-parallel-rounds": 0,
        "milestones": [
            {"id": "a", "title": "A", "depends-on": ["b"], "directions": [{"summary": "x", "parallel-hints": "maybe"}]},
            {"id": "b", "title": "B", "depends-on": ["a", "nowhere"]},
            {"id": "c", "title": "", "directions": [{"id": "no good"}]},
            {"id": "c", "title": "C"},
        ],
    }))
    .expect("the scaffold has it");
    let faults = outline.settle().unwrap_err().to_string();
    for words in [
        "`title` is missing",
        "`outcome` is missing",
        "`max-parallel-rounds` must be 1 or more",
        "must be serial-by-default or lane-safe-only, found `maybe`",
        "b depends on `nowhere`",
        "milestone 3 has no title",
        "the milestone id `c` is there twice",
        "direction 1 of c has no summary",
        "the direction id `no good` may have",
        "dependencies go in a circle: a, b",
    ] {
        assert!(faults.contains(words), "{words} in {faults}");
    }
    assert!(Outline::default().settle().unwrap_err().to_string().contains("no milestone"));
    let unknown = serde_json::from_value::<Outline>(json!({"titel": "x"})).unwrap_err().to_string();
    assert!(unknown.contains("titel"), "{unknown}");
}

#[test]
fn a_rule_for_the_worktrees_is_known_in_its_usual_spellings() {
    for rule in [
        "orchestrator/worktrees/",
        "/orchestrator/worktrees",
        "/orchestrator/worktrees/*",
        "x\n worktrees/ \n",
    ] {
        assert!(ignores_worktrees(Some(rule), None), "{rule}");
    }
    assert!(ignores_worktrees(None, Some("/worktrees/\n")));
    for other in ["orchestrator/", "# orchestrator/worktrees", "!orchestrator/worktrees/", ""] {
        assert!(!ignores_worktrees(Some(other), Some(other)), "{other}");
    }
}

proptest! {
    #[test]
    fn no_answer_breaks_the_files_made_of_it(
        words in proptest::collection::vec("\\PC{1,40}|<!--|### \\[done\\] x|- Direction id: y|```|none|a\nb: c", 8),
    ) {
        let visible = |text: &str| format!("x{text}");
        let outline: Outline = serde_json::from_value(json!({
            "title": visible(&words[0]), "outcome": words[1].clone() + "x", "non-goals": [words[2]],
            "risk-posture": words[3], "baseline-checks": [words[4]], "manual-checks": [words[5]],
            "milestones": [
                {"title": visible(&words[5]), "intent": words[6], "lane": words[7], "notes": words[0]},
                {"title": visible(&words[5]), "directions": [
                    {"summary": visible(&words[1]), "why-now": words[2], "preconditions": [words[3], words[4]], "boundary-notes": words[6]},
                ]},
            ],
        })).expect("the scaffold has it");
        for generation in BOTH {
            let plane = Plane::of(generation, &outline.settle().expect("the scaffold has it"));
            prop_assert_eq!(plane.complaints(), Vec::<String>::new());
            prop_assert_eq!(plane.texts().roadmap().expect("the scaffold has it").milestones.len(), 2);
        }
    }
}

#[test]
fn the_posture_never_forbids_what_the_number_of_rounds_allows() {
    let posture = |most: Option<u32>, given: &str| {
        let outline =
            Outline { max_parallel_rounds: most, concurrency_posture: given.to_owned(), ..outline() };
        outline.settle().expect("the scaffold has it").ledger.concurrency_posture
    };
    assert_eq!(posture(None, ""), "One round at a time.");
    assert!(posture(Some(2), "").contains("at the same time"), "{}", posture(Some(2), ""));
    assert_eq!(posture(Some(2), "As we like it."), "As we like it.");
}
