//! Files of a plane come from agents and people: whatever they hold is refused or read, and never breaks the reader.

use proptest::prelude::*;
use windlass_artifact_formats::roadmap_loop::closeout::{
    Closeout, CloseoutMode, CompletionPointer, HistoryEntry,
};
use windlass_artifact_formats::roadmap_loop::plane::{
    BundleTexts, Generation, History, PlaneKind, RoadmapText, StateFile, Verification, apply_closeout,
    blank_contract_sections, migrate,
};

use super::samples::{DRESSED, HISTORY, PLAIN, bundle, pretty, view};
use super::state::{idle, read};

/// A sound text with something cut out and something put in.
fn damaged(text: &str, from: usize, length: usize, inserted: &str) -> String {
    let places: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
    let start = places[from % places.len()];
    let end = places[(from % places.len() + length).min(places.len() - 1)];
    format!("{}{inserted}{}", &text[..start], &text[end..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn damaged_files_never_break_a_reader(
        from in 0..4000_usize, length in 0..60_usize, inserted in "[-#*`\\[\\]:<!>{}\",\n\r a-z\u{e4}\u{feff}]{0,12}",
    ) {
        let state = damaged(&format!("{:#}", idle()), from, length, &inserted);
        let _ = PlaneKind::of(&StateFile::recognise(&state), &[], None);
        let history = damaged(HISTORY, from, length, &inserted);
        let _ = History::read(&history);
        let _ = Verification::parse("v.md", &history);
        let _ = blank_contract_sections("p.md", &history);
        let bundle = bundle();
        let view = pretty(&view());
        let broken_view = damaged(&view, from, length, &inserted);
        for (roadmap, anchor) in [(PLAIN, "lazy"), (DRESSED, "m-10-pointers")] {
            let roadmap = damaged(roadmap, from, length, &inserted);
            let _ = migrate(&read(&idle()), &roadmap);
            let text = RoadmapText::read("r.md", &roadmap);
            prop_assert_eq!(text.text(), roadmap.as_str());
            let mut closeout = Closeout::empty(CloseoutMode::StatusOnly);
            closeout.completion_pointers =
                vec![CompletionPointer { anchor_or_milestone: anchor.to_owned(), text: "round-1: x".to_owned() }];
            closeout.history_entries = vec![HistoryEntry {
                anchor: Some("roadmap-history-completed-rounds".to_owned()),
                text: "round-1 merged".to_owned(),
            }];
            for generation in [Generation::Records, Generation::StructuredMarkdown] {
                for view in [&view, &broken_view] {
                    let texts = BundleTexts {
                        generation, bundle: &bundle, roadmap: &roadmap, view: Some(view), history: Some(&history),
                    };
                    let _ = texts.warnings();
                    if let Ok(applied) = apply_closeout(&texts, &closeout) {
                        // Whatever was read as sound is lengthened by one item and is sound afterwards.
                        let (_, edited) = &applied.files[0];
                        prop_assert!(edited.contains("round-1: x"), "{}", edited);
                    }
                }
            }
        }
    }
}
