//! Files of the story queue: planning files, exports and a reviewer's answer. They become import payloads and reports; what a
//! payload may do is the server's to judge.

mod export;
mod numbering;
mod planning_directory;
mod planning_file;
mod review_answer;

pub use crate::faults::Faults;
pub use export::{Exported, import_of_export, planning_file_of_story};
pub use numbering::{Renumbering, story_number};
pub use planning_directory::{
    Dangling, Duplicate, PlanningImport, PlanningReport, Unmapped, Unreadable, import_of_planning_files,
};
pub use review_answer::{ReviewAnswer, ReviewFinding, ReviewResult, parse_review_answer};
