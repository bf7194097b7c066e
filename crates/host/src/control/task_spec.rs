//! From what was asked and set to the complete description of a run: every name resolved, every text read, every place
//! fixed, so that nothing is looked up again later.

use super::agent_policy;
use crate::fault::{file_fault, git_fault};
use crate::settings::{Origin, Settings};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use windlass_agent_drivers::AgentChoice;
use windlass_artifact_formats::task_loop::{derive_task_id, validate_task_id};
use windlass_control_api::commands::{JudgedCriterion, StartRun};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, GitError, Repository};
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{Caps, Spend};
use windlass_protocols::kernel::fence::{Fence, SandboxKind, SandboxWish, Workspaces};
use windlass_protocols::kernel::gate::{GateRules, Integrity, OnFindings};
use windlass_protocols::protocol::judged_task::spec::{
    AuditPolicy, CriterionToJudge, Landing, OnNeedsHuman, Place, TaskSpec,
};
use windlass_protocols::{CommitId, Millis, Role, TaskId};

const MAX_PROMPT_BYTES: u64 = 1024 * 1024;

pub(crate) struct Wanted<'a> {
    pub(crate) command: &'a StartRun,
    pub(crate) settings: &'a Settings,
    pub(crate) checkout: &'a Checkout,
    pub(crate) repository: &'a Repository,
}

/// The first agent of each role, and those that stand in for it.
pub(crate) type Agents = (BTreeMap<Role, String>, BTreeMap<Role, Vec<String>>);

fn no_agent(role: Role) -> Fault {
    Fault::new(Code::BadArgument, format!("no agent is named for the {role}"))
        .hint(format!("give `--agent AGENT` for every role, or `--{role} AGENT` for this one"))
        .hint("an agent is `codex`, `claude`, `gemini`, `opencode`, `copilot`, `acp:COMMAND`, `command:/path/to/program`, `shell:COMMAND` or `scripted:FILE`")
}

impl Wanted<'_> {
    /// The spec, all but the run directory, which is chosen under the repository's lease.
    pub(crate) fn spec(&self) -> Result<TaskSpec, Fault> {
        let settings = self.settings;
        let base_ref = self.command.base.clone().unwrap_or_else(|| "HEAD".to_owned());
        let base = self.repository.resolve_commit(&base_ref).map_err(|error| match error {
            GitError::UnknownRevision { .. } if base_ref == "HEAD" => no_commit_yet(),
            error => git_fault(error),
        })?;
        let task = self.task_id()?;
        let audit = if settings.switch("audit") { AuditPolicy::Required } else { AuditPolicy::Skipped };
        let text = |path: &Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| {
                Fault::new(Code::BadArgument, format!("the path {} is not valid UTF-8", path.display()))
            })
        };
        let (agents, fallbacks) = self.agents(audit)?;
        Ok(TaskSpec {
            text: self.command.task.clone(),
            caps: caps(settings),
            checks: settings.list("checks"),
            audit_checks: settings.list("audit-checks"),
            audit,
            on_needs_human: match settings.text("on-needs-human") {
                Some("continue") => OnNeedsHuman::Continue,
                _ => OnNeedsHuman::Stop,
            },
            landing: self.landing(),
            patience: patience(settings),
            place: Place {
                repository: text(self.checkout.work_tree())?,
                common_dir: text(self.checkout.common_dir())?,
                run_dir: String::new(),
                base_ref,
                base: CommitId::new(base.id.as_str()),
                doer_branch: String::new(),
                judge_branch: String::new(),
                agents,
                fallbacks,
                prompts: self.prompts()?,
                author: settings.text("author").map(str::to_owned),
                fence: fence(settings, &self.command.directory),
                gate: gate_rules(settings),
            },
            criteria: self.command.criteria.iter().map(to_judge).collect(),
            adopted: None,
            task,
        })
    }

    fn task_id(&self) -> Result<TaskId, Fault> {
        let Some(id) = &self.command.task_id else {
            return Ok(TaskId::new(derive_task_id(&self.command.task).as_str()));
        };
        let refuse =
            |why: String| Fault::new(Code::BadArgument, why).hint("a task id is one word such as TASK-0042");
        let valid = validate_task_id(id).map_err(|refusal| refuse(refusal.to_string()))?;
        // It becomes the name of a branch in the end, and nobody wants to hear about that after the work is done.
        match self.repository.is_taken(&format!("refs/heads/windlass/{id}")) {
            Err(GitError::BadReferenceName { .. }) => {
                Err(refuse(format!("the task id `{id}` cannot stand in the name of a branch")))
            }
            _ => Ok(TaskId::new(valid.as_str())),
        }
    }

    /// Where an accepted change goes. Which branch is chosen later, under the repository's lease.
    fn landing(&self) -> Landing {
        match self.settings.text("land") {
            Some("none") => Landing::None,
            Some("current") => Landing::Current,
            _ => Landing::Branch(String::new()),
        }
    }

    fn agents(&self, audit: AuditPolicy) -> Result<Agents, Fault> {
        let mut roles = vec![Role::Doer, Role::Judge];
        if audit == AuditPolicy::Required {
            roles.push(Role::Auditor);
        }
        chosen_agents(self.settings, &self.command.directory, &roles)
    }

    fn anchor(&self, key: &str) -> PathBuf {
        anchor(self.settings, &self.command.directory, key)
    }

    fn prompts(&self) -> Result<BTreeMap<Role, String>, Fault> {
        let mut prompts = BTreeMap::new();
        let keys =
            [(Role::Doer, "doer-prompt"), (Role::Judge, "judge-prompt"), (Role::Auditor, "audit-prompt")];
        for (role, key) in keys {
            let Some(name) = self.settings.text(key) else { continue };
            let path = self.anchor(key).join(name);
            let size = std::fs::metadata(&path)
                .map_err(|error| file_fault("read the prompt file", &path, &error))?;
            if size.len() > MAX_PROMPT_BYTES {
                return Err(Fault::new(
                    Code::BadArgument,
                    format!("the prompt file {} is larger than {MAX_PROMPT_BYTES} bytes", path.display()),
                ));
            }
            let text = std::fs::read_to_string(&path)
                .map_err(|error| file_fault("read the prompt file", &path, &error))?;
            prompts.insert(role, text);
        }
        Ok(prompts)
    }

    /// The first free name, chosen while no other run of this repository can choose.
    pub(crate) fn run_dir(&self, task: &str) -> Result<(PathBuf, String), Fault> {
        let root = match &self.command.run_root {
            Some(root) => self.command.directory.join(root),
            None => self.checkout.work_tree().join(".orchestrator").join("runs"),
        };
        let mut moment = crate::clock::zoned();
        loop {
            let stamp = moment.strftime("%Y%m%d-%H%M%S").to_string();
            let path = root.join(format!("{task}-{stamp}"));
            let mut taken = path.symlink_metadata().is_ok();
            for role in ["doer", "judge"] {
                let branch = format!("refs/heads/codex/loop-{stamp}-{role}");
                taken |= self.repository.is_taken(&branch).map_err(git_fault)?;
            }
            if !taken {
                return Ok((path, stamp));
            }
            moment = moment.saturating_add(jiff::Span::new().seconds(1));
        }
    }
}

fn to_judge(criterion: &JudgedCriterion) -> CriterionToJudge {
    CriterionToJudge { id: criterion.id.clone(), seems_to_name: criterion.seems_to_name.clone() }
}

/// The agent of each role and those that stand in for it, as the settings name them.
pub(super) fn chosen_agents(settings: &Settings, directory: &Path, roles: &[Role]) -> Result<Agents, Fault> {
    let agent = |key: &str, text: &str| {
        AgentChoice::parse(text)
            .and_then(|choice| choice.anchored(&anchor(settings, directory, key)))
            .map_err(|error| Fault::new(Code::UnknownAgent, error.to_string()))
    };
    let mut chains = BTreeMap::new();
    for role in roles {
        let key = role.word();
        let (own, text) = match (settings.text(key), settings.text("agent")) {
            (Some(text), _) => (key, text),
            (None, Some(text)) => ("agent", text),
            (None, None) => return Err(no_agent(*role)),
        };
        let fallback = format!("{key}-fallback");
        let mut chain = vec![agent(own, text)?];
        for text in settings.list(&fallback) {
            chain.push(agent(&fallback, &text)?);
        }
        chains.insert(*role, chain);
    }
    agent_policy::check(settings, &chains)?;
    let mut agents = BTreeMap::new();
    let mut fallbacks = BTreeMap::new();
    for (role, chain) in chains {
        let mut texts = chain.iter().map(ToString::to_string);
        agents.extend(texts.next().map(|first| (role, first)));
        let others: Vec<String> = texts.collect();
        if !others.is_empty() {
            fallbacks.insert(role, others);
        }
    }
    Ok((agents, fallbacks))
}

/// Relative paths mean: relative to where the words stand.
fn anchor(settings: &Settings, directory: &Path, key: &str) -> PathBuf {
    match settings.origin(key) {
        Some(Origin::RepositoryFile(file) | Origin::UserFile(file)) => {
            file.parent().unwrap_or(Path::new("/")).to_owned()
        }
        Some(Origin::BuiltIn | Origin::Variable(_) | Origin::Argument) | None => directory.to_owned(),
    }
}

pub(super) fn no_commit_yet() -> Fault {
    Fault::new(Code::BadRevision, "the repository has no commit to start from")
        .kept("nothing was changed")
        .hint("make a first commit: `git add --all && git commit --message begin`")
}

/// A branch of ours that is free and that git has room for.
pub(crate) fn free_branch(repository: &Repository, task: &str) -> Result<String, Fault> {
    // A user's own branch `windlass` leaves no room for `windlass/…`.
    let blocked = repository.in_the_way_of("refs/heads/windlass/any").map_err(git_fault)?.is_some();
    let stem = if blocked { format!("windlass-{task}") } else { format!("windlass/{task}") };
    let mut number = 1;
    loop {
        let branch = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
        if !repository.is_taken(&format!("refs/heads/{branch}")).map_err(git_fault)? {
            return Ok(branch);
        }
        number += 1;
    }
}

/// How closely the run looks at changes of what measures it.
pub(super) fn gate_rules(settings: &Settings) -> GateRules {
    GateRules {
        integrity: match settings.text("gate-integrity") {
            Some("off") => Integrity::Off,
            Some("findings") => Integrity::Findings,
            _ => Integrity::Full,
        },
        on_findings: match settings.text("on-gate-findings") {
            Some("ask") => OnFindings::Ask,
            _ => OnFindings::Reject,
        },
        protected: settings.list("protected"),
        unprotected: settings.list("unprotected"),
    }
}

pub(super) fn patience(settings: &Settings) -> Patience {
    let usual = Patience::default();
    Patience {
        first_delay: settings
            .number("retry-seconds")
            .map_or(usual.first_delay, |seconds| Millis(seconds.saturating_mul(1000).max(1))),
        tries: settings.number("retries").and_then(|tries| u32::try_from(tries).ok()).unwrap_or(usual.tries),
        ..usual
    }
}

/// How far agents and checks are held to their own places.
pub(super) fn fence(settings: &Settings, directory: &Path) -> Fence {
    let place = |place: String| match place.strip_prefix("~/") {
        // As it stands: whose home is meant is known where the places are put together.
        Some(_) => place,
        None => anchor(settings, directory, "sandbox-write").join(place).to_string_lossy().into_owned(),
    };
    Fence {
        sandbox: match settings.text("sandbox") {
            Some("required") => SandboxWish::Required,
            Some("off") => SandboxWish::Off,
            _ => SandboxWish::Auto,
        },
        means: settings.origin("sandbox-means").map(|_| {
            let means = settings.list("sandbox-means");
            means
                .iter()
                .filter_map(|word| SandboxKind::ALL.into_iter().find(|kind| kind.word() == word))
                .collect()
        }),
        writable: settings.list("sandbox-write").into_iter().map(place).collect(),
        memory_bytes: settings.memory(),
        processes: settings.number("max-processes"),
        // Only a task loop has others, and chooses when it knows its repository.
        workspaces: Workspaces::Worktrees,
    }
}

fn spend(settings: &Settings, stem: &str) -> Spend {
    Spend { tokens: settings.number(&format!("{stem}-tokens")), cost_micros: settings.money(stem) }
}

pub(super) fn caps(settings: &Settings) -> Caps {
    Caps {
        rounds: settings.number("rounds").and_then(|rounds| u32::try_from(rounds).ok()).unwrap_or(1),
        time: settings.number("max-minutes").map(Millis::minutes),
        tokens: settings.number("max-tokens"),
        cost_micros: settings.money("max"),
        output_bytes: settings.number("max-output-mb").map(|mb| mb.saturating_mul(1024 * 1024)),
        step_time: settings.limit("step").unwrap_or(Millis::minutes(60)),
        step_idle: settings.limit("idle"),
        step: spend(settings, "step"),
        day: spend(settings, "day"),
        repository: spend(settings, "repository"),
    }
}
