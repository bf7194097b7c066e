//! Decimal fractions as whole numbers of their smallest unit: money in millionths, metrics in thousandths.
//! It knows digits only; no floating point touches what is stored.

/// `12.5` with three places is 12500. More digits than places are cut off. Nothing for what is no number or does not
/// fit.
pub(crate) fn parse(text: &str, places: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut value: i64 = 0;
    let places = usize::try_from(places).ok()?;
    let fraction = fraction.bytes().chain(std::iter::repeat(b'0')).take(places);
    for digit in whole.bytes().chain(fraction) {
        value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    Some(if negative { -value } else { value })
}

/// The shortest spelling of a number of smallest units.
pub(crate) fn spelled(units: u64, places: u32) -> String {
    let one = 10_u64.pow(places);
    let (whole, fraction) = (units / one, units % one);
    if fraction == 0 {
        return whole.to_string();
    }
    let width = usize::try_from(places).unwrap_or_default();
    format!("{whole}.{}", format!("{fraction:0width$}").trim_end_matches('0'))
}

pub(crate) fn spelled_signed(units: i64, places: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    format!("{sign}{}", spelled(units.unsigned_abs(), places))
}

/// Of thousandths, and billionths of the same sign beyond them.
pub(crate) fn spelled_in_two(thousandths: i64, finer: i64) -> String {
    let sign = if thousandths < 0 || finer < 0 { "-" } else { "" };
    let (whole, rest) = (thousandths.unsigned_abs() / 1000, thousandths.unsigned_abs() % 1000);
    let text = format!("{sign}{whole}.{rest:03}{:06}", finer.unsigned_abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fractions_become_whole_numbers() {
        assert_eq!(parse("12.5", 3), Some(12_500));
        assert_eq!(parse("-0.0019", 3), Some(-1));
        assert_eq!(parse(".5", 6), Some(500_000));
        assert_eq!(parse("7", 0), Some(7));
        for text in ["", ".", "-", "1e5", "1,000", "0x10", "99999999999999999999", " 1"] {
            assert_eq!(parse(text, 3), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn spelling_and_reading_agree(units in any::<i64>()) {
            prop_assume!(units != i64::MIN);
            prop_assert_eq!(parse(&spelled_signed(units, 3), 3), Some(units));
        }
    }
}
