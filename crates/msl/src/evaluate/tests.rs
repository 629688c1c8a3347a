//! Small programs made by hand, and what they evaluate to.

use super::*;
use crate::program::{BinaryOp, Case, CastKind, ExprKind, Global, Stmt, StmtKind, UnaryOp};
use crate::types::{AddressSpace, Field, FloatKind, Layout, LayoutRules, QualTy, Struct, Types};

const SPAN: Span =
    Span { file: crate::source::FileId(0), start: 0, end: 0, expansion: crate::source::ExpansionId(0) };

fn value(kind: ExprKind, ty: Ty) -> Expr {
    Expr::value(kind, ty, SPAN)
}

fn place(kind: ExprKind, ty: Ty) -> Expr {
    Expr::place(kind, QualTy::plain(ty), SPAN)
}

fn constant(value: Value, ty: Ty) -> Expr {
    Expr::constant(value, ty, SPAN)
}

fn int(value: i128) -> Expr {
    constant(Value::Int(value), Ty::INT)
}

fn float(value: f64) -> Expr {
    constant(Value::Float(value), Ty::FLOAT)
}

fn unknown(ty: Ty) -> Expr {
    constant(Value::Unknown, ty)
}

fn boolean(value: bool) -> Expr {
    constant(Value::Bool(value), Ty::BOOL)
}

fn local(id: u32, ty: Ty) -> Expr {
    place(ExprKind::Local(LocalId(id)), ty)
}

fn load(place: Expr) -> Expr {
    let ty = place.ty.ty;
    value(ExprKind::Load(Box::new(place)), ty)
}

fn get(id: u32, ty: Ty) -> Expr {
    load(local(id, ty))
}

fn binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
    let ty = if op.is_comparison() { Ty::BOOL } else { lhs.ty.ty };
    value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, ty)
}

fn assign(target: Expr, new: Expr) -> Stmt {
    let ty = target.ty.ty;
    statement(StmtKind::Expr(place(ExprKind::Assign { place: Box::new(target), value: Box::new(new) }, ty)))
}

fn compound(op: BinaryOp, target: Expr, compute: Ty, operand: Expr) -> Stmt {
    let ty = target.ty.ty;
    let kind = ExprKind::CompoundAssign { op, place: Box::new(target), compute, value: Box::new(operand) };
    statement(StmtKind::Expr(place(kind, ty)))
}

fn increment(target: Expr) -> Expr {
    let ty = target.ty.ty;
    place(ExprKind::Increment { place: Box::new(target), is_decrement: false, is_prefix: true }, ty)
}

fn statement(kind: StmtKind) -> Stmt {
    Stmt { kind, span: SPAN }
}

fn declare(id: u32, init: Option<Expr>) -> Stmt {
    statement(StmtKind::Local(LocalId(id), init))
}

fn give(expr: Expr) -> Stmt {
    statement(StmtKind::Return(Some(expr)))
}

fn while_(condition: Expr, step: Option<Expr>, body: Vec<Stmt>) -> Stmt {
    statement(StmtKind::Loop { condition: Some(condition), test_first: true, step, body, pragmas: Vec::new() })
}

/// Adds a function whose first `params` locals are parameters.
fn function(program: &mut Program, params: u32, locals: &[Ty], result: Ty, body: Option<Vec<Stmt>>) -> FunctionId {
    let locals = locals.iter().enumerate().map(|(index, &ty)| Local {
        name: format!("v{index}").into(),
        ty: QualTy::plain(ty),
        space: AddressSpace::Thread,
        min_align: 1,
        span: SPAN,
    });
    program.functions.push(Function {
        name: "f".into(),
        builtin: None,
        builtin_args: Vec::new(),
        params: (0..params).map(LocalId).collect(),
        result,
        locals: locals.collect(),
        body,
        is_constexpr: true,
        no_inline: false,
        fp_pragmas: Vec::new(),
        span: SPAN,
    });
    FunctionId(program.functions.len() as u32 - 1)
}

fn call(program: &Program, function: FunctionId, args: Vec<Expr>) -> Expr {
    value(ExprKind::Call { function, args }, program.function(function).result)
}

fn builtin(program: &mut Program, name: &str, result: Ty, args: Vec<Expr>) -> Expr {
    let types: Vec<Ty> = args.iter().map(|arg| arg.ty.ty).collect();
    let id = function(program, types.len() as u32, &types, result, None);
    program.functions[id.0 as usize].builtin = Some(name.into());
    call(program, id, args)
}

fn global(program: &mut Program, ty: Ty, value: Option<Value>, index: Option<u32>) -> Expr {
    program.globals.push(Global {
        name: "g".into(),
        ty: QualTy::plain(ty),
        value,
        function_constant: index.map(|index| crate::program::FunctionConstant { index }),
        init: None,
        is_dynamic: false,
        min_align: 1,
        span: SPAN,
    });
    place(ExprKind::Global(GlobalId(program.globals.len() as u32 - 1)), ty)
}

fn structure(types: &mut Types, fields: &[(&str, Ty)], base: bool) -> Ty {
    let fields = fields.iter().enumerate().map(|(index, &(name, ty))| Field {
        name: name.into(),
        ty: QualTy::plain(ty),
        offset: 0,
        min_align: 1,
        is_packed: false,
        is_mutable: false,
        bits: None,
        is_base: base && index == 0,
        id: None,
        span: SPAN,
    });
    let fields = fields.collect();
    let layout = Layout::default();
    let name = "S".into();
    let (id, ty) = types.add_struct(Struct {
        name,
        qualifier: "".into(),
        fields,
        is_union: false,
        is_complete: false,
        is_opaque: false,
        layout,
        data_size: 0,
        is_pod: true,
        is_empty: false,
        largest_empty: 0,
        span: SPAN,
    });
    types.lay_out(id, LayoutRules::plain(true));
    ty
}

fn vector(parts: &[f64]) -> Value {
    Value::Aggregate(parts.iter().map(|&part| Value::Float(part)).collect())
}

fn ints(parts: &[i128]) -> Value {
    Value::Aggregate(parts.iter().map(|&part| Value::Int(part)).collect())
}

fn reason(program: &Program, expr: &Expr) -> String {
    match evaluate(program, expr) {
        Err(Failure::NotConstant { reason, .. }) => reason,
        other => format!("{other:?}"),
    }
}

#[test]
fn integers() {
    let program = Program::default();
    let check = |op, lhs, rhs, expected: Value| {
        assert_eq!(evaluate(&program, &binary(op, lhs, rhs)), Ok(expected));
    };
    let uint = |value| constant(Value::Int(value), Ty::UINT);
    let ulong = |value| constant(Value::Int(value), Ty::ULONG);
    check(BinaryOp::Add, int(2), int(3), Value::Int(5));
    check(BinaryOp::Sub, uint(2), uint(3), Value::Int(0xffff_ffff));
    let max = i128::from(u64::MAX);
    check(BinaryOp::Mul, ulong(max), ulong(max), Value::Int(1));
    check(BinaryOp::Div, int(-7), int(2), Value::Int(-3));
    check(BinaryOp::Rem, int(-7), int(2), Value::Int(-1));
    check(BinaryOp::Shl, int(1), int(31), Value::Int(-0x8000_0000));
    check(BinaryOp::Shr, int(-8), int(1), Value::Int(-4));
    check(BinaryOp::BitXor, int(6), int(3), Value::Int(5));
    check(BinaryOp::LessEqual, int(6), int(6), Value::Bool(true));
}

#[test]
fn what_integers_must_not_do() {
    let program = Program::default();
    let check =
        |op, lhs, rhs, expected: &str| assert_eq!(reason(&program, &binary(op, int(lhs), int(rhs))), expected);
    let overflow = "value 2147483648 is outside the range of representable values of type 'int'";
    check(BinaryOp::Add, 0x7fff_ffff, 1, overflow);
    check(BinaryOp::Div, -0x8000_0000, -1, overflow);
    check(BinaryOp::Rem, -0x8000_0000, -1, overflow);
    check(BinaryOp::Div, 1, 0, "division by zero");
    check(BinaryOp::Rem, 1, 0, "division by zero");
    check(BinaryOp::Shl, 1, 32, "shift count 32 >= width of type 'int' (32 bits)");
    check(BinaryOp::Shr, 1, -1, "negative shift count -1");
    let negate = value(ExprKind::Unary { op: UnaryOp::Negate, operand: Box::new(int(-0x8000_0000)) }, Ty::INT);
    assert_eq!(reason(&program, &negate), overflow);
}

#[test]
fn floats_are_rounded() {
    let program = Program::default();
    let third = binary(BinaryOp::Div, float(1.0), float(3.0));
    assert_eq!(evaluate(&program, &third), Ok(Value::Float(f64::from(1f32 / 3.0))));
    let half = |value| constant(Value::Float(value), Ty::HALF);
    let sum = binary(BinaryOp::Add, half(2048.0), half(1.0));
    assert_eq!(evaluate(&program, &sum), Ok(Value::Float(2048.0)));
    let infinite = binary(BinaryOp::Div, float(1.0), float(0.0));
    assert_eq!(evaluate(&program, &infinite), Ok(Value::Float(f64::INFINITY)));
}

#[test]
fn casts() {
    let program = Program::default();
    let cast = |operand: Expr, ty| value(ExprKind::Cast { kind: CastKind::Number, operand: Box::new(operand) }, ty);
    let check = |operand, ty, expected| assert_eq!(evaluate(&program, &cast(operand, ty)), Ok(expected));
    check(float(-2.9), Ty::INT, Value::Int(-2));
    check(int(300), Ty::UCHAR, Value::Int(44));
    check(int(-1), Ty::ULONG, Value::Int(i128::from(u64::MAX)));
    check(float(0.5), Ty::BOOL, Value::Bool(true));
    check(boolean(true), Ty::FLOAT, Value::Float(1.0));
    check(int(16_777_217), Ty::FLOAT, Value::Float(16_777_216.0));
    assert_eq!(
        reason(&program, &cast(float(1e10), Ty::INT)),
        "value 10000000000.0 is outside the range of representable values of type 'int'"
    );
    assert!(reason(&program, &cast(float(f64::NAN), Ty::INT)).contains("outside the range"));
    check(unknown(Ty::INT), Ty::FLOAT, Value::Unknown);
}

#[test]
fn vectors_and_matrices() {
    let mut program = Program::default();
    let float2 = program.types.vector(Ty::FLOAT, 2);
    let float4 = program.types.vector(Ty::FLOAT, 4);
    let matrix = program.types.intern(TyKind::Matrix { element: Ty::FLOAT, columns: 2, rows: 2 });
    let xy = || value(ExprKind::Compose(vec![float(1.0), float(2.0)]), float2);
    let four = || value(ExprKind::Compose(vec![xy(), float(3.0), float(4.0)]), float4);
    let splat = value(ExprKind::Splat(Box::new(float(10.0))), float4);
    let sum = binary(BinaryOp::Add, four(), splat);
    assert_eq!(evaluate(&program, &sum), Ok(vector(&[11.0, 12.0, 13.0, 14.0])));
    let swizzle = value(ExprKind::Swizzle { base: Box::new(four()), components: vec![3, 0] }, float2);
    assert_eq!(evaluate(&program, &swizzle), Ok(vector(&[4.0, 1.0])));
    let index = value(ExprKind::Index { base: Box::new(four()), index: Box::new(int(2)) }, Ty::FLOAT);
    assert_eq!(evaluate(&program, &index), Ok(Value::Float(3.0)));
    // Columns (1, 2) and (3, 4).
    let yz = value(ExprKind::Compose(vec![float(3.0), float(4.0)]), float2);
    let columns = || value(ExprKind::Compose(vec![xy(), yz.clone()]), matrix);
    let product = |lhs, rhs, ty| value(ExprKind::MatrixProduct { lhs: Box::new(lhs), rhs: Box::new(rhs) }, ty);
    assert_eq!(evaluate(&program, &product(columns(), xy(), float2)), Ok(vector(&[7.0, 10.0])));
    assert_eq!(evaluate(&program, &product(xy(), columns(), float2)), Ok(vector(&[5.0, 11.0])));
    let square = Value::Aggregate(vec![vector(&[7.0, 10.0]), vector(&[15.0, 22.0])]);
    assert_eq!(evaluate(&program, &product(columns(), columns(), matrix)), Ok(square));
    let diagonal = value(ExprKind::Splat(Box::new(float(2.0))), matrix);
    let expected = Value::Aggregate(vec![vector(&[2.0, 0.0]), vector(&[0.0, 2.0])]);
    assert_eq!(evaluate(&program, &diagonal), Ok(expected));
}

/// `int f(int n) { int r = 1; for (int i = 1; i <= n; ++i) { if (i == 3) continue; r *= i; } return r; }`
#[test]
fn loops_and_calls() {
    let mut program = Program::default();
    let is_three = binary(BinaryOp::Equal, get(2, Ty::INT), int(3));
    let skip = StmtKind::If { condition: is_three, then: vec![statement(StmtKind::Continue)], otherwise: vec![] };
    let body = vec![statement(skip), compound(BinaryOp::Mul, local(1, Ty::INT), Ty::INT, get(2, Ty::INT))];
    let body = vec![
        declare(1, Some(int(1))),
        declare(2, Some(int(1))),
        while_(
            binary(BinaryOp::LessEqual, get(2, Ty::INT), get(0, Ty::INT)),
            Some(increment(local(2, Ty::INT))),
            body,
        ),
        give(get(1, Ty::INT)),
    ];
    let f = function(&mut program, 1, &[Ty::INT; 3], Ty::INT, Some(body));
    assert_eq!(evaluate(&program, &call(&program, f, vec![int(5)])), Ok(Value::Int(40)));
    assert!(reason(&program, &call(&program, f, vec![int(20)])).contains("outside the range"));
    let g = function(&mut program, 0, &[], Ty::INT, None);
    assert_eq!(evaluate(&program, &call(&program, g, vec![])), Err(Failure::NeedsBody(g)));
}

#[test]
fn switches_fall_through() {
    let mut program = Program::default();
    let add = |n| compound(BinaryOp::Add, local(1, Ty::INT), Ty::INT, int(n));
    let cases = vec![
        Case { labels: vec![Some(1), Some(2)], body: vec![add(1)] },
        Case { labels: vec![Some(3)], body: vec![add(10), statement(StmtKind::Break)] },
        Case { labels: vec![None], body: vec![add(100)] },
    ];
    let body = vec![
        declare(1, Some(int(0))),
        statement(StmtKind::Switch { value: get(0, Ty::INT), cases }),
        give(get(1, Ty::INT)),
    ];
    let f = function(&mut program, 1, &[Ty::INT; 2], Ty::INT, Some(body));
    for (input, expected) in [(1, 11), (2, 11), (3, 10), (4, 100)] {
        assert_eq!(evaluate(&program, &call(&program, f, vec![int(input)])), Ok(Value::Int(expected)));
    }
}

/// Limits hold on a small stack, too.
#[test]
fn nothing_runs_forever() {
    let run = || {
        let mut program = Program::default();
        let forever = while_(boolean(true), None, vec![]);
        let f = function(&mut program, 0, &[], Ty::VOID, Some(vec![forever]));
        assert_eq!(evaluate(&program, &call(&program, f, vec![])), Err(Failure::TooLong { span: SPAN }));
        let itself = FunctionId(1);
        let again = value(ExprKind::Call { function: itself, args: vec![] }, Ty::INT);
        let again = binary(BinaryOp::Add, int(1), binary(BinaryOp::Add, int(1), again));
        let f = function(&mut program, 0, &[], Ty::INT, Some(vec![give(again)]));
        let reason = reason(&program, &call(&program, f, vec![]));
        assert_eq!(reason, "constexpr evaluation exceeded maximum depth of 512 calls");
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn deep_expressions() {
    let program = Program::default();
    for (depth, expected) in [(8_000, Ok(Value::Int(8_000))), (40_000, Err(Failure::TooLong { span: SPAN }))] {
        let mut expr = int(0);
        for _ in 0..depth {
            expr = binary(BinaryOp::Add, expr, int(1));
        }
        assert_eq!(evaluate(&program, &expr), expected);
        std::mem::forget(expr); // its destructor is recursive
    }
}

#[test]
fn large_values_are_refused() {
    let mut program = Program::default();
    let huge = program.types.array(Ty::INT, Some(1 << 40));
    let zero = value(ExprKind::Zero, huge);
    assert_eq!(evaluate(&program, &zero), Err(Failure::TooLong { span: SPAN }));
    assert_eq!(zero_value(&program.types, huge), None);
    let element = place(ExprKind::Index { base: Box::new(local(0, huge)), index: Box::new(int(0)) }, Ty::INT);
    let f = function(&mut program, 0, &[huge], Ty::VOID, Some(vec![declare(0, None), assign(element, int(1))]));
    assert_eq!(evaluate(&program, &call(&program, f, vec![])), Err(Failure::TooLong { span: SPAN }));
}

/// Fields, elements, components and swizzles of a local are assigned one by one.
#[test]
fn parts_of_a_local() {
    let mut program = Program::default();
    let float2 = program.types.vector(Ty::FLOAT, 2);
    let float4 = program.types.vector(Ty::FLOAT, 4);
    let array = program.types.array(Ty::INT, Some(2));
    let s = structure(&mut program.types, &[("v", float4), ("a", array)], false);
    let v = || place(ExprKind::Field { base: Box::new(local(0, s)), field: 0 }, float4);
    let a = || place(ExprKind::Field { base: Box::new(local(0, s)), field: 1 }, array);
    let element = |n| place(ExprKind::Index { base: Box::new(a()), index: Box::new(int(n)) }, Ty::INT);
    let swizzle = |components: &[u8], ty| {
        place(ExprKind::Swizzle { base: Box::new(v()), components: components.to_vec() }, ty)
    };
    let xy = constant(vector(&[1.0, 2.0]), float2);
    let body = vec![
        declare(0, None),
        assign(swizzle(&[3, 0], float2), xy.clone()),
        assign(swizzle(&[1], Ty::FLOAT), float(5.0)),
        assign(swizzle(&[2], Ty::FLOAT), float(6.0)),
        compound(BinaryOp::Mul, swizzle(&[1, 2], float2), float2, xy),
        assign(element(1), int(7)),
        assign(element(0), load(element(1))),
        statement(StmtKind::Expr(increment(element(0)))),
        give(get(0, s)),
    ];
    let f = function(&mut program, 0, &[s], s, Some(body));
    let expected = Value::Aggregate(vec![vector(&[2.0, 5.0, 12.0, 1.0]), ints(&[8, 7])]);
    assert_eq!(evaluate(&program, &call(&program, f, vec![])), Ok(expected));
    let body = vec![declare(0, None), assign(element(1), int(7)), give(get(0, s))];
    let f = function(&mut program, 0, &[s], s, Some(body));
    assert_eq!(reason(&program, &call(&program, f, vec![])), "subobject 'v' is not initialized");
    let body = vec![declare(0, None), assign(element(2), int(7))];
    let f = function(&mut program, 0, &[s], Ty::VOID, Some(body));
    assert!(reason(&program, &call(&program, f, vec![])).contains("one-past-the-end"));
}

/// A method through `this`, a constructor, a base class, a reference parameter.
#[test]
fn objects_and_references() {
    let mut program = Program::default();
    let base = structure(&mut program.types, &[("n", Ty::INT)], false);
    let derived = structure(&mut program.types, &[("", base), ("m", Ty::INT)], true);
    let base_pointer = program.types.pointer(QualTy::plain(base));
    let derived_pointer = program.types.pointer(QualTy::plain(derived));
    let int_reference = program.types.reference(QualTy::plain(Ty::INT));
    let this = |ty: Ty, class| place(ExprKind::Deref(Box::new(get(0, ty))), class);
    // Base(int n) : n(n) {}
    let n = place(ExprKind::Field { base: Box::new(this(base_pointer, base)), field: 0 }, Ty::INT);
    let body = vec![statement(StmtKind::Init { place: n, value: get(1, Ty::INT) })];
    let base_constructor = function(&mut program, 2, &[base_pointer, Ty::INT], Ty::VOID, Some(body));
    // Derived(int n) : Base(n) { change(m = 1); }   void change(int &r) { r += 41; }
    let referent = place(ExprKind::Deref(Box::new(get(0, int_reference))), Ty::INT);
    let body = vec![compound(BinaryOp::Add, referent, Ty::INT, int(41))];
    let change = function(&mut program, 1, &[int_reference], Ty::VOID, Some(body));
    let up = ExprKind::Cast { kind: CastKind::Pointer, operand: Box::new(get(0, derived_pointer)) };
    let up = value(up, base_pointer);
    let m = || place(ExprKind::Field { base: Box::new(this(derived_pointer, derived)), field: 1 }, Ty::INT);
    let address = value(ExprKind::AddressOf(Box::new(m())), int_reference);
    let body = vec![
        statement(StmtKind::Expr(call(&program, base_constructor, vec![up, get(1, Ty::INT)]))),
        statement(StmtKind::Init { place: m(), value: int(1) }),
        statement(StmtKind::Expr(call(&program, change, vec![address]))),
    ];
    let constructor = function(&mut program, 2, &[derived_pointer, Ty::INT], Ty::VOID, Some(body));
    let made = value(ExprKind::Construct { constructor, args: vec![int(5)] }, derived);
    assert_eq!(evaluate(&program, &made), Ok(Value::Aggregate(vec![ints(&[5]), Value::Int(42)])));
    let temporary = place(ExprKind::Temporary(Box::new(made)), derived);
    let field = load(place(ExprKind::Field { base: Box::new(temporary), field: 1 }, Ty::INT));
    assert_eq!(evaluate(&program, &field), Ok(Value::Int(42)));
    // int &dangling() { int x = 1; return x; }
    let body = vec![
        declare(0, Some(int(1))),
        give(value(ExprKind::AddressOf(Box::new(local(0, Ty::INT))), int_reference)),
    ];
    let dangling = function(&mut program, 0, &[Ty::INT], int_reference, Some(body));
    let read = load(place(ExprKind::Deref(Box::new(call(&program, dangling, vec![]))), Ty::INT));
    assert!(reason(&program, &read).contains("outside its lifetime"));
}

/// Sums a global table with a pointer: `for (p = table; p != table + 3; ++p) sum += *p`.
#[test]
fn pointers_walk_arrays() {
    let mut program = Program::default();
    let array = program.types.array(Ty::INT, Some(3));
    let pointer = program.types.pointer(QualTy::plain(Ty::INT));
    let table = global(&mut program, array, Some(ints(&[1, 20, 300])), None);
    let start = || value(ExprKind::Decay(Box::new(table.clone())), pointer);
    let add = |n| {
        let offset = Box::new(constant(Value::Int(n), Ty::LONG));
        value(ExprKind::PointerAdd { pointer: Box::new(start()), offset, negative: false }, pointer)
    };
    let here = || load(place(ExprKind::Deref(Box::new(get(1, pointer))), Ty::INT));
    let body = vec![
        declare(0, Some(int(0))),
        declare(1, Some(start())),
        while_(
            binary(BinaryOp::NotEqual, get(1, pointer), add(3)),
            Some(increment(local(1, pointer))),
            vec![compound(BinaryOp::Add, local(0, Ty::INT), Ty::INT, here())],
        ),
        give(get(0, Ty::INT)),
    ];
    let f = function(&mut program, 0, &[Ty::INT, pointer], Ty::INT, Some(body));
    assert_eq!(evaluate(&program, &call(&program, f, vec![])), Ok(Value::Int(321)));
    let past = load(place(ExprKind::Deref(Box::new(add(3))), Ty::INT));
    assert!(reason(&program, &past).contains("one-past-the-end"));
    assert!(reason(&program, &add(4)).contains("cannot refer to element 4 of array of 3 elements"));
    let difference = value(ExprKind::PointerDifference { lhs: Box::new(add(2)), rhs: Box::new(start()) }, Ty::LONG);
    assert_eq!(evaluate(&program, &difference), Ok(Value::Int(2)));
    let target = place(ExprKind::Deref(Box::new(start())), Ty::INT);
    let write = place(ExprKind::Assign { place: Box::new(target), value: Box::new(int(1)) }, Ty::INT);
    assert!(reason(&program, &write).contains("visible outside that expression"));
    assert_eq!(reason(&program, &start()), "pointer to an object is not a constant");
}

#[test]
fn unknown_spreads_but_short_circuits_decide() {
    let mut program = Program::default();
    let short =
        |is_or, lhs, rhs| value(ExprKind::ShortCircuit { is_or, lhs: Box::new(lhs), rhs: Box::new(rhs) }, Ty::BOOL);
    let check = |expr: Expr, expected| assert_eq!(evaluate(&program, &expr), Ok(expected));
    check(binary(BinaryOp::Add, unknown(Ty::INT), int(1)), Value::Unknown);
    check(binary(BinaryOp::Div, int(1), unknown(Ty::INT)), Value::Unknown);
    check(short(false, boolean(false), unknown(Ty::BOOL)), Value::Bool(false));
    check(short(true, boolean(true), unknown(Ty::BOOL)), Value::Bool(true));
    check(short(true, boolean(false), unknown(Ty::BOOL)), Value::Unknown);
    check(short(true, unknown(Ty::BOOL), boolean(false)), Value::Unknown);
    let pick = |condition| {
        let kind = ExprKind::Conditional {
            condition: Box::new(condition),
            then: Box::new(int(1)),
            otherwise: Box::new(unknown(Ty::INT)),
        };
        value(kind, Ty::INT)
    };
    check(pick(boolean(true)), Value::Int(1));
    check(pick(boolean(false)), Value::Unknown);
    check(pick(unknown(Ty::BOOL)), Value::Unknown);
    check(value(ExprKind::Comma(Box::new(unknown(Ty::INT)), Box::new(int(2))), Ty::INT), Value::Int(2));
    check(Expr::error(SPAN), Value::Unknown);
    let bad = global(&mut program, Ty::INT, None, None);
    assert_eq!(evaluate(&program, &load(bad)), Ok(Value::Unknown));
    let constant = global(&mut program, Ty::INT, None, Some(3));
    assert_eq!(reason(&program, &load(constant)), "function constant 'g' is not known until a pipeline is made");
}

#[test]
fn locals_around_the_expression() {
    let mut program = Program::default();
    let f = function(&mut program, 1, &[Ty::INT; 3], Ty::INT, None);
    let function = program.function(f);
    let known = rustc_hash::FxHashMap::from_iter([(LocalId(2), Value::Int(9))]);
    let scope = Scope {
        locals: &function.locals,
        params: &function.params,
        known: &known,
        captures: None,
        is_dynamic: false,
    };
    let check = |id| match evaluate_in(&program, scope, &get(id, Ty::INT)) {
        Err(Failure::NotConstant { reason, .. }) => reason,
        other => format!("{other:?}"),
    };
    assert_eq!(check(0), "function parameter 'v0' with unknown value cannot be used in a constant expression");
    assert_eq!(check(1), "read of non-constexpr variable 'v1' is not allowed in a constant expression");
    assert_eq!(check(2), "Ok(Int(9))");
    assert!(reason(&program, &get(1, Ty::INT)).starts_with("read of non-constexpr variable"));
}

#[test]
fn aggregates_end_in_zeros() {
    let mut program = Program::default();
    let array = program.types.array(Ty::INT, Some(4));
    let float3 = program.types.vector(Ty::FLOAT, 3);
    let s = structure(&mut program.types, &[("a", array), ("v", float3), ("b", Ty::BOOL)], false);
    let list = value(ExprKind::Aggregate(vec![int(1), int(2)]), array);
    let expr = value(ExprKind::Aggregate(vec![list]), s);
    let expected = Value::Aggregate(vec![ints(&[1, 2, 0, 0]), vector(&[0.0; 3]), Value::Bool(false)]);
    assert_eq!(evaluate(&program, &expr), Ok(expected));
    let empty = structure(&mut program.types, &[], false);
    let body = vec![declare(0, None), give(get(0, empty))];
    let f = function(&mut program, 0, &[empty], empty, Some(body));
    assert_eq!(evaluate(&program, &call(&program, f, vec![])), Ok(Value::Aggregate(vec![])));
}

#[test]
fn builtin_functions() {
    let mut program = Program::default();
    let float2 = program.types.vector(Ty::FLOAT, 2);
    let half2 = program.types.vector(Ty::HALF, 2);
    let bool2 = program.types.vector(Ty::BOOL, 2);
    let pair = |x, y| constant(vector(&[x, y]), float2);
    let uint = |value| constant(Value::Int(value), Ty::UINT);
    let bits = |x| Value::Float(x);
    let bools = constant(Value::Aggregate(vec![Value::Bool(true), Value::Bool(false)]), bool2);
    let cases: Vec<(&str, Ty, Vec<Expr>, Value)> = vec![
        ("max", Ty::INT, vec![int(3), int(-4)], Value::Int(3)),
        ("fast::min", float2, vec![pair(1.0, 5.0), pair(2.0, 3.0)], vector(&[1.0, 3.0])),
        ("clamp", Ty::FLOAT, vec![float(9.0), float(0.0), float(1.0)], bits(1.0)),
        ("abs", Ty::INT, vec![int(-3)], Value::Int(3)),
        ("sign", Ty::FLOAT, vec![float(-3.0)], bits(-1.0)),
        ("round", Ty::FLOAT, vec![float(2.5)], bits(3.0)),
        ("rint", Ty::FLOAT, vec![float(2.5)], bits(2.0)),
        ("fract", Ty::FLOAT, vec![float(-1e-20)], bits(float::below_one(FloatKind::Float))),
        ("precise::sqrt", Ty::FLOAT, vec![float(2.0)], bits(f64::from(2f32.sqrt()))),
        ("rsqrt", Ty::FLOAT, vec![float(4.0)], bits(0.5)),
        ("exp2", Ty::FLOAT, vec![float(10.0)], bits(1024.0)),
        ("pow", Ty::FLOAT, vec![float(3.0), float(4.0)], bits(81.0)),
        ("fma", Ty::FLOAT, vec![float(2.0), float(3.0), float(4.0)], bits(10.0)),
        ("cospi", Ty::FLOAT, vec![float(0.5)], bits(0.0)),
        ("dot", Ty::FLOAT, vec![pair(1.0, 2.0), pair(3.0, 4.0)], bits(11.0)),
        ("length", Ty::FLOAT, vec![pair(3.0, 4.0)], bits(5.0)),
        ("clz", Ty::UINT, vec![uint(1)], Value::Int(31)),
        ("clz", Ty::UCHAR, vec![constant(Value::Int(1), Ty::UCHAR)], Value::Int(7)),
        ("ctz", Ty::UINT, vec![uint(0)], Value::Int(32)),
        ("popcount", Ty::INT, vec![int(-1)], Value::Int(32)),
        ("reverse_bits", Ty::UINT, vec![uint(1)], Value::Int(0x8000_0000)),
        ("rotate", Ty::UINT, vec![uint(0x8000_0001), uint(4)], Value::Int(0x18)),
        ("mulhi", Ty::UINT, vec![uint(0xffff_ffff), uint(0xffff_ffff)], Value::Int(0xffff_fffe)),
        ("mulhi", Ty::INT, vec![int(-1), int(1)], Value::Int(-1)),
        ("extract_bits", Ty::INT, vec![int(0xf0), uint(4), uint(4)], Value::Int(-1)),
        ("insert_bits", Ty::UINT, vec![uint(0xff), uint(0), uint(4), uint(4)], Value::Int(0x0f)),
        ("isnan", Ty::BOOL, vec![float(f64::NAN)], Value::Bool(true)),
        (
            "isfinite",
            bool2,
            vec![pair(1.0, f64::INFINITY)],
            Value::Aggregate(vec![Value::Bool(true), Value::Bool(false)]),
        ),
        ("any", Ty::BOOL, vec![bools.clone()], Value::Bool(true)),
        ("all", Ty::BOOL, vec![bools.clone()], Value::Bool(false)),
        ("select", float2, vec![pair(1.0, 2.0), pair(3.0, 4.0), bools], vector(&[3.0, 2.0])),
        ("as_type", Ty::UINT, vec![float(1.0)], Value::Int(0x3f80_0000)),
        ("as_type", Ty::FLOAT, vec![int(-0x8000_0000)], bits(-0.0)),
        ("as_type", half2, vec![uint(0xc000_3c00)], vector(&[1.0, -2.0])),
        ("ldexp", Ty::FLOAT, vec![float(3.0), int(2)], bits(12.0)),
        ("sin", Ty::FLOAT, vec![unknown(Ty::FLOAT)], Value::Unknown),
    ];
    for (name, result, args, expected) in cases {
        let expr = builtin(&mut program, name, result, args);
        assert_eq!(evaluate(&program, &expr), Ok(expected), "{name}");
    }
    let unsupported = builtin(&mut program, "simd_sum", Ty::FLOAT, vec![float(1.0)]);
    assert_eq!(
        reason(&program, &unsupported),
        "non-constexpr function 'f' cannot be used in a constant expression"
    );
}

#[test]
fn conversions_and_narrowing() {
    let mut types = Types::new();
    let int2 = types.vector(Ty::INT, 2);
    let float2 = types.vector(Ty::FLOAT, 2);
    assert_eq!(convert(&types, &Value::Int(-1), Ty::INT, Ty::UINT), Some(Value::Int(0xffff_ffff)));
    assert_eq!(convert(&types, &vector(&[1.5, -2.5]), float2, int2), Some(ints(&[1, -2])));
    assert_eq!(convert(&types, &Value::Int(3), Ty::INT, float2), Some(vector(&[3.0, 3.0])));
    assert_eq!(convert(&types, &Value::Float(1e10), Ty::FLOAT, Ty::INT), None);
    assert_eq!(convert(&types, &Value::Unknown, Ty::FLOAT, Ty::INT), Some(Value::Unknown));
    assert!(fits(&types, &Value::Int(255), Ty::UCHAR) && !fits(&types, &Value::Int(256), Ty::UCHAR));
    assert!(!fits(&types, &Value::Int(-1), Ty::ULONG));
    assert!(fits(&types, &Value::Int(16_777_216), Ty::FLOAT) && !fits(&types, &Value::Int(16_777_217), Ty::FLOAT));
    assert!(!fits(&types, &Value::Int(65_536), Ty::HALF) && fits(&types, &Value::Int(65_536), Ty::BFLOAT));
    assert!(fits(&types, &Value::Float(0.1), Ty::HALF) && !fits(&types, &Value::Float(1e6), Ty::HALF));
    assert!(fits(&types, &Value::Float(f64::INFINITY), Ty::HALF));
    assert!(!fits(&types, &Value::Float(1.0), Ty::INT));
    assert!(fits(&types, &Value::Int(1), Ty::BOOL) && !fits(&types, &Value::Int(2), Ty::BOOL));
    assert!(fits(&types, &Value::Unknown, Ty::INT));
}

/// Two calls of one function do not share variables; small integers wrap when incremented.
#[test]
fn frames_are_separate_and_small_integers_wrap() {
    let mut program = Program::default();
    let body = vec![statement(StmtKind::Expr(increment(local(0, Ty::UCHAR)))), give(get(0, Ty::UCHAR))];
    let f = function(&mut program, 1, &[Ty::UCHAR], Ty::UCHAR, Some(body));
    let inner = call(&program, f, vec![constant(Value::Int(254), Ty::UCHAR)]);
    assert_eq!(evaluate(&program, &inner), Ok(Value::Int(255)));
    assert_eq!(evaluate(&program, &call(&program, f, vec![inner])), Ok(Value::Int(0)));
    let f = function(&mut program, 0, &[], Ty::INT, Some(vec![]));
    assert_eq!(reason(&program, &call(&program, f, vec![])), "control reached end of constexpr function");
}
