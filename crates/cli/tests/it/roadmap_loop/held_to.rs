//! What a round and an update are held to, whoever approved them: the roadmap as the base branch has it, their own milestones,
//! and states that only rounds may change.

use super::plane::{Milestone, Style, milestone};
use super::play::{Closeout, Cut, Decision, Play, Work, shell, writes};
use super::scene::{Scene, assert_because, outcome};
use serde_json::Value;

const BOTH: [Style; 2] = [Style::Records, Style::Markdown];
const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
const BLOCKED: u8 = 11;

const fn lanes() -> [Milestone; 2] {
    [milestone("m-1").in_lane("left"), milestone("m-2").in_lane("right")]
}

fn chain() -> [Milestone; 2] {
    [milestone("m-1"), milestone("m-2").after("m-1")]
}

fn wait_for(name: &str) -> String {
    format!("{{ wait_for = \"{name}\" }}")
}

fn touch(name: &str) -> String {
    shell(&format!("touch {{script_dir}}/{name}"))
}

/// The play with more to do at the beginning of a work.
fn first(play: Play, (label, round): (&str, u32), actions: &[String]) -> Play {
    let place = format!("label = \"{label}\"\nround = {round}\ndo = [");
    assert!(play.0.contains(&place), "{label} {round}");
    Play(play.0.replacen(&place, &format!("{place}\n  {},", actions.join(",\n  ")), 1))
}

/// A person edits the roadmap of the base branch and commits that.
fn edits(scene: &Scene, expression: &str) -> String {
    let files = match scene.style {
        Style::Records => "roadmap.md roadmap-view.json",
        Style::Markdown => "roadmap.md",
    };
    shell(&format!(
        "cd {{workspace}}/../../../{} && sed -i '{expression}' {files} && \
         git -c user.name=P -c user.email=p@localhost commit -qm 'other words' {files}",
        scene.style.dir("rev-001")
    ))
}

fn times(scene: &Scene, work: &str) -> usize {
    scene.works().iter().filter(|known| known.starts_with(work)).count()
}

#[test]
fn a_round_beside_a_revision_goes_on_under_it_with_the_base_in_its_worktree() {
    for style in BOTH {
        let scene = Scene::with_parallel(style, 2, &lanes());
        let (left, right) = (scene.cut("round-001", "m-1"), scene.cut("round-002", "m-2"));
        let again = right.clone().in_revision("rev-002");
        let mut planned = vec![shell(&format!("test -f {}/roadmap.md", style.dir("rev-002")))];
        planned.extend(writes(&again.plan()));
        let mut approved = writes(&right.review(&DONE));
        approved.push(touch("reviewed.txt"));
        let play = Play::default()
            .plans(&left)
            .implements(&left)
            .reviews(&left, None, &Decision::Approved(Closeout::Semantic("m-1 is another thing")))
            .revises(style, ("round-001", "merged-round"), (None, &lanes()))
            .reviews_update("round-001", None, "APPROVED")
            .step(Work("plan", 2, Some(1)), &writes(&right.plan()))
            .step(Work("plan", 2, None), &planned)
            .implements(&right)
            .step(Work("review", 2, Some(1)), &approved)
            .reviews(&again, None, &DONE)
            .well(&scene.cut("round-003", "m-1").in_revision("rev-002"));
        // The revision is written after the other round began, and published after that was approved.
        let play = first(play, ("implement", 2), &[wait_for("authoring.txt")]);
        let play = first(play, ("author-update", 1), &[touch("authoring.txt"), wait_for("reviewed.txt")]);
        scene.completes(&play);
        assert_eq!(times(&scene, "plan 2"), 2, "{style:?}: {:?}", scene.works());
        let prompt = scene.prompt("plan-2-2");
        assert!(prompt.contains(&format!("Active bundle: `{}`", style.dir("rev-002"))), "{prompt}");
        assert!(!prompt.contains("rev-001"), "the template names the active revision: {prompt}");
        assert!(scene.merged(&right.file("plan.md")).contains("Roadmap revision: rev-002"));
        assert_eq!(scene.merged_rounds().len(), 3, "{:?}", scene.subjects());
    }
}

#[test]
fn a_milestone_is_not_closed_by_words_that_its_reviewer_never_saw() {
    for style in BOTH {
        for (edited, reviews) in [("m-1", 2), ("m-2", 1)] {
            let mut scene = Scene::of(style, &chain());
            scene.world.without_sandbox("an agent plays a person at work in the checkout");
            let (cut, next) = (scene.cut("round-001", "m-1"), scene.cut("round-002", "m-2"));
            let read = shell(&format!("grep -q 'works on Sundays' {}/roadmap.md", style.dir("rev-001")));
            let mut second = vec![read];
            second.extend(writes(&cut.review(&DONE)));
            let play = Play::default()
                .plans(&cut)
                .implements(&cut)
                .reviews(&cut, Some(1), &DONE)
                .step(Work("review", 1, None), &second)
                .well(&next);
            let signal = format!("s/Completion signal: {edited} works/& on Sundays/");
            let play = first(play, ("implement", 1), &[edits(&scene, &signal)]);
            scene.completes(&play);
            assert_eq!(times(&scene, "review 1"), reviews, "{style:?} {edited}: {:?}", scene.works());
            assert_eq!(times(&scene, "implement 1"), 1);
        }
    }
}

#[test]
fn a_round_whose_direction_was_renamed_is_planned_anew() {
    for style in BOTH {
        let mut scene = Scene::small(style);
        scene.world.without_sandbox("an agent plays a person at work in the checkout");
        let cut = scene.cut("round-001", "m-1");
        let renamed = |files: Vec<(String, String)>| {
            let files = files.into_iter().map(|(path, text)| (path, text.replace("m-1-a", "m-1-b")));
            writes(&files.collect::<Vec<_>>())
        };
        let play = Play::default()
            .step(Work("plan", 1, Some(1)), &writes(&cut.plan()))
            .step(Work("plan", 1, None), &renamed(cut.plan()))
            .implements(&cut)
            .reviews(&cut, Some(1), &DONE)
            .step(Work("review", 1, None), &renamed(cut.review(&DONE)));
        let play = first(
            play,
            ("implement", 1),
            &[format!(
                "{{ run = [\"sh\", \"-c\", '''test {{attempt}} = 1 || exit 0; {}'''] }}",
                edits(&scene, "s/m-1-a/m-1-b/g").split("'''").nth(1).unwrap()
            )],
        );
        scene.completes(&play);
        let prompt = scene.prompt("plan-1-2");
        assert!(prompt.contains("no milestone m-1 with a direction m-1-a"), "{prompt}");
        assert!(prompt.contains("m-1-b"), "{prompt}");
        let message = scene.repository.git(&["log", "-1", "--format=%B", "main"]);
        assert!(message.contains("Windlass-Direction: m-1-b"), "{message}");
    }
}

/// The review with another milestone in its status change.
fn about_another(cut: &Cut) -> Vec<(String, String)> {
    let mut files = cut.review(&DONE);
    for (path, text) in &mut files {
        if path.ends_with("record.json") {
            let mut record: Value = serde_json::from_str(text).unwrap();
            let change = &mut record["roadmap_closeout"]["status_changes"][0];
            change["milestone_id"] = "m-2".into();
            change["roadmap_view_anchor"] = "m-2-status".into();
            *text = format!("{record:#}\n");
        } else {
            *text = text.replace("m-1: pending -> done", "m-2: pending -> done");
        }
    }
    files
}

#[test]
fn a_closeout_that_finishes_a_milestone_that_is_not_ready_goes_back_to_its_reviewer() {
    for style in BOTH {
        let scene = Scene::of(style, &chain());
        let cut = scene.cut("round-001", "m-1");
        let play = Play::default()
            .plans(&cut)
            .implements(&cut)
            .step(Work("review", 1, Some(1)), &writes(&about_another(&cut)))
            .reviews(&cut, None, &DONE)
            .well(&scene.cut("round-002", "m-2"));
        scene.completes(&play);
        let prompt = scene.prompt("review-1-2");
        assert!(prompt.contains("m-2 depends on m-1, which is not done"), "{style:?}: {prompt}");
        assert_eq!(scene.merged_rounds(), ["round-001", "round-002"]);
    }
}

#[test]
fn an_update_finishes_no_milestone_and_loses_none_that_is_finished() {
    let open = [milestone("m-1"), milestone("m-2")];
    let half = [milestone("m-1").with_status("done"), milestone("m-2")];
    let boast = [milestone("m-1").with_status("done"), milestone("m-2").with_status("done")];
    let renamed = [milestone("m-9").with_status("done"), milestone("m-2")];
    for style in BOTH {
        for (before, wrong, words) in [
            (open, boast, "m-1 is pending, and the proposed revision calls it done"),
            (half, renamed, "m-1 is done, and the proposed revision does not have it"),
        ] {
            let scene = Scene::of(style, &before);
            let asking = scene.cut("round-001", "m-2");
            let source = ("round-001", "planner-request");
            let mut play = Play::default()
                .requests(&asking)
                .revises(style, source, (Some(1), &wrong))
                .revises(style, source, (None, &before))
                .reviews_update("round-001", None, "APPROVED");
            let left = if before[0].status == "done" { vec!["m-2"] } else { vec!["m-1", "m-2"] };
            for (round, milestone) in ["round-002", "round-003"].into_iter().zip(left.clone()) {
                play = play.well(&scene.cut(round, milestone).in_revision("rev-002"));
            }
            scene.completes(&play);
            let prompt = scene.prompt("author-update-1-2");
            assert!(prompt.contains(words), "{style:?}: {prompt}");
            assert_eq!(times(&scene, "review-update"), 1, "nobody judges what breaks a rule");
            assert_eq!(scene.merged_rounds().len(), left.len(), "{:?}", scene.subjects());
        }
    }
}

#[test]
fn the_plan_that_counts_at_the_merge_is_the_committed_one() {
    let scene = Scene::small(Style::Markdown);
    let cut = scene.cut("round-001", "m-1");
    scene.repository.write("src/round-001.txt", "a draft of mine\n");
    let output = scene.run(&Play::default().well(&cut), &[]);
    assert_eq!(output.code, Some(i32::from(BLOCKED)), "{}{}", output.stdout, output.stderr);
    assert_because(&outcome(&output), "src/round-001.txt");
    let path = format!("orchestrator/worktrees/round-001/{}", cut.file("plan.md"));
    let edited = scene.repository.read(&path).replace("round ids: none", "round ids: round-999");
    scene.repository.write(&path, &edited);
    std::fs::remove_file(scene.repository.path().join("src/round-001.txt")).unwrap();
    let _ = scene.about("resume", &[]).exits_with(0);
    scene.assert_complete();
    assert!(scene.merged(&cut.file("plan.md")).contains("Depends on round ids: none"));
    let log = scene.log();
    assert!(log.contains("was edited and not committed: what is committed counts"), "{log}");
}

#[test]
fn what_a_blocked_update_was_last_rejected_for_stands_in_the_state() {
    let scene = Scene::small(Style::Markdown);
    let mut play = Play::default().requests(&scene.cut("round-001", "m-1")).revises(
        Style::Markdown,
        ("round-001", "planner-request"),
        (None, &chain()),
    );
    for attempt in 1..=3 {
        play = play.reviews_update("round-001", Some(attempt), &format!("REJECTED: no good {attempt}"));
    }
    scene.ends(&play.investigates("round-001", "same-mechanism"), BLOCKED);
    let state = scene.state();
    assert_eq!(state["roadmap_update"]["last_rejection_summary"], "no good 3", "{state:#}");
    assert_eq!(state["roadmap_update"]["attempt"], 3);
}

#[test]
fn a_planner_that_is_asked_again_is_not_handed_what_was_refused() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::of(style, &[milestone("m-1"), milestone("m-2").after("m-1")]);
        let (early, first) = (scene.cut("round-001", "m-2"), scene.cut("round-001", "m-1"));
        let play = Play::default()
            .step(Work("plan", 1, Some(1)), &writes(&early.plan()))
            .well(&first)
            .well(&scene.cut("round-002", "m-2"));
        scene.completes(&play);
        let told = scene.prompt("plan-1-2");
        assert!(told.contains("the milestone m-2 is done or waits for others"), "{told}");
        assert!(
            told.contains("m-1-a") && !told.contains("item-of-round-001"),
            "the form is a lawful one: {told}"
        );
        let form = told.rsplit("xpected").next().unwrap();
        assert!(!form.contains("m-2-a"), "{form}");
    }
}

#[test]
fn what_a_person_answers_is_in_the_prompt_that_asks_to_mend_an_answer() {
    let scene = Scene::of(Style::Markdown, &[milestone("m-1"), milestone("m-2").after("m-1")]);
    let early = scene.cut("round-001", "m-2");
    let stubborn = Play::default()
        .step(Work("plan", 1, None), &writes(&early.plan()))
        .investigates("round-001", "same-mechanism");
    let _ = scene.run(&stubborn, &[]).exits_with(11);
    let asked = scene.works().len();
    let _ = scene.about("answer", &["take the first one"]).exits_with(11);
    let again: Vec<String> = scene.works()[asked..].to_vec();
    assert!(again.iter().any(|work| work.starts_with("plan")), "{again:?}");
    for work in again.iter().filter(|work| work.starts_with("plan")) {
        let prompt = scene.prompt(&work.replace(' ', "-"));
        assert!(prompt.contains("take the first one"), "{work}: {prompt}");
    }
}

#[test]
fn a_completion_pointer_of_another_or_an_unknown_milestone_goes_back_to_its_reviewer_once() {
    for named in ["nosuch", "m-2"] {
        let scene = Scene::of(Style::Markdown, &chain());
        let cut = scene.cut("round-001", "m-1");
        let mut review = cut.review(&DONE);
        for (_, text) in &mut review {
            *text = text.replace("round-001: m-1 works", &format!("`{named}`: made it"));
        }
        let play = Play::default()
            .plans(&cut)
            .implements(&cut)
            .step(Work("review", 1, Some(1)), &writes(&review))
            .reviews(&cut, None, &DONE)
            .well(&scene.cut("round-002", "m-2"));
        scene.completes(&play);
        assert_eq!(times(&scene, "review 1"), 2, "{:?}", scene.works());
        let told = scene.prompt("review-1-2");
        assert!(told.contains(&format!("names the milestone \"{named}\"")), "{told}");
        let roadmap = scene.merged(&format!("{}/roadmap.md", scene.style.dir("rev-001")));
        assert!(!roadmap.contains("made it"), "{roadmap}");
    }
}
