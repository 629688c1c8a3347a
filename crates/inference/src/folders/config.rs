//! Keys of GGUF from `config.json`.

use super::families::{Family, KeyKind};
use super::json::Object;
use super::value_heads::ValueHeads;
use crate::arch::{ARCHITECTURES, missing_part};
use crate::gguf::Metadata;
use crate::weights::FileError;

/// Key that tells that RoPE pairs the halves of a head, whatever GGUF files of the architecture have.
pub(crate) const HALVES: &str = "metalworks.rope.halves";

/// Key that tells that value heads of delta-nets with the same keys are adjacent; in GGUF files they are not.
pub(crate) const ADJACENT: &str = "metalworks.delta_net.adjacent";

/// Most layers, heads and so on: the limits of arch are lower.
const MAX_COUNT: u64 = 1 << 31;
/// Most layers with a window.
const MAX_LAYERS: u64 = 1 << 16;
/// Largest head dimension for computed RoPE factors.
const MAX_HEAD: u64 = 1 << 16;

/// Hyperparameters of a model.
pub(super) struct Config<'a> {
    pub(super) family: &'static Family,
    /// The object with the hyperparameters of the language model.
    pub(super) text: Object<'a>,
    /// Divisors of the RoPE frequencies: tensors of GGUF files.
    pub(super) factors: Vec<(&'static str, Vec<f32>)>,
    /// Order of value heads, if it changes.
    pub(super) value_heads: Option<ValueHeads>,
    /// The embedding is also the output matrix, if the file tells.
    pub(super) is_tied: Option<bool>,
}

impl<'a> Config<'a> {
    /// Reads `config.json`. Adds its keys to the metadata.
    pub(super) fn read(
        root: Object<'a>,
        interleave: bool,
        metadata: &mut Metadata,
    ) -> Result<Config<'a>, FileError> {
        // Models with images have the language model in an object of its own.
        let nested = root.object("text_config", "text_config.")?;
        let own_type = |object: &Object<'a>| object.text("model_type");
        let (text, family, model_type) = match (own_type(&root)?, nested) {
            (Some(kind), _) if Family::find(kind).is_some() && nested.is_none() => (root, Family::find(kind), kind),
            (_, Some(text)) => {
                let kind = text.required("model_type", own_type(&text)?)?;
                (text, Family::find(kind), kind)
            }
            (kind, None) => (root, None, root.required("model_type", kind)?),
        };
        let Some(family) = family else {
            let known: Vec<&str> =
                super::families::FAMILIES.iter().flat_map(|family| family.model_types).copied().collect();
            let in_files = ARCHITECTURES.iter().any(|architecture| architecture.name == model_type);
            let missing = match missing_part(model_type) {
                Some(part) => format!(" ({part} are missing)"),
                None if in_files => " (only GGUF files of it)".into(),
                None => String::new(),
            };
            return Err(root.unsupported(format_args!(
                "the model type '{}' is not supported{missing}, only {}",
                super::safetensors::printable(model_type),
                known.join(", ")
            )));
        };
        // The object of the whole model decides, as in transformers: in the other one, it may be a default.
        let is_tied = match root.flag("tie_word_embeddings")? {
            None => text.flag("tie_word_embeddings")?,
            is_tied => is_tied,
        };
        let mut config = Config { family, text, factors: Vec::new(), value_heads: None, is_tied };
        metadata.set("general.architecture", family.architecture);
        if let Some(name) = root.text("_name_or_path")?.filter(|name| !name.is_empty()) {
            metadata.set("general.name", name);
        }
        if family.interleaved && !interleave {
            metadata.set(HALVES, true);
        }
        config.add_keys(metadata)?;
        config.add_rope(metadata)?;
        config.add_windows(metadata)?;
        config.add_interval(metadata)?;
        config.add_dense_layers(metadata)?;
        config.check()?;
        config.value_heads = ValueHeads::read(&config, interleave, metadata)?;
        Ok(config)
    }

    fn add_keys(&self, metadata: &mut Metadata) -> Result<(), FileError> {
        for rule in self.family.keys() {
            if rule.kind == KeyKind::Flag {
                metadata.set(&self.key(rule.key), self.text.flag(rule.from[0])?.unwrap_or(false));
                continue;
            }
            let from = rule.from.iter().find(|from| self.text.find(from).is_some());
            let Some(from) = from else {
                match rule.required {
                    true => return self.text.required(rule.from[0], None),
                    false => continue,
                }
            };
            let key = self.key(rule.key);
            match rule.kind {
                KeyKind::Count => {
                    let count = self.text.required(from, self.text.count(from)?)?;
                    metadata.set(&key, self.checked(from, count, MAX_COUNT)? as u32);
                }
                KeyKind::Flag => {}
                KeyKind::Number => {
                    metadata.set(&key, self.text.required(from, self.text.number(from)?)? as f32);
                }
                KeyKind::Product => {
                    let mut product = 1u64;
                    for from in rule.from {
                        let count = self.text.required(from, self.text.count(from)?)?;
                        product = product.saturating_mul(self.checked(from, count, MAX_COUNT)?);
                    }
                    metadata.set(&key, self.checked(from, product, MAX_COUNT)? as u32);
                }
                KeyKind::InverseRoot => {
                    let number = self.text.required(from, self.text.number(from)?)?;
                    if !(number.is_finite() && number > 0.0) {
                        return Err(self.text.wrong(from, format_args!("{number} must be above 0")));
                    }
                    metadata.set(&key, (1.0 / number.sqrt()) as f32);
                }
            }
        }
        Ok(())
    }

    /// Sliding windows: their size, and the layers that have one.
    fn add_windows(&self, metadata: &mut Metadata) -> Result<(), FileError> {
        let text = self.text;
        let (size, pattern) = (self.key("attention.sliding_window"), self.key("attention.sliding_window_pattern"));
        let window =
            text.count("sliding_window")?.filter(|_| text.flag("use_sliding_window").ok().flatten() != Some(false));
        let Some(window) = window else {
            // Some architectures have a window unless the file denies it.
            if text.find("layer_types").is_some() {
                metadata.set(&size, 0u32);
            }
            return Ok(());
        };
        let window = self.checked("sliding_window", window, MAX_COUNT)?;
        let layers = text.required("num_hidden_layers", text.count("num_hidden_layers")?)?;
        if let Some(types) = text.array("layer_types")? {
            if types.len() as u64 != layers {
                return Err(
                    text.wrong("layer_types", format_args!("has {} layers, but the model {layers}", types.len()))
                );
            }
            let mut windows = Vec::new();
            for kind in types {
                windows.push(match kind.as_str() {
                    Some("sliding_attention") => true,
                    Some("full_attention") => false,
                    _ => {
                        let found = super::json::describe(kind);
                        return Err(text.wrong(
                            "layer_types",
                            format_args!("expected full_attention or sliding_attention, found {found}"),
                        ));
                    }
                });
            }
            let has_windows = windows.contains(&true);
            metadata.set(&size, if has_windows { window as u32 } else { 0 });
            if has_windows {
                metadata.set(&pattern, windows);
            }
            return Ok(());
        }
        metadata.set(&size, window as u32);
        if let Some(every) = text.count("sliding_window_pattern")? {
            metadata.set(&pattern, self.checked("sliding_window_pattern", every, MAX_COUNT)? as u32);
        } else if let (Some(true), Some(first)) =
            (text.flag("use_sliding_window")?, text.count("max_window_layers")?)
        {
            metadata.set(&pattern, (0..layers.min(MAX_LAYERS)).map(|layer| layer >= first).collect::<Vec<bool>>());
        }
        Ok(())
    }

    /// Layers with attention among delta-nets: every n-th.
    fn add_interval(&self, metadata: &mut Metadata) -> Result<(), FileError> {
        let text = self.text;
        let types = text.array("layer_types")?.map(Vec::as_slice).unwrap_or_default();
        if !types.iter().any(|kind| kind == "linear_attention") {
            return Ok(());
        }
        let layers = text.required("num_hidden_layers", text.count("num_hidden_layers")?)?;
        if types.len() as u64 != layers {
            let problem = format_args!("has {} layers, but the model {layers}", types.len());
            return Err(text.wrong("layer_types", problem));
        }
        let first = types.iter().position(|kind| kind != "linear_attention").unwrap_or(types.len());
        let expected = |layer: usize| {
            if (layer + 1).is_multiple_of(first + 1) { "full_attention" } else { "linear_attention" }
        };
        if let Some(layer) = (0..types.len()).find(|&layer| types[layer] != expected(layer)) {
            return Err(text.wrong(
                "layer_types",
                format_args!("layer {layer} is not {}, as in a regular order", expected(layer)),
            ));
        }
        metadata.set(&self.key("full_attention_interval"), first as u32 + 1);
        Ok(())
    }

    /// Layers without experts, which must be the first ones.
    fn add_dense_layers(&self, metadata: &mut Metadata) -> Result<(), FileError> {
        const BETWEEN: &str = "only the first layers may be without experts";
        let text = self.text;
        let types = text.array("mlp_layer_types")?.map(Vec::as_slice).unwrap_or_default();
        let mut dense = types.iter().take_while(|kind| *kind == "dense").count();
        if let Some(layer) = (dense..types.len()).find(|&layer| types[layer] != "sparse") {
            return Err(text.wrong("mlp_layer_types", format_args!("layer {layer} is not sparse: {BETWEEN}")));
        }
        if let Some(listed) = text.array("mlp_only_layers")?.filter(|listed| !listed.is_empty()) {
            dense = listed.len();
            if !listed.iter().enumerate().all(|(index, layer)| layer.as_u64() == Some(index as u64)) {
                return Err(text.wrong("mlp_only_layers", BETWEEN));
            }
        }
        if text.count("decoder_sparse_step")?.is_some_and(|step| step > 1) {
            return Err(text.wrong("decoder_sparse_step", BETWEEN));
        }
        if dense > 0 {
            metadata.set(&self.key("leading_dense_block_count"), dense as u32);
        }
        Ok(())
    }

    /// RoPE: `rope_parameters`, or in older files `rope_theta` and `rope_scaling`.
    fn add_rope(&mut self, metadata: &mut Metadata) -> Result<(), FileError> {
        let text = self.text;
        let mut parameters = text.object("rope_parameters", "rope_parameters.")?;
        // Some have parameters for each kind of layer.
        if let Some(global) =
            parameters.and_then(|all| all.object("full_attention", "rope_parameters.full_attention.").transpose())
        {
            let all = parameters.replace(global?);
            let local = all
                .map(|all| all.object("sliding_attention", "rope_parameters.sliding_attention."))
                .transpose()?
                .flatten();
            if let Some(theta) = local.map(|local| local.number("rope_theta")).transpose()?.flatten() {
                metadata.set(&self.key("rope.freq_base_swa"), theta as f32);
            }
        } else if let Some(theta) = text.number("rope_local_base_freq")? {
            metadata.set(&self.key("rope.freq_base_swa"), theta as f32);
        }
        let scaling = parameters.or(text.object("rope_scaling", "rope_scaling.")?);
        let number_of = |key: &str| match parameters.map(|parameters| parameters.number(key)).transpose()?.flatten()
        {
            None => text.number(key),
            number => Ok(number),
        };
        let (theta, partial) = (number_of("rope_theta")?, number_of("partial_rotary_factor")?);
        if let Some(theta) = theta {
            metadata.set(&self.key("rope.freq_base"), theta as f32);
        }
        let head = self.head_dim()?;
        let rotary = match text.count("rotary_dim")?.filter(|_| partial.is_none()) {
            Some(rotary) => rotary,
            None => (head as f64 * partial.unwrap_or(1.0)) as u64,
        };
        if !(1..=head).contains(&rotary) {
            return Err(text.wrong("partial_rotary_factor", format_args!("rotates {rotary} of {head} dimensions")));
        }
        metadata.set(&self.key("rope.dimension_count"), rotary as u32);
        match scaling {
            Some(scaling) => self.add_scaling(scaling, theta.unwrap_or(10_000.0), rotary, metadata),
            None => Ok(()),
        }
    }

    fn add_scaling(
        &mut self,
        scaling: Object<'a>,
        theta: f64,
        rotary: u64,
        metadata: &mut Metadata,
    ) -> Result<(), FileError> {
        let text = self.text;
        let kind = match scaling.text("rope_type")? {
            None => scaling.text("type")?,
            kind => kind,
        };
        let number = |key: &str| scaling.number(key).and_then(|value| scaling.required(key, value));
        let original = || -> Result<Option<u64>, FileError> {
            const KEY: &str = "original_max_position_embeddings";
            let original = match scaling.count(KEY)? {
                None => text.count(KEY)?,
                original => original,
            };
            original.map(|original| self.checked(KEY, original, MAX_COUNT)).transpose()
        };
        let context = || text.required("max_position_embeddings", text.count("max_position_embeddings")?);
        match kind.unwrap_or("default") {
            "default" | "mrope" => {}
            // Frequencies change beyond the context of the model only; llama.cpp keeps them there, too.
            "dynamic" => {
                // Hunyuan's base is larger from the beginning.
                if let Some(alpha) = scaling.number("alpha")?.filter(|alpha| *alpha > 0.0) {
                    let head = rotary as f64;
                    let base = theta * alpha.powf(head / (head - 2.0).max(1.0));
                    metadata.set(&self.key("rope.freq_base"), base as f32);
                }
            }
            "linear" => {
                metadata.set(&self.key("rope.scaling.type"), "linear");
                metadata.set(&self.key("rope.scaling.factor"), number("factor")? as f32);
            }
            "llama3" => {
                let [factor, low, high] = ["factor", "low_freq_factor", "high_freq_factor"].map(number);
                let original = scaling.required("original_max_position_embeddings", original()?)? as f64;
                let factors = llama3_factors(theta, rotary, factor?, [low?, high?], original);
                self.factors.push(("rope_freqs.weight", factors));
            }
            "yarn" => {
                metadata.set(&self.key("rope.scaling.type"), "yarn");
                metadata.set(&self.key("rope.scaling.factor"), number("factor")? as f32);
                let original = original()?.map_or_else(context, Ok)?;
                metadata.set(&self.key("rope.scaling.original_context_length"), original as u32);
                for (key, to) in [("beta_fast", "yarn_beta_fast"), ("beta_slow", "yarn_beta_slow")] {
                    if let Some(value) = scaling.number(key)? {
                        metadata.set(&self.key(&format!("rope.scaling.{to}")), value as f32);
                    }
                }
                // GGUF's factor is multiplied by that of the scheme, this one replaces it.
                if let Some(factor) = scaling.number("attention_factor")? {
                    let scheme = 1.0 + 0.1 * number("factor")?.max(1.0).ln();
                    metadata.set(&self.key("rope.scaling.attn_factor"), (factor / scheme) as f32);
                }
            }
            "longrope" | "su" => {
                let original = scaling.required("original_max_position_embeddings", original()?)?;
                let factor = match scaling.number("factor")? {
                    None => context()? as f64 / original as f64,
                    Some(factor) => factor,
                };
                let magnitude = match scaling.number("attention_factor")? {
                    None if factor <= 1.0 => 1.0,
                    None => (1.0 + factor.ln() / (original as f64).ln()).sqrt(),
                    Some(magnitude) => magnitude,
                };
                metadata.set(&self.key("rope.scaling.type"), "longrope");
                metadata.set(&self.key("rope.scaling.original_context_length"), original as u32);
                metadata.set(&self.key("rope.scaling.attn_factor"), magnitude as f32);
                for (key, tensor) in
                    [("short_factor", "rope_factors_short.weight"), ("long_factor", "rope_factors_long.weight")]
                {
                    let factors = scaling.required(key, scaling.numbers(key)?)?;
                    self.factors.push((tensor, factors.into_iter().map(|factor| factor as f32).collect()));
                }
            }
            other => {
                let other = super::safetensors::printable(other);
                return Err(scaling.wrong("rope_type", format_args!("RoPE scaling '{other}' is not supported yet")));
            }
        }
        Ok(())
    }

    /// Checks what only some families have: the function of gates, layers without RoPE, and so on.
    fn check(&self) -> Result<(), FileError> {
        let text = self.text;
        for key in ["hidden_act", "hidden_activation"] {
            if let Some(other) = text.text(key)?.filter(|name| !self.family.activations.contains(name)) {
                let (other, known) = (super::safetensors::printable(other), self.family.activations[0]);
                return Err(
                    text.wrong(key, format_args!("the activation '{other}' is not supported, only {known}"))
                );
            }
        }
        for key in self.family.unsupported {
            if text.find(key).is_some_and(|value| value.as_bool() != Some(false) && value.as_u64() != Some(0)) {
                return Err(text.unsupported(format_args!("models with '{key}' are not supported yet")));
            }
        }
        if let Some(limit) = text.number("swiglu_limit")?.filter(|limit| *limit != 7.0) {
            return Err(text.wrong("swiglu_limit", format_args!("{limit} is not supported, only 7")));
        }
        // The architecture's table has every fourth layer without.
        for (layer, value) in text.array("no_rope_layers")?.into_iter().flatten().enumerate() {
            if value.as_u64() != Some(u64::from((layer + 1) % 4 != 0)) {
                return Err(text.wrong("no_rope_layers", "only every fourth layer may be without RoPE"));
            }
        }
        Ok(())
    }

    /// Dimension of a head.
    pub(super) fn head_dim(&self) -> Result<u64, FileError> {
        let text = self.text;
        if let Some(head) = text.count("head_dim")? {
            return self.checked("head_dim", head, MAX_HEAD);
        }
        let count = |key: &str| self.checked(key, text.required(key, text.count(key)?)?, MAX_COUNT);
        let (width, heads) = (count("hidden_size")?, count("num_attention_heads")?);
        self.checked("hidden_size", width / heads, MAX_HEAD)
    }

    fn checked(&self, key: &str, count: u64, max: u64) -> Result<u64, FileError> {
        match (1..=max).contains(&count) {
            true => Ok(count),
            false => Err(self.text.wrong(key, format_args!("{count} must be 1 to {max}"))),
        }
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.family.architecture)
    }
}

/// Divisors of the frequencies of Llama 3: wavelengths that are long against the original context get the whole factor,
/// short ones none, those between a mixture.
fn llama3_factors(base: f64, rotary: u64, factor: f64, [low, high]: [f64; 2], context: f64) -> Vec<f32> {
    (0..rotary / 2)
        .map(|i| {
            let frequency = base.powf(-2.0 * i as f64 / rotary as f64);
            let turns = context * frequency / std::f64::consts::TAU;
            let smooth = ((turns - low) / (high - low)).clamp(0.0, 1.0);
            match turns {
                turns if turns < low => factor as f32,
                turns if turns > high => 1.0,
                _ => (1.0 / ((1.0 - smooth) / factor + smooth)) as f32,
            }
        })
        .collect()
}
