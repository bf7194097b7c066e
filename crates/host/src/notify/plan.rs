//! Who is told of what: the `[notify]` settings as typed values. Stored beside what is on its way, so that another
//! process can finish what this one began; the secret of a webhook is a variable's name here and never its value.

use crate::settings::{Origin, Settings};
use serde::{Deserialize, Serialize};
use ureq::http::Uri;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) on: Vec<EventKind>,
    pub(crate) channels: Vec<Channel>,
    /// What the repository's file names and nobody agreed to.
    #[serde(skip)]
    pub(crate) untrusted: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EventKind {
    /// The run waits for a person, for whatever cause.
    NeedsPerson,
    /// The run came to an end.
    Ended,
    /// Four fifths of a budget are used up.
    Budget,
    /// Somebody tries the channels.
    Test,
}

impl EventKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::NeedsPerson => "needs-person",
            Self::Ended => "ended",
            Self::Budget => "budget",
            Self::Test => "test",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "channel", rename_all = "kebab-case")]
pub(crate) enum Channel {
    Desktop,
    Command {
        command: String,
        given: Given,
    },
    Webhook {
        url: String,
        /// The variable that holds the secret; without one nothing is signed.
        secret_env: Option<String>,
    },
}

/// Which variables a command sees beside those about the notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Given {
    /// The user's own, for a command of the user's own settings.
    UsersOwn,
    /// Those a check sees, for a command of the repository's.
    AsChecks,
}

impl Channel {
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Command { .. } => "command",
            Self::Webhook { .. } => "webhook",
        }
    }

    /// Where it goes, for people. Paths of addresses often hold a key of their own and are left out.
    pub(crate) fn to(&self) -> String {
        match self {
            Self::Desktop => "notify-send".to_owned(),
            Self::Command { command, .. } => command.clone(),
            Self::Webhook { url, .. } => match url.parse::<Uri>() {
                Ok(uri) => {
                    let part = |part: Option<&str>| part.unwrap_or_default().to_owned();
                    let authority = uri.authority().map(ureq::http::uri::Authority::as_str);
                    format!("{}://{}", part(uri.scheme_str()), part(authority))
                }
                Err(_) => "an address that cannot be read".to_owned(),
            },
        }
    }
}

const ON: &str = "notify.on";
const DESKTOP: &str = "notify.desktop";
const COMMAND: &str = "notify.command";
const URL: &str = "notify.webhook.url";
const SECRET: &str = "notify.webhook.secret_env";

impl Plan {
    pub(crate) fn of(settings: &Settings) -> Self {
        let mut channels = Vec::new();
        if settings.switch(DESKTOP) {
            channels.push(Channel::Desktop);
        }
        if let Some(command) = settings.text(COMMAND) {
            let given = if is_the_repositorys(settings, COMMAND) { Given::AsChecks } else { Given::UsersOwn };
            channels.push(Channel::Command { command: command.to_owned(), given });
        }
        if let Some(url) = settings.text(URL) {
            let secret_env = settings.text(SECRET).map(str::to_owned);
            channels.push(Channel::Webhook { url: url.to_owned(), secret_env });
        }
        let on = settings.list(ON).iter().filter_map(|word| event(word)).collect();
        Self { on, channels, untrusted: Vec::new() }
    }

    /// Whether anything in it is the repository's word, and so needs trust.
    pub(crate) fn is_of_the_repository(settings: &Settings) -> bool {
        [COMMAND, URL, SECRET].iter().any(|key| is_the_repositorys(settings, key))
    }

    /// Leaves out what is only the repository's word.
    pub(crate) fn without_the_repositorys(settings: &Settings) -> Self {
        let mut plan = Self::of(settings);
        let webhooks = is_the_repositorys(settings, URL) || is_the_repositorys(settings, SECRET);
        let (kept, untrusted): (Vec<Channel>, Vec<Channel>) =
            plan.channels.into_iter().partition(|channel| match channel {
                Channel::Desktop => true,
                Channel::Command { given, .. } => *given == Given::UsersOwn,
                Channel::Webhook { .. } => !webhooks,
            });
        plan.channels = kept;
        let said = |channel: &Channel| {
            format!(
                "no notifications through this repository's {} ({}): nobody agreed to it; `windlass trust` does",
                channel.word(),
                channel.to()
            )
        };
        plan.untrusted = untrusted.iter().map(said).collect();
        plan
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.channels.is_empty() || self.on.is_empty()
    }

    pub(crate) fn wants(&self, event: EventKind) -> bool {
        self.on.contains(&event)
    }
}

fn is_the_repositorys(settings: &Settings, key: &str) -> bool {
    matches!(settings.origin(key), Some(Origin::RepositoryFile(_)))
}

fn event(word: &str) -> Option<EventKind> {
    let kinds = [EventKind::NeedsPerson, EventKind::Ended, EventKind::Budget];
    kinds.into_iter().find(|kind| kind.word() == word)
}

/// A setting that cannot be used, and why.
pub(crate) type Problem = (&'static str, String);

pub(crate) fn problem(settings: &Settings) -> Option<Problem> {
    if let Some(word) = settings.list(ON).iter().find(|word| event(word).is_none()) {
        return Some((ON, format!("names `{word}`; there are: needs-person, ended, budget")));
    }
    // A secret without an address is none of them: one file may name the first, another the second.
    let url = settings.text(URL)?;
    refused(url).map(|why| (URL, why.to_owned()))
}

/// What is sent names tasks and files: in the open it may go to this machine only.
fn refused(url: &str) -> Option<&'static str> {
    let Ok(uri) = url.parse::<Uri>() else { return Some("is no address such as https://example.org/hook") };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Some("must begin with https://, or with http:// for this machine");
    };
    if authority.as_str().contains('@') {
        return Some("must not hold a user name or password");
    }
    let host = authority.host().trim_matches(['[', ']']);
    let loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        "https" => None,
        "http" if loopback => None,
        "http" => Some("goes over the network unprotected: use https://; http:// is for this machine only"),
        _ => Some("must begin with https://, or with http:// for this machine"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        for good in
            ["https://example.org/hook", "http://localhost:8080/x", "http://127.0.0.1/", "http://[::1]:9/x"]
        {
            assert_eq!(refused(good), None, "{good}");
        }
        for bad in [
            "http://example.org/hook",
            "http://localhost@example.org/",
            "http://127.0.0.1.example.org/",
            "https://user:word@example.org/",
            "ftp://localhost/",
            "example.org/hook",
            "/hook",
            "",
        ] {
            assert!(refused(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_path() {
        let url = "https://hooks.example.org/services/T0/secret".to_owned();
        assert_eq!(Channel::Webhook { url, secret_env: None }.to(), "https://hooks.example.org");
    }
}
