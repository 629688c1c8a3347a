//! Complex numbers in f64.

pub(crate) type Complex = (f64, f64);

pub(crate) fn add(a: Complex, b: Complex) -> Complex {
    (a.0 + b.0, a.1 + b.1)
}

pub(crate) fn subtract(a: Complex, b: Complex) -> Complex {
    (a.0 - b.0, a.1 - b.1)
}

pub(crate) fn multiply(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

pub(crate) fn divide(a: Complex, b: Complex) -> Complex {
    let square = b.0 * b.0 + b.1 * b.1;
    let product = multiply(a, (b.0, -b.1));
    (product.0 / square, product.1 / square)
}

pub(crate) fn exp(z: Complex) -> Complex {
    (z.0.exp() * z.1.cos(), z.0.exp() * z.1.sin())
}

pub(crate) fn ln(z: Complex) -> Complex {
    (z.0.hypot(z.1).ln(), z.1.atan2(z.0))
}

pub(crate) fn sqrt(z: Complex) -> Complex {
    if z == (0.0, 0.0) {
        return z;
    }
    let half = ln(z);
    exp((half.0 / 2.0, half.1 / 2.0))
}

/// `z` times i.
pub(crate) fn times_i(z: Complex) -> Complex {
    (-z.1, z.0)
}

pub(crate) fn sinh(z: Complex) -> Complex {
    let (plus, minus) = (exp(z), exp((-z.0, -z.1)));
    ((plus.0 - minus.0) / 2.0, (plus.1 - minus.1) / 2.0)
}

pub(crate) fn cosh(z: Complex) -> Complex {
    let (plus, minus) = (exp(z), exp((-z.0, -z.1)));
    ((plus.0 + minus.0) / 2.0, (plus.1 + minus.1) / 2.0)
}

/// sin z = −i sinh iz
pub(crate) fn sin(z: Complex) -> Complex {
    let hyperbolic = sinh(times_i(z));
    (hyperbolic.1, -hyperbolic.0)
}

/// cos z = cosh iz
pub(crate) fn cos(z: Complex) -> Complex {
    cosh(times_i(z))
}

/// asin z = −i ln(iz + √(1 − z²))
pub(crate) fn asin(z: Complex) -> Complex {
    let root = sqrt(subtract((1.0, 0.0), multiply(z, z)));
    let logarithm = ln(add(times_i(z), root));
    (logarithm.1, -logarithm.0)
}

/// acos z = π/2 − asin z
pub(crate) fn acos(z: Complex) -> Complex {
    subtract((std::f64::consts::FRAC_PI_2, 0.0), asin(z))
}

/// atan z = (i/2) (ln(1 − iz) − ln(1 + iz))
pub(crate) fn atan(z: Complex) -> Complex {
    let iz = times_i(z);
    let difference = subtract(ln(subtract((1.0, 0.0), iz)), ln(add((1.0, 0.0), iz)));
    times_i((difference.0 / 2.0, difference.1 / 2.0))
}

/// The order of NumPy and MLX: by the real part, then by the imaginary one.
pub(crate) fn less(a: Complex, b: Complex) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}
