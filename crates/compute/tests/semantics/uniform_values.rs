//! `uniform<T>`: the same results as with `T`, in memory, in operators and as an index.

use crate::harness::{TestLibrary, expect};

const THREADS: usize = 70;

const SOURCE: &str = "
struct Params { uniform<int> n; uniform<float> scale[2]; uniform<float4> color; short last; };

static uniform<int> twice(uniform<int> a) { return a * 2; }

kernel void reads(constant Params &params [[buffer(0)]], constant uniform<uint> *sizes [[buffer(1)]],
                  device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  const uniform<int> n = params.n;
  float4 c = params.color * 2;
  uniform<float> table[4];
  for (uniform<int> j = 0; j < 4; ++j) table[j] = params.scale[0] * j;
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += table[j % 4];
  uint index = i % sizes[0];
  if (n > 5 && i % 2 == 0) sum += sizes[index];
  out[i] = sum + c[index % 4] + twice(n) + min(n, 3) + params.last + (n - 1 > int(i) ? n : 0) + params.scale[1];
}

kernel void writes(device uniform<int> *values [[buffer(0)]], device int *out [[buffer(1)]],
                   constant int &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  threadgroup uniform<int> shared[2];
  uniform<int> a = make_uniform(n), b = 7;
  a += b; a -= 1; a *= 3; a /= 2; a %= 60; a |= 64; a ^= 5; a <<= 2; a >>= 1;
  uniform<int> old = a++;
  uniform<int> now = ++a;
  if (i == 0) { values[1] = old; values[2] = now; values[3] += 5; values[4]++; --values[5]; }
  shared[0] = a; shared[1] = -b;
  shared[1] += 2;
  uniform<bool> large = a > 100 || b == 0;
  uniform<int> chosen = large ? a : b;
  switch (b) { case 7: out[i] = 1; break; default: out[i] = 2; }
  out[i] += (shared[0] + shared[1]) * 1000 + chosen + ~b + !large + int(i);
}
";

#[repr(C, align(16))]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    n: i32,
    scale: [f32; 2],
    padding: i32,
    color: [f32; 4],
    last: i16,
    end: [i16; 7],
}

#[test]
fn uniform_values_are_read_as_numbers() {
    let params = Params { n: 9, scale: [0.5, 2.0], padding: 0, color: [1.0, 2.0, 3.0, 4.0], last: -3, end: [0; 7] };
    let sizes = [3_u32, 10, 20];
    let library = TestLibrary::new(SOURCE);
    let run = library.kernel("reads").bytes(&params).buffer(&sizes).zeros::<f32>(THREADS);
    let out = run.threads(THREADS, 32).read::<f32>(2);
    expect("reads", &out, |i| {
        let index = i % 3;
        let table: f32 = (0..9).map(|j| 0.5 * (j % 4) as f32).sum();
        let even = if i % 2 == 0 { sizes[index] as f32 } else { 0.0 };
        let chosen = if 8 > i { 9.0 } else { 0.0 };
        table + even + 2.0 * params.color[index] + 18.0 + 3.0 - 3.0 + chosen + 2.0
    });
}

#[test]
fn uniform_values_are_assigned() {
    let library = TestLibrary::new(SOURCE);
    let values = [1_i32, 2, 3, 4, 5, 6];
    let run = library.kernel("writes").buffer(&values).zeros::<i32>(THREADS).bytes(&41_i32);
    let finished = run.threads(THREADS, 35);
    let mut a = (((41 + 7 - 1) * 3 / 2 % 60) | 64) ^ 5;
    a = a << 2 >> 1;
    assert_eq!(finished.read::<i32>(0), [1, a, a + 2, 9, 6, 5]);
    a += 2;
    let large = a > 100;
    let chosen = if large { a } else { 7 };
    expect("writes", &finished.read::<i32>(1), |i| {
        1 + (a - 7 + 2) * 1000 + chosen + !7 + i32::from(!large) + i as i32
    });
}
