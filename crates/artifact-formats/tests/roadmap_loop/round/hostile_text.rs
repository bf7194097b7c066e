//! Whatever stands in the files: readers answer with a value or with faults, and never with a panic.

use proptest::prelude::*;
use windlass_artifact_formats::roadmap_loop::round::{
    Evidence, FoundMerge, RoundForm, RoundTexts, UpdateReview, Workplace,
};

use super::notes::{DIRECT, NOTES};
use super::records::REQUEST;
use super::reviews::{APPROVED, rejected};
use super::{NUMBERED, PLAN, PLAN_OF_ANOTHER, fan_out_record, review_record, selection_record};

/// A sound file with a piece of it replaced by something else.
fn damaged() -> impl Strategy<Value = String> {
    let sound = vec![
        PLAN.to_owned(),
        PLAN_OF_ANOTHER.to_owned(),
        NOTES.to_owned(),
        DIRECT.to_owned(),
        REQUEST.to_owned(),
        APPROVED.to_owned(),
        rejected("plan"),
        selection_record(NUMBERED).to_string(),
        fan_out_record(NUMBERED).to_string(),
        review_record(NUMBERED).to_string(),
    ];
    let piece = "[-*#`: \\n\\räß\u{2028}none\\[\\]]{0,12}|\\PC{0,12}|(- Workers:\\n  - )|(### Decision\\n)";
    (prop::sample::select(sound), any::<prop::sample::Index>(), 0_usize..40, piece).prop_map(
        |(text, at, length, piece)| {
            let letters: Vec<char> = text.chars().collect();
            let start = at.index(letters.len());
            let end = (start + length).min(letters.len());
            let (before, after) = (&letters[..start], &letters[end..]);
            before.iter().copied().chain(piece.chars()).chain(after.iter().copied()).collect()
        },
    )
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(texts in prop::collection::vec(damaged(), 8)) {
        let names = [
            "plan.md", "selection-record.json", "round-plan-record.json", "implementation-notes.md", "review.md",
            "review-record.json", "closeout-record.json", "roadmap-update-request.md",
        ];
        let files: RoundTexts = names.iter().map(|name| (*name).to_owned()).zip(texts.iter().cloned()).collect();
        for form in [RoundForm::Records, RoundForm::StructuredMarkdown] {
            let evidence = Evidence::read(NUMBERED, form, &files, |_| Workplace::Present);
            // A file with a fault is one that is there, or one that is missing beside others.
            for faults in &evidence.faults {
                prop_assert!(!faults.sentences().is_empty() && !faults.file().is_empty());
            }
            let _ = (evidence.proves(), evidence.ready_to_integrate());
        }
        for text in &texts {
            let _ = (FoundMerge::parse(text), UpdateReview::parse(text));
        }
    }
}
