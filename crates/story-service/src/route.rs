//! The table of routes: what can be asked, by whom, with which body. Dispatch, `GET /routes`, the OpenAPI document and the
//! tests of isolation are all made from it, so none of them can disagree with another.

use crate::asked::{Asked, Look, Reply};
use windlass_control_api::stories::Method;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::refusal::{Kind as RefusalKind, Refusal};
use windlass_protocols::protocol::story_queue::vocabulary::KeyRole;

#[derive(Clone, Copy)]
pub struct Route {
    pub method: Method,
    /// Below the base, unless the route stands at the root. A part that begins with a colon is a parameter.
    pub path: &'static str,
    pub place: Place,
    pub who: Who,
    pub about: &'static str,
    pub query: &'static [Field],
    pub body: &'static [Field],
    /// How many bytes of it.
    pub longest: usize,
    pub handler: Handler,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    UnderBase,
    Root,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Public,
    AnyKey,
    AtLeast(KeyRole),
    /// Custody: the hierarchy does not help.
    Exactly(&'static [KeyRole]),
    Superadmin,
}

#[derive(Clone, Copy)]
pub enum Handler {
    Read(fn(&Look<'_>, &Asked) -> Decided<Reply>),
    Write(fn(&mut Draft<'_>, &Asked) -> Decided<Reply>),
    /// What needs more than one tenant's ledger.
    Server(Server),
}

/// Answered by the service itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Health,
    Discovery,
    DiscoverySchema,
    Welcome,
    OpenApi,
    Routes,
    Tenants,
    Tenant,
    Stats,
    OperatorsLog,
    CreateTenant,
    UpdateTenant,
    SuspendTenant,
    ActivateTenant,
    ClearHalt,
    PublicKey,
    TreeHead,
    VerifyChain,
    ExportChain,
    ShowHead,
    RotateKey,
    BootstrapKey,
    SystemArticles,
    Violators,
    ResolveViolator,
    IgnoreViolator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Object,
    List,
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
}

pub(crate) const fn needs(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, need: Need::Required }
}

pub(crate) const fn takes(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, need: Need::Optional }
}

pub(crate) const PAGE: [Field; 2] = [takes("page", Kind::Integer), takes("page_size", Kind::Integer)];

impl Route {
    pub const fn read(
        path: &'static str,
        who: Who,
        about: &'static str,
        handler: fn(&Look<'_>, &Asked) -> Decided<Reply>,
    ) -> Self {
        Self::new(Method::Get, path, who, about, Handler::Read(handler))
    }

    pub const fn write(
        method: Method,
        path: &'static str,
        who: Who,
        about: &'static str,
        handler: fn(&mut Draft<'_>, &Asked) -> Decided<Reply>,
    ) -> Self {
        Self::new(method, path, who, about, Handler::Write(handler))
    }

    pub const fn server(
        method: Method,
        path: &'static str,
        who: Who,
        about: &'static str,
        what: Server,
    ) -> Self {
        Self::new(method, path, who, about, Handler::Server(what))
    }

    const fn new(
        method: Method,
        path: &'static str,
        who: Who,
        about: &'static str,
        handler: Handler,
    ) -> Self {
        let longest = windlass_control_api::stories::LONGEST_BODY;
        Self { method, path, place: Place::UnderBase, who, about, query: &[], body: &[], longest, handler }
    }

    #[must_use]
    pub const fn at_root(mut self) -> Self {
        self.place = Place::Root;
        self
    }

    #[must_use]
    pub const fn query(mut self, query: &'static [Field]) -> Self {
        self.query = query;
        self
    }

    #[must_use]
    pub const fn body(mut self, body: &'static [Field]) -> Self {
        self.body = body;
        self
    }

    #[must_use]
    pub const fn longest(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    pub fn full_path(&self) -> String {
        match self.place {
            Place::UnderBase => format!("{}{}", windlass_control_api::stories::BASE, self.path),
            Place::Root => self.path.to_owned(),
        }
    }

    /// The parameters, when the parts of a path are this route's.
    pub fn matches(&self, parts: &[&str]) -> Option<Vec<(&'static str, String)>> {
        let mut parameters = Vec::new();
        let mut own = self.path.split('/').filter(|part| !part.is_empty());
        for given in parts {
            let wanted = own.next()?;
            match wanted.strip_prefix(':') {
                Some(name) => parameters.push((name, crate::asked::unescaped(given))),
                None if wanted == *given => {}
                None => return None,
            }
        }
        own.next().is_none().then_some(parameters)
    }
}

impl Who {
    pub fn admits(self, caller: &Caller) -> Result<(), Refusal> {
        match self {
            Self::Public | Self::AnyKey => Ok(()),
            Self::AtLeast(role) => caller.require_at_least(role),
            Self::Exactly(roles) => caller.require_exactly(roles),
            Self::Superadmin => caller.require_exactly(&[KeyRole::Superadmin]),
        }
    }

    pub fn text(self) -> String {
        match self {
            Self::Public => "public".to_owned(),
            Self::AnyKey => "any key".to_owned(),
            Self::AtLeast(role) => format!("{}+", role.name()),
            Self::Exactly(roles) => {
                let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
                format!("={}", names.join(","))
            }
            Self::Superadmin => "=superadmin".to_owned(),
        }
    }
}

/// What the table says of a body, held against what came.
pub(crate) fn check(
    fields: &[Field],
    body: &serde_json::Map<String, serde_json::Value>,
) -> Result<(), Refusal> {
    let mut wrong = Vec::new();
    for field in fields {
        let why = match body.get(field.name) {
            None | Some(serde_json::Value::Null) if field.need == Need::Required => Some("is missing"),
            None | Some(serde_json::Value::Null) => None,
            Some(value) => field.kind.differs(value),
        };
        wrong.extend(why.map(|why| (field.name, why)));
    }
    let Some((name, why)) = wrong.first() else { return Ok(()) };
    let refusal = Refusal::new(RefusalKind::Invalid, format!("{name} {why}"));
    Err(wrong.iter().fold(refusal, |refusal, (name, why)| refusal.with_detail(name, why)))
}

impl Kind {
    fn differs(self, value: &serde_json::Value) -> Option<&'static str> {
        match self {
            Self::Text => (!value.is_string()).then_some("must be a text"),
            Self::Integer => (!(value.is_i64() || value.is_u64())).then_some("must be a whole number"),
            Self::Number => (!value.is_number()).then_some("must be a number"),
            Self::Boolean => (!value.is_boolean()).then_some("must be true or false"),
            Self::Object => (!value.is_object()).then_some("must be an object"),
            Self::List => (!value.is_array()).then_some("must be a list"),
            Self::Any => None,
        }
    }
}
