//! The published schemas of this loop, embedded; the files under `docs/schemas/roadmap-loop/` are the source.
//! It knows their names only.

use crate::schema::{Schema, compile};

pub(crate) static RECOVERY: Schema =
    Schema::new(include_str!("../../../../../docs/schemas/roadmap-loop/recovery.schema.json"), || {
        compile(RECOVERY.text)
    });

/// Every published schema of the roadmap loop: file name and text.
pub const PUBLISHED_SCHEMAS: &[(&str, &str)] = &[(
    "recovery.schema.json",
    include_str!("../../../../../docs/schemas/roadmap-loop/recovery.schema.json"),
)];
