//! The tokens of a sequence.

use super::{Built, Maker};
use crate::cases::Case;
use crate::data::all;
use inference::metal::dispatch::sequence::{self, PutToken, RecentTokens, TakeRow, TakeTokens};

pub(crate) fn take_tokens(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, length) = (case.shape['M'], case.shape['L']);
    let history = maker.tokens(length, length)?;
    let (tokens, positions) = (maker.zeros(&[count], 4)?, maker.zeros(&[count], 4)?);
    Ok(Box::new(move |encoding| {
        let (history, tokens, positions) = (all(&history), all(&tokens), all(&positions));
        sequence::take_tokens(encoding, TakeTokens { history, tokens, positions, first: 0, count })
    }))
}

pub(crate) fn recent_tokens(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, end) = (case.shape['C'], case.shape['L']);
    let (history, recent) = (maker.tokens(end, end)?, maker.zeros(&[count], 4)?);
    Ok(Box::new(move |encoding| {
        let (history, recent) = (all(&history), all(&recent));
        sequence::recent_tokens(encoding, RecentTokens { history, recent, end, count })
    }))
}

pub(crate) fn put_token(maker: &Maker<'_>, case: &Case) -> Built {
    let length = case.shape['L'];
    let (token, history) = (maker.tokens(1, length)?, maker.zeros(&[length], 4)?);
    Ok(Box::new(move |encoding| {
        let (token, history) = (all(&token), all(&history));
        sequence::put_token(encoding, PutToken { token, history, position: length - 1 })
    }))
}

pub(crate) fn take_row(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, n], activation)?, maker.zeros(&[n], activation.size())?);
    Ok(Box::new(move |encoding| {
        sequence::take_row(encoding, TakeRow { x: all(&x), y: all(&y), row: rows - 1, n, activation })
    }))
}
