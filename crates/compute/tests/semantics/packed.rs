//! `__attribute__((packed))` and `#pragma pack`: members at any byte, in every address space, read and written by all
//! lanes at once.

use crate::harness::TestLibrary;

const THREADS: usize = 70;

/// 41 bytes: no member is aligned.
const SOURCE: &str = "
struct Inner { float4 v; float2x2 m; Inner() = default; Inner(float x) : v(x), m(x) {} };
struct __attribute__((packed)) Outer { uchar tag; float4 v; short s; Inner inner; uint a : 5; uint b : 30; ulong c : 61; };
static_assert(sizeof(Inner) == 32, \"\");
static_assert(sizeof(Outer) == 63, \"\");
#pragma pack(push, 1)
struct Row { char first; float4 values[2]; };
#pragma pack(pop)
static_assert(sizeof(Row) == 33, \"\");
Inner make(float x) { return Inner(x); }

kernel void change(device Outer *all [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    device Outer &o = all[i];
    o.v = o.v * 2 + float4(o.tag);
    o.v.yz = o.v.zy;
    o.v[3] += 1;
    o.s += 3;
    o.inner.m[1] = o.inner.v.xy;
    o.inner.m = o.inner.m * 2.0f;
    Inner copy = o.inner;
    copy.v.x = float(o.b);
    o.inner = copy;
    o.c = o.c + o.a;
    o.b -= 1;
}
kernel void build(device Outer *all [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float x = float(i);
    all[i] = Outer{uchar(i), float4(x), short(i), make(x + 1), 3, i * 1000003 & 0x3FFFFFFF, ulong(i) << 40};
}
kernel void rows(device Row *rows [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup Row shared[32];
    threadgroup Row &mine = shared[i % 32];
    mine = rows[i];
    for (int k = 0; k < 2; ++k) mine.values[k] += float4(mine.first, k, 0, 1);
    rows[i].values[1] = mine.values[0];
    rows[i].values[0] = mine.values[1];
}
";

const OUTER: usize = 63;

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn f32(&self, at: usize) -> f32 {
        f32::from_le_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    /// `width` bits from bit `first` on.
    fn bits(&self, first: usize, width: usize) -> u64 {
        (0..width).map(|bit| u64::from(self.0[(first + bit) / 8] >> ((first + bit) % 8) & 1) << bit).sum()
    }
}

#[test]
fn members_of_packed_structs() {
    let library = TestLibrary::new(SOURCE);
    let built = library.kernel("build").buffer(&vec![0xEE_u8; OUTER * THREADS]).threads(THREADS, 32).read::<u8>(0);
    for (i, bytes) in built.chunks(OUTER).map(Bytes).enumerate() {
        let x = i as f32;
        assert_eq!((bytes.0[0], bytes.f32(1), bytes.f32(13)), (i as u8, x, x), "{i}");
        assert_eq!(
            (bytes.0[17], bytes.f32(19), bytes.f32(35), bytes.f32(39)),
            (i as u8, x + 1.0, x + 1.0, 0.0),
            "{i}"
        );
        assert_eq!(bytes.bits(51 * 8, 5), 3, "{i}");
        assert_eq!(bytes.bits(51 * 8 + 5, 30), (i as u64 * 1_000_003) & 0x3FFF_FFFF, "{i}");
        assert_eq!(bytes.bits(51 * 8 + 35, 61), (i as u64) << 40, "{i}");
    }
    let changed = library.kernel("change").buffer(&built).threads(THREADS, 32).read::<u8>(0);
    for (i, bytes) in changed.chunks(OUTER).map(Bytes).enumerate() {
        let x = i as f32;
        assert_eq!((bytes.f32(1), bytes.f32(13)), (3.0 * x, 3.0 * x + 1.0), "{i}");
        assert_eq!(bytes.bits(17 * 8, 16), i as u64 + 3, "{i}");
        let b = (i as u64 * 1_000_003) & 0x3FFF_FFFF;
        assert_eq!((bytes.f32(19), bytes.f32(23)), (b as f32, x + 1.0), "{i}");
        assert_eq!(
            (bytes.f32(35), bytes.f32(43), bytes.f32(47)),
            (2.0 * (x + 1.0), 2.0 * (x + 1.0), 2.0 * (x + 1.0))
        );
        assert_eq!(bytes.bits(51 * 8 + 5, 30), b.wrapping_sub(1) & 0x3FFF_FFFF, "{i}");
        assert_eq!(bytes.bits(51 * 8 + 35, 61), ((i as u64) << 40) + 3, "{i}");
    }
}

#[test]
fn arrays_in_packed_structs() {
    let library = TestLibrary::new(SOURCE);
    let mut rows = Vec::new();
    for i in 0..THREADS {
        rows.push(i as u8);
        rows.extend((0..8).flat_map(|k| ((i * 8 + k) as f32).to_le_bytes()));
    }
    let out = library.kernel("rows").buffer(&rows).threads(THREADS, 32).read::<u8>(0);
    for (i, bytes) in out.chunks(33).map(Bytes).enumerate() {
        let first = (i * 8) as f32;
        assert_eq!((bytes.f32(1), bytes.f32(5)), (first + 4.0 + i as f32, first + 5.0 + 1.0), "{i}");
        assert_eq!((bytes.f32(17), bytes.f32(29)), (first + i as f32, first + 3.0 + 1.0), "{i}");
    }
}
