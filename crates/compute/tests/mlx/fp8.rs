//! Numbers of eight bits: a sign, four bits of exponent, three of mantissa; no infinity, one NaN (`e4m3fn`).

/// The number with these bits.
pub(crate) fn decode(bits: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
    let magnitude = match (exponent, bits & 7) {
        (15, 7) => f64::NAN,
        (0, _) => mantissa / 8.0 * 2f64.powi(-6),
        _ => (1.0 + mantissa / 8.0) * 2f64.powi(exponent - 7),
    };
    if bits >> 7 == 1 { -magnitude } else { magnitude }
}

/// The bits of the nearest number; between two, of the one with an even mantissa.
pub(crate) fn encode(value: f64) -> u8 {
    let distance = |bits: &u8| (decode(*bits) - value.abs()).abs();
    let nearest = (0u8..0x7f).min_by(|a, b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))));
    nearest.unwrap_or(0) | u8::from(value.is_sign_negative()) << 7
}
