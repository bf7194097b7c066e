//! Commands Windlass gives to itself: the keeper of a child, its launcher into a sandbox, the scripted agent, the client of
//! agents that speak the Agent Client Protocol. They are recognised before anything else is set up and appear in no help text.

use std::ffi::OsString;
use std::path::Path;
use windlass_control_api::exit_codes;

/// Plays the hidden command, if it is one, to its end.
pub(crate) fn play(words: &[OsString]) -> Option<u8> {
    let (command, arguments) = words.split_first()?;
    match command.to_str()? {
        "__keep" => Some(match arguments {
            [directory] => windlass_process_supervisor::keep(Path::new(directory)),
            _ => exit_codes::USAGE,
        }),
        "__launch" => Some(windlass_process_supervisor::launch(arguments)),
        "__play" => Some(windlass_scripted_actor::play_from_environment(arguments.iter().cloned())),
        "__acp" => Some(windlass_acp_client::converse_from_environment(arguments.iter().cloned())),
        _ => None,
    }
}
