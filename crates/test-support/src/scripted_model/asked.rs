//! What a request says, in one form whatever the wire format: who asks, what was said before, which tools are offered.

use serde_json::Value;

/// The four languages of model servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Responses,
    ChatCompletions,
    Messages,
    Gemini,
}

#[derive(Debug)]
pub(super) struct Asked {
    pub(super) wire: Wire,
    pub(super) model: String,
    pub(super) form: Form,
    pub(super) tools: Vec<Tool>,
    pub(super) system: String,
    /// Texts of the user, with whatever context the program adds.
    pub(super) prompts: Vec<String>,
    /// How many of them stand before the first reply.
    opening: usize,
    /// Replies of the model that the history holds: the number of the turn that is asked for.
    pub(super) replies: usize,
    pub(super) results: Vec<String>,
    /// The schema that the text of the reply must fit.
    pub(super) schema: Option<Value>,
    pub(super) cache_key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Stream,
    Whole,
}

#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) kind: ToolKind,
    pub(super) schema: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolKind {
    Function,
    /// Takes text instead of JSON.
    Freeform,
}

impl Asked {
    pub(super) fn new(wire: Wire, model: &str, form: Form) -> Self {
        Self {
            wire,
            model: model.to_owned(),
            form,
            tools: Vec::new(),
            system: String::new(),
            prompts: Vec::new(),
            opening: 0,
            replies: 0,
            results: Vec::new(),
            schema: None,
            cache_key: None,
        }
    }

    pub(super) fn tool(&self, names: &[&str]) -> Option<&Tool> {
        names.iter().find_map(|name| self.tools.iter().find(|tool| tool.name == *name))
    }

    /// Titles, summaries and ratings are asked for without tools and are no part of the conversation.
    pub(super) fn is_aside(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn prompt(&self) -> String {
        self.prompts.join("\n")
    }

    /// What the user said before the first reply; it stays the same through the conversation. What a program tells of
    /// its surroundings does not: it is told anew when the conversation is resumed.
    pub(super) fn opening(&self) -> String {
        let surroundings = |text: &&String| text.trim_start().starts_with("<session_context>");
        let said: Vec<&str> = self.prompts[..self.opening]
            .iter()
            .filter(|text| !surroundings(text))
            .map(String::as_str)
            .collect();
        said.join("\n")
    }

    pub(super) fn hear(&mut self, text: String) {
        self.prompts.push(text);
        if self.replies == 0 {
            self.opening = self.prompts.len();
        }
    }

    pub(super) fn offer(&mut self, name: &Value, schema: &Value) {
        let Some(name) = name.as_str() else { return };
        let tool =
            Tool { name: name.to_owned(), namespace: None, kind: ToolKind::Function, schema: schema.clone() };
        self.tools.push(tool);
    }

    /// Where the program works, as it tells its model.
    pub(super) fn working_directory(&self) -> Option<String> {
        const MARKS: [&str; 5] = [
            "<cwd>",
            "rimary working directory: ",
            "urrent working directory: ",
            "orking directory: ",
            "**Workspace Directories:**\n  - ",
        ];
        let told = std::iter::once(&self.system).chain(&self.prompts);
        let found = |text: &String| {
            MARKS.iter().find_map(|mark| text.split_once(mark).map(|(_, rest)| rest.to_owned()))
        };
        let rest = told.into_iter().find_map(found)?;
        let path = rest.trim_start_matches([' ', '`']).split(['\n', '<', '`']).next()?.trim();
        (!path.is_empty()).then(|| path.to_owned())
    }

    /// Where the answer belongs, as Windlass's prompts say it.
    pub(super) fn outbox(&self) -> Option<String> {
        let prompt = self.prompt();
        let (before, _) = prompt.split_once("` (that is `$WINDLASS_OUTBOX/")?;
        let path = before.rsplit('`').next()?;
        path.rsplit_once('/').map(|(folder, _)| folder.to_owned())
    }
}

/// All text in a message, whatever its shape.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let inner = ["text", "content", "output"].iter().find_map(|key| fields.get(*key));
            inner.map_or_else(|| content.to_string(), text_of)
        }
        other => other.to_string(),
    }
}

/// The list, or nothing.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
