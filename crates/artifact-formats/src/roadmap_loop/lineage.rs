//! Where a round comes from: the six fields that every record of the round repeats, so that a record of another round or
//! of another revision cannot pass for one of this. It knows no record in particular.

use crate::fields::{Choice, choice};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Lineage {
    pub roadmap_id: String,
    pub roadmap_revision: String,
    pub roadmap_dir: String,
    pub milestone_id: String,
    pub direction_id: String,
    pub extracted_item_id: String,
}

choice! {
    /// One of the six, as it is spelled in the records.
    LineageField {
        RoadmapId = "roadmap_id",
        RoadmapRevision = "roadmap_revision",
        RoadmapDir = "roadmap_dir",
        MilestoneId = "milestone_id",
        DirectionId = "direction_id",
        ExtractedItemId = "extracted_item_id",
    }
}

impl LineageField {
    /// All six, in the order of the records.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().map(|(_, field)| *field)
    }
}

impl Lineage {
    pub fn get(&self, field: LineageField) -> &str {
        match field {
            LineageField::RoadmapId => &self.roadmap_id,
            LineageField::RoadmapRevision => &self.roadmap_revision,
            LineageField::RoadmapDir => &self.roadmap_dir,
            LineageField::MilestoneId => &self.milestone_id,
            LineageField::DirectionId => &self.direction_id,
            LineageField::ExtractedItemId => &self.extracted_item_id,
        }
    }

    /// The fields in which two lineages are not the same, in the order of the records.
    pub fn differs_from(&self, other: &Self) -> Vec<LineageField> {
        LineageField::all().filter(|field| self.get(*field) != other.get(*field)).collect()
    }

    /// Both values of every field that differs, as sentences for the one who wrote this lineage.
    pub(crate) fn differences(&self, other: &Self, other_file: &str) -> Vec<String> {
        let sentence = |field: LineageField| {
            let (ours, theirs) = (self.get(field), other.get(field));
            format!("/{field}: must be \"{theirs}\" as in {other_file}, found \"{ours}\"")
        };
        self.differs_from(other).into_iter().map(sentence).collect()
    }
}
