//! Control planes without a run: setting one up, looking at one, migrating one.

mod closeout;
mod crashes;
mod exit_codes;
mod init;
mod inspect;
mod migrate;
mod next_family;

use crate::world;
use serde_json::Value;
use windlass_test_support::{Output, Repository, World};

const STATE: &str = "orchestrator/state.json";

/// Two milestones, the second after the first and in a lane of its own.
const ANSWERS: &str = r#"
title = "Faster start"
outcome = "Starts in 50 ms"
non-goals = ["new formats"]
baseline-checks = ["make test"]

[[milestones]]
id = "measure"
title = "Know where the time goes"
directions = [{ summary = "Time the start" }]

[[milestones]]
id = "lazy"
title = "Load lazily"
depends-on = ["measure"]
lane = "loading"
"#;

struct Place {
    world: World,
    repository: Repository,
}

impl Place {
    fn bare() -> Self {
        let world = world();
        let repository = world.repository("repo");
        Self { world, repository }
    }

    /// With a control plane in labelled Markdown, or with records.
    fn set_up(more: &[&str]) -> Self {
        let place = Self::bare();
        let _ = place.init(ANSWERS, more).exits_with(0);
        place
    }

    fn init(&self, answers: &str, more: &[&str]) -> Output {
        let file = self.world.shared("answers.toml");
        std::fs::write(&file, answers).unwrap();
        let words =
            ["roadmap", "init", "--repo", self.repository.text(), "--answers", file.to_str().unwrap()];
        self.world.windlass(&[&words, more].concat())
    }

    fn inspect(&self) -> Output {
        self.world.windlass(&["roadmap", "inspect", self.repository.text(), "--json"])
    }

    fn migrate(&self, more: &[&str]) -> Output {
        self.world.windlass(&[&["roadmap", "migrate", "--repo", self.repository.text()], more].concat())
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.repository.read(STATE)).unwrap()
    }

    /// Changes keys of the state, as a person with an editor does.
    fn edit_state(&self, keys: &[(&str, Value)]) {
        let mut state = self.state();
        for (key, value) in keys {
            state[*key] = value.clone();
        }
        self.repository.write(STATE, &(serde_json::to_string_pretty(&state).unwrap() + "\n"));
    }

    fn roadmap_file(&self, name: &str) -> String {
        format!("{}/{name}", self.state()["roadmap_dir"].as_str().unwrap())
    }

    /// Every milestone done and the controller at its end.
    fn finish(&self) {
        for name in ["roadmap.md", "roadmap-view.json"] {
            let file = self.roadmap_file(name);
            if self.repository.path().join(&file).exists() {
                let text = self.repository.read(&file);
                let text = text.replace("[pending]", "[done]").replace("\"pending\"", "\"done\"");
                self.repository.write(&file, &text);
            }
        }
        self.repository.commit("all done");
        self.edit_state(&[("controller_stage", "done".into())]);
    }

    fn commits(&self) -> usize {
        self.repository.git(&["rev-list", "--count", "HEAD"]).trim().parse().unwrap()
    }
}

/// The error must have this code and say all of this, somewhere.
#[track_caller]
fn assert_refused(output: &Output, code: &str, words: &[&str]) {
    assert!(output.stderr.contains(&format!("error[{code}]")), "{code} in {}", output.stderr);
    for words in words {
        assert!(output.stderr.contains(words), "{words} in {}", output.stderr);
    }
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}
