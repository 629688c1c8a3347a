//! The inputs and outputs of entry points that attributes name: in which functions, and of which types (specification,
//! 5.2.3).

use super::StageKind::{self, Fragment, Intersection, Kernel, Mesh, Object, PatchVertex, Vertex};
use crate::types::{AddressSpace, Ty, TyKind, Types};

/// The types that an input or output can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ValueType {
    Bool,
    /// `ushort` or `uint`
    Index,
    /// `uchar`, `ushort` or `uint`
    Layer,
    Uint,
    /// `float` with these numbers of components.
    Float(&'static [u8]),
    /// `float`, or an array of these.
    Distances,
    /// A scalar or vector of `half`, `float` or an integer type of 16 or 32 bits.
    Color,
    /// `float4x3`
    Transform,
    /// A reference or pointer to this memory.
    In(AddressSpace),
    Any,
}

impl ValueType {
    pub(super) fn allows(self, types: &Types, ty: Ty) -> bool {
        let (element, width) = types.vector_parts(ty).unwrap_or((ty, 1));
        let is_packed = matches!(types.kind(ty), TyKind::PackedVector { .. });
        match self {
            ValueType::Bool => ty == Ty::BOOL,
            ValueType::Index => matches!(ty, Ty::USHORT | Ty::UINT),
            ValueType::Layer => matches!(ty, Ty::UCHAR | Ty::USHORT | Ty::UINT),
            ValueType::Uint => ty == Ty::UINT,
            ValueType::Float(widths) => element == Ty::FLOAT && widths.contains(&width) && !is_packed,
            ValueType::Distances => match *types.kind(ty) {
                TyKind::Array { element, .. } => element == Ty::FLOAT,
                _ => ty == Ty::FLOAT,
            },
            ValueType::Color => {
                let is_number =
                    matches!(element, Ty::HALF | Ty::FLOAT | Ty::SHORT | Ty::USHORT | Ty::INT | Ty::UINT);
                is_number && width <= 4 && !is_packed
            }
            ValueType::Transform => {
                matches!(*types.kind(ty), TyKind::Matrix { element: Ty::FLOAT, columns: 4, rows: 3 })
            }
            ValueType::In(space) => {
                matches!(*types.kind(ty), TyKind::Pointer(to) | TyKind::Reference { to, .. } if to.space == Some(space))
            }
            ValueType::Any => true,
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            ValueType::Bool => "'bool'",
            ValueType::Index => "'ushort' or 'uint'",
            ValueType::Layer => "'uchar', 'ushort' or 'uint'",
            ValueType::Uint => "'uint'",
            ValueType::Float([1]) => "'float'",
            ValueType::Float([2]) => "'float2'",
            ValueType::Float([3]) => "'float3'",
            ValueType::Float([4]) => "'float4'",
            ValueType::Float([2, 3]) => "'float2' or 'float3'",
            ValueType::Float(_) => "'float', 'float2' or 'float3'",
            ValueType::Distances => "'float' or an array of 'float'",
            ValueType::Color => {
                "a scalar or vector of 'half', 'float', 'short', 'ushort', 'int' or 'uint', not packed"
            }
            ValueType::Transform => "'float4x3'",
            ValueType::In(AddressSpace::ObjectData) => "a reference or pointer to 'object_data' memory",
            ValueType::In(AddressSpace::RayData) => "a reference or pointer to 'ray_data' memory",
            ValueType::In(_) => "a pointer to 'device' memory",
            ValueType::Any => "any type",
        }
    }
}

/// An input or output: its attribute, the functions that have it, its types.
pub(super) struct StageValue {
    pub(super) name: &'static str,
    pub(super) stages: &'static [StageKind],
    pub(super) ty: ValueType,
}

const fn value(name: &'static str, stages: &'static [StageKind], ty: ValueType) -> StageValue {
    StageValue { name, stages, ty }
}

const VERTICES: &[StageKind] = &[Vertex, PatchVertex];

/// The inputs. One that differs between functions is there twice.
const INPUTS: &[StageValue] = &[
    value("stage_in", &[Kernel, Vertex, PatchVertex, Fragment], ValueType::Any),
    value("vertex_id", &[Vertex], ValueType::Index),
    value("base_vertex", &[Vertex], ValueType::Index),
    value("instance_id", &[Vertex, PatchVertex, Intersection], ValueType::Index),
    value("base_instance", VERTICES, ValueType::Index),
    value("amplification_id", &[Vertex, PatchVertex, Fragment, Mesh], ValueType::Index),
    value("amplification_count", &[Vertex, PatchVertex, Fragment, Mesh], ValueType::Index),
    value("patch_id", &[PatchVertex], ValueType::Index),
    value("position_in_patch", &[PatchVertex], ValueType::Float(&[2, 3])),
    value("position", &[Fragment], ValueType::Float(&[4])),
    value("front_facing", &[Fragment, Intersection], ValueType::Bool),
    value("point_coord", &[Fragment], ValueType::Float(&[2])),
    value("sample_id", &[Fragment], ValueType::Uint),
    value("sample_mask", &[Fragment], ValueType::Uint),
    value("color", &[Fragment], ValueType::Color),
    value("primitive_id", &[Fragment, Intersection], ValueType::Index),
    value("barycentric_coord", &[Fragment], ValueType::Float(&[1, 2, 3])),
    value("barycentric_coord", &[Intersection], ValueType::Float(&[2])),
    value("viewport_array_index", &[Fragment], ValueType::Index),
    value("render_target_array_index", &[Fragment], ValueType::Index),
    value("imageblock_data", &[Fragment], ValueType::Any),
    value("raster_order_group", &[Fragment], ValueType::Any),
    value("payload", &[Object, Mesh], ValueType::In(AddressSpace::ObjectData)),
    value("payload", &[Intersection], ValueType::In(AddressSpace::RayData)),
    value("origin", &[Intersection], ValueType::Float(&[3])),
    value("direction", &[Intersection], ValueType::Float(&[3])),
    value("world_space_origin", &[Intersection], ValueType::Float(&[3])),
    value("world_space_direction", &[Intersection], ValueType::Float(&[3])),
    value("min_distance", &[Intersection], ValueType::Float(&[1])),
    value("max_distance", &[Intersection], ValueType::Float(&[1])),
    value("distance", &[Intersection], ValueType::Float(&[1])),
    value("time", &[Intersection], ValueType::Float(&[1])),
    value("motion_start_time", &[Intersection], ValueType::Float(&[1])),
    value("motion_end_time", &[Intersection], ValueType::Float(&[1])),
    value("key_frame_count", &[Intersection], ValueType::Index),
    value("curve_parameter", &[Intersection], ValueType::Float(&[1])),
    value("opaque", &[Intersection], ValueType::Bool),
    value("geometry_id", &[Intersection], ValueType::Index),
    value("user_instance_id", &[Intersection], ValueType::Index),
    value("geometry_intersection_function_table_offset", &[Intersection], ValueType::Index),
    value("instance_intersection_function_table_offset", &[Intersection], ValueType::Index),
    value("primitive_data", &[Intersection], ValueType::In(AddressSpace::Device)),
    value("world_to_object_transform", &[Intersection], ValueType::Transform),
    value("object_to_world_transform", &[Intersection], ValueType::Transform),
];

/// The outputs, by the members of the result, or of the vertices and primitives of a mesh.
const OUTPUTS: &[StageValue] = &[
    value("position", &[Vertex, PatchVertex, Mesh], ValueType::Float(&[4])),
    value("point_size", &[Vertex, PatchVertex, Mesh], ValueType::Float(&[1])),
    value("clip_distance", &[Vertex, PatchVertex, Mesh], ValueType::Distances),
    value("render_target_array_index", &[Vertex, PatchVertex, Mesh], ValueType::Layer),
    value("viewport_array_index", &[Vertex, PatchVertex, Mesh], ValueType::Layer),
    value("primitive_culled", &[Mesh], ValueType::Bool),
    value("primitive_id", &[Mesh], ValueType::Index),
    value("color", &[Fragment], ValueType::Color),
    value("depth", &[Fragment], ValueType::Float(&[1])),
    value("stencil", &[Fragment], ValueType::Uint),
    value("sample_mask", &[Fragment], ValueType::Uint),
    value("imageblock_data", &[Fragment], ValueType::Any),
    value("accept_intersection", &[Intersection], ValueType::Bool),
    value("continue_search", &[Intersection], ValueType::Bool),
    value("distance", &[Intersection], ValueType::Float(&[1])),
];

/// The names of inputs.
pub(super) fn input_names() -> impl Iterator<Item = &'static str> {
    INPUTS.iter().map(|input| input.name)
}

/// The types of an input or output of a function: `None` if no function has it, `Some(None)` if this one has not.
pub(super) fn types_of(name: &str, stage: StageKind, is_output: bool) -> Option<Option<ValueType>> {
    let mut all = if is_output { OUTPUTS } else { INPUTS }.iter().filter(|value| value.name == name).peekable();
    all.peek()?;
    Some(all.find(|value| value.stages.contains(&stage)).map(|value| value.ty))
}
