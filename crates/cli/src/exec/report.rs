//! The report of a run: values, files, times.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use compute::PipelineOrigin;
use half::{bf16, f16};
use msl::reflect::Argument;
use serde_json::{Value, json};

use super::dispatch::Dispatch;
use super::error::Error;
use super::grid::{self, GridSize};
use super::source::scalar_in;
use crate::npy::{self, Dtype, Header};
use crate::output;
use crate::scalar::Scalar;
use crate::table::{Align, Table};

/// Number of values per line.
const VALUES_PER_LINE: usize = 8;

/// Contents of an argument after a run.
pub(crate) struct Output {
    name: String,
    index: u32,
    /// Type of the printed values; `None` for structs, printed as bytes.
    scalar: Option<Scalar>,
    header: Header,
    bytes: Vec<u8>,
    shown: Shown,
}

/// Destination of an output.
enum Shown {
    /// Print this many values.
    Values(usize),
    /// Written to a file.
    File(PathBuf),
}

impl Output {
    /// Takes the type and shape of the bound data. Raw bytes are one-dimensional, of the argument's numbers.
    pub(crate) fn new(argument: &Argument, header: Option<Header>, bytes: Vec<u8>) -> Output {
        let scalar = scalar_in(&argument.element_type);
        let header = header.unwrap_or_else(|| {
            let dtype = Dtype::of(scalar.unwrap_or(Scalar::Uchar));
            Header { dtype, shape: vec![bytes.len() / dtype.size()] }
        });
        // Raw bytes bound to an argument of another type are printed by their own type.
        let scalar = scalar.filter(|scalar| header.dtype.holds(*scalar)).or_else(|| header.dtype.scalar());
        Output {
            name: argument.name.clone(),
            index: argument.index,
            scalar,
            header,
            bytes,
            shown: Shown::Values(0),
        }
    }

    /// Writes a `.npy` file, or raw bytes to a file with another extension.
    pub(crate) fn write(self, path: &Path) -> Result<Output, Error> {
        let is_npy = path.extension().is_some_and(|extension| extension == "npy");
        let written = compute::files::replace(path, |file| match is_npy {
            true => npy::write(file, &self.header, &self.bytes),
            false => file.write_all(&self.bytes),
        });
        written.map_err(|error| Error::NotTried(format!("cannot write '{}': {error}", path.display())))?;
        Ok(Output { shown: Shown::File(path.to_owned()), bytes: Vec::new(), ..self })
    }

    /// Selects the number of values to print.
    pub(crate) fn print(self, count: usize) -> Output {
        Output { shown: Shown::Values(count), ..self }
    }

    /// Type and shape as text.
    fn description(&self) -> String {
        let name = self.scalar.filter(|&scalar| scalar == Scalar::Bfloat).map(|scalar| scalar.name().to_owned());
        let name = name.unwrap_or_else(|| self.header.dtype.to_string());
        format!("{} ({}): {name} {}", self.name, self.index, npy::display_shape(&self.header.shape))
    }

    fn to_text(&self) -> String {
        let description = self.description();
        let count = match &self.shown {
            Shown::File(path) => return format!("{description} in {}\n", path.display()),
            Shown::Values(count) => *count,
        };
        let values: Vec<String> = self.values(count).map(|value| value.to_string()).collect();
        let lines: Vec<String> =
            values.chunks(VALUES_PER_LINE).map(|line| format!("\n  {}", line.join(" "))).collect();
        let more = (self.bytes.len() / self.scalar().size()).saturating_sub(values.len());
        let more = if more == 0 { String::new() } else { format!(" … and {more} more") };
        format!("{description}{}{more}\n", lines.concat())
    }

    fn to_json(&self) -> Value {
        let mut value = json!({
            "argument": self.name,
            "index": self.index,
            "dtype": self.header.dtype.to_string(),
            "shape": self.header.shape,
        });
        match &self.shown {
            Shown::File(path) => value["file"] = path.display().to_string().into(),
            Shown::Values(count) => value["values"] = self.values(*count).map(Number::to_json).collect(),
        }
        value
    }

    /// Type of the printed values.
    fn scalar(&self) -> Scalar {
        self.scalar.unwrap_or(Scalar::Uchar)
    }

    /// The first values.
    fn values(&self, count: usize) -> impl Iterator<Item = Number> {
        let scalar = self.scalar();
        self.bytes.chunks_exact(scalar.size()).take(count).map(move |bytes| Number::read(scalar, bytes))
    }
}

/// A value of an output.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Bool(bool),
    Int(i128),
    /// Narrow floats are kept, so that they print with the digits that identify them.
    Half(f16),
    Bfloat(bf16),
    Float(f32),
}

impl Number {
    /// Reads a value from its first bytes; missing ones are 0.
    fn read(scalar: Scalar, bytes: &[u8]) -> Number {
        let mut padded = [0; 8];
        for (to, from) in padded.iter_mut().zip(bytes) {
            *to = *from;
        }
        let bits = u64::from_le_bytes(padded);
        match scalar {
            Scalar::Bool => Number::Bool(bits != 0),
            Scalar::Char => Number::Int((bits as i8).into()),
            Scalar::Short => Number::Int((bits as i16).into()),
            Scalar::Int => Number::Int((bits as i32).into()),
            Scalar::Long => Number::Int((bits as i64).into()),
            Scalar::Uchar | Scalar::Ushort | Scalar::Uint | Scalar::Ulong => Number::Int(bits.into()),
            Scalar::Half => Number::Half(f16::from_bits(bits as u16)),
            Scalar::Bfloat => Number::Bfloat(bf16::from_bits(bits as u16)),
            Scalar::Float => Number::Float(f32::from_bits(bits as u32)),
        }
    }

    /// JSON has no infinities: they become strings.
    fn to_json(self) -> Value {
        let float = |value: f64| {
            serde_json::Number::from_f64(value).map_or_else(|| value.to_string().into(), Value::Number)
        };
        match self {
            Number::Bool(value) => value.into(),
            Number::Int(value) => i64::try_from(value).map_or_else(|_| Value::from(value as u64), Value::from),
            Number::Half(value) => float(value.into()),
            Number::Bfloat(value) => float(value.into()),
            Number::Float(value) => float(value.into()),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Bool(value) => write!(f, "{value}"),
            Number::Int(value) => write!(f, "{value}"),
            Number::Half(value) => write!(f, "{value}"),
            Number::Bfloat(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value}"),
        }
    }
}

/// The report of a run.
pub(crate) struct Report {
    kernel: String,
    device: String,
    grid: grid::DispatchShape,
    bytes: usize,
    /// Time of each run.
    nanoseconds: Vec<u64>,
    with_times: bool,
    pipeline: PipelineReport,
    outputs: Vec<Output>,
}

/// The compiled kernel.
struct PipelineReport {
    origin: PipelineOrigin,
    created_in: Duration,
    code_bytes: usize,
}

impl PipelineReport {
    fn origin(&self) -> &'static str {
        match self.origin {
            PipelineOrigin::Compiled => "compiled",
            PipelineOrigin::Archive => "archive",
        }
    }
}

impl Report {
    pub(crate) fn new(
        dispatch: &Dispatch,
        mut nanoseconds: Vec<u64>,
        with_times: bool,
        outputs: Vec<Output>,
    ) -> Report {
        nanoseconds.sort_unstable();
        Report {
            kernel: dispatch.pipeline.reflection().name.clone(),
            device: dispatch.device.clone(),
            grid: dispatch.grid,
            bytes: dispatch.bytes(),
            nanoseconds,
            with_times,
            pipeline: PipelineReport {
                origin: dispatch.pipeline.origin(),
                created_in: dispatch.created_in,
                code_bytes: dispatch.pipeline.code_size(),
            },
            outputs,
        }
    }

    fn median(&self) -> u64 {
        self.nanoseconds.get(self.nanoseconds.len() / 2).copied().unwrap_or(0)
    }

    fn least(&self) -> u64 {
        self.nanoseconds.first().copied().unwrap_or(0)
    }

    /// Bytes of all buffers per median time. (A byte per nanosecond is a GB per second.)
    fn gigabytes_per_second(&self) -> Option<f64> {
        (self.median() > 0).then(|| self.bytes as f64 / self.median() as f64)
    }

    pub(crate) fn to_text(&self) -> String {
        let (count, what) = match self.grid.count {
            GridSize::Threadgroups(size) => (size, "threadgroups"),
            GridSize::Threads(size) => (size, "threads"),
        };
        let mut text = format!(
            "{}: {} {what}, {} threads in each threadgroup, on {}\n",
            self.kernel,
            grid::text(count),
            grid::text(self.grid.threadgroup),
            self.device,
        );
        text.extend(self.outputs.iter().map(Output::to_text));
        if self.with_times {
            text += &self.times().render("");
        }
        text
    }

    fn times(&self) -> Table {
        let headings = ["runs", "median", "min", "bytes bound", "GB/s", "pipeline", "made in"];
        let mut table = Table::new(headings.map(|heading| (heading, Align::Right)));
        let rate = self.gigabytes_per_second().map_or(String::new(), |rate| format!("{rate:.2}"));
        table.row([
            self.nanoseconds.len().to_string(),
            output::time(self.median()),
            output::time(self.least()),
            self.bytes.to_string(),
            rate,
            self.pipeline.origin().to_owned(),
            output::time(self.pipeline.created_in.as_nanos() as u64),
        ]);
        table
    }

    pub(crate) fn to_json(&self) -> Value {
        let numbers = |size: compute::Size| json!([size.width, size.height, size.depth]);
        let (unit, count) = match self.grid.count {
            GridSize::Threadgroups(size) => ("threadgroups", size),
            GridSize::Threads(size) => ("threads", size),
        };
        let mut value = json!({
            "kernel": self.kernel,
            "device": self.device,
            unit: numbers(count),
            "threadgroup": numbers(self.grid.threadgroup),
            "outputs": self.outputs.iter().map(Output::to_json).collect::<Vec<Value>>(),
        });
        value["pipeline"] = json!({"origin": self.pipeline.origin(), "code_bytes": self.pipeline.code_bytes});
        if self.with_times {
            value["pipeline"]["created_ns"] = (self.pipeline.created_in.as_nanos() as u64).into();
            value["time"] = json!({
                "runs": self.nanoseconds.len(),
                "median_ns": self.median(),
                "min_ns": self.least(),
                "bytes_bound": self.bytes,
                "gigabytes_per_second": self.gigabytes_per_second(),
            });
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use msl::reflect::{Access, ArgumentKind};

    fn output(element_type: &str, header: Option<Header>, bytes: &[u8]) -> Output {
        let argument = Argument {
            name: "y".into(),
            kind: ArgumentKind::Buffer,
            index: 2,
            ty: format!("device {element_type} *"),
            address_space: "device".into(),
            access: Access::ReadWrite,
            element_type: element_type.into(),
            element_size: 1,
            element_align: 1,
            is_reference: false,
            array_length: None,
            fields: Vec::new(),
            function_constant: None,
            is_used: true,
        };
        Output::new(&argument, header, bytes.to_vec()).print(3)
    }

    #[test]
    fn raw_bytes_have_the_argument_type() {
        let bytes = [0, 0x3c, 0, 0xbc, 0, 0x7c, 0, 0x7e];
        assert_eq!(output("half4", None, &bytes).to_text(), "y (2): float16 (4,)\n  1 -1 inf … and 1 more\n");
        assert_eq!(output("bfloat", None, &[0x80, 0x3f]).to_text(), "y (2): bfloat (1,)\n  1\n");
        assert_eq!(output("Params", None, &[1, 255]).to_text(), "y (2): uint8 (2,)\n  1 255\n");
    }

    #[test]
    fn bound_arrays_keep_their_type() {
        let header = Header { dtype: Dtype::of(Scalar::Short), shape: vec![1, 2] };
        let text = output("char", Some(header), &[254, 255, 0, 1]).to_text();
        assert_eq!(text, "y (2): int16 (1, 2)\n  -2 256\n");
    }

    #[test]
    fn numbers_are_read_by_their_type() {
        let bytes = [0xff; 8];
        for (scalar, text) in [
            (Scalar::Bool, "true"),
            (Scalar::Char, "-1"),
            (Scalar::Uchar, "255"),
            (Scalar::Int, "-1"),
            (Scalar::Uint, "4294967295"),
            (Scalar::Long, "-1"),
            (Scalar::Ulong, "18446744073709551615"),
            (Scalar::Float, "NaN"),
            (Scalar::Bfloat, "NaN"),
        ] {
            assert_eq!(Number::read(scalar, &bytes[..scalar.size()]).to_string(), text);
        }
    }

    #[test]
    fn infinities_are_strings_in_json() {
        let json = |scalar, bytes: &[u8]| Number::read(scalar, bytes).to_json();
        assert_eq!(json(Scalar::Float, &f32::INFINITY.to_le_bytes()), "inf");
        assert_eq!(json(Scalar::Half, &[0, 0x3c]), 1.0);
        assert_eq!(json(Scalar::Ulong, &[0xff; 8]), u64::MAX);
        assert_eq!(json(Scalar::Bool, &[1]), true);
    }
}
