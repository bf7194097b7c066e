//! Verbs that make the plan: projects, epics, stories, dependencies, import and export.

use super::shown::{Columns, Shown};
use super::{InProject, PageArgs, json_object, planning_files};
use crate::stories::{Desk, found};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass_control_api::stories::Method;
use windlass_control_api::{Code, Fault};

const PROJECTS: Columns = &[("SLUG", "slug"), ("STATUS", "status"), ("NAME", "name"), ("ID", "id")];
const EPICS: Columns = &[("EPIC", "number"), ("PHASE", "phase"), ("TITLE", "title")];

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Plan {
    /// Make, list, show or archive projects
    #[command(subcommand)]
    Project(Project),
    /// Make, list or delete epics
    #[command(subcommand)]
    Epic(Epic),
    Create(CreateArgs),
    Edit(EditArgs),
    Depends(DependsArgs),
    Import(ImportArgs),
    Export(ExportArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    Create(ProjectArgs),
    /// List the projects
    List {
        /// Those that were archived too
        #[arg(long)]
        archived: bool,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one project
    Info {
        /// Id, slug or name
        project: String,
    },
    /// Archive a project
    Archive {
        /// Id, slug or name
        project: String,
    },
    /// Take up a project again that was archived
    Activate {
        /// Id, slug or name
        project: String,
    },
}

/// Make a project
#[derive(Args, Debug)]
pub(crate) struct ProjectArgs {
    /// What people call it
    name: String,
    /// Its short name: lower-case letters, digits, hyphens; made from the name if not given
    #[arg(long)]
    slug: Option<String>,
    /// Where its code is
    #[arg(long, value_name = "URL")]
    repo: Option<String>,
    /// What it is built with
    #[arg(long, value_name = "TEXT")]
    tech_stack: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    mission: Option<String>,
    /// What it is
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Epic {
    Create(EpicArgs),
    /// List the epics of a project
    List {
        #[command(flatten)]
        place: InProject,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Delete an epic with all its stories
    Delete {
        /// The epic: number or id
        epic: String,
        #[command(flatten)]
        place: InProject,
    },
}

/// Make an epic
#[derive(Args, Debug)]
pub(crate) struct EpicArgs {
    /// Its number, above zero
    number: u32,
    /// Its title
    title: String,
    #[command(flatten)]
    place: InProject,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A word for the phase
    #[arg(long, value_name = "WORD")]
    phase: Option<String>,
}

/// Make a story in an epic
#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// Its number, such as US-3.1 or 3.1; the first part is the epic unless `--epic` says otherwise
    number: String,
    /// Its title
    title: String,
    #[command(flatten)]
    place: InProject,
    /// The epic: number or id
    #[arg(long, value_name = "EPIC")]
    epic: Option<String>,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// One thing it must fulfil; may be given several times
    #[arg(long = "criterion", value_name = "TEXT")]
    criteria: Vec<String>,
    /// How many hours it may take
    #[arg(long, value_name = "HOURS")]
    hours: Option<f64>,
}

/// Change a story's title, description or criteria; what was contracted must be contracted again
#[derive(Args, Debug)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    story: super::OneStory,
    /// A new title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A new description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// What it must fulfil, instead of what stands there; may be given several times
    #[arg(long = "criterion", value_name = "TEXT")]
    criteria: Vec<String>,
    /// Keep this with it, as a JSON object
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Also where it is under work or done; takes back what was verified, and the story waits until another releases it
    #[arg(long)]
    force: bool,
}

/// Let a story, or with `--epic` an epic, wait for another
#[derive(Args, Debug)]
pub(crate) struct DependsArgs {
    /// What waits: number or id
    pub(super) what: String,
    /// What it waits for: number or id
    #[arg(long = "on", value_name = "OTHER")]
    pub(super) on: String,
    /// Both are epics
    #[arg(long)]
    pub(super) epic: bool,
    #[command(flatten)]
    pub(super) place: InProject,
}

/// Bring in a plan: a JSON file, or a directory of planning files (us_*.json)
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The file or directory; `-` reads JSON from standard input
    path: PathBuf,
    #[command(flatten)]
    place: InProject,
    /// Add to what is there and update it by number
    #[arg(long)]
    merge: bool,
    /// Another number for one that cannot be used or stands twice, as OLD=NEW or FILE=NEW; may be given several times
    #[arg(long = "map", value_name = "OLD=NEW")]
    mapping: Vec<String>,
    /// Why stories come in as verified (`initial_verified_status` in the plan)
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Print the whole plan of a project, as `import` takes it
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    place: InProject,
}

impl Plan {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Project(project) => project.play(desk).await,
            Self::Epic(epic) => epic.play(desk).await,
            Self::Create(args) => create(args, desk).await,
            Self::Edit(args) => edit(args, desk).await,
            Self::Depends(args) => depends(args, desk).await,
            Self::Import(args) => import(args, desk).await,
            Self::Export(args) => {
                let project = desk.project(args.place.named()).await?;
                let plan = desk.get(&format!("/projects/{project}/export"), &[]).await?;
                let text = serde_json::to_string_pretty(&plan).unwrap_or_default();
                Ok(Shown::said(plan, text))
            }
        }
    }
}

impl Project {
    async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Create(args) => {
                let slug = args.slug.unwrap_or_else(|| slug_of(&args.name));
                let body = json!({
                    "name": args.name, "slug": slug, "repo_url": args.repo, "tech_stack": args.tech_stack,
                    "mission": args.mission, "description": args.description,
                });
                desk.post("/projects", body).await.map(Shown::thing)
            }
            Self::List { archived, page } => {
                let query = page.with([("include_archived", archived.then(|| "true".to_owned()))]);
                Ok(Shown::rows(desk.get("/projects", &query).await?, PROJECTS))
            }
            Self::Info { project } => {
                let project = desk.project(Some(&project)).await?;
                desk.get(&format!("/projects/{project}"), &[]).await.map(Shown::thing)
            }
            Self::Archive { project } => {
                let id = desk.project(Some(&project)).await?;
                let answer = desk.delete(&format!("/projects/{id}")).await?;
                Ok(Shown::said(answer, format!("{project} is archived")))
            }
            Self::Activate { project } => {
                let id = desk.project(Some(&project)).await?;
                let path = format!("/projects/{id}");
                let answer = desk.send(Method::Patch, &path, &[], json!({ "status": "active" })).await?;
                Ok(Shown::said(answer, format!("{project} is active")))
            }
        }
    }
}

impl Epic {
    async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Create(args) => {
                let project = desk.project(args.place.named()).await?;
                let body = json!({
                    "number": args.number, "title": args.title, "description": args.description,
                    "phase": args.phase,
                });
                desk.post(&format!("/projects/{project}/epics"), body).await.map(Shown::thing)
            }
            Self::List { place, page } => {
                let path = format!("/projects/{}/epics", desk.project(place.named()).await?);
                Ok(Shown::rows(desk.get(&path, &page.query()).await?, EPICS))
            }
            Self::Delete { epic, place } => {
                let id = desk.epic(&epic, place.named()).await?;
                let answer = desk.delete(&format!("/epics/{id}")).await?;
                Ok(Shown::said(answer, format!("epic {epic} is deleted, with its stories")))
            }
        }
    }
}

async fn create(args: CreateArgs, desk: &Desk) -> Result<Shown, Fault> {
    let project = desk.project(args.place.named()).await?;
    let number = args.number.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let epic = args.epic.as_deref().unwrap_or_else(|| number.split('.').next().unwrap_or(number));
    let epic = desk.epic(epic, Some(&project)).await?;
    let body = json!({
        "number": number, "title": args.title, "description": args.description,
        "acceptance_criteria": criteria(&args.criteria), "estimated_hours": args.hours,
    });
    desk.post(&format!("/epics/{epic}/stories"), body).await.map(Shown::thing)
}

async fn edit(args: EditArgs, desk: &Desk) -> Result<Shown, Fault> {
    let story = desk.story(&args.story.story, args.story.place.named()).await?;
    let metadata = match &args.metadata {
        Some(text) => json_object("--metadata", text)?,
        None => Value::Null,
    };
    let wanted = if args.criteria.is_empty() { Value::Null } else { criteria(&args.criteria) };
    let body = json!({
        "title": args.title, "description": args.description, "acceptance_criteria": wanted,
        "metadata": metadata, "force": args.force.then_some(true),
    });
    desk.send(Method::Patch, &format!("/stories/{story}"), &[], body).await.map(Shown::thing)
}

fn criteria(texts: &[String]) -> Value {
    let one =
        |(place, text): (usize, &String)| json!({ "id": format!("AC-{}", place + 1), "description": text });
    Value::Array(texts.iter().enumerate().map(one).collect())
}

async fn depends(args: DependsArgs, desk: &Desk) -> Result<Shown, Fault> {
    let place = args.place.named();
    let answer = if args.epic {
        let (what, on) = (desk.epic(&args.what, place).await?, desk.epic(&args.on, place).await?);
        desk.post("/epic_dependencies", json!({ "epic_id": what, "depends_on_epic_id": on })).await?
    } else {
        let (what, on) = (desk.story(&args.what, place).await?, desk.story(&args.on, place).await?);
        desk.post("/story_dependencies", json!({ "story_id": what, "depends_on_story_id": on })).await?
    };
    Ok(Shown::said(answer, format!("{} waits for {}", args.what, args.on)))
}

async fn import(args: ImportArgs, desk: &Desk) -> Result<Shown, Fault> {
    let project = desk.project(args.place.named()).await?;
    let (mut payload, taken) = if args.path.is_dir() {
        planning_files::payload(&args.path, args.place.named(), &args.mapping)?
    } else if args.mapping.is_empty() {
        (read_json(&args.path)?, Value::Null)
    } else {
        let message = "`--map` is for a directory of planning files; a JSON plan says its numbers itself";
        return Err(Fault::new(Code::BadArgument, message)
            .kept("nothing was sent")
            .hint("write the other number into the plan, where its `number` stands"));
    };
    if let (Some(fields), Some(reason)) = (payload.as_object_mut(), args.reason) {
        fields.insert("reason".to_owned(), json!(reason));
    }
    let left_behind = verified_there(&payload);
    let query = [("merge", args.merge.then(|| "true".to_owned()))];
    let answer = desk.send(Method::Post, &format!("/projects/{project}/import"), &query, payload).await?;
    let mut shown = match answer.get("import") {
        Some(_) if found(&answer) == &answer => answer["import"].clone(),
        _ => answer,
    };
    if let (Some(fields), Value::Object(taken)) = (shown.as_object_mut(), taken) {
        fields.extend(taken);
    }
    let mut sentences = what_came_in(&shown);
    if left_behind > 0 {
        sentences.push(match left_behind {
            1 => "1 story was verified there; here it is pending".to_owned(),
            several => format!("{several} stories were verified there; here they are pending"),
        });
        if let Some(fields) = shown.as_object_mut() {
            fields.insert("verified_left_behind".to_owned(), json!(left_behind));
        }
    }
    Ok(Shown::said(shown, sentences.join("\n")))
}

/// Stories that were verified where the plan was exported, and do not say that they come in as such: a status that could be
/// brought along would be one that nobody had to earn.
fn verified_there(payload: &Value) -> usize {
    let plan = payload.get("data").filter(|data| data.get("epics").is_some()).unwrap_or(payload);
    let epics = plan["epics"].as_array().into_iter().flatten();
    let stories = epics.flat_map(|epic| epic["stories"].as_array().into_iter().flatten());
    let left = |story: &&Value| {
        story["verified_status"] == "verified" && story.get("initial_verified_status").is_none()
    };
    stories.filter(left).count()
}

/// By number: what was made, what was changed, and what got another number than its author wrote.
fn what_came_in(answer: &Value) -> Vec<String> {
    let counted = |what: [&str; 3], deed: &str| -> Option<String> {
        let [field, one, several] = what;
        let count = answer[format!("{field}_{deed}")].as_u64()?;
        Some(format!("{count} {}", if count == 1 { one } else { several }))
    };
    let all = [
        ["epics", "epic", "epics"],
        ["stories", "story", "stories"],
        ["dependencies", "dependency", "dependencies"],
    ];
    let counts =
        |deed: &str| all.iter().filter_map(|what| counted(*what, deed)).collect::<Vec<_>>().join(", ");
    let mut told = vec![format!("made: {}", counts("created"))];
    told.extend(
        Some(counts("updated")).filter(|text| !text.is_empty()).map(|text| format!("updated: {text}")),
    );
    let list = |what: &str, one: &dyn Fn(&Value) -> String| -> Vec<String> {
        answer[what].as_array().into_iter().flatten().map(one).collect()
    };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let orphans = list("stories_orphaned", &|story| word(&story["number"]));
    if !orphans.is_empty() {
        told.push(format!("in the project and not in this plan: {}", orphans.join(", ")));
    }
    let ignored = list("statuses_ignored", &word);
    if !ignored.is_empty() {
        told.push(format!(
            "a merge changes no status; what the plan says of it is left out for: {}",
            ignored.join(", ")
        ));
    }
    let renumbered = list("renumbered", &|one| format!("{} is {}", word(&one["id"]), word(&one["number"])));
    if !renumbered.is_empty() {
        let count = renumbered.len();
        told.push(format!("renumbered, because a number here has two parts and stands once: {count}"));
        told.extend(renumbered.into_iter().map(|line| format!("  {line}")));
        told.push("  (the id that was written is kept in the story's metadata, planning.id)".to_owned());
    }
    told
}

fn read_json(path: &Path) -> Result<Value, Fault> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text
        .map_err(|error| Fault::new(Code::BadArgument, format!("cannot read {}: {error}", path.display())))?;
    // Some editors put a mark before the text.
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| {
        Fault::new(Code::BadArgument, format!("{} is no JSON: {error}", path.display()))
            .kept("nothing was sent")
    })
}

/// What the queue takes as a short name, made from a name.
fn slug_of(name: &str) -> String {
    let letters = name.to_lowercase();
    let words = letters.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_slug_that_the_queue_takes() {
        assert_eq!(slug_of("My App (v2)"), "my-app-v2");
        assert_eq!(slug_of("windlass"), "windlass");
    }
}
