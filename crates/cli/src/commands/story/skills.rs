//! Prompts that agents are given, with versions, by name.

use super::shown::{Columns, Shown};
use super::{InProject, PageArgs};
use crate::stories::{Desk, found, is_id};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass_control_api::stories::{Method, escaped};
use windlass_control_api::{Code, Fault};

const SKILLS: Columns =
    &[("NAME", "name"), ("VERSION", "current_version"), ("STATUS", "status"), ("DESCRIPTION", "description")];

#[derive(Debug, Subcommand)]
pub(crate) enum Skill {
    List(ListArgs),
    Get(GetArgs),
    Create(CreateArgs),
    Update(UpdateArgs),
    /// Show how each version did
    Stats {
        /// The skill's name
        name: String,
    },
    /// List the versions
    History {
        /// The skill's name
        name: String,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Put a skill away
    Archive {
        /// The skill's name
        name: String,
    },
    /// Take a skill up again that was put away
    Activate {
        /// The skill's name
        name: String,
    },
    Import(ImportArgs),
}

/// List the skills
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    place: InProject,
    /// Only active or archived ones
    #[arg(long)]
    status: Option<String>,
    /// A pattern for the name
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

/// Print a skill's text
#[derive(Args, Debug)]
pub(crate) struct GetArgs {
    /// The skill's name, such as loopctl:review
    name: String,
    /// An older version
    #[arg(long, value_name = "N")]
    version: Option<u32>,
}

/// Make a skill from a file
#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// Its name
    #[arg(long)]
    name: String,
    /// Its text
    #[arg(long)]
    file: PathBuf,
    /// What it is for
    #[arg(long)]
    description: Option<String>,
    #[command(flatten)]
    place: InProject,
}

/// Give a skill a new version
#[derive(Args, Debug)]
pub(crate) struct UpdateArgs {
    /// The skill's name
    name: String,
    /// The new text
    #[arg(long)]
    file: PathBuf,
    /// What changed
    #[arg(long)]
    changelog: Option<String>,
}

/// Bring in every Markdown file of a directory that has a name in its front matter
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The directory
    directory: PathBuf,
    #[command(flatten)]
    place: InProject,
}

impl Skill {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::List(args) => {
                let project = in_project(&args.place, desk).await?;
                let query =
                    args.page.with([("project_id", project), ("status", args.status), ("name", args.name)]);
                Ok(Shown::rows(desk.get("/skills", &query).await?, SKILLS))
            }
            Self::Get(args) => get(args, desk).await,
            Self::Create(args) => {
                let body = json!({
                    "name": args.name, "prompt_text": read(&args.file)?, "description": args.description,
                    "project_id": in_project(&args.place, desk).await?,
                });
                desk.post("/skills", body).await.map(Shown::thing)
            }
            Self::Update(args) => {
                let path = format!("/skills/{}/versions", id(&args.name, desk).await?);
                let body = json!({ "prompt_text": read(&args.file)?, "changelog": args.changelog });
                desk.post(&path, body).await.map(Shown::thing)
            }
            Self::Stats { name } => {
                desk.get(&format!("/skills/{}/stats", id(&name, desk).await?), &[]).await.map(Shown::thing)
            }
            Self::History { name, page } => {
                let path = format!("/skills/{}/versions", id(&name, desk).await?);
                let answer = desk.get(&path, &page.query()).await?;
                Ok(Shown::rows(
                    answer,
                    &[("VERSION", "version"), ("WHEN", "inserted_at"), ("WHAT", "changelog")],
                ))
            }
            Self::Archive { name } => {
                let answer = desk.delete(&format!("/skills/{}", id(&name, desk).await?)).await?;
                Ok(Shown::said(answer, format!("{name} is archived")))
            }
            Self::Activate { name } => {
                let path = format!("/skills/{}", id(&name, desk).await?);
                let answer = desk.send(Method::Patch, &path, &[], json!({ "status": "active" })).await?;
                Ok(Shown::said(answer, format!("{name} is active")))
            }
            Self::Import(args) => import(args, desk).await,
        }
    }
}

async fn in_project(place: &InProject, desk: &Desk) -> Result<Option<String>, Fault> {
    match place.named() {
        Some(named) => desk.project(Some(named)).await.map(Some),
        None => Ok(None),
    }
}

async fn id(name: &str, desk: &Desk) -> Result<String, Fault> {
    if is_id(name) {
        return Ok(name.to_owned());
    }
    let answer = desk.get("/skills", &[("name", Some(name.to_owned()))]).await?;
    // The queue takes the name as a pattern: only exactly this one is meant.
    let same = |skill: &&Value| skill["name"] == name;
    let skill = answer["data"].as_array().into_iter().flatten().find(same);
    let id = skill.and_then(|skill| skill["id"].as_str()).map(str::to_owned);
    id.ok_or_else(|| {
        Fault::new(Code::StoryUnknown, format!("no skill is called `{name}`"))
            .hint("`windlass story skill list` shows what there is")
    })
}

async fn get(args: GetArgs, desk: &Desk) -> Result<Shown, Fault> {
    let id = match id(&args.name, desk).await {
        // One that comes with the program is found by its name alone.
        Err(fault) if fault.code == Code::StoryUnknown && args.version.is_none() => {
            let path = format!("/skills/{}", escaped(&args.name));
            let built_in = desk.get(&path, &[]).await;
            return built_in.map(|skill| Shown::text(skill, "prompt_text")).map_err(|_| fault);
        }
        id => id?,
    };
    let version = if let Some(version) = args.version {
        u64::from(version)
    } else {
        let skill = desk.get(&format!("/skills/{id}"), &[]).await?;
        if found(&skill)["prompt_text"].is_string() {
            return Ok(Shown::text(skill, "prompt_text"));
        }
        found(&skill)["current_version"].as_u64().unwrap_or(1)
    };
    let answer = desk.get(&format!("/skills/{id}/versions/{version}"), &[]).await?;
    let answer = answer.get("version").filter(|version| version.is_object()).cloned().unwrap_or(answer);
    Ok(Shown::text(answer, "prompt_text"))
}

async fn import(args: ImportArgs, desk: &Desk) -> Result<Shown, Fault> {
    let mut files = markdown_below(&args.directory)?;
    files.sort();
    let mut skills: Vec<(Value, PathBuf)> = Vec::new();
    let mut passed_over = Vec::new();
    for file in files {
        let below = file.strip_prefix(&args.directory).unwrap_or(&file).to_owned();
        match skill_in(&read(&file)?) {
            Some(skill) => skills.push((skill, below)),
            None => passed_over.push(below.display().to_string()),
        }
    }
    skills.sort_by(|(one, _), (other, _)| one["name"].as_str().cmp(&other["name"].as_str()));
    if let Some([(skill, one), (_, other)]) =
        skills.windows(2).find(|pair| pair[0].0["name"] == pair[1].0["name"])
    {
        let name = skill["name"].as_str().unwrap_or_default();
        let message = format!("`{name}` is the name in {} and in {}", one.display(), other.display());
        return Err(Fault::new(Code::BadArgument, message)
            .kept("nothing was sent")
            .hint("give one another name"));
    }
    if skills.is_empty() {
        let (place, count) = (args.directory.display(), passed_over.len());
        let message = format!("{place} holds no skill; Markdown files without a name at their top: {count}");
        return Err(Fault::new(Code::BadArgument, message)
            .kept("nothing was sent")
            .hint("a skill begins with a line `---`, `name: NAME`, and a line `---`"));
    }
    let skills: Vec<Value> = skills.into_iter().map(|(skill, _)| skill).collect();
    let body = json!({ "skills": skills, "project_id": in_project(&args.place, desk).await? });
    let mut answer = desk.post("/skills/import", body).await?;
    let counts = answer["import"].take();
    let count = |name: &str| counts[name].as_u64().unwrap_or_default();
    let mut told = format!(
        "{} skills: {} new, {} with a new version, {} unchanged",
        count("total"),
        count("created"),
        count("updated"),
        count("unchanged")
    );
    if !passed_over.is_empty() {
        told = format!("{told}\npassed over, for they have no name at their top: {}", passed_over.join(", "));
    }
    let mut shown = counts;
    shown["passed_over"] = json!(passed_over);
    Ok(Shown::said(json!({ "import": shown }), told))
}

/// A link is a file if it leads to one; where it leads to a directory it is not followed, for it could lead in a circle.
fn markdown_below(directory: &Path) -> Result<Vec<PathBuf>, Fault> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| cannot_read(&folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| cannot_read(&folder, &error))?;
            let kind = entry.file_type().map_err(|error| cannot_read(&folder, &error))?;
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if path.is_file() && path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// A Markdown file whose front matter has a name is a skill; what follows is its text. Lines may end as on Windows.
fn skill_in(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (front, prompt) = text.strip_prefix("---\n")?.split_once("\n---")?;
    let field = |name: &str| {
        let line = front.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
    };
    // A list or an object is no name, and half of one is a slip.
    let name = field("name").filter(|name| !name.starts_with(['[', '{']))?;
    Some(json!({ "name": name, "description": field("description"), "prompt_text": prompt.trim() }))
}

fn read(path: &Path) -> Result<String, Fault> {
    std::fs::read_to_string(path).map_err(|error| cannot_read(path, &error))
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Code::BadArgument, format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_name_in_its_front_matter_is_a_skill() {
        let skill = skill_in("---\nname: loopctl:review\ndescription: \"reads\"\n---\n\nRead it.\n").unwrap();
        assert_eq!(
            skill,
            json!({"name": "loopctl:review", "description": "reads", "prompt_text": "Read it."})
        );
        let marked = "\u{feff}---\r\nname: loopctl:review\r\ndescription: reads\r\n---\r\nRead it.\r\n";
        assert_eq!(skill_in(marked).as_ref(), Some(&skill), "with a mark, and lines as on Windows");
        assert_eq!(skill_in("---\nname: [broken\n---\ntext"), None);
        assert_eq!(skill_in("# Just a page\n"), None);
        assert_eq!(skill_in("---\ntitle: x\n---\ntext"), None);
    }
}
