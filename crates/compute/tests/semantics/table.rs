//! Many small pieces of Metal in one kernel: each thread evaluates them all on its own inputs, and each is compared
//! with the same in Rust.
//!
//! The number of threads is not a multiple of 32, so that the code for full and for partial simdgroups runs.

use crate::harness::{TestLibrary, elements};
use crate::values::{Floats, Value};
use metalworks_compute::MathMode;
use std::fmt::Write;

/// Cases per kernel: with more, LLVM is slow.
const CASES_PER_KERNEL: usize = 16;

/// A message about the values of a case that are wrong.
type Check<'a> = Box<dyn Fn(&[u8]) -> Result<(), String> + 'a>;

struct Input {
    declaration: String,
    load: String,
    bytes: Vec<u8>,
}

struct Case<'a> {
    text: String,
    names: (String, String),
    size: usize,
    check: Check<'a>,
}

/// Inputs and the cases to evaluate on them.
pub(crate) struct Table<'a> {
    name: &'static str,
    math: MathMode,
    /// Pragmas before the kernels.
    pragmas: &'static str,
    threads: usize,
    inputs: Vec<Input>,
    cases: Vec<Case<'a>>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(name: &'static str) -> Table<'a> {
        let (inputs, cases) = (Vec::new(), Vec::new());
        Table { name, math: MathMode::Fast, pragmas: "", threads: 0, inputs, cases }
    }

    /// Safe math instead of fast math.
    pub(crate) fn safe(mut self) -> Self {
        self.math = MathMode::Safe;
        self
    }

    /// No product and sum are fused, as safe math would within an expression.
    pub(crate) fn without_contraction(mut self) -> Self {
        self.pragmas = "#pragma METAL fp contract(off)\n";
        self
    }

    /// A variable that holds `values[i]` in thread `i`.
    pub(crate) fn input<T: Value>(mut self, name: &str, values: &[T]) -> Self {
        assert!(self.inputs.is_empty() || values.len() == self.threads, "{}: input {name}", self.name);
        self.threads = values.len();
        let ((register, memory), index) = (T::names(), self.inputs.len());
        self.inputs.push(Input {
            declaration: format!("device const {memory} *{name}_in [[buffer({index})]]"),
            // Not to be changed: all cases use it.
            load: format!("const {register} {name} = {register}({name}_in[i]);"),
            bytes: bytemuck::cast_slice(values).to_vec(),
        });
        self
    }

    fn case<T: Value>(&mut self, text: &str, right: impl Fn(usize, T) -> Result<(), String> + 'a) -> &mut Self {
        let check = move |bytes: &[u8]| {
            let values: Vec<T> = elements(bytes);
            let wrong: Vec<String> =
                values.into_iter().enumerate().filter_map(|(index, value)| right(index, value).err()).collect();
            if wrong.is_empty() {
                return Ok(());
            }
            Err(format!("{} wrong\n    {}", wrong.len(), wrong[..wrong.len().min(5)].join("\n    ")))
        };
        let (text, names, size) = (text.to_string(), T::names(), size_of::<T>());
        self.cases.push(Case { text, names, size, check: Box::new(check) });
        self
    }

    /// An expression, or statements that assign to `r`, and its value in thread `i`.
    pub(crate) fn exact<T: Value>(&mut self, text: &str, expected: impl Fn(usize) -> T + 'a) -> &mut Self {
        self.case(text, move |index, got: T| {
            let expected = expected(index);
            got.same(expected).then_some(()).ok_or_else(|| format!("[{index}] is {got:?}, expected {expected:?}"))
        })
    }

    /// The same for a result with an error bound in units in the last place.
    pub(crate) fn ulps<T: Floats>(
        &mut self,
        text: &str,
        ulps: f64,
        exact: impl Fn(usize) -> T::Exact + 'a,
    ) -> &mut Self {
        self.case(text, move |index, got: T| {
            let exact = exact(index);
            let error = got.ulps_from(exact);
            (error <= ulps)
                .then_some(())
                .ok_or_else(|| format!("[{index}] is {got:?}, exactly {exact:?}: {error} of at most {ulps} ulp"))
        })
    }

    /// The same for a result that may be off by a given distance, which the closure returns, too.
    pub(crate) fn near<T: Floats>(
        &mut self,
        text: &str,
        exact: impl Fn(usize) -> (T::Exact, f64) + 'a,
    ) -> &mut Self {
        self.case(text, move |index, got: T| {
            let (exact, limit) = exact(index);
            let error = got.distance_from(exact);
            (error <= limit)
                .then_some(())
                .ok_or_else(|| format!("[{index}] is {got:?}, exactly {exact:?}: off by {error}, at most {limit}"))
        })
    }

    /// Compiles and runs everything, and fails with all differences.
    pub(crate) fn run(&self) {
        assert!(!self.cases.is_empty() && self.threads > 0, "{}: nothing to run", self.name);
        let chunks: Vec<&[Case]> = self.cases.chunks(CASES_PER_KERNEL).collect();
        let mut text = String::from(self.pragmas);
        for (index, cases) in chunks.iter().enumerate() {
            text.push_str(&self.kernel(index, cases));
        }
        let source = TestLibrary::with_math(&text, self.math);
        let mut failures = Vec::new();
        for (index, cases) in chunks.iter().enumerate() {
            let name = format!("table{index}");
            let mut run = source.kernel(&name);
            for input in &self.inputs {
                run = run.buffer(&input.bytes);
            }
            let total = cases.iter().map(|case| self.space(case)).sum();
            let outputs = run.zeros::<u8>(total).threads(self.threads, 64).read::<u8>(self.inputs.len());
            let mut rest = outputs.as_slice();
            for case in *cases {
                let (bytes, after) = rest.split_at(self.space(case));
                rest = after;
                if let Err(message) = (case.check)(&bytes[..case.size * self.threads]) {
                    failures.push(format!("  {}: {message}", case.text));
                }
            }
        }
        let (failed, all) = (failures.len(), self.cases.len());
        assert!(failed == 0, "{}: {failed} of {all} cases fail\n{}", self.name, failures.join("\n"));
    }

    fn kernel(&self, index: usize, cases: &[Case]) -> String {
        let mut text = format!("kernel void table{index}(");
        for input in &self.inputs {
            let _ = write!(text, "{}, ", input.declaration);
        }
        let _ = writeln!(
            text,
            "device uchar *out [[buffer({})]], uint i [[thread_position_in_grid]]) {{",
            self.inputs.len()
        );
        for input in &self.inputs {
            let _ = writeln!(text, "  {}", input.load);
        }
        let mut offset = 0;
        for case in cases {
            let (register, memory) = &case.names;
            let body = match case.text.contains("r = ") || case.text.ends_with(';') {
                true => case.text.clone(),
                false => format!("r = {register}({});", case.text),
            };
            let _ = writeln!(
                text,
                "  {{ {register} r; {body} ((device {memory} *)(out + {offset}))[i] = {memory}(r); }}"
            );
            offset += self.space(case);
        }
        text.push_str("}\n");
        text
    }

    /// Bytes for the results of a case, aligned for any type.
    fn space(&self, case: &Case) -> usize {
        (case.size * self.threads).next_multiple_of(32)
    }
}
