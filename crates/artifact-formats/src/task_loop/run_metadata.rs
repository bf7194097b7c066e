//! `windlass.json`: what the engine fixed and sealed in a run, beside the files other tools know.
//! It knows ids and hashes as text; making them is the work of others.

use serde::Serialize;

use super::summary::FinalVerdict;
use crate::artifact::{Format, Reading, artifact};
use crate::extra_keys::ExtraKeys;
use crate::fault::{ArtifactFault, FaultKind};
use crate::fields::{Field, Fields};
use crate::schema::Schema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunMetadata {
    pub version: u32,
    pub run_id: String,
    /// As the user gave it.
    pub base_ref: String,
    /// What it meant when the run began; used everywhere afterwards.
    pub base_commit: String,
    pub base_tree: String,
    pub rounds: Vec<RoundMetadata>,
    /// `None` while the run goes on.
    pub outcome: Option<RunOutcome>,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundMetadata {
    pub round: u32,
    /// The tree the judge saw.
    pub tree: String,
    pub patch_sha256: String,
    pub artifacts: Vec<SealedArtifact>,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

/// A file as it was when its producer ended; a later difference voids the round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SealedArtifact {
    pub name: String,
    pub sha256: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunOutcome {
    pub final_verdict: FinalVerdict,
    /// Why the run ended, in a short stable code.
    pub reason: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

impl RunMetadata {
    pub const VERSION: u32 = 1;
}

artifact!(RunMetadata);

impl Format for RunMetadata {
    const NAME: &'static str = "windlass.json";

    fn schema() -> &'static Schema {
        &super::schemas::RUN_METADATA
    }

    fn from_fields(fields: &mut Fields<'_, '_>, _reading: &Reading<'_>) -> Option<Self> {
        Some(Self {
            version: version(fields),
            run_id: fields.filled_text("run_id"),
            base_ref: fields.filled_text("base_ref"),
            base_commit: hash_key(fields, "base_commit", Hash::GitObject),
            base_tree: hash_key(fields, "base_tree", Hash::GitObject),
            rounds: fields.list("rounds", round),
            outcome: outcome(fields),
            extra: fields.extra(),
        })
    }
}

/// A file of a later version may mean something else by the same keys, so it is refused rather than guessed at.
fn version(fields: &mut Fields<'_, '_>) -> u32 {
    match fields.optional("version") {
        None => fields.report(ArtifactFault::missing_key(fields.place_of("version"))),
        Some(field) if field.whole_number() == Some(i64::from(RunMetadata::VERSION)) => {}
        Some(field) => {
            let message = format!("only version {} can be read", RunMetadata::VERSION);
            field.report(ArtifactFault::new(FaultKind::UnsupportedVersion, field.path.clone(), message));
        }
    }
    RunMetadata::VERSION
}

fn round(field: Field<'_, '_>) -> Option<RoundMetadata> {
    let mut fields = field.object()?;
    let number = fields.integer("round", 1, i64::from(u32::MAX));
    Some(RoundMetadata {
        round: u32::try_from(number).ok()?,
        tree: hash_key(&mut fields, "tree", Hash::GitObject),
        patch_sha256: hash_key(&mut fields, "patch_sha256", Hash::Sha256),
        artifacts: fields.list("artifacts", sealed_artifact),
        extra: fields.extra(),
    })
}

fn sealed_artifact(field: Field<'_, '_>) -> Option<SealedArtifact> {
    let mut fields = field.object()?;
    let name = fields.filled_text("name");
    let sha256 = hash_key(&mut fields, "sha256", Hash::Sha256);
    Some(SealedArtifact { name, sha256, extra: fields.extra() })
}

fn outcome(fields: &mut Fields<'_, '_>) -> Option<RunOutcome> {
    let Some(field) = fields.optional("outcome") else {
        fields.report(ArtifactFault::missing_key(fields.place_of("outcome")));
        return None;
    };
    if field.is_null() {
        return None;
    }
    let mut outcome = field.object()?;
    Some(RunOutcome {
        final_verdict: FinalVerdict::from_word(&outcome.filled_text("final_verdict")),
        reason: outcome.filled_text("reason"),
        extra: outcome.extra(),
    })
}

#[derive(Clone, Copy)]
enum Hash {
    GitObject,
    Sha256,
}

impl Hash {
    const fn wanted(self) -> &'static str {
        match self {
            Self::GitObject => "a full git object id (40 or 64 lower-case hexadecimal digits)",
            Self::Sha256 => "a SHA-256 (64 lower-case hexadecimal digits)",
        }
    }

    fn fits(self, text: &str) -> bool {
        let length_fits = match self {
            Self::GitObject => text.len() == 40 || text.len() == 64,
            Self::Sha256 => text.len() == 64,
        };
        length_fits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
}

fn hash_key(fields: &mut Fields<'_, '_>, key: &'static str, hash: Hash) -> String {
    let Some(field) = fields.optional(key) else {
        fields.report(ArtifactFault::missing_key(fields.place_of(key)));
        return String::new();
    };
    let Some(text) = field.text() else {
        return String::new();
    };
    if !hash.fits(&text) {
        field.report(ArtifactFault::malformed_hash(field.path.clone(), hash.wanted(), &text));
    }
    text
}
