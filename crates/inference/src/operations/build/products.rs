//! Products with matrices.

use super::{Built, Maker, Problem};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::Encoding;
use crate::metal::layout::Layout;
use crate::metal::operations::gemm::gemm as encode_gemm;
use crate::metal::operations::gemv::Gemv;
use crate::metal::operations::gemv::gemv as encode_gemv;
use crate::metal::operations::gemv_gated::GemvGated;
use crate::metal::operations::gemv_gated::gemv_gated as encode_gated;
use crate::metal::operations::gemv_qkv::GemvQkv;
use crate::metal::operations::gemv_qkv::gemv_qkv as encode_qkv;
use crate::metal::operations::lm_head::{LmHead, LmHeadArgmax, LmHeadResult, lm_head as encode_lm_head};
use crate::operations::case::Case;
use crate::operations::data::{Weights, all};
use crate::operations::formulas::{argmax, product as matmul, sigmoid, sum};
use crate::operations::output::Number;

/// A matrix of the case's format, laid out as inference has it.
fn weights(maker: &Maker<'_>, case: &Case, rows: usize, columns: usize) -> Result<Weights, Problem> {
    let format = case.format.unwrap_or(Format::F32);
    maker.weights(format, Layout::preferred(format, columns), rows, columns)
}

pub(crate) fn gemv(maker: &Maker<'_>, case: &Case) -> Built {
    product(maker, case, weights(maker, case, case.shape['N'], case.shape['K'])?, encode_gemv)
}

pub(crate) fn gemv_rows(maker: &Maker<'_>, case: &Case) -> Built {
    let format = case.format.unwrap_or(Format::F32);
    let w = maker.weights(format, Layout::Blocks, case.shape['N'], case.shape['K'])?;
    product(maker, case, w, encode_gemv)
}

pub(crate) fn gemm(maker: &Maker<'_>, case: &Case) -> Built {
    let w = weights(maker, case, case.shape['N'], case.shape['K'])?;
    let simdgroups = case.shape['S'];
    product(maker, case, w, move |encoding, op| encode_gemm(encoding, op, simdgroups))
}

fn product(
    maker: &Maker<'_>,
    case: &Case,
    w: Weights,
    encode: impl Fn(&mut Encoding<'_>, Gemv<'_>) -> compute::Result<()> + 'static,
) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let (x, y) = (maker.activations(&[m, k], activation)?, maker.output("y", &[m, n], activation.into())?);
    // Checks of several vectors also add a bias and a residual.
    let more = maker.is_check() && m > 1;
    let bias = more.then(|| maker.activations(&[n], Activation::F32)).transpose()?;
    let residual = more.then(|| maker.activations(&[m, n], activation)).transpose()?;
    maker.expect(&y, || {
        let more = [&bias, &residual].into_iter().flatten();
        more.fold(matmul(&w, &x.numbers()), |y, more| sum(&y, &more.numbers()))
    });
    Ok(Box::new(move |encoding| {
        let (bias, residual) = (bias.as_ref().map(all), residual.as_ref().map(all));
        encode(encoding, Gemv { w: w.matrix(), x: all(&x), y: y.slice(), bias, residual, m, activation })
    }))
}

pub(crate) fn gemv_gated(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let (gate, up) = (weights(maker, case, n, k)?, weights(maker, case, n, k)?);
    let (x, y) = (maker.activations(&[m, k], activation)?, maker.output("y", &[m, n], activation.into())?);
    maker.expect(&y, || {
        let gated = |(gate, up): (f64, f64)| gate * sigmoid(gate) * up;
        let (gate, up) = (matmul(&gate, &x.numbers()), matmul(&up, &x.numbers()));
        gate.into_iter().zip(up).map(gated).collect()
    });
    Ok(Box::new(move |encoding| {
        let (gate, up) = (gate.matrix(), up.matrix());
        encode_gated(encoding, GemvGated { gate, up, x: all(&x), y: y.slice(), m, activation })
    }))
}

pub(crate) fn gemv_qkv(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, columns, activation) = (case.shape['M'], case.shape['K'], case.activation);
    let rows = [case.shape['H'], case.shape['G']].map(|heads| heads.saturating_mul(case.shape['D']));
    let (wq, wk) = (weights(maker, case, rows[0], columns)?, weights(maker, case, rows[1], columns)?);
    let wv = weights(maker, case, rows[1], columns)?;
    let x = maker.activations(&[m, columns], activation)?;
    let result = |name, rows: usize| maker.output(name, &[m, rows], activation.into());
    let (q, k, v) = (result("q", rows[0])?, result("k", rows[1])?, result("v", rows[1])?);
    let bias = |rows: usize| maker.activations(&[rows], Activation::F32);
    let biases = match maker.is_check() {
        true => Some([bias(rows[0])?, bias(rows[1])?, bias(rows[1])?]),
        false => None,
    };
    if let Some(biases) = &biases {
        for ((output, w), bias) in [(&q, &wq), (&k, &wk), (&v, &wv)].into_iter().zip(biases) {
            maker.expect(output, || sum(&matmul(w, &x.numbers()), &bias.numbers()));
        }
    }
    Ok(Box::new(move |encoding| {
        let op = GemvQkv {
            wq: wq.matrix(),
            wk: wk.matrix(),
            wv: wv.matrix(),
            x: all(&x),
            q: q.slice(),
            k: k.slice(),
            v: v.slice(),
            biases: biases.as_ref().map(|biases| biases.each_ref().map(all)),
            m,
            activation,
        };
        encode_qkv(encoding, op)
    }))
}

pub(crate) fn lm_head(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let w = weights(maker, case, n, k)?;
    let (x, logits) = (maker.activations(&[m, k], activation)?, maker.output("logits", &[m, n], Number::F32)?);
    maker.expect(&logits, || matmul(&w, &x.numbers()));
    Ok(Box::new(move |encoding| {
        let result = LmHeadResult::Logits(logits.slice());
        encode_lm_head(encoding, LmHead { w: w.matrix(), x: all(&x), result, m, activation })
    }))
}

pub(crate) fn lm_head_best(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let w = weights(maker, case, n, k)?;
    let x = maker.activations(&[m, k], activation)?;
    let tokens = maker.output("tokens", &[m], Number::U32)?;
    maker.expect(&tokens, || matmul(&w, &x.numbers()).chunks(n).map(|row| argmax(row) as f64).collect());
    let scratch = maker.zeros(&[LmHeadArgmax::scratch_bytes(n, m)], 1)?;
    Ok(Box::new(move |encoding| {
        let result = LmHeadResult::Argmax(LmHeadArgmax { tokens: tokens.slice(), scratch: all(&scratch) });
        encode_lm_head(encoding, LmHead { w: w.matrix(), x: all(&x), result, m, activation })
    }))
}
