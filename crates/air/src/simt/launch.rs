//! Launches that overlap: an entry lets the next kernel be launched at once, and waits for the end of those before it. If
//! it was launched in the ordinary way, both are nothing.
//!
//! LLVM may move a load of memory that does not change before anything, also before a wait. So the wait is not in its
//! IR: it is put at the start of each entry in the text.

use super::Architecture;

/// The first architecture that can.
const FIRST: u32 = 90;

const WAIT: &str = "\tgriddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;\n";

/// True if kernels for an architecture wait for those before them.
pub(super) fn can_wait(architecture: &Architecture) -> bool {
    architecture.number() >= FIRST
}

/// Puts a wait before the first instruction of each entry.
pub(super) fn with_waits(ptx: &str) -> String {
    let mut result = String::with_capacity(ptx.len() + 256);
    let mut is_expected = false;
    for line in ptx.split_inclusive('\n') {
        let text = line.trim();
        let is_instruction = line.starts_with('\t') && !text.starts_with('.') && !text.starts_with("//");
        if is_expected && !text.is_empty() && (is_instruction || text.ends_with(':')) {
            result.push_str(WAIT);
            is_expected = false;
        }
        is_expected |= text == "{" && !line.starts_with('\t');
        result.push_str(line);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_wait_before_their_first_instruction() {
        let text = ".visible .entry f(\n\t.param .u64 f_0\n)\n{\n\t.reg .b32 \t%r<2>;\n\t// demoted variable\n\t.shared .align 4 .u32 x;\n\n\tld.param.b64 %rd1, [f_0];\n\tret;\n}\n";
        let expected = text.replace("\tld.param", &format!("{WAIT}\tld.param"));
        assert_eq!(with_waits(text), expected);
        let two = with_waits(&text.repeat(2));
        assert_eq!(two, expected.repeat(2));
    }
}
