//! The tokens of a sequence.

use super::{Built, Maker};
use crate::metal::operations::sequence::{self, PutToken, RecentTokens, TakeRow, TakeTokens};
use crate::operations::case::Case;
use crate::operations::data::all;
use crate::operations::output::Number;

pub(crate) fn take_tokens(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, length) = (case.shape['M'], case.shape['L']);
    let history = maker.tokens(length, length)?;
    let first = case.shape.get('P').unwrap_or(0);
    let result = |name| maker.output(name, &[count], Number::U32);
    let (tokens, positions) = (result("tokens")?, result("positions")?);
    maker.expect(&tokens, || history.read::<u32>()[first..][..count].iter().copied().map(f64::from).collect());
    maker.expect(&positions, || (first..first + count).map(|position| position as f64).collect());
    Ok(Box::new(move |encoding| {
        let (history, tokens, positions) = (all(&history), tokens.slice(), positions.slice());
        sequence::take_tokens(encoding, TakeTokens { history, tokens, positions, first, count })
    }))
}

pub(crate) fn recent_tokens(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, end) = (case.shape['C'], case.shape['L']);
    let (history, recent) = (maker.tokens(end, end)?, maker.output("recent", &[count], Number::U32)?);
    maker.expect(&recent, || {
        let latest_first = history.read::<u32>().into_iter().rev();
        latest_first.chain(std::iter::repeat(u32::MAX)).take(count).map(f64::from).collect()
    });
    Ok(Box::new(move |encoding| {
        let (history, recent) = (all(&history), recent.slice());
        sequence::recent_tokens(encoding, RecentTokens { history, recent, end, count })
    }))
}

pub(crate) fn put_token(maker: &Maker<'_>, case: &Case) -> Built {
    let length = case.shape['L'];
    let (token, history) = (maker.tokens(1, length)?, maker.output("history", &[length], Number::U32)?);
    let position = length - 1;
    maker.expect(&history, || {
        let mut numbers = history.numbers();
        numbers[position] = f64::from(token.read::<u32>()[0]);
        numbers
    });
    Ok(Box::new(move |encoding| {
        let (token, history) = (all(&token), history.slice());
        sequence::put_token(encoding, PutToken { token, history, position })
    }))
}

pub(crate) fn take_row(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, n], activation)?, maker.output("y", &[n], activation.into())?);
    let row = rows - 1;
    maker.expect(&y, || x.numbers()[row * n..][..n].to_vec());
    Ok(Box::new(move |encoding| {
        sequence::take_row(encoding, TakeRow { x: all(&x), y: y.slice(), row, n, activation })
    }))
}
