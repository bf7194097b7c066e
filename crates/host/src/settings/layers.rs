//! One layer of settings from one place, and the places themselves. A value of the wrong kind is an error with its
//! place, and so is a key with a slip in it: what it was to say would not count. Any other unknown key is a warning, so
//! that an older Windlass reads a newer file.

use super::keys::{KEYS, Key, Kind};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use windlass_control_api::commands::SettingValue;
use windlass_control_api::{Code, Fault};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    UserFile(PathBuf),
    RepositoryFile(PathBuf),
    Variable(String),
    Argument,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::UserFile(path) | Self::RepositoryFile(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Argument => f.write_str("argument"),
        }
    }
}

/// The variables Windlass was started with, taken once.
#[derive(Clone, Debug, Default)]
pub struct Environment(pub BTreeMap<String, String>);

impl Environment {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub(super) fn user_settings_file(&self) -> Option<PathBuf> {
        let directory = match self.get("XDG_CONFIG_HOME") {
            Some(path) => PathBuf::from(path),
            None => Path::new(self.get("HOME")?).join(".config"),
        };
        Some(directory.join("windlass").join(super::FILE_NAME))
    }

    /// Where the journal, the evidence and everything private lives.
    pub fn state_directory(&self) -> Option<PathBuf> {
        if let Some(path) = self.get("WINDLASS_STATE_DIR") {
            return Some(PathBuf::from(path));
        }
        let directory = match self.get("XDG_STATE_HOME") {
            Some(path) => PathBuf::from(path),
            None => Path::new(self.get("HOME")?).join(".local").join("state"),
        };
        Some(directory.join("windlass"))
    }
}

pub(super) struct Layer {
    pub(super) values: Vec<(&'static Key, SettingValue, Origin)>,
    pub(super) warnings: Vec<String>,
}

impl Layer {
    fn take(&mut self, name: &str, value: &toml::Value, origin: &Origin) -> Result<(), Fault> {
        let Some(key) = Key::find_in_file(name) else {
            if is_a_slip(name) {
                return Err(Fault::new(Code::BadSettings, unknown(name, origin))
                    .hint("mend the key; `windlass settings` lists every key there is"));
            }
            self.warnings.push(unknown(name, origin));
            return Ok(());
        };
        let value = from_toml(key, value)
            .filter(|value| key.accepts(value))
            .ok_or_else(|| wrong_kind(key, origin, &value.to_string()))?;
        self.values.push((key, value, origin.clone()));
        Ok(())
    }
}

pub(super) fn from_file(text: &str, origin: Origin) -> Result<Layer, Fault> {
    let table: toml::Table = text.parse().map_err(|error| {
        Fault::new(Code::BadSettings, format!("{origin} cannot be read: {error}"))
            .hint("mend the file; `windlass settings` lists every key there is")
    })?;
    let mut layer = Layer { values: Vec::new(), warnings: Vec::new() };
    for (name, value) in flat(&table, "") {
        layer.take(&name, value, &origin)?;
    }
    Ok(layer)
}

pub(super) fn from_environment(environment: &Environment) -> Result<Layer, Fault> {
    let mut layer = Layer { values: Vec::new(), warnings: Vec::new() };
    for key in KEYS {
        let name = key.variable();
        if let Some(text) = environment.get(&name) {
            let origin = Origin::Variable(name);
            let value = key.parse(text).map_err(|_| wrong_kind(key, &origin, text))?;
            layer.values.push((key, value, origin));
        }
    }
    Ok(layer)
}

pub(super) fn from_arguments(given: &[(String, SettingValue)]) -> Result<Layer, Fault> {
    let mut layer = Layer { values: Vec::new(), warnings: Vec::new() };
    for (name, value) in given {
        let key =
            Key::find(name).ok_or_else(|| Fault::new(Code::BadArgument, unknown(name, &Origin::Argument)))?;
        if !key.accepts(value) {
            return Err(wrong_kind(key, &Origin::Argument, &format!("{value:?}")));
        }
        layer.values.push((key, value.clone(), Origin::Argument));
    }
    Ok(layer)
}

/// `on` in the table `notify` is the key `notify.on`.
fn flat<'a>(table: &'a toml::Table, prefix: &str) -> Vec<(String, &'a toml::Value)> {
    let mut values = Vec::new();
    for (name, value) in table {
        let name = format!("{prefix}{name}");
        match value {
            toml::Value::Table(inner) if !inner.is_empty() && Key::find(&name).is_none() => {
                values.extend(flat(inner, &format!("{name}.")));
            }
            _ => values.push((name, value)),
        }
    }
    values
}

fn from_toml(key: &Key, value: &toml::Value) -> Option<SettingValue> {
    match value {
        // Written without quotes; the shortest text of such a number is the one that was written.
        toml::Value::Integer(_) | toml::Value::Float(_) if key.kind == Kind::Amount => {
            Some(SettingValue::Text(value.to_string()))
        }
        toml::Value::String(text) => Some(SettingValue::Text(text.clone())),
        toml::Value::Integer(number) => u64::try_from(*number).ok().map(SettingValue::Number),
        toml::Value::Boolean(switch) => Some(SettingValue::Switch(*switch)),
        toml::Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
            .map(SettingValue::List),
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

fn wrong_kind(key: &Key, origin: &Origin, found: &str) -> Fault {
    Fault::new(
        Code::BadSettings,
        format!("`{}` must be {}, but {origin} says {found}", key.name, key.kind.words()),
    )
    .hint(format!("{}: {}", key.name, key.help))
}

/// One letter more, less or other, or two letters in each other's place.
fn is_a_slip(name: &str) -> bool {
    KEYS.iter().any(|key| strsim::damerau_levenshtein(name, key.name) == 1)
}

fn unknown(name: &str, origin: &Origin) -> String {
    let nearest = KEYS
        .iter()
        .map(|key| (strsim::damerau_levenshtein(name, key.name), key.name))
        .min()
        .filter(|(distance, known)| *distance <= 1 + known.len() / 3);
    match nearest {
        Some((_, known)) => format!("{origin}: unknown key `{name}`; did you mean `{known}`?"),
        None => format!("{origin}: unknown key `{name}`; `windlass settings` lists every key there is"),
    }
}
