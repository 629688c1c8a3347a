//! Pragmas about floating point: `METAL fp`, `clang fp` and `STDC FP_CONTRACT`.

use super::Preprocessor;
use crate::lex::RawToken;
use crate::lex::token::{Pragma, Punct};
use crate::source::Span;
use smol_str::SmolStr;

/// Options, their values, and if they exist behind `METAL` and behind `clang`.
const OPTIONS: &[(&str, &[&str], bool, bool)] = &[
    ("math_mode", &["safe", "relaxed", "fast"], true, false),
    ("contract", &["off", "on", "fast"], true, true),
    ("reassociate", &["on", "off"], true, true),
    ("reciprocal", &["on", "off"], true, true),
    ("exceptions", &["ignore"], false, true),
    ("eval_method", &["source"], false, true),
];

impl Preprocessor<'_> {
    /// The options behind `fp`, without spaces inside and with one between them.
    pub(super) fn fp(&mut self, mut words: &[RawToken], is_metal: bool, place: Span) -> Option<Pragma> {
        let pragma = if is_metal { "METAL fp" } else { "clang fp" };
        let mut text = String::new();
        if words.is_empty() {
            self.error("pragma", place, format!("missing option to '#pragma {pragma}'"));
        }
        while let Some((&option, rest)) = words.split_first() {
            let name = self.text(option).to_string();
            let known = OPTIONS
                .iter()
                .find(|(known, _, metal, clang)| *known == name && if is_metal { *metal } else { *clang });
            let Some((_, values, ..)) = known else {
                let names = OPTIONS.iter().filter(|(.., metal, clang)| if is_metal { *metal } else { *clang });
                let names: Vec<String> = names.map(|(name, ..)| format!("'{name}'")).collect();
                let names = names.join(", ");
                let message = format!("invalid option '{name}' to '#pragma {pragma}'; expected {names}");
                self.error("pragma", option.span, message);
                return None;
            };
            let [open, value, close, after @ ..] = rest else {
                self.error("pragma", option.span, format!("expected '({})' after '{name}'", values.join("|")));
                return None;
            };
            let value_text = self.text(*value).to_string();
            let is_known = values.contains(&value_text.as_str());
            if !open.is(Punct::LParen) || !close.is(Punct::RParen) || !is_known {
                let values: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
                let message = format!(
                    "unexpected argument '{value_text}' to '#pragma {pragma} {name}'; expected {}",
                    values.join(" or ")
                );
                self.error("pragma", value.span, message);
                return None;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&format!("{name}({value_text})"));
            words = after;
        }
        (!text.is_empty()).then(|| Pragma::Fp(SmolStr::new(text)))
    }

    /// `ON`, `OFF` or `DEFAULT` behind `STDC FP_CONTRACT`: the same as `#pragma METAL fp contract(…)`.
    pub(super) fn standard(&mut self, operand: &[RawToken], place: Span) -> Option<Pragma> {
        let word = operand.first().map(|&word| self.text(word));
        let contract = match word {
            Some("ON") => "contract(on)",
            Some("OFF") => "contract(off)",
            Some("DEFAULT") => "contract(default)",
            _ => {
                self.warning("unknown-pragmas", place, "expected 'ON' or 'OFF' or 'DEFAULT' in pragma");
                return None;
            }
        };
        Some(Pragma::Fp(SmolStr::new_static(contract)))
    }
}
