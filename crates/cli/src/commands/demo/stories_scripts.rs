//! The repository of `windlass demo stories`, its plan, and its agents, as text. The format of the scripts is described in
//! docs/scripted-agent.md; a step's label is the task, which is a story and its attempt.

use serde_json::{Value, json};

pub(super) const PROJECT: &str = "notes";
pub(super) const CHECK: &str = "sh test.sh";
/// The story an agent wants to close itself.
pub(super) const WANTED: &str = "1.1";

pub(super) const FILES: [(&str, &str); 2] = [
    ("README.md", "# Notes\n\nSmall scripts that look at a text. `sh test.sh` runs their tests.\n"),
    (
        "test.sh",
        r#"# Runs every test under tests/; green while there is none.
for file in tests/*.sh; do
  [ -f "$file" ] || continue
  sh "$file" || { echo "$file is red"; exit 1; }
done
echo "all tests are green"
"#,
    ),
];

/// One epic of five stories; the third and the last wait for others.
pub(super) fn plan() -> Value {
    let story = |number: &str, title: &str, file: &str, wanted: &str| {
        json!({
            "number": number,
            "title": title,
            "acceptance_criteria": [
                { "id": "AC-1", "description": wanted, "verification_criterion": { "type": "code", "path": file } },
                {
                    "id": "AC-2",
                    "description": "a test says so",
                    "verification_criterion": { "type": "test", "path": format!("tests/{file}") },
                },
            ],
        })
    };
    let needs = |story: &str, on: &str| json!({ "story": story, "depends_on": on });
    json!({
        "epics": [{
            "number": 1,
            "title": "Looking at a text",
            "stories": [
                story("1.1", "Count words", "words.sh", "words.sh prints how many words a file has"),
                story("1.2", "Count lines", "lines.sh", "lines.sh prints how many lines a file has"),
                story("1.3", "Report", "report.sh", "report.sh prints words and lines of a file"),
                story("1.4", "First line", "first.sh", "first.sh prints the first line of a file"),
                story("1.5", "Overview", "overview.sh", "overview.sh prints the first line and the report"),
            ],
        }],
        "story_dependencies": [needs("1.3", "1.1"), needs("1.3", "1.2"), needs("1.5", "1.3"), needs("1.5", "1.4")],
    })
}

/// The first attempt at the third story has no test of its own, and the reviewer sees it.
pub(super) fn script() -> String {
    let words = ("words.sh", "wc -w < \"$1\" | tr -d ' '\n");
    let lines = ("lines.sh", "wc -l < \"$1\" | tr -d ' '\n");
    let report = ("report.sh", "echo \"$(sh words.sh \"$1\") words, $(sh lines.sh \"$1\") lines\"\n");
    let first = ("first.sh", "head -n 1 \"$1\"\n");
    let overview = ("overview.sh", "sh first.sh \"$1\"\nsh report.sh \"$1\"\n");
    let tested = |name: &str| format!("sh {name} README.md > /dev/null\n");
    let mut script = String::new();
    for (task, (name, text)) in [
        ("US-1.1-1", words),
        ("US-1.2-1", lines),
        ("US-1.4-1", first),
        ("US-1.3-2", report),
        ("US-1.5-1", overview),
    ] {
        let test = (format!("tests/{name}"), tested(name));
        script += &implementer(task, &[(name, text), (&test.0, &test.1)]);
        script += &reviewer(
            task,
            "pass",
            &[("AC-1 verified", "the script does it"), ("AC-2 verified", "the test is there")],
        );
    }
    let (name, text) = report;
    script += &implementer("US-1.3-1", &[(name, text), ("tests/report.sh", "true\n")]);
    let said =
        [("AC-1 verified", "the script does it"), ("AC-2 failed HIGH", "tests/report.sh tests nothing")];
    script += &reviewer("US-1.3-1", "reject", &said);
    script
}

fn implementer(task: &str, files: &[(&str, &str)]) -> String {
    let write = |(path, text): &(&str, &str)| format!("  {{ write = \"{path}\", text = '''\n{text}''' }},\n");
    let actions: String = files.iter().map(write).collect();
    format!(
        "[[step]]\nrole = \"doer\"\nlabel = \"{task}\"\ndo = [\n{actions}  {{ handoff = \"does what the story asks\" }},\n]\n\n"
    )
}

fn reviewer(task: &str, verdict: &str, said: &[(&str, &str)]) -> String {
    let reason =
        |(check, details): &(&str, &str)| format!("{{ check = \"{check}\", details = \"{details}\" }}");
    let reasons: Vec<String> = said.iter().map(reason).collect();
    format!(
        "[[step]]\nrole = \"judge\"\nlabel = \"{task}\"\ndo = [{{ verdict = {{ verdict = \"{verdict}\", reasons = [{}] }} }}]\n\n",
        reasons.join(", ")
    )
}
