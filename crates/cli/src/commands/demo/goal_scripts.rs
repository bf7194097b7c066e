//! The repository of `windlass demo goal` and its agents, as text. The format of the scripts is described in
//! docs/scripted-agent.md.

pub(super) const FEATURES_FILE: &str = "docs/FEATURES.json";

/// Files of the repository, and which of them are the loop's.
pub(super) const FILES: [(&str, &str); 4] = [
    (
        "test.sh",
        r#"# Runs every test under tests/, one line for each.
failed=0
number=0
for file in tests/*.sh; do
  number=$((number + 1))
  name=$(basename "$file" .sh)
  if sh "$file"; then echo "ok $number - $name"; else echo "not ok $number - $name"; failed=1; fi
done
echo "1..$number"
exit $failed
"#,
    ),
    ("tests/base.sh", "test -f test.sh\n"),
    (FEATURES_FILE, QUEUE),
    ("docs/LOOP.md", CONTRACT),
];

const QUEUE: &str = r#"{
  "features": [
    {
      "id": "F001",
      "name": "Slugs",
      "priority": 1,
      "status": "not-started",
      "description": "slug.sh prints the slug of a title",
      "acceptance_criteria": ["'Two Words' becomes two-words", "a test says so"],
      "contract": { "deliverable": "slug.sh", "verification": "sh test.sh" },
      "dependencies": [],
      "affected_files": ["slug.sh"]
    },
    {
      "id": "F002",
      "name": "Links",
      "priority": 2,
      "status": "not-started",
      "description": "link.sh prints a link to a title's page",
      "acceptance_criteria": ["'Two Words' becomes /pages/two-words", "a test says so"],
      "contract": { "deliverable": "link.sh", "verification": "sh test.sh" },
      "dependencies": ["F001"],
      "affected_files": ["link.sh"]
    },
    {
      "id": "F003",
      "name": "Fast links",
      "priority": 3,
      "status": "not-started",
      "description": "link.sh is fast",
      "acceptance_criteria": ["a thousand links are made quickly"],
      "contract": { "deliverable": "link.sh", "verification": "a measurement" },
      "dependencies": ["F002"],
      "affected_files": ["link.sh", "fast.sh"]
    }
  ]
}
"#;

const CONTRACT: &str = r#"# Loop Contract

## Goal (verifiable end state)
Every item is `complete`, the full test suite is green, and the evaluator passed each item.

## Scope (in-scope feature IDs)
- Include: [F001–F003]

## Autonomy Level
L2 (assisted)

## Verification (what can say "no")
- A separate evaluator grades each item (PASS/FAIL)
- The full test suite is green, run by the engine
- Test command: `sh test.sh`
- It should feel fast

## Escalation (stop and hand back when…)
- An item fails twice for the same root cause
- The loop is in doubt

## Triage Inbox
(empty)
"#;

/// The first run: one item, at L1.
pub(super) fn first() -> String {
    let built = builder(
        1,
        &[
            ("slug.sh", "printf '%s\\n' \"$1\" | tr 'A-Z ' 'a-z-'\n"),
            ("tests/slug.sh", "[ \"$(sh slug.sh 'Two Words')\" = two-words ]\n"),
        ],
        "Slugs in small letters with dashes",
    );
    format!("{built}{}", evaluator(1, "F001", &Grade::Pass))
}

/// The second run: one item fails once, the other twice for one cause.
pub(super) fn second() -> String {
    let link = "printf '/pages/%s\\n' \"$(sh slug.sh \"$1\")\"\n";
    let wrong = builder(1, &[("link.sh", link)], "Links to pages");
    let test = "[ \"$(sh link.sh 'Two Words')\" = /pages/two-words ]\n";
    let right = builder(2, &[("tests/link.sh", test)], "Links to pages, with a test");
    let no_test = Grade::Fail { category: "tests", location: "tests/link.sh", text: "no test reads a link" };
    let untestable = Grade::Fail {
        category: "criterion",
        location: "docs/FEATURES.json:F003",
        text: "nothing says what quickly means",
    };
    let in_other_words = Grade::Fail {
        category: "criterion",
        location: "docs/FEATURES.json:F003",
        text: "how fast is fast enough is still open",
    };
    [
        wrong,
        evaluator(1, "F002", &no_test),
        right,
        evaluator(2, "F002", &Grade::Pass),
        builder(3, &[("fast.sh", "# Nothing is cached yet.\n")], "A place for a cache"),
        evaluator(3, "F003", &untestable),
        builder(4, &[("fast.sh", "# Nothing is cached, but it is quick.\n")], "A faster place"),
        evaluator(4, "F003", &in_other_words),
    ]
    .concat()
}

enum Grade {
    Pass,
    Fail { category: &'static str, location: &'static str, text: &'static str },
}

fn builder(round: u32, files: &[(&str, &str)], built: &str) -> String {
    let write = |(path, text): &(&str, &str)| format!("  {{ write = \"{path}\", text = '''\n{text}''' }},\n");
    let actions: String = files.iter().map(write).collect();
    format!(
        "[[step]]\nrole = \"builder\"\nround = {round}\ndo = [\n{actions}  {{ artifact = \"report.md\", text = '''\n\
         ## Built\n\n{built}\n\n## Files\n\n- see the diff\n\n## Tests\n\nthe engine runs them\n\n## Issues\n\nnone\n''' }},\n]\n\n"
    )
}

fn evaluator(round: u32, item: &str, grade: &Grade) -> String {
    let score = |score: u32| serde_json::json!({ "score": score, "reason": "as the criteria say" });
    let (verdict, lowest, category, location, text) = match grade {
        Grade::Pass => ("PASS", 5, "none", "", ""),
        Grade::Fail { category, location, text } => ("FAIL", 2, *category, *location, *text),
    };
    let answer = serde_json::json!({
        "item_id": item,
        "scores": {
            "completeness": score(lowest),
            "correctness": score(4),
            "code_quality": score(4),
            "test_coverage": score(4),
            "architecture_fit": score(4),
        },
        "verdict": verdict,
        "cause": { "category": category, "location": location, "text": text },
        "issues": [],
        "fix": "",
    });
    format!(
        "[[step]]\nrole = \"evaluator\"\nround = {round}\ndo = [{{ artifact = \"evaluation.json\", text = '''\n{answer}\n''' }}]\n\n"
    )
}
