//! Routes the service answers itself: discovery, the operator's tenants, what anybody may check of the chain.

use crate::route::{
    Kind::{Any, Integer, Object, Text},
    PAGE, Route, Server, Who, needs, takes,
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
    Route::server(Get, "/admin/stats", Who::Superadmin, "How much there is", Server::Stats),
    Route::server(
        Get,
        "/tenants/:id/audit_public_key",
        Who::Public,
        "The key a tenant's tree heads and tokens are signed with",
        Server::PublicKey,
    ),
    Route::server(
        Post,
        "/tenants/:id/rotate-audit-key",
        USER,
        "Sign with a new audit key from now on; what the old one signed stays good",
        Server::RotateKey,
    )
    .body(&[takes("assertion", Any)]),
    Route::server(
        Post,
        "/tenants/:id/bootstrap-audit-key",
        USER,
        "For tenants without an audit key, of which there are none",
        Server::BootstrapKey,
    ),
    Route::server(
        Get,
        "/articles/system",
        Who::Public,
        "Published articles for everybody",
        Server::SystemArticles,
    )
    .query(&[PAGE[0], PAGE[1], takes("slug", Text), takes("category", Text)]),
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
    Route::server(
        Post,
        "/audit/witness",
        Who::AnyKey,
        "Show a whole tree head that you kept; one that the chain does not continue stops custody",
        Server::ShowHead,
    )
    .body(&[needs("tree_head", Object)]),
    Route::server(
        Get,
        "/admin/violators",
        Who::Superadmin,
        "What was tried against custody, in every tenant",
        Server::Violators,
    )
    .query(&[PAGE[0], PAGE[1], takes("status", Text)]),
    Route::server(
        Post,
        "/admin/violators/:id/resolve",
        Who::Superadmin,
        "Settle a violation",
        Server::ResolveViolator,
    )
    .body(&[takes("note", Text)]),
    Route::server(
        Post,
        "/admin/violators/:id/ignore",
        Who::Superadmin,
        "Let a violation be",
        Server::IgnoreViolator,
    )
    .body(&[takes("note", Text)]),
    Route::server(Get, "/admin/audit", Who::Superadmin, "What operators did", Server::OperatorsLog),
];
