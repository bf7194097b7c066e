//! Runs whose workspaces are layers over one checkout: the same change comes to the same commit, the same cheats to nothing, and
//! what people do with a run works on them as on any other.

mod changes;
mod cheats;
mod kills;
mod people;
pub(crate) mod users;

use crate::scene::Scene;
use windlass_test_support::{Script, When, overlays_can_be_tried};

pub(crate) const KIND: &str = "WINDLASS_WORKSPACES";

/// `None` where this machine has no overlays, and xtask said so.
#[track_caller]
fn scene() -> Option<Scene> {
    let mut scene = Scene::new();
    scene.world.set(KIND, "overlay");
    can_be_had(&scene).then_some(scene)
}

/// Whether this machine has them.
pub(crate) fn are_there() -> bool {
    scene().is_some()
}

#[track_caller]
fn can_be_had(scene: &Scene) -> bool {
    let report = scene.world.windlass(&["doctor", "--json"]).json().to_string();
    let said = report.contains("workspaces can be layers over one checkout");
    overlays_can_be_tried((!said).then(|| format!("`windlass doctor` has found no overlays: {report}")))
}

/// A doer that does this, a judge that first turns it down, and an auditor.
fn reject_then_pass(doer: &[&str]) -> Script {
    let actions = [doer, &["{ handoff = 'did it' }"]].concat();
    Script::new()
        .doer(When::Always, &actions)
        .judge(When::Round(1), &["{ verdict = 'reject' }"])
        .judge(When::Round(2), &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

fn shell(line: &str) -> String {
    format!("{{ run = ['sh', '-c', '''{line}'''] }}")
}
