//! Encodes the steps after the last layer: the logits of all tokens, and the sampling of the next token.

use super::layers::Parts;
use super::state::{MAX_RECENT, first};
use super::table::{Quantity, Tracer};
use crate::error::Result;
use crate::formats::Activation;
use crate::generate::Sampling;
use crate::metal::operations::{Argmax, Penalize, Sample, TopK, argmax, penalize, sample, top_k};
use crate::metal::operations::{LmHead, LmHeadArgmax, LmHeadResult, lm_head};
use crate::metal::operations::{PutToken, RecentTokens, TakeRow, put_token, recent_tokens, take_row};
use crate::metal::operations::{Scale, SoftCap, scale, soft_cap};

impl Parts {
    /// Computes the logits of the next token.
    pub(super) fn logits(&self, tracer: &mut Tracer<'_>) -> Result<()> {
        let (logits, n) = ((&self.state.logits).into(), self.model.vocabulary);
        self.output(tracer, LmHeadResult::Logits(logits))?;
        if let Some(factor) = self.model.logit_scale {
            let op = Scale { x: logits, y: logits, n, factor, activation: Activation::F32 };
            scale(&mut tracer.encoding, op)?;
        }
        if let Some(cap) = self.model.logit_cap {
            let op = SoftCap { x: logits, y: logits, n, cap, activation: Activation::F32 };
            soft_cap(&mut tracer.encoding, op)?;
        }
        Ok(())
    }

    /// Samples the next token and appends it to the history.
    pub(super) fn choose(&self, tracer: &mut Tracer<'_>, sampling: &Sampling) -> Result<()> {
        let (state, n) = (&self.state, self.model.vocabulary);
        let (sampled, logits) = ((&state.sampled).into(), (&state.logits).into());
        if sampling.is_greedy() && !sampling.penalizes() {
            // The logits need not be stored, and their factor and cap do not change the largest.
            let argmax = LmHeadArgmax { tokens: sampled, scratch: (&state.argmax).into() };
            self.output(tracer, LmHeadResult::Argmax(argmax))?;
            return self.put(tracer);
        }
        self.logits(tracer)?;
        if sampling.penalizes() {
            self.penalize(tracer, sampling)?;
        }
        if sampling.is_greedy() {
            argmax(&mut tracer.encoding, Argmax { logits, tokens: sampled, rows: 1, n })?;
            return self.put(tracer);
        }
        let mut op = Sample {
            values: logits,
            candidates: None,
            tokens: sampled,
            rows: 1,
            n,
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            min_p: sampling.min_p,
            seed: sampling.seed,
            step: 0,
        };
        if let Some(k) = sampling.top_k.filter(|&k| k < n) {
            let values = first(&state.top_values, &[k], 4);
            let tokens = first(&state.top_tokens, &[k], 4);
            top_k(&mut tracer.encoding, TopK { logits, values, tokens, rows: 1, n, k })?;
            op = Sample { values, candidates: Some(tokens), n: k, ..op };
        }
        tracer.patch(Sample::STEP, Quantity::End);
        sample(&mut tracer.encoding, op)?;
        self.put(tracer)
    }

    /// Norm and LM head, for one row of the residual stream.
    fn output(&self, tracer: &mut Tracer<'_>, result: LmHeadResult<'_>) -> Result<()> {
        let (state, width, activation) = (&self.state, self.model.width, self.activation);
        let row = (&state.row).into();
        tracer.patch(TakeRow::ROW, Quantity::Row);
        let op = TakeRow { x: (&state.h).into(), y: row, row: 0, n: width, activation };
        take_row(&mut tracer.encoding, op)?;
        let head = self.weights.head();
        let x = self.norm(tracer, &self.weights.output_norm, [row, row], &[head], 1)?;
        let op = LmHead { w: head.matrix(), x: x.slice, result, m: 1, activation, packed_x: x.packed };
        Ok(lm_head(&mut tracer.encoding, op)?)
    }

    fn penalize(&self, tracer: &mut Tracer<'_>, sampling: &Sampling) -> Result<()> {
        let state = &self.state;
        let count = sampling.repeat_last.min(MAX_RECENT);
        let recent = first(&state.recent, &[count], 4);
        tracer.patch(RecentTokens::END, Quantity::End);
        let op = RecentTokens { history: (&state.history).into(), recent, end: 0, offset: 0, count };
        recent_tokens(&mut tracer.encoding, op)?;
        let op = Penalize {
            logits: (&state.logits).into(),
            recent,
            rows: 1,
            n: self.model.vocabulary,
            count,
            repeat: sampling.repeat_penalty,
            presence: sampling.presence_penalty,
            frequency: sampling.frequency_penalty,
        };
        Ok(penalize(&mut tracer.encoding, op)?)
    }

    fn put(&self, tracer: &mut Tracer<'_>) -> Result<()> {
        let (token, history) = ((&self.state.sampled).into(), (&self.state.history).into());
        tracer.patch(PutToken::POSITION, Quantity::End);
        Ok(put_token(&mut tracer.encoding, PutToken { token, history, position: 0, offset: 0 })?)
    }
}
