//! `windlass control plot`: what was measured, over the iterations, in the terminal or as a picture.

mod charts;
mod font;
mod picture;
mod png;
mod raster;
mod svg;
mod terminal;

use crate::commands::absolute;
use crate::output::{Look, Output, Table, printable};
use charts::NodeCharts;
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::control_loop::Measurements;
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// Draw what the sensors of a run measured, iteration by iteration
///
/// On a terminal every sensor is a row of passes and failures, every figure it printed a line. In a pipe it is a plain
/// table. The best iteration is marked.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass control plot hdjqpvkz
  windlass control plot hdjqpvkz --svg run.svg --png run.png
  windlass control plot hdjqpvkz --json | jq '.series[] | {sensor, metric, points}'")]
pub(super) struct PlotArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// Write an SVG picture instead; it follows the reader's light or dark theme
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write a PNG picture instead
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

pub(super) async fn run(args: PlotArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let measured = control.measurements(&args.run).await?;
    let nodes = charts::of(&measured);
    if nodes.is_empty() {
        return Err(Fault::new(Code::NotAllowedNow, "nothing was measured in this run yet")
            .hint(format!("`windlass log {} -f` shows what it does", measured.run)));
    }
    let title = format!("{}: {}", measured.run, first_line(&measured.task));
    if let Some(file) = &args.svg {
        write(file, svg::draw(&title, &nodes).as_bytes(), output)?;
    }
    if let Some(file) = &args.png {
        write(file, &raster::draw(&title, &nodes), output)?;
    }
    if output.is_json() {
        output.document(&measured);
    } else if args.svg.is_none() && args.png.is_none() {
        let look = output.look();
        let lines = if look.width.is_some() { terminal::lines(&nodes, look) } else { table(&nodes, look) };
        for line in lines {
            output.line(line);
        }
    }
    Ok(exit_codes::ACCEPTED)
}

/// The charts as a terminal of the usual width would show them.
pub(crate) fn terminal_charts(measured: &Measurements, look: Look) -> Vec<String> {
    terminal::lines(&charts::of(measured), look)
}

fn first_line(text: &str) -> String {
    printable(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
}

fn write(file: &Path, content: &[u8], output: &mut Output) -> Result<(), Fault> {
    let path = absolute(file)?;
    std::fs::write(&path, content).map_err(|error| {
        Fault::new(Code::FileSystem, format!("cannot write {}: {error}", path.display()))
            .kept("the measurements are in the journal")
    })?;
    output.talk(format!("{} is written", path.display()));
    Ok(())
}

/// For a pipe: a row for every iteration, nothing drawn.
fn table(nodes: &[NodeCharts], look: Look) -> Vec<String> {
    let mut lines = Vec::new();
    for node in nodes {
        let mut headings = vec!["NODE".to_owned(), "ITERATION".to_owned()];
        headings.extend(node.strips.iter().map(|strip| strip.sensor.clone()));
        headings.extend(node.figures.iter().map(|figure| figure.name.clone()));
        headings.push("BEST".to_owned());
        let mut rows = Table::new(look, &headings.iter().map(String::as_str).collect::<Vec<_>>());
        for (at, label) in node.labels.iter().enumerate() {
            let mut row = vec![node.path.clone(), label.clone()];
            row.extend(node.strips.iter().map(|strip| strip.word(at).to_owned()));
            row.extend(node.figures.iter().map(|figure| figure.value(at)));
            row.push(if node.best == Some(at) { "best".to_owned() } else { String::new() });
            rows.row(row);
        }
        lines.extend(rows.lines());
    }
    lines
}
