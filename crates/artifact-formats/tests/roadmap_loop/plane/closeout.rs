//! Section 12 and rows 15, 16 of section 14: an approved closeout is applied exactly, once, and nothing else passes.

use proptest::prelude::*;
use serde_json::json;
use windlass_artifact_formats::roadmap_loop::closeout::{
    Closeout, CloseoutMode, CompletionPointer, HistoryEntry, MilestoneStatus, StatusChange,
};
use windlass_artifact_formats::roadmap_loop::plane::{
    Applied, BundleTexts, Standing, apply_closeout, closeout_faults, closeout_matches,
    closeout_matches_in_words, closeout_standing,
};

use super::samples::{DIR, DRESSED, HISTORY, PLAIN, bundle, markdown, pretty, records, view};

const HISTORY_PATH: &str = "orchestrator/roadmaps/fam/roadmap-history.md";

fn change(id: &str, from: MilestoneStatus, to: MilestoneStatus, anchor: Option<&str>) -> StatusChange {
    StatusChange {
        milestone_id: id.to_owned(),
        expected_current_status: Some(from),
        target_status: to,
        anchor: anchor.map(str::to_owned),
    }
}

fn pointer(at: &str, text: &str) -> CompletionPointer {
    CompletionPointer { anchor_or_milestone: at.to_owned(), text: text.to_owned() }
}

fn history(anchor: Option<&str>, text: &str) -> HistoryEntry {
    HistoryEntry { anchor: anchor.map(str::to_owned), text: text.to_owned() }
}

/// What a reviewer approves in records: status, pointer and history.
fn in_records() -> Closeout {
    let mut closeout = Closeout::empty(CloseoutMode::StatusOnly);
    closeout.status_changes =
        vec![change("m-10", MilestoneStatus::InProgress, MilestoneStatus::Done, Some("m-10-status"))];
    closeout.completion_pointers = vec![pointer("m-10-pointers", "round-230: start in `41 ms`")];
    closeout.history_entries = vec![history(Some("roadmap-history-completed-rounds"), "round-230 merged")];
    closeout
}

fn in_markdown() -> Closeout {
    let mut closeout = Closeout::empty(CloseoutMode::StatusOnly);
    closeout.status_changes = vec![change("lazy", MilestoneStatus::InProgress, MilestoneStatus::Done, None)];
    closeout.completion_pointers =
        vec![pointer("lazy", "round-340: lazy sessions"), pointer("measure", "round-341: second table")];
    closeout.history_entries = vec![history(None, "round-340 merged")];
    closeout
}

fn file<'a>(applied: &'a Applied, name: &str) -> &'a str {
    let found = applied.files.iter().find(|(path, _)| path.ends_with(name));
    &found.unwrap_or_else(|| panic!("{name} is unchanged")).1
}

/// The bundle with the edits in place.
fn after<'t>(before: &BundleTexts<'t>, applied: &'t Applied) -> BundleTexts<'t> {
    let text = |name: &str| {
        applied.files.iter().find(|(path, _)| path.ends_with(name)).map(|(_, text)| text.as_str())
    };
    BundleTexts {
        roadmap: text("roadmap.md").unwrap_or(before.roadmap),
        view: text("roadmap-view.json").or(before.view),
        history: text("roadmap-history.md").or(before.history),
        ..*before
    }
}

#[test]
fn rule_12_records_status_marker_and_selector_move_together() {
    let text = pretty(&view());
    let bundle = bundle();
    let before = records(&bundle, DRESSED, &text);
    let applied = apply_closeout(&before, &in_records()).unwrap();
    let roadmap = DRESSED
        .replace("### 2. [in-progress] Load lazily", "### 2. [done] Load lazily")
        .replace("m-10\n\n- none yet", "m-10\n\n- round-230: start in `41 ms`");
    assert_eq!(file(&applied, "roadmap.md"), roadmap);
    let mut expected = view();
    expected["milestones"][1]["status"] = json!("done");
    expected["anchors"]["m-10-status"]["selector"] = json!("### 2. [done] Load lazily");
    assert_eq!(file(&applied, "roadmap-view.json"), pretty(&expected));
    assert_eq!(file(&applied, "roadmap-history.md"), HISTORY.replacen("none yet", "round-230 merged", 1));
    assert_eq!(
        applied.summary,
        [
            "milestone m-10: in-progress -> done at m-10-status",
            "pointer at m-10-pointers: round-230: start in `41 ms`",
            "history at roadmap-history-completed-rounds: round-230 merged",
        ]
    );
}

#[test]
fn rule_12_markdown_edits_stay_inside_the_block_and_the_history() {
    let bundle = bundle();
    let applied = apply_closeout(&markdown(&bundle, PLAIN), &in_markdown()).unwrap();
    let lazy = PLAIN.find("### [in-progress]").unwrap();
    let roadmap = format!(
        "{}{}",
        PLAIN[..lazy].replace("timings.md\n", "timings.md\n- round-341: second table\n"),
        PLAIN[lazy..].replace("[in-progress]", "[done]").replacen(
            "Completion pointers: none",
            "Completion pointers:\n- round-340: lazy sessions",
            1
        )
    );
    assert_eq!(file(&applied, "roadmap.md"), roadmap);
    assert_eq!(file(&applied, "roadmap-history.md"), HISTORY.replacen("none yet", "round-340 merged", 1));
    assert_eq!(applied.files.len(), 2);
}

#[test]
fn rule_12_an_entry_goes_to_the_end_of_the_list_in_its_own_dress() {
    let bundle = bundle();
    let mut closeout = Closeout::empty(CloseoutMode::StatusOnly);
    closeout.completion_pointers = vec![pointer("ship", "round-9: x")];
    for (before, after) in [
        (
            "\n\n* a\n  wrapped\n\n* b\n    * nested\n\nA remark.\n",
            "\n\n* a\n  wrapped\n\n* b\n    * nested\n* round-9: x\n\nA remark.\n",
        ),
        (" prose here\n", " prose here\n- round-9: x\n"),
        ("\n- None yet.\n", "\n- round-9: x\n"),
        ("\nnone\n", "\n- round-9: x\n"),
        (" `none`\n", "\n- round-9: x\n"),
    ] {
        let at = PLAIN.rfind("Completion pointers: none\n").unwrap();
        let (head, tail) = (&PLAIN[..at + 20], &PLAIN[at + 26..]);
        let text = format!("{head}{before}{tail}");
        let applied = apply_closeout(&markdown(&bundle, &text), &closeout).unwrap();
        assert_eq!(file(&applied, "roadmap.md"), format!("{head}{after}{tail}"));
    }
    closeout.completion_pointers.clear();
    closeout.history_entries = vec![history(None, "round-9")];
    for (before, after) in [
        ("## Completed Rounds", "## Completed Rounds\n- round-9"),
        ("## Completed Rounds\n\n## Other\n", "## Completed Rounds\n- round-9\n\n## Other\n"),
        (
            "## Completed Rounds\n\nAll of them:\n\n- a\n",
            "## Completed Rounds\n\nAll of them:\n\n- a\n- round-9\n",
        ),
    ] {
        let texts = BundleTexts { history: Some(before), ..markdown(&bundle, PLAIN) };
        assert_eq!(file(&apply_closeout(&texts, &closeout).unwrap(), "roadmap-history.md"), after);
    }
}

#[test]
fn rule_4_2_selectors_are_resolved_in_the_milestone_first() {
    let mut template = view();
    for id in ["m-1", "m-10"] {
        template["anchors"][format!("{id}-status")]["selector"] = json!(format!("Milestone id: `{id}`"));
        template["anchors"][format!("{id}-pointers")]["selector"] = json!("Completion signal:");
    }
    let text = pretty(&template);
    let bundle = bundle();
    let applied = apply_closeout(&records(&bundle, DRESSED, &text), &in_records()).unwrap();
    let roadmap = file(&applied, "roadmap.md");
    let item = "- Completion signal: start below 50 ms\n  - round-230: start in `41 ms`\n- Parallel lane";
    assert!(roadmap.contains(item) && roadmap.contains("### 2. [done] Load"), "{roadmap}");
    template["milestones"][1]["status"] = json!("done");
    assert_eq!(file(&applied, "roadmap-view.json"), pretty(&template), "a selector without the marker stays");
}

#[test]
fn rule_4_2_zero_or_several_hits_are_a_fault() {
    let refused = |selector: &str| {
        let mut view = view();
        view["anchors"]["m-10-pointers"]["selector"] = json!(selector);
        let text = pretty(&view);
        apply_closeout(&records(&bundle(), DRESSED, &text), &in_records()).unwrap_err()
    };
    assert!(refused("#### Nowhere").to_string().contains("is not found (rule 4.2)"));
    assert!(refused("- ").to_string().contains("times in the milestone"));
    assert!(refused("\nx\n").to_string().contains("found 5 times in the file"));
}

#[test]
fn rule_12_stale_edits_are_refused() {
    let text = pretty(&view());
    let bundle = bundle();
    for (before, closeout) in
        [(records(&bundle, DRESSED, &text), in_records()), (markdown(&bundle, PLAIN), in_markdown())]
    {
        let applied = apply_closeout(&before, &closeout).unwrap();
        let after = after(&before, &applied);
        let again = apply_closeout(&after, &closeout).unwrap_err();
        assert!(again.is_recoverable() && again.to_string().contains("stale"), "{again}");
        let mut pointers = closeout.clone();
        pointers.status_changes.clear();
        let again = apply_closeout(&after, &pointers).unwrap_err();
        assert!(again.is_recoverable(), "a closeout of pointers alone is found stale too: {again}");
        let mut other = closeout;
        other.status_changes[0].expected_current_status = Some(MilestoneStatus::Pending);
        assert!(apply_closeout(&before, &other).unwrap_err().to_string().contains("not pending"));
    }
}

#[test]
fn rule_4_3_a_closeout_names_only_what_is_there() {
    let text = pretty(&view());
    let bundle = bundle();
    let before = records(&bundle, DRESSED, &text);
    let refused = |edit: &dyn Fn(&mut Closeout)| {
        let mut closeout = in_records();
        edit(&mut closeout);
        apply_closeout(&before, &closeout).unwrap_err().to_string()
    };
    assert!(
        refused(&|c| c.completion_pointers[0].anchor_or_milestone = "gone".to_owned())
            .contains("does not have")
    );
    assert!(refused(&|c| c.history_entries[0].anchor = Some("gone".to_owned())).contains("does not have"));
    assert!(refused(&|c| c.history_entries[0].anchor = None).contains("must name an anchor"));
    assert!(refused(&|c| c.history_entries[0].anchor = Some("m-1-pointers".to_owned())).contains("history"));
    assert!(
        refused(&|c| c.status_changes[0].anchor = Some("m-1-status".to_owned())).contains("status anchor")
    );
    assert!(refused(&|c| c.status_changes[0].milestone_id = "gone".to_owned()).contains("no milestone"));
    assert!(refused(&|c| c.completion_pointers[0].text = "two\nlines".to_owned()).contains("one line"));
    assert!(refused(&|c| c.completion_pointers[0].text = " - ".to_owned()).contains("one line"));
    for words in ["Direction id: d-9", "None yet.", "- - x", "done <!-- the rest"] {
        assert!(
            refused(&|c| c.completion_pointers[0].text = words.to_owned()).contains("reads like"),
            "{words}"
        );
    }
    assert!(refused(&|c| c.mode = CloseoutMode::SemanticUpdateRequired).contains("may not edit"));
}

#[test]
fn rule_25_2_history_needs_its_section_and_pointers_their_milestone() {
    let bundle = bundle();
    for text in [None, Some("# History\n"), Some("## Completed Rounds\n## Completed Rounds\n")] {
        let before = BundleTexts { history: text, ..markdown(&bundle, PLAIN) };
        let why = apply_closeout(&before, &in_markdown()).unwrap_err();
        assert!(why.to_string().contains("Completed Rounds") && why.names("25.2"), "{why}");
    }
    let mut closeout = in_markdown();
    closeout.completion_pointers[0].anchor_or_milestone = "laz".to_owned();
    assert!(apply_closeout(&markdown(&bundle, PLAIN), &closeout).unwrap_err().names("25.2"));
}

#[test]
fn a_closeout_without_edits_changes_nothing() {
    let bundle = bundle();
    for mode in [CloseoutMode::None, CloseoutMode::SemanticUpdateRequired, CloseoutMode::StatusOnly] {
        let applied = apply_closeout(&markdown(&bundle, PLAIN), &Closeout::empty(mode)).unwrap();
        assert_eq!(applied, Applied::default());
    }
}

#[test]
fn rows_14_15_and_14_16_tell_absent_present_and_partial() {
    let text = pretty(&view());
    let bundle = bundle();
    for (before, closeout) in
        [(records(&bundle, DRESSED, &text), in_records()), (markdown(&bundle, PLAIN), in_markdown())]
    {
        assert_eq!(closeout_standing(&before, &closeout).unwrap(), Standing::Absent);
        let applied = apply_closeout(&before, &closeout).unwrap();
        assert_eq!(closeout_standing(&after(&before, &applied), &closeout).unwrap(), Standing::Present);
        let mut half = closeout.clone();
        half.history_entries.clear();
        let applied = apply_closeout(&before, &half).unwrap();
        let Standing::Partial { missing } = closeout_standing(&after(&before, &applied), &closeout).unwrap()
        else {
            panic!("the history entry is missing")
        };
        assert_eq!(missing.len(), 1, "{missing:?}");
    }
}

#[test]
fn rule_12_the_difference_is_exactly_the_approved_edits() {
    let bundle = bundle();
    let before = markdown(&bundle, PLAIN);
    let applied = apply_closeout(&before, &in_markdown()).unwrap();
    let exact = after(&before, &applied);
    closeout_matches(&before, &exact, &in_markdown()).unwrap();
    let extra = exact.roadmap.replace("Release it.", "Release it soon.");
    let why =
        closeout_matches(&before, &BundleTexts { roadmap: &extra, ..exact }, &in_markdown()).unwrap_err();
    let line = extra[..extra.find("soon").unwrap()].matches('\n').count() + 1;
    assert_eq!(
        (why.all()[0].file.as_str(), why.all()[0].line),
        (format!("{DIR}/roadmap.md").as_str(), Some(line))
    );
    let why = closeout_matches(&before, &BundleTexts { history: None, ..exact }, &in_markdown()).unwrap_err();
    assert_eq!(why.all()[0].file, HISTORY_PATH);
}

#[test]
fn rule_12_other_peoples_history_is_compared_by_words() {
    let text = pretty(&view());
    let bundle = bundle();
    let before = records(&bundle, DRESSED, &text);
    let applied = apply_closeout(&before, &in_records()).unwrap();
    let exact = after(&before, &applied);
    let wrapped = exact.roadmap.replace("- round-230: start in `41 ms`", "- `round-230`: start\n  in 41 ms");
    let compact = exact.view.map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap().to_string());
    let by_hand = BundleTexts { roadmap: &wrapped, view: compact.as_deref(), ..exact };
    assert!(closeout_matches(&before, &by_hand, &in_records()).is_err());
    closeout_matches_in_words(&before, &by_hand, &in_records()).unwrap();
    let reworded = wrapped.replace("41 ms", "42 ms");
    let reworded = BundleTexts { roadmap: &reworded, ..by_hand };
    assert!(closeout_matches_in_words(&before, &reworded, &in_records()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn an_applied_closeout_matches_and_leaves_every_other_line(
        crlf: bool, mark: bool, status: bool, words in "[a-z`*#\\[\\]:][ -~\u{e4}]{0,20}[a-z]", second in "[a-z]{1,12}",
    ) {
        let dress = |text: &str| {
            let text = if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
            if mark { format!("\u{feff}{text}") } else { text }
        };
        let bundle = bundle();
        let (plain, dressed, view, history_text) = (dress(PLAIN), dress(DRESSED), dress(&pretty(&view())), dress(HISTORY));
        let mut both = [in_records(), in_markdown()];
        for closeout in &mut both {
            if !status {
                closeout.status_changes.clear();
            }
            closeout.completion_pointers[0].text.clone_from(&words);
            closeout.history_entries[0].text.clone_from(&second);
        }
        let texts = [records(&bundle, &dressed, &view), markdown(&bundle, &plain)];
        for (before, closeout) in texts.iter().zip(&both) {
            let before = BundleTexts { history: Some(&history_text), ..*before };
            let applied = match apply_closeout(&before, closeout) {
                Ok(applied) => applied,
                Err(problems) => {
                    prop_assert!(problems.to_string().contains("reads like a part"), "{}", problems);
                    continue;
                }
            };
            let after = after(&before, &applied);
            prop_assert!(closeout_matches(&before, &after, closeout).is_ok());
            prop_assert!(closeout_matches_in_words(&before, &after, closeout).is_ok());
            prop_assert_eq!(closeout_standing(&after, closeout).unwrap(), Standing::Present);
            prop_assert!(apply_closeout(&after, closeout).unwrap_err().is_recoverable());
            if crlf {
                prop_assert!(!after.roadmap.replace("\r\n", "").contains('\n'));
            }
            let kept = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
            let (old, new) = (kept(before.roadmap), kept(after.roadmap));
            let gone = old.iter().filter(|line| !new.contains(line)).count();
            prop_assert!(gone <= 2, "{} lines went", gone);
        }
    }
}

#[test]
fn a_closeout_moves_its_own_milestone_and_others_only_when_they_are_ready() {
    let bundle = bundle();
    let roadmap = |text: &str| markdown(&bundle, text).roadmap().unwrap();
    let open = roadmap(&PLAIN.replacen("[done]", "[pending]", 1));
    let both = |first: MilestoneStatus| {
        let mut closeout = in_markdown();
        closeout.status_changes.push(change("measure", MilestoneStatus::Pending, first, None));
        closeout
    };
    let mut own = in_markdown();
    own.completion_pointers.retain(|pointer| pointer.anchor_or_milestone == "lazy");
    assert_eq!(closeout_faults(&open, &own, "lazy"), [""; 0], "its own");
    let faults = closeout_faults(&open, &in_markdown(), "measure").join("; ");
    assert!(faults.contains("lazy depends on measure, which is not done"), "{faults}");
    assert_eq!(closeout_faults(&open, &both(MilestoneStatus::Done), "measure"), [""; 0], "done by the same");
    assert_eq!(closeout_faults(&open, &both(MilestoneStatus::InProgress), "measure").len(), 1);
    assert_eq!(closeout_faults(&roadmap(PLAIN), &in_markdown(), "measure"), [""; 0], "done before");
}

#[test]
fn a_pointer_is_for_the_rounds_own_milestone_or_one_that_is_moved_with_it() {
    let bundle = bundle();
    let roadmap = markdown(&bundle, PLAIN).roadmap().unwrap();
    let pointing = |milestone: &str, text: &str| {
        let mut closeout = Closeout::empty(CloseoutMode::StatusOnly);
        let (anchor_or_milestone, text) = (milestone.to_owned(), text.to_owned());
        closeout.completion_pointers.push(CompletionPointer { anchor_or_milestone, text });
        closeout
    };
    assert_eq!(closeout_faults(&roadmap, &pointing("lazy", "round-7: it works"), "lazy"), [""; 0]);
    for (milestone, text, words) in [
        ("nosuch", "made it", "\"nosuch\", which the roadmap does not have"),
        ("measure", "made it", "\"measure\", whose status the closeout does not change"),
        ("lazy", "measure: made it", "\"measure\", whose status the closeout does not change"),
    ] {
        let faults = closeout_faults(&roadmap, &pointing(milestone, text), "lazy").join("; ");
        assert!(faults.contains(words) && faults.contains("rule 25.2"), "{faults}");
    }
    let mut moved = pointing("measure", "made it");
    moved.status_changes.push(change("measure", MilestoneStatus::Done, MilestoneStatus::InProgress, None));
    assert_eq!(closeout_faults(&roadmap, &moved, "lazy"), [""; 0], "moved with it");
}
