//! Parameters that depend on the device: division of work, chunks of prompts, location of weights. Operations and plans
//! do not look at the kind of the device: they ask a [`Tuning`].
//!
//! ```text
//! compute::Device ── kind, capabilities ── Tuning ──┬─ MetalDevice::tuning
//!                                                   ├─ Encoding: simdgroups for rows, heads, products, attention
//!                                                   └─ plan: chunks, layout of weights, encoders, steps at a time
//! ```
//!
//! **A CPU** runs one simdgroup at a time on a thread. As few simdgroups as possible are best: a threadgroup of one
//! simdgroup has no barriers, and a loaded weight is used for as many vectors as there are. All its parameters are
//! measured; the measurements are documented at the operations.
//!
//! **An Apple GPU** hides the latency of memory behind many simdgroups, and has units for simdgroup matrices. Its
//! parameters are *not measured*: they follow from the shapes of the kernels and from engines written for these GPUs.
//! In those, two to eight simdgroups share a few rows of a product; products of more than eight vectors go through
//! simdgroup matrices, 64 vectors at a time; norms have a simdgroup for about 128 numbers; decoding splits a cache of
//! any length into parts, which a second kernel joins; prefill takes 512 tokens at a time. Metal does not report the
//! number of cores, 8 to 80, so the parameters suit a GPU of medium size.
//!
//! **An NVIDIA GPU** reports its number of multiprocessors, and has its own memory: weights are copied there through
//! staging buffers. Replays are graphs, which cost the host little, so several tokens are in flight.
//!
//! Any tuning runs on any device: tests run those of GPUs on a CPU, with the same results except for rounding.

use super::dispatch::SIMD_WIDTH;
use super::layout::{Layout, TILE_ROWS};
use super::operations::KEY_TILE;
use super::operations::{AttentionSplit, GemmTile, GemvVariant, MAX_BATCH, MAX_SPLIT, PACKED_NUMBERS, STAGED};
use crate::formats::{CacheType, Format};
use compute::{CompileTarget, Device, DeviceKind, DispatchType};

/// Parameters that depend on the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Simdgroups that keep the device busy: work is split until there are that many.
    pub simdgroups: usize,
    /// Products with few vectors.
    pub gemv: GemvTuning,
    /// Products multiply bytes: activations are packed for them, unless a plan is told otherwise.
    pub packs: bool,
    /// Products with few packed vectors also compute the norms between them, which saves dispatches.
    pub fuses_norms: bool,
    /// Products with many vectors by simdgroup matrices, where these are faster.
    pub gemm: Option<GemmTuning>,
    /// Norms, softmax and sampling.
    pub rows: RowTuning,
    /// Attention of one token.
    pub attention: AttentionTuning,
    /// Tokens of a prompt per prefill step, unless the caller chooses another number.
    pub chunk: usize,
    /// Tokens that are sampled before the host reads them, unless a request says otherwise. Tokens after the end of a
    /// text are wasted, and text arrives in pieces of this size; but a GPU is idle while the host reads.
    pub steps: usize,
    /// Splits the steps over several command buffers, so that one is encoded while the previous one runs. Otherwise
    /// they are one command buffer.
    pub overlaps: bool,
    /// Order of a plan's dispatches. Concurrent ones wait for the dispatches whose results they read, serial ones for
    /// all before them.
    pub dispatch: DispatchType,
    /// Lays out matrices in tiles, where kernels read them.
    pub tiles: bool,
    /// Maps files: tensors that kernels read in the layout of a file are not copied.
    pub maps_weights: bool,
    /// Size in bytes of each of two staging buffers, by which weights are copied into private buffers, for devices with
    /// memory of their own. Without it, weights are laid out in place.
    pub staging: Option<usize>,
}

/// Division of work in the kernels of `include/gemv.metal`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GemvTuning {
    /// Maximum number of columns that a simdgroup takes at a time.
    pub chunk: usize,
    /// Maximum number of packed vectors that a threadgroup takes at a time, a power of two.
    pub packed_batch: usize,
    /// Weights of 16 bits are multiplied with many vectors in pairs of bfloat, if a product may round.
    pub pairs: bool,
    /// Minimum number of simdgroups per threadgroup, if there are columns for them.
    pub least_split: usize,
    /// Maximum number of simdgroups per threadgroup.
    pub most_split: usize,
    /// The same for vectors that are staged, if there are so few threadgroups that a core has one: between barriers, a
    /// simdgroup has few loads in flight.
    pub most_staged_split: usize,
}

/// Use of `gemm.metal`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GemmTuning {
    /// Minimum number of vectors.
    pub from: usize,
    /// Minimum number of large tiles in a product that is computed by them.
    pub large: usize,
    /// Maximum number of steps that a thread loads ahead: 1, 2 or 4. They take registers, which limit the threadgroups that a
    /// core runs at a time.
    pub ahead: usize,
    /// The same in products of at most `large` tiles, which have no second threadgroup for a core.
    pub few_ahead: usize,
    /// All simdgroups of a threadgroup multiply with the same rows, for GPUs whose matrix units take them from threadgroup
    /// memory.
    pub wide: bool,
}

/// Number of simdgroups that share a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowTuning {
    /// Numbers per simdgroup; 0 for `most` simdgroups, however long a row is.
    pub numbers: usize,
    /// Maximum number of simdgroups: 1 to 32.
    pub most: usize,
}

/// Division of the positions of a cache between simdgroups, in decode attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttentionTuning {
    /// Simdgroups that keep the device busy.
    pub simdgroups: usize,
    /// Positions up to which nothing is divided: there, joining the parts costs more than is gained.
    pub whole: usize,
    /// Simdgroups that share a part of the positions, with loads of 16 bytes per lane. Otherwise a part has one
    /// simdgroup, with loads of one number per lane.
    pub wide: Option<usize>,
    /// Keys or values that a lane loads before it uses one, at most 16.
    pub together: usize,
}

/// The architecture whose matrix units take operands from threadgroup memory by `wgmma`.
const WITH_WARPGROUPS: &str = "sm_90a";

fn with_warpgroups(gemm: Option<GemmTuning>, architecture: &str) -> Option<GemmTuning> {
    // H200, 512 vectors of half, F16 from memory, 4,096 columns and 4,096 and 14,336 rows, TFLOP/s: 309 and 288 two steps
    // ahead, 296 and 272 four; 207 and 191 by simdgroups.
    gemm.map(|gemm| match architecture == WITH_WARPGROUPS {
        true => GemmTuning { wide: true, ahead: 2, ..gemm },
        false => gemm,
    })
}

impl RowTuning {
    /// The same number of simdgroups for every row.
    pub const fn exactly(simdgroups: usize) -> RowTuning {
        RowTuning { numbers: 0, most: simdgroups }
    }
}

impl Tuning {
    /// The tuning for a device.
    pub fn of(device: &Device) -> Tuning {
        match device.kind() {
            DeviceKind::Cpu => {
                let tuning = Tuning::cpu(device.threads().unwrap_or(1));
                Tuning { gemv: GemvTuning { pairs: device.prefers_bfloats(), ..tuning.gemv }, ..tuning }
            }
            DeviceKind::Cuda => {
                let capabilities = device.capabilities();
                let tuning = Tuning::nvidia(capabilities.compute_units.unwrap_or(FEWEST_MULTIPROCESSORS));
                let gemm = tuning.gemm.filter(|_| capabilities.simdgroup_matrix);
                Tuning { gemm: with_warpgroups(gemm, &capabilities.family), ..tuning }
            }
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

    /// The tuning for the devices that run code for a target.
    pub fn of_target(target: &CompileTarget) -> Tuning {
        match target.kind() {
            DeviceKind::Cuda => {
                let tuning = Tuning::nvidia(TYPICAL_MULTIPROCESSORS);
                Tuning { gemm: with_warpgroups(tuning.gemm, target.machine().unwrap_or_default()), ..tuning }
            }
            DeviceKind::Cpu | DeviceKind::Metal | DeviceKind::Other(_) => Tuning::cpu(TYPICAL_THREADS),
        }
    }

    /// For a CPU with this number of threads.
    ///
    /// Only attention depends on it, because the heads of a model are fewer than the threads of a large CPU; other
    /// operations have enough threadgroups. Several parts per thread, so that all threads end at about the same time.
    /// 16 threads of a Xeon, 8 groups of heads, from memory: at 4,096 and 32,768 positions 175 and 185 GB/s in 16 parts,
    /// 76 and 69 undivided; at 1,024 as fast; at 512 half as fast in 16 parts, which have one tile of positions each.
    pub const fn cpu(threads: usize) -> Tuning {
        let simdgroups = if threads > 1 { PARTS_PER_THREAD * threads } else { 1 };
        Tuning { attention: AttentionTuning { simdgroups, ..Tuning::CPU.attention }, ..Tuning::CPU }
    }

    /// For a CPU with one thread, measured.
    pub const CPU: Tuning = Tuning {
        simdgroups: 1,
        // Prompts of Llama 1B with 16 threads of a Xeon, tokens per second for batches of 8 and 16: Q4_K_M 1,026 and
        // 1,349, Q8_0 1,198 and 1,413 by AMX, whose tiles have 16 rows; 1,057 and 1,182, 1,323 and 1,353 without.
        gemv: GemvTuning {
            chunk: 128,
            packed_batch: MAX_BATCH,
            pairs: false,
            least_split: 1,
            most_split: 1,
            most_staged_split: 1,
        },
        packs: true,
        fuses_norms: false,
        gemm: None,
        rows: RowTuning::exactly(1),
        attention: AttentionTuning { simdgroups: 1, whole: 768, wide: None, together: 1 },
        chunk: 512,
        steps: 2,
        // Encoding takes a core away from the kernels.
        overlaps: false,
        dispatch: DispatchType::Concurrent,
        tiles: true,
        maps_weights: true,
        staging: None,
    };

    /// For an Apple GPU of a family: 7 is the M1, 8 the M2, 9 the M3 and M4; later families are treated as 9. Not
    /// measured.
    pub const fn apple(family: u32) -> Tuning {
        // From family 9 on, simdgroups get registers and threadgroup memory as they use them, not when they start:
        // twice as many are resident at a time.
        let simdgroups = if family >= 9 { 1024 } else { 512 };
        Tuning {
            simdgroups,
            // A threadgroup takes 4.25 KiB of a core's threadgroup memory; with four simdgroups each, enough are
            // resident to hide the latency of memory. Matrices with few rows get more simdgroups. Chunks are short, so
            // that narrow matrices have one for each simdgroup.
            gemv: GemvTuning {
                chunk: 64,
                packed_batch: 8,
                pairs: false,
                least_split: 4,
                most_split: 16,
                most_staged_split: 16,
            },
            packs: false,
            fuses_norms: false,
            // A batch of eight vectors reads a matrix once, as simdgroup matrices do, and is not rounded up to 32.
            gemm: Some(GemmTuning { from: 9, large: usize::MAX, ahead: 1, few_ahead: 1, wide: false }),
            // Four numbers per thread.
            rows: RowTuning { numbers: 4 * SIMD_WIDTH, most: 32 },
            attention: AttentionTuning { simdgroups, whole: 0, wide: Some(4), together: 8 },
            chunk: 512,
            steps: 4,
            // A token takes hundreds of dispatches, at about a microsecond each to encode.
            overlaps: true,
            dispatch: DispatchType::Concurrent,
            tiles: true,
            maps_weights: true,
            staging: None,
        }
    }

    /// For an NVIDIA GPU with this number of multiprocessors, which is rounded: GPUs of about the same size then need
    /// the same pipelines, and one archive serves them all.
    pub const fn nvidia(multiprocessors: usize) -> Tuning {
        Tuning {
            // A multiprocessor holds 64 simdgroups; a quarter of them hides the latency of memory.
            simdgroups: nearest_power_of_two(multiprocessors) * 16,
            // H200, a Q4_0 matrix of 4,096 columns and 4,096, 14,336 and 128,256 rows, GB/s: split 4 and chunks of 256
            // columns 325, 1,093, 2,138; split 8 and chunks of 32 592, 1,617, 2,364; split 16 911, 1,620, 2,231.
            gemv: GemvTuning {
                chunk: 32,
                packed_batch: 8,
                pairs: false,
                least_split: 8,
                most_split: 16,
                most_staged_split: 32,
            },
            packs: true,
            // A dispatch of a norm takes 2 µs, in which nothing else runs.
            fuses_norms: true,
            // H200, 512 vectors of half, Q4_0 from memory, 4,096 columns and 4,096 and 14,336 rows, TFLOP/s: 171 and 153 one step
            // ahead, 200 and 179 two, 216 and 193 four.
            gemm: Some(GemmTuning {
                from: 9,
                large: nearest_power_of_two(multiprocessors),
                ahead: 4,
                few_ahead: 4,
                wide: false,
            }),
            rows: RowTuning { numbers: 4 * SIMD_WIDTH, most: 32 },
            attention: AttentionTuning {
                simdgroups: nearest_power_of_two(multiprocessors) * 16,
                whole: 0,
                wide: Some(4),
                together: 16,
            },
            chunk: 512,
            // A token takes a few milliseconds, and the host some ten microseconds to wait for it.
            steps: 8,
            overlaps: true,
            dispatch: DispatchType::Concurrent,
            tiles: true,
            maps_weights: false,
            staging: Some(STAGING),
        }
    }

    /// The variant for products of vectors with a matrix of `rows` × `columns`.
    ///
    /// Weights are read once per batch: the larger the batch, the more arithmetic per weight. 4096 × 4096, one thread
    /// of a CPU, GFLOP/s for batches of 1, 2, 4 and 8: Q4_0 49, 63, 72, 86; F16 38, 45, 66, 78; the peak is 117.
    /// Batches are powers of two, so that a matrix has four pipelines, not eight.
    pub fn gemv(&self, vectors: usize, rows: usize, columns: usize) -> GemvVariant {
        let GemvTuning { chunk, least_split, most_split, most_staged_split, .. } = self.gemv;
        let batch = vectors.clamp(1, 8).next_power_of_two();
        let threadgroups = vectors.div_ceil(batch).max(1).saturating_mul(rows.div_ceil(TILE_ROWS).max(1));
        let split = self.split(threadgroups);
        let are_few = split == most_split && threadgroups.saturating_mul(split) <= self.simdgroups;
        let split = if are_few { most_staged_split } else { split };
        // A large batch leaves threadgroup memory for short chunks only.
        let chunk = chunk.min(STAGED / batch / least_split.max(1)).max(32);
        let split = split.min(STAGED / batch / chunk).min(columns.div_ceil(chunk)).max(1);
        GemvVariant { batch, split, chunk, pairs: false }
    }

    /// Simdgroups for each of so many threadgroups of a product.
    fn split(&self, threadgroups: usize) -> usize {
        let GemvTuning { least_split, most_split, .. } = self.gemv;
        (self.simdgroups / threadgroups).next_power_of_two().max(least_split).min(most_split)
    }

    /// The variant for products in pairs of bfloat. 64 vectors with a matrix of 4096 × 2048 in F16, one thread of a CPU of
    /// Zen 4: 12.1 ms in batches of 16, 21.6 in batches of 8, where weights are rounded twice as often; 21.2 by products of
    /// float.
    pub fn gemv_pairs(&self, vectors: usize) -> GemvVariant {
        let batch = vectors.clamp(1, MAX_BATCH).next_power_of_two();
        GemvVariant { batch, split: 1, chunk: (STAGED / batch).min(128), pairs: true }
    }

    /// [`Tuning::gemv`] for packed vectors, which are not staged: a simdgroup that is alone takes all columns at once.
    pub fn gemv_packed(&self, vectors: usize, rows: usize, columns: usize) -> GemvVariant {
        let batch = vectors.clamp(1, self.gemv.packed_batch.clamp(1, MAX_BATCH)).next_power_of_two().min(MAX_BATCH);
        let pieces = columns.div_ceil(PACKED_NUMBERS).max(1);
        let threadgroups = vectors.div_ceil(batch).max(1).saturating_mul(rows.div_ceil(TILE_ROWS).max(1));
        let split = self.split(threadgroups);
        // Twice as many simdgroups for wide matrices, whose pieces would be loaded one batch after the other.
        let is_wide =
            split > 1 && pieces / split > PIECES_IN_FLIGHT && threadgroups.saturating_mul(split) <= self.simdgroups;
        let split = if is_wide { (2 * split).min(MAX_SPLIT) } else { split };
        let split = split.min(STAGED / batch / TILE_ROWS).max(1);
        // As many simdgroups as have the same number of pieces.
        let split = pieces.div_ceil(pieces.div_ceil(split));
        let chunk = if split == 1 { columns } else { self.gemv.chunk };
        let chunk = chunk.clamp(1, i32::MAX as usize - WIDEST).next_multiple_of(WIDEST);
        GemvVariant { batch, split, chunk, pairs: false }
    }

    /// The variant for products with vectors, packed or not.
    pub fn product(&self, packed: bool, vectors: usize, rows: usize, columns: usize) -> GemvVariant {
        match packed {
            true => self.gemv_packed(vectors, rows, columns),
            false => self.gemv(vectors, rows, columns),
        }
    }

    /// True if `gemm` is used for this number of vectors.
    pub fn uses_gemm(&self, vectors: usize) -> bool {
        self.gemm.is_some_and(|gemm| vectors >= gemm.from)
    }

    /// The tile of `gemm` for a matrix with this number of rows, if it is used for this number of vectors.
    pub fn gemm(&self, vectors: usize, rows: usize) -> Option<GemmTile> {
        let gemm = self.gemm.filter(|_| self.uses_gemm(vectors))?;
        let size = GemmTile::Large.size();
        let tiles = vectors.div_ceil(size).saturating_mul(rows.div_ceil(size));
        Some(if tiles >= gemm.large { GemmTile::Large } else { GemmTile::Medium })
    }

    /// Simdgroups that share a row of `numbers` numbers in norms, softmax and sampling.
    ///
    /// On a CPU, rms_norm of 4,096 numbers takes 0.9 µs with one, 3.4 with 4, 5.8 with 8.
    pub fn row_simdgroups(&self, numbers: usize) -> usize {
        let RowTuning { numbers: each, most } = self.rows;
        numbers.checked_div(each).map_or(most, |simdgroups| simdgroups.min(most).max(1))
    }

    /// Simdgroups that share the columns of a recurrent state with so many rows, if each has 32 rows in registers.
    pub fn state_simdgroups(&self, rows: usize) -> usize {
        if self.simdgroups <= 1 { 1 } else { rows.div_ceil(SIMD_WIDTH).max(1) }
    }

    /// Simdgroups that share the tokens of a convolution: on a GPU, where few heads would leave most of it idle.
    pub fn conv_simdgroups(&self, tokens: usize) -> usize {
        if self.simdgroups <= 1 { 1 } else { tokens.div_ceil(CONV_TOKENS).clamp(1, MOST_CONV_SIMDGROUPS) }
    }

    /// Number of groups into which rotations split the heads. Each group computes sines and cosines again.
    pub fn head_splits(&self, tokens: usize, heads: usize) -> usize {
        (self.simdgroups / tokens.max(1)).clamp(1, heads.max(1))
    }

    /// Tokens whose keys and values a threadgroup stores: on a CPU as many as have their keys in a cache line. Otherwise
    /// threads write to the same lines. 16 threads of a Xeon took 2.2 ms for 512 tokens of Llama 1B, one at a time.
    pub fn tokens_together(&self, tokens: usize) -> usize {
        if self.simdgroups <= 1 { KEY_TILE.min(tokens).max(1) } else { 1 }
    }

    /// Number of groups into which a rotation that stores keys splits the heads: with several tokens, until there are
    /// some for each thread of a CPU.
    pub fn cache_splits(&self, tokens: usize, heads: usize, kv_heads: usize) -> usize {
        let parts = tokens.div_ceil(self.tokens_together(tokens));
        match self.simdgroups <= 1 && tokens > 1 {
            true => (self.attention.simdgroups / parts).clamp(1, kv_heads.max(1)),
            false => self.head_splits(tokens, heads),
        }
    }

    /// Number of parts into which decoding splits the positions of a cache, for heads in `groups` groups. It does not
    /// depend on the token's position, because a plan replays the same dispatches: parts without positions end at once.
    /// Each part adds to the cost of joining them, so their number is limited. One part if no token divides them.
    pub fn attention_parts(&self, groups: usize, capacity: usize) -> usize {
        let AttentionTuning { simdgroups, whole, wide, .. } = self.attention;
        if capacity <= whole {
            return 1;
        }
        let most = if wide.is_some() { MOST_WIDE_PARTS } else { MOST_PARTS };
        let each = groups.max(1).saturating_mul(wide.unwrap_or(1).max(1));
        (simdgroups / each).clamp(1, capacity.div_ceil(KEY_TILE).clamp(1, most))
    }

    /// Simdgroups that share a part of a cache with heads of this size, if they load 16 bytes per lane.
    pub fn attention_wide(&self, head_dim: usize, ty: CacheType) -> Option<usize> {
        self.attention.wide.filter(|_| AttentionSplit::is_wide(head_dim, ty))
    }

    /// The layout for products with a matrix of this format and width.
    pub fn layout(&self, format: Format, columns: usize) -> Layout {
        if self.tiles { Layout::preferred(format, columns) } else { Layout::Blocks }
    }
}

/// Tokens of a convolution that a simdgroup of a GPU takes, and most simdgroups for a head.
const CONV_TOKENS: usize = 8;
const MOST_CONV_SIMDGROUPS: usize = 16;

/// Pieces of a packed product that a simdgroup of a GPU loads together.
const PIECES_IN_FLIGHT: usize = 8;

/// Columns of the longest block.
const WIDEST: usize = 256;

/// Threads that are assumed for a CPU that is not at hand. Only the choice of kernels depends on it: more than one.
const TYPICAL_THREADS: usize = 16;

/// Simdgroups per thread of a CPU in attention.
const PARTS_PER_THREAD: usize = 4;

/// Maximum number of parts of a cache.
const MOST_PARTS: usize = 32;
const MOST_WIDE_PARTS: usize = 32;

/// Bytes of a staging buffer: large enough that the copy takes far longer than its start.
const STAGING: usize = 8 << 20;

/// Multiprocessors that are assumed for an unknown NVIDIA GPU.
const FEWEST_MULTIPROCESSORS: usize = 32;

/// Multiprocessors that are assumed of GPUs that are compiled for: the A100 has 108, the H100 114 or 132, the H200 132,
/// the B200 148.
const TYPICAL_MULTIPROCESSORS: usize = 128;

const fn nearest_power_of_two(number: usize) -> usize {
    let above = number.next_power_of_two();
    if above - number <= number - above / 2 { above } else { above / 2 }
}

/// The family that is assumed for an unknown GPU.
const OLDEST_FAMILY: u32 = 7;

#[cfg(test)]
mod tests {
    use super::*;
    use compute::CpuOptions;

    fn split(tuning: &Tuning, vectors: usize, rows: usize, columns: usize) -> (usize, usize, usize) {
        let GemvVariant { batch, split, chunk, .. } = tuning.gemv(vectors, rows, columns);
        (batch, split, chunk)
    }

    /// The tuning of a CPU, whatever products it has an instruction for.
    fn without_pairs(cpu: Tuning) -> Tuning {
        Tuning { gemv: GemvTuning { pairs: false, ..cpu.gemv }, ..cpu }
    }

    #[test]
    fn a_cpu_divides_nothing() {
        let one = CpuOptions { threads: Some(1) };
        let cpu = Tuning::of(&Device::cpu_with_options(&one).expect("there is a CPU"));
        assert_eq!(without_pairs(cpu), Tuning::CPU);
        for (vectors, batch) in [(0, 1), (1, 1), (2, 2), (3, 4), (5, 8), (8, 8), (512, 8)] {
            assert_eq!(split(&cpu, vectors, 4096, 4096), (batch, 1, 128), "{vectors} vectors");
            assert_eq!(cpu.gemm(vectors, 4096), None);
        }
        assert_eq!(cpu.row_simdgroups(4096), 1);
        assert_eq!((cpu.head_splits(1, 32), cpu.cache_splits(512, 32, 8)), (1, 1));
        assert_eq!(cpu.attention_parts(8, 4096), 1);
        assert_eq!(cpu.layout(Format::Q4_0, 64), Layout::Tiles);
        assert_eq!(cpu.layout(Format::F32, 33), Layout::Blocks);
    }

    #[test]
    fn a_cpu_with_many_threads_divides_long_caches() {
        let many = CpuOptions { threads: Some(16) };
        let cpu = Tuning::of(&Device::cpu_with_options(&many).expect("there is a CPU"));
        let cpu = without_pairs(cpu);
        assert_eq!(cpu, Tuning::cpu(16));
        assert_eq!([3, 8, 32, 128].map(|groups| cpu.attention_parts(groups, 4096)), [21, 8, 2, 1]);
        assert_eq!(cpu.attention_parts(8, 512), 1, "a short cache");
        assert_eq!([1, 5, 512].map(|tokens| cpu.tokens_together(tokens)), [1, 5, 32]);
        assert_eq!([1, 5, 512, 4096].map(|tokens| cpu.cache_splits(tokens, 32, 8)), [1, 8, 4, 1]);
        assert_eq!(Tuning { attention: Tuning::CPU.attention, ..cpu }, Tuning::CPU, "nothing else");
    }

    #[test]
    fn packed_vectors_are_not_staged() {
        let variant = |tuning: &Tuning, vectors, rows, columns| {
            let GemvVariant { batch, split, chunk, .. } = tuning.product(true, vectors, rows, columns);
            (batch, split, chunk)
        };
        assert_eq!(variant(&Tuning::CPU, 1, 4096, 4096), (1, 1, 4096), "all columns at once");
        assert_eq!(variant(&Tuning::CPU, 3, 4096, 576), (4, 1, 768));
        assert_eq!(variant(&Tuning::CPU, 512, 4096, 576), (16, 1, 768));
        assert_eq!(Tuning::CPU.product(false, 5, 64, 64), Tuning::CPU.gemv(5, 64, 64));
        assert!(Tuning::CPU.packs && !Tuning::apple(9).packs);
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
        let medium = Some(GemmTile::Medium);
        assert_eq!([8, 9, 512].map(|vectors| apple.gemm(vectors, 14336)), [None, medium, medium]);
        assert_eq!([1, 576, 4096, 50_000].map(|n| apple.row_simdgroups(n)), [1, 4, 32, 32]);
        assert_eq!([1, 8, 512, 2048].map(|tokens| apple.head_splits(tokens, 32)), [32, 32, 1, 1]);
        assert_eq!(apple.tokens_together(512), 1);
        assert_eq!([1, 512].map(|tokens| apple.cache_splits(tokens, 32, 8)), [32, 1]);
        assert_eq!(apple.attention_parts(8, 4096), 16);
        assert_eq!(apple.attention_parts(8, 40), 2, "not more than there are tiles");
        assert_eq!(apple.attention_parts(512, 4096), 1, "heads are enough");
        assert_eq!(split(&Tuning::apple(9), 1, 4096, 4096), (1, 8, 64));
    }

    #[test]
    fn an_nvidia_gpu_is_kept_busy_by_its_size() {
        let (h200, small) = (Tuning::nvidia(132), Tuning::nvidia(16));
        assert_eq!(split(&h200, 1, 4096, 4096), (1, 32, 32), "128 tiles");
        assert_eq!(split(&h200, 1, 14_336, 4096), (1, 8, 32), "448 tiles");
        assert_eq!(split(&h200, 8, 4096, 4096), (8, 4, 32), "eight vectors fill the staged memory");
        assert_eq!(split(&small, 1, 4096, 4096), (1, 8, 32), "never less than measured");
        assert_eq!((h200.attention_parts(8, 4096), small.attention_parts(8, 4096)), (32, 8));
        let packed = |rows, columns| {
            let GemvVariant { batch, split, .. } = h200.gemv_packed(1, rows, columns);
            (batch, split)
        };
        assert_eq!(packed(4096, 4096), (1, 16), "eight pieces for each simdgroup");
        assert_eq!(packed(4096, 14_336), (1, 32), "14 pieces");
        assert_eq!(packed(14_336, 4096), (1, 8), "there are enough threadgroups");
        assert_eq!(packed(576, 576), (1, 9), "18 pieces, two for each");
        assert!(h200.staging.is_some() && !h200.maps_weights);
        assert_eq!([1, 16, 46, 48, 108, 132, 170].map(nearest_power_of_two), [1, 16, 32, 64, 128, 128, 128]);
        let target: CompileTarget = "sm_90a".parse().expect("it is known");
        assert_eq!(
            (Tuning::of_target(&target), Tuning::of_target(&CompileTarget::default())),
            (
                Tuning { gemm: h200.gemm.map(|gemm| GemmTuning { wide: true, ahead: 2, ..gemm }), ..h200 },
                Tuning::cpu(TYPICAL_THREADS)
            )
        );
        let older: CompileTarget = "sm_80".parse().expect("it is known");
        assert_eq!(Tuning::of_target(&older), h200, "it has no products of warpgroups");
    }

    #[test]
    fn invalid_tunings_do_not_panic() {
        let nonsense = Tuning {
            simdgroups: 0,
            gemv: GemvTuning {
                chunk: 0,
                packed_batch: 0,
                pairs: true,
                least_split: 0,
                most_split: 0,
                most_staged_split: 0,
            },
            gemm: Some(GemmTuning { from: 0, large: 0, ahead: 1, few_ahead: 1, wide: false }),
            rows: RowTuning { numbers: 0, most: 0 },
            attention: AttentionTuning { simdgroups: 0, whole: 0, wide: Some(0), together: 0 },
            ..Tuning::CPU
        };
        assert_eq!(split(&nonsense, usize::MAX, usize::MAX, 0), (8, 1, 32));
        assert_eq!(nonsense.gemv_packed(usize::MAX, usize::MAX, 0).chunk, 256);
        assert_eq!(nonsense.row_simdgroups(1), 0);
        assert_eq!((nonsense.head_splits(0, 0), nonsense.attention_parts(0, 0)), (1, 1));
    }
}
