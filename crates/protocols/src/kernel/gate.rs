//! What a change did to the things it is measured by, and who let it. Loops share the words and the rule that a finding
//! nobody waived by its name is no acceptance; how findings are made is the host's.

use crate::outcome::{CapturedChange, CheckResult, ChecksReport, Usage};
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
    /// A test that was not there before takes nothing away.
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<GateFinding>,
    /// What new tests say of the code of the base. Evidence, never a rejection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_tests: Vec<NewTests>,
    pub evidence: Vec<ArtifactRef>,
    pub usage: Usage,
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

    /// What a maker is told about them.
    pub(crate) fn feedback(&self) -> Vec<String> {
        self.unwaived().into_iter().map(|finding| format!("- [gate] {}", finding.words())).collect()
    }
}

/// Whether the checks have to be run once more for this change: with the base's own protected files, or with its new tests
/// on the base. A change that leaves them alone costs nothing.
pub(crate) fn needs_inspection(rules: &GateRules, change: &CapturedChange) -> bool {
    match rules.integrity {
        Integrity::Off => false,
        Integrity::Findings => change.protected.iter().any(|touched| !touched.only_adds_a_test()),
        Integrity::Full => !change.protected.is_empty(),
    }
}

/// How many tests a command ran, where its output says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCount {
    pub command: String,
    pub ran: u32,
}

impl TestCount {
    pub(crate) fn of(results: &[CheckResult]) -> Vec<Self> {
        let count = |result: &CheckResult| Some(Self { command: result.command.clone(), ran: result.tests? });
        results.iter().filter_map(count).collect()
    }
}

/// Fewer than at the base is a finding; so is a command that no longer says how many it ran.
pub(crate) fn fewer_tests(at_base: &[TestCount], now: &[CheckResult]) -> Option<GateFinding> {
    let mut about = Vec::new();
    for before in at_base.iter().filter(|before| before.ran > 0) {
        let Some(result) = now.iter().find(|result| result.command == before.command) else { continue };
        let words = match result.tests {
            Some(ran) if ran >= before.ran => continue,
            Some(ran) => ran.to_string(),
            None => "none that can be counted".to_string(),
        };
        about.push(format!("`{}` ran {} tests at the base and {words} now", before.command, before.ran));
    }
    (!about.is_empty()).then_some(GateFinding { kind: FindingName::FewerTests, about })
}

/// What an observer of the facts alone can say about the gate of the change that was captured last. Kept apart from [`Gate`],
/// so that a slip there is seen here.
#[derive(Clone, Debug)]
pub(crate) struct WatchedGate {
    rules: GateRules,
    at_base: Vec<TestCount>,
    found: Vec<FindingName>,
    waived: Vec<FindingName>,
    wants_inspection: bool,
    inspected: Option<TreeId>,
    tree: Option<TreeId>,
}

impl WatchedGate {
    pub(crate) const fn new(rules: GateRules) -> Self {
        Self {
            rules,
            at_base: Vec::new(),
            found: Vec::new(),
            waived: Vec::new(),
            wants_inspection: false,
            inspected: None,
            tree: None,
        }
    }

    pub(crate) fn baseline(&mut self, results: &[CheckResult]) {
        self.at_base = TestCount::of(results);
    }

    pub(crate) fn captured(&mut self, change: &CapturedChange) {
        self.found = change.gate.iter().map(|finding| finding.kind).collect();
        self.waived.clear();
        self.wants_inspection = change.protected.iter().any(|touched| !touched.only_adds_a_test());
        self.inspected = None;
        self.tree = Some(change.tree.clone());
    }

    pub(crate) fn checked(&mut self, report: &ChecksReport) {
        self.found.extend(report.gate.iter().map(|finding| finding.kind));
        let ran = |before: &TestCount| {
            let now = report.results.iter().find(|result| result.command == before.command);
            now.map_or(before.ran, |result| result.tests.unwrap_or_default())
        };
        if self.at_base.iter().any(|before| ran(before) < before.ran) {
            self.found.push(FindingName::FewerTests);
        }
    }

    pub(crate) fn inspected(&mut self, report: &GateReport) {
        self.found.extend(report.findings.iter().map(|finding| finding.kind));
        self.inspected = Some(report.tree.clone());
    }

    pub(crate) fn waive(&mut self, waivers: &[Waiver]) {
        let reasoned = waivers.iter().filter(|waiver| !waiver.reason.trim().is_empty());
        self.waived.extend(reasoned.map(|waiver| waiver.finding));
    }

    /// Sentences about an acceptance that must not be; whether there are checks to inspect with is the loop's to say.
    pub(crate) fn open(&self, has_checks: bool) -> Vec<String> {
        if self.rules.is_off() {
            return Vec::new();
        }
        let open = self.found.iter().filter(|finding| !self.waived.contains(finding));
        let mut wrong: Vec<String> =
            open.map(|finding| format!("accepted with `{}`, which nobody waived", finding.name())).collect();
        if has_checks && self.wants_inspection && self.inspected != self.tree {
            wrong.push("accepted without the checks having run with the base's own tests".to_string());
        }
        wrong
    }
}
