//! The published schemas of this loop, embedded; the files under `docs/schemas/task-loop/` are the source.
//! It knows their names only.

use crate::schema::{Schema, compile};

macro_rules! schemas {
    ($($constant:ident = $file:literal),+ $(,)?) => {
        $(
            pub(crate) static $constant: Schema = Schema::new(
                include_str!(concat!("../../../../docs/schemas/task-loop/", $file)),
                || compile($constant.text),
            );
        )+

        /// Every published schema of the task loop: file name and text.
        pub const PUBLISHED_SCHEMAS: &[(&str, &str)] =
            &[$(($file, include_str!(concat!("../../../../docs/schemas/task-loop/", $file))),)+];
    };
}

schemas! {
    HANDOFF = "handoff.schema.json",
    VERDICT = "verdict.schema.json",
    AUDIT = "audit.schema.json",
    EVAL_RESULTS = "eval-results.schema.json",
    AUDIT_RESULTS = "audit-results.schema.json",
    SUMMARY = "summary.schema.json",
    RUN_METADATA = "windlass.schema.json",
}
