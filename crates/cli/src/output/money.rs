//! Tokens and money as people read them. What nobody told the price of is never shown as free.

use windlass_control_api::money::{MICROS, Spent};

const NOT_TOLD: &str = "price not told";

/// `0.12 (1,234 tokens)`, `price not told (1,234 tokens)`; empty where nothing was used.
pub(crate) fn cost(spent: &Spent) -> String {
    match (money(spent), spent.tokens) {
        (money, 0) => money,
        (money, tokens) => format!("{money} ({} tokens)", grouped(tokens)),
    }
}

/// `0.12`, `price not told`, or both where only a part has a price; empty where nothing was used.
pub(crate) fn money(spent: &Spent) -> String {
    match (spent.cost_micros, spent.unpriced_tokens) {
        (0, 0) => String::new(),
        (0, _) => NOT_TOLD.to_owned(),
        (cost, 0) => amount(cost),
        (cost, unpriced) => format!("{} and {NOT_TOLD} of {} tokens", amount(cost), grouped(unpriced)),
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
