//! The story queue's rules, area by area, on the bare core: no journal, no clock, no network.

mod knowledge;
mod scene;
mod skills;
mod ui_tests;
mod usage;
mod webhooks;
