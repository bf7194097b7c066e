//! The orchestrator of a story queue: poll, choose, let fresh agents work on copies of the repository, have others report,
//! review and verify, land what holds, note it, and go round again. It writes no code and believes no claim.

mod alarm;
mod attempt;
mod checkpoint;
mod ending;
mod evidence;
mod identities;
mod landing;
mod office;
mod past;
mod persons_word;
mod plan;
mod queue;
mod recovery;
mod rounds;
mod waiting;
mod work;

use crate::clock::Deadline;
use crate::control::task_spec::chosen_agents;
use crate::control::{agents, trust};
use crate::fault::git_fault;
use crate::fence;
use crate::holder;
use crate::host::Host;
use crate::settings::{Origin, Settings};
use checkpoint::Notes;
use identities::{Identities, Part};
use office::{Office, Place, Project};
use queue::{Queue, inner, text_of};
use serde_json::Value;
use windlass_agent_drivers::AgentChoice;
use windlass_control_api::commands::SettingValue;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::orchestration::{Orchestrated, StartOrchestration};
use windlass_control_api::stories::StoryApi;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;
use windlass_protocols::Role;

pub(crate) use waiting::inbox;

const USUAL_PARALLEL: u64 = 2;
/// Of projects, where the one that was named is none of them.
const MOST_NAMED: usize = 20;
const UNHELD_ROOT: &str = "agents run as root and no sandbox holds them: one of them could read the user's key out of this process and \
                           verify its own work; use another user, or `--sandbox required`";

pub(crate) async fn orchestrate(
    host: &Host,
    mut command: StartOrchestration,
    api: &dyn StoryApi,
    watcher: &dyn Watcher,
) -> Result<Orchestrated, Fault> {
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let mut settings = host.settings_for(Some(checkout.work_tree()), &command.settings)?;
    for warning in &settings.warnings {
        watcher.hear(&Event::Notice { text: warning.clone() });
    }
    trust::require(host, &checkout, &settings, command.yes)?;
    if settings.text("land") == Some("none") {
        return Err(landing::refuse_none());
    }
    if leave_out_the_audit(&settings) {
        command.settings.push(("audit".to_owned(), SettingValue::Switch(false)));
        settings = host.settings_for(Some(checkout.work_tree()), &command.settings)?;
    }
    for text in require_agents(host, &settings, &command).await? {
        watcher.hear(&Event::Notice { text });
    }
    let queue = Queue::new(api);
    let tenant = queue.get(&command.user_key, "/tenants/me", &[]).await?;
    let tenant = inner(&tenant, "tenant");
    let project = project(&queue, &command).await?;
    let directory = host.state.path().join("orchestrations").join(text_of(tenant, "id")).join(&project.id);
    let owner = holder::Owner::this_process("", &format!("windlass orchestrate {}", project.slug))?;
    let key = format!("stories {}", project.id);
    let lease = match holder::hold(&host.journal, &key, &owner).await? {
        Ok((lease, notice)) => {
            if let Some(text) = notice {
                watcher.hear(&Event::Notice { text });
            }
            lease
        }
        Err(held) => return Err(holder::held_fault("the project", &held)),
    };
    let identities = Identities::open(&queue, command.user_key.clone(), &directory)?;
    let worked = async {
        let verifier = identities.of(&Part::Verifier).await?;
        let (notes, found) = Notes::load(&queue, &project.id, verifier).await?;
        let repository = host.repository(checkout.clone())?;
        let place = match (settings.text("land"), &command.branch) {
            (Some("current"), None) => Place::Current,
            (_, Some(branch)) => Place::Branch(branch.clone()),
            (_, None) => Place::Branch(format!("windlass/{}", project.slug)),
        };
        let tenants = &tenant["settings"];
        let office = Office {
            host,
            command: &command,
            watcher,
            queue: &queue,
            identities: &identities,
            notes,
            project,
            checkout,
            repository,
            settings,
            place,
            directory,
            landing: tokio::sync::Mutex::new(()),
            verified: std::cell::RefCell::default(),
            let_go: std::cell::RefCell::default(),
            capabilities: tenants["require_capabilities"].as_bool().unwrap_or(false),
            until: command.max_minutes.map(Deadline::minutes),
        };
        if fence::lets_agents_look_in(&office.context_for_checks()?) {
            watcher.hear(&Event::Notice { text: UNHELD_ROOT.to_owned() });
        }
        office.recover(&found).await?;
        let room = command.parallel.map(u64::from).or_else(|| tenants["max_concurrent_agents"].as_u64());
        let room = usize::try_from(room.unwrap_or(USUAL_PARALLEL).max(1)).unwrap_or(1);
        rounds::work_through(&office, room).await
    };
    let outcome = Box::pin(worked).await;
    super::start::released(host, &lease, outcome).await
}

/// A story has a reviewer already. Somebody else audits it where one is named, or where the settings ask for an audit.
fn leave_out_the_audit(settings: &Settings) -> bool {
    let named = settings.text("auditor").or_else(|| settings.text("agent")).is_some();
    let asked = !matches!(settings.origin("audit"), None | Some(Origin::BuiltIn));
    settings.switch("audit") && !named && !asked
}

/// Everybody who will be needed is there, before the first story is claimed for them.
async fn require_agents(
    host: &Host,
    settings: &Settings,
    command: &StartOrchestration,
) -> Result<Vec<String>, Fault> {
    let mut roles = vec![Role::Doer, Role::Judge];
    if settings.switch("audit") {
        roles.push(Role::Auditor);
    }
    let (agents, others) = chosen_agents(settings, &command.directory, &roles)?;
    let others = others.into_iter().flat_map(|(role, all)| all.into_iter().map(move |one| (role, one)));
    let choice = |(role, text): (Role, String)| Some((role.to_string(), AgentChoice::parse(&text).ok()?));
    agents::require(host, agents.into_iter().chain(others).filter_map(choice)).await
}

/// The project that was named by id, slug or name.
async fn project(queue: &Queue<'_>, command: &StartOrchestration) -> Result<Project, Fault> {
    let all = queue.all(&command.user_key, "/projects", &[]).await?;
    let named = |one: &&Value| {
        ["id", "slug", "name"]
            .iter()
            .any(|key| one[*key].as_str().is_some_and(|text| text.eq_ignore_ascii_case(&command.project)))
    };
    let Some(found) = all.iter().find(named) else {
        let slugs: Vec<String> = all.iter().map(|one| text_of(one, "slug")).take(MOST_NAMED).collect();
        let message = format!("no project is called `{}`; there are: {}", command.project, slugs.join(", "));
        return Err(Fault::new(Code::StoryUnknown, message));
    };
    Ok(Project { id: text_of(found, "id"), slug: text_of(found, "slug"), mission: text_of(found, "mission") })
}
