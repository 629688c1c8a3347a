//! Values in the generated code: each component of a value of AIR is a scalar that stands for all lanes, or a vector.

use super::lanes::{lanes_of, ramp, splat};
use crate::ir::{Builder, Type, Value};
use abi::LANES;

/// One component.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'m> {
    /// The same in all lanes.
    Uniform(Value<'m>),
    /// `base + stride * lane`. `lanes` is there when the ramp is right for addresses only.
    Ramp { base: Value<'m>, stride: i64, lanes: Option<Value<'m>> },
    /// One element for each lane.
    Lanes(Value<'m>),
}

/// All components of a value.
pub(super) type Parts<'m> = Vec<Part<'m>>;

impl<'m> Part<'m> {
    /// The value of lane 0, of a part that is no vector.
    pub(super) fn base(self) -> Option<Value<'m>> {
        match self {
            Part::Uniform(value) | Part::Ramp { base: value, .. } => Some(value),
            Part::Lanes(_) => None,
        }
    }

    /// The scalar that all lanes share.
    pub(super) fn uniform(self) -> Option<Value<'m>> {
        match self {
            Part::Uniform(value) => Some(value),
            _ => None,
        }
    }

    /// One element for each lane.
    pub(super) fn lanes(self, b: &Builder<'m>) -> Value<'m> {
        match self {
            Part::Uniform(value) => splat(b, value),
            Part::Ramp { lanes: Some(value), .. } | Part::Lanes(value) => value,
            Part::Ramp { base, stride, lanes: None } => {
                if base.ty().is_pointer() {
                    b.offset(base, ramp(Type::int(b.context(), 64), 0, stride))
                } else {
                    b.add(splat(b, base), ramp(base.ty(), 0, stride))
                }
            }
        }
    }
}

/// An undefined value for each lane.
pub(super) fn anything(ty: Type) -> Value {
    lanes_of(ty).poison()
}

/// Interleaves vectors of one type: element 0 of each, then element 1 of each, …
pub(super) fn interleave<'m>(b: &Builder<'m>, vectors: &[Value<'m>]) -> Value<'m> {
    let [only] = vectors else {
        let joined = concatenate(b, vectors);
        let count = vectors.len();
        let pattern: Vec<i32> = (0..LANES * count).map(|i| ((i % count) * LANES + i / count) as i32).collect();
        return b.shuffle(joined, joined.ty().poison(), &pattern);
    };
    *only
}

/// The vectors one after the other.
fn concatenate<'m>(b: &Builder<'m>, vectors: &[Value<'m>]) -> Value<'m> {
    let mut joined = vectors[0];
    for (index, &next) in vectors.iter().enumerate().skip(1) {
        let have = index * LANES;
        // Both sides of a shuffle have one type: the next vector is stretched to the length of the joined one.
        let stretch: Vec<i32> = (0..have).map(|i| if i < LANES { i as i32 } else { -1 }).collect();
        let next = b.shuffle(next, next.ty().poison(), &stretch);
        let pattern: Vec<i32> = (0..have + LANES).map(|i| i as i32).collect();
        joined = b.shuffle(joined, next, &pattern);
    }
    joined
}

/// Every `step`th element from `start` on, one for each lane.
pub(super) fn every<'m>(b: &Builder<'m>, wide: Value<'m>, start: usize, step: usize) -> Value<'m> {
    let pattern: Vec<i32> = (0..LANES).map(|lane| (start + lane * step) as i32).collect();
    b.shuffle(wide, wide.ty().poison(), &pattern)
}
