//! Run ids: `run_<YYYYMMDD>_<NNN>`. The day and the names in use come from the caller.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    pub fn parse(text: &str) -> Option<Self> {
        parts(text).map(|_| Self(text.to_owned()))
    }

    /// One above the highest number in use on that day. A gap is not filled: its number may stand in commits.
    /// `taken` must hold the names of all branches, or two runs from one base would share an id.
    pub fn next<'a>(year: u16, month: u8, day: u8, taken: impl IntoIterator<Item = &'a str>) -> Self {
        let today = format!("{year:04}{month:02}{day:02}");
        let highest =
            taken.into_iter().filter_map(parts).filter(|(date, _)| *date == today).map(|(_, number)| number);
        let number = highest.max().unwrap_or(0).saturating_add(1);
        Self(format!("run_{today}_{number:03}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn parts(text: &str) -> Option<(&str, u32)> {
    let (date, number) = text.strip_prefix("run_")?.split_once('_')?;
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if date.len() != 8 || !all_digits(date) || !(3..=9).contains(&number.len()) || !all_digits(number) {
        return None;
    }
    number.parse().ok().map(|number| (date, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_id_is_above_all_of_its_day() {
        let taken = [
            "run_20260225_001",
            "run_20260225_007",
            "run_20260224_050",
            "runs",
            "run_20260225_x",
            ".gitkeep",
        ];
        assert_eq!(RunId::next(2026, 2, 25, taken).as_str(), "run_20260225_008");
        assert_eq!(RunId::next(2026, 2, 26, taken).as_str(), "run_20260226_001");
        assert_eq!(RunId::next(2026, 2, 25, ["run_20260225_999"]).as_str(), "run_20260225_1000");
    }

    #[test]
    fn only_run_ids_are_run_ids() {
        assert!(RunId::parse("run_20260225_1000").is_some());
        for text in [
            "run_20260225_01",
            "run_2026022_001",
            "run_20260225_0x1",
            "../run_20260225_001",
            "run_20260225_",
            "run_２0260225_001",
        ] {
            assert_eq!(RunId::parse(text), None, "{text}");
        }
    }
}
