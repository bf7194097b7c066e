//! The published schemas of this loop, embedded; the files under `docs/schemas/goal-loop/` are the source.
//! It knows their names only.

use crate::schema::{Schema, compile};

pub(crate) static EVALUATION: Schema =
    Schema::new(include_str!("../../../../docs/schemas/goal-loop/evaluation.schema.json"), || {
        compile(EVALUATION.text)
    });
pub(crate) static DESIGN: Schema =
    Schema::new(include_str!("../../../../docs/schemas/goal-loop/design.schema.json"), || {
        compile(DESIGN.text)
    });

/// Every published schema of the goal loop: file name and text.
pub const PUBLISHED_SCHEMAS: &[(&str, &str)] = &[
    ("evaluation.schema.json", include_str!("../../../../docs/schemas/goal-loop/evaluation.schema.json")),
    ("design.schema.json", include_str!("../../../../docs/schemas/goal-loop/design.schema.json")),
];
