//! What a change did to the things it is measured by, and who let it. Loops share the words and the rule that a finding
//! nobody waived by its name is no acceptance; how findings are made is the host's.

use crate::observation::Rejection;
use crate::outcome::{CapturedChange, CheckResult, Usage};
use crate::vocabulary::{ArtifactRef, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How closely a run looks at changes of what measures it. Fixed at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRules {
    pub integrity: Integrity,
    #[serde(default)]
    pub on_findings: OnFindings,
    /// Patterns of paths that are protected beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// Patterns of paths that are not, whatever else says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprotected: Vec<String>,
}

impl GateRules {
    /// What is stored of a run that was begun before there were such rules: nothing.
    pub fn is_unset(&self) -> bool {
        *self == Self::default()
    }

    /// Nobody looks. Runs begun before there were such rules go on like that.
    pub fn is_off(&self) -> bool {
        self.integrity == Integrity::Off
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrity {
    #[default]
    Off,
    /// Findings, and the checks with protected files as they were at the base.
    Findings,
    /// The same, and new tests on the code of the base.
    Full,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFindings {
    /// What the checker did not waive is a rejection.
    #[default]
    Reject,
    /// A person is asked instead.
    Ask,
}

/// A protected path that a change touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedPath {
    pub path: String,
    pub kind: PathKind,
    pub how: Touch,
}

impl TouchedPath {
    /// What was there before is still there; the new file runs beside it all the same.
    pub fn only_adds_a_test(&self) -> bool {
        self.kind == PathKind::Test && self.how == Touch::Added
    }

    pub fn words(&self) -> String {
        match &self.how {
            Touch::Added => format!("added {} ({})", self.path, self.kind.words()),
            Touch::Modified => format!("modified {} ({})", self.path, self.kind.words()),
            Touch::Deleted => format!("deleted {} ({})", self.path, self.kind.words()),
            Touch::Renamed { from } => format!("renamed {from} to {} ({})", self.path, self.kind.words()),
        }
    }
}

/// Why a path is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathKind {
    Test,
    /// What a check command runs.
    Check,
    /// The pipeline of the repository's host.
    Ci,
    /// How tests, linters and compilers behave.
    Configuration,
    /// Dependencies and targets: edited by ordinary work too.
    Manifest,
    Lock,
    /// A pattern of the settings.
    Named,
}

impl PathKind {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Check => "check",
            Self::Ci => "CI",
            Self::Configuration => "configuration",
            Self::Manifest => "build manifest",
            Self::Lock => "lock file",
            Self::Named => "protected by a setting",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Touch {
    Added,
    Modified,
    Deleted,
    Renamed { from: String },
}

/// Something that may have made a check pass without the work being done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateFinding {
    pub kind: FindingName,
    /// Paths, commands, figures: whatever the name is about.
    pub about: Vec<String>,
}

/// The name under which a finding is waived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingName {
    PassesOnlyWithItsOwnTests,
    FewerTests,
    TestDeleted,
    TestSkipped,
    WeakenedAssertions,
    CheckChanged,
    CheckReplacedOnPath,
    CiChanged,
    ConfigurationChanged,
    LockChanged,
}

impl FindingName {
    pub const ALL: [Self; 10] = [
        Self::PassesOnlyWithItsOwnTests,
        Self::FewerTests,
        Self::TestDeleted,
        Self::TestSkipped,
        Self::WeakenedAssertions,
        Self::CheckChanged,
        Self::CheckReplacedOnPath,
        Self::CiChanged,
        Self::ConfigurationChanged,
        Self::LockChanged,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::PassesOnlyWithItsOwnTests => "passes-only-with-its-own-tests",
            Self::FewerTests => "fewer-tests",
            Self::TestDeleted => "test-deleted",
            Self::TestSkipped => "test-skipped",
            Self::WeakenedAssertions => "weakened-assertions",
            Self::CheckChanged => "check-changed",
            Self::CheckReplacedOnPath => "check-replaced-on-path",
            Self::CiChanged => "ci-changed",
            Self::ConfigurationChanged => "configuration-changed",
            Self::LockChanged => "lock-changed",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|finding| finding.name() == name)
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::PassesOnlyWithItsOwnTests => {
                "a check passes only with the maker's version of the tests and the configuration"
            }
            Self::FewerTests => "fewer tests ran than at the base",
            Self::TestDeleted => "tests were deleted",
            Self::TestSkipped => "tests were marked to be skipped",
            Self::WeakenedAssertions => "existing tests lost assertions",
            Self::CheckChanged => "what a check command runs was changed",
            Self::CheckReplacedOnPath => "a program that a check runs was replaced on the search path",
            Self::CiChanged => "the CI configuration was changed",
            Self::ConfigurationChanged => "the configuration of tests, linters or the compiler was changed",
            Self::LockChanged => "a lock file was changed",
        }
    }
}

impl GateFinding {
    pub fn words(&self) -> String {
        let (name, words) = (self.kind.name(), self.kind.words());
        if self.about.is_empty() {
            return format!("{name}: {words}");
        }
        format!("{name}: {words}: {}", self.about.join("; "))
    }
}

/// A checker's or a person's word that one finding is as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    pub finding: FindingName,
    pub reason: String,
}

/// What a closer look at the gate came back with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    pub tree: TreeId,
    /// The commands that ran with the protected files of the base. Older records do not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran_with_base: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<GateFinding>,
    /// What new tests say of the code of the base. Evidence, never a rejection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_tests: Vec<NewTests>,
    pub evidence: Vec<ArtifactRef>,
    pub usage: Usage,
    /// Commands that are red on the tree as it is, where nobody had looked before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red: Vec<String>,
}

/// One check, run with the new and changed tests on the code of the base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTests {
    pub command: String,
    pub say: NewTestsSay,
}

impl NewTests {
    pub fn words(&self) -> String {
        format!("`{}`: {}", self.command, self.say.words())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewTestsSay {
    WouldHaveFailedBefore,
    PassesWithoutTheChange,
    /// The check was red at the base without them already.
    RedAtTheBaseAnyway,
}

impl NewTestsSay {
    pub const fn words(self) -> &'static str {
        match self {
            Self::WouldHaveFailedBefore => "would have failed before",
            Self::PassesWithoutTheChange => "passes without the change",
            Self::RedAtTheBaseAnyway => "says nothing: the check is red at the base anyway",
        }
    }
}

/// What is known of the gate of one change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    pub findings: Vec<GateFinding>,
    pub new_tests: Vec<NewTests>,
    /// Whether the checks ran with the protected files of the base.
    pub inspected: bool,
    pub evidence: Vec<ArtifactRef>,
    pub waivers: Vec<Waiver>,
}

impl Gate {
    pub(crate) fn of(change: &CapturedChange) -> Self {
        Self { findings: change.gate.clone(), ..Self::default() }
    }

    pub(crate) fn add(&mut self, findings: &[GateFinding]) {
        for finding in findings {
            match self.findings.iter_mut().find(|known| known.kind == finding.kind) {
                Some(known) => {
                    let new = finding.about.iter().filter(|about| !known.about.contains(about));
                    let new: Vec<String> = new.cloned().collect();
                    known.about.extend(new);
                }
                None => self.findings.push(finding.clone()),
            }
        }
    }

    pub(crate) fn take(&mut self, report: &GateReport) {
        self.add(&report.findings);
        self.new_tests.clone_from(&report.new_tests);
        self.evidence.extend(report.evidence.iter().cloned());
        self.inspected = true;
    }

    /// Findings that nobody waived by their name.
    pub fn unwaived(&self) -> Vec<&GateFinding> {
        let waived = |finding: &&GateFinding| {
            !self
                .waivers
                .iter()
                .any(|waiver| waiver.finding == finding.kind && !waiver.reason.trim().is_empty())
        };
        self.findings.iter().filter(waived).collect()
    }

    /// Who let what be and why, and what new tests say of the base.
    pub(crate) fn story(&self) -> Vec<String> {
        self.waived().into_iter().chain(self.new_tests.iter().map(NewTests::words)).collect()
    }

    pub(crate) fn waived(&self) -> Vec<String> {
        let waived = |finding: &GateFinding| {
            let waiver = self.waivers.iter().find(|waiver| waiver.finding == finding.kind)?;
            Some(format!("waived {}: {}", finding.words(), waiver.reason))
        };
        self.findings.iter().filter_map(waived).collect()
    }

    /// A person may waive what is open now, and never without a reason.
    pub(crate) fn may_waive(&self, waiver: &Waiver) -> Result<(), Rejection> {
        let refuse = |why: String| Err(Rejection::NotAsked { why });
        if waiver.reason.trim().is_empty() {
            return refuse("a waiver needs a reason".to_string());
        }
        let open = self.unwaived();
        if open.iter().any(|finding| finding.kind == waiver.finding) {
            return Ok(());
        }
        let names: Vec<&str> = open.iter().map(|finding| finding.kind.name()).collect();
        refuse(format!("`{}` is not open; open are: {}", waiver.finding.name(), names.join(", ")))
    }

    /// What a maker is told about them.
    pub(crate) fn feedback(&self) -> Vec<String> {
        self.unwaived().into_iter().map(|finding| format!("- [gate] {}", finding.words())).collect()
    }
}

/// Whether the checks have to be run once more for this change, with the base's own protected files. A new test file is code
/// that runs in the same process as the old ones, so it is no exception. A change that leaves them alone costs nothing.
pub fn needs_inspection(rules: &GateRules, touched: &[TouchedPath]) -> bool {
    !rules.is_off() && !touched.is_empty()
}

/// How many tests a command ran, where its output says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCount {
    pub command: String,
    pub ran: u32,
}

/// A command and how many tests it says it ran.
pub type Counted<'a> = (&'a str, Option<u32>);

pub fn counted(results: &[CheckResult]) -> impl Iterator<Item = Counted<'_>> + Clone {
    results.iter().map(|result| (result.command.as_str(), result.tests))
}

impl TestCount {
    pub fn of<'a>(counted: impl Iterator<Item = Counted<'a>>) -> Vec<Self> {
        let count = |(command, ran): Counted<'_>| Some(Self { command: command.to_string(), ran: ran? });
        counted.filter_map(count).collect()
    }
}

/// Fewer than at the base is a finding; so is a command that no longer says how many it ran.
pub fn fewer_tests<'a>(
    at_base: &[TestCount],
    now: impl Iterator<Item = Counted<'a>> + Clone,
) -> Option<GateFinding> {
    let mut about = Vec::new();
    for before in at_base.iter().filter(|before| before.ran > 0) {
        let Some((_, tests)) = now.clone().find(|(command, _)| *command == before.command) else { continue };
        let words = match tests {
            Some(ran) if ran >= before.ran => continue,
            Some(ran) => ran.to_string(),
            None => "none that can be counted".to_string(),
        };
        about.push(format!("`{}` ran {} tests at the base and {words} now", before.command, before.ran));
    }
    (!about.is_empty()).then_some(GateFinding { kind: FindingName::FewerTests, about })
}
