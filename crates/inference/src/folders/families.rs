//! Families of models: how the names of `config.json` and of tensors are called in GGUF files.

/// A family of models with the same names.
#[derive(Debug)]
pub(super) struct Family {
    /// Values of `model_type`.
    pub(super) model_types: &'static [&'static str],
    /// Architecture in GGUF files.
    pub(super) architecture: &'static str,
    /// GGUF files have the rows of query and key heads interleaved, so that RoPE pairs neighbours; folders have halves.
    pub(super) interleaved: bool,
    /// Keys, with the architecture as prefix, beyond [`KEYS`].
    pub(super) keys: &'static [KeyRule],
    /// Tensors of a layer beyond [`TENSORS`], which they override.
    pub(super) tensors: &'static [TensorRule],
    /// Constant that files leave out of the weights of norms.
    pub(super) norm_offset: f32,
}

/// A key of GGUF and its source in `config.json`.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyRule {
    pub(super) key: &'static str,
    /// The first of these keys that is there.
    pub(super) from: &'static [&'static str],
    pub(super) kind: KeyKind,
    pub(super) required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeyKind {
    Count,
    Number,
}

/// A tensor of a layer by its names in folders and GGUF files: without `.weight` and `.bias` if it has these. `*` is the
/// number of an expert.
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorRule {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
}

const fn count(key: &'static str, from: &'static [&'static str]) -> KeyRule {
    KeyRule { key, from, kind: KeyKind::Count, required: true }
}

const fn number(key: &'static str, from: &'static [&'static str]) -> KeyRule {
    KeyRule { key, from, kind: KeyKind::Number, required: true }
}

const fn optional(rule: KeyRule) -> KeyRule {
    KeyRule { required: false, ..rule }
}

const fn tensor(from: &'static str, to: &'static str) -> TensorRule {
    TensorRule { from, to }
}

/// Keys of all families.
pub(super) const KEYS: &[KeyRule] = &[
    count("block_count", &["num_hidden_layers"]),
    count("embedding_length", &["hidden_size"]),
    count("feed_forward_length", &["intermediate_size"]),
    count("attention.head_count", &["num_attention_heads"]),
    optional(count("attention.head_count_kv", &["num_key_value_heads"])),
    optional(count("attention.key_length", &["head_dim"])),
    optional(count("attention.value_length", &["head_dim"])),
    count("context_length", &["max_position_embeddings"]),
    number("attention.layer_norm_rms_epsilon", &["rms_norm_eps"]),
];

/// Tensors outside of layers.
pub(super) const WHOLE: &[TensorRule] =
    &[tensor("embed_tokens", "token_embd"), tensor("norm", "output_norm"), tensor("lm_head", "output")];

/// Tensors of a layer in most families.
pub(super) const TENSORS: &[TensorRule] = &[
    tensor("input_layernorm", "attn_norm"),
    tensor("self_attn.q_proj", "attn_q"),
    tensor("self_attn.k_proj", "attn_k"),
    tensor("self_attn.v_proj", "attn_v"),
    tensor("self_attn.o_proj", "attn_output"),
    tensor("self_attn.q_norm", "attn_q_norm"),
    tensor("self_attn.k_norm", "attn_k_norm"),
    tensor("post_attention_layernorm", "ffn_norm"),
    tensor("mlp.gate_proj", "ffn_gate"),
    tensor("mlp.up_proj", "ffn_up"),
    tensor("mlp.down_proj", "ffn_down"),
];

const LLAMA: Family = Family {
    model_types: &["llama", "mistral"],
    architecture: "llama",
    interleaved: true,
    keys: &[],
    tensors: &[],
    norm_offset: 0.0,
};

/// All families.
pub(super) const FAMILIES: &[Family] = &[
    LLAMA,
    Family { model_types: &["qwen2"], architecture: "qwen2", interleaved: false, ..LLAMA },
    Family { model_types: &["qwen3"], architecture: "qwen3", interleaved: false, ..LLAMA },
];

impl Family {
    /// The family of a `model_type`.
    pub(super) fn find(model_type: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.model_types.contains(&model_type))
    }

    /// All keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static KeyRule> + use<> {
        let own = self.keys;
        let common = KEYS.iter().filter(move |rule| !own.iter().any(|other| other.key == rule.key));
        common.chain(own)
    }

    /// Name in GGUF files of a layer's tensor, without the layer; the expert if it is one of several.
    pub(super) fn layer_tensor(&self, name: &str) -> Option<(&'static str, Option<usize>)> {
        let mut rules = self.tensors.iter().chain(TENSORS);
        rules.find_map(|rule| Some((rule.to, matches(rule.from, name)?)))
    }
}

/// Name in GGUF files of a tensor outside of layers.
pub(super) fn whole_tensor(name: &str) -> Option<&'static str> {
    WHOLE.iter().find(|rule| rule.from == name).map(|rule| rule.to)
}

/// Compares a name with a pattern. Returns the number in the place of `*`, if there is one.
fn matches(pattern: &str, name: &str) -> Option<Option<usize>> {
    let Some((before, after)) = pattern.split_once('*') else { return (pattern == name).then_some(None) };
    let number = name.strip_prefix(before)?.strip_suffix(after)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok().map(Some)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_numbers_only() {
        assert_eq!(matches("a.*.b", "a.12.b"), Some(Some(12)));
        assert_eq!(matches("a.b", "a.b"), Some(None));
        for name in ["a..b", "a.x.b", "a.1.c", "a.1.2.b", "a.99999999999999999999999.b"] {
            assert_eq!(matches("a.*.b", name), None, "{name}");
        }
    }

    #[test]
    fn model_types_are_unique() {
        let mut types: Vec<&str> = FAMILIES.iter().flat_map(|family| family.model_types).copied().collect();
        let count = types.len();
        types.sort_unstable();
        types.dedup();
        assert_eq!(types.len(), count);
    }
}
