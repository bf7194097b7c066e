//! The two repositories of `windlass demo control` and their agents, as text. The format of the scripts is described in
//! docs/scripted-agent.md.

pub(super) const SLUG_TASK: &str = "slug.sh must print the slug of any title, in short lines";
/// Name and command of each sensor.
pub(super) const SLUG_SENSORS: [(&str, &str); 3] =
    [("syntax", "sh -n slug.sh"), ("test", "sh slug_test.sh"), ("style", "sh style.sh")];

pub(super) const CACHE_TASK: &str = "Find a cache size that is fast enough and fits into memory";
pub(super) const CACHE_SENSORS: [(&str, &str); 3] =
    [("config", "grep -qx 'size=[0-9]*' cache.conf"), ("speed", "sh speed.sh"), ("memory", "sh memory.sh")];

pub(super) const SLUG_FILES: [(&str, &str); 3] = [
    ("slug.sh", "# Prints the slug of a title.\nprintf '%s\\n' \"$1\"\n"),
    (
        "slug_test.sh",
        r#"# Says how many titles have the right slug.
passed=0 failed=0
check() {
  got=$(sh ./slug.sh "$1")
  if [ "$got" = "$2" ]; then passed=$((passed + 1)); return; fi
  failed=$((failed + 1))
  echo "the slug of '$1' should be '$2', but is '$got'"
}
check 'word' word
check 'two words' two-words
check 'Hello World' hello-world
check '  Two  blanks ' two-blanks
echo "test result: $passed passed; $failed failed"
[ "$failed" -eq 0 ]
"#,
    ),
    (
        "style.sh",
        "# No line may be longer than 60 letters.\nlong=$(grep -c '.\\{61\\}' slug.sh)\necho \"Found $long errors\"\n[ \"$long\" -eq 0 ]\n",
    ),
];

pub(super) const CACHE_FILES: [(&str, &str); 3] = [
    ("cache.conf", "size=50\n"),
    (
        "speed.sh",
        "# A cache below 60 makes pages slow.\n. ./cache.conf\nslow=$(( size < 60 ? (60 - size) / 10 : 0 ))\necho \"Found $slow errors: slow pages\"\n[ \"$slow\" -eq 0 ]\n",
    ),
    (
        "memory.sh",
        "# A cache above 40 does not fit.\n. ./cache.conf\nover=$(( size > 40 ? (size - 40) / 10 : 0 ))\necho \"Found $over errors: pages that do not fit\"\n[ \"$over\" -eq 0 ]\n",
    ),
];

pub(super) const CONVERGING: &str = r##"[[step]]
role = "controller"
label = "1"
do = [{ artifact = "controller-output.md", text = '''
---
target-met: false
---
## Gap Analysis
Titles with blanks have no slug yet.
## Action Plan
1. In slug.sh, put a dash in place of every blank.
''' }]

[[step]]
role = "actuator"
label = "1"
do = [
  { write = "slug.sh", text = '''
# Prints the slug of a title.
printf '%s\n' "$1" | tr ' ' '-'
''' },
  { artifact = "actuator-output.md", text = "# Actuator Output\n\n## What Was Done\nBlanks become dashes\n" },
]

[[step]]
role = "controller"
label = "2"
do = [{ artifact = "controller-output.md", text = '''
---
target-met: false
---
## Gap Analysis
Capital letters and repeated blanks are still wrong.
## Action Plan
1. In slug.sh, make every letter small.
''' }]

[[step]]
role = "actuator"
label = "2"
do = [
  { write = "slug.sh", text = '''
# Prints the slug of a title: small letters, and a dash in place of every single blank.
printf '%s\n' "$1" | tr '[:upper:]' '[:lower:]' | tr ' ' '-'
''' },
  { artifact = "actuator-output.md", text = "# Actuator Output\n\n## What Was Done\nLetters are small\n" },
]

# Too early, and against what was measured.
[[step]]
role = "controller"
label = "3"
attempt = 1
do = [{ artifact = "controller-output.md", text = '''
---
target-met: true
---
## Gap Analysis
This looks good to me.
''' }]

[[step]]
role = "controller"
label = "3"
do = [{ artifact = "controller-output.md", text = '''
---
target-met: false
---
## Gap Analysis
Repeated blanks are wrong, and a line is too long.
## Action Plan
1. In slug.sh, make one dash of several and leave none at the ends.
2. Keep every line short.
''' }]

[[step]]
role = "actuator"
do = [
  { write = "slug.sh", text = '''
# Prints the slug of a title.
printf '%s\n' "$1" |
  tr '[:upper:]' '[:lower:]' |
  tr -s ' ' '-' |
  sed 's/^-//; s/-$//'
''' },
  { artifact = "actuator-output.md", text = "# Actuator Output\n\n## What Was Done\nOne dash for every gap, in short lines\n" },
]

[[step]]
role = "controller"
do = [{ artifact = "controller-output.md", text = '''
---
target-met: true
---
## Gap Analysis
All four titles have their slug, and every line is short.
''' }]
"##;

/// Whoever looks at one sensor only pulls the value to and fro.
pub(super) fn oscillating() -> String {
    (1..=9).map(pull).collect::<Vec<_>>().join("\n")
}

fn pull(iteration: u32) -> String {
    let (fault, size) = if iteration % 2 == 1 { ("pages are slow", 80) } else { ("pages do not fit", 20) };
    format!(
        r##"[[step]]
role = "controller"
label = "{iteration}"
do = [{{ artifact = "controller-output.md", text = '''
---
target-met: false
---
## Gap Analysis
Some {fault}.
## Action Plan
1. In cache.conf, set the size to {size}.
''' }}]

[[step]]
role = "actuator"
label = "{iteration}"
do = [
  {{ write = "cache.conf", text = "size={size}\n" }},
  {{ artifact = "actuator-output.md", text = "# Actuator Output\n\n## What Was Done\nThe size is {size}\n" }},
]
"##
    )
}
