//! Everything that a device decides: how work is divided, how prompts are taken, where weights are. This is the only place that asks
//! what kind of device there is; operations and plans ask a [`Tuning`].
//!
//! ```text
//! compute::Device ── kind, capabilities ── Tuning ──┬─ MetalDevice::tuning
//!                                                   ├─ Encoding: simdgroups for rows, heads, products, parts of attention
//!                                                   └─ plan: chunks, layout of weights, encoders; steps at a time
//! ```
//!
//! **A CPU** runs one simdgroup on a thread at a time: as few as possible are best, because a simdgroup alone has no
//! barriers, and whatever is loaded is used for as many vectors as there are. All its numbers are measured; they are at the
//! operations that they are for.
//!
//! **An Apple GPU** hides the latency of memory behind many simdgroups, and has units for simdgroup matrices. Its numbers are
//! *not measured*: they are what the shapes of the kernels ask for, beside what engines do that are made for these GPUs. Of
//! those, two to eight simdgroups share a few rows of a product; products of more than eight vectors go through simdgroup
//! matrices, 32 vectors at a time; norms have a simdgroup for each 128 numbers or so; decoding divides a cache into
//! parts whatever its length, which a second kernel joins; prompts are taken 512 tokens at a time. How many cores a GPU has,
//! 8 to 80, Metal does not say, so that the numbers are for the middle.
//!
//! Any tuning runs on any device: tests run those for GPUs on a CPU, with the same results but for rounding.

use super::dispatch::SIMD_WIDTH;
use super::layout::{Layout, TILE_ROWS};
use super::operations::KEY_TILE;
use super::operations::{GemvVariant, STAGED};
use crate::formats::Format;
use compute::{Device, DeviceKind, DispatchType};

/// Everything that a device decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Simdgroups that keep the device busy. What can be divided is, until there are so many.
    pub simdgroups: usize,
    /// Products of few vectors.
    pub gemv: GemvTuning,
    /// Products of many vectors by simdgroup matrices, where these are faster.
    pub gemm: Option<GemmTuning>,
    /// Norms, softmax and sampling.
    pub rows: RowTuning,
    /// Tokens of a prompt that are computed at once, unless a plan is told otherwise.
    pub chunk: usize,
    /// Tokens that are chosen before the host looks at them, unless a request says otherwise: what is chosen behind the end of a
    /// text is in vain, and text comes in such pieces; but while the host looks, a GPU is idle.
    pub steps: usize,
    /// These are a few command buffers, each of several steps, which are encoded while those before them run. Otherwise they are
    /// one.
    pub overlaps: bool,
    /// How the dispatches of a plan are ordered. Concurrent ones wait for what they need, serial ones for all before them.
    pub dispatch: DispatchType,
    /// Matrices are laid out in tiles, where kernels take them.
    pub tiles: bool,
    /// Tensors that kernels take as they are in a file stay there: it is mapped, and not copied.
    pub maps_weights: bool,
    /// Weights are copied into private buffers by way of two staging buffers of so many bytes, where the device has memory of its
    /// own. Otherwise they are laid out where they stay.
    pub staging: Option<usize>,
}

/// How the kernels of `include/gemv.metal` divide their work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GemvTuning {
    /// Columns that a simdgroup takes at a time, at most.
    pub chunk: usize,
    /// Simdgroups of a threadgroup at least, where there are columns for them.
    pub least_split: usize,
    /// Simdgroups of a threadgroup at most.
    pub most_split: usize,
}

/// When and how `gemm.metal` is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GemmTuning {
    /// From so many vectors on.
    pub from: usize,
    /// Simdgroups of a threadgroup.
    pub simdgroups: usize,
}

/// How many simdgroups share a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowTuning {
    /// Numbers for each of them; 0 for `most` simdgroups, however long a row is.
    pub numbers: usize,
    /// 1 to 32.
    pub most: usize,
}

impl RowTuning {
    /// As many simdgroups for every row.
    pub const fn exactly(simdgroups: usize) -> RowTuning {
        RowTuning { numbers: 0, most: simdgroups }
    }
}

impl Tuning {
    /// The tuning that suits a device.
    pub fn of(device: &Device) -> Tuning {
        match device.kind() {
            DeviceKind::Cpu => Tuning::CPU,
            DeviceKind::Metal | DeviceKind::Other(_) => {
                let capabilities = device.capabilities();
                let tuning = Tuning::apple(capabilities.apple_family.unwrap_or(OLDEST_FAMILY));
                Tuning {
                    gemm: tuning.gemm.filter(|_| capabilities.simdgroup_matrix),
                    maps_weights: capabilities.unified_memory,
                    staging: (!capabilities.unified_memory).then_some(STAGING),
                    ..tuning
                }
            }
        }
    }

    /// For a CPU, as measured.
    pub const CPU: Tuning = Tuning {
        simdgroups: 1,
        gemv: GemvTuning { chunk: 128, least_split: 1, most_split: 1 },
        gemm: None,
        rows: RowTuning::exactly(1),
        chunk: 512,
        steps: 2,
        // Encoding takes a core from the kernels.
        overlaps: false,
        dispatch: DispatchType::Concurrent,
        tiles: true,
        maps_weights: true,
        staging: None,
    };

    /// For an Apple GPU of a family: 7 is that of the M1, 8 that of the M2, 9 that of the M3 and the M4, and later ones are
    /// taken for 9. Not measured.
    pub const fn apple(family: u32) -> Tuning {
        // From family 9 on, registers and threadgroup memory are given to simdgroups as they use them, and not when they start:
        // twice as many are there at a time.
        let simdgroups = if family >= 9 { 1024 } else { 512 };
        Tuning {
            simdgroups,
            // A threadgroup has 4.25 KiB of a core's threadgroup memory, so that with four simdgroups each there are enough to
            // hide the latency of memory. More are for matrices that have few rows; chunks are short, so that there is one
            // for each simdgroup in narrow matrices.
            gemv: GemvTuning { chunk: 64, least_split: 4, most_split: 16 },
            // Batches of eight vectors read a matrix once, as simdgroup matrices do, and are not rounded up to 32.
            gemm: Some(GemmTuning { from: 9, simdgroups: 4 }),
            // Four numbers for each thread.
            rows: RowTuning { numbers: 4 * SIMD_WIDTH, most: 32 },
            chunk: 512,
            steps: 4,
            // Hundreds of dispatches are encoded for a token, at about a microsecond each.
            overlaps: true,
            dispatch: DispatchType::Concurrent,
            tiles: true,
            maps_weights: true,
            staging: None,
        }
    }

    /// How vectors are multiplied with a matrix of `rows` × `columns`.
    ///
    /// Weights are read once for each batch; the larger it is, the more arithmetic there is for each of them. 4096 × 4096,
    /// one thread of a CPU, GFLOP/s for batches of 1, 2, 4 and 8: Q4_0 49, 63, 72, 86; F16 38, 45, 66, 78; the peak is 117.
    /// Batches are powers of two, so that there are four pipelines for a matrix, not eight.
    pub fn gemv(&self, vectors: usize, rows: usize, columns: usize) -> GemvVariant {
        let GemvTuning { chunk, least_split, most_split } = self.gemv;
        let batch = vectors.clamp(1, 8).next_power_of_two();
        let threadgroups = vectors.div_ceil(batch).max(1).saturating_mul(rows.div_ceil(TILE_ROWS).max(1));
        let split = (self.simdgroups / threadgroups).next_power_of_two().max(least_split).min(most_split);
        // Many vectors leave room for short chunks alone.
        let chunk = chunk.min(STAGED / batch / least_split.max(1)).max(32);
        GemvVariant { batch, split: split.min(STAGED / batch / chunk).min(columns.div_ceil(chunk)).max(1), chunk }
    }

    /// Simdgroups of a threadgroup, if so many vectors are multiplied by simdgroup matrices.
    pub fn gemm(&self, vectors: usize) -> Option<usize> {
        self.gemm.filter(|gemm| vectors >= gemm.from).map(|gemm| gemm.simdgroups)
    }

    /// Simdgroups that share a row of `numbers` numbers in norms, softmax and sampling.
    ///
    /// On a CPU, rms_norm of 4,096 numbers takes 0.9 µs with one, 3.4 with 4, 5.8 with 8.
    pub fn row_simdgroups(&self, numbers: usize) -> usize {
        let RowTuning { numbers: each, most } = self.rows;
        numbers.checked_div(each).map_or(most, |simdgroups| simdgroups.min(most).max(1))
    }

    /// Groups of heads that rotations take apart. Sines and cosines are computed for each group.
    pub fn head_splits(&self, tokens: usize, heads: usize) -> usize {
        (self.simdgroups / tokens.max(1)).clamp(1, heads.max(1))
    }

    /// Parts that the positions of a cache are divided into for one token, whose heads are `groups` groups. They are as many
    /// wherever a token is, because the dispatches of a plan are the same: parts without positions end at once. Joining them
    /// takes time for each, so that there are 32 at most.
    pub fn attention_parts(&self, groups: usize, capacity: usize) -> usize {
        (self.simdgroups / groups.max(1)).clamp(1, capacity.div_ceil(KEY_TILE).clamp(1, MOST_PARTS))
    }

    /// The layout for products with such a matrix.
    pub fn layout(&self, format: Format, columns: usize) -> Layout {
        if self.tiles { Layout::preferred(format, columns) } else { Layout::Blocks }
    }
}

/// Parts of a cache at most.
const MOST_PARTS: usize = 32;

/// Bytes of a staging buffer: enough that a copy takes far longer than to begin it.
const STAGING: usize = 8 << 20;

/// A GPU of an unknown family is taken for one of this.
const OLDEST_FAMILY: u32 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    fn split(tuning: &Tuning, vectors: usize, rows: usize, columns: usize) -> (usize, usize, usize) {
        let GemvVariant { batch, split, chunk } = tuning.gemv(vectors, rows, columns);
        (batch, split, chunk)
    }

    #[test]
    fn a_cpu_divides_nothing() {
        let cpu = Tuning::of(&Device::cpu().expect("there is a processor"));
        assert_eq!(cpu, Tuning::CPU);
        for (vectors, batch) in [(0, 1), (1, 1), (2, 2), (3, 4), (5, 8), (8, 8), (512, 8)] {
            assert_eq!(split(&cpu, vectors, 4096, 4096), (batch, 1, 128), "{vectors} vectors");
            assert_eq!(cpu.gemm(vectors), None);
        }
        assert_eq!(cpu.row_simdgroups(4096), 1);
        assert_eq!(cpu.head_splits(1, 32), 1);
        assert_eq!(cpu.attention_parts(8, 4096), 1);
        assert_eq!(cpu.layout(Format::Q4_0, 64), Layout::Tiles);
        assert_eq!(cpu.layout(Format::F32, 33), Layout::Blocks);
    }

    #[test]
    fn a_gpu_is_kept_busy() {
        let apple = Tuning::apple(7);
        assert_eq!(split(&apple, 1, 4096, 4096), (1, 4, 64), "128 tiles");
        assert_eq!(split(&apple, 1, 1024, 4096), (1, 16, 64), "32 tiles");
        assert_eq!(split(&apple, 1, 128_256, 4096), (1, 4, 64), "threadgroups are not smaller");
        assert_eq!(split(&apple, 1, 576, 576), (1, 9, 64), "there is nothing for more");
        assert_eq!(split(&apple, 8, 576, 576), (8, 4, 32));
        assert_eq!(split(&apple, 1, 1, 32), (1, 1, 64));
        assert_eq!((apple.gemm(8), apple.gemm(9), apple.gemm(512)), (None, Some(4), Some(4)));
        assert_eq!([1, 576, 4096, 50_000].map(|n| apple.row_simdgroups(n)), [1, 4, 32, 32]);
        assert_eq!([1, 8, 512, 2048].map(|tokens| apple.head_splits(tokens, 32)), [32, 32, 1, 1]);
        assert_eq!(apple.attention_parts(8, 4096), 32);
        assert_eq!(apple.attention_parts(8, 40), 2, "not more than there are tiles");
        assert_eq!(apple.attention_parts(512, 4096), 1, "heads are enough");
        assert_eq!(split(&Tuning::apple(9), 1, 4096, 4096), (1, 8, 64));
    }

    #[test]
    fn nonsense_is_an_error_of_the_operation_and_no_panic() {
        let nonsense = Tuning {
            simdgroups: 0,
            gemv: GemvTuning { chunk: 0, least_split: 0, most_split: 0 },
            gemm: Some(GemmTuning { from: 0, simdgroups: 0 }),
            rows: RowTuning { numbers: 0, most: 0 },
            ..Tuning::CPU
        };
        assert_eq!(split(&nonsense, usize::MAX, usize::MAX, 0), (8, 1, 32));
        assert_eq!(nonsense.row_simdgroups(1), 0);
        assert_eq!((nonsense.head_splits(0, 0), nonsense.attention_parts(0, 0)), (1, 1));
    }
}
