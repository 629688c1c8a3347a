//! The roofline plot: reached GFLOP/s over operations per byte, below the limits of the device.

use super::escape;
use crate::limits::Binding;
use crate::result::Run;
use crate::text::{bytes, number};
use std::fmt::Write;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 45.0;

/// A logarithmic axis, and its position on the page.
struct Axis {
    first: f64,
    last: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// Whole powers of 10 around all values.
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (least, most) =
            values.fold((1.0f64, 1.0f64), |(least, most), value| (least.min(value), most.max(value)));
        Axis { first: least.log10().floor(), last: most.log10().ceil().max(least.log10().floor() + 1.0), from, to }
    }

    fn position(&self, value: f64) -> f64 {
        let part = (value.log10() - self.first) / (self.last - self.first);
        self.from + (self.to - self.from) * part
    }

    fn powers(&self) -> impl Iterator<Item = f64> {
        (self.first as i32..=self.last as i32).map(|power| 10f64.powi(power))
    }

    fn end(&self) -> f64 {
        10f64.powf(self.last)
    }

    fn start(&self) -> f64 {
        10f64.powf(self.first)
    }
}

/// The plot, without cases that only move data.
pub(super) fn plot(run: &Run) -> String {
    let cases: Vec<_> = run.cases.iter().filter(|case| case.flops > 0.0 && case.gigaflops().is_finite()).collect();
    let intensity = |case: &crate::result::Measured| case.flops / case.bytes;
    let x = Axis::around(cases.iter().map(|case| intensity(case)), LEFT, WIDTH - RIGHT);
    let rates = cases.iter().map(|case| case.gigaflops()).chain([run.limits.peak()]);
    let y = Axis::around(rates, HEIGHT - BOTTOM, TOP);

    let mut text = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"roofline\">\n");
    for power in x.powers() {
        let (at, end) = (x.position(power), HEIGHT - BOTTOM);
        let _ = write!(text, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{end}\"/>");
        let _ = writeln!(text, "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{power}</text>", end + 18.0);
    }
    for power in y.powers() {
        let at = y.position(power);
        let _ = write!(text, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{}\"/>", WIDTH - RIGHT);
        let _ =
            writeln!(text, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{power}</text>", LEFT - 6.0, at + 4.0);
    }
    let (middle, bottom) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6.0);
    let _ = writeln!(text, "<text x=\"{middle}\" y=\"{bottom}\" text-anchor=\"middle\">operations per byte</text>");
    let _ = writeln!(text, "<text x=\"4\" y=\"{}\">GFLOP/s</text>", TOP - 6.0);
    roofs(run, &x, &y, &mut text);
    for case in cases {
        let class = match case.bound_by {
            Binding::Memory => "memory",
            Binding::Arithmetic => "arithmetic",
        };
        let (cx, cy) = (x.position(intensity(case)), y.position(case.gigaflops()));
        let (name, shape, rate, percent) =
            (escape(&case.name), escape(&case.shape), number(case.gigaflops()), case.percent());
        let _ = write!(text, "<circle class=\"{class}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\">");
        let _ =
            writeln!(text, "<title>{name} {shape}: {rate} GFLOP/s, {percent:.0}% of the limit</title></circle>");
    }
    text + "</svg>\n<p class=\"soft\">Each line is the limit for a number of bytes that are touched again and again; each dot \
            is a case, blue where memory binds and orange where arithmetic does.</p>\n"
}

/// A line for each bandwidth, up to the rate of multiply-adds.
fn roofs(run: &Run, x: &Axis, y: &Axis, text: &mut String) {
    let peak = run.limits.peak();
    for (i, bandwidth) in run.limits.bandwidths.iter().enumerate() {
        let rate = run.limits.bandwidth(bandwidth.bytes as f64);
        // From the edge of the plot to the point where the line meets the roof.
        let first = x.start().max(y.start() / rate);
        let (from, to) =
            ((x.position(first), y.position(first * rate)), (x.position(peak / rate), y.position(peak)));
        let right = x.position(x.end());
        let (fx, fy, tx, ty) = (from.0, from.1, to.0.min(right), to.1);
        let _ = write!(text, "<path class=\"roof\" d=\"M{fx:.1} {fy:.1}L{tx:.1} {ty:.1}H{right:.1}\">");
        let (size, rate) = (bytes(bandwidth.bytes), number(rate));
        let _ = writeln!(text, "<title>{size}: {rate} GB/s, {} GFLOP/s</title></path>", number(peak));
        // The lines are close together: each has its label further along.
        let part = 0.05 + 0.15 * i as f64;
        let (at_x, at_y) = (fx + (tx - fx) * part, fy + (ty - fy) * part);
        let _ =
            writeln!(text, "<text x=\"{:.1}\" y=\"{:.1}\" class=\"soft\">{size}</text>", at_x + 6.0, at_y + 8.0);
    }
}
