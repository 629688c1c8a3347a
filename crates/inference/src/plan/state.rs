//! Memory of a plan: activations, KV cache, tokens of the sequence. All of it is allocated when the plan is loaded.
//!
//! The host reads logits, reads and writes the tokens of the sequence, and writes the RoPE frequencies: these buffers
//! are shared. All others are private to the device.
//!
//! **Invariant:** results do not depend on the initial contents of private buffers. Every step writes its activations
//! before it reads them. Attention reads values at written positions only; it reads keys in whole tiles of 32
//! positions, and masks the scores past the end. So buffers are not cleared, and pages of the cache stay untouched
//! until there are tokens for them. A test starts with NaNs.

use super::recurrent::Recurrent;
use crate::arch::{AttentionLayer, FeedForwardShape, Hyperparameters, LayerShape, Mixer, RopeKind};
use crate::error::{Error, Result};
use crate::formats::{Activation, CacheType};
use crate::metal::Tuning;
use crate::metal::library::BufferSlice;
use crate::metal::operations::LmHeadArgmax;
use crate::metal::operations::{AttentionSplit, decode_groups};
use crate::metal::operations::{CacheRows, KEY_TILE, KvCache, PACKED_NUMBERS, packed_bytes};
use compute::{Buffer, Device, StorageMode};

/// Most recent tokens that penalties apply to.
pub(super) const MAX_RECENT: usize = 256;

pub(super) struct State {
    /// Residual stream: `[chunk, width]`.
    pub(super) h: Buffer,
    /// Normalized residual stream: `[chunk, width]`. The next five also have `chunk` rows.
    pub(super) x: Buffer,
    pub(super) q: Buffer,
    pub(super) k: Buffer,
    pub(super) v: Buffer,
    /// Queries with gates between them; `None` if no layer has them.
    pub(super) gated_q: Option<Buffer>,
    /// Output of attention.
    pub(super) attended: Buffer,
    /// Hidden layer of the feed-forward network.
    pub(super) gate: Buffer,
    /// Output of the up projection: `[chunk, feed_forward]`. `None` if it is always fused with the gate.
    pub(super) up: Option<Buffer>,
    /// Packed inputs of products, `None` if none are packed: of the width of the residual stream or of attention, and of
    /// the hidden layer. A fused gate reads one and writes the other.
    pub(super) packed: Option<[Buffer; 2]>,
    /// Residual stream, packed for the products after a norm, and its sums of squares; `None` if norms are not fused.
    pub(super) normed: Option<[Buffer; 2]>,
    /// Memory of mixtures of experts; `None` if no layer has one.
    pub(super) experts: Option<ExpertState>,
    /// Scratch memory of split decode attention; `None` if it is not split in any layer.
    pub(super) parts: Option<Buffer>,
    /// `[width]`: row of the last token.
    pub(super) row: Buffer,
    /// `[vocabulary]`
    pub(super) logits: Buffer,
    /// Scratch memory of the fused argmax.
    pub(super) argmax: Buffer,
    /// `[vocabulary]`: largest logits, and their tokens.
    pub(super) top_values: Buffer,
    pub(super) top_tokens: Buffer,
    /// `[1]`: sampled token.
    pub(super) sampled: Buffer,
    /// Recent tokens for penalties.
    pub(super) recent: Buffer,
    /// `[chunk]`: tokens of the chunk, and their positions.
    pub(super) tokens: Buffer,
    pub(super) positions: Buffer,
    /// `[sequences, stride]`: tokens of each sequence. The entries after its end are valid tokens too: they pad chunks.
    pub(super) history: Buffer,
    /// Buffers of steps with several sequences; `None` if there is one sequence.
    pub(super) each: Option<EachBuffers>,
    /// Number of sequences.
    pub(super) sequences: usize,
    pub(super) cache_type: CacheType,
    /// RoPE frequencies.
    frequencies: Frequencies,
    /// Memory of each layer for the positions before the chunk.
    layers: Vec<LayerState>,
    /// Memory of recurrent layers; `None` if there are none.
    pub(super) recurrent: Option<Recurrent>,
    /// Number of positions: the context, rounded up to whole key tiles.
    pub(super) capacity: usize,
}

/// Buffers of steps with one token of each of several sequences.
pub(super) struct EachBuffers {
    /// `[sequences]`: sequence of each row, which the host writes.
    pub(super) sequences: Buffer,
    /// `[sequences]`: position of each row, which the host writes, and every step advances.
    pub(super) positions: Buffer,
    /// `[sequences]`: sampled tokens.
    pub(super) sampled: Buffer,
    /// `[sequences, vocabulary]`
    pub(super) logits: Buffer,
}

/// Memory of mixtures of experts. A pair is a token with one of its experts.
pub(super) struct ExpertState {
    /// `[chunk, experts]`
    pub(super) logits: Buffer,
    /// `[pairs]`: weights and experts.
    pub(super) weights: Buffer,
    pub(super) experts: Buffer,
    /// Tables of the products with inputs, and with hidden layers.
    pub(super) tiles: [Buffer; 2],
    /// `[pairs]`: tokens of sorted pairs, and places of pairs.
    pub(super) tokens: Buffer,
    pub(super) rows: Buffer,
    /// `[pairs, width]`: inputs, sorted; numbers or packed.
    pub(super) input: Buffer,
    /// `[pairs, hidden]`
    pub(super) gate: Buffer,
    pub(super) up: Buffer,
    /// Packed hidden layers; `None` if none are packed.
    pub(super) packed_hidden: Option<Buffer>,
    /// `[pairs, width]`
    pub(super) output: Buffer,
    /// `[chunk]` and `[chunk, width]`: factors and results of the expert that all tokens use; `None` if there is none.
    pub(super) shared: Option<[Buffer; 2]>,
}

impl ExpertState {
    #[cfg(test)]
    fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let ExpertState { logits, weights, experts, tiles, tokens, rows, input, gate, up, output, .. } = self;
        let some = [logits, weights, experts, tokens, rows, input, gate, up, output];
        some.into_iter().chain(tiles).chain(&self.packed_hidden).chain(self.shared.iter().flatten())
    }
}

/// `[rotary / 2]` of each rotation: angles per position.
struct Frequencies {
    global: Buffer,
    local: Buffer,
    /// Zeros, for layers without RoPE.
    none: Buffer,
}

/// Memory of a layer's mixer.
enum LayerState {
    Cache(CacheBuffers),
    /// In [`State::recurrent`].
    Recurrent,
}

/// KV cache of a layer.
struct CacheBuffers {
    keys: Buffer,
    values: Buffer,
    heads: usize,
    head_dim: usize,
    /// Number of positions of a sequence.
    capacity: usize,
    ty: CacheType,
    /// Positions that a token sees. The cache is a ring then, with room for little more.
    ring: Option<usize>,
}

/// Sizes and types of the buffers.
pub(super) struct Sizes {
    /// Largest chunk in tokens.
    pub(super) chunk: usize,
    /// Context length in positions.
    pub(super) context: usize,
    /// Number of sequences.
    pub(super) sequences: usize,
    pub(super) activation: Activation,
    pub(super) cache_type: CacheType,
    /// Products may take packed inputs.
    pub(super) packed: bool,
    /// Some chunk size computes gate and up projection in separate dispatches.
    pub(super) split_gate: bool,
    pub(super) tuning: Tuning,
}

impl State {
    pub(super) fn new(
        device: &Device,
        model: &Hyperparameters,
        rope_factors: Option<&[f32]>,
        sizes: &Sizes,
    ) -> Result<State> {
        let allocate = |label: &str, counts: &[usize], size: usize, storage: StorageMode| -> Result<Buffer> {
            let bytes = counts.iter().try_fold(size, |bytes, &count| bytes.checked_mul(count));
            let bytes = bytes.ok_or_else(|| Error::Model(format!("the size of the buffer '{label}' overflows")))?;
            let buffer =
                device.new_buffer_with_storage_mode(bytes.max(1), storage).map_err(|error| match error {
                    compute::Error::OutOfMemory { what, bytes } => Error::Device(compute::Error::OutOfMemory {
                        what: format!("{what} ('{label}', for a context of {} tokens)", sizes.context),
                        bytes,
                    }),
                    other => Error::Device(other),
                })?;
            buffer.set_label(label);
            Ok(buffer)
        };
        let shared =
            |label: &str, counts: &[usize], size: usize| allocate(label, counts, size, StorageMode::Shared);
        let buffer =
            |label: &str, counts: &[usize], size: usize| allocate(label, counts, size, StorageMode::Private);
        let rows = sizes.chunk.max(sizes.sequences);
        let activations = |label: &str, width: usize| buffer(label, &[rows, width], sizes.activation.size());
        let capacity = sizes.context.next_multiple_of(KEY_TILE);
        let cache = |layer: &AttentionLayer| -> Result<CacheBuffers> {
            let AttentionLayer { kv_heads: heads, head_dim, .. } = *layer;
            let Some([key, value]) = sizes.cache_type.bytes(head_dim) else {
                let ty = sizes.cache_type;
                let problem = format!("a KV cache in {ty} has blocks of 32 numbers, but the heads have {head_dim}");
                return Err(Error::Usage(problem));
            };
            let (capacity, ring) = cache_capacity(layer, sizes.chunk, capacity);
            let counts = [sizes.sequences, heads, capacity];
            let (keys, values) = (buffer("keys", &counts, key)?, buffer("values", &counts, value)?);
            let ty = sizes.cache_type;
            Ok(CacheBuffers { keys, values, heads, head_dim, capacity, ty, ring })
        };
        let layer = |layer: &LayerShape| match &layer.mixer {
            Mixer::Attention(attention) => cache(attention).map(LayerState::Cache),
            Mixer::DeltaNet(_) => Ok(LayerState::Recurrent),
        };
        let frequencies = |numbers: &[f32]| -> Result<Buffer> {
            let buffer = shared("frequencies", &[numbers.len()], 4)?;
            buffer.write(0, numbers)?;
            Ok(buffer)
        };
        let local_factors = rope_factors.filter(|_| model.local_rope.is_none());
        let frequencies = Frequencies {
            global: frequencies(&model.rope.frequencies(rope_factors))?,
            local: frequencies(&model.rope(RopeKind::Local).frequencies(local_factors))?,
            none: frequencies(&vec![0.0; model.rope.rotary / 2])?,
        };
        let scratch = |layer: &AttentionLayer| {
            let (capacity, _) = cache_capacity(layer, sizes.chunk, capacity);
            let of_rows = |rows: usize| match split_count(&sizes.tuning, layer, capacity, rows) {
                Some(count) => AttentionSplit::scratch_bytes(layer.heads, layer.head_dim, count) * rows,
                None => 0,
            };
            (1..=sizes.sequences).map(of_rows).max().unwrap_or(0)
        };
        let parts = match model.attention_layers().map(scratch).max() {
            None | Some(0) => None,
            Some(bytes) => Some(buffer("parts", &[bytes], 1)?),
        };
        let widest = |width: fn(&AttentionLayer) -> usize| model.attention_layers().map(width).max().unwrap_or(0);
        let (q_width, kv_width) = (widest(AttentionLayer::q_width), widest(AttentionLayer::kv_width));
        let hidden = model.widest_hidden_layer();
        let gated = model.attention_layers().filter(|layer| layer.gated).map(AttentionLayer::query_rows).max();
        let recurrent =
            Recurrent::new(model, sizes.sequences, activations, |label, bytes| buffer(label, &[bytes], 1))?;
        let mixer_width = recurrent.as_ref().map_or(q_width, |recurrent| q_width.max(recurrent.width));
        // Inputs of products by simdgroup matrices are rounded to half instead.
        let rounds = sizes.tuning.gemm.is_some();
        let packed = |label: &str, width: usize| match packed_bytes(rows, width) {
            Some(bytes) if rounds => buffer(label, &[bytes.max(rows * width * 2)], 1),
            Some(bytes) => buffer(label, &[bytes], 1),
            None => Err(Error::Model(format!("the size of the buffer '{label}' overflows"))),
        };
        let experts = match Experts::of(model) {
            None => None,
            Some(Experts { count, used, hidden, shared }) => {
                let pairs = rows * used;
                let numbers = |label: &str, width: usize| buffer(label, &[pairs, width], sizes.activation.size());
                let integers = |label: &str| buffer(label, &[pairs], 4);
                let tiles = ExpertState::most_tiles(pairs, count);
                let table = |label: &str| buffer(label, &[tiles], ExpertState::TILE_BYTES);
                let of_pairs = |width: usize| packed_bytes(pairs, width).unwrap_or(usize::MAX);
                let input =
                    (model.width * sizes.activation.size()).max(of_pairs(model.width).div_ceil(pairs.max(1)));
                Some(ExpertState {
                    logits: activations("router", count)?,
                    weights: integers("expert_weights")?,
                    experts: integers("experts")?,
                    tiles: [table("token_tiles")?, table("pair_tiles")?],
                    tokens: integers("sorted_tokens")?,
                    rows: integers("sorted_rows")?,
                    input: buffer("sorted_input", &[pairs, input], 1)?,
                    gate: numbers("expert_gate", hidden)?,
                    up: numbers("expert_up", hidden)?,
                    packed_hidden: match sizes.packed {
                        true => Some(buffer("packed_experts", &[of_pairs(hidden)], 1)?),
                        false => None,
                    },
                    output: numbers("expert_output", model.width)?,
                    shared: match shared {
                        true => {
                            Some([activations("shared_factor", 1)?, activations("shared_output", model.width)?])
                        }
                        false => None,
                    },
                })
            }
        };
        Ok(State {
            experts,
            h: activations("h", model.width)?,
            x: activations("x", model.width)?,
            q: activations("q", q_width)?,
            k: activations("k", kv_width)?,
            v: activations("v", kv_width)?,
            gated_q: gated.map(|width| activations("gated_q", width)).transpose()?,
            attended: activations("attended", q_width)?,
            gate: activations("gate", hidden)?,
            up: if sizes.split_gate { Some(activations("up", hidden)?) } else { None },
            packed: match sizes.packed {
                true => Some([packed("packed", model.width.max(mixer_width))?, packed("packed_gate", hidden)?]),
                false => None,
            },
            normed: match sizes.packed && sizes.tuning.fuses_norms && model.width.is_multiple_of(PACKED_NUMBERS) {
                true => Some([
                    packed("normed", model.width)?,
                    buffer("squares", &[rows, model.width / PACKED_NUMBERS], 4)?,
                ]),
                false => None,
            },
            parts,
            row: buffer("row", &[model.width], sizes.activation.size())?,
            logits: shared("logits", &[model.vocabulary], 4)?,
            argmax: buffer("argmax", &[LmHeadArgmax::scratch_bytes(model.vocabulary, sizes.sequences)], 1)?,
            top_values: buffer("top_values", &[model.vocabulary], 4)?,
            top_tokens: buffer("top_tokens", &[model.vocabulary], 4)?,
            sampled: buffer("sampled", &[1], 4)?,
            recent: buffer("recent", &[MAX_RECENT], 4)?,
            tokens: buffer("tokens", &[rows], 4)?,
            positions: buffer("positions", &[rows], 4)?,
            history: shared("history", &[sizes.sequences, capacity + 1], 4)?,
            each: match sizes.sequences {
                0 | 1 => None,
                count => Some(EachBuffers {
                    sequences: shared("row_sequences", &[count], 4)?,
                    positions: shared("row_positions", &[count], 4)?,
                    sampled: buffer("row_sampled", &[count], 4)?,
                    logits: shared("row_logits", &[count, model.vocabulary], 4)?,
                }),
            },
            sequences: sizes.sequences,
            cache_type: sizes.cache_type,
            frequencies,
            layers: model.layers.iter().map(layer).collect::<Result<_>>()?,
            recurrent,
            capacity,
        })
    }

    /// Tokens from one sequence to the next in the history.
    pub(super) fn stride(&self) -> usize {
        self.capacity + 1
    }

    /// Buffers of steps with several sequences.
    pub(super) fn each(&self) -> Result<&EachBuffers> {
        self.each.as_ref().ok_or_else(|| {
            Error::Usage("the plan has one sequence: several need PlanOptions::sequences when it is loaded".into())
        })
    }

    /// Sequences of the rows of a step: those of several, or of the one that replays patch.
    pub(super) fn cache_rows(&self, each: bool, count: usize) -> Result<CacheRows<'_>> {
        if !each {
            return Ok(CacheRows::Sequence(0));
        }
        let buffers = self.each()?;
        let (positions, sequences) =
            (first(&buffers.positions, &[count], 4), first(&buffers.sequences, &[count], 4));
        Ok(CacheRows::Each { count, positions, sequences })
    }

    /// True if a sequence can continue after its first `len` tokens, after `written` positions were stored, the padding
    /// of chunks included: if no layer has overwritten what the next token sees.
    pub(super) fn keeps(&self, len: usize, written: usize) -> bool {
        self.layers.iter().all(|layer| layer.keeps(len, written))
    }

    /// KV cache of a layer with attention.
    pub(super) fn cache<'a>(&'a self, layer: usize, rows: CacheRows<'a>) -> Result<KvCache<'a>> {
        match &self.layers[layer] {
            LayerState::Recurrent => {
                Err(Error::Device(compute::Error::Internal(format!("layer {layer} has no KV cache"))))
            }
            LayerState::Cache(cache) => Ok(KvCache {
                keys: (&cache.keys).into(),
                values: (&cache.values).into(),
                heads: cache.heads,
                head_dim: cache.head_dim,
                capacity: cache.capacity,
                ty: cache.ty,
                sequences: self.sequences,
                rows,
                is_ring: cache.ring.is_some(),
            }),
        }
    }

    /// RoPE frequencies of a rotation. Without one, positions turn by nothing.
    pub(super) fn frequencies(&self, kind: Option<RopeKind>) -> &Buffer {
        match kind {
            Some(RopeKind::Global) => &self.frequencies.global,
            Some(RopeKind::Local) => &self.frequencies.local,
            None => &self.frequencies.none,
        }
    }

    /// Private buffers: the host cannot read or write them.
    #[cfg(test)]
    pub(super) fn private_buffers(&self) -> impl Iterator<Item = &Buffer> {
        let State { h, x, q, k, v, attended, gate, up, packed, normed, experts, parts, row, argmax, .. } = self;
        let State { top_values, top_tokens, sampled, recent, tokens, positions, layers, .. } = self;
        let recurrent = self.recurrent.iter().flat_map(Recurrent::buffers).chain(&self.gated_q);
        let some = [
            h, x, q, k, v, attended, gate, row, argmax, top_values, top_tokens, sampled, recent, tokens, positions,
        ];
        let packed = packed.iter().chain(normed).flatten();
        let layers = layers.iter().flat_map(LayerState::buffers);
        let each = self.each.iter().map(|each| &each.sampled);
        let experts = experts.iter().flat_map(ExpertState::buffers);
        some.into_iter()
            .chain(up)
            .chain(packed)
            .chain(parts)
            .chain(layers)
            .chain(recurrent)
            .chain(each)
            .chain(experts)
    }

    /// Size of the KV cache and of the recurrent states in bytes.
    pub(super) fn cache_bytes(&self) -> usize {
        let recurrent = self.recurrent.as_ref().map_or(0, Recurrent::state_bytes);
        self.layers.iter().flat_map(LayerState::buffers).map(Buffer::len).sum::<usize>() + recurrent
    }
}

/// The largest numbers of all mixtures of experts of a model.
struct Experts {
    count: usize,
    used: usize,
    hidden: usize,
    /// One has an expert that all tokens use.
    shared: bool,
}

impl Experts {
    fn of(model: &Hyperparameters) -> Option<Experts> {
        let mixtures = model.layers.iter().filter_map(|layer| match &layer.feed_forward {
            FeedForwardShape::Experts(experts) => Some(experts),
            FeedForwardShape::Dense { .. } => None,
        });
        mixtures.fold(None, |most: Option<Experts>, shape| {
            let most = most.unwrap_or(Experts { count: 0, used: 0, hidden: 0, shared: false });
            Some(Experts {
                count: most.count.max(shape.router.experts),
                used: most.used.max(shape.router.used),
                hidden: most.hidden.max(shape.width),
                shared: most.shared || shape.shared.is_some(),
            })
        })
    }
}

impl LayerState {
    /// [`State::keeps`] for this layer.
    fn keeps(&self, len: usize, written: usize) -> bool {
        match self {
            // Positions before `written - capacity` are gone.
            LayerState::Cache(CacheBuffers { ring: Some(window), capacity, .. }) => {
                (len + 1).saturating_sub(*window) >= written.saturating_sub(*capacity)
            }
            LayerState::Cache(CacheBuffers { ring: None, .. }) | LayerState::Recurrent => true,
        }
    }

    fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        match self {
            LayerState::Cache(CacheBuffers { keys, values, .. }) => Some([keys, values]).into_iter().flatten(),
            LayerState::Recurrent => None.into_iter().flatten(),
        }
    }
}

/// Positions that the cache of a layer has room for, and its window if it is a ring: room for a window and the largest
/// chunk, if that is less than the whole context.
fn cache_capacity(layer: &AttentionLayer, chunk: usize, context: usize) -> (usize, Option<usize>) {
    let ring = layer.window.map(|window| window.saturating_add(chunk).next_multiple_of(KEY_TILE));
    match ring.filter(|&ring| ring < context) {
        Some(ring) => (ring, layer.window),
        None => (context, None),
    }
}

/// Number of parts that decode attention of a layer is split into, with as many rows; `None` if it is not split.
pub(super) fn split_count(tuning: &Tuning, layer: &AttentionLayer, capacity: usize, rows: usize) -> Option<usize> {
    let groups = decode_groups(layer.heads, layer.kv_heads, layer.head_dim).saturating_mul(rows);
    Some(tuning.attention_parts(groups, capacity)).filter(|&count| count > 1)
}

/// First `counts` elements of `size` bytes each of a buffer.
pub(super) fn first<'a>(buffer: &'a Buffer, counts: &[usize], size: usize) -> BufferSlice<'a> {
    BufferSlice::new(buffer, 0, counts.iter().product::<usize>() * size)
}
