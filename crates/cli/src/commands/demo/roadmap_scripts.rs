//! The repository of `windlass demo roadmap`, the answers its control plane is made of, and its agents, as text. The format of
//! the scripts is described in docs/scripted-agent.md.

use std::fmt::Write as _;

pub(super) const FILES: [(&str, &str); 1] =
    [("README.md", "# Pages\n\nTurns titles into addresses of pages.\n")];

/// One milestone first, then two that may be worked on side by side.
pub(super) const ANSWERS: &str = r#"
title = "Pages"
outcome = "A title becomes the address of a page"
non-goals = ["A web server"]
concurrency-posture = "Rounds of different lanes may work at the same time where their directions say so."
max-parallel-rounds = 2

[[milestones]]
id = "slugs"
title = "Titles become slugs"
completion-signal = "slug.sh turns 'Two Words' into two-words."
directions = [{ id = "slugs-a", summary = "A script that prints the slug of a title" }]

[[milestones]]
id = "links"
title = "Slugs become links"
depends-on = ["slugs"]
lane = "links"
directions = [{ id = "links-a", summary = "A script that prints the link to a page", parallel-hints = "lane-safe-only" }]

[[milestones]]
id = "headings"
title = "Pages get headings"
completion-signal = "Every page has a heading."
depends-on = ["slugs"]
lane = "headings"
directions = [{ id = "headings-a", summary = "A script that prints the heading of a page", parallel-hints = "lane-safe-only" }]
"#;

/// The roadmap as it was set up.
pub(super) struct Roadmap<'a> {
    pub(super) id: &'a str,
    /// Of its first revision.
    pub(super) dir: &'a str,
}

/// One round: its number, milestone, revision, and whether it merges after the links.
struct Round<'a> {
    roadmap: &'a Roadmap<'a>,
    number: u32,
    milestone: &'static str,
    revision: &'static str,
    after: &'static str,
}

enum Said {
    Done,
    Semantic(&'static str),
    Rejected(&'static str),
}

const WRONG_SLUG: &str = "printf '%s\\n' \"$1\" | tr ' ' '-'\n";
const RIGHT_SLUG: &str = "printf '%s\\n' \"$1\" | tr 'A-Z ' 'a-z-'\n";
const LINK: &str = "printf '/pages/%s\\n' \"$(sh slug.sh \"$1\")\"\n";
const HEADING: &str = "printf '# %s\\n' \"$1\"\n";
const HEADING_AND_LINK: &str = "printf '# [%s](%s)\\n' \"$1\" \"$(sh link.sh \"$1\")\"\n";

/// Everything the agents do.
pub(super) fn script(roadmap: &Roadmap<'_>) -> String {
    let round = |number, milestone, revision, after| Round { roadmap, number, milestone, revision, after };
    let slugs = round(1, "slugs", "rev-001", "none");
    let links = round(2, "links", "rev-001", "none");
    let headings = round(3, "headings", "rev-001", "links-item-2");
    let again = round(4, "headings", "rev-002", "none");
    let steps = [
        slugs.plans(),
        slugs.implements(Some(1), ("slug.sh", WRONG_SLUG)),
        slugs.reviews(Some(1), &Said::Rejected("Capital letters stay capital; print small ones.")),
        slugs.implements(Some(2), ("slug.sh", RIGHT_SLUG)),
        slugs.reviews(Some(2), &Said::Done),
        links.plans(),
        links.implements(None, ("link.sh", LINK)),
        links.reviews(None, &Said::Done),
        headings.plans(),
        headings.implements(None, ("heading.sh", HEADING)),
        headings.reviews(None, &Said::Semantic("a heading has to be a link now that there are links")),
        headings.revises(),
        again.plans(),
        again.implements(None, ("heading.sh", HEADING_AND_LINK)),
        again.reviews(None, &Said::Done),
    ];
    steps.concat()
}

impl Round<'_> {
    fn id(&self) -> String {
        format!("round-{:03}", self.number)
    }

    fn file(&self, name: &str) -> String {
        format!("orchestrator/rounds/{}/{name}", self.id())
    }

    fn dir(&self, revision: &str) -> String {
        self.roadmap.dir.replace("rev-001", revision)
    }

    fn step(&self, role: &str, label: &str, attempt: Option<u32>, actions: &[String]) -> String {
        let attempt = attempt.map(|attempt| format!("attempt = {attempt}\n")).unwrap_or_default();
        let actions = actions.iter().map(|action| format!("  {action},\n")).collect::<Vec<_>>().concat();
        format!(
            "[[step]]\nrole = \"{role}\"\nlabel = \"{label}\"\nround = {}\n{attempt}do = [\n{actions}]\n\n",
            self.number
        )
    }

    fn plans(&self) -> String {
        let Self { milestone, number, after, revision, .. } = self;
        let plan = format!(
            "### Selected Extraction\n- Milestone: {milestone}\n- Milestone id: {milestone}\n- Direction id: {milestone}-a\n\
             - Extracted item id: {milestone}-item-{number}\n- Roadmap id: {id}\n- Roadmap revision: {revision}\n\
             - Roadmap dir: {dir}\n\n### Goal\nReach {milestone}.\n\n### Approach\nOne small script.\n\n### Steps\n\
             1. Write the script.\n\n### Verification\nRun it with a title of two words.\n\n### Execution Profile\n\
             - Complexity: standard\n- Verification profile: focused\n- Reason: others build on it\n\n### Scheduler\n\
             - Depends on round ids: none\n- Merge after item ids: {after}\n- Parallel group: none\n\n### Worker Fan-Out\n\
             - Worker mode: none\n- Workers: none\n- Integration: none\n",
            id = self.roadmap.id,
            dir = self.dir(revision),
        );
        self.step("planner", "plan", None, &[write(&self.file("plan.md"), &plan)])
    }

    fn implements(&self, attempt: Option<u32>, (path, text): (&str, &str)) -> String {
        let notes = format!(
            "### Changes Made\n- {path}: as planned\n\n### Tests\n- by hand: a title of two words\n\n### Notes\n- none\n"
        );
        let actions = [write(path, text), write(&self.file("implementation-notes.md"), &notes)];
        self.step("implementer", "implement", attempt, &actions)
    }

    fn reviews(&self, attempt: Option<u32>, said: &Said) -> String {
        let (milestone, id) = (self.milestone, self.id());
        let mut closeout = ["none", "none", "none", "none", "none"].map(str::to_owned);
        let mut retry = ("none", "none".to_owned());
        let decision = match said {
            Said::Done => {
                closeout = [
                    "status-only".to_owned(),
                    format!("`{milestone}`: pending -> done"),
                    format!("`{milestone}`: {id} made it, tried by hand"),
                    format!("{id} reached {milestone}"),
                    "none".to_owned(),
                ];
                "**APPROVED**".to_owned()
            }
            Said::Semantic(reason) => {
                "semantic-update-required".clone_into(&mut closeout[0]);
                (*reason).clone_into(&mut closeout[4]);
                "**APPROVED**".to_owned()
            }
            Said::Rejected(change) => {
                retry = ("implement", format!("\n  - {change}"));
                format!("**REJECTED: {change}**")
            }
        };
        let blocking = if matches!(said, Said::Rejected(_)) { "yes" } else { "no" };
        let mut review = format!(
            "### Checks Run\n- Command: `sh slug.sh 'Two Words'`\n- Result: looked at\n\n### Plan Compliance\n- Step 1: met\n\n\
             ### Findings\n- Blocking: {blocking}\n\n### Decision\n{decision}\n\n### Evidence\nThe output of the script.\n\n\
             ### Retry\n- Retry target: {}\n- Required changes: {}\n\n### Roadmap Closeout\n",
            retry.0, retry.1
        );
        let labels =
            ["Mode", "Status changes", "Completion pointers", "History entries", "Semantic update reason"];
        for (label, value) in labels.iter().zip(closeout) {
            // Writing to a string cannot fail.
            let _ = writeln!(review, "- {label}: {value}");
        }
        // A reviewer that is asked again says something of its own time: a file as it was is nobody's answer.
        let path = self.file("review.md");
        let dated = shell(&format!("sed -i 's/of the script\\./of the script, look {{attempt}}./' {path}"));
        self.step("reviewer", "review", attempt, &[write(&path, &review), dated])
    }

    /// The author copies the revision in force and changes one sentence; the reviewer agrees.
    fn revises(&self) -> String {
        let (old, new, id) = (self.dir("rev-001"), self.dir("rev-002"), self.id());
        let copy = format!(
            "mkdir -p {new} && cp {old}/verification.md {new}/ && sed 's/Every page has a heading\\./Every heading links to \
             its page./' {old}/roadmap.md > {new}/roadmap.md"
        );
        let update = format!(
            "### Source Round\n- Round id: {id}\n- Trigger: merged-round\n- Merged commit: MERGED\n- Evidence: its review\n\n\
             ### Roadmap Change\n- Roadmap id: {}\n- Prior revision: rev-001\n- Proposed revision: rev-002\n- Files changed:\n  \
             - {new}/roadmap.md\n  - {new}/verification.md\n\n### Rationale\nThere are links now, so a heading can be one.\n\n\
             ### State Activation\n- Requires state metadata update: yes\n- New roadmap_dir: {new}\n",
            self.roadmap.id
        );
        let document = format!("orchestrator/roadmap-updates/{id}-roadmap-update.md");
        let name_commit = format!(
            "sed \"s/MERGED/$(git rev-parse HEAD)/\" {document} > {document}.new && mv {document}.new {document}"
        );
        let authored = [shell(&copy), write(&document, &update), shell(&name_commit)];
        let review = "### Checks Run\n- Command: `diff`\n- Result: one sentence\n\n### Roadmap Compliance\n- Ids, states and \
                      pointers are carried over.\n\n### Decision\nAPPROVED\n";
        let reviewed =
            [write(&format!("orchestrator/roadmap-updates/{id}-roadmap-update-review.md"), review)];
        self.step("planner", "author-update", None, &authored)
            + &self.step("reviewer", "review-update", None, &reviewed)
    }
}

fn write(path: &str, text: &str) -> String {
    format!("{{ write = \"{path}\", text = '''\n{text}''' }}")
}

fn shell(line: &str) -> String {
    format!("{{ run = [\"sh\", \"-c\", '''{line}'''] }}")
}
