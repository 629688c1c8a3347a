//! Classes of the library whose objects are not made of members: resources, and state that only a GPU has.

/// The kind of argument that an object of such a class can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum ResourceKind {
    /// `[[texture(n)]]`
    Texture,
    /// `[[sampler(n)]]`
    Sampler,
    /// Bound like a buffer: acceleration structures, tables of intersection functions, tensors.
    Buffer,
    /// No argument of its own index.
    State,
}

impl ResourceKind {
    /// The kind of a class of the library, by its name with or without template arguments.
    pub(in crate::check) fn of(name: &str) -> Option<ResourceKind> {
        let name = name.split('<').next().unwrap_or_default();
        Some(match name {
            "texture_buffer" | "texture1d" | "texture1d_array" | "texture2d" | "texture2d_array"
            | "texture2d_ms" | "texture2d_ms_array" | "texture3d" | "texturecube" | "texturecube_array"
            | "depth2d" | "depth2d_array" | "depth2d_ms" | "depth2d_ms_array" | "depthcube" | "depthcube_array" => {
                ResourceKind::Texture
            }
            "sampler" => ResourceKind::Sampler,
            "acceleration_structure" | "intersection_function_table" | "tensor" => ResourceKind::Buffer,
            "command_buffer"
            | "compute_pipeline_state"
            | "cooperative_tensor"
            | "depth_stencil_state"
            | "imageblock"
            | "intersection_query"
            | "mesh"
            | "mesh_grid_properties"
            | "patch_control_point"
            | "render_pipeline_state" => ResourceKind::State,
            _ => return None,
        })
    }
}
