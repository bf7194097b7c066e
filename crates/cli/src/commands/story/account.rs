//! Verbs about the client itself and about who may ask: configuration, login, tenant, keys, agents.

use super::shown::{Columns, Shown};
use super::{PageArgs, WhoArgs};
use crate::stories::{Config, Desk, Remote, found};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use windlass_control_api::stories::{Method, escaped};
use windlass_control_api::{Code, Fault};

const KEYS: Columns = &[
    ("ID", "id"),
    ("ROLE", "role"),
    ("PREFIX", "key_prefix"),
    ("AGENT", "agent_id"),
    ("REVOKED", "revoked_at"),
    ("NAME", "name"),
];
const AGENTS: Columns = &[("NAME", "name"), ("TYPE", "agent_type"), ("STATUS", "status"), ("ID", "id")];

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Account {
    /// Show or change which server is asked
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Log in, or show who is logged in
    #[command(subcommand)]
    Auth(Auth),
    Login(LoginArgs),
    /// Forget the server and its key
    Logout,
    /// Show whose key this is
    Whoami,
    /// Show or change the tenant
    #[command(subcommand)]
    Tenant(Tenant),
    /// Make, list, revoke or rotate keys
    #[command(subcommand)]
    Keys(Keys),
    /// Register or list agents
    #[command(subcommand)]
    Agent(Agent),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Set one of server, api_key, format
    Set {
        /// What
        key: String,
        /// To what
        value: String,
    },
    /// Print one of server, api_key, format
    Get {
        /// What
        key: String,
    },
    /// Print everything; of the key only its beginning
    Show,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Auth {
    Login(LoginArgs),
    /// Show whose key this is
    Whoami,
}

/// Ask a server from now on, after it has known the key
#[derive(Args, Debug)]
pub(crate) struct LoginArgs {
    /// The key, as it was shown once; LOOPCTL_API_KEY if not given
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tenant {
    /// Show the tenant
    Info,
    Update(UpdateTenantArgs),
    /// Say how a tenant is made
    Register,
}

/// Change settings of the tenant
#[derive(Args, Debug)]
pub(crate) struct UpdateTenantArgs {
    /// One setting; may be given several times
    #[arg(long = "setting", value_name = "NAME=VALUE", required = true)]
    settings: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    Create(CreateKeyArgs),
    /// List the keys
    List {
        /// Those that were revoked too
        #[arg(long)]
        include_revoked: bool,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Let a key in no more
    Revoke {
        /// Its id
        id: String,
    },
    Rotate(RotateArgs),
}

/// Make a key; it is shown once
#[derive(Args, Debug)]
pub(crate) struct CreateKeyArgs {
    /// What it is called
    #[arg(long)]
    name: String,
    /// agent, orchestrator or user
    #[arg(long)]
    role: String,
    /// The agent it is for: name or id
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Replace a key; the old one works for a while
#[derive(Args, Debug)]
pub(crate) struct RotateArgs {
    /// Its id
    id: String,
    /// For how many hours the old one works on
    #[arg(long, value_name = "HOURS")]
    grace: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    Register(RegisterArgs),
    /// List the agents
    List(PageArgs),
}

/// Bind this key to a new agent
#[derive(Args, Debug)]
pub(crate) struct RegisterArgs {
    /// Its name
    #[arg(long)]
    name: String,
    /// implementer or orchestrator
    #[arg(long = "type", value_name = "TYPE", default_value = "implementer")]
    kind: String,
}

impl Account {
    /// Whether the queue need not be there.
    pub(super) fn is_about_this_machine(&self) -> bool {
        let login = matches!(self, Self::Login(_) | Self::Auth(Auth::Login(_)) | Self::Logout);
        login || matches!(self, Self::Config(_) | Self::Tenant(Tenant::Register))
    }

    pub(super) async fn at_home(self, config: &mut Config, who: &WhoArgs) -> Result<Shown, Fault> {
        match self {
            Self::Config(ConfigCommand::Set { key, value }) => {
                config.set(&key, &value)?;
                Ok(Shown::said(json!({ "set": key }), format!("{key} is set")))
            }
            Self::Config(ConfigCommand::Get { key }) => {
                let value = config.get(&key).unwrap_or_default();
                Ok(Shown::said(json!({ &key: value }), value))
            }
            Self::Login(args) | Self::Auth(Auth::Login(args)) => login(args, config, who).await,
            Self::Logout => {
                config.forget(&["server", "api_key"])?;
                Ok(Shown::said(json!({ "server": null }), "from now on the queue on this machine is asked"))
            }
            Self::Tenant(_) => {
                let how = "tenants are made by whoever runs the server: `windlass serve new-tenant NAME`";
                Ok(Shown::said(json!({ "message": how }), how))
            }
            _ => Ok(Shown::thing(config.shown())),
        }
    }

    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Tenant(Tenant::Update(args)) => {
                let settings = settings(&args.settings)?;
                let body = json!({ "settings": settings });
                desk.send(Method::Patch, "/tenants/me", &[], body).await.map(Shown::thing)
            }
            Self::Keys(keys) => keys.play(desk).await,
            Self::Agent(Agent::Register(args)) => {
                let body = json!({ "name": args.name, "agent_type": args.kind });
                desk.post("/agents/register", body).await.map(Shown::thing)
            }
            Self::Agent(Agent::List(page)) => {
                Ok(Shown::rows(desk.get("/agents", &page.query()).await?, AGENTS))
            }
            _ => desk.get("/tenants/me", &[]).await.map(Shown::thing),
        }
    }
}

impl Keys {
    async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Create(args) => {
                let agent = match &args.agent {
                    Some(agent) => Some(agent_id(agent, desk).await?),
                    None => None,
                };
                let body = json!({ "name": args.name, "role": args.role, "agent_id": agent });
                desk.post("/api_keys", body).await.map(Shown::thing)
            }
            Self::List { include_revoked, page } => {
                let query = page.with([("include_revoked", include_revoked.then(|| "true".to_owned()))]);
                Ok(Shown::rows(desk.get("/api_keys", &query).await?, KEYS))
            }
            Self::Revoke { id } => {
                let answer = desk.delete(&format!("/api_keys/{}", escaped(&id))).await?;
                Ok(Shown::said(answer, format!("{id} is revoked")))
            }
            Self::Rotate(args) => {
                let path = format!("/api_keys/{}/rotate", escaped(&args.id));
                desk.post(&path, json!({ "grace_period_hours": args.grace })).await.map(Shown::thing)
            }
        }
    }
}

/// An agent by its name or id.
pub(super) async fn agent_id(named: &str, desk: &Desk) -> Result<String, Fault> {
    if crate::stories::is_id(named) {
        return Ok(named.to_owned());
    }
    match desk.get(&format!("/agents/{}", escaped(named)), &[]).await {
        Ok(agent) => Ok(found(&agent)["id"].as_str().unwrap_or_default().to_owned()),
        Err(fault) if fault.code == Code::StoryUnknown => {
            Err(Fault::new(Code::StoryUnknown, format!("no agent is called `{named}`"))
                .hint("`windlass story agent list` shows who there is"))
        }
        Err(fault) => Err(fault),
    }
}

async fn login(args: LoginArgs, config: &mut Config, who: &WhoArgs) -> Result<Shown, Fault> {
    let server = who.server.clone().or_else(|| config.get("server").map(str::to_owned)).ok_or_else(|| {
        Fault::new(Code::BadArgument, "which server?").hint("`--server http://127.0.0.1:4000`")
    })?;
    let key = args.key.or_else(|| config.get("api_key").map(str::to_owned)).ok_or_else(|| {
        Fault::new(Code::StoryKey, "with which key?").hint("`--key KEY`, as it was shown when it was made")
    })?;
    let desk = Desk::new(Arc::new(Remote::at(&server, config.remembered())?), Some(key.clone()));
    let tenant = desk.get("/tenants/me", &[]).await?;
    config.set("server", &server)?;
    config.set("api_key", &key)?;
    Ok(Shown::thing(tenant))
}

/// Whole numbers, true and false are what they look like; everything else is a text.
fn settings(given: &[String]) -> Result<Value, Fault> {
    let mut settings = Map::new();
    for setting in given {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            Fault::new(Code::BadArgument, format!("`{setting}` is no setting"))
                .hint("such as max_projects=20")
        })?;
        let value = match value {
            "true" => json!(true),
            "false" => json!(false),
            "null" => Value::Null,
            text => text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number)),
        };
        settings.insert(name.to_owned(), value);
    }
    Ok(Value::Object(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_numbers_flags_or_texts() {
        let given = ["max_projects=20", "auto_reset_on_rejection=false", "timezone=UTC", "x=a=b"];
        let given: Vec<String> = given.into_iter().map(str::to_owned).collect();
        let expected =
            json!({"max_projects": 20, "auto_reset_on_rejection": false, "timezone": "UTC", "x": "a=b"});
        assert_eq!(settings(&given).unwrap(), expected);
        assert_eq!(settings(&["nonsense".to_owned()]).unwrap_err().code, Code::BadArgument);
    }
}
