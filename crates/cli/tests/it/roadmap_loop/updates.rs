//! The roadmap itself changes: asked for by a planner or by a merged round, rejected, blocked, and published beside others.

use super::plane::{Milestone, STATE, Style, milestone};
use super::play::{Closeout, Decision, Play, request, shell, write};
use super::scene::{Scene, assert_because};
use serde_json::Value;

const BLOCKED: u8 = 11;
const REJECTED: &str = "REJECTED: split it once more";

fn split() -> [Milestone; 2] {
    [milestone("m-1"), milestone("m-2").after("m-1")]
}

#[test]
fn a_planners_request_becomes_the_next_revision_and_its_round_is_never_merged() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::small(style);
        let asking = scene.cut("round-001", "m-1");
        let play = Play::default()
            .requests(&asking)
            .revises(style, ("round-001", "planner-request"), (None, &split()))
            .reviews_update("round-001", Some(1), REJECTED)
            .reviews_update("round-001", Some(2), "APPROVED")
            .well(&scene.cut("round-002", "m-1").in_revision("rev-002"))
            .well(&scene.cut("round-003", "m-2").in_revision("rev-002"));
        scene.completes(&play);
        let works = scene.works();
        let began = [
            "plan 1 1",
            "author-update 1 1",
            "review-update 1 1",
            "author-update 1 2",
            "review-update 1 2",
            "plan 2 1",
        ];
        assert_eq!(works[..6], began, "{style:?}");
        assert!(scene.prompt("author-update-1-2").contains("split it once more"));
        // Nobody is asked for what would be sent back.
        let asked = scene.prompt("review-update-1-1");
        assert!(
            asked.contains("stays in its roadmap's family") && !asked.contains("Family migration"),
            "{asked}"
        );
        let state = scene.state();
        assert_eq!(
            (&state["roadmap_revision"], &state["roadmap_dir"]),
            (&"rev-002".into(), &style.dir("rev-002").into())
        );
        assert_eq!(scene.merged_rounds(), ["round-002", "round-003"], "{:?}", scene.subjects());
        assert_eq!(scene.subjects().len(), 3, "the update is one commit, too: {:?}", scene.subjects());
        let kept = scene.merged("orchestrator/rounds/round-001/roadmap-update-request.md");
        assert_eq!(kept, request(&asking).trim_end(), "byte for byte");
        assert!(scene.is_merged("orchestrator/roadmap-updates/round-001-roadmap-update-review.md"));
        let old = scene.merged(&format!("{}/roadmap.md", style.dir("rev-001")));
        assert!(old.contains("[pending]"), "a revision that was used is history");
    }
}

#[test]
fn a_merged_round_may_ask_for_another_roadmap() {
    let mut scene = Scene::small(Style::Records);
    scene.world.without_sandbox("an agent plays a person at work in the checkout");
    let first = scene.cut("round-001", "m-1");
    let play = Play::default()
        .plans(&first)
        .implements(&first)
        .reviews(&first, None, &Decision::Approved(Closeout::Semantic("m-1 is two things")))
        .revises(Style::Records, ("round-001", "merged-round"), (None, &split()))
        .reviews_update("round-001", None, "APPROVED")
        .well(&scene.cut("round-002", "m-1").in_revision("rev-002"))
        .well(&scene.cut("round-003", "m-2").in_revision("rev-002"));
    // Somebody else pushes code and a note of theirs while the update is reviewed.
    let push = "cd {workspace}/../../.. && echo pushed > src/pushed.txt && git add src/pushed.txt && git -c user.name=P -c user.email=p@localhost commit -qm pushed";
    let play = Play(play.0.replacen(
        "label = \"review-update\"\nround = 1\ndo = [",
        &format!("label = \"review-update\"\nround = 1\ndo = [\n  {},", shell(push)),
        1,
    ));
    scene.completes(&play);
    assert_eq!(scene.merged_rounds(), ["round-001", "round-002", "round-003"]);
    assert_eq!(scene.merged("src/pushed.txt"), "pushed", "what others pushed stays");
    assert_eq!(
        scene.works().iter().filter(|work| work.starts_with("author-update")).count(),
        1,
        "{:?}",
        scene.works()
    );
    assert!(
        scene.prompt("author-update-1-1").contains("m-1 is two things")
            || scene.prompt("author-update-1-1").contains("merged-round")
    );
}

#[test]
fn three_rejections_block_the_update_and_nothing_of_it_is_active() {
    let scene = Scene::small(Style::Markdown);
    let play = Play::default()
        .requests(&scene.cut("round-001", "m-1"))
        .revises(Style::Markdown, ("round-001", "planner-request"), (None, &split()))
        .reviews_update("round-001", None, REJECTED)
        .investigates("round-001", "same-mechanism");
    let outcome = scene.ends(&play, BLOCKED);
    assert_because(&outcome, "split it once more");
    let state = scene.state();
    let update = &state["roadmap_update"];
    assert_eq!((&update["status"], &update["attempt"]), (&"blocked".into(), &3.into()), "{state:#}");
    assert!(update["resume_error"].as_str().is_some_and(|error| error.contains("rejected")), "{state:#}");
    assert!(
        update["last_rejection_summary"].as_str().is_some_and(|text| text.contains("split it once more"))
    );
    assert_eq!(state["roadmap_revision"], "rev-001");
    assert_eq!(state["controller_stage"], "blocked");
    assert!(scene.subjects().is_empty(), "nothing of it was merged");
    scene.assert_sound();

    let _ = scene.run(
        &Play::default()
            .revises(Style::Markdown, ("round-001", "planner-request"), (None, &split()))
            .reviews_update("round-001", None, "APPROVED")
            .well(&scene.cut("round-002", "m-1").in_revision("rev-002"))
            .well(&scene.cut("round-003", "m-2").in_revision("rev-002")),
        &[],
    );
    scene.assert_complete();
}

#[test]
fn an_author_cannot_rewrite_the_revision_in_use_nor_code() {
    let scene = Scene::small(Style::Markdown);
    let dir = scene.style.dir("rev-001");
    let cheat = [
        shell(&format!("sed -i s/pending/done/ {dir}/roadmap.md && echo cheat > src/main.txt")),
        write(STATE, "{}\n"),
    ];
    let mut play = Play::default()
        .requests(&scene.cut("round-001", "m-1"))
        .revises(Style::Markdown, ("round-001", "planner-request"), (None, &split()))
        .reviews_update("round-001", None, "APPROVED");
    let place = "label = \"author-update\"\nround = 1\ndo = [";
    play.0 = play.0.replacen(place, &format!("{place}\n  {},", cheat.join(",\n  ")), 1);
    let play = play
        .well(&scene.cut("round-002", "m-1").in_revision("rev-002"))
        .well(&scene.cut("round-003", "m-2").in_revision("rev-002"));
    scene.completes(&play);
    assert!(scene.merged(&format!("{dir}/roadmap.md")).contains("[pending]"));
    assert_eq!(scene.merged("src/main.txt"), "one\ntwo\nthree");
    let state: Value = serde_json::from_str(&scene.merged(STATE)).unwrap();
    assert_eq!(state["roadmap_revision"], "rev-002", "by the controller, at the words of nobody");
    assert!(scene.log().contains("put back") || scene.log().contains("src/main.txt"), "{}", scene.log());
}

#[test]
fn a_clone_goes_on_with_the_revision_that_was_published_last() {
    for style in [Style::Records, Style::Markdown] {
        let scene = Scene::small(style);
        let play = Play::default()
            .requests(&scene.cut("round-001", "m-1"))
            .revises(style, ("round-001", "planner-request"), (None, &split()))
            .reviews_update("round-001", None, "APPROVED")
            .well(&scene.cut("round-002", "m-1").in_revision("rev-002"));
        let _ = scene.run(&play, &["--rounds", "2"]).exits_with(0);
        let published = scene.repository.git(&["log", "--format=%H", "--grep=Revise the roadmap", "main"]);
        for at in [published.as_str(), "main"] {
            let clone = scene.world.path().join(format!("clone-{}", &at[..4]));
            let clone = clone.to_str().unwrap();
            scene.repository.git(&["clone", "-q", scene.repository.text(), clone]);
            scene.repository.git(&["-C", clone, "reset", "-q", "--hard", at]);
            let found = scene.world.windlass(&["roadmap", "inspect", clone, "--json"]).exits_with(0).json();
            assert_eq!(found["roadmap"]["revision"], "rev-002", "{found:#}");
            assert_eq!((&found["rounds"], &found["update"]), (&Value::Array(Vec::new()), &Value::Null));
        }
        let state: Value = serde_json::from_str(&scene.merged(STATE)).unwrap();
        assert_eq!(state["roadmap_dir"], style.dir("rev-002"), "{state:#}");
        assert_eq!(scene.state(), state, "what rests is what is committed");
        scene.assert_sound();
    }
}

#[test]
fn a_state_that_does_not_know_a_published_revision_is_refused_with_what_to_do() {
    let scene = Scene::small(Style::Markdown);
    for (path, text) in super::plane::bundle(Style::Markdown, "rev-002", &split()) {
        scene.repository.write(&path, &text);
    }
    scene.repository.commit("published by an older program");
    let play = Play::default().well(&scene.cut("round-001", "m-1"));
    let refused = scene.run(&play, &[]);
    assert_ne!(refused.code, Some(0));
    for words in ["names rev-001", "rev-002 is published on main", "set roadmap_revision and roadmap_dir"] {
        assert!(refused.stdout.contains(words), "{words} in {}", refused.stdout);
    }
    let words = ["roadmap", "inspect", scene.repository.text(), "--json"];
    let found = scene.world.windlass(&words).exits_with(14).json();
    assert!(found["why"].to_string().contains("rev-002 is published on main"), "{found:#}");
    assert!(scene.works().is_empty());

    // Where the committed state names it, that is the way on.
    let old = scene.repository.read(STATE);
    scene.edit_state(|state| {
        state["roadmap_revision"] = "rev-002".into();
        state["roadmap_dir"] = scene.style.dir("rev-002").into();
    });
    scene.repository.commit("the state follows");
    scene.repository.write(STATE, &old);
    let refused = scene.run(&play, &[]);
    assert!(refused.stdout.contains("git checkout HEAD -- orchestrator/state.json"), "{}", refused.stdout);
    scene.repository.git(&["checkout", "-q", "HEAD", "--", STATE]);
    let play = Play::default()
        .well(&scene.cut("round-001", "m-1").in_revision("rev-002"))
        .well(&scene.cut("round-002", "m-2").in_revision("rev-002"));
    scene.completes(&play);
}
