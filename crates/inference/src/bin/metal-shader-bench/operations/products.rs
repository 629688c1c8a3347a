//! Products with matrices.

use super::{Built, Maker, Problem};
use crate::cases::Case;
use crate::data::{Weights, all};
use inference::metal::dispatch::Encoding;
use inference::metal::dispatch::gemm::gemm as encode_gemm;
use inference::metal::dispatch::gemv::{Gemv, GemvGated, GemvQkv};
use inference::metal::dispatch::gemv::{gemv as encode_gemv, gemv_gated as encode_gated, gemv_qkv as encode_qkv};
use inference::metal::dispatch::lm_head::{LmHead, LmHeadArgmax, LmHeadResult, lm_head as encode_lm_head};
use inference::metal::format::Format;
use inference::metal::layout::Layout;

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
    let (x, y) = (maker.activations(&[m, k], activation)?, maker.zeros(&[m, n], activation.size())?);
    Ok(Box::new(move |encoding| {
        let op = Gemv { w: w.matrix(), x: all(&x), y: all(&y), bias: None, residual: None, m, activation };
        encode(encoding, op)
    }))
}

pub(crate) fn gemv_gated(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let (gate, up) = (weights(maker, case, n, k)?, weights(maker, case, n, k)?);
    let (x, y) = (maker.activations(&[m, k], activation)?, maker.zeros(&[m, n], activation.size())?);
    Ok(Box::new(move |encoding| {
        let (gate, up) = (gate.matrix(), up.matrix());
        encode_gated(encoding, GemvGated { gate, up, x: all(&x), y: all(&y), m, activation })
    }))
}

pub(crate) fn gemv_qkv(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, columns, activation) = (case.shape['M'], case.shape['K'], case.activation);
    let rows = [case.shape['H'], case.shape['G']].map(|heads| heads.saturating_mul(case.shape['D']));
    let (wq, wk) = (weights(maker, case, rows[0], columns)?, weights(maker, case, rows[1], columns)?);
    let wv = weights(maker, case, rows[1], columns)?;
    let x = maker.activations(&[m, columns], activation)?;
    let result = |rows: usize| maker.zeros(&[m, rows], activation.size());
    let (q, k, v) = (result(rows[0])?, result(rows[1])?, result(rows[1])?);
    Ok(Box::new(move |encoding| {
        let op = GemvQkv {
            wq: wq.matrix(),
            wk: wk.matrix(),
            wv: wv.matrix(),
            x: all(&x),
            q: all(&q),
            k: all(&k),
            v: all(&v),
            biases: None,
            m,
            activation,
        };
        encode_qkv(encoding, op)
    }))
}

pub(crate) fn lm_head(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let w = weights(maker, case, n, k)?;
    let (x, logits) = (maker.activations(&[m, k], activation)?, maker.zeros(&[m, n], 4)?);
    Ok(Box::new(move |encoding| {
        let result = LmHeadResult::Logits(all(&logits));
        encode_lm_head(encoding, LmHead { w: w.matrix(), x: all(&x), result, m, activation })
    }))
}

pub(crate) fn lm_head_best(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let w = weights(maker, case, n, k)?;
    let x = maker.activations(&[m, k], activation)?;
    let (tokens, scratch) = (maker.zeros(&[m], 4)?, maker.zeros(&[LmHeadArgmax::scratch_bytes(n, m)], 1)?);
    Ok(Box::new(move |encoding| {
        let result = LmHeadResult::Argmax(LmHeadArgmax { tokens: all(&tokens), scratch: all(&scratch) });
        encode_lm_head(encoding, LmHead { w: w.matrix(), x: all(&x), result, m, activation })
    }))
}
