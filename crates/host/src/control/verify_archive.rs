//! Checks an exported run against itself alone: no repository, no journal and no evidence of this machine is looked at. What
//! the archive says of itself is only believed where it follows from the facts or hashes to its name.

use super::export::{COMMITS, EVIDENCE, JOURNAL, MANIFEST, Manifest, Row, told};
use super::verify::{check_chain, check_rules, failed, judged, passed};
use crate::archive::{ArchiveError, Bounds, Header, Reader};
use crate::evidence::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use windlass_control_api::Fault;
use windlass_control_api::views::{Verification, VerificationCheck};
use windlass_engine::{Stored, engine};
use windlass_git_workspaces::{CommitId, tree_of_commit_object};
use windlass_protocols::{Fact, Millis, RunId};

/// What is held in memory, by kind.
const MOST_LISTING: u64 = 256 * 1024 * 1024;
pub(crate) const MOST_JOURNAL: u64 = 512 * 1024 * 1024;
const MOST_COMMIT: u64 = 4 * 1024 * 1024;
/// Of all commits together.
const MOST_COMMITS: u64 = 256 * 1024 * 1024;
/// A row of a journal takes more than its text.
const MOST_ROWS: usize = 2_000_000;

pub(crate) fn verify(path: &Path) -> Result<Verification, Fault> {
    let mut checks = Vec::new();
    let run = match read(path) {
        Ok(content) => {
            checks.push(passed(
                "the archive",
                "it is whole and was not changed since it was sealed".to_owned(),
            ));
            check(&content, &mut checks);
            content.manifest.run
        }
        Err(ArchiveError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(crate::fault::file_fault("open", path, &error));
        }
        Err(error) => {
            checks.push(failed("the archive", error.to_string()));
            String::new()
        }
    };
    let holds = checks.iter().all(|check| check.holds);
    Ok(Verification { run, holds, checks })
}

/// What was found in an archive.
struct Content {
    manifest: Manifest,
    /// Size and hash of every other file, in the order of the archive.
    found: Vec<(String, u64, String)>,
    journal: Vec<u8>,
    commits: BTreeMap<String, Vec<u8>>,
    commit_bytes: u64,
}

fn read(path: &Path) -> Result<Content, ArchiveError> {
    let form = |what: String| ArchiveError::Form(what);
    let mut reader = Reader::open(path, Bounds::USUAL)?;
    let first = reader.next()?.filter(|header| header.name == MANIFEST);
    let first = first.ok_or_else(|| form(format!("it does not begin with {MANIFEST}")))?;
    let (listing, _) = take(&mut reader, &first, MOST_LISTING)?;
    let manifest: Manifest = serde_json::from_slice(&listing)
        .map_err(|error| form(format!("{MANIFEST} cannot be read: {error}")))?;
    let mut content = Content {
        manifest,
        found: Vec::new(),
        journal: Vec::new(),
        commits: BTreeMap::new(),
        commit_bytes: 0,
    };
    while let Some(header) = reader.next()? {
        // Nothing is unpacked that the list does not announce, at the size it announces.
        let said = content.manifest.files.get(content.found.len());
        if said.is_none_or(|said| said.path != header.name || said.bytes != header.bytes) {
            return Err(form(format!("{} is not the next file of its list", header.name)));
        }
        // An export writes them in order, so that none can stand there twice and be another one each time.
        if content.found.last().is_some_and(|(last, ..)| *last >= header.name) {
            return Err(form(format!("{} is there twice, or out of its order", header.name)));
        }
        let hash = if header.name == JOURNAL {
            let (journal, hash) = take(&mut reader, &header, MOST_JOURNAL)?;
            content.journal = journal;
            hash
        } else if let Some(id) = header.name.strip_prefix(COMMITS) {
            content.commit_bytes += header.bytes.min(MOST_COMMITS);
            if content.commit_bytes > MOST_COMMITS {
                return Err(form(format!("its commits are larger than {MOST_COMMITS} bytes")));
            }
            let (commit, hash) = take(&mut reader, &header, MOST_COMMIT)?;
            content.commits.insert(id.to_owned(), commit);
            hash
        } else if header.name.starts_with(EVIDENCE) {
            let mut hash = Sha256::new();
            reader.content(&header, |bytes| hash.update(bytes))?;
            hex(&hash.finalize())
        } else {
            return Err(form(format!("{} is no file of an archive", header.name)));
        };
        content.found.push((header.name, header.bytes, hash));
    }
    Ok(content)
}

fn take(reader: &mut Reader, header: &Header, most: u64) -> Result<(Vec<u8>, String), ArchiveError> {
    if header.bytes > most {
        return Err(ArchiveError::Form(format!("{} is larger than {most} bytes", header.name)));
    }
    let (mut content, mut hash) = (Vec::new(), Sha256::new());
    reader.content(header, |bytes| {
        hash.update(bytes);
        content.extend_from_slice(bytes);
    })?;
    Ok((content, hex(&hash.finalize())))
}

fn check(content: &Content, checks: &mut Vec<VerificationCheck>) {
    checks.push(check_files(content));
    let id = RunId::new(content.manifest.run.clone());
    let stored = match rows(&content.journal) {
        Ok(stored) => stored,
        Err(why) => {
            checks.push(failed("the chain of facts", why));
            return;
        }
    };
    let chain = check_chain(&id, &stored);
    let broken = !chain.holds;
    checks.push(chain);
    if broken {
        return;
    }
    let facts: Result<Vec<Fact>, _> = stored.iter().map(|row| row.fact(&id)).collect();
    let (facts, run) = match facts.and_then(|facts| Ok((facts, engine::replay(&id, &stored)?))) {
        Ok(read) => read,
        Err(error) => {
            checks.push(failed("facts can be read", error.to_string()));
            return;
        }
    };
    checks.push(check_rules(&facts));
    match told(&id, &stored, &run) {
        Ok(expected) => {
            checks.push(check_manifest(content, &expected));
            checks.push(check_evidence(content, &expected));
            checks.push(check_commits(content, &expected));
        }
        Err(fault) => checks.push(failed("the manifest", fault.message)),
    }
}

fn rows(journal: &[u8]) -> Result<Vec<Stored>, String> {
    let text = std::str::from_utf8(journal).map_err(|error| error.to_string())?;
    let row = |line: &str| {
        let row: Row =
            serde_json::from_str(line).map_err(|error| format!("a row cannot be read: {error}"))?;
        Ok(Stored { version: row.version, at: Millis(row.at), payload: row.payload, hash: row.hash })
    };
    if text.lines().nth(MOST_ROWS).is_some() {
        return Err(format!("it has more than {MOST_ROWS} rows"));
    }
    text.lines().map(row).collect()
}

/// Every file that the list names is there with the bytes it names, and no other.
fn check_files(content: &Content) -> VerificationCheck {
    let listed = &content.manifest.files;
    let mut wrong: Vec<String> = listed
        .iter()
        .zip(&content.found)
        .filter(|(said, (path, bytes, hash))| {
            said.path != *path || said.bytes != *bytes || said.sha256 != *hash
        })
        .map(|(said, _)| format!("{} is not what the list says", said.path))
        .collect();
    wrong.extend(listed.iter().skip(content.found.len()).map(|said| format!("{} is missing", said.path)));
    if content.journal.is_empty() {
        wrong.push(format!("{JOURNAL} is missing"));
    }
    judged("the files of the archive", &wrong, format!("{} are what the list says", listed.len()))
}

/// What the archive says of the run is what its facts say.
fn check_manifest(content: &Content, expected: &Manifest) -> VerificationCheck {
    let said = Manifest { files: Vec::new(), left_out: Vec::new(), ..content.manifest.clone() };
    let wrong = if said == *expected {
        Vec::new()
    } else {
        vec!["it says other things of the run than the facts".to_owned()]
    };
    let short = crate::narrate::short(&expected.last_hash).to_owned();
    judged("the manifest", &wrong, format!("it says what the facts say, which end in {short}"))
}

/// Everything that was sealed is there, under the name that its bytes hash to, and nothing besides.
fn check_evidence(content: &Content, expected: &Manifest) -> VerificationCheck {
    let found: BTreeMap<&str, (&str, u64)> = content
        .found
        .iter()
        .filter_map(|(path, bytes, hash)| Some((path.strip_prefix(EVIDENCE)?, (hash.as_str(), *bytes))))
        .collect();
    let mut wrong: Vec<String> = expected
        .artifacts
        .iter()
        .filter(|artifact| {
            found.get(artifact.sha256.as_str()) != Some(&(artifact.sha256.as_str(), artifact.bytes))
        })
        .map(|artifact| format!("{} of round {} is missing or was changed", artifact.name, artifact.round))
        .collect();
    let known = |name: &str| expected.artifacts.iter().any(|artifact| artifact.sha256 == name);
    wrong.extend(
        found.keys().filter(|name| !known(name)).map(|name| format!("{EVIDENCE}{name} is not the run's")),
    );
    judged("sealed artifacts", &wrong, format!("{} are what they were", expected.artifacts.len()))
}

/// Each commit hashes to its name and holds the tree that was judged.
fn check_commits(content: &Content, expected: &Manifest) -> VerificationCheck {
    const WHAT: &str = "the commits and their trees";
    let (mut wrong, mut looked_at) = (Vec::new(), 0);
    for standing in &expected.trees {
        let Some(id) = &standing.commit else { continue };
        let Some(bytes) = content.commits.get(id) else {
            let said =
                |left_out: &String| left_out.contains(id.as_str()) || left_out.starts_with("the commits: ");
            if !content.manifest.left_out.iter().any(said) {
                wrong.push(format!("commit {id} of {} is missing", standing.label));
            }
            continue;
        };
        let tree = CommitId::parse(id).ok().and_then(|id| tree_of_commit_object(bytes, &id));
        match (tree, &standing.tree) {
            (None, _) => wrong.push(format!("what is said to be commit {id} is another one")),
            (Some(tree), Some(expected)) if tree.as_str() != expected => {
                wrong.push(format!(
                    "commit {id} of {} holds tree {tree}, the judged one is {expected}",
                    standing.label
                ));
            }
            (Some(_), _) => looked_at += 1,
        }
    }
    let known = |id: &str| expected.trees.iter().any(|tree| tree.commit.as_deref() == Some(id));
    wrong.extend(
        content.commits.keys().filter(|id| !known(id)).map(|id| format!("{COMMITS}{id} is not the run's")),
    );
    let mut check = judged(WHAT, &wrong, format!("{looked_at} hold what was judged"));
    if wrong.is_empty() && !content.manifest.left_out.is_empty() {
        check.attention = true;
        check.details = format!("{}; left out: {}", check.details, content.manifest.left_out.join("; "));
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Writer;
    use crate::control::export::{FORMAT, ManifestFile};

    fn listed(path: &str, content: &[u8]) -> ManifestFile {
        let sha256 = crate::evidence::digest(content).to_string();
        ManifestFile { path: path.to_owned(), sha256, bytes: content.len() as u64 }
    }

    /// An archive that is sealed and whole, whatever it says.
    fn archive(path: &Path, listing: &[u8], files: &[(&str, &[u8])]) {
        let mut writer = Writer::new(std::fs::File::create(path).unwrap()).unwrap();
        for (name, content) in [(MANIFEST, listing)].iter().chain(files) {
            let header = Header { name: (*name).to_owned(), bytes: content.len() as u64 };
            writer.add(&header, *content).unwrap();
        }
        writer.finish().unwrap();
    }

    fn manifest(files: Vec<ManifestFile>) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            run: "r".to_owned(),
            facts: 0,
            last_hash: String::new(),
            artifacts: Vec::new(),
            trees: Vec::new(),
            files,
            left_out: Vec::new(),
        }
    }

    #[track_caller]
    fn refusal(path: &Path) -> String {
        let found = verify(path).unwrap();
        assert!(!found.holds);
        assert_eq!(found.checks.len(), 1, "nothing else was looked at");
        found.checks[0].details.clone()
    }

    #[test]
    fn a_file_that_is_there_twice_is_refused() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("one");
        let files = [(JOURNAL, &b"{}\n"[..]), (JOURNAL, &b"[]\n"[..])];
        let list = manifest(files.iter().map(|(name, content)| listed(name, content)).collect());
        archive(&path, &serde_json::to_vec(&list).unwrap(), &files);
        assert!(refusal(&path).contains("is there twice"), "{}", refusal(&path));
    }

    #[test]
    fn what_the_list_does_not_announce_is_not_unpacked() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("one");
        let list = serde_json::to_vec(&manifest(Vec::new())).unwrap();
        archive(&path, &list, &[("evidence/00", b"x")]);
        assert!(refusal(&path).contains("not the next file of its list"), "{}", refusal(&path));
        let list = serde_json::to_vec(&manifest(vec![listed("elsewhere", b"x")])).unwrap();
        archive(&path, &list, &[("elsewhere", b"x")]);
        assert!(refusal(&path).contains("is no file of an archive"), "{}", refusal(&path));
    }

    /// A row takes more memory than its text, so that rows are counted while they are read.
    #[test]
    fn a_list_of_a_million_files_is_refused_while_it_is_read() {
        let row = r#"{"path":"","sha256":"","bytes":0},"#;
        let list = |files: &str, left_out: &str| {
            format!(
                r#"{{"format":"","run":"","facts":0,"last_hash":"","artifacts":[],"trees":[],"files":[{files}],"left_out":[{left_out}]}}"#
            )
        };
        let many = row.repeat(1_000_000);
        let words = r#""","#.repeat(1_000_000);
        for text in [list(many.trim_end_matches(','), ""), list("", words.trim_end_matches(','))] {
            let error = serde_json::from_str::<Manifest>(&text).unwrap_err().to_string();
            assert!(error.contains("more than 500000 entries"), "{error}");
        }
        assert!(serde_json::from_str::<Manifest>(&list("", r#""one""#)).is_ok());
    }

    #[test]
    fn a_journal_of_more_rows_than_any_run_has_is_refused_before_one_is_read() {
        let text = "\n".repeat(MOST_ROWS + 1);
        let why = rows(text.as_bytes()).err().unwrap();
        assert!(why.contains("more than 2000000 rows"), "{why}");
    }
}
