//! Every decision of the story queue, by section of the original's description. A defect of the original is a test here,
//! named after what must not happen.

mod criteria;
mod custody;
mod custody_again;
mod dependencies;
mod hands;
mod importing;
mod invariants;
mod knowledge;
mod lifecycle;
mod notes;
mod persons;
mod properties;
mod scene;
mod skills;
mod standing_still;
mod stored_entries;
mod tenancy;
mod tokens;
mod ui_tests;
mod usage;
mod verifiers;
mod webhooks;
mod world;
