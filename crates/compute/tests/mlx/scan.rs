//! Running sums, products, extremes: along rows (`contig_`) and along columns (`strided_`), forwards and backwards,
//! with and without the element itself.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::complex;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::random::Random;
use crate::reduce::Operation;

#[derive(Clone, Copy)]
enum Scan {
    Reduce(Operation),
    LogAddExp,
}

impl Scan {
    fn initial(self, dtype: DType) -> Scalar {
        match self {
            Scan::Reduce(operation) => operation.initial(dtype),
            Scan::LogAddExp => Operation::Max.initial(dtype),
        }
    }

    fn combine(self, dtype: DType, a: Scalar, b: Scalar) -> Scalar {
        match (self, a) {
            (Scan::Reduce(operation), _) => operation.combine(dtype, a, b),
            (Scan::LogAddExp, Scalar::Complex(..)) => {
                let (a, b) = (a.complex(), b.complex());
                let (real, imaginary) = complex::ln(complex::add(complex::exp(a), complex::exp(b)));
                if a.0 == f64::NEG_INFINITY { Scalar::Complex(b.0, b.1) } else { Scalar::Complex(real, imaginary) }
            }
            (Scan::LogAddExp, _) => Scalar::Float((a.float().exp() + b.float().exp()).ln()),
        }
    }

    fn values(self, random: &mut Random, dtype: DType, length: usize) -> Array {
        match self {
            Scan::LogAddExp => random.array(dtype, length, -1.0, 1.0),
            // Without the NaN, after which all would be NaN.
            Scan::Reduce(Operation::Min | Operation::Max) => random.array(dtype, length, -1000.0, 1000.0),
            Scan::Reduce(operation) => operation.values(random, dtype, length),
        }
    }

    fn tolerance(self, dtype: DType) -> Tolerance {
        match self {
            Scan::Reduce(_) => Tolerance::EXACT,
            // Each step is rounded to the type.
            Scan::LogAddExp => Tolerance::ulps(8.0).and_absolute(16.0 * dtype.epsilon()),
        }
    }
}

/// The parts of a name: `contig_scan_reverse_exclusive_sum_int8_int8`.
struct Kernel {
    name: String,
    scan: Scan,
    is_reverse: bool,
    is_inclusive: bool,
    input: DType,
    output: DType,
}

impl Kernel {
    fn parse(name: String, prefix: &str) -> Option<Kernel> {
        let rest = name.strip_prefix(prefix)?;
        let (is_reverse, rest) = match rest.strip_prefix("reverse_") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (inclusion, rest) = rest.split_once('_')?;
        let (operation, types) = rest.split_once('_')?;
        let (input, output) = DType::suffix(types)?;
        let scan = match operation {
            "sum" => Scan::Reduce(Operation::Sum),
            "prod" => Scan::Reduce(Operation::Prod),
            "max" => Scan::Reduce(Operation::Max),
            "min" => Scan::Reduce(Operation::Min),
            "logaddexp" => Scan::LogAddExp,
            _ => return None,
        };
        let input = DType::named(input.strip_suffix('_')?)?;
        Some(Kernel { scan, is_reverse, is_inclusive: inclusion == "inclusive", input, output, name })
    }

    /// The scan of the elements at `places`, put there.
    fn scan(&self, input: &Array, places: &[usize], expected: &mut [Scalar]) {
        let mut total = self.scan.initial(self.output);
        let mut step = |place: &usize| {
            let next = self.scan.combine(self.output, total, input.values[*place]);
            expected[*place] = if self.is_inclusive { next } else { total };
            total = next;
        };
        if self.is_reverse { places.iter().rev().for_each(&mut step) } else { places.iter().for_each(&mut step) }
    }

    /// Elements that a thread has.
    fn per_thread(&self) -> usize {
        if self.input.size() <= 4 { 4 } else { 2 }
    }

    fn case(&self, grid: CaseGrid, length: usize, lines: &[Vec<usize>]) -> Case {
        let input = self.scan.values(&mut Random::new(&self.name), self.input, length);
        let mut expected = vec![Scalar::Int(0); length];
        for line in lines {
            self.scan(&input, line, &mut expected);
        }
        let output = Argument::output(self.output, expected, self.scan.tolerance(self.output));
        Case::new(&self.name, grid).input(&input).bind(output)
    }
}

/// Rows longer than a threadgroup takes at once.
pub(crate) fn rows() -> impl Iterator<Item = Case> {
    harness::names("contig_scan_").into_iter().filter_map(|name| {
        let kernel = Kernel::parse(name, "contig_scan_")?;
        let (rows, row) = (3, 619);
        let lines: Vec<Vec<usize>> = (0..rows).map(|index| (index * row..(index + 1) * row).collect()).collect();
        let case = kernel.case(CaseGrid::Threadgroups([1, rows, 1], [64, 1, 1]), rows * row, &lines);
        Some(case.bind(Argument::long(row as i64)))
    })
}

/// Columns, 32 at a time.
pub(crate) fn columns() -> impl Iterator<Item = Case> {
    harness::names("strided_scan_").into_iter().filter_map(|name| {
        let kernel = Kernel::parse(name, "strided_scan_")?;
        let (matrices, rows, columns) = (2, 71, 45);
        let lines: Vec<Vec<usize>> = (0..matrices * columns)
            .map(|line| {
                let start = line / columns * rows * columns + line % columns;
                (0..rows).map(|row| start + row * columns).collect()
            })
            .collect();
        let threads = 32 / kernel.per_thread() * 32;
        let grid = CaseGrid::Threadgroups([1, matrices * 2, 1], [threads, 1, 1]);
        let case = kernel.case(grid, matrices * rows * columns, &lines);
        Some(case.bind(Argument::long(rows as i64)).bind(Argument::long(columns as i64)).bind(Argument::long(2)))
    })
}
