//! What was asked for, from whom: built-in values, the user's file, the repository's file, the environment, arguments.
//! Resolved once; nothing below reads a file or the environment for a setting.

mod keys;
mod layers;
mod resolved;

pub use keys::{KEYS, Key, Kind};
pub use layers::{Environment, Origin};
pub use resolved::Settings;

use crate::fault::file_fault;
use std::path::Path;
use windlass_control_api::commands::SettingValue;
use windlass_control_api::{Code, Fault};

/// The repository's settings file, at the top of its work tree.
pub const FILE_NAME: &str = "windlass.toml";

/// Puts the layers on top of each other, the later the stronger.
pub fn resolve(
    environment: &Environment,
    work_tree: Option<&Path>,
    given: &[(String, SettingValue)],
) -> Result<Settings, Fault> {
    let mut settings = Settings::built_in();
    if let Some(user) = environment.user_settings_file() {
        take_file(&mut settings, &user, Origin::UserFile)?;
    }
    if let Some(work_tree) = work_tree {
        take_file(&mut settings, &work_tree.join(FILE_NAME), Origin::RepositoryFile)?;
    }
    settings.take(layers::from_environment(environment)?);
    settings.take(layers::from_arguments(given)?);
    settings.validate()?;
    Ok(settings)
}

fn take_file(
    settings: &mut Settings,
    path: &Path,
    origin: fn(std::path::PathBuf) -> Origin,
) -> Result<(), Fault> {
    // A pipe in its place would be waited for without end.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let what = format!("the settings file {} is not a plain file", path.display());
        return Err(Fault::new(Code::BadSettings, what).hint("remove it, or put a file of settings there"));
    }
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let layer = layers::from_file(&text, origin(path.to_owned()))?;
            settings.take(layer);
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(file_fault("read the settings file", path, &error)),
    }
}
