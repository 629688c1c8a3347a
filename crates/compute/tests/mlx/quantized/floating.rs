//! Weights that are small floating-point numbers: `mxfp4` (four bits, a power of two per 32), `mxfp8` (eight bits, the
//! same) and `nvfp4` (four bits, a number of eight bits per 16). Some have another scale for the whole matrix.

use super::{activations, pack, products};
use crate::array::{Array, DType};
use crate::compare::Tolerance;
use crate::fp8;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::names::number;
use crate::random::Random;

/// The scale of a matrix is relative to the greatest weight times the greatest scale: this one is a half.
const GLOBAL_SCALE: f32 = 448.0 * 6.0 / 2.0;

/// A sign, two bits of exponent, one of mantissa.
fn decode_fp4(bits: u32) -> f64 {
    let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][bits as usize & 7];
    if bits & 8 == 0 { magnitude } else { -magnitude }
}

fn decode(bits: usize, quant: u32) -> f64 {
    if bits == 4 { decode_fp4(quant) } else { fp8::decode(quant as u8) }
}

/// All `qmv` and `qmv_fast` of one format.
pub(crate) fn qmv(format: &'static str) -> impl Iterator<Item = Case> {
    harness::names(&format!("{format}_qmv_")).into_iter().filter_map(move |name| {
        let rest = name.strip_prefix(format)?.strip_prefix("_qmv_")?;
        let is_fast = rest.starts_with("fast_");
        let rest = rest.strip_prefix("fast_").unwrap_or(rest);
        let types =
            [("float_gs", DType::Float32), ("float16_t_gs", DType::Float16), ("bfloat16_t_gs", DType::Bfloat16)];
        let (_, dtype) = types.into_iter().find(|(start, _)| rest.starts_with(start))?;
        let (group, bits, rows) = (number(&name, "gs")?, number(&name, "b")?, 2 * number(&name, "r")?);
        let batch = number(&name, "batch")? + 1;
        let (vectors, inputs) = (2, if is_fast { 1024 } else { 10 * group });
        let outputs = match (is_fast, number(&name, "pr")?) {
            (true, 0) => 16,
            (false, _) if batch == 2 => 5,
            _ => 13,
        };
        let mut random = Random::new(&name);
        let weights = batch * outputs * inputs;
        // No NaN, and nothing so great that sums lose digits.
        let quant = |random: &mut Random| match bits {
            4 => random.below(16) as u32,
            _ => random.below(0x50) as u32 | (random.below(2) as u32) << 7,
        };
        let quants: Vec<u32> = (0..weights).map(|_| quant(&mut random)).collect();
        let scale_bits = |random: &mut Random| match group {
            16 => fp8::encode([0.25, 0.5, 1.0, 1.5][random.below(4) as usize]),
            _ => 124 + random.below(4) as u8,
        };
        let scales: Vec<u8> = (0..weights / group).map(|_| scale_bits(&mut random)).collect();
        let global = if number(&name, "hgs") == Some(1) { 0.5 } else { 1.0 };
        let weight = |at: usize| {
            let bits_of_scale = scales[at / group];
            let scale =
                if group == 16 { fp8::decode(bits_of_scale) } else { 2f64.powi(i32::from(bits_of_scale) - 127) };
            decode(bits, quants[at]) * scale * global
        };
        let x = activations(&mut random, dtype, batch * vectors * inputs);
        let expected = products(&x, [batch, vectors, outputs, inputs], |element, output, input| {
            weight((element * outputs + output) * inputs + input)
        });
        let words = pack(&quants, bits);
        let words =
            words.chunks(4).map(|word| i128::from(u32::from_le_bytes(word.try_into().expect("four bytes"))));
        let longs = |value: usize| Argument::longs(&[value as i64]);
        let case = Case::new(&name, CaseGrid::Threadgroups([vectors, outputs.div_ceil(rows), batch], [32, 2, 1]))
            .input(&Array::ints(DType::Uint32, words.collect::<Vec<_>>()))
            .input(&Array::ints(DType::Uint8, scales.iter().map(|scale| i128::from(*scale)).collect::<Vec<_>>()))
            .input(&Array::floats(DType::Float32, [f64::from(GLOBAL_SCALE)]))
            .input(&x)
            .bind(Argument::output(dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32))
            .bind(Argument::int(1))
            .bind(Argument::ints(&[batch as i32, vectors as i32]))
            .bind(longs(vectors * inputs))
            .bind(Argument::int(1))
            .bind(Argument::ints(&[batch as i32]))
            .bind(longs(outputs * inputs * bits / 32))
            .bind(longs(outputs * inputs / group));
        Some(case)
    })
}
