//! The words in braces that agent files of the nested dialects leave open until an agent is started.
//! It fills in; it does not know what a path leads to.

/// What the placeholders stand for in one start. A value that a role has no use for is `None`: its placeholder stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placeholders<'a> {
    pub output_path: Option<&'a str>,
    pub input_path: Option<&'a str>,
    pub artifacts_path: Option<&'a str>,
    pub node_path: Option<&'a str>,
    pub sensors_section: Option<&'a str>,
    pub child_node_id: Option<&'a str>,
}

impl Placeholders<'_> {
    /// Fills in a body in one pass: a value is never searched for further placeholders.
    pub fn fill(&self, body: &str) -> String {
        // The original points to a sibling folder; the child's lies inside its parent's.
        let body = body.replace("{artifacts-path}/../{child-node-id}/", "{artifacts-path}/{child-node-id}/");
        let mut filled = String::with_capacity(body.len());
        let mut rest = body.as_str();
        while let Some(position) = rest.find('{') {
            let (before, opened) = rest.split_at(position);
            filled.push_str(before);
            let value = opened[1..]
                .split_once('}')
                .and_then(|(name, after)| self.value(name).map(|value| (value, after)));
            if let Some((value, after)) = value {
                filled.push_str(value);
                rest = after;
            } else {
                filled.push('{');
                rest = &opened[1..];
            }
        }
        filled.push_str(rest);
        filled
    }

    fn value(&self, name: &str) -> Option<&str> {
        match name {
            "output-path" => self.output_path,
            "input-path" => self.input_path,
            "artifacts-path" => self.artifacts_path,
            "node-path" => self.node_path,
            "sensors-section" => self.sensors_section,
            "child-node-id" => self.child_node_id,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_placeholders_are_filled_once_and_others_stay() {
        let places = Placeholders {
            output_path: Some("{node-path}"),
            node_path: Some("a/b"),
            ..Placeholders::default()
        };
        assert_eq!(
            places.fill("{output-path} {node-path} {other} {input-path} {{node-path}} {"),
            "{node-path} a/b {other} {input-path} {a/b} {"
        );
    }

    #[test]
    fn the_child_result_is_looked_for_inside_its_parent() {
        let places = Placeholders {
            artifacts_path: Some("runs/r/nodes/outer"),
            child_node_id: Some("inner"),
            ..Placeholders::default()
        };
        assert_eq!(
            places.fill("`{artifacts-path}/../{child-node-id}/result-output.md`"),
            "`runs/r/nodes/outer/inner/result-output.md`"
        );
    }
}
