//! A maker that leaves what cannot be taken over safely: links out of the tree, repositories inside it, other spellings of the
//! git directory, more than can be recorded. It is told by name, nothing of it is let through, and it stays where it was left.

use super::{in_every_loop, noted, shell};
use crate::crash_points::is_campaign;
use crate::under_attack::{Attacked, Loop};

/// What is done, and what is said of it.
const HAZARDS: [(&str, &str); 6] = [
    ("ln -sfn /etc/passwd link", "link"),
    ("ln -sfn ../../../../.. out", "out"),
    (
        "rm -rf sub; git init -q sub; git -C sub -c user.name=x -c user.email=x@x commit -q --allow-empty -m x",
        "sub",
    ),
    ("mkdir -p .GIT/hooks; echo x > .GIT/hooks/pre-commit", ".GIT"),
    ("truncate --size 300M big.bin", "changed bytes are more than"),
    ("truncate --size 4G big.bin", "changed bytes are more than"),
];

fn is_told(one: Loop) {
    // Work that cannot be looked at is asked for again and again in a roadmap: every other hazard for every change.
    let apart = if one == Loop::Roadmap && !is_campaign() { 2 } else { 1 };
    for (line, said) in HAZARDS.into_iter().step_by(apart) {
        let mut attacked = Attacked::about(one.of_the_maker());
        let plant = shell(&attacked, &format!("set -e; {line}; echo {{attempt}} >> $N/planted"));
        attacked.before(one.of_the_maker(), &[plant]);
        let ended = attacked.run();
        assert!(!noted(&attacked, "planted").is_empty(), "{line}: it was not tried");
        assert!([10, 11].contains(&ended.code), "{line}: {:#}", ended.outcome);
        assert_eq!(attacked.let_through(), Vec::<String>::new(), "{line}");
        assert!(ended.log.contains(said), "{said} is not in {}", ended.log);
        let _ = attacked.end(&[]);
    }
}

in_every_loop!(is_told);
