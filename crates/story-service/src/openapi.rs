//! The OpenAPI 3.1 document and the list of routes, made from the table.

use crate::route::{Field, Kind, Need, Route, Who};
use serde_json::{Map, Value, json};
use windlass_control_api::stories::{LONGEST_BODY, Method};

pub(crate) fn document(routes: &[Route]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let item = paths.entry(template(route)).or_insert_with(|| json!({}));
        if let Value::Object(item) = item {
            item.insert(route.method.name().to_ascii_lowercase(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Windlass story queue",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "Stories with two status tracks; who implements, reports, reviews and verifies are different actors. A body may \
                 have up to {LONGEST_BODY} bytes where nothing else is said; a longer one is answered with 413."
            ),
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error_schema() },
        },
    })
}

/// `GET /routes`.
pub(crate) fn list(routes: &[Route]) -> Value {
    let line = |route: &Route| {
        json!({
            "method": route.method.name(),
            "path": route.full_path(),
            "role": route.who.text(),
            "description": route.about,
        })
    };
    json!({ "data": routes.iter().map(line).collect::<Vec<_>>() })
}

/// `/stories/:id` as `/stories/{id}`.
fn template(route: &Route) -> String {
    let parts = route.full_path();
    let parts: Vec<String> = parts
        .split('/')
        .map(|part| part.strip_prefix(':').map_or_else(|| part.to_owned(), |name| format!("{{{name}}}")))
        .collect();
    parts.join("/")
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "summary": route.about,
        "description": description(route),
        "operationId": operation_id(route),
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Value::Object(operation) = &mut operation {
        if route.who != Who::Public {
            operation.insert("security".into(), json!([{ "key": [] }]));
        }
        if route.method != Method::Get {
            operation.insert("requestBody".into(), request_body(route));
        }
    }
    operation
}

/// Who may ask, and how much they may bring where that is not what holds everywhere.
fn description(route: &Route) -> String {
    let role = format!("Role: {}.", route.who.text());
    if route.longest == LONGEST_BODY {
        return role;
    }
    format!("{role} The body may have up to {} bytes.", route.longest)
}

fn operation_id(route: &Route) -> String {
    let words: Vec<&str> = route
        .path
        .split(['/', '-', '.'])
        .map(|part| part.trim_start_matches(':'))
        .filter(|part| !part.is_empty())
        .collect();
    format!("{}_{}", route.method.name().to_ascii_lowercase(), words.join("_"))
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = route.path.split('/').filter_map(|part| part.strip_prefix(':')).map(|name| {
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
    });
    let in_query = route.query.iter().map(|field| {
        let required = field.need == Need::Required;
        json!({ "name": field.name, "in": "query", "required": required, "schema": schema(*field) })
    });
    in_path.chain(in_query).collect()
}

fn request_body(route: &Route) -> Value {
    let properties: Map<String, Value> =
        route.body.iter().map(|field| (field.name.to_owned(), schema(*field))).collect();
    let needed: Vec<&str> =
        route.body.iter().filter(|field| field.need == Need::Required).map(|field| field.name).collect();
    json!({
        "required": !needed.is_empty(),
        "content": { "application/json": { "schema": {
            "type": "object", "properties": properties, "required": needed,
        } } },
    })
}

fn schema(field: Field) -> Value {
    let kind = match field.kind {
        Kind::Text => "string",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Object => "object",
        Kind::List => "array",
        Kind::Any => return json!({}),
    };
    match field.need {
        Need::Required => json!({ "type": kind }),
        Need::Optional => json!({ "type": [kind, "null"] }),
    }
}

fn responses(route: &Route) -> Value {
    let error = json!({
        "description": "refused; nothing was changed but, where custody was tried, the record of the attempt",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    });
    let mut responses = Map::new();
    responses.insert("2XX".into(), json!({ "description": route.about }));
    responses.insert("4XX".into(), error.clone());
    responses.insert("503".into(), error);
    Value::Object(responses)
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["status", "message"],
            "properties": {
                "status": { "type": "integer" },
                "message": { "type": "string" },
                "code": { "type": "string" },
                "details": { "type": "object" },
                "context": { "type": "object" },
                "remediation": { "type": "object" },
            },
        } },
    })
}
