//! `sequence.metal`

use crate::device::{rejected, run};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::operations::{
    PutToken, RecentTokens, TakeRow, TakeTokens, put_token, recent_tokens, take_row, take_tokens,
};

#[test]
fn takes_tokens_with_their_positions() {
    let tokens: Vec<u32> = (0..100).map(|i| i * 7).collect();
    let history = Tensor::integers(&tokens);
    for (first, count) in [(0, 1), (5, 31), (33, 67), (99, 1), (3, 0)] {
        let (taken, positions) = (Tensor::poisoned(Type::U32, count), Tensor::poisoned(Type::U32, count));
        let op = TakeTokens {
            history: history.slice(),
            tokens: taken.slice(),
            positions: positions.slice(),
            first,
            offset: 0,
            count,
        };
        run(|encoding| take_tokens(encoding, op));
        let expected = |from: &dyn Fn(usize) -> u32| -> Vec<f64> {
            (first..first + count).map(|position| f64::from(from(position))).collect()
        };
        assert_eq!(taken.numbers(), expected(&|position| tokens[position]), "{count} from {first}");
        assert_eq!(positions.numbers(), expected(&|position| position as u32), "{count} from {first}");
        let message = rejected(|encoding| take_tokens(encoding, TakeTokens { first: first + 100, count: 1, ..op }));
        assert!(message.starts_with("take_tokens: history has 400 bytes"), "{message}");
    }
}

#[test]
fn recent_tokens_are_the_latest_first() {
    let tokens: Vec<u32> = (0..50).map(|i| i + 1000).collect();
    let history = Tensor::integers(&tokens);
    for (end, count) in [(0, 3), (2, 5), (50, 33), (50, 64), (7, 0)] {
        let recent = Tensor::integers(&vec![0; count]);
        let op = RecentTokens { history: history.slice(), recent: recent.slice(), end, offset: 0, count };
        run(|encoding| recent_tokens(encoding, op));
        let expected: Vec<f64> = (0..count)
            .map(|i| if i < end { f64::from(tokens[end - 1 - i]) } else { f64::from(u32::MAX) })
            .collect();
        assert_eq!(recent.numbers(), expected, "{count} up to {end}");
    }
}

#[test]
fn stores_a_token_at_its_position() {
    for position in [0, 7, 8, 1 << 40] {
        let history = Tensor::integers(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let token = Tensor::integers(&[99]);
        let op = PutToken { token: token.slice(), history: history.slice(), position, offset: 0 };
        run(|encoding| put_token(encoding, op));
        let expected = (0..8).map(|i| if i == position { 99.0 } else { i as f64 + 1.0 });
        assert_eq!(history.numbers(), expected.collect::<Vec<f64>>(), "{position}");
    }
}

#[test]
fn takes_a_row() {
    for activation in Activation::ALL {
        for (row, n) in [(0, 1), (2, 576), (4, 33)] {
            let x = Tensor::new(activation, &Random::new(n as u64).normals(5 * n));
            let y = Tensor::poisoned(activation, n);
            let op = TakeRow { x: x.slice(), y: y.slice(), row, n, activation };
            run(|encoding| take_row(encoding, op));
            assert_eq!(y.numbers(), x.numbers()[row * n..][..n], "row {row} of {n}");
            let message = rejected(|encoding| take_row(encoding, TakeRow { row: 5, ..op }));
            assert!(message.starts_with("take_row: x has"), "{message}");
        }
    }
}
