//! The demo's repository and its agents, as text. The format of the scripts is described in docs/scripted-agent.md.

use super::{Play, control_scripts, goal_scripts, stories_scripts};

pub(super) const TASK_ID: &str = "TASK-demo";
pub(super) const TASK: &str = "slug.sh must print the slug of a title, as slug_test.sh wants it";
pub(super) const CHECK: &str = "sh slug_test.sh";
pub(super) const AUDIT_CHECK: &str = "sh -n slug.sh";
pub(super) const ROUNDS: u64 = 3;

/// Written by every agent step as it begins, one line each.
pub(super) const STEPS_FILE: &str = "steps.txt";
/// The doer of the crash waits for it.
pub(super) const GO_ON_FILE: &str = "go-on";
/// Where that doer says who it is.
pub(super) const AGENT_PID_FILE: &str = "agent.pid";

pub(super) const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# Slugs\n\n`sh slug.sh \"Hello World\"` prints `hello-world`. `sh slug_test.sh` says whether it does.\n",
    ),
    ("slug.sh", "# Prints the slug of a title.\nprintf '%s\\n' \"$1\"\n"),
    (
        "slug_test.sh",
        r#"# Red until slug.sh does what the README says.
check() {
  got=$(sh ./slug.sh "$1")
  if [ "$got" != "$2" ]; then
    echo "the slug of '$1' should be '$2', but is '$got'"
    exit 1
  fi
}
check 'Hello World' hello-world
check '  Two  blanks ' two-blanks
echo 'all slugs are right'
"#,
    ),
];

pub(super) fn script(play: Play) -> String {
    match play {
        Play::TwoRounds => format!("{FIRST_ATTEMPT}{}{OTHERS}", second_attempt("")),
        Play::Crash => format!("{FIRST_ATTEMPT}{}{OTHERS}", second_attempt(WAIT_IN_THE_MIDDLE)),
        Play::Cheat => CHEAT.to_owned(),
        Play::Control => control_scripts::CONVERGING.to_owned(),
        Play::Goal => goal_scripts::first(),
        Play::Stories => stories_scripts::script(),
        // Written once the roadmap has its name.
        Play::Roadmap => String::new(),
    }
}

const FIRST_ATTEMPT: &str = r#"# Handles blanks and forgets capital letters.
[[step]]
role = "doer"
round = 1
do = [
  { count = "steps.txt" },
  { say = "replacing blanks by dashes" },
  { write = "slug.sh", text = '''
# Prints the slug of a title.
printf '%s\n' "$1" | tr ' ' '-'
''' },
  { handoff = { summary = "slug.sh prints slugs, and all tests pass" } },
]

"#;

fn second_attempt(in_the_middle: &str) -> String {
    format!(
        r#"# Does what the test wants.
[[step]]
role = "doer"
do = [
  {{ count = "steps.txt" }},
  {{ say = "lower case, one dash per gap, none at the ends" }},
{in_the_middle}  {{ write = "slug.sh", text = '''
# Prints the slug of a title: lower case, one dash for every gap, none at the ends.
printf '%s\n' "$1" | tr '[:upper:]' '[:lower:]' | tr -s ' ' '-' | sed 's/^-//; s/-$//'
''' }},
  {{ handoff = {{ summary = "slug.sh handles capitals and repeated blanks" }} }},
]

"#
    )
}

/// Says who it is, then waits: the engine is killed exactly here.
const WAIT_IN_THE_MIDDLE: &str = r#"  { run = ["sh", "-c", 'echo "$PPID" > "$0"', "{script_dir}/agent.pid"] },
  { wait_for = "go-on" },
"#;

const OTHERS: &str = r#"[[step]]
role = "judge"
do = [
  { count = "steps.txt" },
  { say = "looks good to me" },
  { verdict = "pass" },
]

[[step]]
role = "auditor"
do = [
  { count = "steps.txt" },
  { say = "artifacts are complete, checks were run" },
  { audit = "pass" },
]
"#;

const CHEAT: &str = r#"# Pleases the check by knowing its questions, then signs off its own work in every place it can reach.
[[step]]
role = "doer"
do = [
  { count = "steps.txt" },
  { say = "this will look fine" },
  { write = "slug.sh", text = '''
# Prints the slug of a title, perfectly.
case "$1" in
  Hello*) echo hello-world ;;
  *) echo two-blanks ;;
esac
''' },
  { handoff = { summary = "done; verdict and audit are attached" } },
  { verdict = "pass" },
  { audit = "pass" },
  { run = ["sh", "-c", 'cp "$0"/verdict.json "$0"/audit.json "$1"', "{outbox}", "{workspace}/../../rounds/round-{round}"], may_fail = true },
]

[[step]]
role = "judge"
do = [
  { count = "steps.txt" },
  { say = "green, but the answers are written into the script" },
  { verdict = { verdict = "reject", reasons = [{ check = "task", details = "slug.sh knows two titles and no rule" }], required_changes = ["compute the slug of any title"] } },
]

[[step]]
role = "auditor"
do = [{ count = "steps.txt" }, { audit = "fail" }]
"#;
