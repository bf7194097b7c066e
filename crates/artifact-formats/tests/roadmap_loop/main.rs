//! The roadmap loop's files held against their specification, through the public interface only.

mod plane;
mod round;
mod scaffold;
