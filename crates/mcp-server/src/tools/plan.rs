//! Tools about tenants, projects, epics, stories and what depends on what.

use super::row::{Argument, Kind, Tool, Way, maybe, needed};
use crate::keys::Wanted::{Agent, Orchestrator, User};

pub(super) const PROJECT: Argument = needed("project_id", Kind::Text, "project: id, slug or name");
pub(super) const STORY: Argument = needed("story_id", Kind::Text, "story: id, or number such as US-3.1");
pub(super) const LIMIT: Argument = maybe("limit", Kind::Integer, "rows at most (20)");
pub(super) const OFFSET: Argument = maybe("offset", Kind::Integer, "rows to pass over");
pub(super) const IN_PROJECT: Argument = maybe("project_id", Kind::Text, "the project: id, slug or name");

pub(super) const TOOLS: &[Tool] = &[
    Tool::get(
        "get_tenant",
        "/tenants/me",
        "The tenant this key belongs to, its settings, and whose key it is.",
    ),
    Tool::get("list_routes", "/routes", "Every path of the queue's HTTP interface."),
    Tool::get("list_projects", "/projects", "Projects of the tenant.").way(Way::Rows),
    Tool::post("create_project", "/projects", "Creates a project.").key(Orchestrator).with(&[
        needed("name", Kind::Text, "its name"),
        needed("slug", Kind::Text, "lower-case letters, digits and hyphens; never changes"),
        maybe("repo_url", Kind::Text, "where its code is"),
        maybe("description", Kind::Text, "what it is"),
        maybe("tech_stack", Kind::Text, "what it is built with"),
        maybe("mission", Kind::Text, "what it is for; up to 2000 characters"),
    ]),
    Tool::delete("delete_project", "/projects/{project_id}", "Archives a project.")
        .key(User)
        .with(&[PROJECT]),
    Tool::get("get_progress", "/projects/{project_id}/progress", "Counts by both statuses, epics, hours.")
        .with(&[PROJECT, maybe("include_cost", Kind::Flag, "with what it cost")]),
    Tool::get("list_epics", "/projects/{project_id}/epics", "Epics of a project.")
        .way(Way::Rows)
        .with(&[PROJECT]),
    Tool::post("create_epic", "/projects/{project_id}/epics", "Creates an epic.").key(Orchestrator).with(&[
        PROJECT,
        needed("number", Kind::Integer, "above zero, unique in the project"),
        needed("title", Kind::Text, "its title"),
        maybe("description", Kind::Text, "what it is about"),
        maybe("phase", Kind::Text, "a word for the phase"),
        maybe("position", Kind::Integer, "its place in the order"),
    ]),
    Tool::post("create_story", "/epics/{epic_id}/stories", "Adds one story to an epic.")
        .key(Orchestrator)
        .way(Way::CreateStory)
        .with(&[
            needed(
                "story",
                Kind::Object,
                "number, title, description, acceptance_criteria, estimated_hours, metadata",
            ),
            maybe("epic_id", Kind::Text, "the epic by its id"),
            maybe("project_id", Kind::Text, "or its project, with epic_number"),
            maybe("epic_number", Kind::Integer, "the epic by its number"),
        ]),
    Tool::post(
        "import_stories",
        "/projects/{project_id}/import",
        "Imports epics, stories and dependencies at once.",
    )
    .key(Orchestrator)
    .way(Way::Import)
    .with(&[
        PROJECT,
        maybe("payload", Kind::Object, "epics[], story_dependencies[], epic_dependencies[]"),
        maybe("payload_path", Kind::Text, "or an absolute path of a file with it, at most 64 MB"),
        maybe("merge", Kind::Flag, "add to what is there and update by number"),
    ]),
    Tool::get("export_project", "/projects/{project_id}/export", "The whole plan of a project.")
        .with(&[PROJECT]),
    Tool::get("list_stories", "/stories", "Stories of a project.").way(Way::Rows).with(&[
        PROJECT,
        maybe("agent_status", Kind::OneOf(AGENT_STATUS), "only with this status of work"),
        maybe(
            "verified_status",
            Kind::OneOf(&["unverified", "verified", "rejected"]),
            "only with this status of proof",
        ),
        maybe("epic_id", Kind::Text, "only of this epic"),
        LIMIT,
        OFFSET,
        maybe("include_token_totals", Kind::Flag, "with the tokens used"),
    ]),
    Tool::get(
        "list_ready_stories",
        "/stories/ready",
        "Pending stories whose prerequisites are all verified.",
    )
    .way(Way::Rows)
    .with(&[PROJECT, maybe("epic_id", Kind::Text, "only of this epic"), LIMIT.to("page_size")]),
    Tool::get(
        "list_blocked_stories",
        "/stories/blocked",
        "Stories with unmet prerequisites, and which those are.",
    )
    .way(Way::Rows)
    .with(&[PROJECT, LIMIT.to("page_size")]),
    Tool::get("get_story", "/stories/{story_id}", "One story, with dependencies and artifacts.")
        .with(&[STORY, IN_PROJECT]),
    Tool::get(
        "get_acceptance_criteria",
        "/stories/{story_id}/acceptance_criteria",
        "What a story must fulfil.",
    )
    .with(&[STORY, IN_PROJECT]),
    Tool::get("get_dependency_graph", "/projects/{project_id}/dependency_graph", "Epics, stories and edges.")
        .with(&[PROJECT]),
    Tool::post("add_story_dependency", "/story_dependencies", "One story waits for another.")
        .key(Orchestrator)
        .with(&[STORY, IN_PROJECT, needed("depends_on_story_id", Kind::Text, "the story it waits for")]),
    Tool::post("add_epic_dependency", "/epic_dependencies", "One epic waits for another.")
        .key(Orchestrator)
        .with(&[
            needed("epic_id", Kind::Text, "the epic"),
            IN_PROJECT,
            needed("depends_on_epic_id", Kind::Text, "the epic it waits for"),
        ]),
    Tool::get(
        "list_changes",
        "/changes",
        "What changed, in order; keep next_sequence and ask again from there.",
    )
    .way(Way::Rows)
    .with(&[
        IN_PROJECT,
        needed(
            "since",
            Kind::TextOrInteger,
            "a moment (ISO 8601), or the sequence number of the last change seen",
        ),
        maybe("entity_type", Kind::Text, "only of this kind"),
        maybe("action", Kind::Text, "only this action"),
        LIMIT,
    ]),
    Tool::post(
        "state_save",
        "/orchestrator/state/{project_id}",
        "Saves a checkpoint over the version that is there.",
    )
    .key(Orchestrator)
    .way(Way::SaveState)
    .with(&[
        PROJECT,
        needed("state_data", Kind::Object, "what to remember"),
        maybe("state_key", Kind::Text, "which checkpoint (main)"),
        maybe("version", Kind::Integer, "only over this version; read first if not given"),
    ]),
    Tool::get("state_load", "/orchestrator/state/{project_id}", "The last checkpoint of a project.")
        .key(Orchestrator)
        .with(&[PROJECT, maybe("state_key", Kind::Text, "which checkpoint (main)")]),
    Tool::post("register_agent", "/agents/register", "Binds this key to a new agent.").key(Agent).with(&[
        needed("name", Kind::Text, "unique in the tenant"),
        needed("agent_type", Kind::OneOf(&["implementer", "orchestrator"]), "what it does"),
    ]),
    Tool::get("list_agents", "/agents", "Agents of the tenant.").key(Orchestrator).way(Way::Rows),
    Tool::get("list_skills", "/skills", "Skills: prompts with versions.").way(Way::Rows).with(&[
        IN_PROJECT,
        maybe("name", Kind::Text, "a pattern for the name"),
        maybe("status", Kind::OneOf(&["active", "archived"]), "only these"),
    ]),
    Tool::get("get_skill", "/skills/{skill}", "The text of a skill in its current version.").with(&[needed(
        "skill",
        Kind::Text,
        "id or name, such as loopctl:review",
    )]),
];

const AGENT_STATUS: &[&str] = &["pending", "contracted", "assigned", "implementing", "reported_done"];
