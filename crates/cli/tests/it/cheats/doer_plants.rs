//! A doer that plants something: programs for the engine's git to run, output for the judge to believe, processes that
//! outlive it, links out of the tree, repositories inside it.

use super::{both_ways, doer_also, judged_as_if_it_had_not, passing_doer_also, unfenced};
use crate::invariants::Watched;
use crate::scene::Scene;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use windlass_test_support::{Script, SmallDisk, When};

/// A doer that plants this before or after its work; `MARK` is a program that leaves a mark where it ran.
#[track_caller]
fn never_runs(plant: &str) {
    let scene = unfenced();
    let mark = scene.world.shared("mark.sh");
    let marked = scene.world.shared("marked");
    let program = format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", marked.display());
    std::fs::write(&mark, program).expect("the world can be written");
    let plant = plant.replace("MARK", &mark.display().to_string());
    let plant = format!("{{ run = ['sh', '-c', '''set -e; chmod +x {}; {plant}'''] }}", mark.display());
    let forget = format!("{{ delete = '{}' }}", marked.display());
    let touch = format!("{{ write = '{}', text = '' }}", marked.display());
    // What the doer's own git set off while planting is the doer's own business.
    let script = passing_doer_also(&[&plant, &touch, &forget]);
    let played = scene.play(&script, &["--check", "test -f done.txt"]);
    let ran = |when: &str| {
        let text = std::fs::read_to_string(&marked).unwrap_or_default();
        assert_eq!(text, "", "the planted program ran {when}");
    };
    ran("during the run");
    assert!(is_planted(&scene.repository.path().join(".git")), "nothing was planted that could have run");
    let run = played.run().to_owned();
    for command in
        [&["show", &run][..], &["diff", &run], &["verify", &run], &["explain", &run], &["clean", &run]]
    {
        let _ = scene.world.windlass(&[command, &["--json"]].concat());
        ran(command[0]);
    }
    let config = scene.repository.path().join(".git/config");
    std::fs::write(config, "[core]\n\trepositoryformatversion = 0\n").expect("the repository can be written");
    let played = played.exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(scene.landed_changes(), ["A\tdone.txt"]);
}

/// Whether some file of the git directory names the planted program or is a copy of it.
fn is_planted(directory: &Path) -> bool {
    std::fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return entry.file_name() != "objects" && is_planted(&path);
        }
        let content = std::fs::read(&path).unwrap_or_default();
        content.windows(b"/scripts/mark".len()).any(|window| window == b"/scripts/mark")
    })
}

#[test]
fn a_file_system_monitor_never_runs() {
    never_runs("git config core.fsmonitor MARK");
}

#[test]
fn a_clean_and_smudge_filter_never_runs() {
    never_runs(
        "git config filter.x.clean MARK; git config filter.x.smudge MARK; git config filter.x.process MARK; \
         d=$(git rev-parse --git-common-dir)/info; mkdir -p $d; echo \"* filter=x\" > $d/attributes",
    );
}

#[test]
fn a_hooks_path_never_runs() {
    never_runs(
        "d=$(git rev-parse --git-common-dir)/planted; mkdir -p $d; for h in pre-commit post-commit \
         post-checkout post-index-change reference-transaction pre-auto-gc post-rewrite; do cp MARK $d/$h; \
         done; git config core.hooksPath $d",
    );
}

#[test]
fn hooks_in_the_hooks_directory_never_run() {
    never_runs(
        "d=$(git rev-parse --git-common-dir)/hooks; mkdir -p $d; for h in pre-commit post-commit \
         post-checkout post-index-change reference-transaction pre-auto-gc post-rewrite post-merge; do \
         cp MARK $d/$h; done",
    );
}

#[test]
fn a_text_conversion_never_runs() {
    never_runs(
        "git config diff.x.textconv MARK; git config diff.x.command MARK; \
         d=$(git rev-parse --git-common-dir)/info; mkdir -p $d; echo \"* diff=x\" > $d/attributes",
    );
}

#[test]
fn an_external_diff_never_runs() {
    never_runs(
        "git config diff.external MARK; git config core.pager MARK; git config interactive.diffFilter MARK",
    );
}

#[test]
fn aliases_and_editors_never_run() {
    never_runs(
        "for a in diff add commit status write-tree read-tree checkout-index update-ref; do \
         git config alias.$a \"!MARK\"; done; git config core.editor MARK; git config gpg.program MARK; \
         git config commit.gpgSign true; git config core.sshCommand MARK; git config credential.helper MARK",
    );
}

#[test]
fn an_included_configuration_never_runs() {
    never_runs(
        "f=$(git rev-parse --git-common-dir)/planted.config; printf \"[core]\\n\\tfsmonitor = MARK\\n\" > $f; \
         git config include.path $f",
    );
}

#[test]
fn a_configuration_of_the_worktree_alone_never_runs() {
    never_runs("git config extensions.worktreeConfig true; git config --worktree core.fsmonitor MARK");
}

#[test]
fn a_filter_named_by_attributes_inside_the_tree_never_runs() {
    let scene = unfenced();
    let marked = scene.world.shared("marked");
    let mark = format!(
        "git config filter.x.clean \"touch {0}; cat\"; git config filter.x.smudge \"touch {0}; cat\"",
        marked.display()
    );
    let script = passing_doer_also(&[
        "{ write = '.gitattributes', text = '* filter=x' }",
        &format!("{{ run = ['sh', '-c', '{mark}'] }}"),
    ]);
    let played = scene.play(&script, &[]);
    assert!(!marked.exists(), "the filter ran");
    played.exits_with(0);
    assert_eq!(
        scene.repository.git(&["-c", "filter.x.clean=cat", "show", "windlass/TASK-1:done.txt"]),
        "done"
    );
}

#[test]
fn ignored_build_output_does_not_reach_the_judge() {
    let scene = unfenced();
    scene.repository.write(".gitignore", "build/\n").commit("ignore build output");
    let script = passing_doer_also(&["{ write = 'build/ok', text = 'all tests passed' }"]);
    let played = scene.play(&script, &["--check", "test -f build/ok", "--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject reject not-run 1");
    assert_eq!(scene.world.steps(), ["doer 1 1"], "a red check needs no judge");
    scene.assert_nothing_landed();
}

#[test]
fn ignored_output_of_a_check_does_not_reach_the_next_round() {
    let scene = unfenced();
    scene.repository.write(".gitignore", "build/\n").commit("ignore build output");
    let script = passing_doer_also(&["{ write = 'round-{round}.txt', text = 'x' }"]);
    // Red in the first round, and leaves behind what would make it green in the second.
    let check = "if test -f build/ok; then exit 0; fi; mkdir -p build; touch build/ok; exit 1";
    let played = scene.play(&script, &["--check", check, "--rounds", "2"]).exits_with(10);
    assert_eq!(played.words(), "reject reject not-run 2");
    scene.assert_nothing_landed();
}

#[test]
fn a_process_that_goes_on_writing_changes_nothing_that_is_judged() {
    let scene = unfenced();
    let writer = "{ fork = { kind = 'double', hold_stdout = true, then = [{ ignore_term = true }, \
                  { beat = 'done.txt', every_ms = 1 }] } }";
    let script = doer_also(&[writer])
        .judge(When::Always, &["{ run = ['cp', 'done.txt', '{script_dir}/seen'] }", "{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    let seen = std::fs::read_to_string(scene.world.shared("seen")).unwrap();
    assert_eq!(scene.landed_file("done.txt"), seen.trim_end_matches('\n'), "what was judged is what landed");
    let worktree = std::fs::read_to_string(played.run_dir.join("worktrees/doer/done.txt")).unwrap();
    assert_eq!(worktree, seen, "nobody wrote after the snapshot");
    scene.world.assert_no_processes();
}

#[track_caller]
fn is_a_hazard(actions: &[&str], said: &str) {
    for scene in both_ways() {
        let script: Script = passing_doer_also(actions);
        let watched = Watched::begin(&scene.repository);
        let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
        assert_eq!(played.words(), "reject not-run not-run 1");
        assert!(played.explained().contains(said), "{said} is not in {}", played.explained());
        assert_eq!(scene.world.steps(), ["doer 1 1"]);
        scene.assert_nothing_landed();
        let _ = watched.end(&scene.world, &scene.repository, &[]);
    }
}

#[test]
fn a_link_to_a_file_of_the_host_is_sent_back() {
    is_a_hazard(&["{ symlink = 'passwd', target = '/etc/passwd' }"], "leaves the tree");
}

#[test]
fn a_link_out_of_the_tree_is_sent_back() {
    is_a_hazard(&["{ symlink = 'out', target = '../../../../..' }"], "leaves the tree");
}

#[test]
fn a_link_into_the_git_directory_is_sent_back() {
    is_a_hazard(&["{ symlink = 'config', target = '.git' }"], "leaves the tree");
}

#[test]
fn an_embedded_repository_is_sent_back() {
    is_a_hazard(
        &["{ run = ['git', 'init', '-q', 'inner'] }", "{ write = 'inner/hidden.txt', text = 'x' }"],
        "inner",
    );
}

#[test]
fn an_embedded_repository_with_a_commit_is_sent_back() {
    is_a_hazard(
        &[
            "{ run = ['git', 'init', '-q', 'inner'] }",
            "{ run = ['git', '-C', 'inner', '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', \
             '--allow-empty', '-m', 'x'] }",
        ],
        "repository of its own",
    );
}

#[test]
fn a_submodule_put_into_the_index_only_is_not_part_of_the_change() {
    let scene = unfenced();
    let head = scene.repository.git(&["rev-parse", "HEAD"]);
    let gitlink = format!("{{ run = ['git', 'update-index', '--add', '--cacheinfo', '160000,{head},sub'] }}");
    let played = scene.play(&passing_doer_also(&[&gitlink]), &[]);
    judged_as_if_it_had_not(&scene, played);
}

#[test]
fn a_file_of_300_megabytes_is_sent_back() {
    is_a_hazard(&["{ run = ['truncate', '--size', '300M', 'big.bin'] }"], "changed bytes are more than");
}

/// Far beyond every limit: told in the time it takes to look at it, within 256 MB of memory, and nothing of it is stored.
#[track_caller]
fn is_told_without_being_read(plant: &str, said: &str) {
    for scene in both_ways() {
        told_without_being_read(&scene, plant, said);
    }
}

#[track_caller]
fn told_without_being_read(scene: &Scene, plant: &str, said: &str) {
    let plant = format!("{{ run = ['sh', '-c', '{plant}'] }}");
    let agent = scene.world.agent("script.toml", &passing_doer_also(&[&plant]));
    let bounded = ["--data=268435456", scene.world.program().to_str().unwrap()];
    let task = ["run", "Add done.txt", "--id", crate::scene::TASK, "--repo", scene.repository.text()];
    let flags = ["--json", "--rounds", "1", "--agent", agent.as_str()];
    let words = [&bounded[..], &task, &flags].concat();
    let output = scene.world.run(Path::new("prlimit"), scene.world.path(), &words, "");
    let played = crate::scene::Played::of(&output).exits_with(10);
    assert_eq!(played.words(), "reject not-run not-run 1");
    let explained = played.explained();
    for said in [said, "too large to be recorded"] {
        assert!(explained.contains(said), "{said} is not in {explained}");
    }
    assert_eq!(scene.world.steps(), ["doer 1 1"]);
    scene.assert_nothing_landed();
    assert!(played.has(1, "handoff.json"), "what the doer said is kept");
    assert!(played.run_dir.join("worktrees/doer/done.txt").is_file(), "what the doer made is kept");
    assert!(stored(&scene.world.state_dir()) < 16 << 20, "its content was stored");
    let _ = scene.world.windlass(&["verify", played.run()]).exits_with(0);
}

/// What a directory takes, in bytes.
fn stored(directory: &Path) -> u64 {
    std::fs::read_dir(directory).into_iter().flatten().flatten().fold(0, |bytes, entry| {
        let found = entry.metadata().unwrap();
        bytes + if found.is_dir() { stored(&entry.path()) } else { found.blocks() * 512 }
    })
}

#[test]
fn a_sparse_file_of_4_gigabytes_is_sent_back_unread() {
    is_told_without_being_read("truncate --size 4G big.bin", "4294967300 changed bytes are more than");
}

#[test]
fn a_tracked_file_that_became_4_gigabytes_is_sent_back_unread() {
    is_told_without_being_read("truncate --size 4G README.md", "4294967296 changed bytes are more than");
}

#[test]
fn two_hundred_thousand_files_are_sent_back_unread() {
    // On a disk of memory: to make so many files takes some disks minutes.
    windlass_test_support::in_private_mounts(
        concat!(module_path!(), "::two_hundred_thousand_files_are_sent_back_unread"),
        || {
            for scene in both_ways() {
                let _disk = SmallDisk::under(&[scene.repository.path()]);
                let plant = "mkdir many && cd many && seq 200000 | xargs touch";
                told_without_being_read(&scene, plant, "200001 changed paths are more than 10000");
            }
        },
    );
}

#[test]
fn a_git_directory_in_capital_letters_is_sent_back() {
    is_a_hazard(&["{ write = '.GIT/hooks/pre-commit', text = 'x' }"], ".GIT");
}

#[test]
fn a_file_named_like_an_option_is_only_a_file() {
    for scene in both_ways() {
        let played = scene.play(&passing_doer_also(&["{ write = '--output=README.md', text = 'x' }"]), &[]);
        assert_eq!(played.exits_with(0).words(), "pass pass pass 1");
        assert_eq!(scene.landed_changes(), ["A\t--output=README.md", "A\tdone.txt"]);
    }
}

/// Some file system takes each of them for `.git`.
#[test]
fn git_directories_in_other_spellings_are_sent_back() {
    for name in [".Git", "git~1", ".git ", ".git.", ".g\u{200c}it", ".git::$INDEX_ALLOCATION"] {
        let actions = format!("{{ write = '{name}/hooks/pre-commit', text = 'x' }}");
        let scene = Scene::new();
        let played = scene.play(&passing_doer_also(&[&actions]), &["--rounds", "1"]).exits_with(10);
        assert_eq!(played.words(), "reject not-run not-run 1", "{name:?}");
        scene.assert_nothing_landed();
    }
}

/// On another machine they may be one file; here each is what it is called.
#[test]
fn names_that_differ_by_case_or_form_only_are_names_of_their_own() {
    let scene = Scene::new();
    let names = ["readme.md", "caf\u{e9}.txt", "cafe\u{301}.txt"];
    let writes = names.map(|name| format!("{{ write = '{name}', text = '{name}' }}"));
    let played = scene.play(&passing_doer_also(&writes.each_ref().map(String::as_str)), &[]);
    assert_eq!(played.exits_with(0).words(), "pass pass pass 1");
    for name in names {
        assert_eq!(scene.landed_file(name), name);
    }
    assert_eq!(scene.landed_file("README.md"), "# A repository");
}
