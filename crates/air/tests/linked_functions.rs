//! Functions of libraries that are no kernels: visible and stitchable functions, functions of ray tracing, and those of
//! dynamic libraries.
#![cfg(llvm)]

use metalworks_air::metallib::{FunctionKind, Library};
use metalworks_air::{MathMode, ProgramSource};

/// The functions of a library as text, by name.
fn functions(source: &str) -> Vec<(String, FunctionKind, String)> {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    let compilation = msl::compile_source("test.metal", &text, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let compiled = metalworks_air::compile(&compilation, MathMode::Fast).expect("a library");
    assert!(compiled.left_out.is_empty(), "{:?}", compiled.left_out);
    listed(&compiled.library)
}

fn listed(library: &[u8]) -> Vec<(String, FunctionKind, String)> {
    let library = Library::parse(library).expect("it was just written");
    let function = |function: &metalworks_air::metallib::Function| {
        let bitcode = function.bitcode().expect("it was just written");
        let text = metalworks_air::bitcode_text(bitcode, function.name()).expect("a module");
        (function.name().to_owned(), function.kind, text)
    };
    library.functions().iter().map(function).collect()
}

#[test]
fn visible_functions_are_optimized_and_described() {
    let all = functions(
        "float helper(float x) { float y = x; return y * 2; }\n\
         [[visible]] float f(float x, device const float *p) { return helper(x) + p[1]; }",
    );
    let [(name, FunctionKind::Visible, text)] = &all[..] else { panic!("{all:?}") };
    assert_eq!(name, "f");
    assert!(!text.contains("alloca") && !text.contains("call "), "{text}");
    assert!(text.contains("!tbaa") && text.contains("\"frame-pointer\"=\"all\""), "{text}");
    for node in [
        "!{!\"air.visible_output\", !\"air.arg_type_name\", !\"float\"}",
        "!{i32 0, !\"air.visible_input\", !\"air.arg_type_name\", !\"float\", !\"air.arg_name\", !\"x\"}",
        "!{i32 1, !\"air.visible_input\", ",
    ] {
        assert!(text.contains(node), "no {node} in {text}");
    }
}

#[test]
fn libraries_list_the_constants_of_visible_functions() {
    let source = "constant int n [[function_constant(3)]];\n[[visible]] int f(int x) { return x * n; }";
    let compilation = msl::compile_source("test.metal", source, &msl::Options::default());
    let library = metalworks_air::compile(&compilation, MathMode::Fast).expect("a library").library;
    let library = Library::parse(&library).expect("it was just written");
    let [constant] = &library.functions()[0].constants[..] else {
        panic!("{:?}", library.functions()[0].constants)
    };
    assert_eq!((&*constant.name, constant.index), ("n", 3));
}

#[test]
fn constants_of_visible_functions_are_set() {
    let all = functions("constant int n [[function_constant(3)]];\n[[visible]] int f(int x) { return x * n; }");
    let [(_, _, text)] = &all[..] else { panic!("{all:?}") };
    assert!(text.contains("_Z1n.MTL_FC_INIT_3_i") && text.contains("llvm.global_ctors"), "{text}");
}

#[test]
fn instances_of_visible_templates_have_host_names() {
    let all = functions(
        "template <typename T> [[visible]] T twice(T x) { return x + x; }\n\
         template [[host_name(\"twice_float\")]] [[visible]] float twice<float>(float);\n\
         template [[host_name(\"twice_int\")]] int twice<int>(int);\n\
         [[stitchable]] float once(float x) { return x; }\n\
         [[visible, host_name(\"other\")]] float named(float x) { return x; }",
    );
    let names: Vec<(&str, FunctionKind)> = all.iter().map(|(name, kind, _)| (&**name, *kind)).collect();
    let visible = FunctionKind::Visible;
    assert_eq!(names, [("twice_float", visible), ("twice_int", visible), ("once", visible), ("other", visible)]);
    assert!(all[0].2.contains("define weak_odr float @twice_float(float noundef"), "{}", all[0].2);
}

#[test]
fn intersection_functions_return_packed_structs() {
    let all = functions(
        "struct Result { bool accept [[accept_intersection]]; float distance [[distance]]; };\n\
         struct Payload { float3 color; };\n\
         [[intersection(bounding_box, triangle_data, instancing)]]\n\
         Result sphere(float3 origin [[origin]], float3 direction [[direction]], float most [[max_distance]],\n\
                       uint id [[primitive_id]], device const float4 *spheres [[buffer(2)]],\n\
                       ray_data Payload &payload [[payload]]) {\n\
             payload.color = direction;\n\
             float d = distance(origin, spheres[id].xyz) - spheres[id].w;\n\
             return {d < most, d};\n\
         }\n\
         [[intersection(triangle)]] bool any(uint id [[primitive_id]]) { return (id & 1) == 0; }",
    );
    let [(sphere, FunctionKind::Intersection, text), (any, FunctionKind::Intersection, triangle)] = &all[..] else {
        panic!("{all:?}")
    };
    assert_eq!((&**sphere, &**any), ("sphere", "any"));
    assert!(text.contains("define <{ i1, float }> @sphere(<3 x float>") && !text.contains("alloca"), "{text}");
    for node in [
        "!\"air.bounding_box\", !\"air.triangle_data\", !\"air.instancing\"}",
        "!{!\"air.accept_intersection\", !\"air.arg_type_name\", !\"bool\", !\"air.arg_name\", !\"accept\"}",
        "!{!\"air.distance\", !\"air.arg_type_name\", !\"float\", !\"air.arg_name\", !\"distance\"}",
        "!{i32 0, !\"air.origin\", !\"air.arg_type_name\", !\"float3\", !\"air.arg_name\", !\"origin\"}",
        "!{i32 4, !\"air.buffer\", !\"air.location_index\", i32 2, i32 1, !\"air.read\"",
        "!{i32 5, !\"air.payload\", !\"air.struct_type_info\"",
    ] {
        assert!(text.contains(node), "no {node} in {text}");
    }
    assert!(triangle.contains("define i1 @any(i32"), "{triangle}");
    assert!(triangle.contains("!\"air.triangle\"}"), "{triangle}");
}

#[test]
fn functions_of_dynamic_libraries_have_symbols() {
    let source = "float other(float x);\nfloat f(float x) { return other(x) * 2; }\nstatic float g() { return 1; }\n\
                  kernel void k() {}";
    let compilation = msl::compile_source("test.metal", source, &msl::Options::default());
    let source = ProgramSource::from(&compilation).with_imports();
    let library =
        metalworks_air::compile_dynamic(source, MathMode::Safe, "lib", &["base".into()]).expect("a library");
    let all = listed(&library);
    let [(name, FunctionKind::Unqualified, text)] = &all[..] else { panic!("{all:?}") };
    assert_eq!(name, "_Z1ff");
    assert!(text.contains("call float @_Z5otherf") && text.contains("declare float @_Z5otherf"), "{text}");
    let library = Library::parse(&library).expect("it was just written");
    assert_eq!((library.install_name().as_deref(), library.linked_libraries()), (Some("lib"), vec!["base".into()]));
}
