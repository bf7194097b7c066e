//! The story queue under load: 64 clients that claim 10,000 stories over HTTP, against the bare database doing the same
//! writes for as many threads; and its two lists with few stories and with many.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use windlass_test_support::{StoryServer, World};
use xtask::bench::{Bench, Measurement, Medians, interleaved};
use xtask::stopwatch::Stopwatch;

use crate::bare_journal::BareFacts;
use crate::scratch;

const MANY: usize = 10_000;
const FEW: usize = 100;
const CLIENTS: usize = 64;
const STORIES_PER_EPIC: usize = 100;
/// As many as a plan may bring at once.
const STORIES_PER_IMPORT: usize = 5_000;
/// Everybody wants these; each may go to one only.
const CONTESTED: usize = 20;
/// Of each list; one answer is too short to be timed alone.
const CALLS: usize = 20;

/// The whole time of all claims.
pub(crate) fn claims(bench: &Bench) -> Result<Measurement> {
    Ok(Measurement::of_times(measured_claims(bench)?.0))
}

/// What the slowest hundredth waits at least.
pub(crate) fn slowest_claims(bench: &Bench) -> Result<Measurement> {
    Ok(Measurement::of_times(measured_claims(bench)?.1))
}

pub(crate) fn next(bench: &Bench) -> Result<Measurement> {
    list(bench, "ready")
}

pub(crate) fn blocked(bench: &Bench) -> Result<Measurement> {
    list(bench, "blocked")
}

/// Once for both rows.
fn measured_claims(bench: &Bench) -> Result<(Medians, Medians)> {
    static MEASURED: OnceLock<(Medians, Medians)> = OnceLock::new();
    if let Some(measured) = MEASURED.get() {
        return Ok(*measured);
    }
    let measured = measure_claims(bench)?;
    Ok(*MEASURED.get_or_init(|| measured))
}

fn measure_claims(bench: &Bench) -> Result<(Medians, Medians)> {
    let queue = Queue::with(bench, MANY + CONTESTED, Waiting::Nobody)?;
    let keys: Vec<String> =
        (0..CLIENTS).map(|number| queue.server.agent(&format!("agent-{number}"), "agent")).collect();
    let stories = queue.stories()?;
    let contract = |story: &Value| json!({ "story_title": story["title"], "ac_count": 0 });
    queue.shared_out(&keys, &stories, "contract", contract)?;
    let (wanted, contested) = stories.split_at(MANY);
    let before = queue.facts()?.len();
    let ours = queue.shared_out(&keys, wanted, "claim", |_| json!({}))?;
    let facts = queue.facts()?.split_off(before);
    ensure!(
        facts.len() >= MANY && facts.len().is_multiple_of(MANY),
        "{} facts of {MANY} claims",
        facts.len()
    );
    let by_claim: Vec<&[String]> = facts.chunks(facts.len() / MANY).collect();
    let floor = bare_writes(&queue.disk.join("bare.db"), &by_claim)?;
    queue.give_each_to_one(&keys, contested)?;
    Ok((
        Medians { ours: ours.whole, floor: floor.whole },
        Medians { ours: ours.slowest, floor: floor.slowest },
    ))
}

/// How long all of it took, and the 99th of a hundred waits.
struct Load {
    whole: Duration,
    slowest: Duration,
}

/// Shares the work out to as many threads as there are clients; each takes the next piece when it is done with one.
fn under_load<W: Send>(
    pieces: usize,
    begin: impl Fn(usize) -> W + Sync,
    work: impl Fn(&mut W, usize) -> Result<()> + Sync,
) -> Result<Load> {
    let taken = AtomicUsize::new(0);
    let mut workers: Vec<W> = (0..CLIENTS).map(begin).collect();
    let stopwatch = Stopwatch::start();
    let waits = std::thread::scope(|scope| {
        let (taken, work) = (&taken, &work);
        let run = |worker: &mut W| -> Result<Vec<Duration>> {
            let mut waits = Vec::new();
            loop {
                let piece = taken.fetch_add(1, Ordering::Relaxed);
                if piece >= pieces {
                    return Ok(waits);
                }
                let stopwatch = Stopwatch::start();
                work(worker, piece)?;
                waits.push(stopwatch.elapsed());
            }
        };
        let threads: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(move || run(worker))).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("a client does not panic"));
        joined.collect::<Result<Vec<_>>>()
    })?;
    let whole = stopwatch.elapsed();
    let mut waits: Vec<Duration> = waits.concat();
    waits.sort_unstable();
    let slowest = *waits.get(waits.len() * 99 / 100).context("nothing was measured")?;
    Ok(Load { whole, slowest })
}

/// One durable commit for each claim, of the same rows, by threads that take turns at the database.
fn bare_writes(path: &Path, by_claim: &[&[String]]) -> Result<Load> {
    let database = Mutex::new(BareFacts::open(path, "stories")?);
    let hash = "0".repeat(64);
    under_load(
        by_claim.len(),
        |_| (),
        |(), piece| locked(&database).commit(1_700_000_000_000, &hash, by_claim[piece]),
    )
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Nobody,
    /// The second half of each epic waits for its first story.
    Half,
}

struct Queue {
    server: StoryServer,
    project: String,
    disk: PathBuf,
    /// Last: it is the directory of what the server still prints.
    _world: World,
}

impl Queue {
    fn with(bench: &Bench, stories: usize, waiting: Waiting) -> Result<Self> {
        let disk = scratch::directory(bench)?;
        let world = World::new(&bench.program);
        let server = StoryServer::start(&world, &disk.join("data"));
        server.lift_rate_limit();
        let mut user = server.user();
        let made = user.succeed("POST", "/api/v1/projects", &json!({ "name": "bench", "slug": "bench" }));
        let project = made["project"]["id"].as_str().context("a project has an id")?.to_owned();
        let epics: Vec<usize> = (0..stories.div_ceil(STORIES_PER_EPIC)).collect();
        for some in epics.chunks(STORIES_PER_IMPORT / STORIES_PER_EPIC) {
            let plan = plan(some, stories, waiting);
            user.succeed("POST", &format!("/api/v1/projects/{project}/import"), &plan);
        }
        Ok(Self { server, project, disk, _world: world })
    }

    /// With id and title.
    fn stories(&self) -> Result<Vec<Value>> {
        let (mut user, mut all) = (self.server.user(), Vec::new());
        loop {
            let path = format!("/api/v1/stories?project_id={}&limit=500&offset={}", self.project, all.len());
            match user.get(&path)["data"].take() {
                Value::Array(page) if page.is_empty() => return Ok(all),
                Value::Array(page) => all.extend(page),
                other => anyhow::bail!("no list of stories but {other}"),
            }
        }
    }

    /// Every story once, by whichever client is free.
    fn shared_out(
        &self,
        keys: &[String],
        stories: &[Value],
        verb: &str,
        body: impl Fn(&Value) -> Value + Sync,
    ) -> Result<Load> {
        under_load(
            stories.len(),
            |number| self.server.client(&keys[number]),
            |client, piece| {
                let story = &stories[piece];
                let (status, answer) = client.call("POST", &verb_path(story, verb), &body(story));
                ensure!(status == 200, "{verb}: {status} {answer}");
                Ok(())
            },
        )
    }

    /// All clients claim the same stories at the same time.
    fn give_each_to_one(&self, keys: &[String], stories: &[Value]) -> Result<()> {
        let given = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for key in keys {
                let given = &given;
                scope.spawn(move || {
                    let mut client = self.server.client(key);
                    for story in stories {
                        let (status, _) = client.call("POST", &verb_path(story, "claim"), &json!({}));
                        given.fetch_add(usize::from(status == 200), Ordering::Relaxed);
                    }
                });
            }
        });
        let given = given.into_inner();
        ensure!(given == stories.len(), "{} stories were given out {given} times", stories.len());
        Ok(())
    }

    /// What the server has made durable of its tenant.
    fn facts(&self) -> Result<Vec<String>> {
        let path = self.disk.join("data/stories.db");
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let tenants = "run LIKE 'stories:%' AND run <> 'stories:registry'";
        let sql = format!("SELECT payload FROM facts WHERE {tenants} ORDER BY version");
        let mut select = connection.prepare(&sql)?;
        let payloads = select.query_map([], |row| row.get(0))?;
        Ok(payloads.collect::<rusqlite::Result<_>>()?)
    }
}

fn verb_path(story: &Value, verb: &str) -> String {
    format!("/api/v1/stories/{}/{verb}", story["id"].as_str().unwrap_or_default())
}

fn plan(epics: &[usize], stories: usize, waiting: Waiting) -> Value {
    let (mut items, mut edges) = (Vec::new(), Vec::new());
    for epic in epics {
        let (first, number) = (epic * STORIES_PER_EPIC, epic + 1);
        let count = STORIES_PER_EPIC.min(stories - first);
        let story = |place: usize| json!({ "number": format!("{number}.{place}"), "title": format!("Story {number}.{place}") });
        let own: Vec<Value> = (1..=count).map(story).collect();
        items.push(json!({ "number": number, "title": format!("Epic {number}"), "stories": own }));
        if waiting == Waiting::Half {
            let edge = |place: usize| json!({ "story": format!("{number}.{place}"), "depends_on": format!("{number}.1") });
            edges.extend((count / 2 + 1..=count).map(edge));
        }
    }
    json!({ "epics": items, "story_dependencies": edges })
}

/// One page of a list of many stories, against the same page of few.
fn list(bench: &Bench, name: &str) -> Result<Measurement> {
    let many = Queue::with(bench, MANY, Waiting::Half)?;
    let few = Queue::with(bench, FEW, Waiting::Half)?;
    let page = |queue: &Queue| {
        let mut user = queue.server.user();
        let path = format!("/api/v1/stories/{name}?project_id={}&page_size=20", queue.project);
        move || -> Result<()> {
            for _ in 0..CALLS {
                let answer = user.get(&path);
                let rows = answer["data"].as_array().map_or(0, Vec::len);
                ensure!(rows == 20, "a page has {rows} rows: {answer}");
            }
            Ok(())
        }
    };
    Ok(Measurement::of_times(interleaved(31, page(&many), page(&few))?))
}
