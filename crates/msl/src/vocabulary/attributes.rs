//! The attributes.

use super::Effect::{Honoured, NoEffect, Refused};
use super::Form::{Bracket, Clang, Gnu, Keyword};
use super::Subject::{
    Alias, Class, Enum, Enumerator, Function, Lambda, Member, Namespace, Parameter, Statement, Variable,
};
use super::{Effect, Form, Subject, Word};

const fn word(
    spellings: &'static [&'static str],
    forms: &'static [Form],
    subjects: &'static [Subject],
    effect: Effect,
) -> Word {
    Word { spellings, forms, subjects, effect }
}

const HINT: Effect = NoEffect("a hint: results are the same without it");
const GRAPHICS: Effect = Honoured("input or output of a graphics function, checked and reflected");
const ENTITIES: &[Subject] =
    &[Function, Parameter, Variable, Member, Class, Enum, Enumerator, Alias, Namespace, Lambda];
const INPUTS: &[Subject] = &[Parameter, Member, Function];

/// The built-in inputs of a kernel with three dimensions: a 16- or 32-bit unsigned scalar or vector.
pub(crate) const GRID_INPUTS: &[&str] = &[
    "thread_position_in_grid",
    "thread_position_in_threadgroup",
    "threadgroup_position_in_grid",
    "threadgroups_per_grid",
    "threads_per_grid",
    "threads_per_threadgroup",
    "dispatch_threads_per_threadgroup",
    "grid_origin",
    "grid_size",
];

/// The built-in inputs of a kernel that are a single number.
pub(crate) const SCALAR_INPUTS: &[&str] = &[
    "thread_index_in_threadgroup",
    "thread_index_in_simdgroup",
    "thread_index_in_quadgroup",
    "thread_execution_width",
    "threads_per_simdgroup",
    "simdgroup_index_in_threadgroup",
    "simdgroups_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup",
    "quadgroup_index_in_threadgroup",
    "quadgroups_per_threadgroup",
    "dispatch_quadgroups_per_threadgroup",
];

/// True for attributes of C++, which have no other form than Metal's own.
pub(super) fn is_standard(spellings: &[&str]) -> bool {
    matches!(
        spellings,
        [
            "carries_dependency" | "no_unique_address" | "indeterminate" | "assume" | "maybe_unused" | "nodiscard",
            ..
        ]
    )
}

/// All attributes, `alignas` among them.
pub const ATTRIBUTES: &[Word] = &[
    // --- layout
    word(
        &["packed"],
        &[Gnu],
        &[Class, Member, Enum],
        Honoured("members lie at any byte; an enum takes the smallest type"),
    ),
    word(
        &["aligned"],
        &[Gnu],
        &[Class, Member, Variable, Parameter, Alias],
        Honoured("least alignment of the type or object; an error on an alias template"),
    ),
    word(
        &["alignas"],
        &[Keyword],
        &[Class, Member, Variable],
        Honoured("least alignment; never weaker than the type's own"),
    ),
    word(&["ext_vector_type"], &[Gnu, Clang], &[Alias], Honoured("the alias is Metal's vector of 2, 3 or 4")),
    // --- diagnostics
    word(
        &["deprecated"],
        &[Bracket, Gnu, Clang],
        ENTITIES,
        Honoured("a warning at each use of a function, variable or member"),
    ),
    word(
        &["unavailable"],
        &[Gnu, Clang],
        &[Function, Variable, Member, Class, Alias],
        Honoured("an error at each use of a function, variable or member"),
    ),
    word(
        &["nodiscard"],
        &[Bracket],
        &[Function, Class, Enum],
        Honoured("-W: a warning where the result of a call is not used"),
    ),
    word(&["warn_unused_result"], &[Gnu, Clang], &[Function, Class, Enum], Honoured("the same as nodiscard")),
    word(&["maybe_unused"], &[Bracket], ENTITIES, Honoured("-W: no warning if it is not used")),
    word(&["unused"], &[Gnu, Clang], ENTITIES, Honoured("the same as maybe_unused")),
    word(
        &["fallthrough"],
        &[Bracket, Gnu, Clang],
        &[Statement],
        NoEffect("there is no warning about falling through to the next case"),
    ),
    // --- code generation
    word(
        &["noinline"],
        &[Gnu, Clang],
        &[Function, Lambda, Statement],
        Honoured("the function is not inlined in AIR"),
    ),
    word(
        &["always_inline"],
        &[Gnu, Clang],
        &[Function, Lambda, Statement],
        NoEffect("all functions but noinline ones are inlined"),
    ),
    word(&["likely", "unlikely"], &[Bracket, Clang], &[Statement], HINT),
    word(
        &["pure", "const", "flatten", "hot", "cold", "leaf", "nothrow", "returns_nonnull"],
        &[Gnu],
        &[Function, Lambda],
        HINT,
    ),
    word(
        &[
            "convergent",
            "noduplicate",
            "optnone",
            "minsize",
            "not_tail_called",
            "no_builtin",
            "artificial",
            "disable_tail_calls",
        ],
        &[Gnu, Clang],
        &[Function, Lambda],
        HINT,
    ),
    word(&["noreturn"], &[Bracket, Gnu, Clang], &[Function, Lambda], HINT),
    word(
        &["nonnull", "noescape", "returns_twice", "assume_aligned", "alloc_size", "malloc"],
        &[Gnu, Clang],
        &[Function, Parameter],
        HINT,
    ),
    word(
        &["used", "retain"],
        &[Gnu, Clang],
        &[Function, Variable],
        NoEffect("only entry points and all that they reach are kept"),
    ),
    word(
        &["visibility"],
        &[Gnu, Clang],
        &[Function, Variable, Class, Enum, Namespace],
        NoEffect("a library shows its entry points and nothing else"),
    ),
    word(
        &["type_visibility"],
        &[Gnu, Clang],
        &[Class, Enum, Namespace],
        NoEffect("a library shows its entry points and nothing else"),
    ),
    word(&["overloadable"], &[Gnu, Clang], &[Function], NoEffect("every function may be overloaded")),
    word(
        &["may_alias"],
        &[Gnu],
        &[Class, Enum, Alias],
        NoEffect("accesses are not assumed to be apart by their types"),
    ),
    word(
        &[
            "internal_linkage",
            "nodebug",
            "no_sanitize",
            "annotate",
            "availability",
            "format",
            "trivial_abi",
            "enum_extensibility",
            "flag_enum",
        ],
        &[Gnu, Clang],
        ENTITIES,
        NoEffect("it is about linking, debugging or hosts"),
    ),
    word(&["carries_dependency"], &[Bracket], &[Function, Parameter], HINT),
    // --- refused: to ignore them would change results
    word(&["no_unique_address"], &[Bracket, Clang], &[Member], Refused("it would change the layout")),
    word(
        &[
            "vector_size",
            "neon_vector_type",
            "matrix_type",
            "mode",
            "transparent_union",
            "ms_struct",
            "gcc_struct",
            "scalar_storage_order",
            "randomize_layout",
            "bounded",
        ],
        &[Gnu, Clang],
        &[Alias, Class, Variable],
        Refused("it would change the type"),
    ),
    word(
        &["address_space", "opencl_global", "opencl_local", "opencl_constant", "opencl_private"],
        &[Gnu, Clang],
        &[Alias, Variable],
        Refused("address spaces have keywords"),
    ),
    word(
        &["cleanup", "constructor", "destructor", "init_priority"],
        &[Gnu, Clang],
        &[Variable, Function],
        Refused("it would call a function"),
    ),
    word(
        &["alias", "ifunc", "weak", "weakref", "weak_import", "section", "naked", "asm"],
        &[Gnu, Clang],
        &[Function, Variable],
        Refused("shaders are not linked by symbols"),
    ),
    word(
        &["enable_if", "diagnose_if"],
        &[Gnu, Clang],
        &[Function],
        Refused("it would change which function is called"),
    ),
    word(&["assume"], &[Bracket, Gnu, Clang], &[Statement], Refused("it would make a false condition undefined")),
    // --- Metal: functions
    word(&["kernel", "vertex", "fragment"], &[Bracket], &[Function], Honoured("the same as the keyword")),
    word(
        &["object", "mesh", "patch"],
        &[Bracket],
        &[Function],
        Honoured("stage of the function, reflected; its code is not generated"),
    ),
    word(
        &["visible", "stitchable"],
        &[Bracket],
        &[Function],
        Honoured("the function is stored in libraries, and callable through tables"),
    ),
    word(
        &["intersection"],
        &[Bracket],
        &[Function],
        Honoured("stage of the function, which is stored in libraries; no back end of ours calls it"),
    ),
    word(&["host_name"], &[Bracket], &[Function, Variable], Honoured("name of the entry point for the host")),
    word(&["max_total_threads_per_threadgroup"], &[Bracket], &[Function], Honoured("limit of the pipeline")),
    word(
        &[
            "required_threads_per_threadgroup",
            "max_total_threadgroups_per_mesh_grid",
            "early_fragment_tests",
            "function_groups",
            "user_annotation",
        ],
        &[Bracket],
        &[Function, Statement],
        NoEffect("about graphics functions, whose code is not generated, or a hint"),
    ),
    // --- Metal: arguments
    word(
        &["buffer", "texture", "sampler", "threadgroup"],
        &[Bracket],
        &[Parameter, Member],
        Honoured("index of the argument"),
    ),
    word(
        &["function_constant"],
        &[Bracket],
        &[Variable, Parameter, Member],
        Honoured("value that a pipeline gets, or condition of an argument"),
    ),
    word(&["id"], &[Bracket], &[Member], Honoured("index in an argument buffer, reflected")),
    word(GRID_INPUTS, &[Bracket], &[Parameter, Member], Honoured("position or size, of up to three dimensions")),
    word(SCALAR_INPUTS, &[Bracket], &[Parameter, Member], Honoured("index or number within a threadgroup")),
    word(
        &[
            "stage_in",
            "position",
            "vertex_id",
            "instance_id",
            "base_vertex",
            "base_instance",
            "attribute",
            "point_size",
            "clip_distance",
            "render_target_array_index",
            "viewport_array_index",
            "invariant",
            "shared",
            "user",
            "color",
            "index",
            "depth",
            "stencil",
            "sample_mask",
            "post_depth_coverage",
            "sample_id",
            "front_facing",
            "point_coord",
            "primitive_id",
            "barycentric_coord",
            "amplification_id",
            "amplification_count",
            "patch_id",
            "position_in_patch",
            "raster_order_group",
        ],
        &[Bracket],
        INPUTS,
        GRAPHICS,
    ),
    word(
        &[
            "flat",
            "center_perspective",
            "center_no_perspective",
            "centroid_perspective",
            "centroid_no_perspective",
            "sample_perspective",
            "sample_no_perspective",
        ],
        &[Bracket],
        INPUTS,
        GRAPHICS,
    ),
    word(
        &[
            "imageblock",
            "imageblock_data",
            "implicit_imageblock",
            "alias_implicit_imageblock",
            "alias_implicit_imageblock_color",
            "pixel_position_in_tile",
            "pixels_per_tile",
            "tile_index",
        ],
        &[Bracket],
        INPUTS,
        GRAPHICS,
    ),
    word(
        &["payload", "thread_index_in_mesh", "primitive_culled", "mesh_grid_properties"],
        &[Bracket],
        INPUTS,
        GRAPHICS,
    ),
    word(
        &[
            "origin",
            "time",
            "direction",
            "min_distance",
            "max_distance",
            "accept_intersection",
            "continue_search",
            "distance",
            "opaque",
            "geometry_id",
            "primitive_data",
            "geometry_intersection_function_table_offset",
            "instance_intersection_function_table_offset",
            "user_instance_id",
            "world_space_origin",
            "world_space_direction",
            "curve_parameter",
            "motion_start_time",
            "motion_end_time",
            "key_frame_count",
            "object_to_world_transform",
            "world_to_object_transform",
        ],
        &[Bracket],
        INPUTS,
        GRAPHICS,
    ),
];
