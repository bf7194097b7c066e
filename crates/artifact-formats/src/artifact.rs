//! How every JSON artifact is read: bytes → document → schema and typed reader → one list of faults.
//! It knows the order of these steps, not the keys of any artifact.

use std::cell::RefCell;

use crate::document::{self, Document, Limits};
use crate::fault::{ArtifactFault, ArtifactFaults, FaultKind, excerpt};
use crate::fields::{FaultSink, Fields};
use crate::schema::Schema;

/// Who wrote the file: decides which slips are tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// An agent's fresh answer: a slip goes back to it in a repair request.
    #[default]
    Agent,
    /// A file that lies in a run directory already: what the original validators let through is read.
    Legacy,
}

/// How to read one artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading<'a> {
    pub strictness: Strictness,
    /// The task or item the artifact must belong to; `None` accepts any.
    pub expected_task_id: Option<&'a str>,
    pub limits: Limits,
}

impl<'a> Reading<'a> {
    /// An agent's answer about this task.
    pub fn from_agent(task_id: &'a str) -> Self {
        Self { expected_task_id: Some(task_id), ..Self::default() }
    }

    /// A stored file, whoever wrote it.
    pub fn legacy() -> Self {
        Self { strictness: Strictness::Legacy, ..Self::default() }
    }
}

/// What a JSON file of a loop adds to the common reading; see [`artifact!`] for its public face.
pub(crate) trait Format: Sized {
    const NAME: &'static str;

    fn schema() -> &'static Schema;

    /// Reports faults to the fields; `None` where a value is missing that has no stand-in.
    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self>;
}

/// Gives a file format its public functions, the same for every artifact.
macro_rules! artifact {
    ($name:ident) => {
        impl $name {
            /// Name of the file in its directory.
            pub const FILE_NAME: &'static str = <Self as $crate::artifact::Format>::NAME;

            /// The published JSON Schema of the file.
            pub fn schema_text() -> &'static str {
                <Self as $crate::artifact::Format>::schema().text
            }

            /// Reads untrusted bytes, or says everything that is wrong with them.
            pub fn parse(
                bytes: &[u8],
                reading: &$crate::artifact::Reading<'_>,
            ) -> Result<Self, $crate::fault::ArtifactFaults> {
                $crate::artifact::parse(bytes, reading)
            }

            /// The file's text: two-space indent, all keys in fixed order, unknown ones after them as they
            /// were, a newline at the end.
            pub fn render(&self) -> String {
                $crate::render::pretty(self)
            }
        }
    };
}
pub(crate) use artifact;

pub(crate) fn parse<A: Format>(bytes: &[u8], reading: &Reading<'_>) -> Result<A, ArtifactFaults> {
    let (document, mut faults) = document::read(bytes, reading.limits);
    let mut artifact = None;
    if let Some(document) = document {
        let (typed, found) = read_typed::<A>(&document, reading);
        artifact = typed;
        faults.extend(found);
        faults.extend(A::schema().faults(&document.to_value()));
    }
    ArtifactFaults::collect(A::NAME, faults, reading.limits.max_faults)?;
    artifact.ok_or_else(|| {
        let message = "the file could not be read although nothing wrong was found in it";
        ArtifactFaults::one(A::NAME, ArtifactFault::new(FaultKind::SchemaViolation, "", message))
    })
}

/// The typed reader alone, without the schema's opinion.
pub(crate) fn read_typed<A: Format>(
    document: &Document<'_>,
    reading: &Reading<'_>,
) -> (Option<A>, Vec<ArtifactFault>) {
    let sink: FaultSink = RefCell::new(Vec::new());
    let artifact = {
        let mut fields = Fields::new(document.entries(), String::new(), &sink);
        A::from_fields(&mut fields, reading)
    };
    (artifact, sink.into_inner())
}

/// The id of what the artifact is about, trimmed, held against the one it must belong to.
pub(crate) fn belonging_id(fields: &mut Fields<'_, '_>, key: &'static str, reading: &Reading<'_>) -> String {
    let Some(field) = fields.optional(key) else {
        fields.report(ArtifactFault::missing_key(fields.place_of(key)));
        return String::new();
    };
    let Some(found) = field.text() else {
        return String::new();
    };
    let found = found.trim().to_owned();
    if let Some(expected) = reading.expected_task_id
        && expected.trim() != found
    {
        let message = format!("must be {}; found {}", excerpt(expected), excerpt(&found));
        field.report(ArtifactFault::new(FaultKind::WrongTaskId, field.path.clone(), message));
    }
    found
}
