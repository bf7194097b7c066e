//! The controller's steps on real repositories, one at a time.

mod capturing;
mod combining;
mod finalizing;
mod opening;
mod publishing;
mod refusing;
mod setting_aside;
mod texts;
mod world;
