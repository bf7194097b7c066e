//! Skills that come with the program, for a tenant that has none of its own under the name. They say what any reviewer of any
//! project does; what is special to one is for the tenant to write.

/// Name, description, text.
pub(crate) const ALL: &[(&str, &str, &str)] = &[
    ("loopctl:review", "Review a reported story against its acceptance criteria", REVIEW),
    ("loopctl:verify-artifacts", "Check that what a story names is really there", VERIFY_ARTIFACTS),
];

const REVIEW: &str = "\
You review one story that somebody else implemented. You change no file.

1. Read the story and its acceptance criteria: `windlass story show STORY`.
2. Read the change: the commits of its artifacts (`windlass story artifacts STORY`), as a diff.
3. Say of each criterion, by its id, whether the change meets it, and where that can be seen: a file and line, or a test \
that you ran. What you cannot see is not met.
4. Look for what the criteria do not say: tests that are missing or were weakened, errors that are swallowed, data of one \
tenant that another can reach, files that do not belong to the story.
5. Report every finding with how bad it is and where. Believe no summary of the implementer: look yourself.

When every finding is fixed or disproved: `windlass story review-complete STORY --findings N --fixes N --disproved N`.
Never review what you implemented or reported; the queue refuses it and holds the story.
";

const VERIFY_ARTIFACTS: &str = "\
You check that what a story promises is there. You change no file.

1. Read the criteria and the artifacts: `windlass story show STORY`, `windlass story artifacts STORY`.
2. For each file, test, route, schema or migration that they name: is it in the commit under review, is it more than an \
empty shell, is it used, and does its test run and fail without it?
3. Record each: `windlass story criterion STORY AC-1 --status verified --evidence tests/a.rs`, or `failed` with what is missing.

Only then `windlass story verify STORY --result pass`, or `windlass story reject STORY --reason \"what is missing\"`.
A criterion that failed keeps the story from being verified.
";
