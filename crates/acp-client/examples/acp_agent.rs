//! An agent for tests that plays a script, one JSON object per line: `acp_agent SCRIPT HEARD`. Every line it gets is kept in
//! the file HEARD. It knows just enough of the protocol to answer in order.
#![expect(clippy::unwrap_used, reason = "a scripted agent that cannot play fails the test")]

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, StdinLock, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let script = std::fs::read_to_string(arguments.next().unwrap()).unwrap();
    let heard = OpenOptions::new().create(true).append(true).open(arguments.next().unwrap()).unwrap();
    let mut agent = Agent { stdin: io::stdin().lock(), heard };
    for line in script.lines() {
        if let Some(code) = agent.play(&serde_json::from_str(line).unwrap()) {
            return ExitCode::from(code);
        }
    }
    agent.stay_until_the_input_ends();
    ExitCode::SUCCESS
}

struct Agent {
    stdin: StdinLock<'static>,
    heard: File,
}

impl Agent {
    /// The exit code, when the script ends here.
    fn play(&mut self, step: &Value) -> Option<u8> {
        let (verb, value) = step.as_object().unwrap().iter().next().unwrap();
        match verb.as_str() {
            "answer" => self.answer("result", value),
            "refuse" => self.answer("error", value),
            "update" => say(&json!({"jsonrpc": "2.0", "method": "session/update",
                "params": {"sessionId": "s1", "update": value}})),
            "say" => say(value),
            // Sends a request and waits for whatever comes next, which is its answer.
            "ask" => {
                say(value);
                self.hear();
            }
            "hear" => drop(self.hear()),
            "raw" => print(value.as_str().unwrap()),
            "long_line" => print(&"x".repeat(usize::try_from(value.as_u64().unwrap()).unwrap())),
            "warn" => io::stderr().write_all(value.as_str().unwrap().as_bytes()).unwrap(),
            "environment" => {
                let value = std::env::vars().find(|(name, _)| name == value.as_str().unwrap()).unwrap().1;
                writeln!(self.heard, "{}", json!(value)).unwrap();
            }
            "exit" => return Some(u8::try_from(value.as_u64().unwrap()).unwrap()),
            // Deaf to everything, also to the end of its input.
            "hang" => loop {
                std::thread::park();
            },
            unknown => panic!("{unknown} is no step of a script"),
        }
        None
    }

    fn answer(&mut self, field: &str, value: &Value) {
        let request = self.hear();
        say(&json!({"jsonrpc": "2.0", "id": request["id"], field: value}));
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdin.read_line(&mut line).unwrap();
        self.heard.write_all(line.as_bytes()).unwrap();
        serde_json::from_str(&line).unwrap_or_default()
    }

    fn stay_until_the_input_ends(&mut self) {
        io::copy(&mut self.stdin, &mut self.heard).unwrap();
    }
}

fn say(message: &Value) {
    print(&message.to_string());
}

fn print(line: &str) {
    let mut stdout = io::stdout().lock();
    // The client may have turned away by now.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
