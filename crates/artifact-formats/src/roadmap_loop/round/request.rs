//! `roadmap-update-request.md`: a planner's evidence that no bounded round can be cut from the roadmap as it is. Evidence
//! only, never an approved change.

use super::files;
use super::labelled::{Labelled, readable};
use crate::faults::Faults;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateRequest {
    pub round_id: String,
    pub roadmap_id: String,
    pub roadmap_revision: String,
    pub roadmap_dir: String,
    pub reason: String,
    pub evidence: String,
    pub requested_split: String,
    pub non_goals: String,
}

impl UpdateRequest {
    /// Reads the request of the planning round with that id.
    pub fn parse(round_id: &str, text: &str) -> Result<Self, Faults> {
        let text = readable(files::UPDATE_REQUEST, text)?;
        let document = Labelled::read(files::UPDATE_REQUEST, &text);
        let words = |title: &'static str| {
            let text = document.required(title).map(|section| section.text()).unwrap_or_default();
            if text.is_empty() {
                document.report(format!("### {title}: must not be empty"));
            }
            text
        };
        let evidence = words("Current Evidence");
        let requested_split = words("Requested Split");
        let non_goals = words("Non-Goals");
        let request = document.required("Roadmap Update Required").map(|section| {
            let labels =
                section.labels(&["Round id", "Roadmap id", "Roadmap revision", "Roadmap dir", "Reason"]);
            let stated = labels.filled("Round id");
            if !stated.is_empty() && stated != round_id {
                document.report(format!(
                    "### Roadmap Update Required: \"Round id:\" must be {round_id}, found {stated}"
                ));
            }
            Self {
                round_id: round_id.to_owned(),
                roadmap_id: labels.filled("Roadmap id"),
                roadmap_revision: labels.filled("Roadmap revision"),
                roadmap_dir: labels.filled("Roadmap dir"),
                reason: labels.filled("Reason"),
                evidence,
                requested_split,
                non_goals,
            }
        });
        document.finish(request)
    }
}
