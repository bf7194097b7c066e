//! Who is killed and when: drawn from dice, at a moment of the time an undisturbed run takes.

use crate::seeded::Dice;
use std::time::Duration;
use windlass_test_support::{Background, Output, World, let_pass};

/// At most so many commands of one case are killed.
const MOST_KILLS: usize = 3;
/// How long a keeper may have been at work when it is killed, at most.
const KEEPER_AGE_MS: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Engine,
    Keeper,
    /// The engine and all that is still in its process group, such as git.
    Group,
    /// The engine, every keeper, agent, check and whatever escaped from them.
    Everything,
}

impl What {
    const ALL: [Self; 4] = [Self::Engine, Self::Keeper, Self::Group, Self::Everything];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Keeper => "keeper",
            Self::Group => "group",
            Self::Everything => "everything",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Kill {
    pub(super) what: What,
    /// In thousandths of the time that is left.
    moment: u32,
    keeper: usize,
    age: Duration,
}

impl Kill {
    /// The kills of one case: one, or more of which each hits the command after the one before it.
    pub(super) fn draw_some(dice: &mut Dice) -> Vec<Self> {
        let mut kills = vec![Self::draw(dice)];
        while kills.len() < MOST_KILLS && dice.one_in(3) {
            kills.push(Self::draw(dice));
        }
        kills
    }

    fn draw(dice: &mut Dice) -> Self {
        Self {
            what: What::ALL[dice.below(What::ALL.len())],
            moment: dice.part(),
            keeper: dice.below(64),
            age: Duration::from_millis(dice.below(KEEPER_AGE_MS) as u64),
        }
    }

    /// Whether what a step had done by then can be lost: only its keeper knows.
    pub(super) const fn loses_steps(&self) -> bool {
        matches!(self.what, What::Keeper | What::Everything)
    }

    /// How much of this time is left after the kill.
    pub(super) fn left_of(&self, length: Duration) -> Duration {
        length * (1000 - self.moment) / 1000
    }

    /// Kills at its moment; whether somebody was there to be hit, and how the command ended.
    pub(super) fn strike(&self, world: &World, running: Background, length: Duration) -> (bool, Output) {
        let_pass(length * self.moment / 1000);
        match self.what {
            What::Engine => running.signal(windlass_test_support::Signal::KILL),
            What::Group => running.kill_group(),
            What::Everything => {
                running.signal(windlass_test_support::Signal::KILL);
                world.kill_everything();
            }
            What::Keeper => {
                let hit = self.strike_keeper(world, &running);
                return (hit, running.wait());
            }
        }
        let output = running.wait();
        (output.signal == Some(9), output)
    }

    /// The keeper that is there at the moment, or the next one, when it has been at work for a while.
    fn strike_keeper(&self, world: &World, running: &Background) -> bool {
        let mut waited = false;
        while running.is_alive() {
            if world.has_keeper() {
                if waited {
                    let_pass(self.age);
                }
                if world.kill_a_keeper(self.keeper) {
                    return true;
                }
            }
            waited = true;
            let_pass(Duration::from_millis(1));
        }
        false
    }
}
