//! Matrices: columns of vectors, linear algebra, shapes that are not square.

use crate::numbers::Random;
use crate::table::Table;
use half::f16;

const THREADS: usize = 40;

/// Numbers whose products and sums are exact.
fn columns(seed: u64) -> Vec<[f32; 4]> {
    let mut random = Random::new(seed);
    (0..THREADS).map(|_| [0; 4].map(|_| random.below(33) as f32 / 4.0 - 4.0)).collect()
}

/// `m[column][row]`, as in Metal.
type Matrix<const C: usize, const R: usize> = [[f32; R]; C];

fn times_vector<const C: usize, const R: usize>(m: Matrix<C, R>, v: [f32; C]) -> [f32; R] {
    std::array::from_fn(|r| (0..C).map(|c| m[c][r] * v[c]).sum())
}

fn vector_times<const C: usize, const R: usize>(v: [f32; R], m: Matrix<C, R>) -> [f32; C] {
    std::array::from_fn(|c| (0..R).map(|r| m[c][r] * v[r]).sum())
}

#[test]
fn algebra() {
    let (a, b, c, d) = (&columns(71), &columns(72), &columns(73), &columns(74));
    let mut table = Table::new("matrices").input("a", a).input("b", b).input("c", c).input("d", d);
    let m = move |i: usize| -> Matrix<4, 4> { [a[i], b[i], c[i], d[i]] };
    let upper = move |i: usize| -> Matrix<3, 3> { [a[i], b[i], c[i]].map(|v| [v[0], v[1], v[2]]) };
    let wide = move |i: usize| -> Matrix<4, 2> { m(i).map(|v| [v[0], v[1]]) };
    let tall = move |i: usize| -> Matrix<2, 4> { [a[i], b[i]] };
    const M: &str = "float4x4 m(a, b, c, d);";
    let with = |rest: &str| format!("{M} {rest}");
    table
        .exact(&with("r = m * a;"), move |i| times_vector(m(i), a[i]))
        .exact(&with("r = a * m;"), move |i| vector_times(a[i], m(i)))
        .exact(&with("r = (m * m)[2];"), move |i| times_vector(m(i), c[i]))
        .exact(&with("r = transpose(m)[1];"), move |i| m(i).map(|v| v[1]))
        .exact(&with("r = m[i & 3];"), move |i| m(i)[i & 3])
        .exact(&with("r = m[i & 3][(i >> 2) & 3];"), move |i| m(i)[i & 3][i >> 2 & 3])
        .exact(&with("m[i & 3] = float4(1, 2, 3, 4); r = m[1];"), move |i| match i & 3 {
            1 => [1.0, 2.0, 3.0, 4.0],
            _ => b[i],
        })
        .exact(&with("m[1].z = 9; m[2][i & 3] = 7; r = m[1] + m[2];"), move |i| {
            let (mut second, mut third) = (b[i], c[i]);
            (second[2], third[i & 3]) = (9.0, 7.0);
            std::array::from_fn::<f32, 4, _>(|k| second[k] + third[k])
        })
        .exact(&with("r = (m + m)[0];"), move |i| a[i].map(|x| x + x))
        .exact(&with("r = (m - transpose(m))[3];"), move |i| {
            std::array::from_fn::<f32, 4, _>(|k| d[i][k] - m(i)[k][3])
        })
        .exact(&with("r = (m * 2.0f)[1] + (0.5f * m)[2];"), move |i| {
            std::array::from_fn::<f32, 4, _>(|k| b[i][k] * 2.0 + c[i][k] * 0.5)
        })
        .exact(&with("r = (-m)[3];"), move |i| d[i].map(|x| -x))
        .exact(&with("m *= m; r = m[0];"), move |i| times_vector(m(i), a[i]))
        .exact(&with("m += m; m *= 0.5f; r = m[3];"), move |i| d[i])
        .exact("float4x4 m(3.0f); r = m * a;", move |i| a[i].map(|x| x * 3.0))
        .exact("float2x2 m(a.x, a.y, b.x, b.y); r = m * c.xy;", move |i| {
            times_vector([[a[i][0], a[i][1]], [b[i][0], b[i][1]]], [c[i][0], c[i][1]])
        })
        .exact("float3x3 m(a.xyz, b.xyz, c.xyz); r = m * d.xyz;", move |i| {
            times_vector(upper(i), [d[i][0], d[i][1], d[i][2]])
        })
        .exact("float3x3 m(a.xyz, b.xyz, c.xyz); r = d.xyz * m;", move |i| {
            vector_times([d[i][0], d[i][1], d[i][2]], upper(i))
        })
        .exact("float4x2 m(a.xy, b.xy, c.xy, d.xy); r = m * a;", move |i| times_vector(wide(i), a[i]))
        .exact("float2x4 m(a, b); r = m * c.xy;", move |i| times_vector(tall(i), [c[i][0], c[i][1]]))
        .exact("float4x2 m(a.xy, b.xy, c.xy, d.xy); float2x4 n(a, b); r = (m * n)[1];", move |i| {
            times_vector(wide(i), b[i])
        })
        .exact("float4x2 m(a.xy, b.xy, c.xy, d.xy); r = transpose(m)[1];", move |i| m(i).map(|v| v[1]))
        .exact("float2x2 m(a.xy, b.xy); r = determinant(m);", move |i| a[i][0] * b[i][1] - a[i][1] * b[i][0])
        .exact("half2x2 m(half2(a.xy), half2(b.xy)); r = m * half2(1, 2);", move |i| {
            [0, 1].map(|k| f16::from_f32(a[i][k] + 2.0 * b[i][k]))
        })
        .exact("float3x3 m(1.0f); m[i % 3] = a.xyz; r = m[0] + m[1] + m[2];", move |i| {
            let mut sum = [1.0f32; 3];
            sum[i % 3] = 0.0;
            std::array::from_fn::<f32, 3, _>(|k| sum[k] + a[i][k])
        })
        .exact("float4x4 m(a, b, c, d), n = m; n[0] = b; r = m[0] + n[0];", move |i| {
            std::array::from_fn::<f32, 4, _>(|k| a[i][k] + b[i][k])
        })
        .near::<f32>("determinant(float3x3(a.xyz, b.xyz, c.xyz))", move |i| {
            (determinant(&upper(i).map(|v| v.to_vec())), 1e-2)
        })
        .near::<f32>(&with("r = determinant(m);"), move |i| (determinant(&m(i).map(|v| v.to_vec())), 1e-1));
    table.run();
}

/// By the first column.
fn determinant(m: &[Vec<f32>]) -> f64 {
    if m.len() == 1 {
        return f64::from(m[0][0]);
    }
    (0..m.len())
        .map(|r| {
            let without = |v: &Vec<f32>| v.iter().enumerate().filter(|(k, _)| *k != r).map(|(_, x)| *x).collect();
            let minor: Vec<Vec<f32>> = m[1..].iter().map(without).collect();
            let sign = if r % 2 == 0 { 1.0 } else { -1.0 };
            sign * f64::from(m[0][r]) * determinant(&minor)
        })
        .sum()
}
