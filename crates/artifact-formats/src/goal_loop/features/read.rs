//! From the text of `FEATURES.json` to typed items: first whose file it is, then what is wrong with it.
//! Places are given as `line:column`, because the file is edited by hand.

use std::cell::RefCell;

use super::{FEATURES_FILE, Feature, FeatureList, ItemContract, ItemStatus, Placed, Priority, rules};
use crate::document::{self, Document, Limits, Node, Shape};
use crate::fault::{ArtifactFault, FaultKind, excerpt, pointer_to};
use crate::faults::Faults;
use crate::fields::{FaultSink, Field, Fields};
use crate::goal_loop::item_id::ItemId;
use crate::recognised::Recognised;
use crate::text_lines::span;

/// A queue of thousands of items with long criteria still fits.
const LIMITS: Limits = Limits { max_bytes: 16 * 1024 * 1024, max_depth: 64, max_faults: 40 };

pub(super) fn recognise(text: &str) -> Recognised<FeatureList> {
    // A byte order mark is kept in the text and left out of the reading: editors on Windows write one.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (document, faults) = document::read(body.as_bytes(), LIMITS);
    let Some(document) = document else {
        return match faults.first() {
            Some(fault) if fault.kind == FaultKind::NotAnObject => Recognised::Foreign(fault.message.clone()),
            _ => invalid(faults.into_iter().map(|fault| fault.message).collect()),
        };
    };
    let Some((_, features)) = document.entries().iter().find(|(key, _)| key == "features") else {
        return Recognised::Foreign("its object has no key \"features\"".to_owned());
    };
    let Some(nodes) = features.items() else {
        return Recognised::Foreign(format!("\"features\" is {}, not a list", features.type_name()));
    };
    let misshapen: Vec<Option<String>> = nodes.iter().map(|node| other_shape(text, node)).collect();
    if let Some(why) = misshapen.iter().flatten().next()
        && misshapen.iter().all(Option::is_some)
    {
        return Recognised::Foreign(why.clone());
    }
    let mut sentences: Vec<String> =
        faults.into_iter().map(|fault| located(text, &document, &fault)).collect();
    let sink: FaultSink = RefCell::new(Vec::new());
    let mut items = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        if let Some(placed) = item(text, node, format!("/features/{index}"), &sink) {
            items.push(placed);
        }
    }
    sentences.extend(sink.into_inner().iter().map(|fault| located(text, &document, fault)));
    sentences.extend(rules::broken(text, &items));
    if !sentences.is_empty() {
        return invalid(sentences);
    }
    let project_type = document.entries().iter().find(|(key, _)| key == "project_type");
    let project_type = project_type.and_then(|(_, node)| node.text()).map(str::to_owned);
    Recognised::Ours(FeatureList { source: text.to_owned(), items, project_type })
}

fn invalid(sentences: Vec<String>) -> Recognised<FeatureList> {
    match Faults::unless_empty::<()>(FEATURES_FILE, sentences, || None) {
        Err(faults) => Recognised::Invalid(faults),
        Ok(()) => Recognised::Foreign("it holds nothing".to_owned()),
    }
}

/// What makes this item another tool's, if anything does.
fn other_shape(text: &str, node: &Node<'_>) -> Option<String> {
    // Counted only for a misshapen item: a place costs a walk over the text before it.
    let place = || place(text, span(text, node.raw).start);
    let Some(entries) = node.entries() else {
        return Some(format!("{}: an item is {}, not an object", place(), node.type_name()));
    };
    let of = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, node)| node);
    for key in ["id", "name", "status"] {
        if of(key).and_then(Node::text).is_none() {
            return Some(format!("{}: an item has no text \"{key}\"", place()));
        }
    }
    let status = of("status").and_then(Node::text).unwrap_or_default();
    if ItemStatus::from_word(status).is_none() {
        return Some(format!("{}: an item has the status {}, which is not ours", place(), excerpt(status)));
    }
    if of("acceptance_criteria").is_none_or(|node| node.items().is_none()) {
        return Some(format!("{}: an item has no list \"acceptance_criteria\"", place()));
    }
    None
}

fn item(text: &str, node: &Node<'_>, path: String, sink: &FaultSink) -> Option<Placed> {
    let Some(entries) = node.entries() else {
        sink.borrow_mut().push(ArtifactFault::wrong_type(path, "an object", node.type_name()));
        return None;
    };
    let mut fields = Fields::new(entries, path, sink);
    let feature = feature(&mut fields)?;
    let places = entries.iter().map(|(key, node)| (key.clone(), span(text, node.raw))).collect();
    Some(Placed { feature, span: span(text, node.raw), fields: places })
}

fn feature(fields: &mut Fields<'_, '_>) -> Option<Feature> {
    let id = id_of(fields);
    let name = fields.filled_text("name");
    let priority = priority(fields);
    let status = fields.choice::<ItemStatus>("status");
    let description = stated_text(fields, "description").unwrap_or_default();
    let acceptance_criteria = fields.list("acceptance_criteria", |field| field.filled_text());
    let contract = contract(fields);
    let dependencies = dependencies(fields);
    let designed = match fields.optional("designed") {
        Some(field) if !field.is_null() => fields.flag("designed"),
        _ => false,
    };
    let design_doc = stated_text(fields, "design_doc");
    let design_status = stated_text(fields, "design_status");
    let kind = stated_text(fields, "type");
    let affected_files = texts(fields, "affected_files");
    let risk = stated_text(fields, "risk");
    let rollback_plan = stated_text(fields, "rollback_plan");
    let location = texts(fields, "location");
    let test_coverage = stated_text(fields, "test_coverage");
    let quality = stated_text(fields, "quality");
    let architecture_revision = stated_text(fields, "architecture_revision");
    let architecture_note = stated_text(fields, "architecture_note");
    let cancel_reason = stated_text(fields, "cancel_reason");
    Some(Feature {
        id: id?,
        name,
        priority,
        status: status?,
        description,
        acceptance_criteria,
        contract,
        dependencies,
        designed,
        design_doc,
        design_status,
        kind,
        affected_files,
        risk,
        rollback_plan,
        location,
        test_coverage,
        quality,
        architecture_revision,
        architecture_note,
        cancel_reason,
        extra: fields.extra(),
    })
}

fn id_of(fields: &mut Fields<'_, '_>) -> Option<ItemId> {
    let text = fields.text("id");
    let id = ItemId::parse(&text);
    if id.is_none() && !text.is_empty() {
        let message = format!(
            "must be one capital letter and at least three digits, such as \"F001\"; found {}",
            excerpt(&text)
        );
        fields.report(ArtifactFault::new(FaultKind::MalformedId, fields.place_of("id"), message));
    }
    id
}

fn priority(fields: &mut Fields<'_, '_>) -> Priority {
    let Some(field) = fields.optional("priority").filter(|field| !field.is_null()) else {
        return Priority::Unstated;
    };
    let number = field.node.raw.parse::<f64>().ok().filter(|number| number.is_finite());
    if let (Shape::Number, Some(number)) = (&field.node.shape, number) {
        // Adding zero turns -0 into 0, which would sort before it.
        return Priority::Given(number + 0.0);
    }
    field.report(ArtifactFault::wrong_type(field.path.clone(), "a number", field.node.type_name()));
    Priority::Unstated
}

fn contract(fields: &mut Fields<'_, '_>) -> ItemContract {
    let Some(field) = fields.optional("contract").filter(|field| !field.is_null()) else {
        return ItemContract::default();
    };
    let Some(mut inner) = field.object() else { return ItemContract::default() };
    ItemContract {
        deliverable: stated_text(&mut inner, "deliverable").unwrap_or_default(),
        verification: stated_text(&mut inner, "verification").unwrap_or_default(),
    }
}

fn dependencies(fields: &mut Fields<'_, '_>) -> Vec<ItemId> {
    let Some(field) = fields.optional("dependencies").filter(|field| !field.is_null()) else {
        return Vec::new();
    };
    field.list(|field| {
        let text = field.text()?;
        let id = ItemId::parse(&text);
        if id.is_none() {
            let message = format!("a dependency must be the id of an item; found {}", excerpt(&text));
            field.report(ArtifactFault::new(FaultKind::MalformedId, field.path.clone(), message));
        }
        id
    })
}

/// The text of a key that may be absent or null.
fn stated_text(fields: &mut Fields<'_, '_>, key: &'static str) -> Option<String> {
    fields.optional(key).filter(|field| !field.is_null()).and_then(|field| field.text())
}

/// A list of texts that may be absent or null; one bare text counts as a list of one.
fn texts(fields: &mut Fields<'_, '_>, key: &'static str) -> Vec<String> {
    match fields.optional(key) {
        Some(field) if field.node.text().is_some() => field.text().into_iter().collect(),
        Some(field) if !field.is_null() => field.list(|field: Field<'_, '_>| field.text()),
        _ => Vec::new(),
    }
}

/// `line:column`, both counted from one, columns in characters.
pub(super) fn place(text: &str, offset: usize) -> String {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].trim_start_matches('\u{feff}').chars().count() + 1;
    format!("{line}:{column}")
}

/// The fault with its place in the text and the item it belongs to.
fn located(text: &str, document: &Document<'_>, fault: &ArtifactFault) -> String {
    let (node, item) = nearest(document, fault);
    let place = place(text, span(text, node.raw).start);
    let key = fault.path.splitn(4, '/').nth(3).map_or(fault.path.as_str(), |key| key);
    match item {
        Some(id) => format!("{place}: {id}: {key}: {}", fault.message),
        None => format!("{place}: {key}: {}", fault.message),
    }
}

/// The deepest value on the way to the fault (a missing key has none of its own), and the id of the item around it.
fn nearest<'n, 'a>(document: &'n Document<'a>, fault: &ArtifactFault) -> (&'n Node<'a>, Option<String>) {
    let mut node = document.root();
    let mut item = None;
    let mut here = String::new();
    for step in fault.path.split('/').skip(1) {
        let next = match &node.shape {
            Shape::Object(entries) => {
                let found = |(key, _): &&(String, Node<'_>)| pointer_to("", key)[1..] == *step;
                // Of a doubled key the later one is the one too many.
                match fault.kind {
                    FaultKind::DuplicateKey => entries.iter().rfind(found).map(|(_, node)| node),
                    _ => entries.iter().find(found).map(|(_, node)| node),
                }
            }
            Shape::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
            _ => None,
        };
        let Some(next) = next else { break };
        node = next;
        here = format!("{here}/{step}");
        if here.matches('/').count() == 2 {
            let entries = node.entries().unwrap_or_default();
            let id = entries.iter().find(|(key, _)| key == "id").and_then(|(_, node)| node.text());
            item = id.map(str::to_owned);
        }
    }
    (node, item)
}
