use super::*;
use inkwell::context::Context;

#[test]
fn votes_count_active_lanes_only() {
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let (bool, long) = (Element::Bool, Element::Unsigned(64));
    let mut add = |name: &str, output: Element| {
        machine.add(&[bool], &[output], |i| {
            let result = output.ty(i.b.context());
            let arguments: &[Value] = if name.contains("mask") || name.contains("is_") { &[] } else { &i.values };
            vec![call(i.b, name, arguments, i.mask, result)]
        })
    };
    let any = add("air.simd_any", bool);
    let all = add("air.simd_all", bool);
    let ballot = add("air.simd_ballot.i64", long);
    let active = add("air.simd_active_threads_mask.i64", long);
    let first = add("air.simd_is_first", bool);
    let helper = add("air.simd_is_helper_thread", bool);
    machine.compile();
    let mut random = Random(6);
    for mask in masks(&mut random) {
        for votes in [0, u32::MAX, mask, !mask, mask & mask.wrapping_sub(1), random.bits() as u32] {
            let lanes: Vec<u64> = (0..32).map(|lane| u64::from(votes >> lane & 1)).collect();
            let run = |number: usize| machine.call(number, &[&lanes], mask)[0].clone();
            assert_eq!(run(any), [u64::from(votes & mask != 0); 32]);
            assert_eq!(run(all), [u64::from(votes & mask == mask); 32]);
            assert_eq!(run(ballot), [u64::from(votes & mask); 32]);
            assert_eq!(run(active), [u64::from(mask); 32]);
            assert_eq!(run(helper), [0; 32]);
            let is_first = run(first);
            for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                assert_eq!(is_first[lane], u64::from(lane as u32 == mask.trailing_zeros()));
            }
        }
    }
}

#[test]
fn ballots_are_counted_against_the_active_lanes() {
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let (bool, long, short) = (Element::Bool, Element::Unsigned(64), Element::Unsigned(16));
    let mut add = |name: &str, input: Element| {
        machine.add(&[input], &[bool], |i| vec![call(i.b, name, &i.values, i.mask, bool.ty(i.b.context()))])
    };
    let simd = [add("air.simd_vote_any.i64", long), add("air.simd_vote_all.i64", long)];
    let quad = [add("air.quad_vote_any", short), add("air.quad_vote_all", short)];
    machine.compile();
    let mut random = Random(16);
    for mask in masks(&mut random) {
        for votes in [0, mask, u32::MAX, mask & mask.wrapping_sub(1), random.bits() as u32 & mask] {
            let run = |number: usize, lanes: &[u64]| machine.call(number, &[lanes], mask)[0].clone();
            assert_eq!(run(simd[0], &[votes.into(); 32]), [u64::from(votes != 0); 32]);
            assert_eq!(run(simd[1], &[votes.into(); 32]), [u64::from(votes & mask == mask); 32]);
            let of_quad = |bits: u32, lane: usize| u64::from(bits >> (lane & !3) & 15);
            let lanes: Vec<u64> = (0..32).map(|lane| of_quad(votes, lane)).collect();
            let (any, all) = (run(quad[0], &lanes), run(quad[1], &lanes));
            for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                let active = of_quad(mask, lane);
                assert_eq!(any[lane], u64::from(lanes[lane] != 0));
                assert_eq!(all[lane], u64::from(lanes[lane] & active == active));
            }
        }
    }
}

#[test]
fn groups_know_their_size_and_lanes() {
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let short = Element::Unsigned(16);
    let mut add =
        |name: &str| machine.add(&[], &[short], |i| vec![call(i.b, name, &[], i.mask, short.ty(i.b.context()))]);
    let size = add("air.get_simdgroup_size.i16");
    let index = add("air.get_thread_index_in_simdgroup.i16");
    machine.compile();
    assert_eq!(machine.call(size, &[], 1)[0], [32; 32]);
    assert_eq!(machine.call(index, &[], 1)[0], (0..32).collect::<Vec<u64>>());
}

#[test]
fn other_names_are_left_to_others() {
    for name in ["air.simd_sort.f32", "air.fast_exp.f32", "air.sum.f32", "simd_sum", "air.simdgroup.barrier", ""] {
        assert!(!result_is_uniform(name));
        let context = Context::create();
        let module = context.create_module("");
        let b = Builder::new(crate::ir::ModuleRef::of(&module));
        let bit = Type::int(b.context(), 1);
        let call = Call { name, arguments: &[], mask: lanes_of(bit).constant(1), result: bit, fast_math: 0 };
        assert!(emit(&b, &call).is_none(), "{name}");
    }
}
