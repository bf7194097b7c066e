//! The client's own settings: `~/.loopctl/config.json` as the original keeps it, and the variables that override it. The
//! file holds a key, so nobody else may read it.

use super::remembered::Remembered;
use crate::wiring::Environment;
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault};

pub(crate) const KEYS: [&str; 3] = ["server", "api_key", "format"];

#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    file: Option<PathBuf>,
    written: Map<String, Value>,
    overriding: Map<String, Value>,
}

impl Config {
    pub(crate) fn read(environment: &Environment) -> Result<Self, Fault> {
        let variable = |name: &str| environment.get(OsStr::new(name)).filter(|value| !value.is_empty());
        let file = variable("HOME").map(|home| Path::new(home).join(".loopctl").join("config.json"));
        let written = match &file {
            Some(file) => read(file)?,
            None => Map::new(),
        };
        let overriding = KEYS.into_iter().filter_map(|key| {
            let value = variable(&format!("LOOPCTL_{}", key.to_uppercase()))?.to_str()?;
            Some((key.to_owned(), Value::from(value)))
        });
        Ok(Self { file, written, overriding: overriding.collect() })
    }

    /// Where it is kept what servers showed of their chains.
    pub(crate) fn remembered(&self) -> Remembered {
        Remembered::in_file(self.file.as_ref().map(|file| file.with_file_name("heads.json")))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let value = self.overriding.get(key).or_else(|| self.written.get(key))?;
        value.as_str().filter(|text| !text.is_empty())
    }

    /// The key that lies in the file, whatever the variables say.
    pub(crate) fn kept_key(&self) -> Option<(&str, &Path)> {
        let key = self.written.get("api_key")?.as_str().filter(|text| !text.is_empty())?;
        Some((key, self.file.as_deref()?))
    }

    /// Everything that holds, the key shortened to what tells it from others.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = self.written.clone();
        shown.extend(self.overriding.clone());
        if let Some(Value::String(key)) = shown.get_mut("api_key") {
            *key = format!("{}…", key.chars().take(8).collect::<String>());
        }
        Value::Object(shown)
    }

    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        if !KEYS.contains(&key) {
            let message = format!("there is no setting `{key}`; there are {}", KEYS.join(", "));
            return Err(Fault::new(Code::BadArgument, message));
        }
        self.written.insert(key.to_owned(), Value::from(value));
        self.save()
    }

    pub(crate) fn forget(&mut self, keys: &[&str]) -> Result<(), Fault> {
        for key in keys {
            self.written.remove(*key);
        }
        self.save()
    }

    fn save(&self) -> Result<(), Fault> {
        let Some(file) = &self.file else {
            return Err(Fault::new(
                Code::FileSystem,
                "there is no place for the configuration: HOME is not set",
            ));
        };
        let fault = |error: std::io::Error| {
            Fault::new(Code::FileSystem, format!("cannot write {}: {error}", file.display()))
        };
        let folder = file.parent().unwrap_or(file);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault)?;
        let text = serde_json::to_string_pretty(&self.written).unwrap_or_default();
        write_private(file, text.as_bytes()).map_err(fault)
    }
}

/// Whole or not at all, readable for its owner alone, also where it was not so before.
pub(crate) fn write_private(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let fresh = file.with_extension("new");
    let _ = std::fs::remove_file(&fresh);
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    out.write_all(content)?;
    out.sync_all()?;
    std::fs::rename(&fresh, file)
}

fn read(file: &Path) -> Result<Map<String, Value>, Fault> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => {
            return Err(Fault::new(Code::FileSystem, format!("cannot read {}: {error}", file.display())));
        }
    };
    serde_json::from_str(&text).map_err(|error| {
        let message = format!("{} cannot be understood: {error}", file.display());
        Fault::new(Code::BadSettings, message).hint("mend it, or remove it and log in again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn environment(home: &Path, more: &[(&str, &str)]) -> Environment {
        let mut all: Environment = [("HOME".into(), home.as_os_str().to_owned())].into();
        all.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        all
    }

    #[test]
    fn what_is_set_is_kept_for_the_owner_alone_and_variables_win() {
        let home = tempfile::tempdir().unwrap();
        Config::read(&environment(home.path(), &[])).unwrap().set("api_key", "lc_secret_key").unwrap();
        let file = home.path().join(".loopctl/config.json");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let config =
            Config::read(&environment(home.path(), &[("LOOPCTL_SERVER", "http://localhost:1")])).unwrap();
        assert_eq!(
            (config.get("api_key"), config.get("server")),
            (Some("lc_secret_key"), Some("http://localhost:1"))
        );
        assert!(!config.shown().to_string().contains("lc_secret_key"));
        let other = Config::read(&environment(home.path(), &[("LOOPCTL_API_KEY", "lc_other")])).unwrap();
        assert_eq!(other.get("api_key"), Some("lc_other"));
    }

    #[test]
    fn an_unknown_setting_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let mut config = Config::read(&environment(home.path(), &[])).unwrap();
        assert_eq!(config.set("sever", "x").unwrap_err().code, Code::BadArgument);
    }
}
