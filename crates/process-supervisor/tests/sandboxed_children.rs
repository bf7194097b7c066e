//! Children inside a fence: what they may write, what they may not, and that nothing else about them changes. Each test runs
//! with every means this machine has.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use support::World;
use windlass_process_supervisor::{ChildEnd, HowEnded, NotStartedKind, Sandbox, SandboxKind, sandbox_means};

fn kinds() -> Vec<SandboxKind> {
    let means = sandbox_means(&support::keeper().program);
    let mut kinds = Vec::new();
    kinds.extend(means.landlock.is_ok().then_some(SandboxKind::Landlock));
    kinds.extend(means.namespaces.is_ok().then_some(SandboxKind::Namespaces));
    assert!(!kinds.is_empty(), "this machine has no sandbox to test: {means:?}");
    kinds
}

/// Runs a script that may write below `inside` only.
fn fenced(world: &World, kind: SandboxKind, script: &str) -> ChildEnd {
    std::fs::create_dir_all(world.file("inside")).unwrap();
    std::fs::create_dir_all(world.file("outside")).unwrap();
    std::fs::write(world.file("outside/there"), "there").unwrap();
    let mut spec = world.script(script);
    spec.sandbox = Some(Sandbox { kind, writable: vec![world.file("inside"), "/nowhere".into()] });
    world.run(&spec)
}

#[track_caller]
fn is_done(end: &ChildEnd, world: &World) {
    let said = std::fs::read_to_string(world.effect().join("stderr.log")).unwrap_or_default();
    assert_eq!(end.how, HowEnded::Exited { code: 0 }, "{said}");
}

#[test]
fn inside_its_places_everything_works() {
    for kind in kinds() {
        let world = World::new();
        let script = "set -e; cd $T/inside; mkdir -p a/b; echo 1 > a/f; mv a/f a/b/g; ln -s g a/b/l; ln a/b/g a/h; \
                      echo 2 >> a/h; : > a/h; mkfifo p; chmod 700 a; rm -r p; rmdir a/b 2>/dev/null || true; \
                      cat $T/outside/there; echo gone > /dev/null; sleep 0.01 & wait";
        let end = fenced(&world, kind, script);
        is_done(&end, &world);
        assert_eq!(world.stdout(), "there", "reading goes on everywhere");
        assert_eq!(end.sandbox, Some(kind), "the record says what was in force");
    }
}

#[test]
fn outside_of_them_nothing_can_be_written() {
    let attacks = [
        "echo x > $T/outside/there",
        "echo x >> $T/outside/there",
        ": > $T/outside/there",
        "truncate -s 0 $T/outside/there",
        "rm $T/outside/there",
        "mv $T/outside/there $T/inside/",
        "ln $T/outside/there $T/inside/linked && echo x > $T/inside/linked",
        "ln -s $T/outside/there $T/inside/symlink && echo x > $T/inside/symlink",
        "mkdir $T/outside/new",
        "touch $T/outside/new",
        "mkfifo $T/outside/new",
        "mv $T/outside $T/elsewhere",
        "echo x > $T/effect/exit.json",
        "cd $T/inside && echo x > ../outside/there",
        "cp /bin/true $T/outside/true",
    ];
    for kind in kinds() {
        for attack in attacks {
            let world = World::new();
            let script = format!("if ({attack}); then echo done; else echo refused; fi");
            let end = fenced(&world, kind, &script);
            is_done(&end, &world);
            assert_eq!(world.stdout(), "refused\n", "{kind:?}: {attack}");
            assert_eq!(std::fs::read_to_string(world.file("outside/there")).unwrap(), "there", "{attack}");
            let left: Vec<PathBuf> = std::fs::read_dir(world.file("outside"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            assert_eq!(left, [world.file("outside/there")], "{kind:?}: {attack}");
        }
    }
}

#[test]
fn no_descendant_gets_out_however_it_was_detached() {
    for kind in kinds() {
        let world = World::new();
        let write = "echo x > $T/outside/there; : > $T/inside/tried";
        let script =
            format!("setsid sh -c '({write}) &' ; while ! [ -e $T/inside/tried ]; do sleep 0.01; done");
        let end = fenced(&world, kind, &script);
        is_done(&end, &world);
        assert_eq!(std::fs::read_to_string(world.file("outside/there")).unwrap(), "there", "{kind:?}");
    }
}

#[test]
fn a_namespace_made_inside_does_not_undo_it() {
    for kind in kinds() {
        let world = World::new();
        let remount = "mount -o remount,rw,bind / ; umount -l $T/inside; mount --bind $T/outside $T/inside; \
                       echo x > $T/outside/there; echo x > $T/inside/there";
        let script =
            format!("unshare -rm sh -c '{remount}' 2>/dev/null; sh -c '{remount}' 2>/dev/null; true");
        let end = fenced(&world, kind, &script);
        is_done(&end, &world);
        assert_eq!(std::fs::read_to_string(world.file("outside/there")).unwrap(), "there", "{kind:?}");
    }
}

#[test]
fn its_keeper_cannot_be_reached_from_inside() {
    for kind in kinds() {
        let world = World::new();
        // The memory and the descriptors of the keeper are a way around every fence.
        let script = "k=$PPID; if (: >> /proc/$k/mem); then echo in; fi; \
                      if (: > /proc/$k/root$T/outside/there); then echo around; fi; echo end";
        let end = fenced(&world, kind, script);
        is_done(&end, &world);
        assert_eq!(world.stdout(), "end\n", "{kind:?}");
    }
}

#[test]
fn it_cannot_signal_its_keeper_where_the_kernel_can_and_is_ended_as_ever() {
    // Kept to itself by Landlock, also where it is held by mounts.
    if !kinds().contains(&SandboxKind::Landlock) {
        return;
    }
    for kind in kinds() {
        let world = World::new();
        let script = "kill -KILL $PPID && echo killed; (sleep 600 &) ; kill -TERM $$";
        let end = fenced(&world, kind, script);
        assert_eq!(end.how, HowEnded::Signaled { signal: 15 }, "{kind:?}");
        assert_eq!(end.leaked_processes, 1, "{kind:?}: the keeper reaches in");
        assert_eq!(world.stdout(), "", "{kind:?}");
    }
}

/// Root could enter the mounts of another step through `/proc`: both have the same rights.
#[test]
fn one_child_cannot_reach_through_another() {
    for kind in kinds() {
        let (first, second) = (World::new(), World::new());
        std::fs::create_dir_all(first.file("inside")).unwrap();
        let waits = "echo $$ > $T/inside/pid; while ! [ -e $T/inside/end ]; do sleep 0.01; done";
        let end = std::thread::scope(|scope| {
            let other = scope.spawn(|| fenced(&first, kind, waits));
            let script = format!(
                "while ! [ -s {0}/pid ]; do sleep 0.01; done; P=$(cat {0}/pid); \
                 if (echo x > /proc/$P/root{0}/planted); then echo in; fi; \
                 if (echo x > /proc/$P/cwd/planted); then echo in; fi; \
                 if (: >> /proc/$P/mem); then echo in; fi; echo end",
                first.file("inside").display()
            );
            let end = fenced(&second, kind, &script);
            std::fs::write(first.file("inside/end"), "").unwrap();
            is_done(&other.join().unwrap(), &first);
            end
        });
        is_done(&end, &second);
        assert_eq!(second.stdout(), "end\n", "{kind:?}");
        assert!(!first.file("inside/planted").exists(), "{kind:?}");
    }
}

#[test]
fn its_directory_its_input_and_its_name_are_the_same_inside() {
    for kind in kinds() {
        let world = World::new();
        std::fs::write(world.file("input"), "fed").unwrap();
        std::fs::create_dir_all(world.file("inside")).unwrap();
        let mut spec = world.script("pwd; cat; echo; echo $0; echo x > here");
        spec.directory = world.file("inside");
        spec.stdin = windlass_process_supervisor::ChildStdin::File { path: world.file("input") };
        spec.sandbox = Some(Sandbox { kind, writable: vec![world.file("inside")] });
        let end = world.run(&spec);
        is_done(&end, &world);
        assert_eq!(world.stdout(), format!("{}\nfed\nsh\n", world.file("inside").display()));
        assert!(world.file("inside/here").is_file(), "{kind:?}");
    }
}

#[test]
fn a_program_that_is_not_there_is_told_as_ever() {
    for kind in kinds() {
        let world = World::new();
        let mut spec = world.script("");
        spec.program = "no-such-program".into();
        spec.sandbox = Some(Sandbox { kind, writable: Vec::new() });
        let end = world.run(&spec);
        let HowEnded::NotStarted { why, .. } = end.how else { panic!("{end:?}") };
        assert_eq!(why, NotStartedKind::NotFound);
        spec.program = world.file("not-executable");
        std::fs::write(&spec.program, "").unwrap();
        std::fs::remove_dir_all(world.effect()).unwrap();
        assert!(matches!(world.run(&spec).how, HowEnded::NotStarted { .. }), "{kind:?}");
    }
}

#[test]
fn a_file_alone_can_be_a_place() {
    for kind in kinds() {
        let world = World::new();
        std::fs::write(world.file("file"), "a").unwrap();
        let mut spec = world.script("echo b > $T/file && ! rm -f $T/file && ! touch $T/other");
        spec.sandbox = Some(Sandbox { kind, writable: vec![world.file("file")] });
        is_done(&world.run(&spec), &world);
        assert_eq!(std::fs::read_to_string(world.file("file")).unwrap(), "b\n", "{kind:?}");
        assert!(!Path::new(&world.file("other")).exists());
    }
}

/// What a fenced child can find out about a process of its own user that has a key.
#[test]
fn no_other_process_can_be_looked_into_whoever_runs_this() {
    for kind in kinds() {
        let world = World::new();
        let key = BTreeMap::from([("KEY".into(), "of-somebody-else".into())]);
        let other = support::sleeper(&world, key);
        let script = format!(
            "if grep -q of-somebody-else /proc/{0}/environ; then echo read; fi; \
             for name in maps mem auxv; do if (: < /proc/{0}/$name) && cat /proc/{0}/$name | grep -q .; then echo $name; fi; done; \
             echo end",
            other.pid
        );
        let end = fenced(&world, kind, &script);
        support::signal(&other, Signal::KILL);
        is_done(&end, &world);
        assert_eq!(world.stdout(), "end\n", "{kind:?}");
    }
}

#[test]
fn root_inside_keeps_what_files_need_and_nothing_that_leads_around_the_fence() {
    // By number, as the kernel shows them: NET_ADMIN, NET_RAW, SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, MKNOD, PERFMON, BPF.
    let dangerous = [12, 13, 16, 17, 19, 21, 27, 38, 39];
    for kind in kinds() {
        let world = World::new();
        let script = "grep -E 'CapEff|CapPrm' /proc/self/status | cut -f2; \
                      if mknod $T/inside/disk b 8 0 2>/dev/null; then echo a device; fi";
        let end = fenced(&world, kind, script);
        is_done(&end, &world);
        for line in world.stdout().lines() {
            let has = u64::from_str_radix(line, 16).unwrap_or_else(|_| panic!("{kind:?}: {line}"));
            let left: Vec<u32> = dangerous.into_iter().filter(|number| has & (1 << number) != 0).collect();
            assert_eq!(left, Vec::<u32>::new(), "{kind:?}");
        }
        let changes = "chown 1:1 $T/inside/own && chmod 600 $T/inside/own && echo x > $T/inside/own";
        std::fs::remove_dir_all(world.effect()).unwrap();
        std::fs::write(world.file("inside/own"), "").unwrap();
        if rustix::process::geteuid().is_root() && kind == SandboxKind::Landlock {
            is_done(&fenced(&world, kind, changes), &world);
        }
    }
}
