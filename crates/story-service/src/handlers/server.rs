//! Routes the service answers itself: discovery, the operator's tenants, what anybody may check of the chain.

use crate::route::{
    Kind::{Integer, Text},
    Route, Server, Who, needs, takes,
};
use windlass_control_api::stories::Method::{Get, Patch, Post};
use windlass_protocols::protocol::story_queue::vocabulary::KeyRole;

const USER: Who = Who::AtLeast(KeyRole::User);

pub(crate) const ROUTES: &[Route] = &[
    Route::server(Get, "/health", Who::Public, "Whether the server can answer", Server::Health).at_root(),
    Route::server(
        Get,
        "/.well-known/loopctl",
        Who::Public,
        "What this server is and where it is asked",
        Server::Discovery,
    )
    .at_root(),
    Route::server(
        Get,
        "/.well-known/loopctl/schema.json",
        Who::Public,
        "The shape of the discovery document",
        Server::DiscoverySchema,
    )
    .at_root(),
    Route::server(Get, "/", Who::Public, "What this server is and where it is asked", Server::Welcome),
    Route::server(Get, "/openapi", Who::Public, "This interface as OpenAPI 3.1", Server::OpenApi),
    Route::server(Get, "/routes", Who::AnyKey, "Every route, with who may use it", Server::Routes),
    Route::server(Get, "/admin/tenants", Who::Superadmin, "Every tenant", Server::Tenants),
    Route::server(
        Post,
        "/admin/tenants",
        Who::Superadmin,
        "Found a tenant; its first key is shown once",
        Server::CreateTenant,
    )
    .body(&[needs("name", Text), needs("slug", Text), takes("email", Text)]),
    Route::server(Get, "/admin/tenants/:id", Who::Superadmin, "One tenant", Server::Tenant),
    Route::server(Patch, "/admin/tenants/:id", Who::Superadmin, "Rename a tenant", Server::UpdateTenant)
        .body(&[takes("name", Text)]),
    Route::server(
        Post,
        "/admin/tenants/:id/suspend",
        Who::Superadmin,
        "Let nobody of a tenant in",
        Server::SuspendTenant,
    ),
    Route::server(
        Post,
        "/admin/tenants/:id/activate",
        Who::Superadmin,
        "Let a tenant in again",
        Server::ActivateTenant,
    ),
    Route::server(
        Post,
        "/admin/tenants/:id/clear-halt",
        Who::Superadmin,
        "Let custody go on after the chain was looked at",
        Server::ClearHalt,
    )
    .body(&[needs("assertion", Text)]),
    Route::server(Get, "/admin/stats", Who::Superadmin, "How much there is", Server::ServerStats),
    Route::server(
        Get,
        "/tenants/:id/audit_public_key",
        Who::Public,
        "The key a tenant's tree heads and tokens are signed with",
        Server::PublicKey,
    ),
    Route::server(
        Get,
        "/audit/sth/:id",
        Who::Public,
        "A signed head of a tenant's audit chain",
        Server::TreeHead,
    )
    .query(&[takes("at", Integer)]),
    Route::server(Get, "/audit/verify", USER, "Whether the tenant's own chain holds", Server::VerifyChain),
    Route::server(
        Get,
        "/audit/export",
        USER,
        "The chain as a file that anybody can check",
        Server::ExportChain,
    ),
    Route::server(Get, "/admin/audit", Who::Superadmin, "What operators did", Server::ServerAudit),
];
