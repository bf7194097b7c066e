//! Whether a person agreed to the contract as it stands. Remembered by repository and by the hash of its text without
//! the section that the loop itself writes, so that only a change a person made asks again.

use crate::durable_file::{Flush, replace};
use crate::evidence::digest;
use crate::fault::file_fault;
use crate::host::Host;
use std::collections::BTreeMap;
use windlass_artifact_formats::goal_loop::{CONTRACT_FILE, Contract};
use windlass_control_api::goal_setup::{ContractView, StartGoal};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::Checkout;

pub(super) fn view(host: &Host, checkout: &Checkout, contract: &Contract) -> Result<ContractView, Fault> {
    let hash = hash(contract);
    let confirmed = read(host)?.get(&key(checkout)) == Some(&hash);
    Ok(ContractView { hash, confirmed })
}

/// Refuses to go on while the contract is nobody's word.
pub(super) fn require(
    host: &Host,
    checkout: &Checkout,
    contract: &Contract,
    command: &StartGoal,
) -> Result<(), Fault> {
    let view = view(host, checkout, contract)?;
    if view.confirmed || command.yes || command.confirmed.as_ref() == Some(&view.hash) {
        return Ok(());
    }
    Err(Fault::new(Code::NotConfirmed, format!("nobody agreed to {CONTRACT_FILE} as it stands"))
        .kept("nothing was begun")
        .hint("`windlass goal check` shows what it comes to")
        .hint("run `windlass goal run` at a terminal and say yes, or agree with `--yes`"))
}

/// A person's yes, for every run to come.
pub(super) fn remember(host: &Host, checkout: &Checkout, contract: &Contract) -> Result<(), Fault> {
    let mut known = read(host)?;
    if known.insert(key(checkout), hash(contract)).as_ref() == Some(&hash(contract)) {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(&known).unwrap_or_default();
    replace(&host.state.contracts(), &text, Flush::ToDisk)
}

fn hash(contract: &Contract) -> String {
    digest(contract.confirmed_text().as_bytes()).to_string()
}

/// All worktrees of a repository have one word.
fn key(checkout: &Checkout) -> String {
    checkout.common_dir().to_string_lossy().into_owned()
}

/// A file that cannot be read has confirmed nothing, and says so rather than forgetting what was agreed.
fn read(host: &Host) -> Result<BTreeMap<String, String>, Fault> {
    let path = host.state.contracts();
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            Fault::new(Code::BadSettings, format!("{} cannot be read: {error}", path.display()))
                .hint("mend or remove the file; contracts then have to be confirmed again")
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(file_fault("read", &path, &error)),
    }
}
