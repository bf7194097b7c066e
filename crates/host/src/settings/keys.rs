//! Every setting there is: its name, kind, built-in value and one line of help. The only list; files, environment,
//! arguments, `windlass settings` and the documentation all come from it.

use windlass_control_api::commands::SettingValue;
use windlass_control_api::money::micros;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Number,
    Switch,
    List,
    /// Money: a decimal number of the currency's units, kept as text so that nothing is rounded.
    Amount,
}

impl Kind {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a whole number",
            Self::Switch => "true or false",
            Self::List => "a list of texts",
            Self::Amount => "an amount such as \"1.50\"",
        }
    }
}

/// Whether a value can make Windlass run something, or tell somebody of a run; such a value of a repository's own file needs trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    Commands,
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// As it would stand in a file; empty for "not set".
    pub built_in: &'static str,
    pub runs: Runs,
    pub help: &'static str,
}

const fn key(name: &'static str, kind: Kind, built_in: &'static str, runs: Runs, help: &'static str) -> Key {
    Key { name, kind, built_in, runs, help }
}

pub const KEYS: &[Key] = &[
    key("rounds", Kind::Number, "3", Runs::Nothing, "how many rounds a run has at the most"),
    key(
        "checks",
        Kind::List,
        "",
        Runs::Commands,
        "commands that must succeed on the change before the judge looks",
    ),
    key(
        "audit-checks",
        Kind::List,
        "",
        Runs::Commands,
        "commands that must succeed before the auditor looks",
    ),
    key("audit", Kind::Switch, "true", Runs::Nothing, "whether an auditor has the last word"),
    key("agent", Kind::Text, "", Runs::Commands, "the agent for every role that names none of its own"),
    key("doer", Kind::Text, "", Runs::Commands, "the agent that makes the change"),
    key("judge", Kind::Text, "", Runs::Commands, "the agent that judges it"),
    key("auditor", Kind::Text, "", Runs::Commands, "the agent that gates it"),
    key("controller", Kind::Text, "", Runs::Commands, "the agent that plans in a control loop"),
    key("actuator", Kind::Text, "", Runs::Commands, "the agent that edits in a control loop"),
    key("sensor", Kind::Text, "", Runs::Commands, "the agent for sensors that have no command"),
    key("controller-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for the controller"),
    key("actuator-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for the actuator"),
    key("sensor-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for such sensors"),
    key("builder", Kind::Text, "", Runs::Commands, "the agent that builds items in a goal loop"),
    key("evaluator", Kind::Text, "", Runs::Commands, "the agent that grades them"),
    key(
        "planner",
        Kind::Text,
        "",
        Runs::Commands,
        "the agent that designs them; in a roadmap loop it chooses and plans rounds",
    ),
    key("builder-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for the builder"),
    key("evaluator-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for the evaluator"),
    key("planner-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for the planner"),
    key("implementer", Kind::Text, "", Runs::Commands, "the agent that implements rounds of a roadmap"),
    key("reviewer", Kind::Text, "", Runs::Commands, "the agent that reviews them"),
    key(
        "recovery-investigator",
        Kind::Text,
        "",
        Runs::Commands,
        "the agent that looks into rounds that do not get on; the reviewer's if not set",
    ),
    key("implementer-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for the implementer"),
    key("reviewer-fallback", Kind::List, "", Runs::Commands, "as doer-fallback, for the reviewer"),
    key(
        "recovery-investigator-fallback",
        Kind::List,
        "",
        Runs::Commands,
        "as doer-fallback, for the recovery investigator",
    ),
    key("roadmap.rounds", Kind::Number, "", Runs::Nothing, "how many rounds a roadmap loop may open"),
    key(
        "roadmap.parallel",
        Kind::Number,
        "",
        Runs::Nothing,
        "fewer live rounds at once than the control plane allows",
    ),
    key(
        "roadmap.same-mechanism-retries",
        Kind::Number,
        "3",
        Runs::Nothing,
        "how often a stage is tried in the same way before another one; the roadmap's own limits win",
    ),
    key(
        "roadmap.review-cycles",
        Kind::Number,
        "3",
        Runs::Nothing,
        "how often a round may be rejected before somebody looks into it",
    ),
    key(
        "roadmap.update-rejections",
        Kind::Number,
        "3",
        Runs::Nothing,
        "how often a draft of a roadmap update may be rejected",
    ),
    key("goal.scope", Kind::Text, "", Runs::Nothing, "which of the contract's items a goal loop works on"),
    key("goal.autonomy", Kind::Text, "", Runs::Nothing, "a lower level of autonomy than the contract's"),
    key("goal.iterations", Kind::Number, "", Runs::Nothing, "a lower cap on iterations than the contract's"),
    key("goal.commits", Kind::Number, "", Runs::Nothing, "the same on commits"),
    key("goal.rework", Kind::Number, "", Runs::Nothing, "the same on rework of one item"),
    key("goal.minutes", Kind::Number, "", Runs::Nothing, "the same on minutes"),
    key("goal.tokens", Kind::Number, "", Runs::Nothing, "the same on tokens"),
    key("goal.cost", Kind::Amount, "", Runs::Nothing, "the same on money"),
    key("goal.test-cmd", Kind::Text, "", Runs::Commands, "the command that runs the full test suite"),
    key(
        "goal.pre-commit",
        Kind::List,
        "",
        Runs::Commands,
        "commands that must pass on the exact tree before an item is committed",
    ),
    key(
        "goal.design",
        Kind::Text,
        "auto",
        Runs::Nothing,
        "when an item is designed first: auto, always or never",
    ),
    key(
        "goal.trust-complete",
        Kind::Switch,
        "false",
        Runs::Nothing,
        "whether items that were complete before any loop count without being checked",
    ),
    key(
        "doer-fallback",
        Kind::List,
        "",
        Runs::Commands,
        "agents that are asked, in this order, while the doer's own is limited or out of order",
    ),
    key("judge-fallback", Kind::List, "", Runs::Commands, "the same for the judge"),
    key("auditor-fallback", Kind::List, "", Runs::Commands, "the same for the auditor"),
    key(
        "distinct-vendors",
        Kind::Switch,
        "false",
        Runs::Nothing,
        "whether the judge and the auditor must be of other vendors than the doer",
    ),
    key(
        "retries",
        Kind::Number,
        "5",
        Runs::Nothing,
        "how often a provider that is out of order is tried again before a person is asked",
    ),
    key(
        "retry-seconds",
        Kind::Number,
        "5",
        Runs::Nothing,
        "how long to wait before the first such try; twice as long before each further one",
    ),
    key(
        "doer-prompt",
        Kind::Text,
        "",
        Runs::Commands,
        "a file whose text replaces the doer's built-in prompt",
    ),
    key(
        "judge-prompt",
        Kind::Text,
        "",
        Runs::Commands,
        "a file whose text replaces the judge's built-in prompt",
    ),
    key(
        "audit-prompt",
        Kind::Text,
        "",
        Runs::Commands,
        "a file whose text replaces the auditor's built-in prompt",
    ),
    key(
        "gate-integrity",
        Kind::Text,
        "full",
        Runs::Nothing,
        "how closely changes of tests, checks and their configuration are looked at: full, findings or off",
    ),
    key(
        "on-gate-findings",
        Kind::Text,
        "reject",
        Runs::Nothing,
        "what a finding does that the checker did not waive: reject, or ask a person",
    ),
    key(
        "protected",
        Kind::List,
        "",
        Runs::Nothing,
        "patterns of paths that measure a change, beside the usual ones",
    ),
    key("unprotected", Kind::List, "", Runs::Nothing, "patterns of paths that do not, whatever else says so"),
    key("on-needs-human", Kind::Text, "stop", Runs::Nothing, "stop, or continue while rounds are left"),
    key(
        "land",
        Kind::Text,
        "branch",
        Runs::Nothing,
        "where an accepted change goes: none, branch or current",
    ),
    key("author", Kind::Text, "Windlass <windlass@localhost>", Runs::Nothing, "who landed commits are by"),
    key("max-minutes", Kind::Number, "", Runs::Nothing, "how long a run may work in all"),
    key("step-minutes", Kind::Number, "60", Runs::Nothing, "how long one agent or check may take"),
    key("idle-minutes", Kind::Number, "", Runs::Nothing, "how long one agent or check may be silent"),
    key(
        "step-limit",
        Kind::Text,
        "",
        Runs::Nothing,
        "the same with a unit: `90s`, `5m`, `2h`; the stronger of this and step-minutes counts",
    ),
    key(
        "idle-limit",
        Kind::Text,
        "",
        Runs::Nothing,
        "the same with a unit: `90s`, `5m`, `2h`; the stronger of this and idle-minutes counts",
    ),
    key(
        "sandbox",
        Kind::Text,
        "auto",
        Runs::Commands,
        "whether agents and checks are kept from writing outside their own places: required, auto or off",
    ),
    key(
        "workspaces",
        Kind::Text,
        "auto",
        Runs::Nothing,
        "what a task loop's agents work in: worktrees, overlay (layers over one checkout), or auto: overlays for more than 5,000 files",
    ),
    key(
        "sandbox-means",
        Kind::List,
        "",
        Runs::Commands,
        "which means may be used, in this order: landlock, namespaces; both if not set",
    ),
    key("sandbox-write", Kind::List, "", Runs::Commands, "further places that they may write"),
    key(
        "max-memory",
        Kind::Text,
        "",
        Runs::Nothing,
        "how much memory one agent or check may have with all it starts: `512M`, `4G`",
    ),
    key("max-processes", Kind::Number, "", Runs::Nothing, "how many processes it may have at once"),
    key("max-output-mb", Kind::Number, "", Runs::Nothing, "how much agents and checks may print in all"),
    key(
        "max-tokens",
        Kind::Number,
        "",
        Runs::Nothing,
        "how many tokens a run may use, where the agent reports them",
    ),
    key("step-tokens", Kind::Number, "", Runs::Nothing, "how many tokens one agent may use in one step"),
    key("step-cost", Kind::Amount, "", Runs::Nothing, "how much one agent may cost in one step"),
    key("step-cents", Kind::Number, "", Runs::Nothing, "the same in hundredths"),
    key("day-tokens", Kind::Number, "", Runs::Nothing, "how many tokens all runs may use in one day"),
    key("day-cost", Kind::Amount, "", Runs::Nothing, "how much all runs may cost in one day"),
    key("day-cents", Kind::Number, "", Runs::Nothing, "the same in hundredths"),
    key(
        "repository-tokens",
        Kind::Number,
        "",
        Runs::Nothing,
        "how many tokens all runs on this repository may use together",
    ),
    key(
        "repository-cost",
        Kind::Amount,
        "",
        Runs::Nothing,
        "how much all runs on this repository may cost together",
    ),
    key("repository-cents", Kind::Number, "", Runs::Nothing, "the same in hundredths"),
    key(
        "max-repeats",
        Kind::Number,
        "20",
        Runs::Nothing,
        "how often an agent may make the same tool call in a row before it is ended; 0 for any number",
    ),
    key(
        "keep-days",
        Kind::Number,
        "30",
        Runs::Nothing,
        "how many days `windlass undo` can give back what `windlass clean` took",
    ),
    key(
        "worktree-budget",
        Kind::Number,
        "20480",
        Runs::Nothing,
        "how many megabytes the worktrees of all runs may take before those that can be made again go; 0 for any number",
    ),
    key(
        "prices",
        Kind::List,
        "",
        Runs::Nothing,
        "what a million tokens cost, for agents that tell no price: `MODEL input=1.25 cached=0.125 output=10`",
    ),
    key("max-cost", Kind::Amount, "", Runs::Nothing, "how much a run may cost, such as \"1.50\""),
    key("max-cents", Kind::Number, "", Runs::Nothing, "the same in hundredths"),
    key(
        "notify.on",
        Kind::List,
        "needs-person\nended\nbudget",
        Runs::Nothing,
        "what notifications tell of: needs-person, ended, budget (80 % of one are used)",
    ),
    key("notify.desktop", Kind::Switch, "false", Runs::Nothing, "whether to show them on the desktop"),
    key(
        "notify.command",
        Kind::Text,
        "",
        Runs::Commands,
        "a command that is given each as JSON on its input",
    ),
    key("notify.webhook.url", Kind::Text, "", Runs::Commands, "an address that each is posted to as JSON"),
    key(
        "notify.webhook.secret_env",
        Kind::Text,
        "",
        Runs::Commands,
        "the variable that holds the secret such a request is signed with",
    ),
];

impl Key {
    /// A key of a settings file. The roles of a goal or roadmap loop may stand with its other settings in its table.
    pub fn find_in_file(name: &str) -> Option<&'static Self> {
        let tables: [(&str, &[&str]); 2] = [
            ("goal.", &["builder", "evaluator", "planner"]),
            ("roadmap.", &["planner", "implementer", "reviewer", "recovery-investigator"]),
        ];
        let of_role = tables.iter().find_map(|(table, roles)| {
            let inner = name.strip_prefix(table)?;
            roles.iter().any(|role| inner.starts_with(role)).then_some(inner)
        });
        Self::find(of_role.unwrap_or(name))
    }

    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The variable that sets it, `WINDLASS_ROUNDS` for `rounds`.
    pub fn variable(&self) -> String {
        format!("WINDLASS_{}", self.name.replace(['-', '.'], "_").to_uppercase())
    }

    /// Reads a value from text: an environment variable, or the built-in one.
    pub fn parse(&self, text: &str) -> Result<SettingValue, String> {
        match self.kind {
            Kind::Text => Ok(SettingValue::Text(text.to_owned())),
            Kind::Amount => match micros(text) {
                Some(_) => Ok(SettingValue::Text(text.to_owned())),
                None => Err(format!("`{text}` is not {}", self.kind.words())),
            },
            Kind::Number => text
                .parse()
                .map(SettingValue::Number)
                .map_err(|_| format!("`{text}` is not {}", self.kind.words())),
            Kind::Switch => match text {
                "true" | "yes" | "1" => Ok(SettingValue::Switch(true)),
                "false" | "no" | "0" => Ok(SettingValue::Switch(false)),
                _ => Err(format!("`{text}` is not {}", self.kind.words())),
            },
            Kind::List => Ok(SettingValue::List(
                text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
            )),
        }
    }

    pub fn accepts(&self, value: &SettingValue) -> bool {
        match (self.kind, value) {
            (Kind::Text, SettingValue::Text(_))
            | (Kind::Number, SettingValue::Number(_))
            | (Kind::Switch, SettingValue::Switch(_))
            | (Kind::List, SettingValue::List(_)) => true,
            (Kind::Amount, SettingValue::Text(text)) => micros(text).is_some(),
            _ => false,
        }
    }

    /// The key that says the same in another unit: `max-cents` for `max-cost`, and the other way round.
    pub(super) fn twin(&self) -> Option<&'static Self> {
        let other = |ending: &str, twin: &str| {
            let stem = self.name.strip_suffix(ending)?;
            Self::find(&format!("{stem}{twin}"))
        };
        let pairs =
            [("-cost", "-cents"), ("-cents", "-cost"), ("-limit", "-minutes"), ("-minutes", "-limit")];
        pairs.into_iter().find_map(|(ending, twin)| other(ending, twin))
    }
}
