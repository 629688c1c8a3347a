//! Hand-made programs and what reflection says about them.

use super::*;
use crate::program::{Binding, Expr, ExprKind, Global, GlobalId, Local, LocalId, Stmt, StmtKind, Value};
use crate::source::{Expansion, Span};
use crate::types::{Field, LayoutRules, QualTy, Struct, Ty, TyKind};
use serde_json::json;

fn local(name: &str, ty: QualTy, space: AddressSpace) -> Local {
    Local { name: name.into(), ty, space, min_align: 1, span: Span::default() }
}

fn function(name: &str, params: u32, locals: Vec<Local>, body: Option<Vec<Expr>>) -> Function {
    let statement = |expr| Stmt { kind: StmtKind::Expr(expr), span: Span::default() };
    Function {
        name: name.into(),
        builtin: body.is_none().then(|| name.into()),
        builtin_args: Vec::new(),
        params: (0..params).map(LocalId).collect(),
        result: Ty::VOID,
        locals,
        body: body.map(|exprs| exprs.into_iter().map(statement).collect()),
        is_constexpr: true,
        no_inline: false,
        fp_pragmas: Vec::new(),
        span: Span::default(),
    }
}

fn call(id: u32, args: Vec<Expr>) -> Expr {
    Expr::value(ExprKind::Call { function: FunctionId(id), args }, Ty::BOOL, Span::default())
}

fn global(id: u32) -> Expr {
    Expr::place(ExprKind::Global(GlobalId(id)), QualTy::plain(Ty::BOOL), Span::default())
}

fn mention(local: u32, ty: Ty) -> Expr {
    Expr::value(ExprKind::Local(LocalId(local)), ty, Span::default())
}

fn load(place: Expr) -> Expr {
    let ty = place.ty.ty;
    Expr::value(ExprKind::Load(Box::new(place)), ty, Span::default())
}

fn constant(name: &str, index: Option<u32>, init: Option<Expr>) -> Global {
    Global {
        name: name.into(),
        ty: QualTy::plain(Ty::BOOL).constant(),
        value: None,
        function_constant: index.map(|index| crate::program::FunctionConstant { index }),
        init,
        is_dynamic: false,
        min_align: 1,
        span: Span::default(),
    }
}

fn field(name: &str, ty: Ty) -> Field {
    let ty = QualTy::plain(ty);
    Field {
        name: name.into(),
        ty,
        offset: 0,
        min_align: 1,
        is_packed: false,
        is_mutable: false,
        bits: None,
        is_base: false,
        id: None,
        span: Span::default(),
    }
}

fn structure(program: &mut Program, name: &str, fields: Vec<Field>, is_opaque: bool) -> Ty {
    let (id, ty) = program.types.add_struct(Struct {
        name: name.into(),
        qualifier: "".into(),
        fields,
        is_union: false,
        is_complete: false,
        is_opaque,
        layout: Layout::default(),
        data_size: 0,
        is_pod: true,
        is_empty: false,
        largest_empty: 0,
        span: Span::default(),
    });
    program.types.lay_out(id, LayoutRules::plain(true));
    ty
}

/// Globals: 0 `a` = constant 7, 1 `b` = constant 2, 2 `unused` = constant 1,
/// 3 `c` = is_function_constant_defined(b) ? b : true.
/// Functions: 0 `is_function_constant_defined`, 1 `helper`, which reads `c`, 2 the kernel, 3 one without callers.
fn program() -> (Program, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add_file("k.metal", None, "#define K kernel void k\n\nK\n", None, false);
    let call_site = Span { file, start: 25, end: 26, ..Span::default() };
    let definition = Span { file, start: 8, end: 9, ..Span::default() };
    let expansion = sources.add_expansion(Expansion { macro_name: "K".into(), call_site, definition });
    let mut program = Program::default();
    let header = structure(&mut program, "Header", vec![field("tag", Ty::INT)], false);
    let float3 = program.types.vector(Ty::FLOAT, 3);
    let params = structure(&mut program, "Params", vec![field("", header), field("v", float3)], false);
    let texture = structure(&mut program, "texture2d<float, access::write>", vec![], true);
    let uint3 = program.types.vector(Ty::UINT, 3);
    let device = |ty| QualTy::plain(ty).in_space(AddressSpace::Device);
    let input = program.types.pointer(device(Ty::FLOAT).constant());
    let output = program.types.pointer(device(Ty::HALF));
    let parameters = program.types.reference(QualTy::plain(params).in_space(AddressSpace::Constant));
    let shared = program.types.pointer(QualTy::plain(Ty::FLOAT).in_space(AddressSpace::Threadgroup));
    let tile = program.types.array(Ty::CHAR, Some(5));
    let row = program.types.intern(TyKind::Vector { element: Ty::FLOAT, len: 4 });
    let thread = AddressSpace::Thread;
    let param = |name: &str, ty| local(name, QualTy::plain(ty), thread);
    let defined = call(0, vec![load(global(1))]);
    let truth = Expr::constant(Value::Bool(true), Ty::BOOL, Span::default());
    let conditional = ExprKind::Conditional {
        condition: Box::new(defined),
        then: Box::new(load(global(1))),
        otherwise: Box::new(truth),
    };
    let init = Expr::value(conditional, Ty::BOOL, Span::default());
    program.globals = vec![
        constant("a", Some(7), None),
        constant("b", Some(2), None),
        constant("unused", Some(1), None),
        constant("c", None, Some(init)),
    ];
    let locals = vec![
        param("in", input),
        param("out", output),
        param("p", parameters),
        param("s", shared),
        param("t", texture),
        param("gid", uint3),
        local("tile", QualTy::plain(tile), AddressSpace::Threadgroup),
        local("x", QualTy::plain(Ty::INT), thread),
    ];
    program.functions = vec![
        function("is_function_constant_defined", 0, vec![], None),
        function(
            "helper",
            0,
            vec![local("row", QualTy::plain(row), AddressSpace::Threadgroup)],
            Some(vec![load(global(3)), mention(0, row)]),
        ),
        function("k", 6, locals, Some(vec![call(1, vec![]), mention(6, tile)])),
        function("lonely", 0, vec![], Some(vec![load(global(2))])),
    ];
    let kinds = [
        BindingKind::Buffer(0),
        BindingKind::Buffer(1),
        BindingKind::Buffer(2),
        BindingKind::Threadgroup(0),
        BindingKind::Texture(0),
        BindingKind::Builtin("thread_position_in_grid".into()),
    ];
    let bindings = kinds.into_iter().enumerate().map(|(index, kind)| Binding {
        param: LocalId(index as u32),
        kind,
        condition: (index == 1).then_some(GlobalId(0)),
        array_len: None,
        names_template: false,
    });
    let span = Span { file, start: 22, end: 23, expansion };
    let entry = |name: &str, stage, bindings| EntryPoint {
        name: name.into(),
        stage,
        function: FunctionId(2),
        bindings,
        max_total_threads: Some(256),
        span,
    };
    program.entry_points =
        vec![entry("k", Stage::Kernel, bindings.collect()), entry("shade", Stage::Fragment, Vec::new())];
    (program, sources)
}

#[test]
fn a_kernel_in_json() {
    let (program, sources) = program();
    let found = serde_json::to_value(reflect(&program, &sources)).unwrap();
    let pointer = |name: &str, index: u32, ty: &str, space: &str, access: &str, element: &str, size: u64| {
        json!({
            "name": name, "kind": "buffer", "index": index, "type": ty, "address_space": space, "access": access,
            "element_type": element, "element_size": size, "element_align": size, "is_reference": false,
            "fields": [], "function_constant": null,
        })
    };
    let mut output = pointer("out", 1, "device half *", "device", "read_write", "half", 2);
    output["function_constant"] = json!("a");
    let mut params = pointer("p", 2, "constant Params &", "constant", "read", "Params", 32);
    params["element_align"] = json!(16);
    params["is_reference"] = json!(true);
    params["fields"] = json!([
        {"name": "tag", "type": "int", "offset": 0, "size": 4},
        {"name": "v", "type": "float3", "offset": 16, "size": 16},
    ]);
    let mut shared = pointer("s", 0, "threadgroup float *", "threadgroup", "read_write", "float", 4);
    shared["kind"] = json!("threadgroup");
    let texture = "texture2d<float, access::write>";
    let mut image = pointer("t", 0, texture, "", "write", texture, 0);
    image["kind"] = json!("texture");
    let tile = program.types.name(program.functions[2].locals[6].ty.ty);
    let expected = json!({
        "kernels": [{
            "name": "k",
            "arguments": [
                pointer("in", 0, "const device float *", "device", "read", "float", 4),
                output, params, shared, image,
            ],
            "builtins": [{"name": "gid", "attribute": "thread_position_in_grid", "type": "uint3"}],
            "function_constants": [2, 7],
            "threadgroup_memory": [
                {"name": "tile", "type": tile, "size": 5, "align": 1},
                {"name": "row", "type": "float4", "size": 16, "align": 16},
            ],
            "static_threadgroup_memory": 32,
            "max_total_threads_per_threadgroup": 256,
            "file": "k.metal",
            "line": 3,
        }],
        "functions": [{"name": "shade", "stage": "fragment"}],
        "function_constants": [
            {"name": "unused", "index": 1, "type": "bool", "default": null, "required": true},
            {"name": "b", "index": 2, "type": "bool", "default": "true", "required": false},
            {"name": "a", "index": 7, "type": "bool", "default": null, "required": true},
        ],
    });
    assert_eq!(found, expected, "{found:#}");
}

#[test]
fn reach_goes_through_calls_and_initializers() {
    let (program, _) = program();
    let ids = |found: Vec<FunctionId>| found.into_iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!(ids(walk::reachable_functions(&program, FunctionId(2))), [0, 1, 2]);
    assert_eq!(ids(walk::reachable_functions(&program, FunctionId(3))), [3]);
    assert!(walk::reachable(&program, [], [GlobalId(3)]).globals.contains(&GlobalId(1)));
}

#[test]
fn an_empty_program() {
    assert_eq!(reflect(&Program::default(), &SourceMap::new()), Reflection::default());
}

#[test]
fn an_argument_is_used_unless_its_description_says_otherwise() {
    let (program, sources) = program();
    let argument = reflect(&program, &sources).kernels.remove(0).arguments.remove(0);
    let unused = Argument { is_used: false, ..argument.clone() };
    for argument in [argument, unused] {
        let written = serde_json::to_value(&argument).expect("it can be written");
        assert_eq!(written.get("is_used").is_some(), !argument.is_used, "{written:#}");
        assert_eq!(serde_json::from_value::<Argument>(written).expect("it can be read"), argument);
    }
}
