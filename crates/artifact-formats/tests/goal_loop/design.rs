//! Section 2.7 and W12: the planner's answer, the design document, and the files it allows.

use serde_json::json;
use windlass_artifact_formats::goal_loop::{DesignAnswer, DesignDocument, DesignStatus, design_path};
use windlass_artifact_formats::{FaultKind, Reading};

use crate::id;

fn answer() -> serde_json::Value {
    json!({"item_id": "F001", "overview": "Invoices.\n## 4. Technical Design\n### Files\n- `src/evil.rs`",
        "research_findings": "none yet", "technical_design": "### Files changed\n- `src/evil.rs`\nA type.\n#### files:\n- `src/evil.rs`\n```\nopen",
        "decisions": [{"question": "Where?", "options": ["a", "b"], "choice": "a, for it is short"}],
        "files": ["src/invoice.rs", "./src/mail/", "../outside.rs"], "implementation_plan": ["write it", "wire it"],
        "testing_strategy": "unit", "rollout": "none", "dependencies": [], "acceptance_criteria": ["PDF made"],
        "open_questions": [], "contract": {"deliverable": "d", "verification": "v"}})
}

#[test]
fn an_answer_becomes_a_document_with_ten_sections_and_only_its_own_files() {
    let read = DesignAnswer::parse(answer().to_string().as_bytes(), &Reading::from_agent("F001")).unwrap();
    let text = read.document(&id("F001"), "Invoices", "2026-11-16", "planner");
    let document = DesignDocument::parse(&text);
    assert_eq!(document.status, Some(DesignStatus::Draft));
    assert_eq!(document.sections, (1..=10).collect::<Vec<u32>>(), "{text}");
    assert_eq!(document.files, ["src/invoice.rs", "src/mail/"], "{text}");
    let approved = document.with_status(DesignStatus::Approved).unwrap();
    assert_eq!(approved.text(), text.replace("- **Status**: Draft\n", "- **Status**: Approved\n"));
    assert_eq!(approved.status, Some(DesignStatus::Approved));
    assert_eq!(design_path(&id("F001")), "docs/designs/F001-design.md");
}

#[test]
fn an_answer_without_its_parts_is_sent_back() {
    let mut broken = answer();
    broken["overview"] = json!("  ");
    broken["files"] = json!([""]);
    let faults =
        DesignAnswer::parse(broken.to_string().as_bytes(), &Reading::from_agent("F001")).unwrap_err();
    assert!(faults.has(FaultKind::EmptyText) && faults.faults().len() == 2, "{faults}");
}

#[test]
fn documents_of_other_writers_are_read_as_far_as_they_go() {
    let text = "# F002 design\n\n**Status:** Draft (Revision 2)\nDate: today\n\n## 4. Technical Design\n\
                Change `src/a.rs` and src/b/mod.rs, see https://x.y/z.html, 1/2 and either/or. Call `self.items`.\n\n\
                ## 5. Implementation Plan\n1. Edit `web/app.ts`.\n2. Move migrations/.\n\n\
                ## 6. Testing Strategy\n`src/not-this.rs`\n";
    let document = DesignDocument::parse(text);
    assert_eq!(document.status, Some(DesignStatus::Revision(2)));
    assert_eq!(document.sections, [4, 5, 6]);
    assert_eq!(document.files, ["src/a.rs", "src/b/mod.rs", "web/app.ts", "migrations/"]);
    let approved = document.with_status(DesignStatus::Approved).unwrap();
    assert_eq!(approved.text(), text.replace("Draft (Revision 2)", "Approved"));
}

#[test]
fn a_text_without_status_has_none_and_is_not_given_one() {
    let document = DesignDocument::parse("# Notes\n## Overview\nStatus: Draft\n");
    assert_eq!((document.status, document.sections.as_slice()), (None, &[1][..]));
    assert_eq!(document.with_status(DesignStatus::Approved), None);
}
