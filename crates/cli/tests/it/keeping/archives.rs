//! `windlass export` and `windlass verify FILE`: one file that proves itself on a machine that knows nothing of the run.

use crate::played_run::PlayedRun;
use crate::world;
use serde_json::Value;
use std::path::{Path, PathBuf};
use windlass_test_support::{Output, World};

fn exported(played: &PlayedRun, name: &str) -> (PathBuf, Value) {
    let file = played.world.path().join(name);
    let said = played.about("export", &[file.to_str().unwrap(), "--json"]).exits_with(0).json();
    (file, said)
}

fn verify(world: &World, file: &Path) -> Output {
    world.windlass(&["verify", file.to_str().unwrap(), "--json"])
}

#[test]
fn an_export_is_accepted_where_nothing_else_of_the_run_is_known() {
    let played = PlayedRun::accepted();
    let (file, said) = exported(&played, "one.tar.gz");
    assert!(said["artifacts"].as_u64().unwrap() > 3, "{said:#}");
    assert_eq!(said["left_out"], serde_json::json!([]));
    let (again, _) = exported(&played, "two.tar.gz");
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(&again).unwrap());
    let refused = played.about("export", &[file.to_str().unwrap()]).exits_with(2);
    assert!(refused.stderr.contains("is there already"), "{}", refused.stderr);

    let elsewhere = world();
    let holds = verify(&elsewhere, &file).exits_with(0).json();
    assert_eq!((&holds["run"], &holds["holds"]), (&played.id().into(), &true.into()), "{holds:#}");
    let what: Vec<&str> =
        holds["checks"].as_array().unwrap().iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(
        what,
        [
            "the archive",
            "the files of the archive",
            "the chain of facts",
            "the rules of the loop",
            "the manifest",
            "sealed artifacts",
            "the commits and their trees",
        ]
    );
    assert!(holds["checks"][6]["details"].as_str().unwrap().starts_with("1 hold"), "{holds:#}");
    // Any program that knows tar and gzip can look into it.
    let listed = elsewhere.run(Path::new("/bin/tar"), elsewhere.path(), &["tzf", file.to_str().unwrap()], "");
    assert!(listed.exits_with(0).stdout.starts_with("manifest.json\n"));
}

#[test]
fn every_flipped_byte_and_every_cut_is_found() {
    let played = PlayedRun::accepted();
    let (file, _) = exported(&played, "one.tar.gz");
    let whole = std::fs::read(&file).unwrap();
    let other = played.world.path().join("other.tar.gz");
    let elsewhere = world();
    for at in (0..whole.len()).step_by(whole.len() / 12) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        for damaged in [flipped.as_slice(), &whole[..at]] {
            std::fs::write(&other, damaged).unwrap();
            let found = verify(&elsewhere, &other).exits_with(15).json();
            assert_eq!(found["holds"], false, "byte {at}");
        }
    }
}

#[test]
fn what_is_missing_in_the_evidence_is_not_exported_as_if_it_were_there() {
    let played = PlayedRun::accepted();
    let view = played.about("show", &["--json"]).exits_with(0).json();
    let sealed = PathBuf::from(view["artifacts"][0]["path"].as_str().unwrap());
    std::fs::remove_file(&sealed).unwrap();
    let file = played.world.path().join("one.tar.gz");
    let refused = played.about("export", &[file.to_str().unwrap()]).exits_with(15);
    assert!(refused.stderr.contains("cannot be exported"), "{}", refused.stderr);
    assert!(!file.exists());
    let parts = std::fs::read_dir(played.world.path()).unwrap().flatten();
    assert!(!parts.into_iter().any(|entry| entry.file_name().to_string_lossy().contains(".part-")));
}

#[test]
fn a_run_whose_repository_is_gone_is_exported_with_a_word_about_its_commits() {
    let played = PlayedRun::accepted();
    std::fs::remove_dir_all(played.repository.path().join(".git")).unwrap();
    let (file, said) = exported(&played, "one.tar.gz");
    assert!(said["left_out"][0].as_str().unwrap().starts_with("the commits: "), "{said:#}");
    let holds = verify(&world(), &file).exits_with(0).json();
    let last = holds["checks"].as_array().unwrap().last().unwrap();
    assert_eq!(last["attention"], true, "{holds:#}");
}
