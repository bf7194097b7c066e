//! One doer that tries every way out of its fence it can think of, with each of the kernel's means and as whoever runs this. What
//! it got done it notes; nothing may be in its notes. The same script succeeds where nothing holds it, so it is no empty threat.

use super::every_loop::outside::an_outbox;
use super::passing_doer_also;
use crate::overlays::users::give_to_nobody;
use crate::scene::Scene;
use std::path::Path;
use windlass_test_support::{Background, Output, Script, When};

/// Tried one after the other; a line that ends with success is a way out. `$C` is the user's checkout, `$R` the run's directory,
/// `$S` the state directory, `$O` the outbox, `$K` the keeper, `$V` a process of the same user, `$W` this program.
const WAYS_OUT: [&str; 34] = [
    "echo x > $C/README.md",
    "echo x >> $C/.git/config",
    "echo x > $C/.git/hooks/post-checkout",
    "rm -r $C/.git/worktrees",
    "git -C $C -c user.name=x -c user.email=x commit --allow-empty -qm x",
    "ln $C/README.md linked && echo x > linked",
    "ln -s $C/README.md pointing && echo x > pointing",
    "mv $C/README.md taken",
    "dd if=/dev/zero of=$C/README.md bs=1 count=1 conv=notrunc",
    "echo x >> $S/journal.db",
    "echo x > $S/runs/planted",
    "echo x > $O/../exit.json",
    "rm -f $O/../prompt.md && echo x > $O/../prompt.md",
    "mkdir -p $O/../../99/outbox",
    "mv $O $O.mine",
    "echo x >> $W",
    "echo x > $HOME/.bashrc",
    "echo x > $HOME/.profile",
    "mkdir -p $HOME/.config/autostart",
    "mkdir -p $HOME/.ssh",
    "echo x > $HOME/.claude.json",
    "echo x > $HOME/.local/share/claude/versions/1",
    "echo x > $HOME/bin/tool",
    "mv $HOME/.cache $HOME/.cache.mine",
    "rm -r $HOME/.cache && ln -s $C $HOME/.cache",
    "kill -0 $K",
    "kill -0 $V",
    ": > /proc/$V/mem",
    "echo x > /proc/$V/root$C/README.md",
    "nsenter -t $V -m -- sh -c \"echo x > $C/README.md\"",
    "unshare -rm sh -c \"mount -o remount,rw,bind / ; echo x > $C/README.md\"",
    "unshare -rm sh -c \"umount -l $C; echo x > $C/README.md\"",
    "chroot / sh -c \"echo x > $C/README.md\"",
    "mknod disk b 8 0",
];

/// Those that not every user and kernel has without a fence either.
const FOR_SOME: [&str; 5] = [": > /proc", "nsenter", "unshare", "chroot", "mknod"];

/// What the way before may have taken from the next one.
const PUT_RIGHT: &str = "mkdir -p $O $HOME/.cache $HOME/bin $HOME/.local/share/claude/versions $C/.git/worktrees $C/.git/hooks; \
    [ -f $C/README.md ] || echo r > $C/README.md; rm -rf linked pointing taken disk $O.mine $HOME/.cache.mine";

/// All attacks, each after these words. It is given an outbox, the place for its notes, and this program.
fn script(scene: &Scene, victim: u32, before: &str) -> String {
    let (repository, state) = (scene.repository.text(), scene.world.state_dir());
    let mut lines = vec![format!(
        "C={repository}; R=$(cd ../..; pwd); O=$1; S={}; V={victim}; W=$3; N=$2\n\
         K=$(cut -d' ' -f4 /proc/$PPID/stat)\ncd $N; : > tried",
        state.display()
    )];
    lines.extend(WAYS_OUT.map(|way| {
        let name = way.replace('"', "");
        format!("{before}\nif ({way}) > /dev/null 2>&1; then echo '{name}' >> $N/ways-out; fi")
    }));
    lines.join("\n")
}

/// The attacks as one script beside the agents'.
fn attacks(scene: &Scene, victim: u32) -> String {
    std::fs::write(scene.world.shared("attacks.sh"), script(scene, victim, "")).unwrap();
    let program = scene.world.program().display();
    format!("{{ run = ['sh', '{{script_dir}}/attacks.sh', '{{outbox}}', '{{script_dir}}', '{program}'] }}")
}

/// What is left of the world afterwards is worth nothing.
#[track_caller]
fn leads_out_without_a_fence(scene: &Scene, who: As) {
    let place = scene.world.shared("outside");
    std::fs::create_dir(&place).unwrap();
    let victim = a_process(scene, who);
    std::fs::write(place.join("attacks.sh"), script(scene, victim.pid(), PUT_RIGHT)).unwrap();
    // Not the program itself, which others run.
    std::fs::write(place.join("program"), "").unwrap();
    let (place_text, outbox) = (place.display(), an_outbox(&scene.world));
    // Below two shells, as below an agent and its keeper.
    let line = format!(
        "sh -c 'sh {place_text}/attacks.sh {} {place_text} {place_text}/program; :'; :",
        outbox.display()
    );
    let said = match who {
        As::WhoeverTests => scene.world.run(Path::new("/bin/sh"), scene.world.path(), &["-c", &line], ""),
        As::Nobody => {
            give_to_nobody(scene.world.path());
            let words = [&NOBODY[..], &["sh", "-c", &line]].concat();
            scene.world.run(Path::new(SETPRIV), scene.world.path(), &words, "")
        }
    };
    let _ = said.exits_with(0);
    let _ = victim.kill();
    let ways_out = std::fs::read_to_string(place.join("ways-out")).unwrap_or_default();
    let closed = |way: &String| !ways_out.lines().any(|out| out == way);
    let everybody_s = WAYS_OUT.iter().filter(|way| !FOR_SOME.iter().any(|some| way.starts_with(some)));
    let closed: Vec<String> = everybody_s.map(|way| way.replace('"', "")).filter(closed).collect();
    assert_eq!(closed, Vec::<String>::new(), "these lead nowhere by themselves");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    WhoeverTests,
    Nobody,
}

/// A user without any rights but over its own files; only root can become one.
const SETPRIV: &str = "/usr/bin/setpriv";
const NOBODY: [&str; 5] = ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"];

fn run(scene: &Scene, who: As, words: &[&str]) -> Output {
    match who {
        As::WhoeverTests => scene.world.windlass(words),
        As::Nobody => {
            let program = scene.world.program().to_str().unwrap();
            let words = [&NOBODY[..], &[program], words].concat();
            scene.world.run(Path::new(SETPRIV), scene.world.path(), &words, "")
        }
    }
}

fn a_process(scene: &Scene, who: As) -> Background {
    match who {
        As::WhoeverTests => scene.world.start(Path::new("/bin/sleep"), &["600"]),
        As::Nobody => scene.world.start(Path::new(SETPRIV), &[&NOBODY[..], &["sleep", "600"]].concat()),
    }
}

#[track_caller]
fn finds_no_way_out(means: &str, who: As) {
    let mut scene = Scene::new();
    scene.world.set("WINDLASS_SANDBOX_MEANS", means).set("WINDLASS_SANDBOX", "required");
    let home = scene.world.home();
    for (folder, file) in
        [(".cache", "x"), (".local/share/claude/versions", "1"), ("bin", "tool"), ("", ".claude.json")]
    {
        std::fs::create_dir_all(home.join(folder)).unwrap();
        std::fs::write(home.join(folder).join(file), "the user's").unwrap();
    }
    let before = scene.repository.record();
    let agent_of = |scene: &Scene, victim| {
        scene.world.agent("script.toml", &passing_doer_also(&[&attacks(scene, victim)]))
    };
    let agent = agent_of(&scene, 1);
    if who == As::Nobody {
        give_to_nobody(scene.world.path());
    }
    let victim = a_process(&scene, who);
    let _ = agent_of(&scene, victim.pid());
    let words =
        ["run", "Add done.txt", "--id", "TASK-1", "--repo", scene.repository.text(), "--agent", &agent];
    let ended = run(&scene, who, &[&words[..], &["--json"]].concat());
    let _ = victim.kill();
    // A machine without one of the two says so.
    if ended.code == Some(14) && ended.stdout.contains("WL-SANDBOX-001") {
        return;
    }
    let ended = ended.exits_with(0);
    assert!(scene.world.shared("tried").exists(), "nobody tried: {}", ended.stdout);
    let ways_out = std::fs::read_to_string(scene.world.shared("ways-out")).unwrap_or_default();
    assert_eq!(ways_out, "", "{means}");
    if who == As::WhoeverTests {
        before.assert_holds(&scene.repository);
    }
    let content = std::fs::read_to_string(scene.repository.path().join("README.md")).unwrap();
    assert_ne!(content, "x\n");
    leads_out_without_a_fence(&scene, who);
}

#[test]
fn landlock_leaves_no_way_out() {
    finds_no_way_out("landlock", As::WhoeverTests);
}

#[test]
fn namespaces_leave_no_way_out() {
    finds_no_way_out("namespaces", As::WhoeverTests);
}

#[test]
fn neither_leaves_an_ordinary_user_a_way_out() {
    if rustix::process::geteuid().is_root() {
        finds_no_way_out("landlock", As::Nobody);
        finds_no_way_out("namespaces", As::Nobody);
    }
}

/// Where a place lies inside another one, a maker could lead the next step out of it.
#[test]
fn a_link_in_the_place_of_a_given_one_opens_nothing_to_the_next_step() {
    for means in ["landlock", "namespaces"] {
        let mut scene = Scene::new();
        scene.world.set("WINDLASS_SANDBOX_MEANS", means);
        let given = scene.world.shared("given");
        std::fs::create_dir(&given).unwrap();
        let folder = scene.world.shared("");
        let checkout = scene.repository.text().to_owned();
        let swap = format!("{{ run = ['sh', '-c', 'rmdir {0} && ln -s {checkout} {0}'] }}", given.display());
        let write = format!("{{ run = ['sh', '-c', 'echo x > {checkout}/README.md'], may_fail = true }}");
        let (work, handoff) = ("{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }");
        let script = Script::that_passes()
            .doer(When::Round(1), &[work, &swap, handoff])
            .doer(When::Round(2), &[&write, "{ append = 'done.txt', text = '!' }", handoff])
            .judge(When::Round(1), &["{ verdict = 'reject' }"]);
        let before = scene.repository.record();
        let given = ["--sandbox-write", folder.to_str().unwrap(), "--sandbox-write", given.to_str().unwrap()];
        let _ = scene.play(&script, &[&given[..], &["--rounds", "2"]].concat()).exits_with(0);
        before.assert_holds(&scene.repository);
    }
}
