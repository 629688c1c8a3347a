//! Every case of every operation against its formula, in the usual order and backwards. A new operation needs no test of
//! its own for this; those of the other files cover edges that its cases do not have.

use crate::device::{adversely, device, try_run};
use metalworks_inference::cases;
use metalworks_inference::selftest::{Check, Verdict};

#[test]
fn every_case_computes_its_formula() {
    let cases = cases::checked().expect("the tables of operations are right");
    assert!(cases.len() > 200, "{} cases", cases.len());
    for case in &cases {
        for adverse in [false, true] {
            let what =
                format!("{} {}, {}", case.name(), case.shape, if adverse { "backwards" } else { "in order" });
            let check = Check::new(device(), case).unwrap_or_else(|problem| panic!("{what}: {problem}"));
            let run = || try_run(|encoding| check.encode(encoding));
            let result = if adverse { adversely(run) } else { run() };
            result.unwrap_or_else(|problem| panic!("{what}: {problem}"));
            let (_, verdict) = check.verdict();
            assert_eq!(verdict, Verdict::Passed, "{what}");
        }
    }
}
