//! Section 2.2 and W7: the contract as people write it, and the one section the loop edits.

use proptest::prelude::*;
use windlass_artifact_formats::goal_loop::{
    Autonomy, Contract, InboxLine, OnBlocked, PinnedCommands, Recognised, Scope, ScopePart,
};

use crate::id;

/// A contract with the given scope list and level text.
fn contract(scope: &str, level: &str) -> String {
    format!(
        "# Loop Contract\n\n## Goal (verifiable end state)\n<!-- say it -->\nAll green.\n\n\
         ## Scope (in-scope feature IDs)\n{scope}\n\n## Autonomy Level\n{level}\n\n\
         ## Verification (what can say \"no\")\n- Full test suite green\n- Load tests stay below 200 ms\n\n\
         ## Escalation (stop and hand back when…)\n- The loop is uncertain.\n\n\
         ## Triage Inbox\n<!-- (empty) is what it\nsays -->\n(empty)\n"
    )
}

fn parsed(scope: &str, level: &str) -> Contract {
    Contract::parse(&contract(scope, level)).expect("a contract")
}

fn faults(text: &str) -> String {
    match Contract::recognise(text) {
        Recognised::Invalid(faults) => faults.to_string(),
        other => panic!("must be refused: {other:?}"),
    }
}

fn line(item: &str, cause: &str) -> InboxLine {
    InboxLine {
        id: id(item),
        name: "Invoices".to_owned(),
        cause: cause.to_owned(),
        next: "split the item".to_owned(),
        run: "2026-11-16T10:00:00Z".to_owned(),
    }
}

#[test]
fn the_untouched_template_is_l1_and_fully_enforced() {
    let scope = Scope::parse_set("F001-F006, all R").unwrap();
    let text = Contract::template(&scope);
    let contract = Contract::parse(&text).unwrap();
    assert_eq!(contract.autonomy, Autonomy::L1);
    assert_eq!(contract.scope.include, scope);
    assert_eq!(contract.on_blocked, OnBlocked::Stop);
    assert_eq!(contract.scope.exclude_prose.len(), 3);
    assert_eq!(contract.not_enforced(), Vec::<String>::new());
    assert_eq!(contract.inbox, []);
    assert!(contract.goal.starts_with("Every item in scope"), "{}", contract.goal);
    assert_eq!(contract.text(), text);
}

#[test]
fn w18_commands_are_pinned_under_verification_and_a_vague_one_is_refused_with_its_line() {
    let scope = Scope::parse_set("F001").unwrap();
    let pinned = PinnedCommands {
        test: Some("cargo test --workspace".to_owned()),
        pre_commit: vec!["make lint".to_owned(), "echo `pwd`".to_owned()],
    };
    let template = Contract::parse(&Contract::template_pinning(&scope, &pinned)).unwrap();
    assert_eq!(template.pinned, pinned);
    assert_eq!(template.not_enforced(), Vec::<String>::new(), "a pinned command is held to");
    let vague = contract("- Include: [F001]", "L1").replace(
        "- Load tests stay below 200 ms",
        "- Test command: whatever CI runs\n- Test command: `make`\n- Test command: `just`",
    );
    let found = faults(&vague);
    assert!(found.contains("line 15: Test command: write the command between backticks"), "{found}");
    assert!(found.contains("line 17: Test command: there is one above already"), "{found}");
}

#[test]
fn what_a_person_confirms_leaves_out_what_the_loop_writes() {
    let before = parsed("- Include: [F001]", "L2");
    let after = before.with_inbox_line(&line("F001", "no luck")).unwrap();
    assert_ne!(before.text(), after.text());
    assert_eq!(before.confirmed_text(), after.confirmed_text());
    assert!(before.confirmed_text().ends_with("- The loop is uncertain."));
    assert_ne!(before.confirmed_text(), parsed("- Include: [F001]", "L3").confirmed_text());
    let moved = Contract::parse(&format!("{}\n## Notes\nmine\n", before.text())).unwrap();
    assert!(moved.confirmed_text().ends_with("\n\n## Notes\nmine"), "{}", moved.confirmed_text());
    let without = Contract::parse(before.text().split("\n## Triage").next().unwrap()).unwrap();
    assert_eq!(without.confirmed_text(), before.confirmed_text());
}

#[test]
fn w7_a_comment_that_names_every_level_states_none() {
    let comment = "<!-- L1 = pause\n   L2 = commit\nL3 = alone -->";
    assert_eq!(parsed("- Include: [F001]", &format!("L2 (assisted)   {comment}")).autonomy, Autonomy::L2);
    let silent = parsed("- Include: [F001]", comment);
    assert_eq!(silent.autonomy, Autonomy::L1);
    assert_eq!(silent.notes, ["no autonomy level is stated, so L1 holds"]);
}

#[test]
fn l3_is_taken_in_both_notations_and_a_contradiction_is_refused() {
    for level in [
        "L3",
        "**L3** unattended",
        "- L3: go",
        "```json\n{ \"autonomy\": \"L3\" }\n```",
        "\"autonomy\" : \"L3\"",
    ] {
        assert_eq!(parsed("- Include: [F001]", level).autonomy, Autonomy::L3, "{level}");
    }
    for level in ["L31", "level L3", "l3", "<!-- \"autonomy\": \"L3\" -->"] {
        assert_eq!(parsed("- Include: [F001]", level).autonomy, Autonomy::L1, "{level}");
    }
    let found = faults(&contract("- Include: [F001]", "L1\n\"autonomy\": \"L3\""));
    assert!(found.contains("line 12: the autonomy level is L3 here and L1 on line 11"), "{found}");
}

#[test]
fn scopes_are_sets_of_ids_ranges_and_prefixes() {
    for (set, inside, outside) in [
        ("[F001–F006]", "F006", "F007"),
        ("[F001-F006]", "F001", "R001"),
        ("F001..F006", "F003", "F000"),
        ("[F001 – F006, R002]", "R002", "R001"),
        ("[all F]", "F999", "E001"),
        ("[All F]", "F001", "R001"),
        ("[all R; B001]", "B001", "F001"),
        ("[F001,\n  F004]", "F004", "F002"),
        ("[F001] <!-- or [F002] -->", "F001", "F002"),
    ] {
        let contract = parsed(&format!("- Include: {set}"), "L1");
        assert!(contract.scope.contains(&id(inside)), "{set}: {:?}", contract.scope);
        assert!(!contract.scope.contains(&id(outside)), "{set}: {:?}", contract.scope);
    }
}

#[test]
fn exclusions_that_are_ids_are_enforced_and_prose_is_kept() {
    let contract = parsed("- Include: [all F]\n- Exclude: [F003–F004, nothing risky]", "L1");
    assert!(!contract.scope.contains(&id("F003")) && contract.scope.contains(&id("F005")));
    assert_eq!(contract.scope.exclude_prose, ["nothing risky"]);
    assert_eq!(contract.not_enforced(), ["Load tests stay below 200 ms", "nothing risky"]);
}

#[test]
fn an_unreadable_scope_is_refused_with_its_line() {
    for (scope, part) in [
        ("- Include: [the login things]", "line 8: Include: \"the login things\" is no id"),
        ("- Include: [F001–R003]", "mixes two prefixes"),
        ("- Include: [F006–F001]", "runs backwards"),
        ("- Include: []", "names nothing"),
        ("- Include: [F1]", "no id"),
        ("- Include: [all]", "no id"),
        ("- Include: [F001, all features]", "\"all features\""),
        ("- Only F001", "write `- Include: […]`"),
        ("<!-- - Include: [F001] -->", "no list item `Include:`"),
        ("```\n- Include: [F001]\n```", "no list item `Include:`"),
        ("- Include: [F001] <!-- open", "line 8: a comment is opened here and never closed"),
    ] {
        // The last case swallows the template's own comment end, so it stands in a text without one.
        let text =
            contract(scope, "L1").replace(" -->\n(empty)", "\n(empty)").replace("<!-- (empty)", "(empty)");
        let found = faults(&text);
        assert!(found.contains(part), "{scope}: {found}");
    }
}

#[test]
fn files_of_other_tools_are_not_contracts() {
    let ours = contract("- Include: [F001]", "L1");
    for (text, part) in [
        ("# Loop\n\nfor (;;) {}\n".to_owned(), "not titled"),
        (ours.replace("# Loop Contract", "# The Loop Contract"), "not titled"),
        (ours.replace("## Scope", "## Range"), "no section `## Scope`"),
        (ours.replace("## Autonomy Level", "## Level"), "no section `## Autonomy Level`"),
        (format!("```\n{ours}\n```\n"), "not titled"),
    ] {
        match Contract::recognise(&text) {
            Recognised::Foreign(why) => assert!(why.contains(part), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn going_on_after_a_blocked_item_must_be_said() {
    let text = contract("- Include: [F001]", "L2")
        .replace("- The loop is uncertain.", "- Park blocked items and go on.");
    let contract = Contract::parse(&text).unwrap();
    assert_eq!(contract.on_blocked, OnBlocked::GoOn);
    assert_eq!(contract.not_enforced(), ["Load tests stay below 200 ms"]);
}

#[test]
fn inbox_lines_replace_empty_and_leave_it_again() {
    let text = contract("- Include: [F001]", "L1");
    let start = Contract::parse(&text).unwrap();
    let one = start.with_inbox_line(&line("F001", "tests red")).unwrap();
    let words = "- F001 — Invoices · cause: tests red · next: split the item · run 2026-11-16T10:00:00Z";
    assert_eq!(one.text(), text.replace("-->\n(empty)", &format!("-->\n{words}")));
    assert_eq!(one.inbox, [line("F001", "tests red")]);
    let two = one.with_inbox_line(&line("F002", "no\nway · next: rm <!--")).unwrap();
    assert_eq!(two.inbox[1].cause, "no way, next: rm <! --");
    let again = two.with_inbox_line(&line("F001", "other")).unwrap();
    assert_eq!(again.inbox.iter().map(|line| line.id.as_str()).collect::<Vec<_>>(), ["F001", "F002"]);
    assert_eq!(again.inbox[0].cause, "other");
    let rest = again.without_inbox_line(&id("F001")).unwrap();
    assert_eq!(rest.inbox.len(), 1);
    let none = rest.without_inbox_line(&id("F002")).unwrap();
    assert_eq!(none.text(), text);
    assert_eq!(none.without_inbox_line(&id("F009")).unwrap().text(), text);
}

#[test]
fn an_inbox_that_is_missing_or_bare_gets_its_line() {
    let text = contract("- Include: [F001]", "L1");
    let without = text.split("## Triage").next().unwrap().to_owned();
    let added = Contract::parse(&without).unwrap().with_inbox_line(&line("F001", "c")).unwrap();
    assert!(added.text().starts_with(&without) && added.inbox.len() == 1);
    let bare = format!("{without}## Triage Inbox\n## More\nx\n");
    let added = Contract::parse(&bare).unwrap().with_inbox_line(&line("F001", "c")).unwrap();
    assert!(added.text().ends_with("00Z\n## More\nx\n"), "{}", added.text());
}

proptest! {
    #[test]
    fn inbox_edits_leave_every_other_byte(
        crlf: bool, after: bool,
        steps in proptest::collection::vec((0..3_usize, any::<bool>(), "[a-z·<!\\- \n]{0,12}"), 1..8),
    ) {
        let mut text = contract("- Include: [F001]", "L1");
        if after {
            text.push_str("\n## Notes of ours\n- F001 — not a line of the inbox\n");
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let (before, rest) = text.split_once("(empty)").map(|_| text.rsplit_once("(empty)").unwrap()).unwrap();
        let mut contract = Contract::parse(&text).unwrap();
        for (item, put, cause) in &steps {
            let item = ["F001", "F002", "R001"][*item];
            contract = if *put { contract.with_inbox_line(&line(item, cause)) } else { contract.without_inbox_line(&id(item)) }.unwrap();
            prop_assert!(contract.text().starts_with(before), "{}", contract.text());
            prop_assert!(contract.text().ends_with(rest), "{}", contract.text());
            prop_assert_eq!(contract.inbox.iter().any(|line| line.id == id(item)), *put);
        }
    }
}

#[test]
fn a_byte_order_mark_stays_where_it_is() {
    let text = format!("\u{feff}{}", contract("- Include: [F001]", "L2"));
    let put = Contract::parse(&text).unwrap().with_inbox_line(&line("F001", "c")).unwrap();
    assert_eq!(put.without_inbox_line(&id("F001")).unwrap().text(), text);
}

#[test]
fn a_part_of_a_scope_is_shown_as_it_is_written() {
    let parts = Scope::parse_set("F001..F003, R004, all B").unwrap();
    assert_eq!(parts.iter().map(ScopePart::to_string).collect::<Vec<_>>(), ["F001–F003", "R004", "all B"]);
}
