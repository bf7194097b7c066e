//! Children in a directory of layers: what they change shows in the upper layer and nowhere else, with every fence this machine
//! has and with none.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::os::unix::fs::{FileTypeExt, MetadataExt};

use support::World;
use windlass_process_supervisor::{
    ChildEnd, ChildSpec, HowEnded, OverlayMount, Sandbox, SandboxKind, sandbox_means, try_overlay,
};
use windlass_test_support::overlays_can_be_tried;

/// `None` where this machine has no overlays, and xtask said so.
#[track_caller]
fn layered(world: &World, script: &str, fence: Option<SandboxKind>) -> Option<ChildSpec> {
    let tried = try_overlay(&support::keeper().program, world.folder.path());
    if !overlays_can_be_tried(tried.err()) {
        return None;
    }
    for name in ["place", "base/d", "change", "upper", "work"] {
        std::fs::create_dir_all(world.file(name)).unwrap();
    }
    std::fs::write(world.file("base/kept"), "base").unwrap();
    std::fs::write(world.file("base/d/one"), "one").unwrap();
    std::fs::write(world.file("change/kept"), "change").unwrap();
    std::fs::write(world.file("place/outside"), "hidden").unwrap();
    let mut spec = world.script(script);
    spec.directory = world.file("place");
    spec.overlay = Some(OverlayMount {
        place: world.file("place"),
        lower: vec![world.file("change"), world.file("base")],
        upper: world.file("upper"),
        work: world.file("work"),
    });
    spec.sandbox = fence.map(|kind| Sandbox { kind, writable: vec![world.file("place")] });
    Some(spec)
}

fn fences() -> Vec<Option<SandboxKind>> {
    let means = sandbox_means(&support::keeper().program);
    let mut fences = vec![None];
    fences.extend(means.landlock.is_ok().then_some(Some(SandboxKind::Landlock)));
    fences.extend(means.namespaces.is_ok().then_some(Some(SandboxKind::Namespaces)));
    fences
}

#[track_caller]
fn is_done(end: &ChildEnd, world: &World) {
    let said = std::fs::read_to_string(world.effect().join("stderr.log")).unwrap_or_default();
    assert_eq!(end.how, HowEnded::Exited { code: 0 }, "{said}");
}

#[test]
fn what_a_child_changes_is_in_the_upper_layer_and_nowhere_else() {
    for fence in fences() {
        let world = World::new();
        let script = "set -e; cat kept; test ! -e outside; echo new > d/new; rm d/one; echo x >> kept; pwd";
        let Some(spec) = layered(&world, script, fence) else { return };
        let end = world.run(&spec);
        is_done(&end, &world);
        assert_eq!(end.sandbox, fence);
        assert_eq!(world.stdout(), format!("change{}\n", world.file("place").display()));
        let upper = |name: &str| std::fs::read_to_string(world.file("upper").join(name)).unwrap();
        assert_eq!((upper("d/new"), upper("kept")), ("new\n".to_owned(), "changex\n".to_owned()));
        let gone = std::fs::symlink_metadata(world.file("upper/d/one")).unwrap();
        assert!(gone.file_type().is_char_device() && gone.rdev() == 0);
        for (name, content) in [("base/kept", "base"), ("base/d/one", "one"), ("change/kept", "change")] {
            assert_eq!(std::fs::read_to_string(world.file(name)).unwrap(), content, "{name} {fence:?}");
        }
        assert!(world.file("place/outside").exists() && !world.file("place/kept").exists());
    }
}

#[test]
fn the_layers_below_cannot_be_written_past_the_overlay() {
    for fence in fences() {
        let world = World::new();
        let attack = "if (echo x > $T/base/kept) 2>/dev/null || (touch $T/change/new) 2>/dev/null; \
                      then echo done; else echo refused; fi";
        let Some(spec) = layered(&world, attack, fence) else { return };
        is_done(&world.run(&spec), &world);
        assert_eq!(world.stdout(), "refused\n", "{fence:?}");
        assert_eq!(std::fs::read_to_string(world.file("base/kept")).unwrap(), "base");
    }
}

#[test]
fn a_reader_cannot_write_what_it_sees() {
    for fence in fences().into_iter().flatten() {
        let world = World::new();
        let attack = "if (echo x > kept) 2>/dev/null || (touch new) 2>/dev/null || (rm d/one) 2>/dev/null; \
                      then echo done; else echo refused; fi; cat d/one";
        let Some(mut spec) = layered(&world, attack, Some(fence)) else { return };
        spec.sandbox = Some(Sandbox { kind: fence, writable: Vec::new() });
        is_done(&world.run(&spec), &world);
        assert_eq!(world.stdout(), "refused\none", "{fence:?}");
    }
}

#[test]
fn nobody_can_forge_what_marks_a_removed_file() {
    let world = World::new();
    let Some(spec) = layered(&world, "mknod forged c 0 0 2>/dev/null; test ! -e forged", None) else {
        return;
    };
    is_done(&world.run(&spec), &world);
    assert!(!world.file("upper/forged").exists());
}

#[test]
fn a_program_that_lies_in_the_layers_is_found() {
    let world = World::new();
    let Some(mut spec) = layered(&world, "", None) else { return };
    std::fs::copy("/bin/echo", world.file("base/d/program")).unwrap();
    (spec.program, spec.args) = ("d/program".into(), vec!["found".into()]);
    is_done(&world.run(&spec), &world);
    assert_eq!(world.stdout(), "found\n");
}

#[test]
fn layers_that_are_not_there_are_the_reason_why_nothing_began() {
    let world = World::new();
    let Some(spec) = layered(&world, "true", None) else { return };
    std::fs::remove_dir(world.file("work")).unwrap();
    let end = world.run(&spec);
    let HowEnded::NotStarted { reason, .. } = end.how else { unreachable!("{end:?}") };
    assert!(reason.contains("its workspace cannot be set up: its layers:"), "{reason}");
}
