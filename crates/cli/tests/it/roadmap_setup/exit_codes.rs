//! What the exit status of every verb says: 2 where the command line or a file cannot be understood, 14 where everything is
//! understood and refused as things stand.

use super::*;
use serde_json::json;

const USAGE: u8 = 2;
const REFUSED: u8 = 14;

impl Place {
    fn run_roadmap(&self, more: &[&str]) -> Output {
        let words = ["roadmap", "run", "--repo", self.repository.text(), "--agent", "shell:true"];
        self.world.windlass(&[&words, more].concat())
    }

    /// Everybody who would have to understand the plane says the same, each with this status.
    #[track_caller]
    fn all_say(&self, status: u8, code: &str, words: &str) {
        assert_refused(&self.run_roadmap(&[]).exits_with(status), code, &[words]);
        assert_refused(&self.run_roadmap(&["--dry-run"]).exits_with(status), code, &[words]);
        let found = self.inspect().exits_with(status);
        assert!(
            found.json()["valid"] == false && found.stdout.contains(words),
            "{words} in {}",
            found.stdout
        );
        assert_eq!(
            self.world.windlass(&["ls", "--json"]).exits_with(0).json(),
            json!([]),
            "nothing was begun"
        );
    }
}

#[test]
fn a_command_line_that_makes_no_sense_is_2() {
    let place = Place::set_up(&[]);
    let repo = place.repository.text();
    for words in [
        &["roadmap"][..],
        &["roadmap", "frobnicate"],
        &["roadmap", "inspect", repo, "again"],
        &["roadmap", "inspect", "--repo", repo],
        &["roadmap", "init", "--repo", repo, "--answers"],
        &["roadmap", "migrate", "--repo", repo, "--force"],
        &["roadmap", "closeout"],
        &["roadmap", "closeout", "--review-record", "nowhere.json", "--repo", repo],
        &["roadmap", "run", "--repo", repo, "--agent", "shell:true", "--rounds", "0"],
        &["roadmap", "run", "--repo", repo, "--agent", "shell:true", "--once", "--rounds", "2"],
        &["roadmap", "run", "--repo", repo, "--agent", "nobody-knows"],
        &["roadmap", "run", "--repo", repo],
        &["roadmap", "status", "--repo", repo],
        &["roadmap", "status", "no-such-run"],
        &["roadmap", "inspect", "nowhere"],
    ] {
        let output = place.world.windlass(words);
        assert_eq!(output.code, Some(i32::from(USAGE)), "{words:?}: {}{}", output.stdout, output.stderr);
    }
}

#[test]
fn files_that_cannot_be_understood_are_2() {
    let bare = Place::bare();
    assert_refused(&bare.run_roadmap(&[]).exits_with(USAGE), "WL-ROADMAP-001", &["no control plane"]);
    assert_refused(&bare.migrate(&[]).exits_with(USAGE), "WL-ROADMAP-001", &["there is no"]);

    let place = Place::set_up(&[]);
    let good = place.repository.read(STATE);
    place.repository.write(STATE, "{ \"contract_version\": ");
    place.all_say(USAGE, "WL-ROADMAP-001", STATE);
    assert_refused(&place.init(ANSWERS, &[]).exits_with(USAGE), "WL-ROADMAP-001", &[STATE]);
    assert_refused(&place.migrate(&[]).exits_with(USAGE), "WL-ROADMAP-001", &[STATE]);
    place.repository.write(STATE, "{ \"queue\": [] }");
    place.all_say(USAGE, "WL-ROADMAP-001", "orchestrator loop");
    place.repository.write(STATE, &good);
    place.edit_state(&[("base_branch", json!("nope"))]);
    place.all_say(USAGE, "WL-ROADMAP-001", "there is no branch nope");
    place.repository.write(STATE, &good);
    let roadmap = place.roadmap_file("roadmap.md");
    let broken = place.repository.read(&roadmap).replace("Depends on: measure", "Depends on: nowhere");
    place.repository.write(&roadmap, &broken).commit("a slip");
    place.all_say(USAGE, "WL-ROADMAP-001", "nowhere");
}

#[test]
fn what_is_understood_and_not_allowed_as_things_stand_is_14() {
    let place = Place::set_up(&[]);
    assert_refused(&place.init(ANSWERS, &[]).exits_with(REFUSED), "WL-RUN-002", &["is not finished"]);
    assert_refused(&place.migrate(&[]).exits_with(REFUSED), "WL-RUN-002", &["needs no migration"]);

    place.repository.git(&["switch", "-q", "-c", "elsewhere"]);
    place.all_say(REFUSED, "WL-RUN-002", "elsewhere is checked out");
    place.repository.git(&["switch", "-q", "main"]);

    let roadmap = place.roadmap_file("roadmap.md");
    let text = place.repository.read(&roadmap);
    place.repository.write(&roadmap, &(text.clone() + "\nMore words.\n"));
    place.all_say(REFUSED, "WL-RUN-002", "it is not what is committed");
    place.repository.write(&roadmap, &text);

    let next = roadmap.replace("rev-001", "rev-002");
    let verification = place.repository.read(&place.roadmap_file("verification.md"));
    place.repository.write(&next.replace("roadmap.md", "verification.md"), &verification);
    place.repository.write(&next, &text).commit("published by somebody else");
    place.all_say(REFUSED, "WL-RUN-002", "rev-002 is published");
}

#[test]
fn a_plane_of_the_older_contract_is_14_whoever_asks() {
    let place = Place::set_up(&[]);
    place.edit_state(&[("active_round_id", json!(null)), ("roadmap_style", json!("flat"))]);
    place.all_say(REFUSED, "WL-RUN-002", "roadmap_style");
    let words = ["needs a migration", "roadmap_style", "windlass roadmap migrate --dry-run"];
    assert_refused(&place.init(ANSWERS, &[]).exits_with(REFUSED), "WL-RUN-002", &words);
}
