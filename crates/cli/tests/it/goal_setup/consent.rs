//! Nothing is built before a person agreed to the contract and to the repository's commands.

use super::*;

/// Refuses at the first agent, after everything that needs consent.
const NO_AGENT: &str = "command:no-such-program";

impl Place {
    fn begin(&self, more: &[&str]) -> Output {
        self.goal("run", &[&["--agent", NO_AGENT], more].concat())
    }
}

#[test]
fn an_unconfirmed_contract_is_refused_and_yes_confirms_it_for_good() {
    let place = Place::set_up("F001", "L1");
    let _ = place.world.windlass(&["trust", "--repo", place.repository.text()]).exits_with(0);
    let refused = place.run(&[]).exits_with(14);
    assert_refused(&refused, "WL-GOAL-002", &["nobody agreed to docs/LOOP.md as it stands", "--yes"]);
    place.assert_nothing_begun();
    assert_eq!(place.check(&[])["contract"]["confirmed"], false);

    let _ = place.run(&["--yes"]);
    assert_eq!(place.check(&[])["contract"]["confirmed"], true);
    place.repository.write(
        CONTRACT,
        &contract("F001", "L1").replace("(empty)", "- F001 — Hello · cause: x · next: y · run z"),
    );
    assert_eq!(place.check(&[])["contract"]["confirmed"], true, "the loop's own section does not count");
    place.repository.write(CONTRACT, &contract("F001", "L2")).commit("more autonomy");
    assert_eq!(place.check(&[])["contract"]["confirmed"], false, "a changed contract is asked about again");
    assert_refused(&place.run(&["--another"]).exits_with(14), "WL-GOAL-002", &[]);
}

#[test]
fn the_contracts_commands_need_trust_and_the_command_lines_do_not() {
    let place = Place::set_up("F001", "L1");
    let trust =
        place.world.windlass(&["trust", "--repo", place.repository.text(), "--json"]).exits_with(0).json();
    assert_eq!(trust["commands"], serde_json::json!(["sh test.sh"]));
    assert_eq!(place.check(&[])["trusted"], true);
    let pinned = contract("F001", "L1").replace("- It feels fast", "- Pre-commit command: `sh lint.sh`");
    place.repository.write(CONTRACT, &pinned).commit("one more command");
    let report = place.check(&[]);
    assert_eq!(
        (&report["trusted"], &report["pre_commit"][0]["command"]),
        (&false.into(), &"sh lint.sh".into())
    );
    let unpinned = contract("F001", "L1").replace("- Test command: `sh test.sh`\n", "");
    place.repository.write(CONTRACT, &unpinned).commit("no commands");
    assert_eq!(place.check(&["--test-cmd", "sh other.sh"])["trusted"], true);
}

#[test]
fn a_refusal_leaves_the_contract_unconfirmed() {
    let place = Place::set_up("F001", "L1");
    let refused = place.begin(&["--yes"]);
    assert_ne!(refused.code, Some(0), "{}", refused.stdout);
    assert_eq!(place.check(&[])["contract"]["confirmed"], false, "{}", refused.stderr);
    place.assert_nothing_begun();
}
