//! The status-only closeout (section 12): an approved set of edits applied to the bundle's texts, exactly, or refused.
//! It knows texts before and after; the record of it, the commit and the merge are made elsewhere.

mod admissible;
mod anchored;
mod apply;
mod compare;

pub(super) use anchored::resolve;

use super::bundle::BundleTexts;
use super::problem::Problems;
use super::roadmap::Roadmap;
use crate::roadmap_loop::closeout::Closeout;

/// The texts that changed and what was done, one line per approved edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Paths from the top of the repository with their new texts; files that stay are left out.
    pub files: Vec<(String, String)>,
    pub summary: Vec<String>,
}

/// How much of a closeout stands in the bundle already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// No edit of it; also where there is nothing to edit.
    Absent,
    /// Every edit, as far as words go.
    Present,
    /// Some edits and not others, which are named.
    Partial { missing: Vec<String> },
}

/// Makes every approved edit, or none. Edits that are there already are stale and refused.
pub fn apply_closeout(bundle: &BundleTexts<'_>, closeout: &Closeout) -> Result<Applied, Problems> {
    apply::apply(bundle, closeout)
}

/// Why a closeout of a round about this milestone may not be made, whoever approved it.
pub fn closeout_faults(roadmap: &Roadmap, closeout: &Closeout, own: &str) -> Vec<String> {
    admissible::faults(roadmap, closeout, own)
}

/// Rows 15 and 16 of section 14: whether the edits are there.
pub fn closeout_standing(bundle: &BundleTexts<'_>, closeout: &Closeout) -> Result<Standing, Problems> {
    compare::standing(bundle, closeout)
}

/// Whether the bundle changed by exactly the approved edits, to the byte.
pub fn closeout_matches(
    before: &BundleTexts<'_>,
    after: &BundleTexts<'_>,
    closeout: &Closeout,
) -> Result<(), Problems> {
    compare::matches(before, after, closeout, compare::Measure::Bytes)
}

/// Like [`closeout_matches`] for edits that people or agents made by hand: white space, backticks and wrapping differ in
/// half of the real ones and do not count.
pub fn closeout_matches_in_words(
    before: &BundleTexts<'_>,
    after: &BundleTexts<'_>,
    closeout: &Closeout,
) -> Result<(), Problems> {
    compare::matches(before, after, closeout, compare::Measure::Words)
}
