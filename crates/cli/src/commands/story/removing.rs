//! Verbs that take something out of the plan: a story, or that one thing waits for another. The log keeps what it was.

use super::plan::DependsArgs;
use super::shown::Shown;
use crate::stories::{Desk, found};
use clap::{Args, Subcommand};
use serde_json::Value;
use windlass_control_api::{Code, Fault};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Removing {
    Delete(DeleteArgs),
    /// Let a story, or with `--epic` an epic, wait for another no longer
    Undepend(DependsArgs),
}

/// Delete a story; nothing waits for it any more
#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    story: super::OneStory,
}

impl Removing {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Delete(args) => {
                let named = &args.story.story;
                let id = desk.story(named, args.story.place.named()).await?;
                let answer = desk.delete(&format!("/stories/{id}")).await?;
                Ok(Shown::said(answer, format!("{named} is deleted")))
            }
            Self::Undepend(args) => undepend(args, desk).await,
        }
    }
}

/// An edge has an id that nobody knows by heart: it is found by its ends.
async fn undepend(args: DependsArgs, desk: &Desk) -> Result<Shown, Fault> {
    let place = args.place.named();
    let (kind, list, ends, fields) = if args.epic {
        let ends = (desk.epic(&args.what, place).await?, desk.epic(&args.on, place).await?);
        let list = format!("/projects/{}/epic_dependencies", desk.project(place).await?);
        ("epic", list, ends, ("epic_id", "depends_on_epic_id"))
    } else {
        let ends = (desk.story(&args.what, place).await?, desk.story(&args.on, place).await?);
        let story = desk.get(&format!("/stories/{}", ends.0), &[]).await?;
        let list =
            format!("/epics/{}/story_dependencies", found(&story)["epic_id"].as_str().unwrap_or_default());
        ("story", list, ends, ("story_id", "depends_on_story_id"))
    };
    let edges = desk.get(&list, &[]).await?;
    let is_it = |edge: &&Value| edge[fields.0] == ends.0.as_str() && edge[fields.1] == ends.1.as_str();
    let edge = edges["data"].as_array().into_iter().flatten().find(is_it);
    let Some(id) = edge.and_then(|edge| edge["id"].as_str()) else {
        let message = format!("{} does not wait for {}", args.what, args.on);
        return Err(
            Fault::new(Code::StoryUnknown, message).hint("`windlass story blocked` says what waits for what")
        );
    };
    let answer = desk.delete(&format!("/{kind}_dependencies/{id}")).await?;
    Ok(Shown::said(answer, format!("{} waits for {} no longer", args.what, args.on)))
}
