//! Agents that leave something behind: every one of them counts itself, tells what it used, and starts a child that tries to
//! outlive it in one of five ways.

use std::path::PathBuf;
use windlass_test_support::World;

/// Which agents were started, by the outbox each was given.
pub(super) const STARTED: &str = "started.txt";
pub(super) const TOKENS_OF_EACH: u64 = 7;

/// Each agent that is started does this before its own work. It then takes a little time, as agents do, so that many kills
/// find one at work.
fn lines(world: &World) -> String {
    let started = world.shared(STARTED).display().to_string();
    format!(
        r#"echo "$WINDLASS_OUTBOX" >> {started}
echo '{{"windlass_signal":{{"kind":"usage","input":{TOKENS_OF_EACH},"output":0}}}}'
case $(($(wc -l < {started}) % 5)) in
0) (setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 &) ;;
1) setsid sleep 600 >/dev/null 2>&1 & ;;
2) sh -c 'trap "" TERM HUP INT; while :; do sleep 600; done' >/dev/null 2>&1 & ;;
3) setsid sleep 600 <&- >&- 2>&- & ;;
4) sleep 600 & ;;
esac
sleep 0.05
"#
    )
}

/// Each agent that is started only writes down that it was, and tells what it used.
fn counting_lines(world: &World) -> String {
    let lines = lines(world);
    lines.split_inclusive('\n').take(2).collect()
}

/// Lets every agent of this world begin with it, whatever it does then.
pub(super) fn plant(world: &World) {
    put_before_every_agent(world, &lines(world));
}

/// Lets every agent of this world count itself, and leave nothing behind.
pub(crate) fn count(world: &World) {
    put_before_every_agent(world, &counting_lines(world));
}

fn put_before_every_agent(world: &World, lines: &str) {
    let file = world.shared("escape.sh");
    std::fs::write(&file, lines).unwrap();
    let scripts: Vec<PathBuf> =
        std::fs::read_dir(world.shared("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut planted = 0;
    for script in scripts.iter().filter(|script| **script != file) {
        let text = std::fs::read_to_string(script).unwrap();
        let first = match script.extension().and_then(|name| name.to_str()) {
            Some("toml") => {
                text.replace("do = [", &format!("do = [{{ run = ['sh', '{}'] }}, ", file.display()))
            }
            Some("sh") => format!(". {}\n{text}", file.display()),
            _ => continue,
        };
        assert_ne!(first, text, "{} has no step", script.display());
        std::fs::write(script, first).unwrap();
        planted += 1;
    }
    assert!(planted > 0, "no agent of this story is a script");
}
