//! Every verb with all its forms, and every way to get one wrong.

use crate::script::{
    Action, ClaimKind, Content, CrashSignal, ForkKind, Hang, HeldStdout, Output, RunFailure, Script,
    Template, Thing,
};

fn read(action: &str) -> Result<Action, String> {
    let script =
        Script::parse(&format!("[[step]]\ndo = [\n  {action},\n]\n")).map_err(|error| error.to_string())?;
    let mut actions = script.steps.into_iter().next().expect("one step was written").actions;
    assert_eq!(actions.len(), 1, "{action}");
    Ok(actions.remove(0))
}

fn path(text: &str) -> Template {
    Template::strict(text).unwrap()
}

fn text(text: &str) -> Content {
    Content::Text(text.to_owned())
}

#[test]
fn verbs_on_files() {
    let table = [
        (
            "{ write = 'a/{role}', text = 'x' }",
            Action::Write { path: path("a/{role}"), content: text("x"), mode: None },
        ),
        (
            "{ write = 'a', hex = '00 fF', mode = 0o640 }",
            Action::Write { path: path("a"), content: Content::Bytes(vec![0, 255]), mode: Some(0o640) },
        ),
        (
            "{ write = 'a', size = 1_000 }",
            Action::Write { path: path("a"), content: Content::Size(1000), mode: None },
        ),
        ("{ append = 'a', text = '' }", Action::Append { path: path("a"), content: text("") }),
        ("{ delete = 'a' }", Action::Delete { path: path("a") }),
        ("{ rename = 'a', to = 'b' }", Action::Rename { from: path("a"), to: path("b") }),
        ("{ chmod = 'a', mode = 0o755 }", Action::Chmod { path: path("a"), mode: 0o755 }),
        ("{ symlink = 'a', target = '../b' }", Action::Symlink { path: path("a"), target: path("../b") }),
        ("{ mkdir = 'a/b' }", Action::Mkdir { path: path("a/b") }),
        ("{ wait_for = 'go' }", Action::WaitFor { path: path("go") }),
        ("{ count = 'steps' }", Action::Count { path: path("steps") }),
        ("{ beat = 'a' }", Action::Beat { path: path("a"), every_ms: 50 }),
        ("{ beat = 'a', every_ms = 5 }", Action::Beat { path: path("a"), every_ms: 5 }),
        ("{ save_prompt = 'p' }", Action::SavePrompt { path: path("p") }),
    ];
    for (action, expected) in table {
        assert_eq!(read(action), Ok(expected), "{action}");
    }
}

#[test]
fn verbs_on_the_outbox() {
    let thing = |thing: Thing, mode: Option<u32>| Action::Artifact { name: path("a"), thing, mode };
    let table = [
        ("{ artifact = 'a', text = '{' }", thing(Thing::File(text("{")), None)),
        (
            "{ artifact = 'a', hex = 'ff', mode = 0o000 }",
            thing(Thing::File(Content::Bytes(vec![255])), Some(0)),
        ),
        ("{ artifact = 'a', size = 9 }", thing(Thing::File(Content::Size(9)), None)),
        ("{ artifact = 'a', symlink_to = '/x' }", thing(Thing::Symlink { target: path("/x") }, None)),
        ("{ artifact = 'a', hardlink_to = 'x' }", thing(Thing::HardLink { target: path("x") }, None)),
        ("{ artifact = 'a', fifo = true }", thing(Thing::Fifo, None)),
        ("{ artifact = 'a', directory = true }", thing(Thing::Directory, None)),
    ];
    for (action, expected) in table {
        assert_eq!(read(action), Ok(expected), "{action}");
    }
}

#[test]
fn claims_take_a_table_or_the_one_word_that_matters() {
    let table = [
        ("{ handoff = 'did it' }", ClaimKind::Handoff, r#"{"summary":"did it"}"#),
        ("{ verdict = 'reject' }", ClaimKind::Verdict, r#"{"verdict":"reject"}"#),
        ("{ audit = 'fail' }", ClaimKind::Audit, r#"{"gate":"fail"}"#),
        (
            "{ audit = { risk = { level = 'low' }, n = -31, f = 1.5, b = true, l = [1, 'x'], d = 2026-01-02 } }",
            ClaimKind::Audit,
            r#"{"risk":{"level":"low"},"n":-31,"f":1.5,"b":true,"l":[1,"x"],"d":"2026-01-02"}"#,
        ),
    ];
    for (action, kind, expected) in table {
        let Ok(Action::Claim { artifact, keys, without }) = read(action) else {
            panic!("{action} is not read as a claim");
        };
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        assert_eq!(
            (artifact, serde_json::Value::Object(keys), without),
            (kind, expected, Vec::new()),
            "{action}"
        );
    }
    let dropped = read("{ verdict = 'pass', without = ['notes'] }");
    assert!(matches!(dropped, Ok(Action::Claim { ref without, .. }) if without == &["notes"]), "{dropped:?}");
}

#[test]
fn verbs_on_streams() {
    let table = [
        ("{ say = 'hi' }", Action::Say { stream: Output::Stdout, content: text("hi\n") }),
        ("{ say = { text = 'hi' } }", Action::Say { stream: Output::Stdout, content: text("hi") }),
        (
            "{ complain = { hex = 'FF0a' } }",
            Action::Say { stream: Output::Stderr, content: Content::Bytes(vec![255, 10]) },
        ),
        (
            "{ flood = { bytes = 10 } }",
            Action::Flood { stream: Output::Stdout, bytes: 10, line_length: Some(79) },
        ),
        (
            "{ flood = { bytes = 10, stream = 'stderr', newline = false } }",
            Action::Flood { stream: Output::Stderr, bytes: 10, line_length: None },
        ),
        (
            "{ flood = { bytes = 10, line_length = 3 } }",
            Action::Flood { stream: Output::Stdout, bytes: 10, line_length: Some(3) },
        ),
    ];
    for (action, expected) in table {
        assert_eq!(read(action), Ok(expected), "{action}");
    }
}

#[test]
fn verbs_on_processes() {
    let quiet = || vec![Action::Hang(Hang::Quiet)];
    let table = [
        ("{ hang = 'quiet' }", Action::Hang(Hang::Quiet)),
        (
            "{ hang = { every_ms = 20, text = 'x' } }",
            Action::Hang(Hang::Chatty { every_ms: 20, text: "x".to_owned() }),
        ),
        ("{ ignore_term = true }", Action::IgnoreTerm),
        ("{ crash = 'SEGV' }", Action::Crash(CrashSignal::Segv)),
        ("{ exit = 255 }", Action::Exit { code: 255 }),
        (
            "{ fork = { kind = 'setsid' } }",
            Action::Fork { kind: ForkKind::Setsid, stdout: HeldStdout::Closed, then: quiet() },
        ),
        (
            "{ fork = { kind = 'child', hold_stdout = true, then = [{ exit = 0 }] } }",
            Action::Fork {
                kind: ForkKind::Child,
                stdout: HeldStdout::Kept,
                then: vec![Action::Exit { code: 0 }],
            },
        ),
        ("{ fork_storm = { count = 3 } }", Action::ForkStorm { count: 3, then: quiet() }),
        (
            "{ run = ['awk', '{print}', '{role}'], may_fail = true }",
            Action::Run {
                words: ["awk", "{print}", "{role}"].map(Template::lenient).to_vec(),
                failure: RunFailure::IsIgnored,
            },
        ),
    ];
    for (action, expected) in table {
        assert_eq!(read(action), Ok(expected), "{action}");
    }
}

#[test]
fn slips_are_refused_with_the_nearest_word() {
    let table = [
        ("{ wirte = 'a', text = 'x' }", "unknown key `wirte` in an action: did you mean `write`?"),
        ("{ wirte = 'a' }", "unknown key `wirte` in an action: did you mean `write`?"),
        ("{ }", "an action needs a verb, such as `write` or `say`"),
        ("{ write = 'a', txt = 'x' }", "unknown key `txt` in `write`: did you mean `text`?"),
        ("{ fork = { kind = 'dubble' } }", "unknown kind of fork `dubble`: did you mean `double`?"),
        ("{ fork = { kin = 'child' } }", "unknown key `kin` in `fork`: did you mean `kind`?"),
        ("{ flood = { byte = 1 } }", "unknown key `byte` in `flood`: did you mean `bytes`?"),
        ("{ crash = 'SEG' }", "unknown signal `SEG`: did you mean `SEGV`?"),
        ("{ hang = 'quite' }", "unknown way to hang `quite`: did you mean `quiet`?"),
        ("{ write = '{outbx}', text = '' }", "unknown placeholder `{outbx}`: did you mean `outbox`?"),
        (
            "{ fork = { kind = 'child', then = [{ sai = 'x' }] } }",
            "unknown key `sai` in an action: did you mean `say`?",
        ),
    ];
    for (action, message) in table {
        let refused = read(action).unwrap_err();
        assert!(refused.starts_with(&format!("line 3: {message}")), "{action}: {refused}");
    }
}

#[test]
fn contradictions_and_gaps_are_refused() {
    let table = [
        ("{ write = 'a', say = 'x' }", "an action can have only one of `write`, `say`"),
        ("{ write = 'a' }", "`write` needs one of `text`, `hex`, `size`"),
        ("{ write = 'a', text = 'x', size = 1 }", "`write` can have only one of `text`, `size`"),
        ("{ write = 'a', hex = 'abc' }", "`hex` is not pairs of hexadecimal digits"),
        ("{ write = 'a', hex = 'zz' }", "`hex` is not pairs of hexadecimal digits"),
        ("{ write = '', text = '' }", "`write` must be a path, but is the text ``"),
        ("{ write = 'a', text = '', mode = 0o10000 }", "`mode` must be a file mode from 0o0 to 0o7777"),
        ("{ rename = 'a' }", "`rename` needs `to`: the new path"),
        ("{ chmod = 'a' }", "`chmod` needs `mode`, such as 0o755"),
        ("{ symlink = 'a' }", "`symlink` needs `target`: what the link points to"),
        ("{ artifact = 'a' }", "`artifact` needs one of `text`, `hex`"),
        ("{ artifact = 'a', fifo = false }", "`fifo` must be true (leave it out otherwise), but is false"),
        ("{ run = [] }", "`run` needs at least a program"),
        ("{ run = 'ls' }", "`run` must be a list, but is the text `ls`"),
        ("{ exit = 256 }", "`exit` must be an exit code from 0 to 255, but is the number 256"),
        ("{ flood = { } }", "`flood` needs `bytes`: how many"),
        (
            "{ flood = { bytes = 1, line_length = 2, newline = false } }",
            "`flood` can have only one of `line_length`, `newline = false`",
        ),
        ("{ hang = { } }", "`hang` needs `every_ms`, or to be \"quiet\""),
        ("{ fork = { } }", "`fork` needs `kind`: child, setsid or double"),
        ("{ fork_storm = { } }", "`fork_storm` needs `count`: how many"),
        ("{ verdict = { x = inf } }", "`x` must be a finite number, but is a float"),
        ("'hang'", "`do` must be a table, but is the text `hang`"),
    ];
    for (action, message) in table {
        let refused = read(action).unwrap_err();
        assert!(refused.starts_with(&format!("line 3: {message}")), "{action}: {refused}");
    }
}

#[test]
fn a_table_with_only_further_keys_lacks_a_verb() {
    let refused = read("{ text = 'x', mode = 0o644 }").unwrap_err();
    assert_eq!(refused, "line 3: an action needs a verb, such as `write` or `say`");
}
