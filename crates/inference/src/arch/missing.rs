//! Architectures that are not supported, and the part of them that is missing.

/// Parts, and the architectures that need them: names of GGUF, and values of `model_type` in folders.
const PARTS: &[(&str, &[&str])] = &[
    (
        "norms with biases",
        &[
            "stablelm",
            "nemotron",
            "starcoder2",
            "starcoder",
            "falcon",
            "gpt2",
            "gptneox",
            "gpt_neox",
            "bloom",
            "mpt",
            "phi2",
            "phi",
            "orion",
            "codeshell",
            "jais",
        ],
    ),
    ("feed-forward networks without a gate", &["arcee"]),
    (
        "norms of queries and keys after RoPE",
        &["hunyuan-dense", "hunyuan-moe", "hunyuan_v1_dense", "hunyuan_v1_moe"],
    ),
    (
        "layers with latent attention (MLA)",
        &["deepseek2", "deepseek_v2", "deepseek_v3", "minicpm3", "plm", "kimi-linear", "glm4_moe_lite"],
    ),
    (
        "experts that all tokens use without a gate",
        &[
            "deepseek",
            "dots1",
            "glm4moe",
            "glm4_moe",
            "ernie4_5-moe",
            "ernie4_5_moe",
            "bailingmoe",
            "bailingmoe2",
            "granitemoeshared",
            "exaone-moe",
            "exaone_moe",
        ],
    ),
    ("short convolutions with gates", &["lfm2", "lfm2moe", "lfm2_moe"]),
    (
        "state-space layers",
        &[
            "mamba",
            "mamba2",
            "jamba",
            "falcon-h1",
            "falcon_h1",
            "granitehybrid",
            "granitemoehybrid",
            "nemotron_h",
            "plamo2",
        ],
    ),
    ("RWKV layers", &["rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"]),
    ("layers with attention in chunks", &["llama4", "llama4_text"]),
    ("embeddings of each layer", &["gemma3n", "gemma3n_text", "gemma4", "gemma4_text"]),
    ("layers with attention to later tokens", &["bert", "nomic-bert", "modern-bert", "t5", "t5encoder"]),
];

/// The part that is missing for an architecture; `None` if nothing is known about it.
pub(crate) fn missing_part(name: &str) -> Option<&'static str> {
    PARTS.iter().find(|(_, names)| names.contains(&name)).map(|(part, _)| *part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::ARCHITECTURES;

    #[test]
    fn supported_architectures_lack_nothing() {
        assert!(ARCHITECTURES.iter().all(|architecture| missing_part(architecture.name).is_none()));
    }
}
