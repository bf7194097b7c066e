//! What each route does: the body becomes a command of the core, its result a view. Rules are the core's.

mod audit;
mod bulk;
mod checkpoints;
mod custody;
mod dependencies;
mod export;
mod import;
mod knowledge;
mod lifecycle;
mod plan;
mod server;
mod skills;
mod stories;
mod tenancy;
mod ui_tests;
mod usage;
mod webhooks;

use crate::route::Route;

pub(crate) use knowledge::system_articles;
pub(crate) use tenancy::role;
pub(crate) use webhooks::{Sealed, secret as webhook_secret};

/// All of them; a fixed part stands before a parameter of the same place.
pub(crate) fn table() -> Vec<Route> {
    let areas: [&[Route]; 16] = [
        server::ROUTES,
        tenancy::ROUTES,
        custody::ROUTES,
        bulk::ROUTES,
        stories::ROUTES,
        lifecycle::ROUTES,
        plan::ROUTES,
        dependencies::ROUTES,
        import::ROUTES,
        checkpoints::ROUTES,
        audit::ROUTES,
        usage::ROUTES,
        skills::ROUTES,
        webhooks::ROUTES,
        knowledge::ROUTES,
        ui_tests::ROUTES,
    ];
    areas.concat()
}
