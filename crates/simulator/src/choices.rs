//! Every decision a simulation takes, drawn from a seed or from a list. What was drawn is kept, so that a failing
//! seed becomes a list that can be cut down. Zero is always the calm alternative: a shorter list is a simpler story.

#[derive(Debug)]
pub struct Choices {
    source: Source,
    taken: Vec<u32>,
}

#[derive(Debug)]
enum Source {
    Seed(u64),
    List { list: Vec<u32>, position: usize },
}

impl Choices {
    pub fn from_seed(seed: u64) -> Self {
        Self { source: Source::Seed(seed), taken: Vec::new() }
    }

    /// After the end of the list everything is calm.
    pub fn from_list(list: Vec<u32>) -> Self {
        Self { source: Source::List { list, position: 0 }, taken: Vec::new() }
    }

    pub fn taken(&self) -> &[u32] {
        &self.taken
    }

    /// A number from 0 up to but without the bound.
    pub fn below(&mut self, bound: u32) -> u32 {
        let bound = bound.max(1);
        let drawn = match &mut self.source {
            Source::Seed(state) => {
                u32::try_from(splitmix(state) % u64::from(bound)).expect("a remainder of a u32 fits one")
            }
            Source::List { list, position } => {
                let value = list.get(*position).copied().unwrap_or(0);
                *position += 1;
                value.min(bound - 1)
            }
        };
        self.taken.push(drawn);
        drawn
    }

    /// One of the alternatives, by weight; the first one is the calm one and must stay possible.
    pub fn weighted<T: Copy>(&mut self, alternatives: &[(u32, T)]) -> T {
        let index = match &mut self.source {
            Source::Seed(state) => {
                let total: u32 = alternatives.iter().map(|(weight, _)| weight).sum();
                let mut left = splitmix(state) % u64::from(total.max(1));
                alternatives
                    .iter()
                    .position(|(weight, _)| {
                        let chosen = left < u64::from(*weight);
                        left = left.saturating_sub(u64::from(*weight));
                        chosen
                    })
                    .unwrap_or(0)
            }
            Source::List { list, position } => {
                let value = list.get(*position).copied().unwrap_or(0);
                *position += 1;
                let index = usize::try_from(value).unwrap_or(0).min(alternatives.len() - 1);
                // A weight of nothing means impossible, in a list as well as from a seed.
                if alternatives[index].0 == 0 { 0 } else { index }
            }
        };
        self.taken.push(u32::try_from(index).expect("a list of alternatives is short"));
        alternatives[index].1
    }

    /// The unlikely thing happens once in so many times.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.weighted(&[(times.saturating_sub(1), false), (1, true)])
    }
}

/// Sebastiano Vigna's `splitmix64`: small, well mixed, the same on every machine.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Choices;

    fn story(choices: &mut Choices) -> Vec<u32> {
        (0..50).map(|_| choices.below(7) + 10 * choices.weighted(&[(5, 0), (0, 1), (3, 2)])).collect()
    }

    #[test]
    fn a_list_of_what_was_taken_tells_the_same_story_as_its_seed() {
        let mut seeded = Choices::from_seed(42);
        let first = story(&mut seeded);
        let mut listed = Choices::from_list(seeded.taken().to_vec());
        assert_eq!(first, story(&mut listed));
        assert_eq!(seeded.taken(), listed.taken());
        assert_ne!(first, story(&mut Choices::from_seed(43)));
    }

    #[test]
    fn an_empty_list_is_calm_and_an_impossible_alternative_is_never_taken() {
        let mut empty = Choices::from_list(Vec::new());
        assert_eq!(story(&mut empty), [0; 50]);
        let mut impossible = Choices::from_list(vec![1]);
        assert_eq!(impossible.weighted(&[(5, 'a'), (0, 'b'), (3, 'c')]), 'a');
    }
}
