//! Unit tests of the HTML page.

use super::*;
use crate::compare::compare;
use crate::result::example;

#[test]
fn page_is_complete_and_self_contained() {
    let (run, before) = (example(2e6, 0.1), example(1e6, 0.1));
    let page = page(&run, &crate::targets::judge(&run), Some(&compare(&run, &before)));
    for part in [
        "<svg",
        "gemv_q4_0_f32",
        "a &lt;device&gt; &amp; more",
        "too &lt;short&gt;",
        "slower",
        "prefers-color-scheme",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["http://", "https://", "<script", "src=", "NaN", "<short>"] {
        assert!(!page.contains(part), "{part}");
    }
}
