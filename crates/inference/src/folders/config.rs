//! Keys of GGUF from `config.json`.

use super::families::{Family, KeyKind};
use super::json::Object;
use crate::gguf::Metadata;
use crate::weights::FileError;

/// Key that tells that RoPE pairs the halves of a head, whatever GGUF files of the architecture have.
pub(crate) const HALVES: &str = "metalworks.rope.halves";

/// Most layers, heads and so on: the limits of arch are lower.
const MAX_COUNT: u64 = 1 << 31;
/// Largest head dimension for computed RoPE factors.
const MAX_HEAD: u64 = 1 << 16;

/// Hyperparameters of a model.
pub(super) struct Config<'a> {
    pub(super) family: &'static Family,
    /// The object with the hyperparameters of the language model.
    pub(super) text: Object<'a>,
    /// Divisors of the RoPE frequencies: tensors of GGUF files.
    pub(super) factors: Vec<(&'static str, Vec<f32>)>,
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
            return Err(root.unsupported(format_args!(
                "the model type '{}' is not supported, only {}",
                super::safetensors::printable(model_type),
                known.join(", ")
            )));
        };
        let mut config = Config { family, text, factors: Vec::new() };
        metadata.set("general.architecture", family.architecture);
        if let Some(name) = root.text("_name_or_path")?.filter(|name| !name.is_empty()) {
            metadata.set("general.name", name);
        }
        if family.interleaved && !interleave {
            metadata.set(HALVES, true);
        }
        config.add_keys(metadata)?;
        config.add_rope(metadata)?;
        config.check_activation()?;
        Ok(config)
    }

    fn add_keys(&self, metadata: &mut Metadata) -> Result<(), FileError> {
        for rule in self.family.keys() {
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
                KeyKind::Number => {
                    metadata.set(&key, self.text.required(from, self.text.number(from)?)? as f32);
                }
            }
        }
        Ok(())
    }

    /// RoPE: `rope_parameters`, or in older files `rope_theta` and `rope_scaling`.
    fn add_rope(&mut self, metadata: &mut Metadata) -> Result<(), FileError> {
        let text = self.text;
        let parameters = text.object("rope_parameters", "rope_parameters.")?;
        let scaling = parameters.or(text.object("rope_scaling", "rope_scaling.")?);
        let theta = match parameters.map(|parameters| parameters.number("rope_theta")).transpose()?.flatten() {
            None => text.number("rope_theta")?,
            theta => theta,
        };
        if let Some(theta) = theta {
            metadata.set(&self.key("rope.freq_base"), theta as f32);
        }
        let head = self.head_dim()?;
        let partial = match parameters.map(|parameters| parameters.number("partial_rotary_factor")).transpose()? {
            None | Some(None) => text.number("partial_rotary_factor")?,
            Some(partial) => partial,
        };
        let rotary = (head as f64 * partial.unwrap_or(1.0)) as u64;
        if partial.is_some() && !(1..=head).contains(&rotary) {
            return Err(text.wrong("partial_rotary_factor", format_args!("rotates {rotary} of {head} dimensions")));
        }
        metadata.set(&self.key("rope.dimension_count"), rotary as u32);
        let Some(scaling) = scaling else { return Ok(()) };
        let kind = match scaling.text("rope_type")? {
            None => scaling.text("type")?,
            kind => kind,
        };
        let number = |key: &str| scaling.number(key).and_then(|value| scaling.required(key, value));
        match kind.unwrap_or("default") {
            "default" | "mrope" => {}
            "linear" => {
                metadata.set(&self.key("rope.scaling.type"), "linear");
                metadata.set(&self.key("rope.scaling.factor"), number("factor")? as f32);
            }
            "llama3" => {
                let [factor, low, high, context] =
                    ["factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"]
                        .map(number);
                let (factor, low, high, context) = (factor?, low?, high?, context?);
                let factors = llama3_factors(theta.unwrap_or(10_000.0), rotary, factor, [low, high], context);
                self.factors.push(("rope_freqs.weight", factors));
            }
            "yarn" => {
                metadata.set(&self.key("rope.scaling.type"), "yarn");
                metadata.set(&self.key("rope.scaling.factor"), number("factor")? as f32);
                let context = match scaling.count("original_max_position_embeddings")? {
                    None => text.required("max_position_embeddings", text.count("max_position_embeddings")?)?,
                    Some(context) => context,
                };
                metadata.set(&self.key("rope.scaling.original_context_length"), context as u32);
                for (key, to) in [
                    ("beta_fast", "rope.scaling.yarn_beta_fast"),
                    ("beta_slow", "rope.scaling.yarn_beta_slow"),
                    ("attention_factor", "rope.scaling.attn_factor"),
                ] {
                    if let Some(value) = scaling.number(key)? {
                        metadata.set(&self.key(to), value as f32);
                    }
                }
            }
            other => {
                let other = super::safetensors::printable(other);
                return Err(scaling.wrong("rope_type", format_args!("RoPE scaling '{other}' is not supported yet")));
            }
        }
        Ok(())
    }

    /// Gated feed-forward networks apply SiLU, unless the family has another function.
    fn check_activation(&self) -> Result<(), FileError> {
        match self.text.text("hidden_act")? {
            None | Some("silu" | "swish") => Ok(()),
            Some(other) => {
                let other = super::safetensors::printable(other);
                Err(self
                    .text
                    .wrong("hidden_act", format_args!("the activation '{other}' is not supported, only silu")))
            }
        }
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
