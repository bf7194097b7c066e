//! `roadmap-view.json`, the machine view of generation B: milestones, directions and anchors (section 4.2), held against
//! each other, against the state and against `roadmap.md` (section 4.3).

use std::cell::RefCell;

use super::{Direction, Milestone, Place, Roadmap, RoadmapText, differences, graph_faults};
use crate::document::{self, Document, Limits};
use crate::fault::{ArtifactFault, FaultKind, excerpt, pointer_to};
use crate::fields::{FaultSink, Field, Fields};
use crate::json_edit::line_of_pointer;
use crate::roadmap_loop::closeout::MilestoneStatus;
use crate::roadmap_loop::plane::problem::{Problem, Problems};
use crate::roadmap_loop::plane::state::ActiveBundle;

const SCHEMA_VERSION: &str = "roadmap-view-v1";
const RULE: &str = "4.3";
/// Hundreds of milestones with long summaries still fit.
const LIMITS: Limits = Limits { max_bytes: 4 * 1024 * 1024, max_depth: 16, max_faults: 40 };

/// The view with the exact text it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoadmapView {
    file: String,
    source: String,
    pub roadmap_id: String,
    pub roadmap_revision: String,
    pub roadmap_dir: String,
    pub roadmap_file: String,
    pub roadmap: Roadmap,
    pub anchors: Vec<Anchor>,
}

/// A place in a file of the bundle, named by a fragment of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    pub id: String,
    pub target_file: String,
    pub selector: String,
    pub place: Place,
}

impl RoadmapView {
    /// The view, or everything that is wrong with it by itself.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (document, faults) = document::read(body.as_bytes(), LIMITS);
        let Some(document) = document else {
            let unusable = faults.into_iter().map(|fault| Problem::fatal(RULE, file, fault.message));
            Problems::check(unusable.collect())?;
            return Err(Problems::one(Problem::fatal(RULE, file, "it holds no usable content")));
        };
        let sink: FaultSink = RefCell::new(faults);
        let mut view = read(file, text, &document, &sink);
        let located = |fault: &ArtifactFault| {
            let line = line_of_pointer(text, &document, &fault.path);
            Problem::fatal(RULE, file, &fault.message).at_pointer(&fault.path).at_line(line)
        };
        let mut found: Vec<Problem> = sink.into_inner().iter().map(located).collect();
        let places = view.places();
        for place in places {
            place.line = line_of_pointer(text, &document, &place.pointer);
        }
        found.extend(graph_faults(RULE, file, &view.roadmap));
        found.extend(view.unresolved_anchors());
        found.extend(view.mismatched_directions());
        Problems::check(found)?;
        Ok(view)
    }

    /// The file's text, byte for byte as it was read.
    pub fn text(&self) -> &str {
        &self.source
    }

    pub fn anchor(&self, id: &str) -> Option<&Anchor> {
        self.anchors.iter().find(|anchor| anchor.id == id)
    }

    /// Whether the view is the one the state points to.
    pub fn against_state(&self, bundle: &ActiveBundle) -> Vec<Problem> {
        let pairs = [
            ("roadmap_id", &self.roadmap_id, &bundle.roadmap_id),
            ("roadmap_revision", &self.roadmap_revision, &bundle.revision),
            ("roadmap_dir", &self.roadmap_dir, &bundle.dir),
        ];
        let differs = pairs.iter().filter(|(_, here, there)| here.trim_end_matches('/') != there.as_str());
        differs
            .map(|(key, here, there)| {
                let message = format!("must be {} as in the state; found {}", excerpt(there), excerpt(here));
                Problem::fatal(RULE, &self.file, message).at_pointer(format!("/{key}"))
            })
            .collect()
    }

    /// Whether view and narrative describe the same roadmap.
    pub fn against_text(&self, text: &RoadmapText) -> Vec<Problem> {
        differences(&self.roadmap, &self.file, &text.roadmap(), &text.file)
    }

    /// Anchors into files that are not there.
    pub fn against_files(&self, files: &[&str]) -> Vec<Problem> {
        let absent = self.anchors.iter().filter(|anchor| !files.contains(&anchor.target_file.as_str()));
        absent
            .map(|anchor| {
                let message = format!("the file {} is not there", excerpt(&anchor.target_file));
                Problem::fatal(RULE, &self.file, message)
                    .at_pointer(format!("{}/target_file", anchor.place.pointer))
                    .at_line(anchor.place.line)
            })
            .collect()
    }

    fn places(&mut self) -> impl Iterator<Item = &mut Place> {
        let milestones = self.roadmap.milestones.iter_mut().map(|milestone| &mut milestone.place);
        let directions = self.roadmap.directions.iter_mut().map(|direction| &mut direction.place);
        milestones.chain(directions).chain(self.anchors.iter_mut().map(|anchor| &mut anchor.place))
    }

    fn unresolved_anchors(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        for milestone in &self.roadmap.milestones {
            let named = [
                ("status_anchor", &milestone.status_anchor),
                ("completion_anchor", &milestone.completion_anchor),
            ];
            for (key, id) in named {
                // An absent key was reported when it was read.
                let Some(id) = id.as_deref().filter(|id| self.anchor(id).is_none()) else { continue };
                let message = format!("the anchor {} is not in \"anchors\"", excerpt(id));
                let pointer = format!("{}/{key}", milestone.place.pointer);
                found.push(
                    Problem::fatal(RULE, &self.file, message)
                        .at_pointer(pointer)
                        .at_line(milestone.place.line),
                );
            }
        }
        found
    }

    /// `direction_ids` and the directions' own `milestone_id` must say the same.
    fn mismatched_directions(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        for milestone in &self.roadmap.milestones {
            let own: Vec<&str> =
                self.roadmap.directions_of(&milestone.id).map(|direction| direction.id.as_str()).collect();
            let listed = &milestone.direction_ids;
            let mut wrong: Vec<String> =
                listed.iter().filter(|id| !own.contains(&id.as_str())).map(|id| excerpt(id)).collect();
            wrong.extend(
                own.iter().filter(|id| !listed.iter().any(|listed| listed == *id)).map(|id| excerpt(id)),
            );
            if !wrong.is_empty() {
                let message =
                    format!("the list and the directions of this milestone differ in {}", wrong.join(", "));
                found.push(
                    Problem::fatal(RULE, &self.file, message)
                        .at_pointer(format!("{}/direction_ids", milestone.place.pointer))
                        .at_line(milestone.place.line),
                );
            }
        }
        found
    }
}

fn read(file: &str, text: &str, document: &Document<'_>, sink: &FaultSink) -> RoadmapView {
    let mut fields = Fields::new(document.entries(), String::new(), sink);
    let version = fields.text("schema_version");
    if version != SCHEMA_VERSION && fields.optional("schema_version").is_some() {
        let message = format!("must be \"{SCHEMA_VERSION}\"; found {}", excerpt(&version));
        let place = fields.place_of("schema_version");
        fields.report(ArtifactFault::new(FaultKind::UnsupportedVersion, place, message));
    }
    RoadmapView {
        file: file.to_owned(),
        source: text.to_owned(),
        roadmap_id: fields.filled_text("roadmap_id"),
        roadmap_revision: fields.filled_text("roadmap_revision"),
        roadmap_dir: fields.filled_text("roadmap_dir"),
        roadmap_file: fields.filled_text("roadmap_file"),
        roadmap: Roadmap {
            milestones: fields.list("milestones", |field| milestone(&field)),
            directions: fields.list("directions", |field| direction(&field)),
        },
        anchors: anchors(&mut fields),
    }
}

fn milestone(field: &Field<'_, '_>) -> Option<Milestone> {
    let mut fields = field.object()?;
    let id = fields.filled_text("milestone_id");
    let title = fields.filled_text("title");
    let status = fields.choice::<MilestoneStatus>("status");
    let depends_on = fields.list("depends_on", |field| field.filled_text());
    let lane = fields.text("parallel_lane");
    let status_anchor = fields.filled_text("status_anchor");
    let completion_anchor = fields.filled_text("completion_anchor");
    let direction_ids = fields.list("direction_ids", |field| field.filled_text());
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    Some(Milestone {
        id: given(id)?,
        title,
        status: status?,
        depends_on,
        lane: given(lane),
        intent: None,
        completion_signal: None,
        completion_pointers: None,
        coordination_notes: None,
        status_anchor: given(status_anchor),
        completion_anchor: given(completion_anchor),
        direction_ids,
        extra: fields.extra().iter().map(|(key, raw)| (key.to_owned(), raw.to_owned())).collect(),
        place: Place { pointer: field.path.clone(), line: 0 },
    })
}

fn direction(field: &Field<'_, '_>) -> Option<Direction> {
    let mut fields = field.object()?;
    let id = fields.filled_text("direction_id");
    let milestone = fields.filled_text("milestone_id");
    let summary = fields.filled_text("summary");
    let preconditions = fields.list("preconditions", |field| field.filled_text());
    let hints = fields.text("parallel_hints");
    Some(Direction {
        id: Some(id).filter(|id| !id.is_empty())?,
        milestone,
        summary,
        preconditions,
        parallel_hints: Some(hints).filter(|hints| !hints.is_empty()),
        why_now: None,
        boundary_notes: None,
        extraction_notes: None,
        extra: fields.extra().iter().map(|(key, raw)| (key.to_owned(), raw.to_owned())).collect(),
        place: Place { pointer: field.path.clone(), line: 0 },
    })
}

fn anchors(fields: &mut Fields<'_, '_>) -> Vec<Anchor> {
    let Some(field) = fields.optional("anchors") else {
        fields.report(ArtifactFault::missing_key(fields.place_of("anchors")));
        return Vec::new();
    };
    if field.object().is_none() {
        return Vec::new();
    }
    let entries = field.node.entries().unwrap_or_default();
    let read = |(id, node): &(String, document::Node<'_>)| {
        let pointer = pointer_to("/anchors", id);
        let Some(entries) = node.entries() else {
            field.report(ArtifactFault::wrong_type(pointer, "an object", node.type_name()));
            return None;
        };
        let mut inner = field.beside(entries, pointer.clone());
        let target_file = inner.filled_text("target_file");
        let selector = inner.filled_text("selector");
        let usable = !target_file.is_empty() && !selector.is_empty();
        usable.then(|| Anchor { id: id.clone(), target_file, selector, place: Place { pointer, line: 0 } })
    };
    entries.iter().filter_map(read).collect()
}
