//! A picture as dots of a few colours, for PNG. Light only: a PNG cannot follow its reader's theme.

use super::charts::NodeCharts;
use super::font::{GLYPH_COLUMNS, GLYPH_ROWS, glyph};
use super::picture::{self, Anchor, At, Ink, Surface, WIDTH};
use super::png::{self, Image};

/// The page and then the inks, in the order of `colour`.
const PALETTE: [[u8; 3]; 6] = [
    [0xff, 0xff, 0xff],
    [0x1f, 0x23, 0x28],
    [0x8c, 0x95, 0x9f],
    [0x09, 0x69, 0xda],
    [0x1a, 0x7f, 0x37],
    [0xcf, 0x22, 0x2e],
];
/// Dots of the picture for one of the layout, so that it is sharp on a fine screen.
const SCALE: i32 = 2;
/// Layout dots from one letter to the next.
const ADVANCE: i32 = GLYPH_COLUMNS + 1;

pub(super) fn draw(title: &str, nodes: &[NodeCharts]) -> Vec<u8> {
    let (width, height) = (WIDTH * SCALE, picture::height(nodes) * SCALE);
    let size = |number: i32| usize::try_from(number).unwrap_or(0);
    let mut raster = Raster { width, height, dots: vec![0; size(width) * size(height)] };
    picture::draw(title, nodes, &mut raster);
    png::encode(&Image { width: size(width), palette: &PALETTE, dots: &raster.dots })
}

struct Raster {
    width: i32,
    height: i32,
    dots: Vec<u8>,
}

const fn colour(ink: Ink) -> u8 {
    match ink {
        Ink::Text => 1,
        Ink::Faint => 2,
        Ink::Curve => 3,
        Ink::Good => 4,
        Ink::Bad => 5,
    }
}

impl Raster {
    /// What lies outside is not drawn.
    fn set(&mut self, x: i32, y: i32, ink: Ink) {
        let inside = (0..self.width).contains(&x) && (0..self.height).contains(&y);
        if let (true, Ok(at)) = (inside, usize::try_from(y * self.width + x)) {
            self.dots[at] = colour(ink);
        }
    }
}

impl Surface for Raster {
    fn line(&mut self, from: At, to: At, ink: Ink) {
        let (from, to) = ((from.x * SCALE, from.y * SCALE), (to.x * SCALE, to.y * SCALE));
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        let thick = if ink == Ink::Curve { SCALE + 1 } else { 1 };
        for part in 0..=steps {
            let x = from.0 + (to.0 - from.0) * part / steps;
            let y = from.1 + (to.1 - from.1) * part / steps;
            for across in 0..thick {
                self.set(x, y + across - thick / 2, ink);
                self.set(x + across - thick / 2, y, ink);
            }
        }
    }

    fn dot(&mut self, at: At, ink: Ink) {
        let radius = 4 * SCALE;
        let inner = if ink == Ink::Bad { radius - 3 } else { 0 };
        for y in -radius..=radius {
            for x in -radius..=radius {
                let far = x * x + y * y;
                // Colour is not the only carrier: a failure is a ring.
                if far <= radius * radius && far >= inner * inner {
                    self.set(at.x * SCALE + x, at.y * SCALE + y, ink);
                }
            }
        }
    }

    fn text(&mut self, at: At, anchor: Anchor, words: &str, ink: Ink) {
        let length = i32::try_from(words.chars().count()).unwrap_or(0) * ADVANCE;
        let start = match anchor {
            Anchor::Start => at.x,
            Anchor::Middle => at.x - length / 2,
            Anchor::End => at.x - length,
        };
        let mut left = start * SCALE;
        let top = (at.y - GLYPH_ROWS) * SCALE;
        for letter in words.chars() {
            for (row, line) in (0..).zip(glyph(letter)) {
                for (column, dot) in (0..).zip(line.bytes()) {
                    for part in (0..SCALE * SCALE).filter(|_| dot == b'#') {
                        let (x, y) = (column * SCALE + part % SCALE, row * SCALE + part / SCALE);
                        self.set(left + x, top + y, ink);
                    }
                }
            }
            left += ADVANCE * SCALE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::charts::tests::example;
    use super::*;

    #[test]
    fn a_failure_is_a_ring_and_a_pass_is_full() {
        let mut raster = Raster { width: 60, height: 40, dots: vec![0; 2400] };
        raster.dot(At { x: 10, y: 10 }, Ink::Bad);
        assert_eq!((raster.dots[20 * 60 + 20], raster.dots[20 * 60 + 28]), (0, 5));
        raster.dot(At { x: 10, y: 10 }, Ink::Good);
        assert_eq!(raster.dots[20 * 60 + 20], 4);
        raster.line(At { x: -50, y: -50 }, At { x: 500, y: 500 }, Ink::Curve);
    }

    #[test]
    fn a_picture_of_a_run_is_small() {
        let png = draw("r1: a task", &example());
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        assert!(png.len() < 40_000, "{} bytes", png.len());
    }
}
