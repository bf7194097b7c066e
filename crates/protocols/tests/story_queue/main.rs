//! Every decision of the story queue, by section of the original's description. A defect of the original is a test here,
//! named after what must not happen.

mod custody;
mod dependencies;
mod importing;
mod knowledge;
mod lifecycle;
mod notes;
mod properties;
mod scene;
mod skills;
mod tenancy;
mod tokens;
mod ui_tests;
mod usage;
mod webhooks;
mod world;
