//! What models cost, for agents that tell their tokens and not their price. Integers only: millionths of the currency.

use std::collections::BTreeMap;
use windlass_agent_drivers::Totals;
use windlass_control_api::money::micros;

const MILLION: u64 = 1_000_000;

/// Millionths of the currency for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Price {
    input: u64,
    cached: u64,
    output: u64,
}

/// By the name of a model, or of an agent program where the model is not told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// Each line is `NAME input=1.25 cached=0.125 output=10`: units of the currency for a million tokens.
    pub(crate) fn parse(lines: &[String]) -> Result<Self, String> {
        let mut prices = BTreeMap::new();
        for line in lines {
            let mut words = line.split_whitespace();
            let name = words.next().ok_or("a price without the name of a model")?;
            let mut price = Price::default();
            let mut cached = None;
            for word in words {
                let (kind, amount) = word
                    .split_once('=')
                    .ok_or_else(|| format!("`{word}` in the price of {name} has no `=`"))?;
                let amount = micros(amount)
                    .ok_or_else(|| format!("`{amount}` in the price of {name} is no amount"))?;
                match kind {
                    "input" => price.input = amount,
                    "cached" => cached = Some(amount),
                    "output" => price.output = amount,
                    other => {
                        return Err(format!(
                            "`{other}` in the price of {name}: known are input, cached, output"
                        ));
                    }
                }
            }
            price.cached = cached.unwrap_or(price.input);
            prices.insert(name.to_owned(), price);
        }
        Ok(Self(prices))
    }

    pub(crate) fn knows(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The agent's own word where it gave one, else what the table makes of its tokens; `None` where neither knows.
    pub(crate) fn cost_micros(&self, totals: &Totals, names: &[Option<&str>]) -> Option<u64> {
        if totals.cost_micros.is_some() {
            return totals.cost_micros;
        }
        let price = names.iter().flatten().find_map(|name| self.0.get(*name))?;
        let fresh = totals.input.saturating_sub(totals.cached);
        let parts = [(fresh, price.input), (totals.cached, price.cached), (totals.output, price.output)];
        let sum = parts.iter().fold(0_u128, |sum, (tokens, price)| {
            sum.saturating_add(u128::from(*tokens).saturating_mul(u128::from(*price)))
        });
        // Rounded up: a cap must not be passed by what was rounded away.
        Some(u64::try_from(sum.div_ceil(u128::from(MILLION))).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(lines: &[&str]) -> Result<Prices, String> {
        Prices::parse(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    fn totals(input: u64, cached: u64, output: u64, cost_micros: Option<u64>) -> Totals {
        Totals { input, cached, output, reasoning: 0, cost_micros }
    }

    #[test]
    fn tokens_are_priced_by_kind_and_rounded_up() {
        let prices = table(&["big input=1.25 cached=0.125 output=10", "small input=1 output=2"]).unwrap();
        let used = totals(1_000_000, 400_000, 100_000, None);
        assert_eq!(prices.cost_micros(&used, &[Some("big")]), Some(750_000 + 50_000 + 1_000_000));
        assert_eq!(prices.cost_micros(&totals(1, 0, 0, None), &[Some("small")]), Some(1));
        assert_eq!(prices.cost_micros(&totals(3, 3, 0, None), &[None, Some("small")]), Some(3));
    }

    #[test]
    fn the_agents_own_word_counts_before_the_table_and_an_unknown_price_is_not_nothing() {
        let prices = table(&["big input=1 output=1"]).unwrap();
        assert_eq!(prices.cost_micros(&totals(9, 0, 9, Some(7)), &[Some("big")]), Some(7));
        assert_eq!(prices.cost_micros(&totals(9, 0, 9, None), &[Some("other"), None]), None);
        assert!(prices.knows("big") && !prices.knows("other"));
    }

    #[test]
    fn the_largest_figures_do_not_overflow() {
        let prices = table(&["big input=1000000 output=1000000"]).unwrap();
        let most = totals(u64::MAX, 0, u64::MAX, None);
        assert_eq!(prices.cost_micros(&most, &[Some("big")]), Some(u64::MAX));
    }

    #[test]
    fn each_mistake_in_a_price_names_what_is_wrong() {
        let cases = [
            ("big input", "`input` in the price of big has no `=`"),
            ("big input=x", "`x` in the price of big is no amount"),
            ("big reading=1", "`reading` in the price of big: known are input, cached, output"),
            (" ", "a price without the name of a model"),
        ];
        for (line, message) in cases {
            assert_eq!(table(&[line]).unwrap_err(), message);
        }
    }
}
