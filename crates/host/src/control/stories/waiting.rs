//! Stories that wait for a person, kept beside the orchestration so that `windlass inbox` finds them without asking a queue. The
//! queue is the truth; this is what the last orchestration saw there, and the next one writes it anew.

use super::checkpoint::Escalation;
use super::office::Office;
use super::plan::Story;
use crate::clock::SystemClock;
use crate::durable_file::ensure;
use crate::host::Host;
use crate::state_dir::make_private;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_control_api::inbox::{EvidenceView, InboxEntry};
use windlass_control_api::views::LoopKind;
use windlass_engine::Clock;

const FILE: &str = "waiting.json";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    project: String,
    repository: String,
    /// The git directory, by which repositories are told apart.
    common_dir: String,
    stories: Vec<KeptStory>,
}

/// One story with what a person needs to decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct KeptStory {
    number: String,
    title: String,
    why: String,
    tried: Vec<String>,
    run: Option<String>,
    suggestion: String,
    commands: Vec<String>,
    since_ms: u64,
}

/// What a person can type about a story that was given to them: look at the work, or at the story where there was none.
pub(super) fn ways_on(one: &Escalation, slug: &str, again: &str) -> Vec<String> {
    let name = format!("US-{}", one.number);
    let look = match &one.run {
        Some(run) => format!("windlass show {run}"),
        None => format!("windlass story show {name} --project {slug}"),
    };
    let history = format!("windlass story history {name} --project {slug}");
    let who = one.alarm.then(|| [history, taken_back(&name, slug)]).into_iter().flatten();
    let retry = (!one.for_good).then(|| format!("{again} --retry {name}"));
    let accept = one.alarm.then(|| format!("{again} --accept {name}"));
    std::iter::once(look).chain(who).chain(retry).chain(accept).collect()
}

/// The command by which an orchestrator takes back what others called done.
pub(super) fn taken_back(name: &str, slug: &str) -> String {
    format!("windlass story reject {name} --project {slug} --reason \"…\" --as orchestrator:NAME")
}

/// The command by which an orchestrator lets others begin what nobody works on any more.
pub(super) fn freed(name: &str, slug: &str) -> String {
    format!("windlass story force-unclaim {name} --project {slug} --as orchestrator:NAME")
}

/// What a person can type about a story that is held because somebody tried what custody forbids.
pub(super) fn ways_to_release(name: &str, slug: &str) -> Vec<String> {
    vec![
        format!("windlass story history {name} --project {slug}"),
        format!("windlass story release {name} --project {slug} --reason \"…\""),
    ]
}

impl Office<'_> {
    /// Those that were given to a person, and those whose custody somebody tried.
    pub(super) async fn tell_people(&self) -> Result<(), Fault> {
        let slug = &self.project.slug;
        let escalated = self.notes.read(|note| note.escalated.clone());
        let mut stories = Vec::new();
        for (id, one) in &escalated {
            let sent_back = self.sent_back(id).await?;
            let commands = ways_on(one, slug, &self.again());
            let suggestion = if one.alarm {
                "find out who they are. If nobody you know, a key is in wrong hands: revoke it (`windlass story keys revoke`) and the \
                 keys it made, and take the story back as an orchestrator (`windlass story reject`), then let it be tried again \
                 (`--retry`). If you know them and their word may stand, say so (`--accept`). Until then no story of the project \
                 begins"
            } else if one.for_good {
                "split it into new stories, which begin anew; or do it by hand: contract, claim and start it as an agent \
                 of your own, and have it reported, reviewed and verified by others"
            } else if one.run.is_none() && sent_back.is_empty() {
                "nobody has worked on it yet: read the story as it stands now, mend it where it needs that, then let it be \
                 tried again"
            } else {
                "look at what was sent back; make the story clearer if that is why, then let it be tried again"
            };
            stories.push(KeptStory {
                number: one.number.clone(),
                title: one.title.clone(),
                why: one.why.clone(),
                tried: (1..)
                    .zip(&sent_back)
                    .map(|(number, why)| format!("attempt {number}: {why}"))
                    .collect(),
                run: one.run.clone(),
                suggestion: suggestion.to_owned(),
                commands,
                since_ms: 0,
            });
        }
        // An alarm says more than that it is held.
        let alarms: BTreeSet<&String> =
            escalated.values().filter(|one| one.alarm).map(|one| &one.number).collect();
        let held = self.stories_that(|story| story.quarantined).await?.into_iter();
        for story in held.filter(|story| !alarms.contains(&story.number)) {
            let name = story.name();
            stories.retain(|known| known.number != story.number);
            stories.push(KeptStory {
                title: story.title,
                why: "it is quarantined: somebody tried what custody forbids".to_owned(),
                suggestion: "find out who tried what, then let the story go on".to_owned(),
                commands: ways_to_release(&name, slug),
                number: story.number,
                ..KeptStory::default()
            });
        }
        self.keep_waiting(stories)
    }

    /// However many stories there are: one on the last page counts too.
    pub(super) async fn stories_that(&self, is: impl Fn(&Story) -> bool) -> Result<Vec<Story>, Fault> {
        let of = [("project_id", self.project.id.as_str())];
        let all = self.queue.all(self.identities.user_key(), "/stories", &of).await?;
        Ok(all.iter().map(Story::read).filter(is).collect())
    }

    /// A story that waited before waits since then.
    fn keep_waiting(&self, mut stories: Vec<KeptStory>) -> Result<(), Fault> {
        let file = self.directory.join(FILE);
        let before = read(&file);
        for story in &mut stories {
            let known =
                before.stories.iter().find(|known| known.number == story.number && known.why == story.why);
            story.since_ms = known.map_or_else(|| SystemClock.now().0, |known| known.since_ms);
        }
        let kept = Kept {
            project: self.project.slug.clone(),
            repository: self.checkout.work_tree().to_string_lossy().into_owned(),
            common_dir: self.checkout.common_dir().to_string_lossy().into_owned(),
            stories,
        };
        make_private(&self.directory)?;
        ensure(&file, serde_json::to_string_pretty(&kept).unwrap_or_default().as_bytes())
    }
}

/// Of every project that was orchestrated on this machine, or of one repository.
pub(crate) fn inbox(host: &Host, common_dir: Option<&str>) -> Vec<InboxEntry> {
    let mut entries = Vec::new();
    for tenant in folders(&host.state.path().join("orchestrations")) {
        for project in folders(&tenant) {
            let kept = read(&project.join(FILE));
            if common_dir.is_none_or(|wanted| kept.common_dir == wanted) {
                entries.extend(kept.stories.iter().map(|story| entry(&kept, story)));
            }
        }
    }
    entries
}

fn entry(kept: &Kept, story: &KeptStory) -> InboxEntry {
    let name = format!("US-{}", story.number);
    let run = story
        .run
        .iter()
        .map(|run| EvidenceView { what: "the last attempt".to_owned(), see: format!("windlass show {run}") });
    let history = EvidenceView {
        what: "what happened to it".to_owned(),
        see: format!("windlass story history {name} --project {}", kept.project),
    };
    InboxEntry {
        run: story.run.clone().unwrap_or_default(),
        kind: LoopKind::Stories,
        repository: kept.repository.clone(),
        task: format!("{} {name}", kept.project),
        title: story.title.clone(),
        question: "story".to_owned(),
        cause: story.why.lines().next().unwrap_or_default().to_owned(),
        said: story.why.lines().skip(1).map(str::to_owned).collect(),
        tree: None,
        tried: story.tried.clone(),
        evidence: run.chain([history]).collect(),
        suggestion: story.suggestion.clone(),
        commands: story.commands.clone(),
        waits_since_ms: story.since_ms,
    }
}

/// What is not there or cannot be read says nothing; the next orchestration writes it anew.
fn read(file: &Path) -> Kept {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(of).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = found.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}
