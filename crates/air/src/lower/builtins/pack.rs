//! <metal_pack>: `air.pack.unorm4x8.v4f32` and `air.unpack.unorm4x8.v4f32`.

use super::call::{Call, Effects};
use super::{Attempt, Output};

/// AIR's name for a format.
fn format_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "snorm4x8" => "snorm4x8",
        "unorm4x8" => "unorm4x8",
        "unorm4x8_srgb" | "srgb_unorm4x8" => "unorm4x8.srgb",
        "snorm2x16" => "snorm2x16",
        "unorm2x16" => "unorm2x16",
        "unorm10a2" => "unorm.rgb10a2",
        "unorm565" => "unorm.rgb565",
        _ => return None,
    })
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_pack>.
    pub(super) fn pack(&self) -> Attempt<'ctx> {
        let (verb, format) = if let Some(rest) = self.name.strip_prefix("pack_") {
            ("pack", rest.strip_prefix("float_to_").or_else(|| rest.strip_prefix("half_to_")))
        } else if let Some(rest) = self.name.strip_prefix("unpack_") {
            ("unpack", rest.strip_suffix("_to_float").or_else(|| rest.strip_suffix("_to_half")))
        } else {
            return Ok(None);
        };
        let Some(format) = format.and_then(format_name) else { return Ok(None) };
        let result = self.result_shape()?;
        // The type in the name is that of floating point.
        let named = if verb == "pack" { self.float_shape() } else { Some(result) };
        let Some(named) = named else { return Ok(None) };
        let name = format!("air.{verb}.{format}.{}", named.suffix());
        Ok(Some(Output::Value(self.value_of(&name, self.ty(result), self.args, Effects::None)?)))
    }
}
