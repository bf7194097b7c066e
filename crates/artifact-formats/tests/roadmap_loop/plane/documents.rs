//! Sections 4.4, 4.5, 2 and the overrides of section 15: the prose files, as far as a program reads them.

use windlass_artifact_formats::roadmap_loop::plane::{
    History, LimitOverrides, Severity, Verification, blank_contract_sections,
};

const VERIFICATION: &str = "\
# Verification

## Baseline Checks
- `make test`
## Alignment Checks
x
## Task-Specific Checks
x
### Nested
y
## Manual Checks
none
## Roadmap Overrides
";

fn overrides(text: &str) -> Result<LimitOverrides, String> {
    let parsed = Verification::parse("v.md", &format!("{VERIFICATION}{text}"));
    parsed.map(|found| found.overrides).map_err(|problems| problems.to_string())
}

#[test]
fn rule_4_4_every_section_is_required() {
    let found = Verification::parse("v.md", &format!("{VERIFICATION}none\n")).unwrap();
    assert_eq!(found.sections[0], ("Baseline Checks".to_owned(), "- `make test`".to_owned()));
    assert_eq!(found.sections[2].1, "x\n### Nested\ny");
    for title in
        ["Baseline Checks", "Alignment Checks", "Task-Specific Checks", "Manual Checks", "Roadmap Overrides"]
    {
        let text = VERIFICATION.replace(&format!("## {title}\n"), "");
        let problems = Verification::parse("v.md", &text).unwrap_err();
        assert!(problems.names("4.4") && problems.to_string().contains(title), "{problems}");
    }
}

#[test]
fn rule_15_limits_are_overridden_by_labels_and_the_rest_is_prose() {
    for none in ["none\n", "None.\n", "\n", "- `none`\n"] {
        assert_eq!(overrides(none).unwrap(), LimitOverrides::default(), "{none:?}");
    }
    let plain = overrides("Same-mechanism retries: 5\nReview cycles: 4\nUpdate rejections: 2\n").unwrap();
    assert_eq!(
        (plain.same_mechanism_retries, plain.review_cycles, plain.update_rejections),
        (Some(5), Some(4), Some(2))
    );
    let dressed =
        overrides("- **Review retry cycles:** `6`\r\n\r\nRetry owner: the lead\r\nBe patient.\r\n").unwrap();
    assert_eq!((dressed.review_cycles, dressed.same_mechanism_retries), (Some(6), None));
    assert_eq!(dressed.prose, ["Retry owner: the lead", "Be patient."]);
}

#[test]
fn rule_15_a_limit_that_is_no_number_is_told_with_its_line() {
    let line = VERIFICATION.lines().count() + 1;
    for value in ["many", "0", "-1", "3.5", ""] {
        let why = overrides(&format!("Review cycles: {value}\n")).unwrap_err();
        assert!(why.starts_with(&format!("v.md:{line}: a limit must be")), "{why}");
    }
    assert!(overrides("Review cycles: 1\nReview cycles: 2\n").unwrap_err().contains("twice"));
}

#[test]
fn rule_4_5_histories_are_read_in_both_layouts() {
    let text = "# H\n\n## Completed Rounds\n\n- round-1: a\n  wrapped\n- none yet\n\n## rev-001\n- other\n";
    let history = History::read(text);
    assert_eq!(history.completed_rounds.unwrap(), ["round-1: a wrapped"]);
    assert_eq!(history.sections, ["Completed Rounds", "rev-001"]);
    assert_eq!(History::read("# H\n\n## rev-001\n- x\n").completed_rounds, None);
}

#[test]
fn rule_2_a_project_contract_leaves_no_section_blank() {
    let whole = "## Stable Interfaces\nnone discovered yet\n## Alignment Invariants\nx\n## Verification Anchors\nx\n## Update Rule\nx\n";
    assert_eq!(blank_contract_sections("p.md", whole), []);
    let blank = whole.replacen("x\n", "\n", 1).replace("## Update Rule\nx\n", "");
    let found = blank_contract_sections("p.md", &blank);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|problem| problem.severity == Severity::Warning && problem.rule == "2"));
    assert!(found[0].message.contains("Update Rule") && found[1].message.contains("Alignment Invariants"));
    assert_eq!(found[1].line, Some(3));
}
