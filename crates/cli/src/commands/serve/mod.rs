//! `windlass serve`: the story queue for a team, over HTTP, and the operator's own acts at its data directory.

mod running;

use crate::output::Output;
use crate::wiring::{self, Environment};
use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault, exit_codes};
use windlass_story_service::{DataDir, DataDirError, OperatorError};

/// Serve the story queue to a team over HTTP
///
/// Makes its data directory where there is none, with a tenant called `default` whose first key is printed once. Keys travel
/// in headers: without a certificate it listens on this machine only, unless a proxy in front of it encrypts.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  windlass serve
  windlass serve --listen 0.0.0.0:4000 --tls-cert chain.pem --tls-key key.pem
  windlass serve new-tenant \"Team Blue\"
  windlass serve new-key ops --superadmin"
)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    /// Where to listen; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4000")]
    listen: SocketAddr,
    /// Where the queue lives; `story-server` in the state directory if not given
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The certificate chain, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen in the clear beyond this machine, because a proxy in front encrypts
    #[arg(long, conflicts_with = "tls_cert")]
    behind_proxy: bool,
    /// Let webhooks point to this machine and to private networks
    #[arg(long)]
    private_webhooks: bool,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    /// Found a tenant and print its first key, once; the server must not run
    NewTenant {
        /// What people call it
        name: String,
        /// What scripts call it; made from the name if not given
        #[arg(long)]
        slug: Option<String>,
        /// Where the queue lives
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
    /// Make a key and print it, once; the server must not run
    NewKey {
        /// What the key is for
        name: String,
        /// Whose key it is
        #[arg(long, value_name = "SLUG", default_value = "default")]
        tenant: String,
        /// What it may do
        #[arg(long, default_value = "user")]
        role: Role,
        /// A key of the operator, which belongs to no tenant
        #[arg(long, conflicts_with_all = ["tenant", "role"])]
        superadmin: bool,
        /// Where the queue lives
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    Agent,
    Orchestrator,
    User,
}

pub(crate) async fn run(
    args: ServeArgs,
    environment: &Environment,
    output: &mut Output,
) -> Result<u8, Fault> {
    let data = |given: Option<PathBuf>| -> Result<PathBuf, Fault> {
        match given {
            Some(path) => Ok(path),
            None => Ok(wiring::state_directory(environment)?.join("story-server")),
        }
    };
    match args.command {
        None => running::serve(args, environment, output).await,
        Some(ServeCommand::NewTenant { name, slug, data: place }) => {
            let held = hold(&data(place)?)?;
            let service = held.open().map_err(|error| unusable(&error))?;
            let slug = slug.unwrap_or_else(|| slug_of(&name));
            let founded = service
                .found(&name, &slug, None, running::operator())
                .await
                .map_err(|error| refused(&error))?;
            tell_key(output, &slug, &founded.raw_key);
            Ok(exit_codes::ACCEPTED)
        }
        Some(ServeCommand::NewKey { name, tenant, role, superadmin, data: place }) => {
            let place = data(place)?;
            if !place.join("stories.db").is_file() {
                let message = format!("{} holds no queue", place.display());
                return Err(Fault::new(Code::BadArgument, message)
                    .kept("nothing was made there")
                    .hint("name the directory that `windlass serve --data` was given"));
            }
            let held = hold(&place)?;
            let service = held.open().map_err(|error| unusable(&error))?;
            if superadmin {
                let key = service.make_superadmin_key(&name).await.map_err(|error| refused(&error))?;
                tell_key(output, "", &key);
                return Ok(exit_codes::ACCEPTED);
            }
            let tenants = service.tenants().await.map_err(|error| refused(&error))?;
            let Some(found) = tenants.iter().find(|known| known.slug == tenant) else {
                return Err(Fault::new(Code::BadArgument, format!("there is no tenant {tenant}"))
                    .hint("`windlass serve new-tenant NAME` founds one"));
            };
            let role = match role {
                Role::Agent => "agent",
                Role::Orchestrator => "orchestrator",
                Role::User => "user",
            };
            let key = service.make_named_key(found.id, &name, role).await.map_err(|error| refused(&error))?;
            tell_key(output, &tenant, &key);
            Ok(exit_codes::ACCEPTED)
        }
    }
}

fn hold(path: &Path) -> Result<DataDir, Fault> {
    DataDir::hold(path, "windlass serve").map_err(|error| unusable(&error))
}

fn unusable(error: &DataDirError) -> Fault {
    match error {
        DataDirError::Held { .. } => Fault::new(Code::RepositoryHeld, error.to_string())
            .kept("nothing was changed")
            .hint("stop the server that runs there, or name another directory with --data"),
        DataDirError::Directory { .. } => Fault::new(Code::FileSystem, error.to_string())
            .hint("make it a directory that you can write, or name another with --data"),
        DataDirError::Journal(_) => Fault::new(Code::JournalUnavailable, error.to_string())
            .kept("the file as it was found")
            .hint("put `stories.db` back from a backup, or name another directory with --data"),
    }
}

fn refused(error: &OperatorError) -> Fault {
    match error {
        OperatorError::Refused(_) => Fault::new(Code::BadArgument, error.to_string()),
        OperatorError::Journal(_) => Fault::new(Code::JournalUnavailable, error.to_string()),
        OperatorError::KeyMissing { .. } => Fault::new(Code::StorySigningKey, error.to_string())
            .kept("the queue as it is; no other key was made")
            .hint("put the directory `keys` back from a backup: what was signed is checked with it"),
    }
}

/// Once, and never again: only its digest is kept.
fn tell_key(output: &mut Output, tenant: &str, raw_key: &str) {
    if output.is_json() {
        output.json_line(&serde_json::json!({ "event": "key", "tenant": tenant, "key": raw_key }));
    } else {
        output.line(format!("key (shown once): {raw_key}"));
    }
}

fn slug_of(name: &str) -> String {
    let plain = name.to_ascii_lowercase();
    let words: Vec<&str> =
        plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}
