//! Architectures that are not supported, and the part of them that is missing.

/// Parts, and the architectures that need them: names of GGUF, and values of `model_type` in folders, in one text each.
const PARTS: &[(&str, &str)] = &[
    ("layers with latent attention (MLA)", MLA),
    ("state-space layers", STATE_SPACES),
    ("RWKV layers", "rwkv rwkv6 rwkv6qwen2 rwkv7 arwkv7"),
    ("short convolutions with gates", "lfm2 lfm2moe lfm2_moe lfm2_vl"),
    ("layers with attention in chunks", "llama4 llama4_text"),
    (
        "embeddings of each layer",
        "gemma3n gemma3n_text gemma4 gemma4_text gemma4-assistant \
        gemma4_assistant gemma4_unified gemma4_unified_text qwen4exp qwen4_exp qwen4_exp_text",
    ),
    ("layers with attention to later tokens", ENCODERS),
    ("encoders that the decoder attends to", DECODERS),
    ("biases by distance (ALiBi)", "bloom mpt jais refact baichuan cpmant"),
    ("learned or added positions", "gpt2 starcoder gpt_bigcode gpt_neo opt biogpt openai-gpt gpt-sw3 xglm ctrl"),
    (
        "parallel blocks with a norm each",
        "falcon gptneox gpt_neox gptj codegen grok grok-1 plamo persimmon gpt_neox_japanese",
    ),
    ("biases of the output matrix", "phi2 phi phimoe"),
    ("layers without attention or without a feed-forward network", "deci nemotron-nas"),
    ("the projections of Qwen 1", "qwen"),
    ("norms without weights", "olmo dbrx nanochat"),
    ("norms inside of blocks", "bitnet"),
    ("dense networks beside experts", "arctic"),
    ("norms of queries with weights for each head", "chameleon"),
    ("groups of experts", "bailingmoe2 bailing_moe_v2 grovemoe"),
    ("gates of attention in a matrix of their own", "afmoe hrm_text muse-glimmer laguna step35 spark2_5"),
    ("linear attention of this kind", "minimax-01 minimax"),
    ("layers with sparse attention", "minimax-m3 minimax_m3_vl_text"),
    ("factors of values and heads of different widths", "mimo2 mimo_v2_flash plamo3"),
    ("factors of queries by position", "mistral3 ministral3"),
    ("networks with the function xIELU", "apertus"),
    ("routers before attention", "smallthinker"),
    ("limits of gates other than 7", "maple"),
    ("low-rank adapters inside of the model", "graniteswitch"),
    ("fused matrices of shared experts", "granite_swa granitemoe_swa"),
    ("layers that run several times", "nanbeige"),
    ("factors of each layer's output", "talkie"),
    ("experts for images", "cogvlm"),
    ("models that draft for others", "eagle3 dflash"),
    ("experts in parallel with attention", "cohere2moe cohere2_moe"),
    ("encoders of images", "clip siglip git fuyu emu3 got_ocr2"),
    ("layers with attention to images", "mllama"),
    ("layers with differential attention", "diffllama"),
    ("experts of attention", "jetmoe"),
    ("recurrent layers of this kind", "recurrent_gemma xlstm zaya olmo_hybrid bailing_hybrid"),
    ("models of sound", "wavtokenizer-dec qwen3tts pockettts whisper moshi musicgen musicgen_melody"),
];

const MLA: &str = "deepseek2 deepseek2-ocr deepseek32 deepseek4 deepseek_v2 deepseek_v3 deepseek_v32 minicpm3 plm \
    kimi-linear kimi-k3 kimi_linear kimi_k2 glm4_moe_lite glm-dsa glm5-next glm_moe_dsa mistral4 bailingmoe3 dots3note \
    hy_v4 longcat_flash deepseek_v4 axk1 axk2 youtu";
const STATE_SPACES: &str = "mamba mamba2 jamba falcon-h1 falcon_h1 falcon_mamba granitehybrid granitemoehybrid bamba zamba \
    zamba2 nemotron_h nemotron_h_moe plamo2";
const ENCODERS: &str = "bert modern-bert modernbert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert \
    roberta xlm-roberta t5 t5encoder gemma-embedding llama-embed dream llada llada-moe rnd1 \
    bert-generation big_bird camembert data2vec-text electra ernie megatron-bert rembert roberta-prelayernorm roc_bert \
    roformer xlm xlm-roberta-xl xmod xlnet";
const DECODERS: &str =
    "bart bigbird_pegasus blenderbot blenderbot-small marian mbart mvp pegasus plbart prophetnet trocr";

/// The part that is missing for an architecture; `None` if nothing is known about it.
pub(crate) fn missing_part(name: &str) -> Option<&'static str> {
    PARTS.iter().find(|(_, names)| names.split_whitespace().any(|known| known == name)).map(|(part, _)| *part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::ARCHITECTURES;

    /// All architectures of llama.cpp: `MODEL_ARCH_NAMES` of its package `gguf`, in the sdist of llama-cpp-python 0.3.36.
    const LLAMA_CPP: &str = "clip llama llama4 deci falcon baichuan grok gpt2 gptj gptneox mpt starcoder refact bert \
        modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert bloom stablelm qwen qwen2 \
        qwen2moe qwen2vl qwen3 qwen3moe qwen3next hrm_text qwen3vl qwen3vlmoe qwen35 qwen35moe qwen4exp phi2 phi3 phimoe \
        plamo plamo2 plamo3 codeshell orion internlm2 minicpm minicpm3 gemma gemma2 gemma3 gemma3n gemma4 \
        gemma4-assistant gemma-embedding starcoder2 rwkv6 rwkv6qwen2 rwkv7 arwkv7 mamba mamba2 maple jamba xverse \
        command-r cohere2 cohere2moe dbrx olmo olmo2 olmoe muse-glimmer openelm arctic deepseek deepseek2 deepseek2-ocr \
        deepseek32 deepseek4 chatglm glm4 glm4moe glm-dsa glm5-next bitnet t5 t5encoder jais jais2 nemotron nemotron_h \
        nemotron_h_moe exaone exaone4 exaone-moe granite granitemoe granitehybrid graniteswitch granite_swa chameleon \
        wavtokenizer-dec plm bailingmoe bailingmoe2 bailingmoe3 dots1 dots3note arcee afmoe laguna ernie4_5 ernie4_5-moe \
        falcon-h1 hunyuan-moe hunyuan-dense hunyuan_vl hy_v3 hy_v4 smollm3 gpt-oss lfm2 lfm2moe dream smallthinker llada \
        llada-moe seed_oss grovemoe apertus minimax-01 minimax-m2 minimax-m3 cogvlm rnd1 pangu-embedded mistral3 eagle3 \
        dflash mistral4 paddleocr mimo2 step35 spark2_5 llama-embed maincoder kimi-linear kimi-k3 talkie mellum nanbeige \
        qwen3tts pockettts";

    #[test]
    fn every_architecture_of_llama_cpp_is_supported_or_lacks_a_part() {
        let is_supported = |name: &str| ARCHITECTURES.iter().any(|architecture| architecture.name == name);
        for name in LLAMA_CPP.split_whitespace() {
            assert_ne!(is_supported(name), missing_part(name).is_some(), "{name}");
        }
        assert!(ARCHITECTURES.iter().all(|known| LLAMA_CPP.split_whitespace().any(|name| name == known.name)));
    }

    #[test]
    fn each_name_lacks_one_part() {
        let mut names: Vec<&str> = PARTS.iter().flat_map(|(_, names)| names.split_whitespace()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
