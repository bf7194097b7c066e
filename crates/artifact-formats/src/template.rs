//! Strict placeholder substitution for the built-in prompts: `{{name}}`, nothing else.
//! It knows no prompt; values go in verbatim and are never scanned again.

/// Why a template cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("placeholder {{{{{name}}}}} has no value")]
    Unknown { name: String },
    #[error("value {name} has no placeholder")]
    Unused { name: String },
    #[error("a placeholder is opened and not closed")]
    Unclosed,
}

/// Fills in every placeholder. Each must have a value and each value a placeholder, so that neither a renamed
/// key nor a forgotten one slips through.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let mut filled = String::with_capacity(template.len());
    let mut used = vec![false; values.len()];
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, remaining) = after.split_once("}}").ok_or(TemplateError::Unclosed)?;
        let position = values.iter().position(|(key, _)| *key == name);
        let position = position.ok_or_else(|| TemplateError::Unknown { name: name.to_owned() })?;
        used[position] = true;
        filled.push_str(before);
        filled.push_str(values[position].1);
        rest = remaining;
    }
    filled.push_str(rest);
    match used.iter().position(|used| !used) {
        Some(unused) => Err(TemplateError::Unused { name: values[unused].0.to_owned() }),
        None => Ok(filled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_in_verbatim_and_are_not_scanned_again() {
        let filled = fill("{{a}} and {{b}} and {{a}}", &[("a", "{{b}}"), ("b", "}}{{")]);
        assert_eq!(filled.unwrap(), "{{b}} and }}{{ and {{b}}");
    }

    #[test]
    fn an_unknown_placeholder_is_an_error() {
        let error = fill("{{x}}", &[]).unwrap_err();
        assert_eq!(error.to_string(), "placeholder {{x}} has no value");
    }

    #[test]
    fn a_value_without_placeholder_is_an_error() {
        assert_eq!(fill("", &[("x", "1")]), Err(TemplateError::Unused { name: "x".to_owned() }));
    }

    #[test]
    fn an_open_placeholder_is_an_error() {
        assert_eq!(fill("a {{b", &[("b", "1")]), Err(TemplateError::Unclosed));
    }
}
