//! Every code of a refusal, and what whoever got it does next. One table for all faces: a client tells cases apart by the name,
//! a person or a model goes on by the remedy. What stands in backquotes and begins with `windlass` is a command that exists.

macro_rules! codes {
    ($($variant:ident = $name:literal, $remedy:literal;)+) => {
        /// A code is never given another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RefusalCode { $($variant),+ }

        impl RefusalCode {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Stable, snake_case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What to do now, where the refusal itself knows nothing closer.
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy),+ }
            }
        }
    };
}

codes! {
    // Where a story stands.
    InvalidTransition = "invalid_transition",
        "look where the story stands, `windlass story status STORY`, and take the step that comes next";
    MustContractFirst = "must_contract_first",
        "read it and agree to it: `windlass story contract STORY`, then `windlass story claim STORY`";
    MustClaimFirst = "must_claim_first",
        "take it first: `windlass story claim STORY`";
    ContractMismatch = "contract_mismatch",
        "read the story again and send its title and the number of its criteria: `windlass story contract STORY` does both";
    ContractBound = "contract_bound",
        "take it back first, `windlass story reject STORY --reason TEXT` or `windlass story force-unclaim STORY`; a user may force the edit, `windlass story edit STORY --title TEXT --force`, which takes back what was verified and quarantines the story";
    DependenciesNotMet = "dependencies_not_met",
        "wait until they are verified, or take a story that is ready: `windlass story next`";
    NotAssignedAgent = "not_assigned_agent",
        "ask with the key of the agent that has it, which `windlass story status STORY` names; an orchestrator takes it away: `windlass story force-unclaim STORY`";
    BatchSize = "batch_size",
        "send 1 to 50 stories at once; `windlass story next --page-size 50` lists as many";

    // Custody.
    SelfReportBlocked = "self_report_blocked",
        "let another agent report it, after `windlass story release STORY --reason TEXT` by an orchestrator or user who had no part in it";
    SelfReviewBlocked = "self_review_blocked",
        "let somebody else review it, after `windlass story release STORY --reason TEXT` by an orchestrator or user who had no part in it";
    SelfVerifyBlocked = "self_verify_blocked",
        "let another orchestrator verify it, after `windlass story release STORY --reason TEXT` by an orchestrator or user who had no part in it";
    SharedPrincipalBlocked = "shared_principal_blocked",
        "let another agent do this; a user may allow it to one actor: `windlass story tenant update --setting distinct_reporter_reviewer_verifier=false`";
    StoryQuarantined = "story_quarantined",
        "look at what was tried, `windlass story violations`; an orchestrator or user who neither implemented the story nor caused this lets it go on: `windlass story release STORY --reason TEXT`";
    SelfReleaseBlocked = "self_release_blocked",
        "have another user or orchestrator look at it, under a key of their own: `windlass story release STORY --reason TEXT`";
    NotChosenVerifier = "not_chosen_verifier",
        "let the dispatch that was chosen verify it, or wait until it has expired; `windlass story show STORY` names it";
    NoReviewRecord = "no_review_record",
        "have somebody else review it and record that, `windlass story review-complete STORY`, then verify";
    ReviewBeforeReport = "review_before_report",
        "have somebody else review what was reported last, `windlass story review-complete STORY`, then verify";
    ReviewOutdated = "review_outdated",
        "have somebody else review the story as it is now, `windlass story review-complete STORY`, then verify";
    CriterionFailed = "criterion_failed",
        "send the story back, `windlass story reject STORY --reason TEXT`, or judge the criterion again if it holds after all: `windlass story criterion STORY CRITERION --status verified --evidence TEXT`";
    ReasonRequired = "reason_required",
        "say why: `windlass story reject STORY --reason TEXT`";
    BackfillRefused = "backfill_refused",
        "let it be done and verified like any other; `windlass story history STORY` shows what happened to it here";
    SelfBackfillBlocked = "self_backfill_blocked",
        "let a person or another orchestrator say that it was done before: `windlass story backfill STORY --reason TEXT --evidence-url URL`";
    UnknownMakerBlocked = "unknown_maker_blocked",
        "let somebody do it whose agent implements nothing in the project: `windlass story keys create --name NAME --role orchestrator --agent AGENT`";
    EvidenceRequired = "evidence_required",
        "say where it can be seen: `windlass story backfill STORY --reason TEXT --evidence-url URL`, or `--pr-number`";
    TenantHalted = "tenant_halted",
        "see where the chain breaks, `windlass story audit verify`; a superadmin looks at it and clears the halt: POST /admin/tenants/ID/clear-halt";

    // Capability tokens and dispatches.
    MissingCapability = "missing_capability",
        "send the token that the call before this one returned, its `token` as `cap` in the body (`windlass story start STORY --capability TOKEN`), or get another: `windlass story recover-cap STORY`";
    CapRejected = "cap_rejected",
        "use the token that was issued to you for this step of this story, or get another: `windlass story recover-cap STORY`";
    CapNotRecoverable = "cap_not_recoverable",
        "ask for the token of a step that is yours to take now; `windlass story status STORY` shows where the story stands";
    RoleEscalation = "role_escalation",
        "open it with your own role or below: `windlass story dispatch --role agent --agent AGENT`";
    RootDispatchForbidden = "root_dispatch_forbidden",
        "have a user open a dispatch for this orchestrator and use its key, `windlass story dispatch --role orchestrator --agent AGENT`, or allow roots: `windlass story tenant update --setting orchestrator_root_dispatches=true`";
    WrongLineage = "wrong_lineage",
        "name your own dispatch or one below it, or leave the parent out: `windlass story dispatch --agent AGENT`";
    ParentDispatchExpired = "parent_dispatch_expired",
        "have a fresh one opened, and work below that: `windlass story dispatch --agent AGENT --expires-in 3600`";

    // The plan.
    Duplicate = "duplicate",
        "nothing is left to do; `windlass story status STORY` shows what it waits for";
    SelfDependency = "self_dependency",
        "name another story: `windlass story depends STORY --on OTHER`";
    DependencyCycle = "dependency_cycle",
        "leave one of these edges out; `windlass story blocked` shows who waits for whom";
    CrossLevelDeadlock = "cross_level_deadlock",
        "leave out the edge between the stories or the one between their epics; `windlass story blocked` shows who waits for whom";
    ImportTooLarge = "import_too_large",
        "split the plan and bring in the parts one after the other: `windlass story import FILE --merge`";
    ImportInvalid = "import_invalid",
        "nothing was taken in: mend each place that is named, and send the whole again, `windlass story import FILE`";
    ImportDuplicates = "import_duplicates",
        "nothing was taken in: update what exists, `windlass story import FILE --merge`, or give what comes other numbers";
    Ambiguous = "ambiguous",
        "say which, by its slug or id: `windlass story status STORY --project SLUG` (`?project=` over HTTP)";
    VersionConflict = "version_conflict",
        "read it again, `windlass story state load`, and save over the version that is there: `windlass story state save --data JSON --version 1`";
    StateKeyReserved = "state_key_reserved",
        "save under a key of your own: `windlass story state save --data JSON --key NAME`";

    // The tenant, its keys and agents.
    Unauthorized = "unauthorized",
        "log in with a key that is good: `windlass story login --server URL --key KEY`; `windlass story --local next` asks the queue on this machine";
    TenantSuspended = "tenant_suspended",
        "ask the operator, who lets the tenant in again: `windlass story admin activate ID`";
    TenantMissing = "tenant_missing",
        "say for whom you ask: `windlass story admin impersonate ID get PATH`";
    LimitReached = "limit_reached",
        "take one away that is not needed any more, or raise the limit: `windlass story tenant update --setting NAME=NUMBER`";
    KeyExists = "key_exists",
        "replace the key that there is, `windlass story keys rotate ID`, or end it, `windlass story keys revoke ID`; `windlass story keys list` names it";
    AgentAlreadyRegistered = "agent_already_registered",
        "use the key for the agent it belongs to, `windlass story whoami`, or register the other with a key of its own";
    UnknownSetting = "unknown_setting",
        "see which there are: `windlass story tenant info`";
    PersonRequired = "person_required",
        "have a person do it, with a user's key that is bound to no agent; `windlass story whoami` says whose key this is";
    RegistryDamaged = "registry_damaged",
        "have the operator put back the registry as it was, from a copy of the data directory of `windlass serve`";
    RateLimited = "rate_limited",
        "ask again after the seconds that `retry-after` names; a user may raise the limit: `windlass story tenant update --setting rate_limit_requests_per_minute=NUMBER`";

    // The chain.
    WitnessHeaderMissing = "witness_header_missing",
        "send the head you saw last, or ask once with `X-Loopctl-STH-Bootstrap: true`; `windlass story whoami` does both by itself";
    WitnessHeaderMalformed = "witness_header_malformed",
        "send the head as an answer named it, position and signature with a colon between; `windlass story whoami` does so by itself";
    WitnessDivergence = "witness_divergence",
        "nothing was done: show the head you kept to the operator, or post it whole to /audit/witness; `windlass story audit verify` checks the chain as it is";
    TreeHeadMalformed = "tree_head_malformed",
        "post a whole head, as GET /audit/sth/TENANT gave it; `windlass story audit verify` checks the chain without one";
    AuditKeyExists = "audit_key_exists",
        "nothing is left to do: `windlass story audit verify` checks what it signed";
    AuditKeyMissing = "audit_key_missing",
        "have the operator put the tenant's signing keys back into the data directory of `windlass serve`";
    AuditKeyStorageFailed = "audit_key_storage_failed",
        "have the operator look whether the data directory of `windlass serve` can be read and written";
    JournalUnavailable = "journal_unavailable",
        "ask again in a moment, under the same idempotency key; if it lasts, the operator looks at the disk below `windlass serve`";
    IdempotencyConflict = "idempotency_conflict",
        "send another request under another key; what was done under this one is in `windlass story changes`";
    MalformedJson = "malformed_json",
        "send one JSON object, as GET /openapi describes it";

    // What was written down.
    SystemScopeForbidden = "system_scope_forbidden",
        "write it for your tenant: `windlass story knowledge create TITLE --file FILE --category decision`";
    PublishForbidden = "publish_forbidden",
        "create it as a draft; an orchestrator publishes it: `windlass story knowledge publish ID`";
    NotConfigured = "not_configured",
        "search by words, `windlass story knowledge search WORDS`, or write the article yourself";
    RunCompleted = "run_completed",
        "start another run for what was found since: POST /projects/ID/ui-tests; `windlass story project info PROJECT` has the id";
}
