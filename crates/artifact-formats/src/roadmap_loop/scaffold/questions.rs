//! What a person is asked before a roadmap is written, one question at a time, the recommended answer first. The keys are
//! those of the answers file.

/// One question whose answer is text, or a list where `many` says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    pub key: &'static str,
    /// As the ledger calls it.
    pub name: &'static str,
    pub words: &'static str,
    /// The first is recommended and holds where nobody answers; none where only the person can know.
    pub suggestions: &'static [Suggestion],
    pub many: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suggestion {
    pub label: &'static str,
    /// What is written down.
    pub text: &'static str,
    pub trade_off: &'static str,
}

const fn suggestion(label: &'static str, text: &'static str, trade_off: &'static str) -> Suggestion {
    Suggestion { label, text, trade_off }
}

const fn open(key: &'static str, name: &'static str, words: &'static str, many: bool) -> Question {
    Question { key, name, words, suggestions: &[], many }
}

/// The posture that goes with more than one round at once.
pub(super) const BESIDE_EACH_OTHER: &str =
    "Rounds of different lanes may work at the same time where their directions say so.";

const fn posture(
    key: &'static str,
    name: &'static str,
    words: &'static str,
    suggestions: &'static [Suggestion],
) -> Question {
    Question { key, name, words, suggestions, many: false }
}

pub const QUESTIONS: &[Question] = &[
    open("title", "Title", "What is this roadmap called, in a few words?", false),
    open("outcome", "Outcome", "What is true when it is finished?", false),
    open("non-goals", "Non-goals", "What is not part of it?", true),
    posture(
        "architecture-posture",
        "Architecture posture",
        "How far may the structure of the code change?",
        &[
            suggestion(
                "Grow from what is there",
                "Keep the present structure; change it only where a milestone needs it.",
                "least risk, and old limits stay",
            ),
            suggestion(
                "Reshape on the way",
                "Reshape a part whenever a milestone works on it.",
                "better structure, larger changes",
            ),
            suggestion(
                "Rebuild beside",
                "Build the new structure beside the old one and switch over at the end.",
                "freedom, and two of everything for a while",
            ),
        ],
    ),
    open("compatibility-promises", "Compatibility promises", "What must keep working for others?", true),
    posture(
        "verification-standard",
        "Verification standard",
        "What proves a round?",
        &[
            suggestion(
                "Tests for every change",
                "Every round leaves all checks green and adds the tests that would have failed before.",
                "slower rounds, few surprises",
            ),
            suggestion(
                "Checks only",
                "Every round leaves all checks green; new tests where the plan asks for them.",
                "faster, and gaps show later",
            ),
        ],
    ),
    posture(
        "sequencing-strategy",
        "Sequencing strategy",
        "In which order?",
        &[
            suggestion(
                "Thin slice first",
                "Thesis: something that works end to end teaches most. First the thinnest slice through everything, then breadth.",
                "shows early whether it holds, rough at first",
            ),
            suggestion(
                "Hardest first",
                "Thesis: what may fail should fail early. First the milestone with the most unknowns, then the rest.",
                "risk goes down soon, little to show at first",
            ),
            suggestion(
                "Foundations first",
                "Thesis: later work is cheap on good ground. First what everything else stands on, then the parts.",
                "calm later, and the proof comes late",
            ),
        ],
    ),
    posture(
        "concurrency-posture",
        "Concurrency posture",
        "May rounds work at the same time?",
        &[
            suggestion(
                "One at a time",
                "One round at a time.",
                "simple; nothing has to be merged with anything",
            ),
            suggestion(
                "Where lanes differ",
                BESIDE_EACH_OTHER,
                "faster, and a round may be sent back when the base moved",
            ),
        ],
    ),
    posture(
        "risk-posture",
        "Risk posture",
        "What happens in doubt?",
        &[
            suggestion(
                "Stop and ask",
                "In doubt a round is rejected or asks for an update of the roadmap.",
                "slower, no bad merges",
            ),
            suggestion(
                "Go on and note it",
                "In doubt a round goes on and notes the doubt for the next one.",
                "faster, and doubts pile up",
            ),
        ],
    ),
    open("deferred-alternatives", "Deferred alternatives", "What was considered and put off?", true),
    open("baseline-checks", "Baseline checks", "Which commands must pass after every round?", true),
];

/// An answers file with everything in it.
pub const EXAMPLE: &str = include_str!("texts/answers.toml");
