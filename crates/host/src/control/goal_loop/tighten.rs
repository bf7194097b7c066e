//! What flags and settings take away from the contract. Whatever would add to it is refused by name: a contract is
//! widened by editing it, where everybody can read it.

use super::setup::Setup;
use crate::settings::Settings;
use windlass_artifact_formats::goal_loop::{BUDGET_FILE, CONTRACT_FILE, ItemId, Scope};
use windlass_control_api::money::micros;
use windlass_control_api::{Code, Fault};
use windlass_protocols::Millis;
use windlass_protocols::kernel::budget::Caps;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Limits, Queue};
use windlass_protocols::protocol::goal_contract::spec::Tightened;

pub(super) fn tightened(setup: &Setup, settings: &Settings) -> Result<Tightened, Fault> {
    let limits = setup.queue.limits;
    Ok(Tightened {
        scope: scope(&setup.queue, settings)?,
        autonomy: autonomy(&setup.queue, settings)?,
        commits: count(settings, "goal.commits", Some(limits.commits.into()))?,
        rework: count(settings, "goal.rework", Some(limits.rework.into()))?,
    })
}

/// The caps of the command line; where nothing is said only the contract caps, which people may edit while it runs.
pub(super) fn caps(setup: &Setup, settings: &Settings, once: bool, general: Caps) -> Result<Caps, Fault> {
    let limits = setup.queue.limits;
    let iterations = count(settings, "goal.iterations", Some(limits.iterations.into()))?;
    let minutes = capped(settings, "goal.minutes", limits.time.map(|time| time.0 / 60_000))?;
    let tokens = capped(settings, "goal.tokens", limits.tokens)?;
    let cost = settings.text("goal.cost").and_then(micros);
    if let (Some(given), Some(cap)) = (cost, limits.cost_micros)
        && given > cap
    {
        return Err(wider(settings, "goal.cost", BUDGET_FILE, "allows less"));
    }
    let least = |one: Option<u64>, other: Option<u64>| [one, other].into_iter().flatten().min();
    Ok(Caps {
        rounds: if once { 1 } else { iterations.unwrap_or(u32::MAX) },
        time: least(general.time.map(|time| time.0), minutes.map(|minutes| Millis::minutes(minutes).0))
            .map(Millis),
        tokens: least(general.tokens, tokens),
        cost_micros: least(general.cost_micros, cost),
        ..general
    })
}

/// What a run could use at most: the contract's caps, taken in by all of that.
pub(super) fn limits(contract: &Limits, tightened: &Tightened, caps: &Caps) -> Limits {
    let least = |one: Option<u64>, other: Option<u64>| [one, other].into_iter().flatten().min();
    let millis = |time: Option<Millis>| time.map(|time| time.0);
    Limits {
        iterations: contract.iterations.min(caps.rounds),
        commits: tightened.commits.map_or(contract.commits, |commits| commits.min(contract.commits)),
        rework: tightened.rework.map_or(contract.rework, |rework| rework.min(contract.rework)),
        time: least(millis(contract.time), millis(caps.time)).map(Millis),
        tokens: least(contract.tokens, caps.tokens),
        cost_micros: least(contract.cost_micros, caps.cost_micros),
    }
}

fn scope(queue: &Queue, settings: &Settings) -> Result<Option<Vec<String>>, Fault> {
    let Some(text) = settings.text("goal.scope").filter(|text| !text.trim().is_empty()) else {
        return match settings.origin("goal.scope") {
            None => Ok(None),
            Some(origin) => Err(Fault::new(Code::BadArgument, format!("the scope ({origin}) names no item"))
                .kept("nothing was begun")
                .hint("name items, such as F001-F003, or leave it out for all that the contract includes")),
        };
    };
    let bad = |why: String| Fault::new(Code::BadArgument, format!("the scope `{text}`: {why}"));
    let parts = Scope::parse_set(text).map_err(bad)?;
    let named = |id: &str| ItemId::parse(id).is_some_and(|id| parts.iter().any(|part| part.contains(&id)));
    let mut ids = Vec::new();
    for item in queue.items.iter().filter(|item| named(&item.id)) {
        if !queue.scope.contains(&item.id) {
            let why = format!("does not include {}", item.id);
            return Err(wider(settings, "goal.scope", CONTRACT_FILE, &why));
        }
        ids.push(item.id.clone());
    }
    for part in &parts {
        let known = |id: &str| ItemId::parse(id).is_some_and(|id| part.contains(&id));
        if !ids.iter().any(|id| known(id)) {
            return Err(bad(format!("`{part}` names no item of the queue")));
        }
    }
    Ok(Some(ids))
}

fn autonomy(queue: &Queue, settings: &Settings) -> Result<Option<Autonomy>, Fault> {
    let given = match settings.text("goal.autonomy") {
        Some("L1") => Autonomy::L1,
        Some("L2") => Autonomy::L2,
        Some(_) => Autonomy::L3,
        None => return Ok(None),
    };
    if given > queue.autonomy {
        let why = format!("says {}", queue.autonomy.word());
        return Err(wider(settings, "goal.autonomy", CONTRACT_FILE, &why));
    }
    Ok(Some(given))
}

fn count(settings: &Settings, key: &str, cap: Option<u64>) -> Result<Option<u32>, Fault> {
    Ok(capped(settings, key, cap)?.map(|count| u32::try_from(count).unwrap_or(u32::MAX)))
}

fn capped(settings: &Settings, key: &str, cap: Option<u64>) -> Result<Option<u64>, Fault> {
    let given = settings.number(key);
    match (given, cap) {
        (Some(given), Some(cap)) if given > cap => {
            Err(wider(settings, key, BUDGET_FILE, &format!("allows {cap}")))
        }
        _ => Ok(given),
    }
}

fn wider(settings: &Settings, key: &str, file: &str, says: &str) -> Fault {
    let name = key.trim_start_matches("goal.");
    let value = settings.text(key).map(str::to_owned).or_else(|| settings.number(key).map(|n| n.to_string()));
    let origin = settings.origin(key).map(ToString::to_string).unwrap_or_default();
    Fault::new(
        Code::WouldWiden,
        format!("{name} {} ({origin}) would widen the contract: {file} {says}", value.unwrap_or_default()),
    )
    .kept("nothing was begun")
    .hint(format!("leave it out, or edit {file}; flags and settings can only take away"))
}
