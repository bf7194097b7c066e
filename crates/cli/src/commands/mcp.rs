//! `windlass mcp`: the story queue as tools for agents, over pipes or HTTP.

use crate::output::Output;
use crate::stories::Config;
use crate::wiring::{self, Environment};
use clap::Args;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use windlass_control_api::stories::StoryApi;
use windlass_control_api::{Code, Fault, exit_codes};
use windlass_http_server::{ListenError, Listener, Reach};
use windlass_mcp_server::{Keys, OverHttp, Server, refuse_shared_identity, stdio};

use super::story::WhoArgs;

/// Offer the story queue to agents as tools, in the Model Context Protocol
///
/// Speaks on standard input and output, as agent programs start it. Keys come from the environment: LOOPCTL_API_KEY for every
/// tool, else LOOPCTL_AGENT_KEY, LOOPCTL_ORCH_KEY and LOOPCTL_USER_KEY for the tools that want them. One process does not
/// hold two roles of one agent.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass mcp --as agent:alice
  windlass mcp --http 127.0.0.1:4001
  LOOPCTL_SERVER=http://127.0.0.1:4000 LOOPCTL_AGENT_KEY=lc_... windlass mcp")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    who: WhoArgs,
    /// Speak HTTP at this address instead, at /mcp; each request brings its own key
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
}

pub(crate) async fn run(args: McpArgs, environment: &Environment, output: &mut Output) -> Result<u8, Fault> {
    let config = Config::read(environment)?;
    if let Some(address) = args.http {
        return over_http(address, environment, &config, &args.who, output).await;
    }
    let (api, notices, local_key) =
        wiring::queue_for_tools(environment, &config, &args.who, |who| output.warn(who)).await?;
    let keys = match local_key {
        Some(key) => Keys::one(key),
        None => keys_of(environment, &config),
    };
    notices.during(over_pipes(&*api, &keys), |text| output.warn(text)).await
}

async fn over_pipes(api: &dyn StoryApi, keys: &Keys) -> Result<u8, Fault> {
    let checked = refuse_shared_identity(api, keys).await;
    match checked.map_err(|unreachable| Fault::new(Code::StoryServer, unreachable.0))? {
        Ok(()) => {}
        Err(shared) => {
            let message =
                format!("the agent key and the orchestrator key are both of agent {}", shared.agent);
            let hint = "start one process for each role, so that nobody marks their own work";
            return Err(Fault::new(Code::StoryRefused, message).hint(hint));
        }
    }
    let server = Server::new(api, env!("CARGO_PKG_VERSION"));
    stdio::serve(&server, keys)
        .await
        .map_err(|error| Fault::new(Code::FileSystem, format!("the client's pipe broke: {error}")))?;
    Ok(exit_codes::ACCEPTED)
}

/// No key of this process is used: whoever asks brings one. So nobody need speak here.
async fn over_http(
    address: SocketAddr,
    environment: &Environment,
    config: &Config,
    who: &WhoArgs,
    output: &mut Output,
) -> Result<u8, Fault> {
    let (api, notices) = wiring::queue(environment, config, who)?;
    let cannot = |error: ListenError| Fault::new(Code::BadArgument, error.to_string());
    let listener = Listener::bind(address, Reach::ThisMachine).await.map_err(cannot)?;
    let address = listener.address();
    if output.is_json() {
        output.json_line(&serde_json::json!({ "mcp": format!("http://{address}/mcp") }));
    } else {
        output.line(format!("tools at http://{address}/mcp"));
    }
    let stop = async {
        // Without signals it serves until it is killed, which is safe at any moment.
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
        let Ok(mut interrupt) = signal(SignalKind::interrupt()) else { return std::future::pending().await };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    let serving = listener.serve(Arc::new(OverHttp::new(api, env!("CARGO_PKG_VERSION"))), stop);
    notices.during(serving, |text| output.warn(text)).await;
    Ok(exit_codes::ACCEPTED)
}

fn keys_of(environment: &Environment, config: &Config) -> Keys {
    let variable = |name: &str| {
        let value = environment.get(OsStr::new(name))?.to_str()?;
        Some(value.to_owned()).filter(|value| !value.is_empty())
    };
    let [agent, orchestrator, user] =
        ["LOOPCTL_AGENT_KEY", "LOOPCTL_ORCH_KEY", "LOOPCTL_USER_KEY"].map(variable);
    let any = agent.is_some() || orchestrator.is_some() || user.is_some();
    // The configured key is for a person at the command line; a process that was given keys of its own uses those.
    let configured = || config.get("api_key").filter(|_| !any).map(str::to_owned);
    Keys { only: variable("LOOPCTL_API_KEY").or_else(configured), agent, orchestrator, user }
}
