//! Finds the known name a mistyped one was probably meant to be.

/// The known name closest to `given`, if it is close enough that suggesting it helps rather than misleads.
pub(crate) fn nearest(given: &str, known: &[&'static str]) -> Option<&'static str> {
    let given = given.to_lowercase();
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), *name))
        .filter(|(distance, name)| *distance <= (name.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The sentence part that follows "unknown …" in an error: the suggestion if there is one, then all known names.
pub(crate) fn advice(nearest: Option<&'static str>, known: &[&'static str]) -> String {
    let all = known.join(", ");
    match nearest {
        Some(name) => format!("did you mean `{name}`? (known: {all})"),
        None => format!("known: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_slip_finds_its_name_and_a_stranger_finds_none() {
        let known = ["command", "shell", "scripted"];
        assert_eq!(nearest("comand", &known), Some("command"));
        assert_eq!(nearest("SHELL", &known), Some("shell"));
        assert_eq!(nearest("scirpted", &known), Some("scripted"));
        assert_eq!(nearest("kubernetes", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
