//! A plant with two figures that respond to what is done to it. Each tree stands for one state of it; the target is that
//! both figures are nothing. What anybody reports about it is not known here.

use crate::choices::Choices;
use std::collections::BTreeMap;
use windlass_protocols::TreeId;

/// What the actuators of one seed do to the plant, mostly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moving {
    Mixed,
    Closer,
    Away,
    /// Other content with the same figures.
    Sideways,
    Back,
    NotAtAll,
}

impl Moving {
    pub(crate) fn draw(choices: &mut Choices) -> Self {
        choices.weighted(&[
            (5, Self::Mixed),
            (3, Self::Closer),
            (1, Self::Away),
            (1, Self::Sideways),
            (6, Self::Back),
            (1, Self::NotAtAll),
        ])
    }

    /// One action.
    fn act(self, choices: &mut Choices) -> Self {
        let much = |kind: Self| if self == kind { 60 } else { 4 };
        let closer = if self == Self::Mixed { 30 } else { much(Self::Closer) };
        choices.weighted(&[
            (closer, Self::Closer),
            (much(Self::Away), Self::Away),
            (much(Self::Sideways), Self::Sideways),
            (much(Self::Back), Self::Back),
            (much(Self::NotAtAll), Self::NotAtAll),
        ])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl Figures {
    pub(crate) const fn of(self, sensor: &str) -> u32 {
        match sensor.as_bytes() {
            b"a" => self.a,
            _ => self.b,
        }
    }
}

#[derive(Default)]
pub(crate) struct Plant {
    states: BTreeMap<TreeId, Figures>,
    /// In the order in which they came to be.
    trees: Vec<TreeId>,
}

impl Plant {
    /// A tree that nobody made yet is the base.
    pub(crate) fn figures(&mut self, tree: &TreeId, choices: &mut Choices) -> Figures {
        if let Some(figures) = self.states.get(tree) {
            return *figures;
        }
        let figures = Figures { a: choices.below(4), b: choices.below(3) };
        self.remember(tree, figures);
        figures
    }

    /// What is true of a tree; a tree that was never measured has no figures.
    pub(crate) fn known(&self, tree: &TreeId) -> Option<Figures> {
        self.states.get(tree).copied()
    }

    /// What an actuator makes of a tree.
    pub(crate) fn moved(&mut self, from: &TreeId, moving: Moving, choices: &mut Choices) -> TreeId {
        let now = self.figures(from, choices);
        let next = match moving.act(choices) {
            Moving::Closer | Moving::Mixed if now.a >= now.b => Figures { a: now.a.saturating_sub(1), ..now },
            Moving::Closer | Moving::Mixed => Figures { b: now.b.saturating_sub(1), ..now },
            // Coupled: what one loses the other gains.
            Moving::Away if now.a > 0 => Figures { a: now.a - 1, b: now.b + 2 },
            Moving::Away => Figures { a: now.a + 1, ..now },
            Moving::Sideways => now,
            Moving::NotAtAll => return from.clone(),
            Moving::Back => {
                let earlier = choices.below(u32::try_from(self.trees.len()).unwrap_or(1));
                return self.trees.get(earlier as usize).unwrap_or(from).clone();
            }
        };
        let tree = TreeId::new(format!("plant-{}-a{}-b{}", self.trees.len(), next.a, next.b));
        self.remember(&tree, next);
        tree
    }

    fn remember(&mut self, tree: &TreeId, figures: Figures) {
        self.states.insert(tree.clone(), figures);
        self.trees.push(tree.clone());
    }
}
