//! `windlass completions`: what a shell needs to complete our words.

use crate::arguments::definition;
use crate::output::Output;
use clap::Args;
use clap_complete::Shell;
use windlass_control_api::exit_codes;

/// Print the completions for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass completions bash > ~/.local/share/bash-completion/completions/windlass
  windlass completions zsh > \"${fpath[1]}/_windlass\"
  windlass completions fish > ~/.config/fish/completions/windlass.fish")]
pub(crate) struct CompletionsArgs {
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, output: &mut Output) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "windlass", &mut script);
    let script = String::from_utf8_lossy(&script);
    if output.is_json() {
        output.document(&serde_json::json!({ "shell": args.shell.to_string(), "script": script }));
    } else {
        output.raw(script.as_bytes());
    }
    exit_codes::ACCEPTED
}
