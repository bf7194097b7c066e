//! What must hold of the agents of a run before anything is begun: maker and checkers of different vendors where the
//! user wants that, and a known price where money is capped.

use crate::prices::Prices;
use crate::settings::Settings;
use std::collections::BTreeMap;
use windlass_agent_drivers::{AgentChoice, AgentProgram, Vendor};
use windlass_control_api::{Code, Fault};
use windlass_protocols::Role;

const CAPS: [&str; 4] = ["max", "step", "day", "repository"];

pub(super) fn check(settings: &Settings, chains: &BTreeMap<Role, Vec<AgentChoice>>) -> Result<(), Fault> {
    if settings.switch("distinct-vendors") {
        distinct_vendors(chains)?;
    }
    match CAPS.into_iter().find(|cap| settings.money(cap).is_some()) {
        Some(cap) => require_prices(settings, &format!("{cap}-cost"), chains.values().flatten().cloned()),
        None => Ok(()),
    }
}

/// Every agent must have a price where this cap on money is to be kept.
pub(super) fn require_prices(
    settings: &Settings,
    cap: &str,
    choices: impl Iterator<Item = AgentChoice>,
) -> Result<(), Fault> {
    let prices = Prices::parse(&settings.list("prices"))
        .map_err(|error| Fault::new(Code::BadArgument, format!("the setting `prices`: {error}")))?;
    for choice in choices {
        priced(&choice, cap, &prices)?;
    }
    Ok(())
}

/// Every agent that may come to make the change, against every one that may come to check it.
fn distinct_vendors(chains: &BTreeMap<Role, Vec<AgentChoice>>) -> Result<(), Fault> {
    let of = |makes: bool| {
        chains
            .iter()
            .filter(move |(role, _)| role.may_write() == makes)
            .flat_map(|(role, chain)| chain.iter().map(move |choice| (*role, choice)))
    };
    for (role, choice) in of(true).chain(of(false)) {
        // A program that serves anybody's models tells nothing about whose it is.
        if !choice.vendor().is_some_and(Vendor::makes_models) {
            return Err(refused(format!("nobody can tell the vendor of the {role}'s agent `{choice}`")));
        }
    }
    for (maker, made_by) in of(true) {
        for (checker, checked_by) in of(false) {
            if let Some(vendor) = made_by.vendor().filter(|vendor| checked_by.vendor() == Some(*vendor)) {
                return Err(refused(format!(
                    "the {maker} `{made_by}` and the {checker} `{checked_by}` are both of {vendor}"
                )));
            }
        }
    }
    Ok(())
}

fn refused(what: String) -> Fault {
    Fault::new(Code::BadArgument, format!("{what}, and `distinct-vendors` is on"))
        .hint("choose an agent of another vendor for one of the roles, or switch `distinct-vendors` off")
}

/// A cap on money that cannot be counted would be no cap.
fn priced(choice: &AgentChoice, cap: &str, prices: &Prices) -> Result<(), Fault> {
    let AgentChoice::Known { program, model, .. } = choice else { return Ok(()) };
    let tells_price = matches!(program, AgentProgram::Claude | AgentProgram::OpenCode);
    let known = model.as_deref().is_some_and(|model| prices.knows(model)) || prices.knows(program.as_str());
    if tells_price || known {
        return Ok(());
    }
    let name = model.as_deref().unwrap_or(program.as_str());
    Err(Fault::new(
        Code::BadArgument,
        format!("`{choice}` tells its tokens and not its price, so `{cap}` cannot be kept"),
    )
    .hint(format!("give its price in the settings: prices = [\"{name} input=1.25 cached=0.125 output=10\"] (for a million tokens)"))
    .hint("or cap tokens instead of money"))
}
