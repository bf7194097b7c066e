//! What clients see of each entity, under the field names of the original. Nothing here decides anything.

pub(crate) mod audit;
pub(crate) mod plan;
pub(crate) mod tenancy;
pub(crate) mod work;
