//! Format of each tensor of a file, by llama.cpp's rules: more bits for tensors that are sensitive to rounding.

use super::file_type::FileType;
use crate::formats::Format;
use crate::weights::{TensorInfo, TensorType};

/// Properties of the model that the rules ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelFacts {
    pub(super) architecture: String,
    pub(super) layers: u64,
    pub(super) heads: u64,
    pub(super) kv_heads: u64,
    pub(super) experts: u64,
}

impl ModelFacts {
    /// Query heads for each key head; 0 if unknown.
    fn grouping(&self) -> u64 {
        self.heads.checked_div(self.kv_heads).unwrap_or(0)
    }

    /// True for the models of 80 layers that llama.cpp calls 70B.
    fn is_70b(&self) -> bool {
        let is_llama = self.architecture == "llama" && self.heads != self.kv_heads;
        self.layers == 80 && (is_llama || self.architecture == "qwen2")
    }
}

/// Role of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Output,
    Embedding,
    Value,
    FusedQkv,
    Key,
    AttentionOutput,
    Down,
    Other,
}

impl Role {
    fn of(name: &str) -> Role {
        match name {
            "output.weight" => Role::Output,
            "token_embd.weight" | "per_layer_token_embd.weight" => Role::Embedding,
            _ if name.contains("attn_qkv.weight") => Role::FusedQkv,
            _ if name.contains("attn_kv_b.weight") || name.contains("attn_v.weight") => Role::Value,
            _ if name.contains("attn_k.weight") => Role::Key,
            _ if name.contains("attn_output.weight") => Role::AttentionOutput,
            // A gate or a projection up comes first: a name with both is not a projection down.
            _ if name.contains("ffn_up") || name.contains("ffn_gate") => Role::Other,
            _ if name.contains("ffn_down") => Role::Down,
            _ => Role::Other,
        }
    }

    fn is_value(self) -> bool {
        matches!(self, Role::Value | Role::FusedQkv)
    }
}

/// Parts of names of matrices that stay as they are: small, or sensitive.
const KEPT: [&str; 37] = [
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_tid2eid.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "attn_rel_b.weight",
    "position_embd.weight",
    "token_types.weight",
    ".position_embd",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
    "a.rvq.codebook",
    "mm.a.code_embd",
];

/// True if the type of a tensor may change: it is a matrix of weights.
fn may_change(tensor: &TensorInfo) -> bool {
    let rank = tensor.dimensions.iter().rposition(|&size| size > 1).map_or(1, |last| last + 1);
    rank >= 2 && tensor.name.ends_with("weight") && !KEPT.iter().any(|part| tensor.name.contains(part))
}

/// Layer of a tensor, such as 7 of `blk.7.attn_q.weight`.
fn layer(name: &str) -> Option<u64> {
    name.strip_prefix("blk.")?.split_once('.')?.0.parse().ok()
}

/// The first and the last eighth of the layers, and every third between them.
fn has_more_bits(layer: u64, layers: u64) -> bool {
    let (first, last) = (layers / 8, 7 * layers / 8);
    layer < first || layer >= last || (layer - first) % 3 == 2
}

/// Types of all tensors, in their order.
pub(super) fn types(file_type: FileType, facts: &ModelFacts, tensors: &[TensorInfo]) -> Vec<TensorType> {
    // Rules count the matrices of a role in the order of layers, and of names within a layer.
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    order
        .sort_by_key(|&index| (layer(&tensors[index].name).map_or(-1, |layer| layer as i64), &tensors[index].name));
    let roles: Vec<Role> = tensors.iter().map(|tensor| Role::of(&tensor.name)).collect();
    let mut rules = Rules {
        file_type,
        facts,
        tied: !roles.contains(&Role::Output),
        values: roles.iter().filter(|role| role.is_value()).count() as u64,
        values_seen: 0,
        downs_seen: 0,
    };
    let mut types: Vec<TensorType> = tensors.iter().map(|tensor| tensor.kind).collect();
    for index in order {
        let tensor = &tensors[index];
        if may_change(tensor) {
            let format = match file_type.most().is_plain() {
                true => file_type.most(),
                false => fitting(rules.format(tensor, roles[index]), tensor.columns()),
            };
            types[index] = format.tensor_type();
        }
    }
    types
}

/// The format, or the one that llama.cpp takes if rows are not whole blocks of it.
pub(crate) fn fitting(format: Format, columns: u64) -> Format {
    let fits = |format: Format| columns.is_multiple_of(format.block_len() as u64);
    let other = match format {
        _ if fits(format) => format,
        Format::Q2_K | Format::Q3_K => Format::Q4_0,
        Format::Q4_K => Format::Q5_0,
        Format::Q5_K => Format::Q5_1,
        Format::Q6_K => Format::Q8_0,
        Format::IQ4_XS => Format::IQ4_NL,
        _ => Format::F16,
    };
    if fits(other) { other } else { Format::F16 }
}

struct Rules<'a> {
    file_type: FileType,
    facts: &'a ModelFacts,
    /// The embedding is also the output matrix.
    tied: bool,
    /// Matrices of values: in the model, and so far.
    values: u64,
    values_seen: u64,
    /// Projections down so far.
    downs_seen: u64,
}

impl Rules<'_> {
    fn format(&mut self, tensor: &TensorInfo, role: Role) -> Format {
        use FileType as T;
        let most = self.file_type.most();
        let has_eight_experts = self.facts.experts == 8;
        match role {
            Role::Output | Role::Embedding if role == Role::Output || self.tied => match self.file_type {
                T::MXFP4 | T::Q8_0 => Format::Q8_0,
                _ if !tensor.columns().is_multiple_of(most.block_len() as u64) => Format::Q8_0,
                _ if self.facts.architecture == "falcon" => Format::Q8_0,
                _ => Format::Q6_K,
            },
            _ if self.file_type == T::MXFP4 => {
                let is_experts = tensor.dimensions.get(2).is_some_and(|&experts| experts > 1);
                if is_experts { Format::MXFP4 } else { Format::Q8_0 }
            }
            Role::Value | Role::FusedQkv => self.value(),
            Role::Key if has_eight_experts => Format::Q8_0,
            Role::Down => self.down(&tensor.name),
            Role::AttentionOutput if self.facts.architecture == "falcon" => match self.file_type {
                T::Q3_K_L => Format::Q4_K,
                _ => most,
            },
            Role::AttentionOutput if has_eight_experts => match self.file_type {
                T::Q2_K | T::Q3_K_S | T::Q3_K_M | T::Q4_K_S | T::Q4_K_M | T::IQ4_NL | T::IQ4_XS => Format::Q5_K,
                _ => most,
            },
            Role::AttentionOutput => match self.file_type {
                T::Q2_K => Format::Q3_K,
                T::Q3_K_M => Format::Q4_K,
                T::Q3_K_L => Format::Q5_K,
                _ => most,
            },
            Role::Output | Role::Embedding | Role::Key | Role::Other => most,
        }
    }

    fn value(&mut self) -> Format {
        use FileType as T;
        let (most, seen, is_grouped) = (self.file_type.most(), self.values_seen, self.facts.grouping() >= 4);
        self.values_seen += 1;
        let format = match self.file_type {
            T::Q2_K if is_grouped => Format::Q4_K,
            T::Q2_K => Format::Q3_K,
            T::Q3_K_M if seen < 2 => Format::Q5_K,
            T::Q3_K_M => Format::Q4_K,
            T::Q3_K_L => Format::Q5_K,
            T::IQ4_NL | T::IQ4_XS if is_grouped => Format::Q5_K,
            T::Q4_K_M | T::Q5_K_M if has_more_bits(seen, self.values) => Format::Q6_K,
            T::Q4_K_S if seen < 4 => Format::Q5_K,
            _ => most,
        };
        match format {
            _ if self.facts.experts == 8 => Format::Q8_0,
            Format::Q3_K | Format::Q4_K if self.facts.is_70b() => Format::Q5_K,
            _ => format,
        }
    }

    fn down(&mut self, name: &str) -> Format {
        use FileType as T;
        let (most, layers) = (self.file_type.most(), self.facts.layers);
        let is_falcon = self.facts.architecture == "falcon";
        // Experts that are separate tensors are several of a layer.
        let own = if self.facts.experts > 1 { layer(name) } else { None };
        let layer = own.unwrap_or(self.downs_seen);
        self.downs_seen += 1;
        match self.file_type {
            T::Q2_K => Format::Q3_K,
            T::Q3_K_M if layer < layers / 16 => Format::Q5_K,
            T::Q3_K_M if !is_falcon || has_more_bits(layer, layers) => Format::Q4_K,
            T::Q3_K_L if is_falcon => Format::Q4_K,
            T::Q3_K_L => Format::Q5_K,
            T::Q4_K_M if is_falcon && layer < layers / 16 => Format::Q6_K,
            T::Q4_K_M if is_falcon && has_more_bits(layer, layers) => Format::Q5_K,
            T::Q4_K_M if !is_falcon && has_more_bits(layer, layers) => Format::Q6_K,
            T::IQ4_NL | T::IQ4_XS if layer < layers / 8 => Format::Q5_K,
            T::Q5_K_M if has_more_bits(layer, layers) => Format::Q6_K,
            T::Q4_K_S if !is_falcon && layer < layers / 8 => Format::Q5_K,
            _ => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(name: &str, dimensions: &[u64]) -> TensorInfo {
        TensorInfo { name: name.into(), dimensions: dimensions.into(), kind: TensorType::F32, file: 0, range: 0..0 }
    }

    #[test]
    fn norms_vectors_and_routers_stay() {
        for (name, dimensions) in [
            ("output_norm.weight", &[64, 64][..]),
            ("blk.0.ffn_gate_inp.weight", &[64, 8]),
            ("blk.0.attn_q.bias", &[64, 64]),
            ("blk.0.attn_sinks.weight", &[64]),
            ("rope_freqs.weight", &[32, 1]),
        ] {
            assert!(!may_change(&tensor(name, dimensions)), "{name}");
        }
        assert!(may_change(&tensor("blk.0.ffn_down_exps.weight", &[64, 64, 8])));
    }

    #[test]
    fn rows_that_are_no_whole_blocks_get_other_formats() {
        let pairs = [
            (Format::Q2_K, Format::Q4_0),
            (Format::Q4_K, Format::Q5_0),
            (Format::IQ4_XS, Format::IQ4_NL),
            (Format::Q6_K, Format::Q8_0),
        ];
        for (format, other) in pairs {
            assert_eq!(
                (fitting(format, 512), fitting(format, 576), fitting(format, 40)),
                (format, other, Format::F16)
            );
        }
        assert_eq!((fitting(Format::Q8_0, 64), fitting(Format::Q8_0, 65)), (Format::Q8_0, Format::F16));
    }

    #[test]
    fn layers_count_in_order_whatever_the_order_of_the_file() {
        let facts = ModelFacts { architecture: "llama".into(), layers: 12, heads: 8, kv_heads: 8, experts: 0 };
        let names: Vec<String> = (0..12).rev().map(|layer| format!("blk.{layer}.attn_v.weight")).collect();
        let tensors: Vec<TensorInfo> = names.iter().map(|name| tensor(name, &[256, 256])).collect();
        let types = types(FileType::Q4_K_S, &facts, &tensors);
        assert_eq!(types[8..], [TensorType::Q5_K; 4], "the first four layers are the last of the file");
        assert_eq!(types[..8], [TensorType::Q4_K; 8]);
    }

    #[test]
    fn experts_alone_are_mxfp4() {
        let facts = ModelFacts { architecture: "gpt-oss".into(), layers: 1, heads: 8, kv_heads: 8, experts: 32 };
        let tensors = [
            tensor("token_embd.weight", &[64, 100]),
            tensor("blk.0.attn_q.weight", &[64, 64]),
            tensor("blk.0.ffn_up_exps.weight", &[64, 64, 32]),
        ];
        let expected = [TensorType::Q8_0, TensorType::Q8_0, TensorType::MXFP4];
        assert_eq!(types(FileType::MXFP4, &facts, &tensors), expected);
    }
}
