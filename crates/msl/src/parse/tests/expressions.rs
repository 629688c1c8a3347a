//! Expressions, as statements of a function.

use super::check_expression;

#[test]
fn expressions() {
    for (source, expected) in CASES {
        check_expression(source, expected);
    }
}

const CASES: &[(&str, &str)] = &[
    ("x = a + b * c - d", "(= x (- (+ a (* b c)) d))"),
    ("x = a < b && c >= d || !e", "(= x (|| (&& (< a b) (>= c d)) (! e)))"),
    ("x = a = b ? c : d = e", "(= x (= a (? b c (= d e))))"),
    ("x = a << 2 >> 1 & 3 | 4 ^ 5", "(= x (| (& (>> (<< a 2) 1) 3) (^ 4 5)))"),
    ("x += -y * +z + ~w", "(+= x (+ (* (- y) (+ z)) (~ w)))"),
    ("*p++ = &q[--i]", "(= (* (post++ p)) (& (index q (-- i))))"),
    ("x = (float)y * 2.0f", "(= x (* (cast float y) 2.0f))"),
    ("x = (float3)v.xyz", "(= x (cast float3 (. v xyz)))"),
    ("x = (a) + b", "(= x (+ (paren a) b))"),
    ("x = (a)(b)", "(= x (call (paren a) b))"),
    ("x = (float)(b)", "(= x (cast float (paren b)))"),
    ("x = (unknown)b", "(= x (cast unknown b))"),
    ("x = (const device float *)p", "(= x (cast (ptr (const device float)) p))"),
    ("x = (float4){1, 2, 3, 4}.x", "(= x (. (cast float4 {1 2 3 4}) x))"),
    ("x = float4(1, 2)", "(= x (call float4 1 2))"),
    ("x = float4{1, 2}", "(= x (make{} float4 1 2))"),
    ("x = float(1)", "(= x (make float 1))"),
    ("x = unsigned(1)", "(= x (make uint 1))"),
    ("x = int{}", "(= x (make{} int))"),
    ("x = vec<float, 4>(1)", "(= x (call vec<type:float, 4> 1))"),
    ("x = metal::vec<float, 2>{1, 2}", "(= x (make{} metal::vec<type:float, 2> 1 2))"),
    ("x = a.b->c[1].d(2, 3)", "(= x (call (. (index (-> (. a b) c) 1) d) 2 3))"),
    (
        "x = sizeof(int) + sizeof(x) + sizeof x + alignof(float4)",
        "(= x (+ (+ (+ (sizeof type:int) (sizeof (paren x))) (sizeof x)) (alignof type:float4)))",
    ),
    (
        "x = static_cast<float>(y) + reinterpret_cast<device float *>(p)[0]",
        "(= x (+ (static_cast float y) (index (reinterpret_cast (ptr (device float)) p) 0)))",
    ),
    (
        "x = [&, y, z = 1, &w](auto a, int b) mutable -> int { return a; }(1, 2)",
        "(= x (call (lambda [& y z=1 &w] ((auto a) (int b)) mutable -> int {(return a)}) 1 2))",
    ),
    ("x = ({ f(); x; })", "(= x (statements {(call f); x;}))"),
    ("x = [=] { return 1; }()", "(= x (call (lambda [=] () {(return 1)})))"),
    ("x = [this] { return 1; }", "(= x (lambda [&this] () {(return 1)}))"),
    ("x = operator+(a, b) + a.operator()(1)", "(= x (+ (call operator+ a b) (call (. a operator()) 1)))"),
    ("x = a, b = c", "(, (= x a) (= b c))"),
    ("x = {1, {2, 3}, .x = 4}", "(= x {1 {2 3} .x=4})"),
    ("x = f(args...) + g({1, 2})", "(= x (+ (call f args...) (call g {1 2})))"),
    ("x = (... + pack)", "(= x (fold + ... pack))"),
    ("x = (pack && ...)", "(= x (fold && pack ...))"),
    ("x = (0 + ... + pack)", "(= x (fold + 0 pack))"),
    ("(f(pack), ...)", "(fold , (call f pack) ...)"),
    ("x = sizeof...(pack)", "(= x (sizeof... pack))"),
    (
        "x = 1u + 2l + 0x10 + 1.5h + 'a' + true + nullptr",
        "(= x (+ (+ (+ (+ (+ (+ 1u 2l) 16) 1.5h) '97') true) nullptr))",
    ),
    ("x = a < b > (c)", "(= x (call a<b> c))"),
    ("x = p.n < a && b > (c)", "(= x (&& (< (. p n) a) (> b (paren c))))"),
    ("x = min(a.x < b, c.y > (d))", "(= x (call min (< (. a x) b) (> (. c y) (paren d))))"),
    ("x = as_type<uint>(y)", "(= x (call as_type<type:uint> y))"),
    ("x = a.template f<int>(1)", "(= x (call (. a f<type:int>) 1))"),
    ("x = T::template f<4>(1)", "(= x (call T::f<4> 1))"),
    ("x = ::metal::max(1, 2)", "(= x (call ::metal::max 1 2))"),
    ("x = typename T::X(1)", "(= x (make T::X 1))"),
    ("x = decltype(y)(1) + decltype(y)::n", "(= x (+ (make (decltype y) 1) decltype<y>::n))"),
    ("x = vec<float, (1 > 2)>(1)", "(= x (call vec<type:float, (paren (> 1 2))> 1))"),
    ("x = simdgroup_matrix<float, 8, 8>(1)", "(= x (call simdgroup_matrix<type:float, 8, 8> 1))"),
    ("x = __builtin_expect(a, 1)", "(= x (call __builtin_expect a 1))"),
    (r#"x = "a" "b""#, r#"(= x "ab")"#),
    ("x = metal::min(metal::max(a, b), c)", "(= x (call metal::min (call metal::max a b) c))"),
    ("x = f<g>(1) < 2", "(= x (< (> (< f g) (paren 1)) 2))"),
];
