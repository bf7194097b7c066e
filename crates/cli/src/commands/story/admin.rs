//! Verbs for whoever runs the server, with a superadmin key.

use super::shown::{Columns, Shown};
use super::{PageArgs, json_object};
use crate::stories::Desk;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use windlass_control_api::Fault;
use windlass_control_api::stories::{BASE, Call, Method, escaped};

const TENANTS: Columns = &[("SLUG", "slug"), ("STATUS", "status"), ("NAME", "name"), ("ID", "id")];

#[derive(Debug, Subcommand)]
pub(crate) enum Admin {
    /// List the tenants
    Tenants(PageArgs),
    /// Show one tenant
    Tenant {
        /// Its id or slug
        id: String,
    },
    /// Let nobody of a tenant in
    Suspend {
        /// Its id or slug
        id: String,
    },
    /// Let a tenant in again
    Activate {
        /// Its id or slug
        id: String,
    },
    /// Show counts of the whole server
    Stats,
    Impersonate(ImpersonateArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Verb {
    Get,
    Post,
}

/// Ask for a tenant, as its user
#[derive(Args, Debug)]
pub(crate) struct ImpersonateArgs {
    /// The tenant's id or slug
    id: String,
    /// How to ask
    verb: Verb,
    /// What to ask for, after /api/v1, such as /projects
    path: String,
    /// With this body
    body: Option<String>,
}

impl Admin {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        let tenant = |id: &str, step: &str| format!("/admin/tenants/{}{step}", escaped(id));
        match self {
            Self::Tenants(page) => Ok(Shown::rows(desk.get("/admin/tenants", &page.query()).await?, TENANTS)),
            Self::Tenant { id } => desk.get(&tenant(&id, ""), &[]).await.map(Shown::thing),
            Self::Suspend { id } => desk.post(&tenant(&id, "/suspend"), json!({})).await.map(Shown::thing),
            Self::Activate { id } => desk.post(&tenant(&id, "/activate"), json!({})).await.map(Shown::thing),
            Self::Stats => desk.get("/admin/stats", &[]).await.map(Shown::thing),
            Self::Impersonate(args) => {
                let path = args.path.trim_start_matches(BASE).trim_start_matches('/');
                let (path, query) = path.split_once('?').unwrap_or((path, ""));
                let method = if args.verb == Verb::Get { Method::Get } else { Method::Post };
                let mut call =
                    Call::new(method, format!("{BASE}/{path}")).with_header("x-impersonate-tenant", &args.id);
                query.clone_into(&mut call.query);
                if let Some(body) = &args.body {
                    call = call.with_json(&json_object("BODY", body)?);
                }
                desk.ask(call).await.map(Shown::thing)
            }
        }
    }
}
