//! The controller's writes to `state.json`. Each changes the bytes of its keys and no others, save that records of
//! rounds at `done` go with the first write after they were seen. The text is written to disk elsewhere.

use serde_json::{Value, json};

use super::records::{ControllerStage, RetryRecord, RoundRecord, RoundStage, UpdateRecord};
use super::{ActiveBundle, CONTRACT_VERSION, STATE_FILE, StateFile};
use crate::document::{self, Limits};
use crate::faults::Faults;
use crate::json_edit;

impl StateFile {
    /// The first state of a plane: nothing live, ready to dispatch.
    pub fn scaffold(
        base_branch: &str,
        bundle: &ActiveBundle,
        max_parallel_rounds: u32,
    ) -> Result<Self, Faults> {
        let state = json!({
            "contract_version": CONTRACT_VERSION,
            "base_branch": base_branch,
            "roadmap_id": bundle.roadmap_id,
            "roadmap_revision": bundle.revision,
            "roadmap_dir": bundle.dir,
            "controller_stage": ControllerStage::DispatchRounds.as_str(),
            "max_parallel_rounds": max_parallel_rounds,
            "active_rounds": [],
            "roadmap_update": null,
            "resume_errors": {},
            "retry": null,
        });
        Self::parse(&crate::render::pretty(&state))
    }

    pub fn set_stage(&self, stage: ControllerStage) -> Result<Self, Faults> {
        Writer::new(self).set(&["controller_stage"], &json!(stage.as_str())).done()
    }

    pub fn add_round(&self, round: &RoundRecord) -> Result<Self, Faults> {
        if self.round(&round.round_id).is_some() {
            return Err(Faults::one(STATE_FILE, format!("the round {} is live already", round.round_id)));
        }
        Writer::new(self).step(|text| json_edit::push(text, &["active_rounds"], &round.to_value())).done()
    }

    pub fn set_round_stage(&self, round_id: &str, stage: RoundStage) -> Result<Self, Faults> {
        Writer::new(self).set_in_round(round_id, "stage", &json!(stage.as_str())).done()
    }

    /// Records a round's error, or clears it.
    pub fn set_round_error(&self, round_id: &str, error: Option<&str>) -> Result<Self, Faults> {
        Writer::new(self).set_in_round(round_id, "resume_error", &json!(error)).done()
    }

    pub fn remove_round(&self, round_id: &str) -> Result<Self, Faults> {
        let writer = Writer::new(self);
        let Some(index) = writer.index_of(round_id) else { return Err(no_round(round_id)) };
        writer.step(|text| json_edit::remove_item(text, &["active_rounds"], index)).done()
    }

    /// Opens, changes or clears the semantic update; keys of an open record that we do not know stay.
    pub fn set_update(&self, update: Option<&UpdateRecord>) -> Result<Self, Faults> {
        let writer = Writer::new(self);
        match (update.map(UpdateRecord::to_value), &self.roadmap_update) {
            (Some(Value::Object(keys)), Some(_)) => keys
                .iter()
                .fold(writer, |writer, (key, value)| writer.set(&["roadmap_update", key], value))
                .done(),
            (value, _) => writer.set(&["roadmap_update"], &json!(value)).done(),
        }
    }

    /// Puts an approved revision of the same family in force and ends its update.
    pub fn activate(&self, revision: &str, dir: &str) -> Result<Self, Faults> {
        Self::pointed_at(Writer::new(self), None, revision, dir).set(&["roadmap_update"], &Value::Null).done()
    }

    /// Like [`StateFile::activate`], for a review that approved the move to another family.
    pub fn activate_family(&self, bundle: &ActiveBundle) -> Result<Self, Faults> {
        Self::pointed_at(Writer::new(self), Some(&bundle.roadmap_id), &bundle.revision, &bundle.dir)
            .set(&["roadmap_update"], &Value::Null)
            .done()
    }

    /// A finished plane begins its next family with nothing left over of the last one.
    pub fn begin_family(&self, bundle: &ActiveBundle) -> Result<Self, Faults> {
        Self::pointed_at(Writer::new(self), Some(&bundle.roadmap_id), &bundle.revision, &bundle.dir)
            .set(&["controller_stage"], &json!(ControllerStage::DispatchRounds.as_str()))
            .set(&["active_rounds"], &json!([]))
            .set(&["roadmap_update"], &Value::Null)
            .set(&["resume_errors"], &json!({}))
            .set(&["retry"], &Value::Null)
            .done()
    }

    /// Records what blocks the controller, or clears it.
    pub fn set_controller_error(&self, error: Option<&str>) -> Result<Self, Faults> {
        let writer = Writer::new(self);
        let Some(error) = error else {
            return writer.step(|text| json_edit::remove_key(text, &["resume_errors", "controller"])).done();
        };
        // A file without the key, or with another value in its place, must still be able to say what is wrong with it.
        let holds_object = writer.shape_of("resume_errors").is_some_and(|value| value.is_object());
        let writer = if holds_object { writer } else { writer.set(&["resume_errors"], &json!({})) };
        writer.set(&["resume_errors", "controller"], &json!(error)).done()
    }

    /// Clears every recorded error: the controller's, the rounds' and the update's.
    pub fn clear_errors(&self) -> Result<Self, Faults> {
        let mut writer = Writer::new(self).set(&["resume_errors"], &json!({}));
        for round in self.live_rounds().filter(|round| round.resume_error.is_some()) {
            writer = writer.set_in_round(&round.round_id, "resume_error", &Value::Null);
        }
        if self.roadmap_update.as_ref().is_some_and(|update| update.resume_error.is_some()) {
            writer = writer.set(&["roadmap_update", "resume_error"], &Value::Null);
        }
        writer.done()
    }

    pub fn set_retry(&self, retry: Option<&RetryRecord>) -> Result<Self, Faults> {
        Writer::new(self).set(&["retry"], &json!(retry.map(RetryRecord::to_value))).done()
    }

    fn pointed_at(writer: Writer, roadmap_id: Option<&str>, revision: &str, dir: &str) -> Writer {
        let writer = match roadmap_id {
            Some(id) => writer.set(&["roadmap_id"], &json!(id)),
            None => writer,
        };
        writer.set(&["roadmap_revision"], &json!(revision)).set(&["roadmap_dir"], &json!(dir))
    }
}

fn no_round(round_id: &str) -> Faults {
    Faults::one(STATE_FILE, format!("there is no live round {round_id}"))
}

/// One write under way: the text so far, or what could not be done.
struct Writer {
    text: Result<String, Faults>,
}

impl Writer {
    /// Starts without the records of rounds that are over.
    fn new(state: &StateFile) -> Self {
        let mut writer = Self { text: Ok(state.source.clone()) };
        for round in state.rounds.iter().filter(|round| round.stage == RoundStage::Done) {
            let index = writer.index_of(&round.round_id);
            writer = writer.step(|text| json_edit::remove_item(text, &["active_rounds"], index?));
        }
        writer
    }

    fn step(self, edit: impl FnOnce(&str) -> Option<String>) -> Self {
        let missing = || Faults::one(STATE_FILE, "the place of the edit is not in the file");
        Self { text: self.text.and_then(|text| edit(&text).ok_or_else(missing)) }
    }

    fn set(self, path: &[&str], value: &Value) -> Self {
        self.step(|text| json_edit::set(text, path, value))
    }

    fn set_in_round(self, round_id: &str, key: &str, value: &Value) -> Self {
        let Some(index) = self.index_of(round_id) else {
            return Self { text: self.text.and(Err(no_round(round_id))) };
        };
        self.set(&["active_rounds", &index.to_string(), key], value)
    }

    /// Where a round's record stands in the text as it is now.
    fn index_of(&self, round_id: &str) -> Option<usize> {
        let rounds = self.shape_of("active_rounds")?;
        rounds.as_array()?.iter().position(|round| round["round_id"] == round_id)
    }

    fn shape_of(&self, key: &str) -> Option<Value> {
        let text = self.text.as_ref().ok()?.trim_start_matches('\u{feff}');
        let (document, _) = document::read(text.as_bytes(), Limits::default());
        document?.to_value().get(key).cloned()
    }

    fn done(self) -> Result<StateFile, Faults> {
        StateFile::parse(&self.text?)
    }
}
