//! Tokens and money as people read them. What nobody told the price of is never shown as free.

use windlass_control_api::money::{MICROS, Spent};

const NOT_TOLD: &str = "price not told";
/// Somebody told that it costs nothing.
const FREE: &str = "free";
/// It was ended before it told anything.
const NOTHING_TOLD: &str = "tokens not told";

/// `0.12 (1,234 tokens)`, `price not told (at least 1,234 tokens)`; empty where nothing was used.
pub(crate) fn cost(spent: &Spent) -> String {
    let tokens = grouped(spent.tokens);
    match (money(spent), spent.tokens, spent.cut_off_steps) {
        (money, 0, 0) => money,
        (_, 0, _) => String::from(NOTHING_TOLD),
        (money, _, 0) => format!("{money} ({tokens} tokens)"),
        (money, _, _) => format!("{money} (at least {tokens} tokens)"),
    }
}

/// `0.12`, `price not told`, or both where only a part has a price; empty where nothing was used.
pub(crate) fn money(spent: &Spent) -> String {
    let least = if spent.cut_off_steps > 0 { "at least " } else { "" };
    match (spent.cost_micros, spent.unpriced_tokens, spent.tokens) {
        (0, 0, 0) if spent.cut_off_steps > 0 => NOTHING_TOLD.to_owned(),
        (0, 0, 0) => String::new(),
        (0, unpriced, tokens) if unpriced >= tokens => NOT_TOLD.to_owned(),
        (0, 0, _) if spent.cut_off_steps == 0 => FREE.to_owned(),
        (cost, 0, _) => format!("{least}{}", amount(cost)),
        (cost, unpriced, _) => {
            format!("{least}{} and {NOT_TOLD} of {} tokens", amount(cost), grouped(unpriced))
        }
    }
}

/// Two decimals, rounded up: what is shown is never less than what was paid.
pub(crate) fn amount(micros: u64) -> String {
    let cents = micros.div_ceil(MICROS / 100);
    format!("{}.{:02}", grouped(cents / 100), cents % 100)
}

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(tokens: u64, cost_micros: u64, unpriced_tokens: u64) -> Spent {
        Spent { tokens, cost_micros, unpriced_tokens, ..Spent::default() }
    }

    #[test]
    fn money_has_two_decimals_and_is_rounded_up() {
        let table = [
            (0, "0.00"),
            (1, "0.01"),
            (10_000, "0.01"),
            (1_500_000, "1.50"),
            (1_234_567_000_000, "1,234,567.00"),
        ];
        for (micros, expected) in table {
            assert_eq!(amount(micros), expected);
        }
    }

    #[test]
    fn what_was_told_to_cost_nothing_is_free() {
        assert_eq!(cost(&spent(1_234, 0, 0)), "free (1,234 tokens)");
        assert_eq!(cost(&spent(1_234, 0, 1_000)), "0.00 and price not told of 1,000 tokens (1,234 tokens)");
    }

    #[test]
    fn what_was_cut_off_is_a_least() {
        let cut_off = |spent| Spent { cut_off_steps: 1, ..spent };
        assert_eq!(cost(&cut_off(spent(0, 0, 0))), "tokens not told");
        assert_eq!(cost(&cut_off(spent(1_234, 0, 1_234))), "price not told (at least 1,234 tokens)");
        assert_eq!(cost(&cut_off(spent(1_234, 120_000, 0))), "at least 0.12 (at least 1,234 tokens)");
        assert_eq!(cost(&cut_off(spent(1_234, 0, 0))), "at least 0.00 (at least 1,234 tokens)");
    }

    #[test]
    fn what_has_no_price_is_never_free() {
        assert_eq!(cost(&spent(0, 0, 0)), "");
        assert_eq!(cost(&spent(1_234, 0, 1_234)), "price not told (1,234 tokens)");
        assert_eq!(cost(&spent(1_234, 120_000, 0)), "0.12 (1,234 tokens)");
        assert_eq!(
            cost(&spent(1_234, 120_000, 1_000)),
            "0.12 and price not told of 1,000 tokens (1,234 tokens)"
        );
    }
}
