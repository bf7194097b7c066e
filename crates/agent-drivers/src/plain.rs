//! Agents without a dialect of their own: a user's program, a line of shell, a script played by this program.
//! They get the prompt on stdin and may report what they know through one JSON object per line on stdout.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::conclusion::{ClosingWord, EndReading};
use crate::driver::{Capabilities, ReadOnlyMode, SessionIds};
use crate::invocation::{BuildError, CommandLine, Invocation, PLAY_COMMAND, Stdin, text_of};
use crate::signal::{Signal, Stream};

pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    read_only: ReadOnlyMode::None,
    structured_answer: false,
    resume: false,
    session_ids: SessionIds::None,
    reports_usage: false,
    reports_usage_live: false,
    closing_word: ClosingWord::Optional,
};

pub(crate) const END_READING: EndReading = EndReading {
    closing_word: ClosingWord::Optional,
    exit_code: |_| None,
    login_hint: "give the agent what it needs to log in",
};

pub(crate) fn command(
    program: &str,
    arguments: &[String],
    invocation: &Invocation,
) -> Result<CommandLine, BuildError> {
    Ok(CommandLine {
        program: program.to_owned(),
        arguments: arguments.to_vec(),
        environment: invocation.environment()?,
        stdin: Stdin::Prompt,
        files: BTreeMap::new(),
    })
}

pub(crate) fn shell(text: &str, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    command("/bin/sh", &["-c".to_owned(), text.to_owned()], invocation)
}

pub(crate) fn scripted(file: &str, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    let program = text_of("windlass program", &invocation.windlass_program)?;
    command(&program, &[PLAY_COMMAND.to_owned(), file.to_owned()], invocation)
}

/// The wrapping key keeps an agent's own JSON from being taken for a report to us.
#[derive(Deserialize)]
struct Report {
    windlass_signal: Signal,
}

pub(crate) fn read_line(stream: Stream, line: &str) -> Vec<Signal> {
    // What a program says on stderr stays in its log: without a dialect, a warning and a progress bar look alike.
    if stream == Stream::Stderr || line.trim().is_empty() {
        return Vec::new();
    }
    if !line.trim_start().starts_with(r#"{"windlass_signal""#) {
        return vec![Signal::Message { text: line.to_owned(), partial: false }];
    }
    vec![match serde_json::from_str(line) {
        Ok(Report { windlass_signal }) => windlass_signal,
        Err(_) => Signal::Unknown { line: line.to_owned() },
    }]
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::signal::{EndClaim, ErrorKind, RateLimitWait, UsageScope};
    use crate::{Access, AgentChoice, Commands, Role, Session, driver};

    fn invocation() -> Invocation {
        Invocation {
            run_id: "run-7".to_owned(),
            task_id: "TASK-1".to_owned(),
            role: Role::Judge,
            round: 2,
            attempt: 3,
            label: None,
            workspace: PathBuf::from("/w s"),
            outbox: PathBuf::from("/out 'box'"),
            prompt_file: PathBuf::from("/p.md"),
            access: Access::ReadOnly,
            commands: Commands::Allowed,
            readable: Vec::new(),
            session: Session::Fresh { id: None },
            answer_schema: None,
            usage_file: PathBuf::from("/u.json"),
            windlass_program: PathBuf::from("/usr/bin/windlass"),
        }
    }

    fn build(choice: &str) -> CommandLine {
        driver::build(&AgentChoice::parse(choice).unwrap(), &invocation()).unwrap()
    }

    #[test]
    fn commands_are_built_without_a_shell_unless_asked_for() {
        let table: [(&str, &[&str]); 3] = [
            ("command:/opt/agent --say '$HOME *'", &["/opt/agent", "--say", "$HOME *"]),
            ("shell:echo \"$WINDLASS_ROLE\" | tee x", &["/bin/sh", "-c", "echo \"$WINDLASS_ROLE\" | tee x"]),
            ("scripted:/s/a b.toml", &["/usr/bin/windlass", "__play", "/s/a b.toml"]),
        ];
        for (choice, words) in table {
            let built = build(choice);
            assert_eq!(built.program, words[0], "{choice}");
            assert_eq!(built.arguments, &words[1..], "{choice}");
            assert_eq!(built.stdin, Stdin::Prompt, "{choice}");
        }
    }

    #[test]
    fn every_agent_finds_its_place_in_the_environment() {
        let expected = [
            ("WINDLASS_ATTEMPT", "3"),
            ("WINDLASS_OUTBOX", "/out 'box'"),
            ("WINDLASS_ROLE", "judge"),
            ("WINDLASS_ROUND", "2"),
            ("WINDLASS_RUN", "run-7"),
            ("WINDLASS_TASK", "TASK-1"),
        ];
        for choice in ["command:a", "shell:a", "scripted:a"] {
            let environment = build(choice).environment;
            let found: Vec<_> =
                environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(found, expected, "{choice}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_text_is_refused_by_name() {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let mut invocation = invocation();
        invocation.outbox = PathBuf::from(OsString::from_vec(b"/out\xff".to_vec()));
        let refused = driver::build(&AgentChoice::parse("command:a").unwrap(), &invocation).unwrap_err();
        assert!(refused.to_string().starts_with("the outbox \"/out\\xFF\" is not valid UTF-8"), "{refused}");
    }

    #[test]
    fn plain_lines_are_messages_and_reports_are_understood() {
        let read = |line: &str| read_line(Stream::Stdout, line);
        assert_eq!(read("hello"), [Signal::Message { text: "hello".to_owned(), partial: false }]);
        assert_eq!(read("  "), []);
        assert_eq!(
            read(r#"{"kind":"usage"}"#),
            [Signal::Message { text: r#"{"kind":"usage"}"#.to_owned(), partial: false }]
        );
        assert_eq!(
            read(r#"{"windlass_signal":{"kind":"usage","input":12,"output":3,"cost_micros":900}}"#),
            [Signal::Usage {
                scope: UsageScope::Step,
                reply: None,
                input: 12,
                cached: 0,
                output: 3,
                reasoning: 0,
                cost_micros: Some(900),
            }]
        );
        assert_eq!(
            read(r#"{"windlass_signal":{"kind":"rate-limit","wait":{"until-ms":1700000000000}}}"#),
            [Signal::RateLimit { wait: RateLimitWait::UntilMs(1_700_000_000_000) }]
        );
        assert_eq!(
            read(r#"{"windlass_signal":{"kind":"end","claim":{"failed":{"reason":"no credit"}}}}"#),
            [Signal::End {
                claim: EndClaim::Failed { reason: "no credit".to_owned(), kind: ErrorKind::Other },
                answer: None
            }]
        );
        let strange = r#"{"windlass_signal":{"kind":"dance"}}"#;
        assert_eq!(read(strange), [Signal::Unknown { line: strange.to_owned() }]);
    }

    #[test]
    fn stderr_says_nothing_about_the_work() {
        let report = r#"{"windlass_signal":{"kind":"usage","input":12}}"#;
        assert_eq!(read_line(Stream::Stderr, report), []);
    }
}
