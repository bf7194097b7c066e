//! Files and prompts of the story queue: planning files, exports, what agents are told about a story, and what a reviewer says
//! about its criteria. They become import payloads and reports; what a payload may do is the server's to judge.

mod brief;
mod export;
mod named_files;
mod numbering;
mod planning_directory;
mod planning_file;
mod review;
mod review_answer;
mod spoken_criteria;

pub use crate::faults::Faults;
pub use brief::{Criterion, StoryBrief, reviewer_prompt};
pub use export::{Exported, import_of_export, planning_file_of_story};
pub use named_files::{Named, NamedFile, named_files};
pub use numbering::{Renumbering, story_number};
pub use planning_directory::{
    Dangling, Duplicate, PlanningImport, PlanningReport, Unmapped, Unreadable, import_of_planning_files,
};
pub use review::{Finding, Severity, StoryReview};
pub use review_answer::{ReviewAnswer, ReviewFinding, ReviewResult, parse_review_answer};
pub use spoken_criteria::{left_unsaid, rule_of_criteria, seemingly_named};
