//! The story queue's files: planning directories, exports, reviews.

mod exports;
mod planning;
mod reviews;
