//! A run in one file that proves itself elsewhere: its facts, everything sealed, the commits it speaks of, and a list of it
//! all with hashes. Reads only; the same run gives the same bytes.

use super::standings::{self, At};
use super::verify_archive::MOST_JOURNAL;
use super::{find, queries};
use crate::archive::{Bounds, Header, Writer};
use crate::context::git_commit;
use crate::evidence::{digest, file_digest};
use crate::fault::{bug, file_fault, git_fault};
use crate::host::Host;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use windlass_control_api::keeping::{ExportRun, Exported};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Stored, chain};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{CommitId, Run, RunId};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const JOURNAL: &str = "journal.jsonl";
pub(crate) const EVIDENCE: &str = "evidence/";
pub(crate) const COMMITS: &str = "commits/";
pub(crate) const FORMAT: &str = "windlass-run-archive/1";

/// What an archive says it holds. Everything but the list of files follows from the facts, and is compared with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) format: String,
    pub(crate) run: String,
    pub(crate) facts: u64,
    /// Of the last fact: who knows it from elsewhere knows that the record is the one.
    pub(crate) last_hash: String,
    #[serde(deserialize_with = "few_enough")]
    pub(crate) artifacts: Vec<ManifestArtifact>,
    #[serde(deserialize_with = "few_enough")]
    pub(crate) trees: Vec<ManifestTree>,
    #[serde(deserialize_with = "few_enough")]
    pub(crate) files: Vec<ManifestFile>,
    /// What could not be taken along.
    #[serde(deserialize_with = "few_enough")]
    pub(crate) left_out: Vec<String>,
}

/// A list of somebody else's making, which may have no end: counted while it is read.
fn few_enough<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Counting<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Counting<T> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(item) = items.next_element()? {
                if list.len() == Bounds::USUAL.files {
                    let most = Bounds::USUAL.files;
                    return Err(A::Error::custom(format_args!("a list has more than {most} entries")));
                }
                list.push(item);
            }
            Ok(list)
        }
    }
    from.deserialize_seq(Counting(PhantomData))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManifestArtifact {
    pub(crate) round: u32,
    pub(crate) name: String,
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
}

/// What the run stood at, by the word of its loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManifestTree {
    pub(crate) label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManifestFile {
    pub(crate) path: String,
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
}

/// One row of the journal, as it is written there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) version: u64,
    pub(crate) at: u64,
    pub(crate) payload: String,
    pub(crate) hash: String,
}

/// What follows from the facts alone.
pub(crate) fn told(id: &RunId, stored: &[Stored], run: &Run) -> Result<Manifest, Fault> {
    let artifacts = queries::sealed(id, stored)?.into_iter().map(|(round, artifact)| ManifestArtifact {
        round,
        name: artifact.name,
        sha256: artifact.digest.to_string(),
        bytes: artifact.bytes,
    });
    let mut trees: Vec<ManifestTree> = standings::of(id, stored)?
        .into_iter()
        .map(|standing| match standing.at {
            At::Tree(tree) => {
                ManifestTree { label: standing.label, tree: Some(tree.to_string()), commit: None }
            }
            At::Commit(commit, tree) => ManifestTree {
                label: standing.label,
                tree: tree.map(|tree| tree.to_string()),
                commit: Some(commit.to_string()),
            },
        })
        .collect();
    // What was judged is what the landed commit must hold.
    if let Ok(Protocol::JudgedTask(state)) = find::protocol(run)
        && let Some((commit, _)) = &state.landed
    {
        let tree = state.change.as_ref().map(|change| change.tree.to_string());
        trees.push(ManifestTree { label: "landed".to_owned(), tree, commit: Some(commit.to_string()) });
    }
    Ok(Manifest {
        format: FORMAT.to_owned(),
        run: id.to_string(),
        facts: stored.len() as u64,
        last_hash: chain::verify(id, stored).map_err(crate::fault::journal_fault)?,
        artifacts: artifacts.collect(),
        trees,
        files: Vec::new(),
        left_out: Vec::new(),
    })
}

/// A file of the archive before it is written.
enum Source {
    Here(Vec<u8>),
    Sealed(PathBuf, u64),
}

pub(crate) async fn export(host: &Host, command: ExportRun) -> Result<Exported, Fault> {
    let (head, stored, run) = find::run(host, &command.run).await?;
    let file = command.file.unwrap_or_else(|| PathBuf::from(format!("{}.windlass.tar.gz", head.run)));
    if file.symlink_metadata().is_ok() {
        let message = format!("{} is there already", file.display());
        return Err(Fault::new(Code::BadArgument, message)
            .kept("the file as it is")
            .hint("name another one: `windlass export RUN FILE`"));
    }
    let mut manifest = told(&head.run, &stored, &run)?;
    let mut sources: BTreeMap<String, Source> = BTreeMap::new();
    for artifact in &manifest.artifacts {
        let path = host.evidence.path_of(&windlass_protocols::Digest::new(artifact.sha256.clone()));
        sources.insert(format!("{EVIDENCE}{}", artifact.sha256), Source::Sealed(path, artifact.bytes));
    }
    commits(host, (&head.run, &run), &mut manifest, &mut sources)?;
    let journal = rows(&stored)?;
    if journal.len() as u64 > MOST_JOURNAL {
        return Err(damaged(JOURNAL, &format!("it is larger than {MOST_JOURNAL} bytes")));
    }
    sources.insert(JOURNAL.to_owned(), Source::Here(journal));
    for (path, source) in &sources {
        let (sha256, bytes) = match source {
            Source::Here(content) => (digest(content), content.len() as u64),
            Source::Sealed(from, bytes) => {
                let found = file_digest(from).map_err(|error| damaged(path, &error.to_string()))?;
                (found, *bytes)
            }
        };
        if path.strip_prefix(EVIDENCE).is_some_and(|name| name != sha256.as_str()) {
            return Err(damaged(path, "it is not what was sealed"));
        }
        manifest.files.push(ManifestFile { path: path.clone(), sha256: sha256.to_string(), bytes });
    }
    write(&file, &manifest, sources).map_err(|error| file_fault("write", &file, &error))?;
    let about = file_digest(&file).and_then(|found| Ok((found, file.metadata()?.len())));
    let (sha256, bytes) = about.map_err(|error| file_fault("read", &file, &error))?;
    Ok(Exported {
        run: head.run.to_string(),
        file: file.to_string_lossy().into_owned(),
        bytes,
        sha256: sha256.to_string(),
        facts: manifest.facts,
        artifacts: manifest.artifacts.len() as u64,
        left_out: manifest.left_out,
    })
}

fn damaged(path: &str, why: &str) -> Fault {
    Fault::new(Code::NotVerified, format!("{path} cannot be exported: {why}"))
        .kept("everything as it was found; no archive was written")
        .hint("`windlass verify RUN` names everything that does not hold")
}

fn rows(stored: &[Stored]) -> Result<Vec<u8>, Fault> {
    let mut lines = Vec::new();
    for row in stored {
        let row =
            Row { version: row.version, at: row.at.0, payload: row.payload.clone(), hash: row.hash.clone() };
        serde_json::to_writer(&mut lines, &row).map_err(|error| bug(error.to_string()))?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// The commits as git hashed them; without the repository they are left out with a word.
fn commits(
    host: &Host,
    (id, run): (&RunId, &Run),
    manifest: &mut Manifest,
    sources: &mut BTreeMap<String, Source>,
) -> Result<(), Fault> {
    let wanted: BTreeSet<String> = manifest.trees.iter().filter_map(|tree| tree.commit.clone()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let context = match find::context(host, id, find::protocol(run)?) {
        Ok(context) => context,
        Err(fault) => {
            manifest.left_out.push(format!("the commits: {}", fault.message));
            return Ok(());
        }
    };
    for commit in wanted {
        let git = git_commit(&CommitId::new(commit.clone()))?;
        match context.repository.commit_object(&git).map_err(git_fault)? {
            Some(bytes) => {
                sources.insert(format!("{COMMITS}{commit}"), Source::Here(bytes));
            }
            None => manifest.left_out.push(format!("commit {commit}: the repository does not have it")),
        }
    }
    Ok(())
}

fn too_large(why: String) -> std::io::Error {
    std::io::Error::other(format!("nobody would accept it as an archive: {why}"))
}

/// Under another name first: a file of this name is whole.
fn write(file: &Path, manifest: &Manifest, sources: BTreeMap<String, Source>) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".part-{}", std::process::id()));
    let part = file.with_file_name(name);
    let written = (|| {
        let mut writer = Writer::new(File::create_new(&part)?)?;
        let mut listing = serde_json::to_vec_pretty(manifest)?;
        listing.push(b'\n');
        let header = |name: &str, bytes: u64| Header { name: name.to_owned(), bytes };
        writer.add(&header(MANIFEST, listing.len() as u64), listing.as_slice())?;
        for (path, source) in sources {
            match source {
                Source::Here(content) => {
                    writer.add(&header(&path, content.len() as u64), content.as_slice())?;
                }
                Source::Sealed(from, bytes) => writer.add(&header(&path, bytes), File::open(from)?)?,
            }
        }
        writer.finish()?;
        // What is written here must be accepted elsewhere.
        let unpacked = manifest.files.iter().map(|file| file.bytes).sum::<u64>() + listing.len() as u64;
        let packed = part.metadata()?.len();
        Bounds::USUAL.refuse(manifest.files.len(), unpacked, packed).map_err(too_large)?;
        std::fs::rename(&part, file)
    })();
    if written.is_err() {
        // The first error matters more than a part that could not be taken away.
        let _ = std::fs::remove_file(&part);
    }
    written
}
