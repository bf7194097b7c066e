//! People at the same files: edits of the roadmap, the state and the base between two looks are taken up or put back, and
//! told; what cannot be read stops everything and is left as it is.

use super::plane::{STATE, Style, bundle, milestone};
use super::play::{Closeout, Decision, Play, Work, shell, writes};
use super::scene::{Scene, assert_because, outcome};
use serde_json::{Value, json};

/// It rests until a person mended something.
const NOT_READY: u8 = 11;
const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
const TOP: &str = "cd {workspace}/../../.. && ";

/// A commit by a person.
fn commits(message: &str) -> String {
    format!(
        "git add --all :/ ':!orchestrator/state.json' && git -c user.name=P -c user.email=p@localhost commit -qm '{message}'"
    )
}

#[test]
fn a_milestone_added_between_two_rounds_is_worked_on_and_a_pushed_base_is_kept() {
    let style = Style::Markdown;
    let mut scene = Scene::small(style);
    scene.world.without_sandbox("an agent plays a person at work in the checkout");
    let (first, second) = (scene.cut("round-001", "m-1"), scene.cut("round-002", "m-2"));
    let grown = bundle(style, "rev-001", &[milestone("m-1"), milestone("m-2")]);
    let path = scene.world.shared("grown.md");
    std::fs::write(&path, &grown[0].1).unwrap();
    // While the first round is implemented, a person adds a milestone and pushes a page.
    let edit = format!(
        "{TOP}cp {} {}/roadmap.md && echo page > page.md && {}",
        path.display(),
        style.dir("rev-001"),
        commits("more to do")
    );
    let mut play = Play::default().plans(&first).implements(&first);
    let place = "label = \"implement\"\nround = 1\ndo = [";
    play.0 = play.0.replacen(place, &format!("{place}\n  {},", shell(&edit)), 1);
    scene.completes(&play.reviews(&first, None, &DONE).well(&second));
    assert_eq!(scene.merged_rounds(), ["round-001", "round-002"]);
    assert_eq!(scene.merged("page.md"), "page");
    let log = scene.log();
    assert!(log.contains("somebody edited the roadmap") && log.contains("somebody moved main"), "{log}");
}

#[test]
fn a_finished_plane_is_left_alone_and_a_stale_done_is_not_believed() {
    let scene = Scene::of(Style::Records, &[milestone("m-1").with_status("done")]);
    scene.edit_state(|state| state["controller_stage"] = "done".into());
    let before = scene.repository.read(STATE);
    let outcome = scene.ends(&Play::default(), 0);
    assert_because(&outcome, "done");
    assert_eq!(scene.repository.read(STATE), before);
    assert!(scene.works().is_empty());

    // The family is opened again: the state still says done.
    for (path, text) in bundle(Style::Records, "rev-001", &[milestone("m-1")]) {
        scene.repository.write(&path, &text);
    }
    scene.repository.git(&["commit", "-qam", "not done after all"]);
    scene.completes(&Play::default().well(&scene.cut("round-001", "m-1")));
    assert_eq!(scene.merged_rounds(), ["round-001"]);
    assert!(scene.log().contains("the state says done, but milestones are open: m-1"), "{}", scene.log());
}

#[test]
fn stages_set_back_are_taken_up_and_stages_set_ahead_are_put_back() {
    let mut scene = Scene::small(Style::Records);
    scene.world.without_sandbox("an agent plays a person at work in the checkout");
    let cut = scene.cut("round-001", "m-1");
    let set = |stage: &str| {
        shell(&format!("{TOP}sed -i 's/\"stage\": \"[a-z-]*\"/\"stage\": \"{stage}\"/' {STATE}"))
    };
    let mut ahead = writes(&cut.plan());
    ahead.push(set("finalize-round"));
    let mut back = writes(&cut.review(&DONE));
    back.push(set("plan"));
    let play = Play::default()
        .step(Work("plan", 1, Some(1)), &ahead)
        .plans(&cut)
        .implements(&cut)
        .step(Work("review", 1, Some(1)), &back)
        .reviews(&cut, None, &DONE);
    scene.completes(&play);
    let works = scene.works();
    assert_eq!(works[..3], ["plan 1 1", "implement 1 1", "review 1 1"], "nobody skips ahead");
    assert!(works[3..].contains(&"plan 1 2".to_owned()), "stepping back is a person's to do: {works:?}");
    let log = scene.log();
    assert!(log.contains("somebody set round-001 from plan to finalize-round"), "{log}");
    assert!(log.contains("somebody set round-001 from review to plan"), "{log}");
    assert_eq!(scene.merged_rounds(), ["round-001"]);
}

#[test]
fn a_round_taken_out_of_the_state_is_forgotten_and_its_branch_kept() {
    let mut scene = Scene::small(Style::Markdown);
    scene.world.without_sandbox("an agent plays a person at work in the checkout");
    let cut = scene.cut("round-001", "m-1");
    let empty = scene.world.shared("empty.json");
    std::fs::write(&empty, scene.repository.read(STATE)).unwrap();
    let mut gone = writes(&cut.plan());
    gone.push(shell(&format!("{TOP}cp {} {STATE}", empty.display())));
    let play = Play::default().step(Work("plan", 1, None), &gone).well(&scene.cut("round-002", "m-1"));
    scene.completes(&play);
    assert_eq!(scene.merged_rounds(), ["round-002"]);
    let branches = scene.repository.git(&["branch", "--list", "orchestrator/*"]);
    assert!(branches.contains("round-001"), "{branches}");
    assert!(scene.log().contains("somebody took round-001 out of the state"), "{}", scene.log());
}

/// Nothing is begun, nothing is written, and the reason is in these words.
#[track_caller]
fn is_refused(scene: &Scene, words: &[&str]) {
    let before =
        (scene.repository.git(&["status", "--porcelain"]), scene.repository.git(&["rev-parse", "main"]));
    let state = std::fs::read(scene.repository.path().join(STATE)).ok();
    let play = Play::default().well(&scene.cut("round-001", "m-1"));
    let output = scene.run(&play, &[]);
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(output.code.is_some_and(|code| code != 0), "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    let after =
        (scene.repository.git(&["status", "--porcelain"]), scene.repository.git(&["rev-parse", "main"]));
    assert_eq!(after, before);
    assert_eq!(std::fs::read(scene.repository.path().join(STATE)).ok(), state);
    assert!(scene.works().is_empty(), "nobody was asked");
    scene.world.assert_no_processes();
}

#[test]
fn what_cannot_be_read_stops_everything_with_file_and_reason() {
    let scene = Scene::small(Style::Records);
    let good = scene.repository.read(STATE);
    scene.repository.write(STATE, "{ \"contract_version\": ");
    is_refused(&scene, &["state.json"]);
    scene.repository.write(STATE, "{ \"name\": \"another program\" }\n");
    is_refused(&scene, &["state.json"]);
    scene.repository.write(STATE, &good);

    scene.edit_state(|state| state["stage"] = "select-task".into());
    is_refused(&scene, &["migrate"]);
    scene.repository.write(STATE, &good);

    scene.repository.git(&["checkout", "-q", "-b", "elsewhere"]);
    is_refused(&scene, &["elsewhere", "main"]);
    scene.repository.git(&["checkout", "-q", "main"]);

    let roadmap = format!("{}/roadmap.md", scene.style.dir("rev-001"));
    let text = scene.repository.read(&roadmap);
    scene.repository.write(&roadmap, &format!("{text}\nA note.\n"));
    is_refused(&scene, &["roadmap.md", "commit"]);
    scene.repository.write(&roadmap, &text);

    scene.repository.git(&["rm", "-q", "orchestrator/roles/reviewer.md"]);
    scene.repository.git(&["commit", "-qm", "no reviewer"]);
    is_refused(&scene, &["orchestrator/roles/reviewer.md"]);
    scene.repository.git(&["revert", "--no-edit", "HEAD"]);

    scene.repository.write(".gitignore", "").commit("ignore nothing");
    is_refused(&scene, &["orchestrator/worktrees"]);
}

#[test]
fn worktrees_anywhere_else_on_the_disk_are_refused_by_name_and_those_that_git_knows_are_taken() {
    let scene = Scene::small(Style::Markdown);
    let elsewhere = scene.world.path().join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    let climbs = format!("{}/orchestrator/worktrees/../../../elsewhere", scene.repository.text());
    let branch = "orchestrator/round-001-parser";
    let nobodys = "nor one that git knows";
    for (place, words) in [
        (elsewhere, nobodys),
        (climbs.as_str(), "leaves the repository"),
        ("src", nobodys),
        ("orchestrator/worktrees", nobodys),
        ("orchestrator/rounds/round-001", nobodys),
    ] {
        scene.edit_state(|state| {
            let mut record = super::plane::round_record("round-001", "plan", branch);
            record["worktree_path"] = place.into();
            state["active_rounds"] = json!([record]);
        });
        is_refused(&scene, &["worktree", words]);
        assert!(!std::path::Path::new(elsewhere).exists(), "nothing was made at {place}");
    }
    scene.repository.git(&["worktree", "add", "-q", "-b", branch, elsewhere]);
    scene.edit_state(|state| state["active_rounds"][0]["worktree_path"] = elsewhere.into());
    scene.completes(&Play::default().well(&scene.cut("round-001", "m-1")));
    assert_eq!(scene.merged_rounds(), ["round-001"]);
}

#[test]
fn a_state_that_breaks_in_the_middle_is_kept_and_the_run_goes_on_once_it_is_mended() {
    let mut scene = Scene::small(Style::Markdown);
    scene.world.without_sandbox("an agent plays a person at work in the checkout");
    let cut = scene.cut("round-001", "m-1");
    let kept = scene.world.shared("kept.json");
    let breaks = format!("{TOP}cp {STATE} {} && printf '{{' > {STATE}", kept.display());
    let mut planned = writes(&cut.plan());
    planned.push(shell(&breaks));
    let play = Play::default()
        .step(Work("plan", 1, Some(1)), &planned)
        .plans(&cut)
        .implements(&cut)
        .reviews(&cut, None, &DONE);
    let output = scene.run(&play, &[]);
    assert_eq!(output.code, Some(i32::from(NOT_READY)), "{}{}", output.stdout, output.stderr);
    assert_because(&outcome(&output), "state.json");
    assert_eq!(scene.repository.read(STATE), "{", "never written over");
    let waits = scene.world.windlass(&["inbox", "--json"]).exits_with(0).stdout;
    assert!(waits.contains("state.json") && waits.contains("windlass retry"), "{waits}");

    // The last good one is kept with the run, and whoever looks is told how to go back to it.
    assert_because(&outcome(&output), "state.json.last-good");
    let found =
        scene.world.windlass(&["roadmap", "inspect", scene.repository.text(), "--json"]).exits_with(2);
    let back = found.json()["next_steps"][0].as_str().unwrap().to_owned();
    assert!(back.starts_with("cp .orchestrator/roadmap/") && back.ends_with(STATE), "{back}");
    let refused = scene.run(&play, &[]).exits_with(2);
    assert!(format!("{}{}", refused.stdout, refused.stderr).contains(&back), "{}", refused.stderr);
    let copied = scene.world.run(std::path::Path::new("sh"), scene.repository.path(), &["-c", &back], "");
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    let lived = |text: &str| {
        let state: Value = serde_json::from_str(text).unwrap();
        state["active_rounds"][0]["round_id"].clone()
    };
    assert_eq!(lived(&scene.repository.read(STATE)), lived(&std::fs::read_to_string(&kept).unwrap()));
    scene.completes(&play);
    let rounds = scene.works().iter().filter(|work| work.starts_with("plan")).count();
    assert!(rounds <= 2, "{:?}", scene.works());
    assert_eq!(scene.merged_rounds(), ["round-001"]);
}

#[test]
fn a_file_of_the_users_in_the_way_of_a_merge_is_never_written_over() {
    let scene = Scene::small(Style::Records);
    scene.repository.write("src/round-001.txt", "a draft of mine\n");
    let play = Play::default().well(&scene.cut("round-001", "m-1"));
    let output = scene.run(&play, &[]);
    assert_eq!(output.code, Some(11), "{}{}", output.stdout, output.stderr);
    assert_because(&outcome(&output), "src/round-001.txt");
    assert_eq!(scene.repository.read("src/round-001.txt"), "a draft of mine\n");
    assert!(scene.subjects().is_empty());
    std::fs::remove_file(scene.repository.path().join("src/round-001.txt")).unwrap();
    let _ = scene.about("resume", &[]).exits_with(0);
    scene.assert_complete();
    let asked: Value = json!(scene.works());
    assert_eq!(asked, json!(["plan 1 1", "implement 1 1", "review 1 1"]), "nobody is asked again");
}

#[test]
fn a_round_without_its_branch_blocks_with_what_to_do_and_goes_when_it_is_taken_out() {
    let scene = Scene::small(Style::Markdown);
    scene.edit_state(|state| {
        state["active_rounds"] =
            json!([super::plane::round_record("round-001", "plan", "orchestrator/round-001-gone")]);
    });
    let play = Play::default().well(&scene.cut("round-001", "m-1")).well(&scene.cut("round-002", "m-1"));
    let _ = scene.run(&play, &[]).exits_with(NOT_READY);
    let waits = scene.world.windlass(&["inbox", "--json"]).exits_with(0).json();
    let suggestion = waits[0]["suggestion"].as_str().unwrap();
    assert!(suggestion.contains("take round-001 out of `active_rounds`"), "{suggestion}");
    let words = ["roadmap", "inspect", scene.repository.text(), "--json"];
    let found = scene.world.windlass(&words).exits_with(0).json();
    assert!(found["next"].as_str().unwrap().contains("its branch is gone"), "{found:#}");
    assert_eq!(found["next_steps"][0], format!("windlass resume {}", scene.run_id()));
    scene.edit_state(|state| state["active_rounds"] = json!([]));
    let _ = scene.about("resume", &[]).exits_with(0);
    scene.assert_complete();
}

#[test]
fn a_state_that_says_done_beside_a_live_round_is_not_reported_as_finished() {
    let scene = Scene::of(Style::Records, &[milestone("m-1").with_status("done")]);
    let cut = scene.cut("round-001", "m-1");
    let (branch, worktree) = ("orchestrator/round-001-late", "orchestrator/worktrees/round-001");
    scene.repository.git(&["worktree", "add", "-q", "-b", branch, worktree]);
    for (path, text) in cut.plan() {
        scene.repository.write(&format!("{worktree}/{path}"), &text);
    }
    scene.repository.git(&["-C", worktree, "add", "--all"]);
    scene.repository.git(&["-C", worktree, "commit", "-q", "-m", "planned"]);
    scene.edit_state(|state| {
        state["controller_stage"] = "done".into();
        state["active_rounds"] = json!([super::plane::round_record("round-001", "implement", branch)]);
    });
    let inspect = ["roadmap", "inspect", scene.repository.text(), "--json"];
    let found = scene.world.windlass(&inspect).exits_with(0).json();
    assert_eq!((&found["terminal"], &found["complete"]), (&true.into(), &false.into()), "{found:#}");
    assert_eq!(found["problems"][0]["rule"], "3.3.5", "{found:#}");
    assert!(
        found["problems"][0]["message"].as_str().unwrap().contains("live rounds (round-001)"),
        "{found:#}"
    );
    assert_eq!(found["next_steps"][0], "windlass roadmap run --agent claude", "not the next family");
    let shown = scene.world.windlass(&inspect[..3]).exits_with(0).stdout;
    assert!(!shown.contains("finished roadmap"), "{shown}");

    // Stopped in the middle, it still is not done.
    let nothing = Decision::Approved(Closeout::Nothing);
    let play = Play::default().implements(&cut).reviews(&cut, None, &nothing);
    let halfway = Play::default().implements(&cut);
    let _ = scene.run(&halfway, &[]);
    assert_ne!(scene.state()["controller_stage"], "done", "{:#}", scene.state());
    scene.completes(&play);
    assert_eq!(scene.merged_rounds(), ["round-001"]);
    assert!(scene.world.windlass(&inspect[..3]).exits_with(0).stdout.contains("finished roadmap"));
}
