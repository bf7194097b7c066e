//! A picture as SVG. It carries the colours for a light and a dark page and needs nothing from outside.

use super::charts::NodeCharts;
use super::picture::{self, Anchor, At, Ink, Surface, WIDTH};
use std::fmt::Write as _;

const STYLE: &str = "\
    .page { fill: #ffffff }
    text { font: 13px ui-sans-serif, system-ui, sans-serif }
    .text { fill: #1f2328; stroke: #1f2328 }
    .faint { fill: #656d76; stroke: #afb8c1 }
    .curve { fill: #0969da; stroke: #0969da }
    .good { fill: #1a7f37; stroke: #1a7f37 }
    .bad { fill: #cf222e; stroke: #cf222e }
    text { stroke: none }
    line { stroke-width: 1.5; stroke-linecap: round }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117 }
      .text { fill: #e6edf3; stroke: #e6edf3 }
      .faint { fill: #8d96a0; stroke: #484f58 }
      .curve { fill: #4493f8; stroke: #4493f8 }
      .good { fill: #3fb950; stroke: #3fb950 }
      .bad { fill: #f85149; stroke: #f85149 }
      text { stroke: none }
    }
";

struct Svg(String);

pub(super) fn draw(title: &str, nodes: &[NodeCharts]) -> String {
    let height = picture::height(nodes);
    let mut svg = Svg(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n  <title>{}</title>\n  <style>\n{STYLE}  </style>\n  \
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>\n",
        escaped(title)
    ));
    picture::draw(title, nodes, &mut svg);
    svg.0.push_str("</svg>\n");
    svg.0
}

impl Surface for Svg {
    fn line(&mut self, from: At, to: At, ink: Ink) {
        let class = class(ink);
        self.element(&format!(
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            from.x, from.y, to.x, to.y
        ));
    }

    fn dot(&mut self, at: At, ink: Ink) {
        // Colour is not the only carrier: a failure is a ring.
        let hollow = if ink == Ink::Bad { " fill-opacity=\"0\" stroke-width=\"2\"" } else { "" };
        let class = class(ink);
        self.element(&format!("<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"4\"{hollow}/>", at.x, at.y));
    }

    fn text(&mut self, at: At, anchor: Anchor, words: &str, ink: Ink) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (class, words) = (class(ink), escaped(words));
        self.element(&format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{words}</text>",
            at.x, at.y
        ));
    }
}

impl Svg {
    fn element(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "  {text}");
    }
}

const fn class(ink: Ink) -> &'static str {
    match ink {
        Ink::Text => "text",
        Ink::Faint => "faint",
        Ink::Curve => "curve",
        Ink::Good => "good",
        Ink::Bad => "bad",
    }
}

fn escaped(text: &str) -> String {
    let plain = text.chars().filter(|letter| !letter.is_control());
    plain.fold(String::new(), |mut safe, letter| {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter => safe.push(letter),
        }
        safe
    })
}

#[cfg(test)]
mod tests {
    use super::super::charts::tests::example;
    use super::*;

    #[test]
    fn every_element_is_closed_and_a_foreign_title_stays_text() {
        let svg = draw("</title><script>\u{1b}x & y", &example());
        assert!(svg.contains("<title>&lt;/title&gt;&lt;script&gt;x &amp; y</title>"), "{svg}");
        let body = svg.lines().skip_while(|line| !line.contains("class=\"page\"")).skip(1);
        for line in body {
            let closed = line.ends_with("/>") || line.ends_with("</text>") || line == "</svg>";
            assert!(closed, "{line}");
        }
    }

    #[test]
    fn what_was_measured_is_drawn_and_the_best_is_named() {
        let svg = draw("r1", &example());
        assert_eq!(svg.matches("<circle class=\"bad\"").count(), 2, "two failures");
        assert_eq!(svg.matches("<circle class=\"good\"").count(), 2, "the pass and the best value");
        assert_eq!(svg.matches("<line class=\"curve\"").count(), 1, "from the first value to the second");
        assert!(svg.contains(">2 best</text>"), "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"));
    }
}
